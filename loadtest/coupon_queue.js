// Scenario 6: 1,011 claims on a stock of 1,000 with slow work (WORK_MS, the server's queue.work_ms). A queue answers 202, and
// each claim is followed to its end. Whether numbers follow the order of arrival is in the lines: sent, received, sequence.
import { sleep } from 'k6';
import exec from 'k6/execution';
import { scaled, userAt, WORK_MS } from './lib/environment.js';
import { CLAIM_OUTCOMES, CLAIM_THRESHOLDS, settle } from './lib/claims.js';
import { isLater, OPTIONS, summaryOf, THRESHOLDS } from './lib/outcomes.js';
import { comeBackLater, log, logSubject, send, waitForStart } from './lib/requests.js';
import { claimWish, makeCoupon } from './lib/subjects.js';

const STOCK = scaled(1000, 50);
const CLAIMS = STOCK + 11;
const AT_ONCE = Math.min(50, CLAIMS);
const MOST_TRIES = 20;
// With one worker everything takes claims × work; as much again, and a minute for everything else.
const PATIENCE = 60 + (2 * CLAIMS * WORK_MS) / 1000;

export const options = {
  ...OPTIONS,
  thresholds: { ...THRESHOLDS, ...CLAIM_THRESHOLDS },
  scenarios: {
    claims: { executor: 'per-vu-iterations', vus: AT_ONCE, iterations: 1, maxDuration: `${Math.ceil(PATIENCE) + 60}s` },
  },
};

export function setup() {
  const coupon = makeCoupon(STOCK, false);
  logSubject({ scenario: 'coupon-queue', coupon, stock: STOCK, claims: CLAIMS });
  return { coupon, startAt: Date.now() + 500 };
}

function claim(want) {
  for (let tries = 1; ; tries += 1) {
    const answer = send(want, true);
    if (!isLater(answer) || tries === MOST_TRIES) return answer;
    log(answer, want);
    comeBackLater(answer);
  }
}

// Each virtual user claims for its share of the people as fast as it is answered, then looks what became of them.
export default function ({ coupon, startAt }) {
  waitForStart(startAt);
  const sent = [];
  for (let index = exec.vu.idInTest - 1; index < CLAIMS; index += AT_ONCE) {
    const want = claimWish(coupon, userAt(index), CLAIM_OUTCOMES);
    sent.push({ want, answer: claim(want) });
  }
  if (sent.some(({ answer }) => answer.status === 202)) sleep(0.05);
  for (const { want, answer } of sent) settle(answer, want, PATIENCE);
}

export const handleSummary = summaryOf('coupon-queue');
