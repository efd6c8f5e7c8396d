// Where the seats of a hall are drawn, in units of one seat. Pure.

export const STAGE = 4; // rows in front of the first block
const LABEL = 2; // above a block
const GAP = 2;

// Seats per row of a section: a divisor of its size near a square, a little wider than deep; else just that.
export function columnsFor(count) {
  const wish = Math.max(1, Math.round(Math.sqrt(count) * 1.15));
  const fits = (columns) => columns >= wish * 0.7 && columns <= wish * 1.5 && count % columns === 0;
  for (let step = 0; step <= wish; ++step)
    for (const columns of [wish - step, wish + step]) if (columns > 0 && fits(columns)) return columns;
  return wish;
}

// plan = {width, height, blocks: [{location, count, columns, rows, x, y}]}: blocks in rows that make the whole about `aspect` times
// as wide as high, each row in the middle. All numbers are whole.
export function layout(sections, aspect) {
  const blocks = sections.map(({ location, count }) => {
    const columns = columnsFor(count);
    return { location, count, columns, rows: Math.ceil(count / columns), x: 0, y: 0 };
  });
  const area = blocks.reduce((sum, block) => sum + (block.columns + GAP) * (block.rows + GAP + LABEL), 0);
  const widest = Math.max(1, ...blocks.map((block) => block.columns));
  const target = Math.max(widest, Math.sqrt(area * aspect));
  const rows = [];
  let used = Infinity;
  for (const block of blocks) {
    if (used + GAP + block.columns > target * 1.06) {
      rows.push([]);
      used = -GAP;
    }
    rows.at(-1).push(block);
    used += GAP + block.columns;
  }
  const widthOf = (row) => row.reduce((sum, block) => sum + block.columns + GAP, -GAP);
  const width = Math.max(widest, ...rows.map(widthOf)) + 2 * GAP;
  let y = STAGE;
  for (const row of rows) {
    let x = Math.floor((width - widthOf(row)) / 2);
    for (const block of row) {
      block.x = x;
      block.y = y + LABEL;
      x += block.columns + GAP;
    }
    y += LABEL + GAP + Math.max(...row.map((block) => block.rows));
  }
  return { width, height: y, blocks };
}

const blockOf = (plan, location) => plan.blocks.find((block) => block.location === location);

export function positionOf(plan, { location, number }) {
  const block = blockOf(plan, location);
  return { x: block.x + ((number - 1) % block.columns), y: block.y + Math.floor((number - 1) / block.columns) };
}

export function blockAt(plan, x, y) {
  return plan.blocks.find((block) => x >= block.x && x < block.x + block.columns && y >= block.y - LABEL && y < block.y + block.rows) ?? null;
}

// The seat that covers this point, or null.
export function seatAt(plan, x, y) {
  const block = blockAt(plan, x, y);
  if (block === null || y < block.y) return null;
  const number = Math.floor(y - block.y) * block.columns + Math.floor(x - block.x) + 1;
  return number <= block.count ? { location: block.location, number } : null;
}

// Where an arrow key leads: the nearest seat whose middle lies in that direction, in another block when this one ends. The seat
// itself when there is none.
export function neighbour(plan, seat, dx, dy) {
  const from = positionOf(plan, seat);
  const next = seatAt(plan, from.x + dx, from.y + dy);
  if (next !== null) return next;
  let best = { seat, distance: Infinity };
  for (const block of plan.blocks) {
    // The block's seat that is nearest to the way.
    const x = Math.min(Math.max(from.x, block.x), block.x + block.columns - 1);
    const y = Math.min(Math.max(from.y, block.y), block.y + block.rows - 1);
    const ahead = (x - from.x) * dx + (y - from.y) * dy;
    const aside = Math.abs((x - from.x) * dy) + Math.abs((y - from.y) * dx);
    const candidate = seatAt(plan, x, y) ?? { location: block.location, number: block.count };
    if (ahead >= 1 && ahead + 3 * aside < best.distance && block.location !== seat.location)
      best = { seat: candidate, distance: ahead + 3 * aside };
  }
  return best.seat;
}

// Up to `count` free seats, those of the same section and row first, then by distance.
export function nearestFree(plan, isSold, seat, count) {
  const from = positionOf(plan, seat);
  const found = [];
  for (const block of plan.blocks)
    for (let number = 1; number <= block.count; ++number) {
      const candidate = { location: block.location, number };
      if (isSold(candidate) || (block.location === seat.location && number === seat.number)) continue;
      const to = { x: block.x + ((number - 1) % block.columns), y: block.y + Math.floor((number - 1) / block.columns) };
      const distance = Math.hypot(to.x - from.x, (to.y - from.y) * 1.6);
      if (found.length === count && distance >= found.at(-1).distance) continue;
      found.push({ candidate, distance });
      found.sort((a, b) => a.distance - b.distance);
      found.length = Math.min(found.length, count);
    }
  return found.map(({ candidate }) => candidate);
}
