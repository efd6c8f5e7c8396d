import assert from "node:assert/strict";
import test from "node:test";

import { barsOf, duration, isWinner, laneHeight, laneOf, marksTo, partsOf, percentileOf, tooMany } from "../../app/pages/lanes.mjs";

const FIELDS = ["person", "sent", "asked", "granted", "begun", "committing", "ended", "released", "answered", "status", "code", "instance", "outcome", "fence", "place", "won"];
const lane = (changes) => ({ ...laneOf(FIELDS, [0, 10, 20, 30, 40, 50, 60, 70, 80, 201, "", "a:1", "released", 5, "", ""]), ...changes });

test("a lane's parts follow each other in time", () => {
  const parts = partsOf(lane({}), 0);
  assert.deepEqual(parts.map((part) => part.kind), ["travel", "wait", "hold", "work"]);
  assert.deepEqual(parts.map((part) => [part.from, part.to]), [[10, 80], [20, 30], [30, 70], [40, 60]]);
});

test("without a lock there is no hold, and without a transaction no work", () => {
  assert.deepEqual(partsOf(lane({ fence: 0 }), 0).map((part) => part.kind), ["travel", "wait", "work"]);
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

test("all lanes fit into the picture", () => {
  for (const people of [2, 48, 100, 500, 2000]) assert.ok(laneHeight(people) * people <= 480);
  assert.equal(laneHeight(2), 10);
});

test("an axis has a few round marks and begins at 0", () => {
  for (const end of [7, 950, 12_345, 1_000_000, 29_999_999]) {
    const marks = marksTo(end);
    assert.equal(marks[0], 0);
    assert.ok(marks.length >= 3 && marks.length <= 8, `${end}: ${marks}`);
    assert.ok(marks.at(-1) <= end);
  }
  assert.deepEqual(marksTo(0), [0]);
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
