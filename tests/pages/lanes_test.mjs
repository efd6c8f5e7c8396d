import assert from "node:assert/strict";
import test from "node:test";

import { bandsOf, barsOf, duration, isWinner, laneOf, marksTo, partsOf, percentileOf, rowsOf, spanOf, tooMany, windowAround } from "../../controllers/pages/assets/lanes.mjs";

const FIELDS = ["person", "sent", "asked", "received", "granted", "begun", "committing", "ended", "released", "answered", "status", "code", "instance", "outcome", "fence", "place", "won"];
const lane = (changes) => ({ ...laneOf(FIELDS, [0, 10, 20, 25, 30, 40, 50, 60, 70, 80, 201, "", "a:1", "released", 5, "", ""]), ...changes });

test("a lane's parts follow each other in time", () => {
  const parts = partsOf(lane({}), 0);
  assert.deepEqual(parts.map((part) => part.kind), ["travel", "wait", "hold", "work"]);
  assert.deepEqual(parts.map((part) => [part.from, part.to]), [[10, 80], [20, 30], [30, 70], [40, 60]]);
});

test("without a lock there is no hold, and without a transaction no work", () => {
  assert.deepEqual(partsOf(lane({ fence: 0 }), 0).map((part) => part.kind), ["travel", "wait", "work"]);
  assert.deepEqual(partsOf(lane({ granted: 20, fence: 0 }), 0).map((part) => part.kind), ["travel", "work"], "it did not wait");
  assert.deepEqual(partsOf(lane({ granted: null, begun: null, ended: null, fence: 0 }), 0).map((part) => part.kind), ["travel", "wait"]);
});

test("a queued request waits from its sending to its outcome", () => {
  const queued = lane({ asked: null, granted: null, begun: null, ended: null, released: null, fence: 0 });
  assert.deepEqual(partsOf(queued, 0), [{ kind: "wait", from: 10, to: 80 }]);
});

test("a lane without an answer waits until now", () => {
  assert.deepEqual(partsOf({ person: 3, sent: 10 }, 50), [{ kind: "pending", from: 10, to: 50 }]);
  assert.deepEqual(partsOf({ person: 3, sent: 90 }, 50), [{ kind: "pending", from: 90, to: 90 }]);
});

test("the winner too many is the one that committed last", () => {
  const lanes = [3, 1, 2, 0].map((person) => lane({ person, ended: 100 + person }));
  assert.deepEqual([...tooMany(lanes, 3, 3)], [3]);
  assert.deepEqual([...tooMany(lanes.map((one) => ({ ...one, won: "A-7" })), 1, 100)], [1, 2, 3]);
  assert.deepEqual([...tooMany(lanes.map((one) => ({ ...one, won: `#${one.person}` })), 1, 3)], [3]);
  assert.deepEqual([...tooMany(lanes.map((one) => ({ ...one, status: 409 })), 1, 1)], []);
});

test("answers from 200 to 299 win", () => {
  assert.deepEqual([0, 199, 200, 201, 299, 300, 409, 503].map((status) => isWinner({ status })), [false, false, true, true, true, false, false, false]);
});

test("all lanes fit into the picture, and no row is too low to be seen", () => {
  for (const people of [2, 48, 100, 120, 121, 200, 500, 2000]) {
    const { size, rows, height } = rowsOf(people);
    assert.ok(size * rows >= people && size * (rows - 1) < people, `${people}: ${rows} rows of ${size}`);
    assert.ok(rows * height <= 480 && height >= 4, `${people}: ${rows} rows of ${height} pixels`);
  }
  assert.deepEqual(rowsOf(2), { size: 1, rows: 2, height: 10 });
  assert.equal(rowsOf(120).size, 1);
  assert.equal(rowsOf(2000).size, 17);
});

