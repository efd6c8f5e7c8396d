// "/": what this is, and the way to every page.
import { call, dateTime, fill, frame, h, modes, onLanguage, svg, t, won, words } from "./shared.mjs";

words({
  "title.home": ["한 자리에 한 사람", "One seat, one owner"],
  "home.title": ["모두가 동시에 눌러도, 한 자리에는 한 사람", "Everyone clicks at once. One seat, one owner."],
  "home.what": ["festabook은 대학 축제의 공지, 좌석 예매, 선착순 쿠폰을 맡는 C++ 서비스입니다. 몰려드는 요청을 데이터베이스 트랜잭션보다 먼저 잠그고, COMMIT이 확인된 뒤에야 풀어 줍니다. 어떤 잠금이 알맞은지 여기에서 눈으로 비교하고, 좌석을 사고, 공지를 고정해 보세요.",
    "festabook is a C++ service for university festivals: announcements, seat reservations, first-come coupons. It locks each contended write before its database transaction opens and lets go only when COMMIT is acknowledged. Come and see which lock suits you, buy a seat, pin an announcement."],
  "home.performances": ["공연", "Performances"],
  "home.none": ["아직 등록된 공연이 없습니다.", "There are no performances yet."],
  "home.pages": ["둘러보기", "Look around"],
  "home.toSeats": ["좌석 보기", "See the seats"],
  "home.price": ["{price} · {place}", "{price} · {place}"],
  "home.council": ["공지를 쓰고 고정합니다. 모두가 한꺼번에 눌러도 고정은 세 개까지입니다.", "Write announcements and pin them. Three pins at most, even when everyone clicks at once."],
  "home.lab": ["수백 명이 한꺼번에 달려드는 경주. 잠금이 있을 때와 없을 때를 나란히 봅니다.", "A race of hundreds at once. With a lock and without, side by side."],
  "home.operator": ["누가 잠금을 쥐고 누가 기다리는지, 지금 이 순간을 봅니다.", "Who holds a lock and who waits, at this very moment."],
  "home.docs": ["모든 호출과 형식, 그리고 시험해 볼 자리.", "Every call and its shapes, with a place to try them."],
  "home.labOff": ["--lab로 시작하면 열립니다", "opens with --lab"],
});

const rect = (x, y, width, height, opacity) => svg("rect", { x, y, width, height, rx: 3, opacity });
// A small drawing for each page.
const PICTURES = {
  council: () => [0, 1, 2].map((i) => rect(24, 13 + i * 17, 150 - i * 26, 11, 1 - i * 0.25)),
  lab: () => [0, 1, 2, 3].flatMap((i) => [rect(20, 10 + i * 15, 20 + i * 38, 8, 0.2), rect(44 + i * 38, 10 + i * 15, 34, 8, 0.95)]),
  operator: () => [9, 16, 30, 46, 52, 38, 26, 15, 11, 7].map((height, i) => rect(22 + i * 21, 64 - height, 14, height, 0.25 + height / 75)),
  docs: () => [0, 1, 2, 3].map((i) => rect(24 + (i % 2) * 18, 12 + i * 14, [120, 84, 140, 66][i], 7, [1, 0.5, 0.7, 0.35][i])),
};
const picture = (name) => svg("svg", { class: "picture", viewBox: "0 0 260 74", fill: "currentColor", "aria-hidden": "true",
  preserveAspectRatio: "xMidYMid slice" }, ...PICTURES[name]());

function door(name, href) {
  const note = name === "lab" && !modes.has("lab") ? h("span", { class: "tag", t: "home.labOff" }) : null;
  return h("a", { class: "card door", href }, picture(name),
    h("div", { class: "row apart" }, h("h3", { t: `shared.${name}` }), note), h("p", { t: `home.${name}` }));
}

// A hall where everything is sold but a few, and one seat is yours.
function hero() {
  const seats = [];
  for (let row = 0; row < 7; ++row)
    for (let column = 0; column < 11; ++column) {
      const isMine = row === 3 && column === 6;
      const isFree = (row * 7 + column * 5 + row * column) % 6 === 0;
      const one = rect(12 + column * 28, 44 + row * 26 + Math.abs(column - 5) ** 2 * 0.9, 20, 19, isMine ? 1 : isFree ? 0.55 : 0.13);
      if (isMine) one.setAttribute("class", "yours");
      seats.push(one);
    }
  const stage = svg("path", { d: "M60 8 H262 L250 28 H72 Z", opacity: 0.16 });
  return svg("svg", { class: "hall-picture", viewBox: "0 0 322 250", fill: "currentColor", "aria-hidden": "true" }, stage, ...seats);
}

const list = h("div", { class: "grid", "aria-live": "polite" }, h("p", { class: "muted", t: "shared.loading" }));
frame("home");
document.getElementById("main").append(
  h("section", { class: "hero" }, h("div", { class: "stack" }, h("h1", { t: "home.title" }), h("p", { class: "lead", t: "home.what" })), hero()),
  h("section", { class: "stack", id: "performances" }, h("h2", { t: "home.performances" }), list),
  h("section", { class: "stack" }, h("h2", { t: "home.pages" }), h("div", { class: "grid" },
    door("council", "/council"), door("lab", "/lab"), door("operator", "/operator"), door("docs", "/docs"))));

let performances = null;
let failure = null;
function show() {
  if (failure) return fill(list, h("p", { class: "notice bad" }, failure.message));
  if (performances === null) return;
  if (performances.length === 0) return fill(list, h("p", { class: "muted", t: "home.none" }));
  fill(list, performances.map((one) =>
    h("a", { class: "card performance", href: `/seats/${one.id}`, "data-test": "performance" },
      h("h3", {}, one.title),
      h("p", { class: "muted small" }, `${dateTime(one.startAt)} · ${one.acting}`),
      h("p", { class: "muted small" }, t("home.price", { price: won(one.price), place: one.place.name })),
      h("p", { class: "small" }, h("span", { class: "tag accent", t: "home.toSeats" })))));
}
onLanguage(show);
try {
  performances = (await call("GET", "/performances?perPage=50")).items;
} catch (error) {
  failure = error;
}
show();
