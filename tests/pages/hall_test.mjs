import assert from "node:assert/strict";
import { test } from "node:test";
import { columnsFor, layout, nearestFree, neighbour, positionOf, seatAt } from "../../controllers/pages/assets/hall.mjs";

const sections = (names, count) => names.map((location) => ({ location, count }));
const HALLS = [
  sections(["A", "B", "C", "D", "E"], 100),
  [{ location: "ALL", count: 50_000 }],
  sections(Array.from({ length: 1000 }, (_, i) => `S${i}`), 50),
  [{ location: "one", count: 1 }],
  [{ location: "A", count: 3 }, { location: "B", count: 47 }, { location: "C", count: 1000 }],
];

test("seats stand in full rows where their number allows it", () => {
  assert.equal(100 % columnsFor(100), 0);
  assert.equal(50 % columnsFor(50), 0);
  assert.equal(50_000 % columnsFor(50_000), 0);
  assert.equal(columnsFor(1), 1);
  for (const prime of [47, 997, 49_999]) assert.ok(columnsFor(prime) >= Math.sqrt(prime) * 0.7);
});

test("every seat has a place of its own inside the plan, and the place leads back to the seat", () => {
  for (const hall of HALLS)
    for (const aspect of [0.7, 1.6]) {
      const plan = layout(hall, aspect);
      const places = new Set();
      for (const { location, count } of hall)
        for (let number = 1; number <= count; ++number) {
          const { x, y } = positionOf(plan, { location, number });
          assert.ok(x >= 0 && y >= 0 && x < plan.width && y < plan.height);
          places.add(`${x} ${y}`);
          if (number % 97 === 1 || number === count) assert.deepEqual(seatAt(plan, x + 0.5, y + 0.5), { location, number });
          if (number % 997 === 0) number += 1000; // a look here and there is enough for the largest
        }
      assert.equal(seatAt(plan, -1, -1), null);
      assert.ok(places.size > 0);
    }
});

test("no two seats share a place", () => {
  for (const hall of [HALLS[0], HALLS[4]]) {
    const plan = layout(hall, 1.6);
    const places = new Set();
    let seats = 0;
    for (const { location, count } of hall)
      for (let number = 1; number <= count; ++number, ++seats) {
        const { x, y } = positionOf(plan, { location, number });
        places.add(`${x} ${y}`);
      }
    assert.equal(places.size, seats);
  }
});

test("a wide room gets a wide plan, a high one a high plan", () => {
  const shape = (aspect) => {
    const { width, height } = layout(HALLS[0], aspect);
    return width / height;
  };
  assert.ok(shape(1.6) > 1);
  assert.ok(shape(0.6) < 1);
});

test("arrow keys lead through a block and on to the next", () => {
  const plan = layout(HALLS[0], 1.6);
  assert.deepEqual(neighbour(plan, { location: "A", number: 1 }, 1, 0), { location: "A", number: 2 });
  assert.deepEqual(neighbour(plan, { location: "A", number: 1 }, 0, 1), { location: "A", number: 11 });
  assert.equal(neighbour(plan, { location: "A", number: 10 }, 1, 0).location, "B");
  assert.deepEqual(neighbour(plan, { location: "A", number: 1 }, -1, 0), { location: "A", number: 1 }, "there is nothing");
  const back = neighbour(plan, { location: "A", number: 91 }, 0, 1);
  assert.notEqual(back.location, "A");
  // Every seat can be reached.
  const seen = new Set(["A\n1"]);
  const open = [{ location: "A", number: 1 }];
  while (open.length > 0) {
    const seat = open.pop();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      const next = neighbour(plan, seat, dx, dy);
      const key = `${next.location}\n${next.number}`;
      if (!seen.has(key)) {
        seen.add(key);
        open.push(next);
      }
    }
  }
  assert.equal(seen.size, 500);
});

test("the nearest free seats are beside the lost one", () => {
  const plan = layout(HALLS[0], 1.6);
  const sold = new Set(["A\n54", "A\n55", "A\n56"]);
  const isSold = ({ location, number }) => sold.has(`${location}\n${number}`);
  const found = nearestFree(plan, isSold, { location: "A", number: 55 }, 4);
  assert.equal(found.length, 4);
  assert.ok(found.every((seat) => seat.location === "A" && !isSold(seat)));
  assert.ok(found.some(({ number }) => number === 45) && found.some(({ number }) => number === 65));
  assert.deepEqual(nearestFree(plan, () => true, { location: "A", number: 1 }, 4), []);
});
