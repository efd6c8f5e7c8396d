// Scenario 1: 100 creates of pinned announcements of one festival at once. Three of them may stay pinned.
import { OPTIONS, summaryOf, THRESHOLDS } from './lib/outcomes.js';
import { scaled } from './lib/environment.js';
import { logSubject, send, waitForStart } from './lib/requests.js';
import { councilOf, makeFestivals } from './lib/subjects.js';

const CREATES = scaled(100, 100); // fewer would not meet in the database
const EXPECTED = ['201', '409 PINNED_LIMIT_EXCEEDED'];

export const options = {
  ...OPTIONS,
  thresholds: THRESHOLDS,
  scenarios: { pins: { executor: 'per-vu-iterations', vus: CREATES, iterations: 1, maxDuration: '60s' } },
};

export function setup() {
  const [festival] = makeFestivals(1);
  const token = councilOf(festival);
  logSubject({ scenario: 'pins', festivals: [festival] });
  return { festival, token, startAt: Date.now() + 500 };
}

export default function ({ festival, token, startAt }) {
  waitForStart(startAt);
  send({
    name: 'pin', method: 'POST', path: '/announcements', body: { title: 'Pinned', content: 'At once', isPinned: true },
    token, user: 0, key: `festival ${festival}`, row: 'announcementId', expected: EXPECTED,
  });
}

export const handleSummary = summaryOf('pins');
