import assert from "node:assert/strict";
import test from "node:test";
import { Intentions, isFinal } from "../../controllers/pages/assets/intentions.mjs";

function fresh() {
  const kept = new Map();
  let keys = 0;
  const storage = { getItem: (name) => kept.get(name) ?? null, setItem: (name, value) => kept.set(name, value), names: () => kept.keys() };
  const clock = { now: 0 };
  const isOpen = (wish) => JSON.parse(kept.get("festa.intentions")).some(([one]) => one === JSON.stringify(wish));
  return { storage, clock, isOpen, open: () => new Intentions(storage, () => `key-${++keys}`, () => clock.now) };
}
const SEAT = ["user1", "POST", "/seats", { number: 1 }];

test("a wish has one key until it is settled, also for a page that is loaded again", () => {
  const { open, isOpen } = fresh();
  const first = open().keyOf(SEAT);
  assert.equal(open().keyOf(SEAT), first);
  assert.ok(isOpen(SEAT));
  open().settle(SEAT);
  assert.ok(!isOpen(SEAT));
  assert.notEqual(open().keyOf(SEAT), first);
});

test("a wish with a lifetime is another one afterwards, and one without never", () => {
  const { open, clock, isOpen } = fresh();
  const notify = ["council1", "POST", "/announcements/1/notifications", null];
  const first = [open().keyOf(notify, 1000), open().keyOf(SEAT)];
  clock.now = 999;
  assert.deepEqual([open().keyOf(notify, 1000), open().keyOf(SEAT)], first);
  clock.now = 1000;
  const second = open().keyOf(notify, 1000);
  assert.notEqual(second, first[0]);
  assert.equal(open().keyOf(notify, 1000), second);
  assert.equal(open().keyOf(SEAT), first[1]);
  open().settle(notify);
  assert.ok(!isOpen(notify));
});

test("a wish that an older version of the page has kept has its key", () => {
  const { open, storage, clock } = fresh();
  open().keyOf(SEAT);
  const [name] = storage.names();
  storage.setItem(name, JSON.stringify([[JSON.stringify(SEAT), "older"]]));
  clock.now = 1000;
  assert.equal(open().keyOf(SEAT), "older");
});

test("another person, path or body is another wish", () => {
  const { open, isOpen } = fresh();
  const wishes = [SEAT, ["user2", ...SEAT.slice(1)], ["user1", "DELETE", "/seats", { number: 1 }], ["user1", "POST", "/seats", { number: 2 }]];
  assert.equal(new Set(wishes.map((wish) => open().keyOf(wish))).size, wishes.length);
  open().settle(SEAT);
  assert.ok(isOpen(wishes[1]));
});

test("wishes that can be seen to be done are settled together", () => {
  const { open, isOpen } = fresh();
  for (const number of [1, 2, 3]) open().keyOf(["user1", "POST", "/seats", { number }]);
  open().settleAll(([, , path, body]) => path === "/seats" && body.number < 3);
  assert.deepEqual([1, 2, 3].map((number) => isOpen(["user1", "POST", "/seats", { number }])), [false, false, true]);
});

test("what is kept is bounded, and the oldest is forgotten", () => {
  const { open, storage, isOpen } = fresh();
  for (let i = 0; i < 200; ++i) open().keyOf([i]);
  assert.equal(JSON.parse(storage.getItem("festa.intentions")).length, 50);
  assert.ok(isOpen([199]));
  assert.ok(!isOpen([149]));
});

test("a storage with something else in it is taken for empty", () => {
  const { open, storage } = fresh();
  storage.setItem("festa.intentions", "{");
  assert.equal(open().keyOf(SEAT), "key-1");
});

test("only a refusal of the wish itself is final", () => {
  for (const code of ["ALREADY_RESERVED_SEAT", "PINNED_LIMIT_EXCEEDED"]) assert.ok(isFinal({ status: 409, code }));
  for (const status of [400, 403, 404, 422]) assert.ok(isFinal({ status }));
  for (const status of [0, 401, 408, 429, 500, 503]) assert.ok(!isFinal({ status }));
  for (const code of ["REQUEST_IN_PROGRESS", "SEAT_BUSY"]) assert.ok(!isFinal({ status: 409, code }));
});
