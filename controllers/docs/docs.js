// Shows openapi.json. Whatever the document says reaches the page as text, never as markup.
'use strict';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const documentUrl = new URL('openapi.json', location.href);
let api = {};

// ---- elements

// el('p', {class: 'faint'}, 'text', otherElement)
function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(key, value);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// Text in which `this` is code.
function prose(text) {
  return (text ?? '').split('`').map((part, i) => (i % 2 ? el('code', {}, part) : part));
}

function pretty(value) {
  return JSON.stringify(value, null, 2);
}

// ---- schemas

function lookUp(reference) {
  return reference.slice(2).split('/').reduce((value, key) => value[key.replaceAll('~1', '/').replaceAll('~0', '~')], api);
}

// What stands beside a $ref says more about the same value.
function resolved(value) {
  if (!value?.$ref) return value;
  const { $ref, ...beside } = value;
  const target = resolved(lookUp($ref));
  const properties = { ...target.properties };
  for (const [name, schema] of Object.entries(beside.properties ?? {})) properties[name] = { ...properties[name], ...schema };
  return { ...target, ...beside, ...(target.properties ? { properties } : {}) };
}

function nameOf(schema) {
  return schema.$ref ? schema.$ref.split('/').pop() : '';
}

function typeOf(given) {
  const schema = resolved(given);
  if ('const' in schema) return `always ${JSON.stringify(schema.const)}`;
  if (schema.enum) return schema.enum.join(' | ');
  const type = [schema.type ?? 'anything'].flat().join(' or ');
  if (type.startsWith('array') && schema.items) return `${type} of ${nameOf(schema.items) || typeOf(schema.items)}`;
  return schema.format ? `${type} (${schema.format})` : type;
}

function limitsOf(given) {
  const schema = resolved(given);
  if ('const' in schema) return '';
  const words = [];
  const range = (least, most, unit) => {
    if (least !== undefined && most !== undefined) words.push(`${least} to ${most}${unit}`);
    else if (least !== undefined) words.push(`at least ${least}${unit}`);
    else if (most !== undefined) words.push(`at most ${most}${unit}`);
  };
  range(schema.minimum, schema.maximum, '');
  range(schema.minLength, schema.maxLength, ' characters');
  range(schema.minItems, schema.maxItems, ' items');
  if (schema.default !== undefined) words.push(`default ${JSON.stringify(schema.default)}`);
  return words.join(', ');
}

// The fields of an object, or of the objects in a list; nothing for other types.
function fieldsOf(given) {
  const schema = resolved(given);
  if (schema.items) return fieldsOf(schema.items);
  const properties = Object.entries(schema.properties ?? {}).filter(([, property]) => property !== false);
  if (properties.length === 0) return null;
  const required = schema.required ?? [];
  return el('ul', { class: 'fields' }, properties.map(([name, property]) => el('li', {},
    el('code', {}, name), ' ',
    el('span', { class: 'faint' }, [typeOf(property), limitsOf(property), required.includes(name) ? '' : 'optional'].filter(Boolean).join(', ')),
    ' ', prose(resolved(property).description), fieldsOf(property))));
}

function exampleOf(given) {
  const schema = resolved(given);
  if ('const' in schema) return schema.const;
  if (schema.examples) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.properties) {
    const required = schema.required ?? [];
    return Object.fromEntries(Object.entries(schema.properties)
      .filter(([name]) => required.includes(name))
      .map(([name, property]) => [name, exampleOf(property)]));
  }
  switch ([schema.type].flat()[0]) {
    case 'array': return schema.maxItems === 0 ? [] : [exampleOf(schema.items)];
    case 'integer': return schema.minimum ?? 0;
    case 'boolean': return false;
    case 'null': return null;
    case 'object': return {};
    default: return '…';
  }
}

// ---- one operation

