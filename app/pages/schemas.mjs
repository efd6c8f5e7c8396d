// What the schemas of an OpenAPI document say. Pure: what they say reaches the page as text, never as markup.

// schemasOf(document): functions that know where its references lead.
export function schemasOf(api) {
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
    if ("const" in schema) return `always ${JSON.stringify(schema.const)}`;
    if (schema.enum) return schema.enum.join(" | ");
    const type = [schema.type ?? "anything"].flat().join(" or ");
    if (type.startsWith("array") && schema.items) return `${type} of ${nameOf(schema.items) || typeOf(schema.items)}`;
    return schema.format ? `${type} (${schema.format})` : type;
  }
  function limitsOf(given) {
    const schema = resolved(given);
    if ("const" in schema) return "";
    const words = [];
    const range = (least, most, unit) => {
      if (least !== undefined && most !== undefined) words.push(`${least} to ${most}${unit}`);
      else if (least !== undefined) words.push(`at least ${least}${unit}`);
      else if (most !== undefined) words.push(`at most ${most}${unit}`);
    };
    range(schema.minimum, schema.maximum, "");
    range(schema.minLength, schema.maxLength, " characters");
    range(schema.minItems, schema.maxItems, " items");
    if (schema.default !== undefined) words.push(`default ${JSON.stringify(schema.default)}`);
    return words.join(", ");
  }
  // [{name, about, description, fields}] of an object, or of the objects in a list; [] for other types.
  function fieldsOf(given) {
    const schema = resolved(given);
    if (schema.items) return fieldsOf(schema.items);
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
