// "/seats/{performanceId}": the hall as a map, live; buy, cancel, mine.
import { Picture } from "./bitmap.mjs";
import { nearestFree } from "./hall.mjs";
import { HallView } from "./hall_view.mjs";
import { notificationToasts, visibleFestival } from "./notifications.mjs";
import { $, call, carryOut, dateTime, fill, follow, frame, h, land, loginForm, number, onLanguage, part, session, store, t, toast, wishes, wishOf, won, words } from "./shared.mjs";

words({
  "title.seats": ["좌석", "Seats"],
  "seats.stage": ["무대", "Stage"],
  "seats.free": ["남음 {n}", "{n} free"],
  "seats.sold": ["팔림 {n}", "{n} sold"],
  "seats.yours": ["내 자리", "Yours"],
  "seats.chosenLegend": ["고른 자리", "Chosen"],
  "seats.live": ["실시간", "Live"],
  "seats.waiting": ["다시 연결하는 중…", "Connecting again…"],
  "seats.hall": ["좌석 배치도", "Map of the hall"],
  "seats.help": ["화살표 키로 자리를 옮기고 Enter로 고릅니다. + 와 - 로 확대하고 0으로 전체를 봅니다.",
    "Arrow keys move between seats, Enter chooses. + and - zoom, 0 shows the whole hall."],
  "seats.choose": ["지도에서 자리를 고르세요", "Choose a seat on the map"],
  "seats.chooseMore": ["자리를 누르거나 아래에서 구역과 번호로 고를 수 있습니다.", "Click one, or pick it by section and number below."],
  "seats.seat": ["{location}구역 {number}번", "Section {location}, seat {number}"],
  "seats.short": ["{location} {number}", "{location} {number}"],
  "seats.isFree": ["비어 있음", "free"],
  "seats.isSold": ["팔린 자리", "sold"],
  "seats.isMine": ["내 자리", "yours"],
  "seats.buy": ["{price}에 예매하기", "Buy for {price}"],
  "seats.buying": ["예매하는 중…", "Buying…"],
  "seats.loginFirst": ["로그인하면 바로 예매할 수 있습니다.", "Log in, and you can buy it at once."],
  "seats.bought": ["예매했습니다", "It is yours"],
  "seats.boughtMore": ["{seat}은 이제 {name}님의 자리입니다.", "{seat} now belongs to {name}."],
  "seats.lost": ["아쉽지만 다른 분이 한발 빨랐어요", "Sorry, somebody was a moment faster"],
  "seats.lostMore": ["{seat}은 방금 팔렸습니다. 가까운 빈자리를 골라 두었어요.", "{seat} has just been sold. Here is what is free nearby."],
  "seats.busy": ["지금 다른 분이 사는 중이에요", "Somebody is buying it right now"],
  "seats.busyMore": ["{seat}은 아직 팔리지 않았을 수도 있습니다. 잠시 뒤 다시 해 보거나 가까운 자리를 고르세요.",
    "{seat} may still come free. Try again in a moment, or take one nearby."],
  "seats.doubt": ["자리를 샀는지 아직 알 수 없습니다", "It is not known yet whether you have the seat"],
  "seats.doubtMore": ["다시 시도해도 두 번 사지는 않습니다.", "Trying again never buys it twice."],
  "seats.returned": ["이미 사고 취소한 자리입니다", "You had bought this seat and cancelled it"],
  "seats.returnedMore": ["{seat}을 원하시면 다시 예매하세요.", "Buy {seat} again if you want it."],
  "seats.badFestival": ["‘{asked}’ 축제는 없습니다. 대신 {name}의 알림을 보여 드립니다.", "There is no festival “{asked}”. You are shown the notifications of {name} instead."],
  "seats.noFestival": ["‘{asked}’ 축제는 없습니다. 알림은 오지 않습니다.", "There is no festival “{asked}”. No notifications are shown."],
  "seats.gone": ["고르신 자리가 방금 팔렸어요", "The seat you chose has just been sold"],
  "seats.full": ["빈자리가 없습니다. 취소된 자리는 바로 나타납니다.", "There are no free seats. A cancelled one appears at once."],
  "seats.again": ["다시 시도", "Try again"],
  "seats.taken": ["이 자리는 팔렸습니다. 가까운 빈자리:", "This seat is sold. Free nearby:"],
  "seats.nearby": ["가까운 빈자리", "Free nearby"],
  "seats.mine": ["내 자리", "Your seats"],
  "seats.noneMine": ["아직 예매한 자리가 없습니다.", "You have no seats yet."],
  "seats.cancel": ["취소", "Cancel"],
  "seats.cancelled": ["{seat} 예매를 취소했습니다.", "{seat} is cancelled."],
  "seats.section": ["구역", "Section"],
  "seats.number": ["번호", "Number"],
  "seats.pick": ["고르기", "Choose"],
  "seats.noSuch": ["그런 자리는 없습니다.", "There is no such seat."],
  "seats.asPerson": ["{name}님", "{name}"],
  "seats.notFound": ["그런 공연이 없습니다.", "There is no such performance."],
  "seats.toHome": ["공연 목록으로", "To the performances"],
  "seats.zoomIn": ["확대", "Zoom in"],
  "seats.zoomOut": ["축소", "Zoom out"],
  "seats.whole": ["전체 보기", "Whole hall"],
  "seats.when": ["{when} · {place} · {acting}", "{when} · {place} · {acting}"],
});