function parametersView(parameters) {
  if (parameters.length === 0) return null;
  return [el('h3', {}, 'Parameters'), el('ul', { class: 'fields' }, parameters.map((parameter) => el('li', {},
    el('code', {}, parameter.name), ' ',
    el('span', { class: 'faint' }, [`in ${parameter.in}`, typeOf(parameter.schema), limitsOf(parameter.schema), parameter.required ? '' : 'optional'].filter(Boolean).join(', ')),
    ' ', prose(parameter.description))))];
}

function contentView(type, { schema }) {
  const isJson = type.endsWith('json');
  return [el('p', { class: 'faint' }, type, nameOf(schema) ? ` · ${nameOf(schema)}` : ''),
    fieldsOf(schema), isJson ? el('pre', {}, pretty(exampleOf(schema))) : null];
}

function bodyView(body) {
  if (!body) return null;
  return [el('h3', {}, 'Body'), Object.entries(body.content).map(([type, content]) => contentView(type, content)).flat()];
}

function codesOf(response) {
  const problem = response.content?.['application/problem+json'];
  const code = problem && resolved(problem.schema).properties.code;
  return code ? code.enum ?? [code.const] : [];
}

function headersView(headers) {
  const rows = Object.entries(headers ?? {});
  if (rows.length === 0) return null;
  return el('ul', { class: 'fields' }, rows.map(([name, header]) => el('li', {},
    el('code', {}, name), ' ', el('span', { class: 'faint' }, 'header '), prose(resolved(header).description))));
}

function responseView(status, given) {
  const response = resolved(given);
  const codes = codesOf(response);
  const inside = el('div');
  const view = el('details', { class: 'answer' },
    el('summary', {}, el('strong', {}, status), ' ', prose(response.description), ' ',
      el('span', { class: 'faint' }, codes.join(', '))), inside);
  view.addEventListener('toggle', () => {
    if (!view.open || inside.hasChildNodes()) return;
    inside.append(...[headersView(response.headers),
      ...Object.entries(response.content ?? {}).flatMap(([type, content]) => contentView(type, content))].filter(Boolean));
  });
  return view;
}

// ---- trying it

function requestOf(operation, inputs, body) {
  let path = operation.path;
  const query = new URLSearchParams();
  const headers = new Headers();
  for (const { parameter, input } of inputs) {
    if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    else if (input.value === '') continue;
    else if (parameter.in === 'query') query.append(parameter.name, input.value);
    else headers.set(parameter.name, input.value);
  }
  const token = document.getElementById('token').value;
  if (token && operation.needsToken) headers.set('Authorization', `Bearer ${token}`);
  if (body) headers.set('Content-Type', 'application/json');
  const url = new URL(path.slice(1) + (`${query}` ? `?${query}` : ''), documentUrl);
  return [url, { method: operation.method.toUpperCase(), headers, body: body ? body.value : undefined, cache: 'no-store' }];
}

function tokenIn(text) {
  try {
    return JSON.parse(text).accessToken;
  } catch {
    return undefined;
  }
}

function readable(text) {
  try {
    return pretty(JSON.parse(text));
  } catch {
    return text;
  }
}

async function answerView(url, options) {
  const started = performance.now();
  const response = await fetch(url, options);
  const text = await response.text();
  const took = Math.round(performance.now() - started);
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  const token = tokenIn(text);
  const use = () => { document.getElementById('token').value = token; };
  return [el('p', {}, el('strong', {}, `${response.status} ${response.statusText}`), el('span', { class: 'faint' }, ` ${options.method} ${url.pathname}${url.search}, ${took} ms`)),
    token ? el('button', { type: 'button', click: use }, 'Use this token') : null,
    el('pre', {}, headers), text ? el('pre', {}, readable(text)) : null].filter(Boolean);
}

function inputOf(parameter) {
  const schema = resolved(parameter.schema);
  const value = parameter.required ? exampleOf(schema) : undefined;
  if (!schema.enum) return el('input', { value, autocomplete: 'off' });
  return el('select', {}, el('option', { value: '' }, ''), schema.enum.map((choice) => el('option', { value: choice }, choice)));
}

