// "/docs": openapi.json for people, with a place to try each call.
import { $, call, currentLanguage, demoPeople, fill, frame, h, modes, onLanguage, t, toast, words } from "./shared.mjs";
import { callersOf, operationsOf, schemasOf, translated } from "./schemas.mjs";

words({
  "title.docs": ["API", "API"],
  "docs.title": ["모든 호출", "Every call"],
  "docs.filter": ["찾기", "Find"],
  "docs.filterHint": ["경로, 낱말, 분류", "path, word or tag"],
  "docs.nothing": ["맞는 호출이 없습니다.", "Nothing fits."],
  "docs.as": ["누구로", "As"],
  "docs.nobody": ["토큰 없이", "nobody, without a token"],
  "docs.token": ["토큰", "Token"],
  "docs.tokenHint": ["로그인의 accessToken", "accessToken of a login"],
  "docs.own": ["내 토큰", "a token of mine"],
  "docs.memory": ["토큰은 이 화면의 기억에만 있고, 닫으면 사라집니다.", "The token stays in this page's memory and is gone when it is closed."],
  "docs.parameters": ["매개변수", "Parameters"],
  "docs.body": ["본문", "Body"],
  "docs.answers": ["답변", "Answers"],
  "docs.try": ["해 보기", "Try it"],
  "docs.send": ["보내기", "Send"],
  "docs.example": ["예시", "Example"],
  "docs.optional": ["선택", "optional"],
  "docs.failed": ["답이 없습니다: {why}", "No answer: {why}"],
  "docs.asWho": ["보내는 사람: {who}", "Sent as {who}."],
  "docs.needs": ["토큰이 필요합니다. 위에서 계정을 고르세요.", "It needs a token: choose an account at the top."],
  "docs.headers": ["헤더", "Headers"],
  "docs.copied": ["이 토큰을 씁니다.", "This token is used from now on."],
  "docs.useToken": ["이 토큰 쓰기", "Use this token"],
  "docs.kind.admin": ["관리자", "admins"],
  "docs.kind.council": ["학생회", "councils"],
  "docs.kind.user": ["사용자", "users"],
  "docs.in.path": ["경로", "path"],
  "docs.in.query": ["쿼리", "query"],
  "docs.in.header": ["헤더", "header"],
});

// Text in which `this` is code.
const prose = (text) => (text ?? "").split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));
const pretty = (value) => JSON.stringify(value, null, 2);
let schemas;

// ---- Accounts that try calls. The token of a demo account is fetched once, when it is needed.
const tokens = new Map();
const own = h("input", { class: "input", type: "password", autocomplete: "off", name: "token" });
const who = h("select", { class: "input", name: "as", "data-test": "as" });
const ownField = h("label", { class: "field grow" }, h("span", { t: "docs.token" }), own);
const kindOf = (name) => Object.keys(demoPeople).find((kind) => demoPeople[kind].some((one) => one.name === name));
function showPeople() {
  const chosen = who.value;
  const kinds = ["admin", "council", "user"].filter((kind) => demoPeople[kind].length > 0);
  fill(who, h("option", { value: "" }, t("docs.nobody")),
    kinds.map((kind) => h("optgroup", { label: t(`docs.kind.${kind}`) }, demoPeople[kind].slice(0, 5).map((one) => h("option", { value: one.name }, one.name)))),
    h("option", { value: "#own" }, t("docs.own")));
  who.value = chosen || (kinds.length > 0 ? "" : "#own");
  ownField.hidden = who.value !== "#own";
}
who.addEventListener("change", () => (ownField.hidden = who.value !== "#own"));
async function token() {
  if (who.value === "#own") return own.value;
  if (who.value === "") return "";
  if (!tokens.has(who.value)) {
    const kind = kindOf(who.value);
    const { name, password } = demoPeople[kind].find((one) => one.name === who.value);
    const answer = kind === "user" ? await call("POST", "/users/login", { body: { userId: name, userPw: password } })
      : await call("POST", "/councils/login", { body: { username: name, password } });
    tokens.set(name, answer.accessToken);
  }
  return tokens.get(who.value);
}

