// Scenario 5: people who click twice to ten times. All requests of a click have one Idempotency-Key; one of them buys, and
// all that are answered with a sale are answered the same.
import { check } from 'k6';
import exec from 'k6/execution';
import { scaled, userAt } from './lib/environment.js';
import { isLater, OPTIONS, summaryOf, THRESHOLDS } from './lib/outcomes.js';
import { comeBackLater, logSubject, newName, send, sendTogether } from './lib/requests.js';
import { makePerformance, seatWish } from './lib/subjects.js';

const USERS = scaled(1000, 100);
const AT_ONCE = 20;
const MOST_REPEATS = 20;
const EXPECTED = ['200', '409 REQUEST_IN_PROGRESS'];

export const options = {
  ...OPTIONS,
  thresholds: { ...THRESHOLDS, checks: ['rate==1'] },
  scenarios: {
    clicks: { executor: 'per-vu-iterations', vus: AT_ONCE, iterations: USERS / AT_ONCE, maxDuration: '300s' },
  },
};

export function setup() {
  const performance = makePerformance({ A: USERS });
  logSubject({ scenario: 'double-click', performance, seats: USERS });
  return { performance };
}

export default async function ({ performance }) {
  const index = exec.scenario.iterationInTest;
  const want = {
    ...seatWish(performance, 'A', index + 1, userAt(index), EXPECTED),
    idempotency: newName(),
  };
  const answers = await sendTogether(want, 2 + Math.floor(Math.random() * 9));
  // Who was told that the first still runs asks again, as a client does.
  let last = answers[0];
  for (let repeats = 0; repeats < MOST_REPEATS; repeats += 1) {
    last = send(want);
    if (last.status === 200) break;
    if (isLater(last) || last.code === 'REQUEST_IN_PROGRESS') comeBackLater(last);
    else break;
  }
  const sales = [...answers, last].filter((answer) => answer.status === 200);
  check(sales, {
    'every click ends with a sale': () => last.status === 200,
    'all answers of a click are the same': () => sales.every((sale) => sale.response.body === last.response.body),
  });
}

export const handleSummary = summaryOf('double-click');
