// Scenario 3: 10,000 people, 1,000 seats. Each tries a random seat; a person who is refused reads a section's seats and tries
// a free one, until one is theirs or everything is sold.
import { sleep } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { crowd } from './lib/arrivals.js';
import { BASE_URL, scaled, userAt } from './lib/environment.js';
import { isLater, OPTIONS, summaryOf, THRESHOLDS } from './lib/outcomes.js';
import { comeBackLater, logSubject, send } from './lib/requests.js';
import { makePerformance, seatWish } from './lib/subjects.js';

const SECTIONS = 'ABCDEFGHIJ'.split('');
const SECTION_SEATS = scaled(100, 10);
const SEATS = SECTIONS.length * SECTION_SEATS;
const USERS = SEATS * 10;
const MOST_TRIES = 200;
const EXPECTED = ['200', '409 SEAT_BUSY', '409 ALREADY_RESERVED_SEAT'];

export const options = {
  ...OPTIONS,
  thresholds: THRESHOLDS,
  scenarios: { rush: { ...crowd(USERS, 1000), gracefulStop: '60s' } },
};

export function setup() {
  const performance = makePerformance(Object.fromEntries(SECTIONS.map((name) => [name, SECTION_SEATS])));
  logSubject({ scenario: 'opening-second', performance, seats: SEATS });
  return { performance };
}

function oneOf(list) {
  return list[Math.floor(Math.random() * list.length)];
}

// Seats are never given back here: a section that this virtual user saw sold out stays so for the people it plays later.
const open = new Set(SECTIONS);

// A free seat as the list has it, or undefined: everything is sold.
function look(performance) {
  while (open.size > 0) {
    const location = oneOf([...open]);
    const list = http.get(`${BASE_URL}/performances/${performance}/seats?location=${location}`, { tags: { name: 'seats' } });
    // An overloaded service may refuse to show it; then the next try is unseen again.
    if (list.status !== 200) return { location, number: 1 + Math.floor(Math.random() * SECTION_SEATS) };
    const free = list.json('items').filter((seat) => !seat.isReserved);
    if (free.length > 0) return oneOf(free);
    open.delete(location);
  }
  return undefined;
}

export default function ({ performance }) {
  const user = userAt(exec.scenario.iterationInTest);
  let seat = { location: oneOf(SECTIONS), number: 1 + Math.floor(Math.random() * SECTION_SEATS) };
  for (let tries = 0; seat && tries < MOST_TRIES; tries += 1) {
    const answer = send(seatWish(performance, seat.location, seat.number, user, EXPECTED));
    if (answer.status === 200) return;
    if (isLater(answer)) comeBackLater(answer);
    // Another request is buying it and may yet fail: half of the people try again.
    else if (answer.code === 'SEAT_BUSY' && Math.random() < 0.5) sleep(0.05 + 0.1 * Math.random());
    else seat = look(performance);
  }
}

export const handleSummary = summaryOf('opening-second', USERS);
