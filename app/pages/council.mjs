// "/council": a council's announcements and their pins.
import { $, call, dateTime, fill, frame, h, loginForm, newKey, onLanguage, session, store, t, toast, words } from "./shared.mjs";
import { toastNotifications } from "./notifications.mjs";

const PINS = 3;
const LONGEST = { title: 50, content: 3000 };

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
// editing: the announcement in the form, null for a new one. full: what could not be pinned, {retry}, or null.
const state = store({ festival: null, pinned: [], unpinned: [], loaded: false, editing: null, full: null, error: null, asking: null });

frame("council");
const head = h("div", { class: "row apart" });
const board = h("div", { class: "stack loose" });
const complaint = h("div", { hidden: true });
const title = h("input", { class: "input", name: "title", required: true });
const content = h("textarea", { class: "input", name: "content", required: true });
const counter = h("span", { class: "muted count number" });
const pinIt = h("input", { type: "checkbox", name: "pin" });
const writerTitle = h("h2");
const submitButton = h("button", { class: "button", "data-test": "publish" });
const leave = h("button", { class: "button quiet", type: "button", t: "shared.cancel", on: { click: () => edit(null) } });
const pinRow = h("label", { class: "check" }, pinIt, h("span", { t: "council.pinIt" }));
const titleError = h("small", { class: "notice bad", hidden: true });
const contentError = h("small", { class: "notice bad", hidden: true });
const writer = h("form", { class: "card stack writer", novalidate: true, on: { submit: send, input: showCounter } }, writerTitle,
  h("label", { class: "field" }, h("span", { t: "council.fieldTitle" }), title, titleError),
  h("label", { class: "field" }, h("span", { t: "council.fieldContent" }), content, contentError, counter),
  pinRow, complaint, h("div", { class: "row" }, submitButton, leave));
const desk = h("div", { class: "desk" }, board, writer);
const gate = h("section", { class: "card stack gate" });
$("main").append(head, gate, desk);

const options = (more = {}) => ({ token: council.person().token, festival: council.person().festival, ...more });

async function load() {
  const person = council.person();
  if (person === null) return state.set({ loaded: false, pinned: [], unpinned: [] });
  try {
    const [list, festival] = await Promise.all([call("GET", "/announcements", options()), call("GET", "/festivals", options())]);
    state.set({ ...list, festival, loaded: true });
  } catch (error) {
    fail(error);
  }
}
function fail(error, retry = null) {
  council.failed(error);
  if (error.code === "PINNED_LIMIT_EXCEEDED") state.set({ full: { retry }, error: null });
  else state.set({ error, full: null });
}
// Runs a call that changes announcements, then reads the board again.
async function act(work, said, retry = null) {
  state.set({ error: null, full: null, asking: null });
  submitButton.disabled = true;
  try {
    await work();
    if (said) toast(t(said));
    return true;
  } catch (error) {
    fail(error, retry);
    return false;
  } finally {
    submitButton.disabled = false;
    await load();
  }
}
const setPin = (announcement, pinned) => call("PATCH", `/announcements/${announcement.announcementId}/pin`, options({ body: { pinned }, key: newKey() }));
const pin = (announcement) => act(() => setPin(announcement, true), null, () => pin(announcement));
const unpin = (announcement) => act(() => setPin(announcement, false));
const remove = (announcement) => act(() => call("DELETE", `/announcements/${announcement.announcementId}`, options({ key: newKey() })), "council.deleted");
const notify = (announcement) => act(() => call("POST", `/announcements/${announcement.announcementId}/notifications`, options({ key: newKey() })), "council.notified");

async function send(event) {
  event?.preventDefault();
  const { editing } = state.get();
  const body = { title: title.value, content: content.value };
  const done = editing
    ? await act(() => call("PATCH", `/announcements/${editing.announcementId}`, options({ body, key: newKey() })), "council.saved")
    : await act(() => call("POST", "/announcements", options({ body: { ...body, isPinned: pinIt.checked }, key: newKey() })), "council.published", send);
  if (done) edit(null);
}
// Unpins this one, then repeats the pin that was refused.
async function swap(announcement) {
  const { full } = state.get();
  if (await act(() => setPin(announcement, false))) await full.retry?.();
}
function edit(announcement) {
  title.value = announcement?.title ?? "";
  content.value = announcement?.content ?? "";
  pinIt.checked = false;
  state.set({ editing: announcement, error: null, full: null });
  showCounter();
  if (announcement) title.focus();
}
function showCounter() {
  const length = [...content.value].length;
  counter.textContent = `${length} / ${LONGEST.content}`;
  title.setAttribute("aria-invalid", [...title.value].length > LONGEST.title);
  content.setAttribute("aria-invalid", length > LONGEST.content);
}

