import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { phrases, tags, texts } from "../../controllers/pages/assets/openapi_ko.mjs";
import { schemasOf, translated } from "../../controllers/pages/assets/schemas.mjs";

const api = JSON.parse(readFileSync(new URL("../../controllers/pages/docs/openapi.json", import.meta.url)));

// Every text that a person reads; under `properties` a name may be "description".
function textsOf(value, isNames = false, found = new Set()) {
  if (value === null || typeof value !== "object") return found;
  for (const [key, item] of Object.entries(value)) {
    if (!isNames && (key === "description" || key === "summary") && typeof item === "string") found.add(item);
    else textsOf(item, !isNames && key === "properties", found);
  }
  return found;
}
const english = textsOf(api);
const hasHangul = (text) => /\p{Script=Hangul}/u.test(text);
const codeIn = (text) => text.split("`").filter((_, i) => i % 2).sort();

test("every text of the document has its Korean, and none is left over", () => {
  assert.ok(english.size > 200);
  assert.deepEqual([...english].filter((text) => !(text in texts)), [], "not translated");
  assert.deepEqual(Object.keys(texts).filter((text) => !english.has(text)), [], "not in the document any more");
  assert.deepEqual(Object.keys(tags).sort(), api.tags.map((tag) => tag.name).sort());
});

test("what is Korean is Korean, with the same code in it", () => {
  for (const [text, korean] of [...Object.entries(texts), ...Object.entries(tags)]) {
    assert.ok(hasHangul(korean), `${text}: ${korean}`);
    assert.deepEqual(codeIn(korean), codeIn(text), text);
  }
});

test("a sentence ends politely where the English is a sentence", () => {
  for (const [text, korean] of Object.entries(texts))
    assert.match(korean.replaceAll(/\([^)]*\)/g, ""), text.endsWith(".") ? /(니다|십시오|관리자|사용자)\.$/ : /(니다|고정|상태)$/, text);
});

test("the document that is shown has no English text, and nothing else has changed", () => {
  const korean = translated(api, { texts, tags });
  for (const text of textsOf(korean)) assert.ok(hasHangul(text), text);
  assert.deepEqual(korean.tags.map((tag) => tag.title), api.tags.map((tag) => tags[tag.name]));
  const without = (value) => JSON.stringify(value, (key, item) => (typeof item === "string" && /^(description|summary|title)$/.test(key) ? "" : item));
  const back = { ...korean, tags: korean.tags.map(({ title, ...tag }) => tag) };
  assert.equal(without(back), without(api));
});

test("what has no translation stays, and a field may be called description", () => {
  const given = { tags: [{ name: "a", description: "A." }], properties: { description: { type: "string", description: "B." } } };
  assert.deepEqual(translated(given, { texts: { "B.": "나." }, tags: {} }),
    { tags: [{ name: "a", description: "A.", title: "a" }], properties: { description: { type: "string", description: "나." } } });
});

test("types and limits are told in Korean", () => {
  const { typeOf, limitsOf } = schemasOf(api, phrases);
  assert.equal(typeOf({ type: "array", items: { type: "string" } }), "문자열의 배열");
  assert.equal(typeOf({ type: ["integer", "null"] }), "정수 또는 null");
  assert.equal(typeOf({ const: 3 }), "항상 3");
  assert.equal(limitsOf({ type: "integer", minimum: 1, maximum: 5, default: 2 }), "1~5, 기본값 2");
  assert.equal(limitsOf({ type: "string", maxLength: 40 }), "40자 이하");
  assert.equal(limitsOf({ type: "array", minItems: 1 }), "1개 이상");
});
