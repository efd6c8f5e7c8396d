// "/council": a council's announcements and their pins.
import { $, call, carryOut, dateTime, fill, frame, h, land, loginForm, onLanguage, part, session, store, t, toast, wishes, words } from "./shared.mjs";
import { toastNotifications } from "./notifications.mjs";

const PINS = 3;
const LONGEST = { title: 50, content: 3000 };
const NOTIFIED_AGAIN_MS = 180_000; // for so long the service refuses a second notification; after that, asking again is a new wish
const EVERY_MS = 2000; // the board is read again, while it can be seen
const PATIENCE_MS = 5000; // a network that is gone may not say so

words({
  "title.council": ["총학생회", "Council"],
  "council.title": ["공지", "Announcements"],
  "council.gate": ["축제를 운영하는 총학생회로 로그인하세요.", "Log in as the council that runs the festival."],
  "council.of": ["{festival} · {university}", "{festival} · {university}"],
  "council.pins": ["고정된 공지", "Pinned"],
  "council.pinCount": ["{n} / 3", "{n} of 3"],
  "council.slot": ["빈 자리", "free"],
  "council.rest": ["그 밖의 공지", "The others"],
  "council.none": ["아직 공지가 없습니다. 첫 공지를 써 보세요.", "There are no announcements yet. Write the first."],
  "council.noOthers": ["다른 공지는 없습니다. 모두 고정되어 있습니다.", "There are no others: all of them are pinned."],
  "council.live": ["실시간", "Live"],
  "council.waiting": ["다시 연결하는 중…", "Connecting again…"],
  "council.new": ["새 공지", "New announcement"],
  "council.edit": ["공지 고치기", "Edit"],
  "council.fieldTitle": ["제목", "Title"],
  "council.fieldContent": ["내용", "Text"],
  "council.pinIt": ["맨 위에 고정", "Pin to the top"],
  "council.publish": ["올리기", "Publish"],
  "council.save": ["저장", "Save"],
  "council.pin": ["고정", "Pin"],
  "council.unpin": ["고정 해제", "Unpin"],
  "council.change": ["고치기", "Edit"],
  "council.delete": ["삭제", "Delete"],
  "council.sure": ["정말 삭제할까요?", "Really delete it?"],
  "council.yes": ["네, 삭제", "Yes, delete"],
  "council.published": ["공지를 올렸습니다.", "It is published."],
  "council.saved": ["고쳤습니다.", "Saved."],
  "council.deleted": ["삭제했습니다.", "Deleted."],
  "council.notify": ["알림 보내기", "Notify"],
  "council.notified": ["알림을 보냈습니다.", "Sent to everybody who is listening."],
  "council.fourth": ["고정은 세 개까지입니다", "Three pins, and no fourth"],
  "council.fourthMore": ["누가 언제 눌러도 한 축제에는 고정된 공지가 셋을 넘지 않습니다. 그래야 정말 중요한 것이 보이니까요. 아래에서 하나를 내리면 이 공지가 그 자리에 올라갑니다.",
    "A festival never has more than three pinned announcements, so that what matters is seen. Take one down below, and this one goes up in its place."],
  "council.instead": ["대신 내리기: {title}", "Take down: {title}"],
});

const council = session("council");
// editing: the announcement in the form, null for a new one. full: what could not be pinned, {swap(id)}, which pins it instead of
// another one, or null. asking: the id of the one that is about to be deleted.
const state = store({ festival: null, pinned: [], unpinned: [], loaded: false, live: false, editing: null, full: null, error: null, asking: null });

frame("council");
const head = h("div", { class: "row apart" });
const liveTag = h("div");
const board = h("div", { class: "stack loose" });
const complaint = h("div", { hidden: true });
const title = h("input", { class: "input", name: "title", required: true });
const content = h("textarea", { class: "input", name: "content", required: true });
const counter = h("span", { class: "muted count number" });
const pinIt = h("input", { type: "checkbox", name: "pin" });
const writerTitle = h("h2");
const submitButton = h("button", { class: "button", "data-test": "publish" });
const leave = h("button", { class: "button quiet", type: "button", t: "shared.cancel", on: { click: leaveForm } });
const pinRow = h("label", { class: "check" }, pinIt, h("span", { t: "council.pinIt" }));
const titleError = h("small", { class: "notice bad", "data-test": "title-error", hidden: true });
const contentError = h("small", { class: "notice bad", hidden: true });
const writer = h("form", { class: "card stack writer", novalidate: true, on: { submit: send, input: showCounter } }, writerTitle,
  h("label", { class: "field" }, h("span", { t: "council.fieldTitle" }), title, titleError),
  h("label", { class: "field" }, h("span", { t: "council.fieldContent" }), content, contentError, counter),
  pinRow, complaint, h("div", { class: "row" }, submitButton, leave));
