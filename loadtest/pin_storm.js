// Scenario 2: announcements are created, pinned, unpinned and deleted all at once: by twenty people of one festival, then by
// a crowd over 1,000 festivals, which must not block each other. Meanwhile a reader checks that never more than three are pinned.
import { sleep } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { crowd } from './lib/arrivals.js';
import { BASE_URL, scaled } from './lib/environment.js';
import { highest, OPTIONS, summaryOf, THRESHOLDS } from './lib/outcomes.js';
import { logSubject, send } from './lib/requests.js';
import { makeFestivals, signedCouncilOf } from './lib/subjects.js';

const FESTIVALS = scaled(1000, 100);
const PEOPLE = 20;
const STORM_S = scaled(10, 3);
const WIDE_WRITES = scaled(5000, 500);
const FESTIVALS_EACH = 5;
// Another virtual user may have deleted the announcement meanwhile.
const EXPECTED = ['200', '201', '204', '409 PINNED_LIMIT_EXCEEDED', '404 ANNOUNCEMENT_NOT_FOUND'];
const mostPinned = highest('most_pinned');

export const options = {
  ...OPTIONS,
  thresholds: THRESHOLDS,
  scenarios: {
    one: { executor: 'constant-vus', exec: 'one', vus: PEOPLE, duration: `${STORM_S}s`, gracefulStop: '15s' },
    reader: { executor: 'constant-vus', exec: 'reader', vus: 1, duration: `${STORM_S}s` },
    wide: { ...crowd(WIDE_WRITES, 500, 400), exec: 'wide', startTime: `${STORM_S + 1}s` },
  },
};

export function setup() {
  const festivals = makeFestivals(1 + FESTIVALS);
  logSubject({ scenario: 'pin-storm', festivals });
  return { councils: festivals.map((festival) => ({ festival, token: signedCouncilOf(festival) })) };
}

// What this virtual user has created and not deleted, by festival.
const mine = new Map();

function write(council, method, path, body) {
  return send({
    name: method, method, path, body, token: council.token, user: 0, key: `festival ${council.festival}`,
    row: 'announcementId', expected: EXPECTED,
  });
}

function create(council, own) {
  const body = { title: 'Storm', content: 'Any moment', isPinned: Math.random() < 0.5 };
  const answer = write(council, 'POST', '/announcements', body);
  if (answer.status === 201) own.push(answer.row);
}

// More is pinned than unpinned, so that most festivals are at the limit.
function act(council) {
  if (!mine.has(council.festival)) mine.set(council.festival, []);
  const own = mine.get(council.festival);
  const dice = Math.random();
  if (own.length === 0 || dice < 0.35) return create(council, own);
  const index = Math.floor(Math.random() * own.length);
  if (dice < 0.75) return write(council, 'PATCH', `/announcements/${own[index]}/pin`, { pinned: true });
  if (dice < 0.9) return write(council, 'PATCH', `/announcements/${own[index]}/pin`, { pinned: false });
  return write(council, 'DELETE', `/announcements/${own.splice(index, 1)[0]}`);
}

export function one({ councils }) {
  act(councils[0]);
}

// Each virtual user stays with a few festivals; otherwise it would never find its own announcements again.
export function wide({ councils }) {
  const any = exec.vu.idInTest * FESTIVALS_EACH + Math.floor(Math.random() * FESTIVALS_EACH);
  act(councils[1 + (any % FESTIVALS)]);
}

export function reader({ councils }) {
  const list = http.get(`${BASE_URL}/announcements`, {
    headers: { festival: String(councils[0].festival) }, tags: { name: 'read' },
  });
  if (list.status === 200) mostPinned.add(list.json('pinned.#'));
  sleep(0.01);
}

export const handleSummary = summaryOf('pin-storm');
