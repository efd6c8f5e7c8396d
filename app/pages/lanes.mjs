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
  return parts.filter((part) => part.to >= part.from);
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

// Pixels for one lane, so that all of them fill one picture.
export function laneHeight(people, room = 480) {
  return Math.min(10, room / people);
}

// Round marks for an axis from 0 to `end` microseconds: 3 to 7 of them.
export function marksTo(end) {
  if (!(end > 0)) return [0];
  const power = 10 ** Math.floor(Math.log10(end / 3));
  const step = [1, 2, 5, 10].map((n) => n * power).find((one) => end / one <= 6) ?? 10 * power;
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => i * step);
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