const performanceId = decodeURIComponent(location.pathname.split("/").pop());
const path = `/performances/${encodeURIComponent(performanceId)}`;
const reservations = `/customer${path}/reservations`;
const user = session("user");
const picture = new Picture();
// notice: {kind, title, text or message, seat, nearby: [seat], again: boolean} about the seat of the last attempt.
// badFestival: {asked, name} of a festival in the address that does not exist, and of the one that is listened to instead.
const state = store({ performance: null, missing: null, badFestival: null, stream: "waiting", chosen: null, notice: null, buying: false, mine: [] });
const same = (a, b) => a !== null && b !== null && a.location === b.location && a.number === b.number;
const nameOf = (seat) => t("seats.seat", seat);

frame("seats");
const canvas = h("canvas", { tabindex: 0, role: "application", "aria-describedby": "help", "data-test": "hall" });
const bar = h("div", { class: "row apart grow" });
const head = h("div", { class: "head" });
const seatCard = h("section", { class: "card stack", "data-test": "seat-card" });
const chosenPart = h("div", { class: "stack" });
const account = h("section", { class: "card account" });
const loginBox = h("details", { class: "login-box", open: matchMedia("(min-width: 901px)").matches || user.hasEnded() },
  h("summary", {}, h("h2", { t: "shared.login" })), loginForm(user, "user"));
const mineCard = h("section", { class: "card stack tight", "data-test": "mine" });
const ears = h("p", { class: "for-ears", role: "status" });
const zoomer = (key, text, action) => h("button", { class: "button quiet small", type: "button", "data-label": key, on: { click: action } }, text);
const zoomers = h("div", { class: "zoomers" }, zoomer("seats.zoomOut", "−", () => hall.zoom(1 / 1.6)), zoomer("seats.whole", "⤢", () => hall.fit()),
  zoomer("seats.zoomIn", "+", () => hall.zoom(1.6)));
const sectionChoice = h("select", { class: "input", name: "section" });
const numberChoice = h("input", { class: "input", name: "number", inputmode: "numeric", pattern: "[0-9]*", required: true });
const byName = h("form", { class: "by-name", on: { submit: pickByName } },
  h("label", { class: "field" }, h("span", { t: "seats.section" }), sectionChoice),
  h("label", { class: "field" }, h("span", { t: "seats.number" }), numberChoice),
  h("button", { class: "button quiet", t: "seats.pick" }));
