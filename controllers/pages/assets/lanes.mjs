// The lanes of a race: how they are read, laid out and explained. Pure.

// A lane as an object; `fields` says what stands where in `values`.
export function laneOf(fields, values) {
  return Object.fromEntries(fields.map((name, i) => [name, values[i]]));
}

export const isWinner = (lane) => lane.status >= 200 && lane.status < 300;

// Parts of one lane in drawing order: [{kind, from, to}], in microseconds. A lane without an answer waits until `now`.
export function partsOf(lane, now) {
  if (lane.answered === undefined) return [{ kind: "pending", from: lane.sent, to: Math.max(now, lane.sent) }];
  // Neither a lock nor a transaction is known of a queued request: it waits for its outcome.
  const isQueued = lane.asked === null && lane.begun === null;
  const parts = [{ kind: isQueued ? "wait" : "travel", from: lane.sent, to: lane.answered }];
  if (lane.asked !== null) parts.push({ kind: "wait", from: lane.asked, to: lane.granted ?? lane.answered });
  if (lane.granted !== null && lane.fence > 0) parts.push({ kind: "hold", from: lane.granted, to: lane.released });
  if (lane.begun !== null && lane.ended !== null) parts.push({ kind: "work", from: lane.begun, to: lane.ended });
  return parts.filter((part) => part.to > part.from);
}

// Winners of a prize beyond what it may have, in the order of their commits: the persons of the lanes.
export function tooMany(lanes, mostPerPrize, prizes) {
  const winners = lanes.filter(isWinner).sort((a, b) => (a.ended ?? a.answered) - (b.ended ?? b.answered));
  const taken = new Map();
  const beyond = new Set();
  winners.forEach((lane, i) => {
    const count = (taken.get(lane.won) ?? 0) + 1;
    taken.set(lane.won, count);
    if (count > mostPerPrize || i >= prizes) beyond.add(lane.person);
  });
  return beyond;
}

// How all lanes fit into one picture of `room` pixels: `size` neighbours share a row where a row of each would be too low to be seen.
export function rowsOf(people, room = 480, lowest = 4) {
  const size = Math.max(1, Math.ceil(people / Math.floor(room / lowest)));
  const rows = Math.ceil(people / size);
  return { size, rows, height: Math.min(10, room / rows) };
}

// What a lane can be doing, from the least to the most that matters where several are drawn in one place.
const STEPS = ["travel", "pending", "wait", "hold", "work"];

// A row of several lanes: at each of `width` pixels what the furthest of them does, and which share of them does that, in quarters.
// [{kind, from, to, share}]; `x` makes a pixel of a moment.
export function bandsOf(lanes, now, width, x) {
  const counts = Object.fromEntries(STEPS.map((kind) => [kind, new Int32Array(width + 1)]));
  const pixel = (at) => Math.max(0, Math.min(width, at));
  for (const lane of lanes) {
    for (const part of partsOf(lane, now)) {
      const from = pixel(Math.floor(x(part.from)));
      counts[part.kind][from] += 1;
      counts[part.kind][pixel(Math.max(from + 1, Math.ceil(x(part.to))))] -= 1;
    }
  }
  const bands = [];
  const open = Object.fromEntries(STEPS.map((kind) => [kind, 0])); // lanes at this pixel
  for (let at = 0; at < width; at++) {
    for (const kind of STEPS) open[kind] += counts[kind][at];
    const kind = STEPS.findLast((one) => open[one] > 0);
    if (!kind) continue;
    const share = Math.ceil((4 * open[kind]) / lanes.length) / 4;
    const last = bands.at(-1);
    if (last && last.to === at && last.kind === kind && last.share === share) last.to = at + 1;
    else bands.push({ kind, from: at, to: at + 1, share });
  }
  return bands;
}

// The persons [first, end) of `count` that are shown in detail around one of them.
export function windowAround(person, people, count) {
  const first = Math.max(0, Math.min(people - count, person - Math.floor(count / 2)));
  return [first, Math.min(people, first + count)];
}

// The time in which the turns of some lanes were: long waits before the first of them are cut off. [from, to]
export function spanOf(lanes, now) {
  const from = Math.min(...lanes.map((lane) => lane.granted ?? lane.begun ?? lane.sent));
  const to = Math.max(...lanes.map((lane) => lane.answered ?? now));
  const edge = Math.max(500, (to - from) * 0.08);
  return [Math.max(0, from - edge), to + edge / 2];
}

// Round marks for an axis from `from` to `end` microseconds: 2 to 7 of them.
export function marksTo(end, from = 0) {
  if (!(end > from)) return [from];
  const length = end - from;
  const power = 10 ** Math.floor(Math.log10(length / 3));
  const step = [1, 2, 5, 10].map((n) => n * power).find((one) => length / one <= 6) ?? 10 * power;
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(end / step) - first + 1 }, (_, i) => (first + i) * step);
}

// 950 → "950 µs", 12345 → "12.3 ms", 2345678 → "2.35 s".
export function duration(micros) {
  if (micros < 1000) return `${Math.round(micros)} µs`;
  const [value, unit] = micros < 1_000_000 ? [micros / 1000, "ms"] : [micros / 1_000_000, "s"];
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return `${Number(value.toFixed(digits))} ${unit}`;
}

// Bars of a histogram: heights from 0 to 1. The square root keeps a few long waits visible beside many short ones.
export function barsOf(counts) {
  const most = Math.max(...counts, 1);
  return counts.map((count) => Math.sqrt(count / most));
}

// The bucket in which the share-th part of all values lies, as its upper bound in microseconds; null: no values, Infinity: the last.
export function percentileOf(counts, bounds, share) {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return null;
  let seen = 0;
  for (let i = 0; i < counts.length; i++) {
    seen += counts[i];
    if (seen >= all * share) return bounds[i] ?? Infinity;
  }
  return Infinity;
}
