// Scenario 4: 5,000 people want one seat and try once. What happens when the winner fails after it got the lock is shown
// by the tests under tests/rush/ and tests/http/.
import exec from 'k6/execution';
import { crowd } from './lib/arrivals.js';
import { scaled, userAt } from './lib/environment.js';
import { OPTIONS, summaryOf, THRESHOLDS } from './lib/outcomes.js';
import { logSubject, send } from './lib/requests.js';
import { makePerformance, seatWish } from './lib/subjects.js';

const USERS = scaled(5000, 500);
const EXPECTED = ['200', '409 SEAT_BUSY', '409 ALREADY_RESERVED_SEAT'];

export const options = {
  ...OPTIONS,
  thresholds: THRESHOLDS,
  scenarios: { rush: crowd(USERS, 1000) },
};

export function setup() {
  const performance = makePerformance({ A: 1 });
  logSubject({ scenario: 'hot-seat', performance, seats: 1 });
  return { performance };
}

export default function ({ performance }) {
  send(seatWish(performance, 'A', 1, userAt(exec.scenario.iterationInTest), EXPECTED));
}

export const handleSummary = summaryOf('hot-seat', USERS);