const desk = h("div", { class: "desk" }, board, writer);
const gate = h("section", { class: "card stack gate" });
$("main").append(head, gate, desk);

// ---- The board, as the service has it. What was asked for earlier does not replace what was asked for later.
let asked = 0;
let applied = 0;
async function read(signal) {
  const number = ++asked;
  const person = council.person();
  if (person === null) return;
  const list = await call("GET", "/announcements", { festival: person.festival, cache: "no-cache", signal });
  if (number < applied || council.person()?.name !== person.name) return;
  applied = number;
  const { full, pinned, unpinned } = state.get();
  settleChanges([...list.pinned, ...list.unpinned]);
  settlePublications([...pinned, ...unpinned], [...list.pinned, ...list.unpinned]);
  state.set({ ...list, loaded: true, live: true, full: list.pinned.length < PINS ? null : full });
}
// A change whose answer was lost is as it was wished: to wish for it again after another change is a new wish.
function settleChanges(all) {
  const byPath = new Map(all.flatMap((one) => [
    [`/announcements/${one.announcementId}/pin`, { pinned: one.isPinned }],
    [`/announcements/${one.announcementId}`, { title: one.title, content: one.content }]]));
  wishes.settleAll(([, method, path, body]) => {
    const is = byPath.get(path);
    return method === "PATCH" && is !== undefined && Object.keys(is).every((name) => is[name] === body[name]);
  });
}
// An announcement that was on the board and is not there any more, or says something else now, has been published: to publish the same
// text is a new wish, also where the answer to the first one was lost.
function settlePublications(before, now) {
  const textOf = ({ title, content }) => JSON.stringify([title, content]);
  const still = new Set(now.map(textOf));
  const gone = new Set(before.map(textOf).filter((text) => !still.has(text)));
  wishes.settleAll(([, method, path, body]) => method === "POST" && path === "/announcements" && gone.has(textOf(body)));
}
async function load() {
  const person = council.person();
  if (person === null) return;
  try {
    const [festival] = await Promise.all([call("GET", "/festivals", { festival: person.festival }), read()]);
    if (council.person() !== null) state.set({ festival });
  } catch (error) {
    fail(error);
  }
}
// Others may write at the same time. The browser asks whether what it has is the newest.
async function watch() {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    if (document.visibilityState !== "visible" || council.person() === null) continue;
    await read(AbortSignal.timeout(PATIENCE_MS)).catch(() => state.set({ live: false }));
  }
}

// ---- What people do.
const kept = (key) => board.querySelector(`[data-keep="${key}"]`);
function fail(error, swap = null) {
  if (council.failed(error)) return; // the login says so
  if (error.code === "PINNED_LIMIT_EXCEEDED") state.set({ full: { swap }, error: null });
  else state.set({ error, full: null });
  const field = error.fields?.title ? title : error.fields?.content ? content : null;
  land(field ?? complaint);
}
// Runs one call that changes announcements, then reads the board again. True: it was done.
async function act(work, said, swap = null) {
  if (desk.getAttribute("aria-busy") === "true") return false;
  desk.setAttribute("aria-busy", "true");
  let failure = null;
  try {
    await work();
    if (said) toast(t(said));
  } catch (error) {
    failure = error;
  }
  desk.setAttribute("aria-busy", "false");
  await read().catch(() => state.set({ live: false }));
  if (failure === null) state.set({ error: null, full: null, asking: null });
  else fail(failure, swap);
  return failure === null;
}
const write = (method, path, body, lifetime) => carryOut(council.person(), method, `/announcements${path}`, body, lifetime);
async function setPin({ announcementId: id }, pinned, insteadOf) {
  const body = insteadOf === undefined ? { pinned } : { pinned, insteadOf };
  const done = await act(() => write("PATCH", `/${id}/pin`, body), null, (other) => setPin({ announcementId: id }, true, other));
  if (done) land(kept(`pin-${id}`) ?? board); // it is elsewhere now
}
// The focus goes to the next one in its list.
async function remove(announcement) {
  const { pinned, unpinned } = state.get();
  const list = announcement.isPinned ? pinned : unpinned;
  const at = list.findIndex((one) => one.announcementId === announcement.announcementId);
  const next = list[at + 1] ?? list[at - 1];
  if (await act(() => write("DELETE", `/${announcement.announcementId}`), "council.deleted"))
    land((next && kept(`delete-${next.announcementId}`)) ?? kept("others"));
}
const notify = (announcement) => act(() => write("POST", `/${announcement.announcementId}/notifications`, null, NOTIFIED_AGAIN_MS), "council.notified");