// ---- One operation.
function fieldList(fields) {
  if (fields.length === 0) return null;
  return h("ul", { class: "fields" }, fields.map((field) => h("li", {}, h("code", {}, field.name), " ",
    h("span", { class: "muted small" }, field.about, field.optional ? ` · ${t("docs.optional")}` : ""), " ", h("span", { class: "small" }, prose(field.description)), fieldList(field.fields))));
}
const parameterFields = (parameters) => parameters.map((parameter) => ({
  name: parameter.name, about: [t(`docs.in.${parameter.in}`), schemas.typeOf(parameter.schema), schemas.limitsOf(parameter.schema)].filter(Boolean).join(", "),
  optional: !parameter.required, description: parameter.description ?? "", fields: [],
}));
function contentView([type, { schema }]) {
  return h("div", { class: "content" },
    h("div", { class: "grow" }, h("p", { class: "muted small" }, type, schemas.nameOf(schema) ? ` · ${schemas.nameOf(schema)}` : ""), fieldList(schemas.fieldsOf(schema))),
    type.endsWith("json") ? h("pre", { role: "region", "aria-label": t("docs.example"), tabindex: "0" }, pretty(schemas.exampleOf(schema))) : null);
}
// A <details> whose inside is made when it is opened.
function unfolding(properties, summary, make) {
  const inside = h("div", { class: "stack inside" });
  const view = h("details", properties, h("summary", {}, summary), inside);
  view.addEventListener("toggle", () => view.open && !inside.hasChildNodes() && inside.append(...[make()].flat(2).filter(Boolean)));
  return view;
}
function answerList(responses) {
  return Object.entries(responses).map(([status, given]) => {
    const response = schemas.resolved(given);
    const kind = status < "300" ? "good" : status < "400" ? "" : "warn";
    return unfolding({ class: "answer" }, [h("span", { class: `tag ${kind}` }, status), " ", prose(response.description), " ",
      h("span", { class: "muted small mono" }, schemas.codesOf(response).join(", "))], () => [
      fieldList(Object.entries(response.headers ?? {}).map(([name, header]) => ({ name, about: t("docs.headers"), optional: false, description: schemas.resolved(header).description ?? "", fields: [] }))),
      ...Object.entries(response.content ?? {}).map(contentView)]);
  });
}

