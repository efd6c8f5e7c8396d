import assert from "node:assert/strict";
import test from "node:test";
import { freePlace } from "../../controllers/pages/assets/places.mjs";

const ROOM = { width: 400, height: 600 };
const SIZE = { width: 200, height: 50 };
const meets = (place, other) => place.left < other.left + other.width && other.left < place.left + SIZE.width &&
  place.top < other.top + other.height && other.top < place.top + SIZE.height;

test("an empty room: the lower right corner", () => {
  assert.deepEqual(freePlace(SIZE, ROOM, []), { left: 184, top: 534 });
});

test("what is there is not covered, wherever it is", () => {
  for (let left = 0; left < 400; left += 20)
    for (let top = 0; top < 600; top += 20) {
      const button = { left, top, width: 120, height: 42 };
      assert.ok(!meets(freePlace(SIZE, ROOM, [button]), button), `${left}, ${top}`);
    }
});

test("a row of buttons at the bottom: right above it", () => {
  const row = { left: 0, top: 550, width: 400, height: 50 };
  const { left, top } = freePlace(SIZE, ROOM, [row]);
  assert.equal(left, 184);
  assert.ok(top + SIZE.height <= 550 && top + SIZE.height > 540, String(top));
});

test("no place is free: the one that covers least, inside the room", () => {
  const all = { left: 0, top: 100, width: 400, height: 500 };
  const top = { left: 0, top: 0, width: 400, height: 90 };
  const place = freePlace(SIZE, ROOM, [all, top]); // the gap between the two
  assert.ok(place.top <= 90 && place.top + SIZE.height >= 100, String(place.top));
});

test("wider than the room: at its edge", () => {
  assert.equal(freePlace({ width: 500, height: 50 }, ROOM, []).left, 0);
});