function send(event) {
  event.preventDefault();
  if (state.get().editing) save();
  else publish();
}
async function save() {
  const { editing } = state.get();
  if (await act(() => write("PATCH", `/${editing.announcementId}`, { title: title.value, content: content.value }), "council.saved")) leaveForm();
}
async function publish(insteadOf) {
  const body = { title: title.value, content: content.value, isPinned: pinIt.checked };
  const done = await act(() => write("POST", "", insteadOf === undefined ? body : { ...body, insteadOf }), "council.published", publish);
  if (!done) return;
  edit(null);
  if (insteadOf !== undefined) land(title);
}
function edit(announcement) {
  title.value = announcement?.title ?? "";
  content.value = announcement?.content ?? "";
  pinIt.checked = false;
  state.set({ editing: announcement, error: null, full: null });
  showCounter();
  if (announcement) title.focus();
}
function leaveForm() {
  const { editing } = state.get();
  edit(null);
  land(kept(`edit-${editing.announcementId}`) ?? writerTitle);
}
function showCounter() {
  const length = [...content.value].length;
  counter.textContent = `${length} / ${LONGEST.content}`;
  title.setAttribute("aria-invalid", [...title.value].length > LONGEST.title);
  content.setAttribute("aria-invalid", length > LONGEST.content);
}

// ---- What is shown.
const button = (key, kind, action, test, keep) =>
  h("button", { class: `button ${kind} small`, type: "button", t: key, "data-test": test, "data-keep": keep, on: { click: action } });
