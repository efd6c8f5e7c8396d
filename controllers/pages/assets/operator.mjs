// "/operator": one instance at this moment, looked at every second.
import { $, call, fill, frame, h, loginForm, number, onLanguage, session, svg, t, wide, words } from "./shared.mjs";
import { barsOf, duration, percentileOf } from "./lanes.mjs";

words({
  "title.operator": ["운영실", "Operator"],
  "operator.title": ["지금 이 순간", "At this very moment"],
  "operator.login": ["관리자만 볼 수 있습니다.", "This is for admins."],
  "operator.up": ["가동 {time}", "up {time}"],
  "operator.live": ["1초마다 갱신", "every second"],
  "operator.lost": ["연결이 끊겼습니다. 다시 시도하는 중…", "The connection is lost. Trying again…"],
  "operator.database": ["데이터베이스", "Database"],
  "operator.redis": ["Redis", "Redis"],
  "operator.redlock": ["Redlock", "Redlock"],
  "operator.broker": ["RabbitMQ", "RabbitMQ"],
  "operator.health.up": ["정상", "up"],
  "operator.health.down": ["응답 없음", "down"],
  "operator.health.none": ["없음", "not used"],
  "operator.holding": ["잠금을 쥔 요청", "hold a lock"],
  "operator.waiting": ["기다리는 요청", "wait for one"],
  "operator.inFlight": ["처리 중인 요청", "requests in flight"],
  "operator.rate": ["초당 요청", "requests per second"],
  "operator.lag": ["이벤트 루프 지연", "event loop lag"],
  "operator.ofLimit": ["한도 {n}", "limit {n}"],
  "operator.stuck": ["오래 잡혀 있는 잠금", "A lock is held for long"],
  "operator.stuckAbout": ["{key} · {strategy} · {time}째 쥐고 있습니다. 임대가 끝나면 저절로 풀립니다.",
    "{key} · {strategy} · held for {time}. It ends with its lease at the latest."],
  "operator.locks": ["누가 쥐고 누가 기다리나", "Who holds, who waits"],
  "operator.nobody": ["지금은 아무도 잠금을 쓰지 않습니다.", "No request holds or waits for a lock."],
  "operator.key": ["키", "Key"],
  "operator.state": ["상태", "State"],
  "operator.time": ["시간", "Time"],
  "operator.is.holding": ["보유", "holds"],
  "operator.is.waiting": ["대기", "waits"],
  "operator.fence": ["펜스", "Fence"],
  "operator.strategy": ["방식", "Strategy"],
  "operator.waits": ["잠금 대기 시간", "Waits for a lock"],
  "operator.holds": ["잠금 보유 시간", "Holds of a lock"],
  "operator.span": ["최근 {n}분 · {count}건", "last {n} minutes · {count}"],
  "operator.percentiles": ["절반은 {p50} 이하, 99%는 {p99} 이하", "half within {p50}, 99 % within {p99}"],
  "operator.noValues": ["아직 없습니다.", "None yet."],
  "operator.longest": ["5초 초과", "more than 5 s"],
  "operator.counters": ["시작 이후", "Since the start"],
  "counter.fencesRefused": ["거부된 펜스", "fences refused"],
  "counter.fencesRenewed": ["갱신된 펜스", "fences renewed"],
  "counter.conflictsRepeated": ["되풀이한 충돌", "conflicts repeated"],
  "counter.unknownCommits": ["결과를 모르는 COMMIT", "unknown COMMITs"],
  "counter.offersExpired": ["늦은 제안", "late offers"],
  "counter.lockedRequests": ["잠금 요청", "locked requests"],
  "counter.requests": ["모든 요청", "requests in all"],
  "operator.shared": ["함께 쓴 트랜잭션", "Shared transactions"],
  "operator.festa_shared_transactions_total": ["트랜잭션", "transactions"],
  "operator.festa_shared_members_total": ["그 안의 쓰기", "writes in them"],
  "operator.queues": ["대기열", "Queues"],
  "operator.queue": ["대기열", "Queue"],
  "operator.inWork": ["처리 중", "in work"],
  "operator.redelivered": ["다시 온 것", "came again"],
  "operator.dead": ["버려진 것", "given up"],
  "operator.instances": ["인스턴스", "Instances"],
  "operator.open": ["처리 중", "in flight"],
  "operator.instance": ["이름", "Name"],
  "operator.seen": ["마지막 소식", "Last sign"],
  "operator.ago": ["{time} 전", "{time} ago"],
  "operator.this": ["이 화면", "this one"],
  "operator.connections": ["연결 {n}개, 거절 {refused}개", "{n} connections, {refused} refused"],
  "operator.unknown": ["데이터베이스가 응답하지 않아 알 수 없습니다.", "The database does not answer."],
});

