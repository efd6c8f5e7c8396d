import assert from "node:assert/strict";
import { test } from "node:test";
import { eventReader, pauseBefore } from "../../controllers/pages/assets/sse.mjs";

const TEXT = ": hello\n\nevent: snapshot\nid: 7\ndata: {\"a\":1}\n\ndata: one\r\ndata: two\r\n\r\n";
const EXPECTED = [
  { event: "snapshot", data: "{\"a\":1}", id: "7" },
  { event: "message", data: "one\ntwo", id: undefined },
];

test("events are the same however the text is cut", () => {
  for (let size = 1; size <= TEXT.length; ++size) {
    const events = [];
    const reader = eventReader((event) => events.push(event));
    for (let at = 0; at < TEXT.length; at += size) reader.read(TEXT.slice(at, at + size));
    assert.deepEqual(events, EXPECTED, `cut into ${size}`);
  }
});

test("an id without data is no event, and says from where to go on", () => {
  const events = [];
  const ids = [];
  const reader = eventReader((event) => events.push(event), (id) => ids.push(id));
  reader.read("retry: 1000\n\nid: 5:5:\n\n");
  assert.deepEqual(ids, ["5:5:"]);
  assert.deepEqual(events, []);
  reader.read("id: 7:7:\nevent: notification\ndata: {}\n\nid: 9:9:\n");
  assert.deepEqual(ids, ["5:5:", "7:7:"], "a block counts when it has ended");
  assert.equal(events.length, 1);
});

test("what has not ended is no event", () => {
  const events = [];
  eventReader((event) => events.push(event)).read("data: half\n");
  assert.deepEqual(events, []);
});

test("pauses grow to ten seconds and are never equal for all", () => {
  assert.equal(pauseBefore(0, 0), 250);
  assert.ok(pauseBefore(0, 0.99) < 500);
  assert.ok(pauseBefore(3, 0) > pauseBefore(1, 0.99));
  assert.ok(pauseBefore(50, 0.99) <= 10_000);
  assert.ok(pauseBefore(50, 0) >= 5_000);
});