// ---- What is shown.
const button = (key, kind, action, test) => h("button", { class: `button ${kind} small`, type: "button", t: key, "data-test": test, on: { click: action } });
function buttons(announcement, asking) {
  if (asking === announcement.announcementId) {
    return h("div", { class: "row" }, h("span", { class: "small", t: "council.sure" }), button("council.yes", "danger", () => remove(announcement), "delete-yes"),
      button("shared.cancel", "quiet", () => state.set({ asking: null })));
  }
  return h("div", { class: "row" },
    announcement.isPinned ? button("council.unpin", "quiet", () => unpin(announcement), "unpin") : button("council.pin", "quiet", () => pin(announcement), "pin"),
    button("council.notify", "quiet", () => notify(announcement), "notify"),
    button("council.change", "quiet", () => edit(announcement), "edit"),
    button("council.delete", "danger", () => state.set({ asking: announcement.announcementId }), "delete"));
}
function showBoard({ pinned, unpinned, loaded, asking }) {
  if (!loaded) return fill(board, h("p", { class: "muted", t: "shared.loading" }));
  const slots = Array.from({ length: Math.max(0, PINS - pinned.length) }, () => h("div", { class: "slot", t: "council.slot" }));
  const cards = pinned.map((one) => h("article", { class: "card pinned", "data-test": "pinned" }, h("h3", {}, one.title), h("p", { class: "text small grow" }, one.content),
    h("p", { class: "muted small" }, dateTime(one.createdAt)), buttons(one, asking)));
  fill(board,
    h("section", { class: "stack" }, h("div", { class: "row" }, h("h2", { t: "council.pins" }), h("span", { class: "tag accent number", "data-test": "pin-count" }, t("council.pinCount", { n: pinned.length }))),
      h("div", { class: "pins" }, cards, slots)),
    h("section", { class: "stack" }, h("h2", { t: "council.rest" }),
      unpinned.length === 0 ? h("p", { class: "muted", t: "council.none" }) : h("div", { class: "notes" }, unpinned.map((one) =>
        h("article", { class: "card note", "data-test": "note" }, h("h3", {}, one.title), h("p", { class: "text small" }, one.content),
          h("p", { class: "muted small" }, dateTime(one.createdAt)), buttons(one, asking))))));
}
function fullBox(pinned) {
  return h("div", { class: "notice warn", role: "alert", "data-test": "full" }, h("strong", { t: "council.fourth" }), h("span", { t: "council.fourthMore" }),
    h("div", { class: "swap" }, pinned.map((one) => h("button", { class: "button quiet small", type: "button", "data-test": "swap", on: { click: () => swap(one) } },
      t("council.instead", { title: one.title })))));
}
function showComplaint({ error, full, pinned }) {
  const fields = error?.fields ?? {};
  for (const [place, name] of [[titleError, "title"], [contentError, "content"]]) {
    place.hidden = !fields[name];
    place.textContent = fields[name] ?? "";
  }
  const isNew = complaint.hidden;
  complaint.hidden = error === null && full === null;
  fill(complaint, full !== null ? fullBox(pinned) : error && h("p", { class: "notice bad", role: "alert", "data-test": "error" }, error.message));
  if (isNew && !complaint.hidden) complaint.scrollIntoView({ block: "nearest" }); // the button may be far from the form
}
function show(now = state.get()) {
  const person = council.person();
  desk.hidden = person === null;
  gate.hidden = person !== null;
  const festival = now.festival;
  fill(head, h("div", {}, h("h1", { t: "council.title" }), h("p", { class: "muted" }, person === null ? t("council.gate")
    : festival === null ? " " : t("council.of", { festival: festival.festivalName, university: festival.universityName }))),
  person && h("div", { class: "row" }, h("strong", { "data-test": "person" }, person.name), h("button", { class: "button quiet small", type: "button", t: "shared.logout", on: { click: () => council.logout() } })));
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
  state.set({ festival: null, loaded: false, error: null, full: null });
  load();
});
state.listen(show);
onLanguage(() => show());
fill(gate, loginForm(council, "council", "admin"));
showCounter();
show();
listen();
load();