function tryView(operation) {
  const inputs = operation.parameters.map((parameter) => ({ parameter, input: inputOf(parameter) }));
  const schema = operation.requestBody?.content['application/json'].schema;
  const body = schema ? el('textarea', { spellcheck: 'false' }, pretty(exampleOf(schema))) : null;
  const answer = el('div', { 'aria-live': 'polite' });
  const send = el('button', {
    type: 'button',
    click: async () => {
      send.disabled = true;
      try {
        answer.replaceChildren(...await answerView(...requestOf(operation, inputs, body)));
      } catch (error) {
        answer.replaceChildren(el('p', {}, `No answer: ${error.message}`));
      }
      send.disabled = false;
    },
  }, 'Send');
  return el('div', { class: 'try' }, el('h3', {}, 'Try it'),
    operation.needsToken ? el('p', { class: 'faint' }, 'Sent with the token at the top of the page.') : null,
    inputs.map(({ parameter, input }) => el('label', {}, `${parameter.name} (${parameter.in})`, input)),
    body ? el('label', {}, 'body', body) : null, send, answer);
}

// ---- the page

function operationView(operation) {
  const inside = el('div');
  const view = el('details', { class: 'operation', id: operation.operationId },
    el('summary', {}, el('span', { class: `method ${operation.method}` }, operation.method),
      el('code', {}, operation.path), el('span', { class: 'faint' }, operation.summary, operation.needsToken ? ' · token' : '')), inside);
  const fill = () => {
    if (!view.open || inside.hasChildNodes()) return;
    const parts = [el('p', {}, prose(operation.description)), parametersView(operation.parameters), bodyView(operation.requestBody),
      el('h3', {}, 'Answers'), Object.entries(operation.responses).map(([status, response]) => responseView(status, response)),
      tryView(operation)];
    inside.append(...parts.flat(2).filter(Boolean));
  };
  view.addEventListener('toggle', fill);
  return view;
}

function operationsOf(paths) {
  return Object.entries(paths).flatMap(([path, item]) => METHODS.filter((method) => item[method]).map((method) => ({
    ...item[method],
    path,
    method,
    parameters: (item[method].parameters ?? []).map(resolved),
    needsToken: (item[method].security ?? api.security ?? []).length > 0,
  })));
}

function sectionOf(tag, operations) {
  const entries = operations.map((operation) => ({
    view: operationView(operation),
    words: [operation.method, operation.path, operation.summary, operation.operationId, tag.name].join(' ').toLowerCase(),
  }));
  const view = el('section', {}, el('h2', {}, tag.name), el('p', { class: 'faint' }, prose(tag.description)), entries.map((entry) => entry.view));
  return { view, entries };
}

function applyFilter(sections, text) {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const { view, entries } of sections) {
    for (const entry of entries) entry.view.hidden = !wanted.every((word) => entry.words.includes(word));
    view.hidden = entries.every((entry) => entry.view.hidden);
  }
  document.getElementById('nothing').hidden = sections.some(({ view }) => !view.hidden);
}

function openLinked() {
  const linked = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!linked || linked.tagName !== 'DETAILS') return;
  linked.open = true;
  linked.scrollIntoView();
}

async function main() {
  const about = document.getElementById('about');
  try {
    api = await (await fetch(documentUrl)).json();
  } catch (error) {
    about.textContent = `openapi.json cannot be read: ${error.message}`;
    return;
  }
  document.getElementById('version').textContent = api.info.version;
  about.append(...prose(api.info.description));
  const operations = operationsOf(api.paths);
  const sections = api.tags.map((tag) => sectionOf(tag, operations.filter((operation) => operation.tags.includes(tag.name))));
  document.getElementById('operations').append(...sections.map(({ view }) => view));
  const filter = document.getElementById('filter');
  filter.addEventListener('input', () => applyFilter(sections, filter.value));
  applyFilter(sections, filter.value);
  addEventListener('hashchange', openLinked);
  openLinked();
}

main();
