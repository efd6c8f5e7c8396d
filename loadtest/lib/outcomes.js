// Counting answers, judging them by status, and the summary at the end. What was stored is the database's to say.
import { check } from 'k6';
import { Counter, Gauge, Trend } from 'k6/metrics';
import { SUMMARY } from './environment.js';

const accepted = new Counter('accepted');
const rejected = new Counter('rejected');
const errors = new Counter('errors');
const acceptedMs = new Trend('accepted_ms', true);
const rejectedMs = new Trend('rejected_ms', true);
const clock = new Gauge('clock_ms'); // its minimum: the first request; its maximum: the last answer
const noAnswers = new Counter('no_answers');
const serverErrors = new Counter('server_errors');
const unexpected = new Counter('unexpected');
const facts = new Set(); // names, see `highest` and `tally`

// A summary knows metrics by name only, and metrics are made before the first request.
const CODES = {
  400: ['MALFORMED_JSON', 'INVALID_PARAMETER'],
  401: ['UNAUTHENTICATED'],
  403: ['FORBIDDEN', 'ANNOUNCEMENT_NOT_IN_FESTIVAL'],
  404: ['ANNOUNCEMENT_NOT_FOUND', 'PERFORMANCE_NOT_FOUND', 'SEAT_NOT_FOUND', 'COUPON_NOT_FOUND', 'USER_NOT_FOUND'],
  409: ['PINNED_LIMIT_EXCEEDED', 'SEAT_BUSY', 'ALREADY_RESERVED_SEAT', 'RESERVATION_CLOSED', 'COUPON_SOLD_OUT',
    'ALREADY_CLAIMED', 'REQUEST_IN_PROGRESS'],
  422: ['VALIDATION_FAILED', 'IDEMPOTENCY_KEY_REUSED'],
  429: ['RATE_LIMITED'],
  500: ['INTERNAL', 'COMMIT_UNCONFIRMED'],
  503: ['LOCK_TIMEOUT', 'DATABASE_BUSY', 'LOCK_LOST', 'OVERLOADED', 'SHUTTING_DOWN', 'DATABASE_UNAVAILABLE', 'LOCK_STORAGE_UNAVAILABLE',
    'QUEUE_UNAVAILABLE'],
};
const PLAIN = [0, 200, 201, 202, 204, 502, 503, 504];
const outcomes = new Map([...PLAIN.map(String), 'other',
  ...Object.entries(CODES).flatMap(([status, codes]) => codes.map((code) => `${status} ${code}`))]
  .map((name) => [name, new Counter(`outcome_${name.replace(' ', '_')}`)]));

export function outcomeOf(answer) {
  return answer.code ? `${answer.status} ${answer.code}` : String(answer.status);
}

// Asked to come back later, by the service itself: neither a failure nor an answer.
export function isLater(answer) {
  return answer.status === 503 && answer.code !== '' && answer.retryAfter > 0;
}

// `expected`: outcomes that the scenario may have, besides `isLater`.
export function count(answer, expected) {
  const outcome = outcomeOf(answer);
  (outcomes.get(outcome) || outcomes.get('other')).add(1);
  clock.add(answer.sent);
  clock.add(answer.received);
  const isExpected = expected.includes(outcome);
  if (answer.status >= 200 && answer.status < 300) {
    accepted.add(1);
    acceptedMs.add(answer.ms);
  } else if (isExpected && answer.status < 500 && answer.status > 0) {
    rejected.add(1);
    rejectedMs.add(answer.ms);
  } else {
    errors.add(1);
  }
  if (answer.status === 0) noAnswers.add(1);
  else if (answer.status >= 500 && !isLater(answer)) serverErrors.add(1);
  check(answer, { 'as expected, or asked to come back later': () => isExpected || isLater(answer) }) ||
    unexpected.add(1);
}

// Numbers for the summary's `facts`: the highest, and the sum, of what virtual users add. Call in init context.
export function highest(name) {
  facts.add(name);
  return new Gauge(name);
}

export function tally(name) {
  facts.add(name);
  return new Counter(name);
}

export const THRESHOLDS = {
  no_answers: ['count==0'],
  server_errors: ['count==0'],
  unexpected: ['count==0'],
};
export const OPTIONS = {
  summaryTrendStats: ['count', 'med', 'p(95)', 'p(99)', 'max'],
  setupTimeout: '120s',
  // Connections that a virtual user keeps: as many as it ever has requests at once.
  batchPerHost: 20,
  insecureSkipTLSVerify: true,
};

function latency(metric) {
  if (!metric) return null;
  const { count, med, max } = metric.values;
  return { count, p50: med, p95: metric.values['p(95)'], p99: metric.values['p(99)'], max };
}

// k6 counts some that it could not start, not those that it came too late for.
function notSent(planned, total) {
  return planned > 0 ? Math.max(0, planned - total('iterations')) : total('dropped_iterations');
}

function summarize(scenario, planned, metrics) {
  const total = (name) => (metrics[name] ? metrics[name].values.count : 0);
  const found = {};
  for (const name of outcomes.keys()) {
    const times = total(`outcome_${name.replace(' ', '_')}`);
    if (times > 0) found[name] = times;
  }
  const seen = {};
  for (const name of facts) {
    const values = metrics[name] ? metrics[name].values : {};
    seen[name] = values.max === undefined ? values.count || 0 : values.max;
  }
  return {
    scenario,
    seconds: metrics.clock_ms ? (metrics.clock_ms.values.max - metrics.clock_ms.values.min) / 1000 : 0,
    accepted: total('accepted'),
    rejected: total('rejected'),
    errors: total('errors'),
    outcomes: found,
    latency_ms: { accepted: latency(metrics.accepted_ms), rejected: latency(metrics.rejected_ms) },
    dropped_iterations: notSent(planned, total),
    thresholds_ok: Object.values(metrics).every((metric) => Object.values(metric.thresholds || {}).every((one) => one.ok)),
    facts: seen,
  };
}

function text(summary, metrics) {
  const ms = (one) => (one ? `p50 ${one.p50.toFixed(1)} p95 ${one.p95.toFixed(1)} p99 ${one.p99.toFixed(1)} ms` : '-');
  const crossed = Object.entries(metrics).flatMap(([name, metric]) =>
    Object.entries(metric.thresholds || {}).filter(([, one]) => !one.ok).map(([limit]) => `${name}: ${limit}`));
  return [
    `${summary.scenario}: ${summary.accepted} accepted, ${summary.rejected} rejected, ${summary.errors} errors in ` +
      `${summary.seconds.toFixed(2)} s, ${summary.dropped_iterations} users not sent`,
    `  accepted ${ms(summary.latency_ms.accepted)}   rejected ${ms(summary.latency_ms.rejected)}`,
    ...Object.entries(summary.outcomes).map(([name, times]) => `  ${name}: ${times}`),
    ...Object.entries(summary.facts).map(([name, value]) => `  ${name}: ${value}`),
    crossed.length > 0 ? `  not held: ${crossed.join(', ')}` : '  all thresholds held',
    '',
  ].join('\n');
}

// The handleSummary of a script. `planned`: people who should have come, where that is known.
export function summaryOf(scenario, planned = 0) {
  return (data) => {
    const summary = summarize(scenario, planned, data.metrics);
    const files = { stdout: text(summary, data.metrics) };
    if (SUMMARY) files[SUMMARY] = JSON.stringify(summary, null, 1);
    return files;
  };
}