// Where the focus was on "delete" it is on "cancel" while the page asks.
function buttons(announcement, asking) {
  const { announcementId: id, isPinned } = announcement;
  if (asking === id) {
    return h("div", { class: "row" }, h("span", { class: "small", t: "council.sure" }), button("council.yes", "danger", () => remove(announcement), "delete-yes", `yes-${id}`),
      button("shared.cancel", "quiet", () => state.set({ asking: null }), "delete-no", `delete-${id}`));
  }
  return h("div", { class: "row" },
    button(isPinned ? "council.unpin" : "council.pin", "quiet", () => setPin(announcement, !isPinned), isPinned ? "unpin" : "pin", `pin-${id}`),
    button("council.notify", "quiet", () => notify(announcement), "notify", `notify-${id}`),
    button("council.change", "quiet", () => edit(announcement), "edit", `edit-${id}`),
    button("council.delete", "danger", () => state.set({ asking: id }), "delete", `delete-${id}`));
}
function boardRows({ pinned, unpinned, loaded, asking }) {
  if (!loaded) return h("p", { class: "muted", t: "shared.loading" });
  const slots = Array.from({ length: Math.max(0, PINS - pinned.length) }, () => h("div", { class: "slot", t: "council.slot" }));
  const cards = pinned.map((one) => h("article", { class: "card pinned", "data-test": "pinned" }, h("h3", {}, one.title), h("p", { class: "text small grow" }, one.content),
    h("p", { class: "muted small" }, dateTime(one.createdAt)), buttons(one, asking)));
  const none = () => h("p", { class: "muted", "data-test": "none", t: pinned.length === 0 ? "council.none" : "council.noOthers" });
  return [
    h("section", { class: "stack" }, h("div", { class: "row apart" }, h("div", { class: "row" }, h("h2", { t: "council.pins", "data-land": true }),
      h("span", { class: "tag accent number", "data-test": "pin-count" }, t("council.pinCount", { n: pinned.length }))), liveTag),
      h("div", { class: "pins" }, cards, slots)),
    h("section", { class: "stack" }, h("h2", { t: "council.rest", "data-keep": "others" }),
      unpinned.length === 0 ? none() : h("div", { class: "notes" }, unpinned.map((one) =>
        h("article", { class: "card note", "data-test": "note" }, h("h3", {}, one.title), h("p", { class: "text small" }, one.content),
          h("p", { class: "muted small" }, dateTime(one.createdAt)), buttons(one, asking)))))];
}
function showBoard(now) {
  const { pinned, unpinned, loaded, asking, live } = now;
  part(liveTag, live, () => h("span", { class: `tag ${live ? "good" : "warn"}`, "data-live": live ? "yes" : "no" },
    h("span", { class: `dot ${live ? "live" : ""}` }), t(live ? "council.live" : "council.waiting")));
  part(board, [pinned, unpinned, loaded, asking], () => boardRows(now));
}
function fullBox(pinned) {
  return h("div", { class: "notice warn", role: "alert", "data-test": "full" }, h("strong", { t: "council.fourth" }), h("span", { t: "council.fourthMore" }),
    h("div", { class: "swap" }, pinned.map((one) => h("button", { class: "button quiet small", type: "button", "data-test": "swap", "data-keep": `swap-${one.announcementId}`,
      on: { click: () => state.get().full.swap(one.announcementId) } }, t("council.instead", { title: one.title })))));
}
function showComplaint({ error, full, pinned }) {
  const fields = error?.fields ?? {};
  for (const [place, name] of [[titleError, "title"], [contentError, "content"]]) {
    place.hidden = !fields[name];
    place.textContent = fields[name] ?? "";
  }
  const hadFocus = complaint.contains(document.activeElement);
  complaint.hidden = error === null && full === null;
  if (hadFocus && complaint.hidden) land(submitButton);
  part(complaint, [full !== null && pinned, error?.message], () =>
    full !== null ? fullBox(pinned) : error && h("p", { class: "notice bad", role: "alert", "data-test": "error" }, error.message));
}
function headRows(person, festival) {
  const of = festival === null ? " " : t("council.of", { festival: festival.festivalName, university: festival.universityName });
  return [h("div", {}, h("h1", { t: "council.title", "data-land": true }), h("p", { class: "muted" }, person === null ? t("council.gate") : of)),
    person && h("div", { class: "row" }, h("strong", { "data-test": "person" }, person.name),
      h("button", { class: "button quiet small", type: "button", t: "shared.logout", "data-test": "logout", "data-keep": "logout", on: { click: () => council.logout() } }))];
}
// The focus follows from the login to the desk, and back.
function showWho(person, festival) {
  const focused = document.activeElement;
  const hidden = person === null ? [desk, head] : [gate];
  const isLost = gate.hidden !== (person !== null) && hidden.some((one) => one.contains(focused));
  desk.hidden = person === null;
  gate.hidden = person !== null;
  part(head, [person?.name, festival], () => headRows(person, festival));
  if (isLost) land(person === null ? gate.querySelector("select:not(:empty), input") : head.querySelector("h1"));
}
function show(now = state.get()) {
  const person = council.person();
  showWho(person, now.festival);
  if (person === null) return;
  writerTitle.textContent = t(now.editing ? "council.edit" : "council.new");
  submitButton.textContent = t(now.editing ? "council.save" : "council.publish");
  leave.hidden = now.editing === null;
  pinRow.hidden = now.editing !== null;
  showBoard(now);
  showComplaint(now);
}
let notifications = null;
function listen() {
  notifications?.stop();
  const person = council.person();
  notifications = person === null ? null : toastNotifications(person.festival);
}
council.listen(() => {
  listen();
  state.set({ festival: null, pinned: [], unpinned: [], loaded: false, live: false, error: null, full: null, asking: null });
  load();
});
state.listen(show);
onLanguage(() => show());
fill(gate, loginForm(council, "council", "admin"));
showCounter();
show();
listen();
load();
watch();
