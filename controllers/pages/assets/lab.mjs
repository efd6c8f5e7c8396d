// "/lab": a crowd races for a prize, with one strategy or with two in turn; lanes, counter and verdict of each.
import { $, call, fill, follow, frame, h, loginForm, modes, number, onLanguage, session, svg, t, toast, wide, words } from "./shared.mjs";
import { detailAt, drawAll, drawDetail, instanceColour, personAt } from "./lane_picture.mjs";
import { duration, isWinner, laneOf, rowsOf, tooMany, windowAround } from "./lanes.mjs";

words({
  "title.lab": ["경주", "The race"],
  "lab.title": ["눈앞에서 벌어지는 경주", "The race before your eyes"],
  "lab.what": ["서비스가 스스로 군중을 만들어 자기 문으로 들여보냅니다. 요청 하나가 한 줄입니다. 기다리고, 잠금을 쥐고, 트랜잭션을 열고, 답을 받습니다. 판정은 상태 코드가 아니라 데이터베이스에서 읽습니다.",
    "The service makes a crowd and sends it through its own door. One request is one lane: it waits, holds the lock, opens its transaction, gets its answer. The verdict is read from the database, not from status codes."],
  "lab.off": ["실험실이 닫혀 있습니다. ./dev run --lab 으로 시작하면 열립니다.", "The lab is closed. It opens with ./dev run --lab."],
  "lab.login": ["경주를 시작하려면 관리자로 로그인하세요. 결과를 보는 것은 누구나 할 수 있습니다.", "Log in as an admin to start a race. Everybody may look at results."],
  "lab.subject": ["무엇을 두고", "The prize"],
  "lab.pins": ["공지 고정", "Pins"],
  "lab.pins.about": ["모두가 고정합니다. 세 개까지만.", "Everybody pins. Three may."],
  "lab.hot-seat": ["한 좌석", "One hot seat"],
  "lab.hot-seat.about": ["모두가 같은 자리를 원합니다.", "Everybody wants the same seat."],
  "lab.opening-second": ["예매 시작 1초", "Opening second"],
  "lab.opening-second.about": ["좌석의 두 배가 1초 안에 몰립니다.", "Twice as many people as seats, within a second."],
  "lab.coupon": ["선착순 쿠폰", "Coupons"],
  "lab.coupon.about": ["수량의 두 배가 신청합니다.", "Twice as many people as coupons."],
  "lab.people": ["사람 수", "People"],
  "lab.strategy": ["방식", "Strategy"],
  "lab.against": ["견줄 방식", "Against"],
  "lab.alone": ["없음", "no other"],
  "lab.backstop": ["안전망 (펜스와 제약 조건)", "Backstop (fences and constraints)"],
  "lab.fault": ["COMMIT 전에 잠금을 풀기 (고장)", "Release the lock before COMMIT (a fault)"],
  "lab.start": ["출발", "Go"],
  "lab.running": ["달리는 중…", "Running…"],
  "lab.waiting": ["준비 중…", "Getting ready…"],
  "lab.control": ["대조군: 실패하는 것이 정상", "a control: it is meant to fail"],
  "lab.single": ["프로세스 하나 안에서만", "inside one process only"],
  "lab.missing": ["서버 없음", "no server here"],
  "lab.held": ["지켰습니다", "held"],
  "lab.lucky": ["운이 좋았습니다", "lucky"],
  "lab.lucky.about": ["규칙은 지켜졌지만 지켜 준 것이 없습니다. 다음번에는 깨질 수 있습니다.", "The rules were kept, but nothing protected them. The next run may break them."],
  "lab.broken": ["깨졌습니다", "broken"],
  "lab.inProgress": ["진행 중", "running"],
  "lab.pending": ["대기", "next"],
  "lab.count.pins": ["고정된 공지", "pinned"],
  "lab.count.hot-seat": ["좌석의 주인", "owners of the seat"],
  "lab.count.opening-second": ["팔린 좌석", "seats sold"],
  "lab.count.coupon": ["나간 쿠폰", "coupons given"],
  "lab.of": ["/ {n}", "of {n}"],
  "lab.beyond": ["{n}건 초과", "{n} too many"],
  "lab.lanes": ["요청 {n}개, 시간 축 하나. 가리키거나 화살표 키를 누르면 한 줄씩 읽어 줍니다.",
    "{n} requests on one time axis. Point at a lane, or use the arrow keys, to read it."],
  "lab.rows": ["요청 {n}개. 한 줄은 이웃한 요청 {size}개이고, 그 가운데 가장 앞선 것이 하는 일의 색입니다. 가리키거나 화살표 키를 누르면 아래에 하나씩 펼쳐집니다.",
    "{n} requests. A row is {size} neighbours and has the colour of what the furthest of them does. Point at it, or use the arrow keys, to see single lanes below."],
  "lab.detail": ["요청 {from}–{to}, 차례가 온 때를 확대", "Requests {from} to {to}, around their turns"],
  "lab.key.wait": ["대기", "waits"],
  "lab.key.hold": ["잠금 보유", "holds the lock"],
  "lab.key.work": ["트랜잭션", "transaction"],
  "lab.key.won": ["성공", "won"],
  "lab.key.over": ["초과 성공", "won, one too many"],
  "lab.key.other": ["그 밖", "other"],
  "lab.who": ["{person}번", "person {person}"],
  "lab.lane": ["{person}번 · {answer} · {time}", "Person {person} · {answer} · {time}"],
  "lab.lane.wait": ["대기 {time}", "waited {time}"],
  "lab.lane.hold": ["보유 {time}", "held {time}"],
  "lab.lane.work": ["트랜잭션 {time}", "transaction {time}"],
  "lab.lane.fence": ["펜스 {fence}", "fence {fence}"],
  "lab.noAnswer": ["답 없음", "no answer"],
  "lab.verdict": ["데이터베이스의 판정", "What the database says"],
  "lab.fact": ["확인한 것", "Checked"],
  "lab.expected": ["기대", "expected"],
  "lab.found": ["실제", "found"],
  "fact.pins": ["고정된 공지 (최대)", "Pinned announcements (at most)"],
  "fact.accepted-are-stored": ["성공 답변이 모두 저장됨", "Every accepted answer is stored"],
  "fact.owners-of-a-seat": ["한 좌석의 주인 (최대)", "Owners of any seat (at most)"],
  "fact.sold-seats-are-reservations": ["팔린 좌석 = 예약", "Sold seats = reservations"],
  "fact.coupons-given": ["나간 쿠폰 (최대)", "Coupons given (at most)"],
  "fact.numbers-are-unique": ["번호가 겹치지 않음", "No number twice"],
  "fact.numbers-have-no-gap": ["번호에 빈틈 없음", "No gap in the numbers"],
  "fact.stock-is-counted": ["남은 수량이 맞음", "The stock is right"],
  "lab.overlap": ["이 두 트랜잭션이 깨뜨렸습니다", "These two transactions did it"],
  "lab.overlap.about": ["둘 다 상대가 저장하기 전에 읽었습니다. {time} 동안 함께 열려 있었습니다.",
    "Each read before the other had stored. They were open together for {time}."],
  "lab.overlap.early": ["앞사람은 COMMIT보다 {time} 먼저 잠금을 풀었습니다.", "The first gave its lock back {time} before its COMMIT was acknowledged."],
  "lab.overlap.both": ["함께 열려 있던 시간", "open together"],
  "lab.overlap.released": ["잠금 해제", "lock released"],
  "lab.overlap.commit": ["COMMIT 확인", "COMMIT acknowledged"],
  "lab.times": ["걸린 시간", "How long it took"],
  "lab.accepted": ["성공", "accepted"],
  "lab.refused": ["거절", "refused"],
  "lab.wait": ["잠금 대기", "wait for the lock"],
  "lab.hold": ["잠금 보유", "hold"],
  "lab.max": ["최대", "max"],
  "lab.countOf": ["건", "count"],
  "lab.order": ["잠금 {granted}번 가운데 {overtaken}번은, 접수된 뒤에 보낸 요청에 앞질렸습니다.",
    "Of {granted} grants, {overtaken} were overtaken by a request that was sent after the lock had received them."],
  "lab.orderFair": ["잠금 {granted}번 가운데, 접수된 뒤에 보낸 요청에 앞질린 것은 없습니다.", "None of {granted} grants was overtaken by a request that was sent after the lock had received it."],
  "lab.noOrder": ["트랜잭션 앞에서 잠금을 쓰지 않는 방식입니다.", "This strategy takes no lock before its transaction."],
  "lab.redis": ["요청당 Redis 명령 {n}개", "{n} Redis commands per request"],
  "lab.answers": ["답변", "Answers"],
  "lab.instances": ["응답한 인스턴스", "Served by"],
  "lab.link": ["링크 복사", "Copy link"],
  "lab.copied": ["링크를 복사했습니다.", "The link is copied."],
  "lab.download": ["JSON 내려받기", "Download JSON"],
  "lab.earlier": ["지난 경주", "Earlier races"],
  "lab.none": ["아직 경주가 없습니다.", "No race yet."],
  "lab.failed": ["경주를 끝까지 하지 못했습니다: {why}", "The race could not be finished: {why}"],
  "lab.gone": ["그 경주는 더 이상 남아 있지 않습니다.", "That race is no longer remembered."],
  "lab.details": ["자세히", "Details"],
  "lab.backstopOn": ["안전망 있음", "with backstop"],
  "lab.faulty": ["COMMIT 전 해제", "released before COMMIT"],
  "lab.crowd": ["{n}명", "{n} people"],
});

