// Writes as clients send them, each with a name of its own and a line about its answer.
import { sleep } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { BACKSTOP, BASE_URL, QUEUES, STRATEGY } from './environment.js';
import { count } from './outcomes.js';

// Of one virtual user; with its number it makes a unique name.
const born = Date.now().toString(36);
let sequence = 0;

export function newName() {
  sequence += 1;
  return `k6-${born}-${exec.vu.idInTest}-${sequence}`;
}

export function bearer(token) {
  return { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
}

// Queues are for coupons only; other writes are then protected as configured.
function protection(want) {
  const strategy = want.strategy === undefined ? STRATEGY : want.strategy;
  if (QUEUES && strategy === STRATEGY && !want.queueable) return {};
  const headers = {};
  if (strategy) headers['X-Concurrency'] = strategy;
  if (BACKSTOP) headers['X-Backstop'] = BACKSTOP;
  return headers;
}

function field(response, selector) {
  if (!selector || !response.body) return '';
  try {
    const value = response.json(selector);
    return value === undefined || value === null ? '' : value;
  } catch (_) {
    return ''; // a proxy's page
  }
}

function parametersOf(want, who) {
  const headers = { ...bearer(want.token), ...protection(want), 'X-Request-Id': who };
  if (want.idempotency) headers['Idempotency-Key'] = want.idempotency;
  return { headers, timeout: want.timeout || '60s', tags: { name: want.name } };
}

function answerOf(want, who, response, sent, received) {
  const isGood = response.status >= 200 && response.status < 300;
  return {
    who,
    status: response.status,
    code: isGood || response.status === 0 ? '' : String(field(response, 'code')),
    row: isGood ? String(field(response, want.row)) : '',
    key: want.key,
    sent,
    received,
    ms: response.timings.duration,
    user: want.user,
    retryAfter: Number(response.headers['Retry-After'] || 0),
    response,
  };
}

// The line that the runner reads. `more`: what else is known of it.
export function log(answer, want, more) {
  console.log(JSON.stringify({
    kind: 'answer', who: answer.who, status: answer.status, code: answer.code, row: answer.row, key: answer.key,
    sent: answer.sent, received: answer.received, ms: answer.ms, user: answer.user,
    ...(want.idempotency ? { idempotency: want.idempotency } : {}), ...more,
  }));
}

export function logSubject(subject) {
  console.log(JSON.stringify({ kind: 'subject', ...subject }));
}

// A write: {name, method, path, body, token, user, key, row, idempotency, queueable, strategy, timeout, expected}.
// `key` names what is contended for, `row` is where the answer has the id of what it stored. Counted and, unless the caller
// does that later, logged.
export function send(want, logsLater = false) {
  const who = newName();
  const body = want.body === undefined ? null : JSON.stringify(want.body);
  const sent = Date.now();
  const response = http.request(want.method, BASE_URL + want.path, body, parametersOf(want, who));
  const answer = answerOf(want, who, response, sent, Date.now());
  count(answer, want.expected);
  if (!logsLater) log(answer, want);
  return answer;
}

// The same write several times at once, each on a connection of its own. Not http.batch, which would give all of them the
// time of the slowest.
export async function sendTogether(want, times, logsLater = false) {
  const body = want.body === undefined ? null : JSON.stringify(want.body);
  const one = async () => {
    const who = newName();
    const sent = Date.now();
    const response = await http.asyncRequest(want.method, BASE_URL + want.path, body, parametersOf(want, who));
    return answerOf(want, who, response, sent, Date.now());
  };
  const answers = await Promise.all(Array.from({ length: times }, one));
  for (const answer of answers) {
    count(answer, want.expected);
    if (!logsLater) log(answer, want);
  }
  return answers;
}

// Connected, and all at once: `at` is in milliseconds since the epoch.
export function waitForStart(at) {
  http.get(`${BASE_URL}/healthz`);
  sleep(Math.max(0, at - Date.now()) / 1000);
}

// As long as the service asked for, and not all at the same moment.
export function comeBackLater(answer) {
  sleep(Math.max(answer.retryAfter, 0.1) * (0.5 + Math.random()));
}
