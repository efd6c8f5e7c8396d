// Coupon claims to their end: a queue answers 202 first.
import { sleep } from 'k6';
import http from 'k6/http';
import { BASE_URL } from './environment.js';
import { highest, tally } from './outcomes.js';
import { bearer, log } from './requests.js';

const unfinished = tally('unfinished');
const granted = tally('granted');
const soldOut = tally('sold_out');
const longest = highest('longest_claim_ms');

export const CLAIM_OUTCOMES = ['201', '202', '409 COUPON_SOLD_OUT', '409 ALREADY_CLAIMED'];
export const CLAIM_THRESHOLDS = { unfinished: ['count==0'] };

function poll(path, token) {
  const response = http.get(BASE_URL + path, { headers: bearer(token), tags: { name: 'poll' } });
  return response.status === 200 ? response.json() : { state: 'UNKNOWN' };
}

// What became of a claim, logged with its answer: at once, or when the queue is through with it, at most `patience` seconds
// after it was sent. `received` stays the time of the first answer: from then on it was in line.
export function settle(answer, want, patience) {
  let claim = { state: '' };
  if (answer.status === 201) {
    claim = answer.response.json();
  } else if (answer.status === 202) {
    const path = answer.response.headers.Location;
    for (claim = poll(path, want.token); claim.state !== 'DONE' && claim.state !== 'FAILED'; claim = poll(path, want.token)) {
      if (Date.now() - answer.sent > patience * 1000) break;
      // Seldom while many are ahead, often at the end.
      sleep(Math.min(1, 0.05 + (claim.ahead || 0) * 0.005));
    }
  }
  const finished = answer.status === 202 ? Date.now() : answer.received;
  if (claim.state === 'DONE') {
    granted.add(1);
    longest.add(finished - answer.sent);
  } else if (answer.status === 202 && claim.state !== 'FAILED') {
    unfinished.add(1);
  } else if (claim.code === 'COUPON_SOLD_OUT' || answer.code === 'COUPON_SOLD_OUT') {
    soldOut.add(1);
  }
  log(answer, want, claim.state
    ? { state: claim.state, sequence: claim.sequence || null, why: claim.code || '', finished } : {});
  return claim;
}