const SUBJECTS = ["pins", "hot-seat", "opening-second", "coupon"];
const admin = session("council");
const isAdmin = () => admin.person()?.roles.includes("ROLE_ADMIN") ?? false;

const DETAILED = 30; // lanes that are shown one by one where all of them are too many for that
const TAGS = { held: "good", lucky: "warn", broken: "bad" };

// ---- One side of a race: its lanes, its counter, its verdict.
class Side {
  constructor(race, strategy) {
    this.race = race;
    this.strategy = strategy;
    this.lanes = new Map(); // by person
    this.accepted = 0;
    this.beyond = 0;
    this.over = new Set();
    this.result = null;
    this.order = []; // lanes in the order of their answers, as `overlaps` counts them
    this.state = "pending";
    this.now = 0;
    this.selected = null;
    this.counter = h("p", { class: "counter number", "data-test": "counter" });
    this.canvas = h("canvas", { class: "lanes", tabindex: "0", role: "img", "data-test": "lanes" });
    this.closeUp = h("canvas", { class: "lanes", role: "img", "data-test": "close-up" });
    this.caption = h("figcaption", { class: "small muted" });
    this.detailed = h("figure", { class: "stack tight lanes-box", hidden: !this.isGrouped() }, this.caption, this.closeUp);
    this.detail = h("p", { class: "small muted lane-detail", "aria-live": "polite", "data-test": "lane" });
    this.tag = h("span", { class: "tag", "data-test": "verdict" });
    this.after = h("div", { class: "stack" });
    this.legend = h("p", { class: "legend small muted" });
    this.element = h("section", { class: "card side stack", "data-test": "side" },
      h("div", { class: "row apart" }, h("h2", {}, strategy), this.tag), this.counter,
      h("div", { class: "lanes-box" }, this.canvas), this.detailed, this.legend, this.detail, this.after);
    this.listen();
  }
  listen() {
    for (const kind of ["pointermove", "pointerdown"]) {
      this.canvas.addEventListener(kind, (event) => this.look(personAt(event.offsetY, this.race.people)));
      this.closeUp.addEventListener(kind, (event) => this.select(detailAt(event.offsetY, this.shown())));
    }
    this.canvas.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
      if (!step) return;
      event.preventDefault();
      this.look(Math.max(0, Math.min(this.race.people - 1, (this.selected ?? -1) + step)));
    });
  }
  isGrouped() {
    return rowsOf(this.race.people).size > 1;
  }
  // The persons that are shown one by one: around the one that was looked at, or else where the rule was broken or somebody won.
  shown() {
    const winner = () => [...this.lanes.values()].find((lane) => lane.answered !== undefined && isWinner(lane))?.person;
    return windowAround(this.looked ?? [...this.over][0] ?? winner() ?? 0, this.race.people, DETAILED);
  }
  look(person) {
    if (this.lanes.has(person)) this.looked = person;
    this.select(person);
  }
  select(person) {
    if (!this.lanes.has(person)) return;
    this.selected = person;
    this.describe();
    this.dirty = true;
  }
  explained() {
    const { size } = rowsOf(this.race.people);
    return t(size > 1 ? "lab.rows" : "lab.lanes", { n: number(this.race.people), size });
  }
  describe() {
    const lane = this.lanes.get(this.selected);
    if (!lane) return fill(this.detail, this.explained());
    if (lane.answered === undefined) return fill(this.detail, t("lab.who", { person: lane.person + 1 }));
    const answer = lane.status === 0 ? t("lab.noAnswer") : `${lane.status} ${lane.code}`.trim();
    const more = [t("lab.lane", { person: lane.person + 1, answer, time: duration(lane.answered - lane.sent) })];
    if (lane.fence > 0) more.push(t("lab.lane.wait", { time: duration(lane.granted - lane.asked) }), t("lab.lane.hold", { time: duration(lane.released - lane.granted) }));
    if (lane.begun !== null && lane.ended !== null) more.push(t("lab.lane.work", { time: duration(lane.ended - lane.begun) }));
    if (lane.fence > 0) more.push(t("lab.lane.fence", { fence: lane.fence }));
    if (lane.won) more.push(lane.won);
    if (lane.instance) more.push(lane.instance);
    fill(this.detail, more.join(" · "));
  }
  sent(person, at) {
    if (!this.lanes.has(person)) this.lanes.set(person, { person, sent: at });
    this.now = Math.max(this.now, at);
  }
  answered(values) {
    const lane = laneOf(this.race.laneFields, values);
    this.lanes.set(lane.person, lane);
    this.order.push(lane);
    this.now = Math.max(this.now, lane.answered);
  }
  told(accepted, beyond) {
    this.accepted = accepted;
    this.beyond = beyond;
    this.over = beyond > 0 ? tooMany([...this.lanes.values()].filter((lane) => lane.answered !== undefined), this.race.mostPerPrize, this.race.prizes) : new Set();
    this.showCounter();
    this.dirty = true;
  }
  judged(result) {
    this.result = result;
    this.state = "judged";
    this.dirty = true;
    this.show();
  }
  showCounter() {
    const isBroken = this.beyond > 0 || this.result?.holds === false;
    this.element.classList.toggle("broken", isBroken);
    this.element.classList.toggle("lucky", this.result?.verdict === "lucky");
    fill(this.counter, h("strong", {}, number(this.accepted)), " ", h("span", {}, `${t("lab.of", { n: number(this.race.prizes) })} ${t(`lab.count.${this.race.what}`)}`),
      this.beyond > 0 ? h("span", { class: "tag bad", "data-test": "beyond" }, t("lab.beyond", { n: number(this.beyond) })) : null);
  }
  show() {
    const verdict = this.result?.verdict;
    const [kind, key] = verdict ? [TAGS[verdict], `lab.${verdict}`] : ["", this.state === "running" ? "lab.inProgress" : "lab.pending"];
    this.tag.className = `tag ${kind}`;
    fill(this.tag, kind ? null : h("span", { class: this.state === "running" ? "dot live" : "dot" }), t(key));
    this.canvas.setAttribute("aria-label", this.explained());
    this.showCounter();
    this.showLegend();
    this.describe();
    fill(this.after, this.result ? resultOf(this) : null);
  }
  instances() {
    return [...new Set(this.order.map((lane) => lane.instance).filter(Boolean))].sort();
  }
  showLegend() {
    const item = (kind, text) => h("span", { class: "legend-item" }, h("span", { class: `swatch ${kind}` }), text);
    const kinds = ["wait", "hold", "work", "won"].concat(this.over.size > 0 ? ["over"] : [], "other");
    const instances = this.instances();
    fill(this.legend, kinds.map((kind) => item(kind, t(`lab.key.${kind}`))),
      instances.length > 1 && instances.map((name, place) => item(`tall ${instanceColour(place)}`, name)));
  }
  end() {
    let end = 1000;
    for (const lane of this.lanes.values()) end = Math.max(end, lane.answered ?? this.now);
    return end;
  }
  // `end`: both sides of a race share one axis.
  draw(end) {
    this.dirty = false;
    const shown = this.isGrouped() ? this.shown() : null;
    const view = { lanes: [...this.lanes.values()], people: this.race.people, over: this.over, instances: this.instances(), selected: this.selected, shown, end, now: this.now };
    drawAll(this.canvas, view);
    if (!shown) return;
    drawDetail(this.closeUp, view);
    fill(this.caption, t("lab.detail", { from: number(shown[0] + 1), to: number(shown[1]) }));
    this.closeUp.setAttribute("aria-label", this.caption.textContent);
  }
}