const STUCK_MS = 1000; // a third of the usual lease
const EVERY_MS = 1000;
const KEPT = 60;
const BAD_WHEN_SOME = new Set(["unknownCommits"]);
const admin = session("council");
const isAdmin = () => admin.person()?.roles.includes("ROLE_ADMIN") ?? false;

const now = h("div", { class: "stack loose", hidden: true });
const login = h("section", { class: "card stack narrow" }, h("p", { class: "muted", t: "operator.login" }), loginForm(admin, "admin"));
const lost = h("p", { class: "notice bad", role: "alert", hidden: true });
// A proxy may lead each request to another instance: the last overview of each, and the instance that is shown.
const seen = new Map(); // by name: {overview, rates: [{at, requests}]}
let shown = null;

const time = (ms) => duration(ms * 1000);
function upTime(seconds) {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}
function ratePerSecond(rates) {
  if (rates.length < 2) return 0;
  const [first, last] = [rates.at(-2), rates.at(-1)];
  return Math.max(0, ((last.requests - first.requests) * 1000) / (last.at - first.at));
}
function sparkline(rates) {
  const values = rates.slice(1).map((one, i) => Math.max(0, ((one.requests - rates[i].requests) * 1000) / (one.at - rates[i].at)));
  const most = Math.max(...values, 1);
  const points = values.map((value, i) => `${100 - (100 * (values.length - 1 - i)) / (KEPT - 2)},${24 - (22 * value) / most}`).join(" ");
  return svg("svg", { viewBox: "0 0 100 26", class: "spark", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("polyline", { points, "vector-effect": "non-scaling-stroke" }));
}
function figure(key, value, { limit, used, extra, bad } = {}) {
  const share = limit ? Math.min(1, used / limit) : null;
  const meter = share === null ? null : h("span", { class: "meter" }, h("span", { class: share > 0.8 ? "full" : "" }));
  if (meter) meter.firstChild.style.width = `${Math.max(share * 100, used > 0 ? 1.5 : 0)}%`;
  return h("div", { class: bad ? "card figure bad" : "card figure" }, h("span", { class: "small muted" }, t(key)), h("strong", { class: "number" }, value),
    meter, limit ? h("span", { class: "small muted" }, t("operator.ofLimit", { n: number(limit) })) : null, extra ?? null);
}
function healthTags(health) {
  return Object.entries(health).map(([name, state]) =>
    h("span", { class: `tag ${{ up: "good", down: "bad", none: "" }[state]}` }, h("span", { class: "dot" }), `${t(`operator.${name}`)} ${t(`operator.health.${state}`)}`));
}
function stuckOf(rows) {
  const stuck = rows.filter((row) => row.state === "holding" && row.ms > STUCK_MS);
  if (stuck.length === 0) return null;
  return h("div", { class: "notice bad stack tight", role: "alert", "data-test": "stuck" }, h("strong", {}, t("operator.stuck")),
    stuck.slice(0, 5).map((row) => h("p", { class: "small" }, t("operator.stuckAbout", { key: row.key, strategy: seen.size > 1 ? `${row.strategy} · ${row.instance}` : row.strategy, time: time(row.ms) }))));
}
function lockTable({ rows }) {
  if (rows.length === 0) return h("p", { class: "muted", t: "operator.nobody" });
  const longest = Math.max(...rows.map((row) => row.ms), STUCK_MS);
  const sorted = [...rows].sort((a, b) => (a.state === b.state ? b.ms - a.ms : a.state === "holding" ? -1 : 1)).slice(0, 40);
  return wide(t("operator.locks"), h("table", { "data-test": "locks" },
    h("thead", {}, h("tr", {}, ["state", "key", "strategy", "fence", "time"].map((name) => h("th", {}, t(`operator.${name}`))))),
    h("tbody", {}, sorted.map((row) => {
      const bar = h("span", { class: "bar" });
      bar.style.width = `${(100 * row.ms) / longest}%`;
      return h("tr", { class: row.state === "holding" && row.ms > STUCK_MS ? "stuck" : undefined },
        h("td", {}, h("span", { class: row.state === "holding" ? "tag accent" : "tag" }, t(`operator.is.${row.state}`))),
        h("td", { class: "mono" }, row.key), h("td", { class: "mono small" }, row.strategy), h("td", { class: "number small" }, row.fence === undefined ? "–" : number(row.fence)),
        h("td", { class: "time" }, h("span", { class: "number" }, time(row.ms)), h("span", { class: "bars" }, bar)));
    }))));
}
function histogram(key, counts, { boundsMicros, minutes }) {
  const all = counts.reduce((sum, count) => sum + count, 0);
  const heights = barsOf(counts);
  const width = 600 / counts.length;
  const label = (i) => (i < boundsMicros.length ? duration(boundsMicros[i]) : t("operator.longest"));
  const bars = counts.map((count, i) => svg("rect", { x: i * width + 3, y: 118 - 112 * heights[i], width: width - 6, height: Math.max(112 * heights[i], count > 0 ? 2 : 1), rx: 3,
    class: boundsMicros[i] === undefined || boundsMicros[i] > STUCK_MS * 1000 ? "late" : "" }, svg("title", {}, `≤ ${label(i)}: ${number(count)}`)));
  const names = counts.map((_, i) => (i % 2 === 0 && i < boundsMicros.length ? svg("text", { x: i * width + width / 2, y: 136, "text-anchor": "middle" }, label(i)) : null)).filter(Boolean);
  const [p50, p99] = [0.5, 0.99].map((share) => percentileOf(counts, boundsMicros, share));
  const text = (value) => (value === Infinity ? t("operator.longest") : duration(value));
  return h("section", { class: "card stack tight" }, h("div", { class: "row apart" }, h("h2", { t: key }), h("span", { class: "small muted" }, t("operator.span", { n: minutes, count: number(all) }))),
    svg("svg", { viewBox: "0 0 600 142", class: "histogram", role: "img", "aria-label": all === 0 ? t("operator.noValues") : t("operator.percentiles", { p50: text(p50), p99: text(p99) }) }, ...bars, ...names),
    h("p", { class: "small muted" }, all === 0 ? t("operator.noValues") : t("operator.percentiles", { p50: text(p50), p99: text(p99) })));
}
// A metric that this page does not know yet is shown by its name.
function metricName(name) {
  const key = `operator.${name}`;
  return t(key) === key ? name.replace(/^festa_/, "").replaceAll("_", " ") : t(key);
}
function counterList(counters, shared) {
  const row = (name, text, value) => h("div", { class: BAD_WHEN_SOME.has(name) && value > 0 ? "pair bad" : "pair" }, h("dt", {}, text), h("dd", { class: "number" }, number(value)));
  const more = Object.entries(shared);
  return h("section", { class: "card stack tight" }, h("h2", { t: "operator.counters" }),
    h("dl", {}, Object.entries(counters).map(([name, value]) => row(name, t(`counter.${name}`), value))),
    more.length > 0 ? [h("h3", { t: "operator.shared" }), h("dl", {}, more.map(([name, value]) => row(name, metricName(name), value)))] : null);
}
function queueTable(queues) {
  if (queues.length === 0) return null;
  return h("section", { class: "card stack tight" }, h("h2", { t: "operator.queues" }), wide(t("operator.queues"), h("table", {},
    h("thead", {}, h("tr", {}, ["queue", "waiting", "inWork", "redelivered", "dead"].map((name) => h("th", {}, t(`operator.${name}`))))),
    h("tbody", {}, queues.map((one) => h("tr", {}, h("td", { class: "mono" }, one.name),
      [one.waiting, one.inWork, one.redelivered, one.deadLettered].map((value) => h("td", { class: "number" }, number(value)))))))));
}
function instanceTable({ instances, instance }) {
  const body = instances === null ? h("p", { class: "muted", t: "operator.unknown" }) : wide(t("operator.instances"), h("table", { "data-test": "instances" },
    h("thead", {}, h("tr", {}, ["instance", "seen", "is.holding", "is.waiting", "open"].map((name) => h("th", {}, t(`operator.${name}`))))),
    h("tbody", {}, instances.map((one) => h("tr", {},
      h("td", { class: "mono" }, one.name, " ", one.name === instance ? h("span", { class: "tag accent" }, t("operator.this")) : null),
      h("td", {}, h("span", { class: one.seenMillisAgo > 6000 ? "tag bad" : "tag good" }, h("span", { class: "dot" }), t("operator.ago", { time: time(one.seenMillisAgo) }))),
      [one.holding, one.waiting, one.inFlight].map((value) => h("td", { class: "number" }, number(value))))))));
  return h("section", { class: "card stack tight" }, h("h2", { t: "operator.instances" }), body);
}
// Which instance is shown; a choice where a proxy leads to several.
function instanceChoice(overview) {
  if (seen.size < 2) return h("strong", { class: "mono", "data-test": "instance" }, overview.instance);
  return h("span", { class: "row" }, [...seen.keys()].sort().map((name) => h("button", {
    class: name === overview.instance ? "button small" : "button quiet small", type: "button", "aria-pressed": String(name === overview.instance),
    "data-test": "instance", on: { click: () => { shown = name; show(); } } }, name)));
}
function show() {
  login.hidden = isAdmin();
  now.hidden = !isAdmin() || !seen.has(shown);
  if (now.hidden) return;
  const { overview, rates } = seen.get(shown);
  const focused = document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent;
  const { locks, door, histograms } = overview;
  const hadFocus = now.contains(document.activeElement);
  fill(now,
    h("div", { class: "row apart" },
      h("p", { class: "row" }, instanceChoice(overview), h("span", { class: "muted small" }, t("operator.up", { time: upTime(overview.upSeconds) })),
        h("span", { class: "tag good" }, h("span", { class: "dot live" }), t("operator.live"))),
      h("div", { class: "row" }, healthTags(overview.health))),
    stuckOf([...seen.values()].flatMap((one) => one.overview.locks.rows.map((row) => ({ ...row, instance: one.overview.instance })))),
    h("div", { class: "figures" },
      figure("operator.holding", number(locks.holding), { limit: door.holders.limit, used: locks.holding }),
      figure("operator.waiting", number(locks.waiting), { limit: door.waiters.limit, used: locks.waiting }),
      figure("operator.inFlight", number(door.requests.used), { limit: door.requests.limit, used: door.requests.used, extra: h("span", { class: "small muted" }, t("operator.connections", { n: number(door.connections), refused: number(door.connectionsRefused) })) }),
      figure("operator.rate", number(Math.round(ratePerSecond(rates))), { extra: sparkline(rates) }),
      figure("operator.lag", duration(overview.loopLagMicros), { bad: overview.loopLagMicros > 100_000 })),
    h("section", { class: "card stack tight" }, h("h2", { t: "operator.locks" }), lockTable(locks)),
    h("div", { class: "pairs" }, histogram("operator.waits", histograms.waits, histograms), histogram("operator.holds", histograms.holds, histograms)),
    h("div", { class: "pairs" }, counterList(overview.counters, overview.sharedTransactions), h("div", { class: "stack" }, instanceTable(overview), queueTable(overview.queues))));
  // All elements are new: the one that replaces the focused one gets the focus.
  const again = [...now.querySelectorAll("button, [tabindex]")].find((one) => (one.getAttribute("aria-label") ?? one.textContent) === focused);
  if (hadFocus) again?.focus();
}
async function look() {
  if (!isAdmin()) return show();
  try {
    const overview = await call("GET", "/admin/overview", { token: admin.person().token });
    const rates = [...(seen.get(overview.instance)?.rates ?? []), { at: performance.now(), requests: overview.counters.requests }].slice(-KEPT);
    seen.set(overview.instance, { overview, rates });
    // Instances that have ended have no row.
    const names = new Set(overview.instances?.map((one) => one.name) ?? seen.keys());
    for (const name of seen.keys()) if (!names.has(name) && name !== overview.instance) seen.delete(name);
    if (!seen.has(shown)) shown = overview.instance;
    lost.hidden = true;
  } catch (error) {
    const isLoggedOut = admin.failed(error); // the login says so
    lost.textContent = error.status === 0 ? t("operator.lost") : error.message;
    lost.hidden = isLoggedOut;
  }
  show();
}

frame("operator");
$("main").append(h("h1", { t: "operator.title" }), login, lost, now);
admin.listen(look);
onLanguage(show);
// The next request is sent after the answer to the last one: a slow service gets no more requests.
for (;;) {
  if (document.visibilityState === "visible") await look();
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS / Math.max(1, seen.size)));
}