// ---- Trying it.
function requestOf(operation, inputs, body, bearer) {
  let path = operation.path;
  const query = new URLSearchParams();
  const headers = new Headers();
  for (const { parameter, input } of inputs) {
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    else if (input.value === "") continue;
    else if (parameter.in === "query") query.append(parameter.name, input.value);
    else headers.set(parameter.name, input.value);
  }
  if (bearer && operation.needsToken) headers.set("Authorization", `Bearer ${bearer}`);
  if (body) headers.set("Content-Type", "application/json");
  return [path + (`${query}` ? `?${query}` : ""), { method: operation.method.toUpperCase(), headers, body: body?.value, cache: "no-store" }];
}
function readable(text) {
  try {
    return pretty(JSON.parse(text));
  } catch {
    return text;
  }
}
const LONGEST = 20_000;
async function answerView(path, options) {
  const started = performance.now();
  const response = await fetch(path, options);
  const text = (await response.text()).slice(0, LONGEST);
  const took = Math.round(performance.now() - started);
  let found;
  try {
    found = JSON.parse(text).accessToken;
  } catch {
    found = undefined;
  }
  const use = () => {
    own.value = found;
    who.value = "#own";
    ownField.hidden = false;
    toast(t("docs.copied"));
  };
  return [h("p", {}, h("span", { class: `tag ${response.ok ? "good" : "bad"}`, "data-test": "status" }, `${response.status}`), " ", h("span", { class: "muted small mono" }, `${options.method} ${path} · ${took} ms`)),
    found ? h("button", { class: "button quiet small", type: "button", t: "docs.useToken", on: { click: use } }) : null,
    text ? h("pre", { role: "region", "aria-label": t("docs.answers"), tabindex: "0", "data-test": "answer" }, readable(text)) : null,
    unfolding({ class: "answer" }, t("docs.headers"), () => h("pre", {}, [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n")))].filter(Boolean);
}
function inputOf(parameter) {
  const schema = schemas.resolved(parameter.schema);
  if (schema.enum) return h("select", { class: "input", name: parameter.name }, h("option", { value: "" }, ""), schema.enum.map((choice) => h("option", { value: choice }, choice)));
  return h("input", { class: "input", name: parameter.name, value: parameter.required ? String(schemas.exampleOf(schema)) : "", autocomplete: "off" });
}
function tryView(operation) {
  const inputs = operation.parameters.map((parameter) => ({ parameter, input: inputOf(parameter) }));
  const schema = operation.requestBody?.content["application/json"].schema;
  const body = schema ? h("textarea", { class: "input mono", spellcheck: "false", name: "body", rows: String(Math.min(14, pretty(schemas.exampleOf(schema)).split("\n").length + 1)), value: pretty(schemas.exampleOf(schema)) }) : null;
  const answer = h("div", { class: "stack tight", "aria-live": "polite" });
  const send = h("button", { class: "button", "data-test": "send", t: "docs.send" });
  // A call that needs a role is tried as an account that has it.
  const suggest = () => {
    const kinds = operation.callers;
    if (kinds.length === 0 || who.value === "#own" || kinds.includes(kindOf(who.value))) return;
    const fit = demoPeople[kinds[0]][0] ?? demoPeople[kinds.at(-1)][0];
    if (fit) who.value = fit.name;
  };
  const submit = async () => {
    send.disabled = true;
    try {
      suggest();
      fill(answer, await answerView(...requestOf(operation, inputs, body, operation.needsToken ? await token() : "")));
      if (operation.needsToken) answer.prepend(h("p", { class: "muted small" }, t(who.value ? "docs.asWho" : "docs.needs", { who: who.value === "#own" ? t("docs.own") : who.value })));
    } catch (error) {
      fill(answer, h("p", { class: "notice bad" }, t("docs.failed", { why: error.message })));
    }
    send.disabled = false;
  };
  return h("form", { class: "try stack tight", on: { submit: (event) => { event.preventDefault(); submit(); } } }, h("h3", { t: "docs.try" }),
    inputs.length > 0 ? h("div", { class: "inputs" }, inputs.map(({ parameter, input }) => h("label", { class: "field" }, h("span", {}, `${parameter.name} (${t(`docs.in.${parameter.in}`)})`), input))) : null,
    body ? h("label", { class: "field" }, h("span", { t: "docs.body" }), body) : null, h("div", {}, send), answer);
}
function operationView(operation) {
  return unfolding({ class: "card operation", id: operation.operationId },
    [h("span", { class: `tag method ${operation.method}` }, operation.method.toUpperCase()), h("code", {}, operation.path), h("span", { class: "muted small grow" }, operation.summary)],
    () => [
      operation.description ? h("p", {}, prose(operation.description)) : null,
      operation.parameters.length > 0 ? [h("h3", { t: "docs.parameters" }), fieldList(parameterFields(operation.parameters))] : null,
      operation.requestBody ? [h("h3", { t: "docs.body" }), Object.entries(operation.requestBody.content).map(contentView)] : null,
      tryView(operation), h("h3", { t: "docs.answers" }), h("div", { class: "answers" }, answerList(operation.responses))].flat(2));
}

// ---- The page.
const filter = h("input", { class: "input", type: "search", autocomplete: "off", name: "filter" });
const nothing = h("p", { class: "muted", t: "docs.nothing", hidden: true });
const list = h("div", { class: "stack loose" }, h("p", { class: "muted", t: "shared.loading" }));
const about = h("p", { class: "about" });
let sections = [];
function applyFilter() {
  const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const { view, entries } of sections) {
    for (const entry of entries) entry.view.hidden = !wanted.every((word) => entry.words.includes(word));
    view.hidden = entries.every((entry) => entry.view.hidden);
  }
  nothing.hidden = sections.some(({ view }) => !view.hidden);
}
function openLinked() {
  const linked = $(decodeURIComponent(location.hash.slice(1)));
  if (linked?.tagName !== "DETAILS") return;
  linked.open = true;
  linked.scrollIntoView();
}
frame("docs");
$("main").append(h("header", { class: "stack tight" }, h("h1", { t: "docs.title" }), about),
  h("section", { class: "card row finder" }, h("label", { class: "field grow" }, h("span", { t: "docs.filter" }), filter), h("label", { class: "field grow" }, h("span", { t: "docs.as" }), who), ownField),
  h("p", { class: "muted small" }, h("a", { href: "/openapi.json" }, "openapi.json"), " · ", h("span", { t: "docs.memory" })), list, nothing);
// The document as it is served; it is English. Korean is put into a copy.
const served = await call("GET", "/openapi.json").catch((error) => ({ error }));
async function documentToShow() {
  if (currentLanguage() !== "ko") return [served];
  const korean = await import("./openapi_ko.mjs");
  return [translated(served, korean), korean.phrases];
}
function sectionOf(tag, operations, english) {
  const entries = operations.filter((operation) => operation.tags.includes(tag.name)).map((operation) => {
    const told = [operation, english.get(operation.operationId)].map(({ summary }) => summary);
    return { view: operationView(operation), words: [operation.method, operation.path, ...told, operation.operationId, tag.name, tag.title].join(" ").toLowerCase() };
  });
  return { entries, view: h("section", { class: "stack tight" }, h("h2", {}, tag.title ?? tag.name), h("p", { class: "muted small" }, prose(tag.description)), entries.map((entry) => entry.view)) };
}
async function show() {
  const language = currentLanguage();
  const [api, phrases] = await documentToShow();
  if (language !== currentLanguage()) return; // it is being shown in another one
  const opened = new Set([...list.querySelectorAll("details.operation[open]")].map((one) => one.id));
  schemas = schemasOf(api, phrases);
  const english = new Map(operationsOf(served, schemas, true).map((operation) => [operation.operationId, operation]));
  const operations = operationsOf(api, schemas, modes.has("lab")).map((operation) => ({ ...operation, callers: callersOf(english.get(operation.operationId)) }));
  fill(about, prose(api.info.description));
  sections = api.tags.map((tag) => sectionOf(tag, operations, english)).filter(({ entries }) => entries.length > 0);
  fill(list, sections.map(({ view }) => view));
  for (const id of opened) $(id).open = true;
  applyFilter();
}
showPeople();
filter.addEventListener("input", applyFilter);
if (served.error) {
  fill(list, h("p", { class: "notice bad" }, served.error.message));
} else {
  await show();
  onLanguage(() => {
    showPeople();
    show();
  });
  addEventListener("hashchange", openLinked);
  openLinked();
}
