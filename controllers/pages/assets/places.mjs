// Where something that floats covers the least. Pure.

const MARGIN = 16;

const overlap = (a, b) => Math.max(0, Math.min(a.left + a.width, b.left + b.width) - Math.max(a.left, b.left)) *
  Math.max(0, Math.min(a.top + a.height, b.top + b.height) - Math.max(a.top, b.top));

// freePlace({width, height}, room: {width, height}, [{left, top, width, height}]): {left, top} of the place in the room that covers the
// least of the others; of those that do so the nearest to the lower right corner.
export function freePlace({ width, height }, room, others) {
  const right = Math.max(0, room.width - width - MARGIN);
  const bottom = Math.max(0, room.height - height - MARGIN);
  const columns = [right, Math.max(0, (room.width - width) / 2), Math.min(right, MARGIN)];
  let best = { covered: Infinity, away: Infinity };
  for (let top = bottom; top >= 0; top -= 4)
    for (const left of columns) {
      const covered = others.reduce((sum, other) => sum + overlap({ left, top, width, height }, other), 0);
      const away = right - left + bottom - top;
      if (covered < best.covered || (covered === best.covered && away < best.away)) best = { left, top, covered, away };
    }
  return { left: best.left, top: best.top };
}
