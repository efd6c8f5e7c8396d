// Notifications of announcements as toasts.
import { call, follow, toast } from "./shared.mjs";

const MOST_KNOWN = 1000;

// A listener for the events of a stream: shows each notification once. After a lost connection the service may tell one again.
export function notificationToasts() {
  const known = new Set();
  return ({ event, data }) => {
    if (event !== "notification") return;
    const { notificationId, title } = JSON.parse(data);
    if (known.has(notificationId)) return;
    if (known.size >= MOST_KNOWN) known.clear();
    known.add(notificationId);
    toast(`📣 ${title}`);
  };
}

// Shows what the council of `festival` sends, until stop(). The page's root element says in data-notifications how the stream is.
export function toastNotifications(festival) {
  return follow(`/announcements/events?festival=${festival}`, {
    onState: (stream) => { document.documentElement.dataset.notifications = stream; },
    onEvent: notificationToasts(),
  });
}

// For pages that belong to no festival: the first that is shown to users, or null.
export async function visibleFestival() {
  return (await call("GET", "/festivals/universities").catch(() => []))[0] ?? null;
}
