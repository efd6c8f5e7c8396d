// People arrive whether or not others have been answered.
import { number } from './environment.js';

// So many arrivals, at ARRIVALS a second; k6 knows no shorter stretch than a second.
export function crowd(users, perSecond, most = 800) {
  const rate = Math.min(number('ARRIVALS', perSecond), users);
  return {
    executor: 'constant-arrival-rate', rate, duration: `${Math.ceil((users * 1000) / rate)}ms`,
    // Virtual users that have yet to be made are arrivals that do not come.
    preAllocatedVUs: Math.min(users, most), maxVUs: Math.min(users, most * 2),
  };
}
