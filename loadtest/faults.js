// A steady load while the runner breaks things: RATE reservations a second for DURATION seconds, two people for each seat, and
// COUPON_RATE claims. Each has an Idempotency-Key and is repeated with it until its outcome is known, GIVE_UP seconds at most.
// Every answer is logged; the last one of a key has "final": true.
import { sleep } from 'k6';
import exec from 'k6/execution';
import { number, STRATEGY, userAt } from './lib/environment.js';
import { OPTIONS, summaryOf, tally } from './lib/outcomes.js';
import { log, logSubject, newName, send } from './lib/requests.js';
import { claimWish, makeCoupon, makePerformance, seatWish } from './lib/subjects.js';

const DURATION = number('DURATION', 60);
const RATE = number('RATE', 60);
const COUPON_RATE = number('COUPON_RATE', 20);
const GIVE_UP = number('GIVE_UP', 45);
const SEATS = Math.max(1, Math.ceil((RATE * DURATION) / 2));
const COUPON_STRATEGY = __ENV.COUPON_STRATEGY === undefined ? STRATEGY : __ENV.COUPON_STRATEGY;
const SEAT_OUTCOMES = ['200', '409 SEAT_BUSY', '409 ALREADY_RESERVED_SEAT', '409 REQUEST_IN_PROGRESS'];
const COUPON_OUTCOMES = ['201', '202', '409 COUPON_SOLD_OUT', '409 REQUEST_IN_PROGRESS'];
const unknown = tally('unknown');

function steady(rate, name) {
  return {
    executor: 'constant-arrival-rate', exec: name, rate, duration: `${DURATION}s`,
    // While nothing is answered, every new virtual user waits.
    preAllocatedVUs: Math.min(400, Math.ceil(rate * 6)), maxVUs: Math.ceil(rate * (GIVE_UP + 5)),
    gracefulStop: `${GIVE_UP + 15}s`,
  };
}

export const options = {
  ...OPTIONS,
  // Broken connections and 5xx are expected; a client without a known outcome is not.
  thresholds: { unknown: ['count==0'] },
  scenarios: {
    ...(RATE > 0 ? { seats: steady(RATE, 'seats') } : {}),
    ...(COUPON_RATE > 0 ? { coupons: steady(COUPON_RATE, 'coupons') } : {}),
  },
};

export function setup() {
  const stock = Math.max(1, Math.ceil(COUPON_RATE * DURATION * 1.5));
  const performance = makePerformance({ A: SEATS });
  const coupon = makeCoupon(stock, false);
  logSubject({ scenario: 'faults', performance, seats: SEATS, coupon, stock });
  return { performance, coupon };
}

// A lock whose holder died is busy until its lease ends; before that, "busy" after an unknown outcome says nothing of ours.
function isKnown(answer, wasUnclear) {
  if (answer.status === 0 || answer.status >= 500 || answer.code === 'REQUEST_IN_PROGRESS') return false;
  return !(wasUnclear && answer.code === 'SEAT_BUSY');
}

function insist(wish) {
  const want = { ...wish, idempotency: newName(), timeout: '10s' };
  const end = Date.now() + GIVE_UP * 1000;
  let wasUnclear = false;
  for (let attempt = 1; ; attempt += 1) {
    const answer = send(want, true);
    const isFinal = isKnown(answer, wasUnclear);
    const isLast = isFinal || Date.now() > end;
    log(answer, want, { attempt, final: isLast });
    if (isLast && !isFinal) unknown.add(1);
    if (isLast) return;
    wasUnclear = true;
    sleep(Math.min(1, 0.1 * attempt) * (0.5 + Math.random()));
  }
}

export function seats({ performance }) {
  const index = exec.scenario.iterationInTest;
  insist(seatWish(performance, 'A', 1 + (Math.floor(index / 2) % SEATS), userAt(index), SEAT_OUTCOMES));
}

export function coupons({ coupon }) {
  const user = userAt(exec.scenario.iterationInTest);
  insist({ ...claimWish(coupon, user, COUPON_OUTCOMES), strategy: COUPON_STRATEGY });
}

export const handleSummary = summaryOf('faults');