// ---- What is said when a side is over.
function resultOf(side) {
  const { result } = side;
  return [
    result.verdict === "lucky" ? h("p", { class: "notice warn", "data-test": "luck" }, t("lab.lucky.about")) : null,
    result.overlaps.length > 0 ? overlapOf(side, result.overlaps[0]) : null,
    wide(t("lab.verdict"), h("table", { "data-test": "facts" },
      h("caption", { class: "for-ears" }, t("lab.verdict")),
      h("thead", {}, h("tr", {}, h("th", {}, t("lab.verdict")), h("th", { class: "right" }, t("lab.expected")), h("th", { class: "right" }, t("lab.found")))),
      h("tbody", {}, result.facts.map((fact) => h("tr", { class: fact.holds ? undefined : "bad-row" },
        h("td", {}, h("span", { class: fact.holds ? "mark good" : "mark bad", "aria-hidden": "true" }, fact.holds ? "✓" : "✗"), " ", t(`fact.${fact.name}`)),
        h("td", { class: "number right" }, number(fact.expected)), h("td", { class: "number right" }, number(fact.found))))))),
    timesOf(result.micros),
    h("p", { class: "small" }, orderOf(result.order)),
    h("p", { class: "small muted" }, [
      result.redisCommands !== null ? t("lab.redis", { n: (result.redisCommands / side.race.people).toFixed(1) }) : null,
      `${t("lab.answers")}: ${result.answers.map((one) => `${number(one.count)} × ${one.status || t("lab.noAnswer")} ${one.code}`.trim()).join(", ")}`,
      result.instances.length > 1 ? `${t("lab.instances")}: ${result.instances.map((one) => `${one.name} ${number(one.count)}`).join(", ")}` : null,
    ].filter(Boolean).join(" · ")),
  ];
}
function orderOf({ granted, overtaken }) {
  if (granted === 0) return t("lab.noOrder");
  return overtaken === 0 ? t("lab.orderFair", { granted: number(granted) }) : t("lab.order", { granted: number(granted), overtaken: number(overtaken) });
}
function timesOf(micros) {
  const rows = ["accepted", "refused", "wait", "hold"].filter((name) => micros[name].count > 0);
  return wide(t("lab.times"), h("table", { class: "times" },
    h("thead", {}, h("tr", {}, h("th", {}, t("lab.times")), [t("lab.countOf"), "p50", "p90", "p99", t("lab.max")].map((head) => h("th", { class: "right" }, head)))),
    h("tbody", {}, rows.map((name) => h("tr", {}, h("td", {}, t(`lab.${name}`)), h("td", { class: "number right" }, number(micros[name].count)),
      ["p50", "p90", "p99", "max"].map((at) => h("td", { class: "number right" }, duration(micros[name][at]))))))));
}
// The two transactions over each other.
function overlapOf(side, overlap) {
  const two = [side.order[overlap.first], side.order[overlap.second]];
  const from = Math.min(...two.map((lane) => Math.min(lane.begun, lane.granted ?? lane.begun)));
  const to = Math.max(...two.map((lane) => Math.max(lane.ended, lane.released ?? lane.ended)));
  // As wide as it is shown, so that its words have their size.
  const room = Math.max(260, Math.min(600, (side.element.clientWidth || 600) - 70));
  const x = (at) => 6 + ((room - 12) * (at - from)) / Math.max(1, to - from);
  const shape = (kind, a, b, y, height) => svg("rect", { class: kind, x: x(a), y, width: Math.max(2, x(b) - x(a)), height, rx: 3 });
  const early = two.filter((lane) => lane.fence > 0 && lane.released < lane.ended);
  const rows = two.flatMap((lane, i) => {
    const y = 26 + i * 44;
    return [
      lane.fence > 0 ? shape("hold", lane.granted, lane.released, y - 4, 30) : null,
      shape("work", lane.begun, lane.ended, y, 22),
      svg("text", { x: x(lane.begun) + 6, y: y + 15, class: "name" }, t("lab.who", { person: lane.person + 1 })),
      early.includes(lane) ? svg("path", { class: "released", d: `M${x(lane.released)} ${y - 8}v38` }) : null,
    ].filter(Boolean);
  });
  const picture = svg("svg", { viewBox: `0 0 ${room} 118`, class: "overlap", role: "img", "aria-label": t("lab.overlap") },
    svg("rect", { class: "both", x: x(overlap.from), y: 4, width: Math.max(2, x(overlap.to) - x(overlap.from)), height: 96 }), ...rows,
    svg("text", { class: "both-name", x: Math.max(90, Math.min(room - 90, (x(overlap.from) + x(overlap.to)) / 2)), y: 113, "text-anchor": "middle" }, `${t("lab.overlap.both")} · ${duration(overlap.to - overlap.from)}`));
  const first = early[0];
  return h("figure", { class: "stack tight notice bad", "data-test": "overlap" }, h("strong", {}, t("lab.overlap")), picture,
    h("figcaption", { class: "small" }, t("lab.overlap.about", { time: duration(overlap.to - overlap.from) }),
      first ? ` ${t("lab.overlap.early", { time: duration(first.ended - first.released) })}` : ""));
}