const room = h("div", { class: "hall-room" });
$("main").append(head, account, h("section", { class: "card hall" }, h("div", { class: "row apart hall-bar" }, bar, zoomers), room),
  h("div", { class: "side stack" }, seatCard, mineCard), h("p", { class: "for-ears", id: "help", t: "seats.help" }), ears);
room.append(canvas);
seatCard.append(chosenPart, byName);
const hall = new HallView(canvas, picture, {
  stage: () => t("seats.stage"),
  onChoose: choose,
  onCursor: (seat) => (ears.textContent = `${nameOf(seat)}: ${t(stateOf(seat))}`),
});

function stateOf(seat) {
  if (state.get().mine.some((one) => same(one.seat, seat))) return "seats.isMine";
  return picture.isSold(seat) ? "seats.isSold" : "seats.isFree";
}
function choose(seat) {
  state.set({ chosen: seat, notice: null });
  ears.textContent = `${nameOf(seat)}: ${t(stateOf(seat))}`;
}
function pickByName(event) {
  event.preventDefault();
  const seat = { location: sectionChoice.value, number: Number(numberChoice.value) };
  if (!picture.has(seat)) return toast(t("seats.noSuch"));
  choose(seat);
  hall.show(seat);
}
const nearby = (seat) => nearestFree(hall.plan, (one) => picture.isSold(one), seat, 4);

const purchaseOf = (person, seat) => ({ userId: person.id, seatLocation: seat.location, seatNumber: seat.number });
const wishFor = (person, seat) => wishOf(person, "POST", reservations, purchaseOf(person, seat));

