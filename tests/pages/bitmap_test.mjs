import assert from "node:assert/strict";
import { test } from "node:test";
import { countSet, decode, isSet, Picture, put } from "../../controllers/pages/assets/bitmap.mjs";

test("the lowest bit of the first byte is seat 1", () => {
  assert.deepEqual([...decode("AAE=")], [0, 1]);
  assert.equal(isSet(decode("AAE="), 9), true);
  assert.equal(isSet(decode("AAE="), 8), false);
  assert.equal(isSet(decode("gg=="), 2), true);
  assert.equal(isSet(decode("gg=="), 8), true);
});

test("a bit is put and taken away alone", () => {
  const bytes = decode("AAAA");
  for (const n of [1, 8, 9, 24]) put(bytes, n, true);
  assert.equal(countSet(bytes), 4);
  put(bytes, 8, false);
  assert.deepEqual([1, 8, 9, 24].map((n) => isSet(bytes, n)), [true, false, true, true]);
});

test("a snapshot replaces everything, changes alter and name what is different", () => {
  const picture = new Picture();
  picture.replace({ sections: [{ location: "A", count: 9, sold: "AAE=" }, { location: "나", count: 2, sold: "AA==" }] });
  assert.equal(picture.total, 11);
  assert.equal(picture.sold, 1);
  const changed = picture.change({ sold: [["나", 2], ["A", 9]], free: [["A", 1]] });
  assert.deepEqual(changed, [{ location: "나", number: 2, isSold: true }], "what is known is no change");
  assert.equal(picture.isSold({ location: "A", number: 9 }), true);
  picture.change({ sold: [], free: [["A", 9]] });
  assert.equal(picture.sold, 1);
  picture.replace({ sections: [{ location: "A", count: 1, sold: "AA==" }] });
  assert.deepEqual(picture.sections, [{ location: "A", count: 1 }]);
});

test("a seat that the hall does not have is not changed", () => {
  const picture = new Picture();
  picture.replace({ sections: [{ location: "A", count: 3, sold: "AA==" }] });
  assert.deepEqual(picture.change({ sold: [["B", 1], ["A", 4], ["A", 0]], free: [] }), []);
  assert.equal(picture.sold, 0);
});
