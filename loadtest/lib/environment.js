// What the scripts are told by -e NAME=value, and the callers in the file of tokens.
import { SharedArray } from 'k6/data';

export const BASE_URL = (__ENV.BASE_URL || 'http://127.0.0.1:8080').replace(/\/+$/, '');
export const STRATEGY = __ENV.STRATEGY || '';
export const QUEUES = Boolean(__ENV.QUEUES); // STRATEGY is a queue
export const BACKSTOP = __ENV.BACKSTOP || '';
export const SUMMARY = __ENV.SUMMARY || '';
export const SCALE = number('SCALE', 1);
export const WORK_MS = number('WORK_MS', 0);

export function number(name, otherwise) {
  const value = Number(__ENV[name] || otherwise);
  if (!(value >= 0)) throw new Error(`${name} must be a number, not '${__ENV[name]}'`);
  return value;
}

// `full` as in a full run, never less than what still shows the effect.
export function scaled(full, least) {
  return Math.max(least, Math.round(full * SCALE));
}

function tokens() {
  if (!__ENV.TOKENS) throw new Error('-e TOKENS=file is missing: loadtest/README.md says how to make one');
  return JSON.parse(open(__ENV.TOKENS));
}

// Shared, because a thousand virtual users with ten thousand tokens each would not fit into memory.
export const users = new SharedArray('users', () => tokens().users);
const staff = new SharedArray('staff', () => [{ admin: tokens().admin }]);

export function adminToken() {
  return staff[0].admin;
}

// Some scenarios want different people; in the others they take turns.
export function needUsers(count) {
  if (users.length < count)
    throw new Error(`this needs ${count} users, and TOKENS has ${users.length}`);
}

export function userAt(index) {
  return users[index % users.length];
}