async function buy() {
  const { chosen, buying } = state.get();
  const person = user.person();
  if (buying || person === null) return;
  state.set({ buying: true, notice: null });
  let notice;
  try {
    const sale = await carryOut(person, "POST", reservations, purchaseOf(person, chosen));
    notice = await noticeOfSale(sale.content.id, chosen, person);
  } catch (error) {
    notice = user.failed(error) ? null : await noticeOfFailure(error, chosen, person);
  }
  const isBought = notice?.kind === "good";
  state.set({ buying: false, chosen: isBought ? null : chosen, notice });
  followNotice();
}
const boughtNotice = (seat, person) => ({ kind: "good", title: "seats.bought", text: "seats.boughtMore", seat, name: person.name });
const lostNotice = (seat) => ({ kind: "warn", title: "seats.lost", text: "seats.lostMore", seat, nearby: nearby(seat) });
// The answer may be that of an earlier attempt, and the seat may have been cancelled since.
async function noticeOfSale(id, seat, person) {
  const mine = await loadMine();
  if (mine !== null && !mine.some((one) => one.id === id)) return { kind: "warn", title: "seats.returned", text: "seats.returnedMore", seat };
  sell(seat);
  return boughtNotice(seat, person);
}
function sell(seat) {
  hall.refresh(picture.change({ sold: [[seat.location, seat.number]], free: [] }));
}
// Somebody has the seat. It may be the same person, by another window or by an attempt whose answer was lost.
async function noticeOfSold(error, seat, person) {
  const mine = await loadMine();
  if (user.person() === null) return null; // the login says so
  if (mine === null) return { kind: "bad", title: "seats.doubt", message: error.message, seat, again: true };
  return mine.some((one) => same(one.seat, seat)) ? boughtNotice(seat, person) : lostNotice(seat);
}
async function noticeOfFailure(error, seat, person) {
  if (error.code === "ALREADY_RESERVED_SEAT") {
    sell(seat); // the stream may tell it later
    return noticeOfSold(error, seat, person);
  }
  if (error.code === "SEAT_BUSY") return { kind: "warn", title: "seats.busy", text: "seats.busyMore", again: true, seat, nearby: nearby(seat) };
  const isUnknown = [0, 500, 502, 504].includes(error.status) || ["REQUEST_IN_PROGRESS", "COMMIT_UNCONFIRMED"].includes(error.code);
  if (isUnknown) return { kind: "bad", title: "seats.doubt", message: `${error.message} ${t("seats.doubtMore")}`, seat, again: true };
  return { kind: "bad", message: error.message, seat, again: error.status === 429 || error.status >= 500 };
}
// The seat that was chosen has been sold; to its person, if another window or an earlier attempt has bought it.
async function loseChosen(seat) {
  const person = user.person();
  const mine = await loadMine();
  if (mine === null || !picture.isSold(seat)) return; // whose it is cannot be said, or it is free again: the card says so
  const { chosen, notice } = state.get();
  const isChosen = same(chosen, seat);
  if (mine.some((one) => same(one.seat, seat))) state.set({ chosen: isChosen ? null : chosen, notice: boughtNotice(seat, person) });
  else if (isChosen && notice === null) state.set({ notice: { ...lostNotice(seat), title: "seats.gone" } });
}
// What is said of the last attempt follows what has become of its seat.
async function followNotice() {
  const { notice, buying } = state.get();
  if (notice === null || notice.kind === "good" || buying || !picture.has(notice.seat)) return;
  const isSold = picture.isSold(notice.seat);
  if (!isSold && notice.nearby && !notice.again) return state.set({ notice: null }); // it is free after all
  if (!isSold || !notice.again) return;
  const mine = await loadMine();
  if (mine === null || state.get().notice !== notice) return;
  if (mine.some((one) => same(one.seat, notice.seat))) state.set({ chosen: null, notice: boughtNotice(notice.seat, user.person()) });
  else if (picture.isSold(notice.seat)) state.set({ notice: lostNotice(notice.seat) });
}
async function cancel(reservation) {
  try {
    await carryOut(user.person(), "DELETE", `/customer/reservations/${reservation.id}`);
    picture.change({ sold: [], free: [[reservation.seat.location, reservation.seat.number]] });
    toast(t("seats.cancelled", { seat: nameOf(reservation.seat) }));
  } catch (error) {
    if (!user.failed(error)) toast(error.message);
  }
  await loadMine();
}
function setMine(mine) {
  hall.mine = mine.map((one) => one.seat);
  state.set({ mine });
}
// The reservations of the person, null if they could not be read. What was asked for earlier does not replace what was asked for later.
let asksForMine = 0;
async function loadMine() {
  const person = user.person();
  const number = ++asksForMine;
  if (person === null) {
    setMine([]);
    return [];
  }
  try {
    const { items } = await call("GET", reservations, { token: person.token });
    for (const { seat } of items) wishes.settle(wishFor(person, seat));
    if (number === asksForMine) setMine(items);
    return items;
  } catch (error) {
    user.failed(error);
    return null;
  }
}