test("a row of several lanes shows the furthest of them, and which share of them that is", () => {
  const waits = (from, to) => ({ person: 0, sent: from, answered: to, asked: null, begun: null, granted: null, ended: null, fence: 0 });
  const x = (at) => at / 10;
  assert.deepEqual(bandsOf([waits(0, 100), waits(50, 100), waits(50, 100), waits(50, 100)], 0, 12, x),
    [{ kind: "wait", from: 0, to: 5, share: 0.25 }, { kind: "wait", from: 5, to: 10, share: 1 }]);
  const bands = bandsOf([waits(0, 100), lane({})], 0, 12, x);
  assert.deepEqual(bands.map(({ kind, from, to }) => [kind, from, to]), [["wait", 0, 2], ["wait", 2, 3], ["hold", 3, 4], ["work", 4, 6], ["hold", 6, 7], ["wait", 7, 10]]);
  assert.deepEqual(bandsOf([lane({ sent: 990, asked: null, granted: null, begun: null, ended: null, answered: 2000 })], 0, 12, x), [], "beyond the picture");
});

test("what is too short for a pixel is seen", () => {
  const bands = bandsOf([lane({ begun: 41, ended: 42 }), lane({ begun: 41, ended: 42 })], 0, 12, (at) => at / 10);
  assert.ok(bands.some((band) => band.kind === "work" && band.to - band.from === 1));
});

test("a close-up has so many lanes around one, and all of few", () => {
  assert.deepEqual(windowAround(100, 2000, 30), [85, 115]);
  assert.deepEqual(windowAround(3, 2000, 30), [0, 30]);
  assert.deepEqual(windowAround(1999, 2000, 30), [1970, 2000]);
  assert.deepEqual(windowAround(4, 9, 30), [0, 9]);
});

test("a close-up begins shortly before the first turn, not when the crowd came", () => {
  const [from, to] = spanOf([lane({ sent: 0, granted: 900_000, answered: 910_000 }), lane({ sent: 0, granted: 905_000, answered: 920_000 })], 0);
  assert.ok(from > 890_000 && from < 900_000, `${from}`);
  assert.ok(to > 920_000 && to < 925_000, `${to}`);
  assert.deepEqual(spanOf([{ person: 0, sent: 100 }], 100), [0, 350]);
});

test("an axis has a few round marks and begins at 0", () => {
  for (const end of [7, 950, 12_345, 1_000_000, 29_999_999]) {
    const marks = marksTo(end);
    assert.equal(marks[0], 0);
    assert.ok(marks.length >= 3 && marks.length <= 8, `${end}: ${marks}`);
    assert.ok(marks.at(-1) <= end);
  }
  assert.deepEqual(marksTo(0), [0]);
  for (const [from, end] of [[890_123, 921_000], [15, 22], [1_000_000, 9_000_000]]) {
    const marks = marksTo(end, from);
    assert.ok(marks.length >= 2 && marks.length <= 7, `${from} to ${end}: ${marks}`);
    assert.ok(marks[0] >= from && marks.at(-1) <= end);
  }
});

test("durations have the unit that people use", () => {
  assert.deepEqual([0, 950, 1000, 2500, 12_345, 123_456, 999_999, 2_345_678].map(duration), ["0 µs", "950 µs", "1 ms", "2.5 ms", "12.3 ms", "123 ms", "1000 ms", "2.35 s"]);
});

test("a histogram's highest bar is 1 and an empty one has none", () => {
  assert.deepEqual(barsOf([0, 4, 1]), [0, 1, 0.5]);
  assert.deepEqual(barsOf([0, 0]), [0, 0]);
});

test("a percentile is the bound of the bucket in which it lies", () => {
  const bounds = [1, 10, 100];
  assert.equal(percentileOf([98, 1, 1, 0], bounds, 0.5), 1);
  assert.equal(percentileOf([98, 1, 1, 0], bounds, 0.99), 10);
  assert.equal(percentileOf([0, 0, 0, 3], bounds, 0.5), Infinity);
  assert.equal(percentileOf([0, 0, 0, 0], bounds, 0.5), null);
});
