// Scenario 7: one coupon per person, 1,000 people with five claims each at once, a stock of 500.
import exec from 'k6/execution';
import { needUsers, scaled, userAt, WORK_MS } from './lib/environment.js';
import { CLAIM_OUTCOMES, CLAIM_THRESHOLDS, settle } from './lib/claims.js';
import { isLater, OPTIONS, summaryOf, THRESHOLDS } from './lib/outcomes.js';
import { comeBackLater, logSubject, sendTogether, waitForStart } from './lib/requests.js';
import { claimWish, makeCoupon } from './lib/subjects.js';

const USERS = scaled(1000, 100);
const STOCK = USERS / 2;
const CLICKS = 5;
const AT_ONCE = Math.min(50, USERS);
const MOST_TRIES = 20;
const PATIENCE = 60 + (2 * USERS * CLICKS * WORK_MS) / 1000;

export const options = {
  ...OPTIONS,
  thresholds: { ...THRESHOLDS, ...CLAIM_THRESHOLDS },
  scenarios: {
    people: {
      executor: 'per-vu-iterations', vus: AT_ONCE, iterations: Math.ceil(USERS / AT_ONCE),
      maxDuration: `${Math.ceil(PATIENCE) + 60}s`,
    },
  },
};

export function setup() {
  needUsers(USERS);
  const coupon = makeCoupon(STOCK, true);
  logSubject({ scenario: 'coupon-per-user', coupon, stock: STOCK, users: USERS });
  return { coupon, startAt: Date.now() + 500 };
}

export default async function ({ coupon, startAt }) {
  const index = exec.scenario.iterationInTest;
  if (index >= USERS) return;
  waitForStart(startAt);
  const want = claimWish(coupon, userAt(index), CLAIM_OUTCOMES);
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const answers = await sendTogether(want, CLICKS, true);
    for (const answer of answers) settle(answer, want, PATIENCE);
    // Who heard nothing but "later" tries again.
    if (!answers.every(isLater)) return;
    comeBackLater(answers[0]);
  }
}

export const handleSummary = summaryOf('coupon-per-user');