// ---- What is shown.
function showHead({ performance, missing, badFestival }) {
  if (missing !== null) {
    return fill($("main"), h("div", { class: "head" }, h("h1", {}, missing.code === "PERFORMANCE_NOT_FOUND" || missing.status === 400 ? t("seats.notFound") : missing.message),
      h("p", {}, h("a", { href: "/#performances", t: "seats.toHome" }))));
  }
  const title = () => performance === null ? h("h1", { class: "muted", t: "shared.loading" }) : [h("h1", {}, performance.title),
    h("p", { class: "muted" }, t("seats.when", { when: dateTime(performance.startAt), place: performance.place.name, acting: performance.acting }))];
  part(head, [performance, badFestival], () => [title(), badFestival && h("p", { class: "notice warn", role: "alert", "data-test": "bad-festival" },
    t(badFestival.name === null ? "seats.noFestival" : "seats.badFestival", badFestival))]);
}
function showBar({ stream, mine }) {
  const sold = picture.sold;
  const legend = (name, text, test) => h("span", { "data-test": test }, h("i", { class: `seat-${name}`, "aria-hidden": "true" }), text);
  const isLive = stream === "open" && picture.total > 0;
  part(bar, [sold, picture.total, isLive, mine.length > 0], () => [h("div", { class: "row legend" },
    legend("free-line", t("seats.free", { n: number(picture.total - sold) }), "free"), legend("sold", t("seats.sold", { n: number(sold) }), "sold"),
    mine.length > 0 && legend("mine", t("seats.yours"))),
  h("span", { class: `tag ${isLive ? "good" : "warn"}`, "data-test": "live", "data-live": isLive ? "yes" : "no" },
    h("span", { class: `dot ${isLive ? "live" : ""}` }), t(isLive ? "seats.live" : "seats.waiting"))]);
}
function noticeBox({ notice }) {
  if (notice === null) return null;
  const values = { seat: nameOf(notice.seat), name: notice.name ?? "" };
  const free = (notice.nearby ?? []).filter((seat) => !picture.isSold(seat));
  return h("div", { class: `notice ${notice.kind}`, role: notice.kind === "good" ? "status" : "alert", "data-test": "notice", "data-land": true },
    notice.title && h("strong", {}, t(notice.title)),
    h("span", {}, notice.message ?? t(notice.nearby && free.length === 0 ? "seats.full" : notice.text, values)),
    free.length > 0 && nearbyButtons(free),
    notice.again && h("div", { class: "row nearby" }, h("button", { class: "button small", type: "button", t: "seats.again", "data-test": "again", "data-keep": "buy",
      on: { click: () => { state.set({ chosen: notice.seat }); buy(); } } })));
}
const nearbyButtons = (seats) => h("div", { class: "row nearby", role: "group", "aria-label": t("seats.nearby") }, seats.map((seat) =>
  h("button", { class: "button quiet small", type: "button", "data-test": "nearby", on: { click: () => { choose(seat); hall.show(seat); } } }, t("seats.short", seat))));
