// What the scenarios fight over, made anew for each run through the API. For setup().
import encoding from 'k6/encoding';
import crypto from 'k6/crypto';
import http from 'k6/http';
import { adminToken, BASE_URL } from './environment.js';
import { bearer } from './requests.js';

// The demo's; a service with another one needs -e JWT_SECRET=….
const JWT_SECRET = __ENV.JWT_SECRET || 'demo-secret-demo-secret-demo-secret';

function made(response, selector) {
  if (response.status < 200 || response.status > 299)
    throw new Error(`${response.request.url} answered ${response.status} ${response.error || response.body}`);
  return response.json(selector);
}

function asAdmin() {
  return { headers: bearer(adminToken()) };
}

function day(offset) {
  return new Date(Date.now() + offset * 86400000).toISOString().slice(0, 10);
}

export function makeFestivals(count) {
  const body = JSON.stringify({
    universityName: 'Load', festivalName: 'Rush', startDate: day(0), endDate: day(2),
  });
  const ids = [];
  while (ids.length < count) {
    const some = Array.from({ length: Math.min(20, count - ids.length) },
      () => ['POST', `${BASE_URL}/festivals`, body, asAdmin()]);
    for (const response of http.batch(some)) ids.push(made(response, 'festivalId'));
  }
  return ids;
}

// A council of this festival logs in.
export function councilOf(festivalId) {
  const username = `load-${Date.now().toString(36)}-${festivalId}`;
  const password = `${username}-password`;
  made(http.post(`${BASE_URL}/councils`, JSON.stringify({ festivalId, username, password }), asAdmin()), 'councilId');
  return made(http.post(`${BASE_URL}/councils/login`, JSON.stringify({ username, password }),
    { headers: { 'Content-Type': 'application/json' } }), 'accessToken');
}

// The same without an account: two password hashes for each of a thousand festivals would take minutes.
export function signedCouncilOf(festivalId) {
  const now = Math.floor(Date.now() / 1000);
  const part = (value) => encoding.b64encode(JSON.stringify(value), 'rawurl');
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({
    sub: 'load', uid: 1, realm: 'council', festivalId, roles: ['ROLE_COUNCIL'], iat: now, exp: now + 3600,
  })}`;
  return `${text}.${crypto.hmac('sha256', JWT_SECRET, text, 'base64rawurl')}`;
}

// `sections`: {A: 100, B: 100}.
export function makePerformance(sections) {
  const body = JSON.stringify({
    placeId: 1, category: 'CONCERT', startAt: `${day(30)} 19:00:00`, endAt: `${day(30)} 22:00:00`,
    startReservationAt: `${day(-2)} 00:00:00`, endReservationAt: `${day(20)} 00:00:00`, title: 'Rush', content: 'Load test',
    acting: 'k6', filmRating: 'ALL', price: 1000,
    seats: Object.entries(sections).map(([location, seatCount]) => ({ location, seatCount })),
  });
  return made(http.post(`${BASE_URL}/performance`, body, asAdmin()), 'content.id');
}

export function makeCoupon(stock, onePerUser) {
  const body = JSON.stringify({ name: 'Rush', stock, onePerUser });
  return made(http.post(`${BASE_URL}/coupons`, body, asAdmin()), 'couponId');
}

// A wish for a seat, to be sent.
export function seatWish(performance, location, number, user, expected) {
  return {
    name: 'reserve', method: 'POST', path: `/customer/performances/${performance}/reservations`,
    body: { userId: user.id, seatLocation: location, seatNumber: number }, token: user.token, user: user.id,
    key: `seat ${location}-${number}`, row: 'content.id', expected,
  };
}

export function claimWish(coupon, user, expected) {
  return {
    name: 'claim', method: 'POST', path: `/coupons/${coupon}/claims`, token: user.token, user: user.id,
    key: `coupon ${coupon}`, row: 'claimId', queueable: true, expected,
  };
}
