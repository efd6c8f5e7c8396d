// What the schemas of an OpenAPI document say. Pure: what they say reaches the page as text, never as markup.

// How types and limits are told. openapi_ko.mjs has the same in Korean.
const ENGLISH = {
  types: {},
  or: " or ",
  characters: " characters",
  items: " items",
  always: (value) => `always ${value}`,
  listOf: (type, item) => `${type} of ${item}`,
  between: (least, most, unit) => `${least} to ${most}${unit}`,
  atLeast: (least, unit) => `at least ${least}${unit}`,
  atMost: (most, unit) => `at most ${most}${unit}`,
  byDefault: (value) => `default ${value}`,
};

// translated(document, {texts, tags}): the document with other descriptions and summaries; tags get a title. What has no translation
// stays as it is. Under `properties` names stand, not descriptions.
export function translated(api, { texts, tags }) {
  const copy = (value, isNames) => {
    if (Array.isArray(value)) return value.map((item) => copy(item, false));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => {
      const isText = !isNames && (key === "description" || key === "summary") && typeof item === "string";
      return [key, isText ? (texts[item] ?? item) : copy(item, !isNames && key === "properties")];
    }));
  };
  const made = copy(api, false);
  return { ...made, tags: made.tags.map((tag) => ({ ...tag, title: tags[tag.name] ?? tag.name })) };
}

// schemasOf(document, phrases): functions that know where its references lead.
export function schemasOf(api, phrases = ENGLISH) {
  const typeName = (type) => phrases.types[type] ?? type;

  const lookUp = (reference) =>
    reference.slice(2).split("/").reduce((value, key) => value[key.replaceAll("~1", "/").replaceAll("~0", "~")], api);

  // Keywords beside a $ref describe the same value.
  function resolved(value) {
    if (!value?.$ref) return value;
    const { $ref, ...beside } = value;
    const target = resolved(lookUp($ref));
    const properties = { ...target.properties };
    for (const [name, schema] of Object.entries(beside.properties ?? {})) properties[name] = { ...properties[name], ...schema };
    return { ...target, ...beside, ...(target.properties ? { properties } : {}) };
  }
  const nameOf = (schema) => (schema.$ref ? schema.$ref.split("/").pop() : "");

  function typeOf(given) {
    const schema = resolved(given);
    if ("const" in schema) return phrases.always(JSON.stringify(schema.const));
    if (schema.enum) return schema.enum.join(" | ");
    const types = [schema.type ?? "anything"].flat();
    const type = types.map(typeName).join(phrases.or);
    if (types[0] === "array" && schema.items) return phrases.listOf(type, nameOf(schema.items) || typeOf(schema.items));
    return schema.format ? `${type} (${schema.format})` : type;
  }
  function limitsOf(given) {
    const schema = resolved(given);
    if ("const" in schema) return "";
    const words = [];
    const range = (least, most, unit) => {
      if (least !== undefined && most !== undefined) words.push(phrases.between(least, most, unit));
      else if (least !== undefined) words.push(phrases.atLeast(least, unit));
      else if (most !== undefined) words.push(phrases.atMost(most, unit));
    };
    range(schema.minimum, schema.maximum, "");
    range(schema.minLength, schema.maxLength, phrases.characters);
    range(schema.minItems, schema.maxItems, phrases.items);
    if (schema.default !== undefined) words.push(phrases.byDefault(JSON.stringify(schema.default)));
    return words.join(", ");
  }
  // [{name, about, description, fields}] of an object, or of the objects in a list; [] for other types.
  function fieldsOf(given) {
    const schema = resolved(given);
    if (schema.items) return fieldsOf(schema.items);
    if (schema.contentSchema) return fieldsOf(schema.contentSchema);
    const required = schema.required ?? [];
    return Object.entries(schema.properties ?? {}).filter(([, property]) => property !== false).map(([name, property]) => ({
      name,
      about: [typeOf(property), limitsOf(property)].filter(Boolean).join(", "),
      optional: !required.includes(name),
      description: resolved(property).description ?? "",
      fields: fieldsOf(property),
    }));
  }
  function exampleOf(given) {
    const schema = resolved(given);
    if ("const" in schema) return schema.const;
    if (schema.examples) return schema.examples[0];
    if (schema.default !== undefined) return schema.default;
    if (schema.enum) return schema.enum[0];
    if (schema.properties) {
      const required = schema.required ?? [];
      return Object.fromEntries(Object.entries(schema.properties).filter(([name]) => required.includes(name)).map(([name, property]) => [name, exampleOf(property)]));
    }
    switch ([schema.type].flat()[0]) {
      case "array": return schema.maxItems === 0 || !schema.items ? [] : [exampleOf(schema.items)];
      case "integer": return schema.minimum ?? 0;
      case "boolean": return false;
      case "null": return null;
      case "object": return {};
      default: return "…";
    }
  }
  // Codes of the problems that an answer may carry.
  function codesOf(response) {
    const problem = response.content?.["application/problem+json"];
    const code = problem && resolved(problem.schema).properties.code;
    return code ? (code.enum ?? [code.const]) : [];
  }
  return { resolved, nameOf, typeOf, limitsOf, fieldsOf, exampleOf, codesOf };
}

const METHODS = ["get", "post", "put", "patch", "delete"];
// Operations with their path, method and resolved parameters; those of the lab only if `lab`.
export function operationsOf(api, { resolved }, lab) {
  return Object.entries(api.paths).flatMap(([path, item]) => METHODS.filter((method) => item[method] && (lab || !item[method]["x-lab"])).map((method) => ({
    ...item[method],
    path,
    method,
    parameters: (item[method].parameters ?? []).map(resolved),
    needsToken: (item[method].security ?? api.security ?? []).length > 0,
  })));
}

// Who may call: "anyone" or the kinds of demo accounts that may, by what the description says of them.
export function callersOf(operation) {
  if (!operation.needsToken) return [];
  const text = (operation.description ?? "").toLowerCase();
  const kinds = [/\busers?\b|its user|their user/.test(text) && "user", /councils?\b/.test(text) && "council", /admins?\b/.test(text) && "admin"].filter(Boolean);
  return kinds.length > 0 ? kinds : ["user", "council", "admin"];
}