function soldBox(seat) {
  const free = nearby(seat);
  return h("div", {}, h("p", { class: "muted small" }, t(free.length > 0 ? "seats.taken" : "seats.full")), free.length > 0 && nearbyButtons(free));
}
function showSeat(now) {
  const { chosen, notice, buying, performance, mine } = now;
  const around = notice?.nearby?.map((seat) => picture.isSold(seat));
  const dependsOn = [chosen, chosen && stateOf(chosen), notice, around, buying, performance?.price, user.person()?.id];
  part(chosenPart, dependsOn, () => seatRows(now));
}
function seatRows(now) {
  const { chosen, buying, performance, mine } = now;
  const own = mine.find((one) => same(one.seat, chosen));
  const rows = [noticeBox(now)];
  if (chosen === null) {
    if (now.notice === null) rows.push(h("div", {}, h("h2", { t: "seats.choose" }), h("p", { class: "muted small", t: "seats.chooseMore" })));
  } else {
    const kind = { "seats.isFree": "accent", "seats.isSold": "", "seats.isMine": "good" }[stateOf(chosen)];
    rows.push(h("div", { class: "row apart" }, h("p", { class: "chosen-seat", "data-test": "chosen", "data-land": true }, t("seats.short", chosen)),
      h("span", { class: `tag ${kind}` }, t(stateOf(chosen)))));
    if (own) rows.push(h("button", { class: "button danger full", type: "button", t: "seats.cancel", on: { click: () => cancel(own) } }));
    else if (picture.isSold(chosen)) rows.push(now.notice === null && soldBox(chosen));
    else if (user.person() === null) rows.push(h("p", { class: "muted small", t: "seats.loginFirst" }),
      h("button", { class: "button full", type: "button", t: "shared.login", "data-test": "to-login", on: { click: openLogin } }));
    // Not disabled: it would lose the focus.
    else rows.push(h("button", { class: "button full", type: "button", "data-test": "buy", "data-keep": "buy", "aria-disabled": buying && "true", on: { click: buy } },
      buying ? t("seats.buying") : t("seats.buy", { price: won(performance?.price ?? 0) })));
  }
  return rows;
}
function showMine({ mine }) {
  mineCard.hidden = user.person() === null;
  part(mineCard, mine.map((one) => one.id), () => [h("h2", { t: "seats.mine", "data-land": true }), mine.length === 0 ? h("p", { class: "muted small", t: "seats.noneMine" }) :
    h("ul", { class: "plain mine" }, mine.map((one) => h("li", { class: "row apart" },
      h("span", {}, h("strong", {}, t("seats.short", one.seat)), h("span", { class: "muted small" }, ` · ${dateTime(one.reservedAt)}`)),
      h("button", { class: "button danger small", type: "button", t: "seats.cancel", "aria-label": `${t("seats.cancel")}: ${nameOf(one.seat)}`,
        "data-test": "cancel", "data-keep": `cancel-${one.id}`, on: { click: () => cancel(one) } }))))]);
}
function showAccount() {
  const person = user.person();
  if (user.hasEnded()) loginBox.open = true;
  if (person === null) return fill(account, loginBox);
  fill(account, h("div", { class: "row apart" }, h("strong", { "data-test": "person", "data-land": true }, t("seats.asPerson", { name: person.name })),
    h("button", { class: "button quiet small", type: "button", t: "shared.logout", "data-test": "logout", "data-keep": "logout", on: { click: () => user.logout() } })));
}
function openLogin() {
  loginBox.open = true;
  land(loginBox.querySelector("select:not(:empty), input"));
}
function showSections() {
  const names = picture.sections.map(({ location: name }) => name);
  if (names.join("\n") === [...sectionChoice.options].map((option) => option.value).join("\n")) return;
  fill(sectionChoice, names.map((name) => h("option", { value: name }, name)));
}
function show(now = state.get()) {
  if (now.missing !== null) return showHead(now);
  showHead(now);
  showBar(now);
  showSeat(now);
  showMine(now);
  hall.chosen = now.chosen;
}
function showLabels() {
  canvas.setAttribute("aria-label", t("seats.hall"));
  for (const element of zoomers.children) element.setAttribute("aria-label", t(element.dataset.label));
  showAccount();
  show();
}

// ---- The hall, live.
const toastNotification = notificationToasts();
function read({ event, data }) {
  if (event === "notification") return toastNotification({ event, data });
  const told = JSON.parse(data);
  let changed = [];
  if (event === "snapshot") picture.replace(told);
  else if (event === "changes") changed = picture.change(told);
  showSections();
  hall.refresh(changed);
  const { chosen, notice, buying, mine } = state.get();
  const isOurs = buying || mine.some((one) => same(one.seat, chosen));
  const isGone = changed.some((seat) => seat.isSold && same(seat, chosen)) && !isOurs && notice === null;
  state.set({ notice });
  if (isGone) loseChosen(chosen);
  followNotice();
}
user.listen(() => {
  showAccount();
  loadMine();
});
state.listen(show);
onLanguage(showLabels);
showLabels();
// Seats and notifications come on one stream: a browser opens few at a time.
function watch(festival, onEnd) {
  follow(`${path}/seats/events${festival === null ? "" : `?festival=${encodeURIComponent(festival)}`}`, {
    onEvent: read,
    onState: (stream, error) => (stream === "ended" ? onEnd(error) : state.set({ stream })),
  });
}
const miss = (error) => state.set({ missing: error });
async function watchVisible(asked = null) {
  const festival = await visibleFestival();
  if (asked !== null) state.set({ badFestival: { asked, name: festival?.festivalName ?? null } });
  watch(festival?.festivalId ?? null, miss);
}
const asked = new URLSearchParams(location.search).get("festival");
if (asked === null) watchVisible();
else watch(asked, () => watchVisible(asked));
loadMine();
try {
  state.set({ performance: (await call("GET", path)).content });
} catch (error) {
  if (error.status >= 400 && error.status < 500) state.set({ missing: error });
}