// ---- The race on the page.
let race = null; // {raceId, what, people, …, sides: [Side]}
let stream = null;
const stage = h("div", { class: "stage", "data-test": "stage" });
const about = h("div", { class: "row apart" });

function open(head) {
  race = { ...head, sides: [] };
  race.sides = head.strategies.map((strategy) => new Side(race, strategy));
  stage.classList.toggle("two", race.sides.length > 1);
  fill(stage, race.sides.map((side) => side.element));
  race.sides.forEach((side) => side.show());
  showAbout();
  showWish(head);
}
function showAbout() {
  if (!race) return fill(about);
  const facts = [t(`lab.${race.what}`), t("lab.crowd", { n: number(race.people) }), race.backstop && t("lab.backstopOn"), race.fault !== "none" && t("lab.faulty")].filter(Boolean);
  fill(about, h("h2", {}, facts.join(" · ")), h("div", { class: "row" },
    h("button", { class: "button quiet small", type: "button", t: "lab.link", on: { click: copyLink } }),
    h("a", { class: "button quiet small", href: `/lab/races/${race.raceId}`, download: `race-${race.raceId}.json`, t: "lab.download" })));
}
async function copyLink() {
  await navigator.clipboard?.writeText(`${location.origin}/lab#${race.raceId}`).catch(() => {});
  toast(t("lab.copied"));
}
let running = -1;
function take({ event, data }) {
  const value = JSON.parse(data);
  if (event === "race") {
    open(value);
    running = -1;
  } else if (event === "side") {
    running += 1;
    race.sides[running].state = "running";
    race.sides[running].show();
  } else if (event === "lanes") {
    const side = race.sides[running];
    for (const [person, at] of value.sent) side.sent(person, at);
    for (const lane of value.lanes) side.answered(lane);
    side.told(value.accepted, value.tooMany);
    if (side.instances().length > 1) side.showLegend();
  } else if (event === "verdict") {
    race.sides[running].judged(value);
  } else if (event === "end") {
    stream?.stop();
    stream = null;
    setBusy(false);
    if (value.state === "failed") complain(t("lab.failed", { why: value.failure }));
    list();
  }
}
function watch(id) {
  stream?.stop();
  setBusy(true);
  stream = follow(`/lab/races/${id}/events`, { onEvent: take, onState: (state, error) => {
    if (state === "ended") {
      setBusy(false);
      complain(error.message);
    }
  } });
}
async function load(id) {
  try {
    const whole = await call("GET", `/lab/races/${id}`);
    if (whole.state === "running") return watch(id);
    stream?.stop();
    open(whole);
    whole.sides.forEach((from, i) => {
      const side = race.sides[i];
      from.lanes.forEach((lane) => side.answered(lane));
      side.told(from.accepted, from.tooMany);
      if (from.result) side.judged(from.result);
    });
    if (whole.state === "failed") complain(t("lab.failed", { why: whole.failure }));
  } catch (error) {
    complain(error.code === "RACE_NOT_FOUND" ? t("lab.gone") : error.message);
  }
}
// One axis for both sides; drawn once per frame, and only when something changed.
function paint() {
  if (race?.sides.some((side) => side.dirty)) {
    const end = Math.max(...race.sides.map((side) => side.end()));
    race.sides.forEach((side) => side.draw(end));
  }
  requestAnimationFrame(paint);
}
const redraw = () => race?.sides.forEach((side) => (side.dirty = true));
document.addEventListener("themechange", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
new ResizeObserver(redraw).observe(stage);

// ---- The form.
const complaint = h("p", { class: "notice bad", role: "alert", hidden: true });
function complain(text) {
  complaint.textContent = text;
  complaint.hidden = false;
}
const chosen = { what: "pins", strategy: "none", against: "memory" }; // the strategies until the lists of them are filled
const subjects = h("div", { class: "subjects" }, SUBJECTS.map((name) =>
  h("label", { class: "subject" },
    h("input", { type: "radio", name: "what", value: name, checked: name === "pins", on: { change: () => { chosen.what = name; showStrategies(); } } }),
    h("span", { class: "stack tight" }, h("strong", { t: `lab.${name}` }), h("span", { class: "small muted", t: `lab.${name}.about` })))));
const people = h("input", { class: "input number", type: "number", name: "people", min: "2", max: "2000", value: "100", required: true });
const strategy = h("select", { class: "input", name: "strategy" });
const against = h("select", { class: "input", name: "against" });
const backstop = h("input", { type: "checkbox", name: "backstop" });
const fault = h("input", { type: "checkbox", name: "fault" });
const start = h("button", { class: "button", "data-test": "start" });
const desk = h("div", {});
function setBusy(busy) {
  start.disabled = busy;
  start.textContent = t(busy ? "lab.running" : "lab.start");
}
const form = h("form", { class: "card stack", on: { submit: (event) => { event.preventDefault(); go(); } } },
  h("fieldset", { class: "stack tight plain" }, h("legend", { t: "lab.subject" }), subjects),
  h("div", { class: "choices" },
    h("label", { class: "field" }, h("span", { t: "lab.people" }), people),
    h("label", { class: "field" }, h("span", { t: "lab.strategy" }), strategy),
    h("label", { class: "field" }, h("span", { t: "lab.against" }), against)),
  h("div", { class: "row apart" },
    h("div", { class: "row loose" }, h("label", { class: "check" }, backstop, h("span", { t: "lab.backstop" })), h("label", { class: "check" }, fault, h("span", { t: "lab.fault" }))),
    start));
// The form as the race was started, so that it can be run again.
function showWish(wish) {
  Object.assign(chosen, { what: wish.what, strategy: wish.strategies[0], against: wish.strategies[1] ?? "" });
  for (const radio of subjects.querySelectorAll("input")) radio.checked = radio.value === wish.what;
  people.value = wish.people;
  backstop.checked = wish.backstop;
  fault.checked = wish.fault !== "none";
  fill(strategy);
  fill(against);
  if (strategies.length > 0) showStrategies();
}
async function go() {
  complaint.hidden = true;
  setBusy(true);
  const body = { what: chosen.what, people: Number(people.value), strategy: strategy.value, backstop: backstop.checked, fault: fault.checked ? "release-before-commit" : "none" };
  if (against.value) body.against = against.value;
  try {
    const begun = await call("POST", "/lab/races", { body, token: admin.person().token });
    history.replaceState(null, "", `#${begun.raceId}`);
    watch(begun.raceId);
  } catch (error) {
    admin.failed(error);
    setBusy(false);
    complain(error.message);
  }
}
let strategies = [];
function showStrategies() {
  const note = (row) => (!row.available ? t("lab.missing") : !row.protects ? t("lab.control") : !row.acrossProcesses ? t("lab.single") : "");
  const usable = strategies.filter((row) => !row.queues || chosen.what === "coupon");
  const kept = (name, other) => (usable.some((row) => row.name === name) ? name : other);
  const options = () => usable.map((row) => h("option", { value: row.name, disabled: !row.available }, note(row) ? `${row.name} (${note(row)})` : row.name));
  const first = kept(strategy.options.length === 0 ? chosen.strategy : strategy.value, "none");
  const second = kept(against.options.length === 0 ? chosen.against : against.value, "");
  fill(strategy, options());
  fill(against, h("option", { value: "" }, t("lab.alone")), options());
  strategy.value = first;
  against.value = second;
}
function showDesk() {
  fill(desk, isAdmin() ? form : h("section", { class: "card stack narrow" }, h("p", { class: "muted", t: "lab.login" }), loginForm(admin, "admin")));
}
const earlier = h("ul", { class: "plain stack tight" });
let races = [];
function showRaces() {
  fill(earlier, races.length === 0 ? h("li", { class: "muted" }, t("lab.none")) : races.map((one) => h("li", {},
    h("a", { href: `#${one.raceId}`, class: "mono" }, one.strategies.join(" ↔ ")), " ",
    h("span", { class: "muted small" }, [t(`lab.${one.what}`), t("lab.crowd", { n: number(one.people) }), one.fault !== "none" && t("lab.faulty")].filter(Boolean).join(" · ")))));
}
async function list() {
  const answer = await call("GET", "/lab/races");
  races = answer.races;
  strategies = answer.strategies;
  if (strategy.options.length === 0) showStrategies();
  showRaces();
}

frame("lab");
const main = $("main");
main.append(h("header", { class: "stack tight" }, h("h1", { t: "lab.title" }), h("p", { class: "lead", t: "lab.what" })));
if (modes.has("lab")) {
  main.append(desk, complaint, about, stage, h("section", { class: "stack tight" }, h("h2", { t: "lab.earlier" }), earlier));
  setBusy(false);
  showDesk();
  admin.listen(showDesk);
  onLanguage(() => {
    setBusy(start.disabled);
    showStrategies();
    showRaces();
    showAbout();
    race?.sides.forEach((side) => side.show());
  });
  addEventListener("hashchange", () => location.hash.length > 1 && load(location.hash.slice(1)));
  requestAnimationFrame(paint);
  try {
    await list();
    const wanted = location.hash.slice(1) || races[0]?.raceId;
    if (wanted) await load(wanted);
  } catch (error) {
    complain(error.message);
  }
} else {
  main.append(h("p", { class: "notice warn", t: "lab.off" }));
}
