import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { callersOf, operationsOf, schemasOf } from "../../controllers/pages/assets/schemas.mjs";

const api = JSON.parse(readFileSync(new URL("../../controllers/pages/docs/openapi.json", import.meta.url)));
const schemas = schemasOf(api);

test("what stands beside a reference says more about the same value", () => {
  const { resolved } = schemasOf({ components: { schemas: { A: { type: "object", properties: { n: { type: "integer" } } } } } });
  assert.deepEqual(resolved({ $ref: "#/components/schemas/A", properties: { n: { const: 3 } } }), { type: "object", properties: { n: { type: "integer", const: 3 } } });
});

test("a type is told with its limits", () => {
  assert.equal(schemas.typeOf({ type: "array", items: { type: "string" } }), "array of string");
  assert.equal(schemas.typeOf({ enum: ["a", "b"] }), "a | b");
  assert.equal(schemas.limitsOf({ type: "integer", minimum: 1, maximum: 5 }), "1 to 5");
  assert.equal(schemas.limitsOf({ type: "string", maxLength: 40 }), "at most 40 characters");
});

test("every operation of the document can be shown and has an example", () => {
  const operations = operationsOf(api, schemas, true);
  assert.ok(operations.length > 20);
  for (const operation of operations) {
    for (const parameter of operation.parameters) assert.notEqual(schemas.typeOf(parameter.schema), "", operation.operationId);
    const schema = operation.requestBody?.content["application/json"].schema;
    if (schema) assert.equal(typeof schemas.exampleOf(schema), "object", operation.operationId);
    if (schema) for (const field of schemas.fieldsOf(schema)) assert.notEqual(field.about, "", `${operation.operationId} ${field.name}`);
    for (const response of Object.values(operation.responses)) assert.ok(Array.isArray(schemas.codesOf(schemas.resolved(response))));
  }
});

test("operations of the lab are shown in the lab only", () => {
  const has = (lab) => operationsOf(api, schemas, lab).some((operation) => operation.operationId === "startRace");
  assert.equal(has(true), true);
  assert.equal(has(false), false);
});

test("a call is tried as an account that may make it", () => {
  const callers = (id) => callersOf(operationsOf(api, schemas, true).find((operation) => operation.operationId === id));
  assert.deepEqual(callers("createCoupon"), ["admin"]);
  assert.deepEqual(callers("getOpenApi"), []);
  assert.ok(callers("claimCoupon").includes("user"));
});
