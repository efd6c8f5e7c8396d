// Draws the lanes of a race on a canvas: all of them in rows, or some of them in detail.
import { h } from "./shared.mjs";
import { bandsOf, duration, isWinner, marksTo, partsOf, rowsOf, spanOf } from "./lanes.mjs";

const AXIS = 20;
const GUTTER = 8; // for the colours of instances
const LEFT = GUTTER + 4;
const DETAIL = 9; // pixels of a lane
// Colour, and how much thinner than its lane.
const LOOKS = { pending: ["other", 0.25], travel: ["other", 0.3], wait: ["wait", 0.12], hold: ["hold", 0], work: ["work", 0.12] };

// An instance has the colour of its place in the list of all of them.
export const INSTANCE_COLOURS = ["first", "second", "third", "fourth"];
export const instanceColour = (place) => INSTANCE_COLOURS[place % INSTANCE_COLOURS.length];

// A canvas knows no variables of CSS.
const probe = h("span", { hidden: true });
document.body.append(probe);
function colourOf(variable) {
  probe.style.color = `var(--${variable})`;
  return getComputedStyle(probe).color;
}
const NAMES = ["other", "wait", "hold", "work", "won", "over", ...INSTANCE_COLOURS];
const paints = () => ({ line: colourOf("line"), muted: colourOf("muted"), ...Object.fromEntries(NAMES.map((name) => [name, colourOf(`lane-${name}`)])) });

function prepare(canvas, tall) {
  const width = canvas.clientWidth || 300;
  const scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(tall * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(tall * scale);
    canvas.style.height = `${tall}px`;
  }
  const picture = canvas.getContext("2d");
  picture.setTransform(scale, 0, 0, scale, 0, 0);
  picture.clearRect(0, 0, width, tall);
  return { picture, width };
}

function drawAxis(picture, { from, to, x, width, tall, paint }) {
  picture.font = "11px system-ui, sans-serif";
  picture.textBaseline = "top";
  picture.textAlign = "center";
  picture.strokeStyle = paint.line;
  picture.fillStyle = paint.muted;
  for (const mark of marksTo(to, from)) {
    picture.beginPath();
    picture.moveTo(x(mark), AXIS - 4);
    picture.lineTo(x(mark), tall);
    picture.stroke();
    const text = mark === 0 ? "0" : duration(mark);
    const half = picture.measureText(text).width / 2;
    if (x(mark) + half < width) picture.fillText(text, Math.max(half, x(mark)), 1);
  }
}

// Who won has a mark from its transaction (of a queued request the service tells none) to its answer.
function drawWinner(picture, lane, { y, height, x, paint, isOver }) {
  picture.fillStyle = isOver ? paint.over : paint.won;
  const from = x(lane.begun ?? lane.answered);
  picture.fillRect(Math.max(LEFT, from), y, Math.max(3, x(lane.answered) - from), height);
}

function drawParts(picture, parts, { y, height, x, paint, right }) {
  for (const part of parts) {
    const [name, inset] = LOOKS[part.kind];
    const from = Math.max(LEFT, x(part.from));
    const to = Math.min(right, Math.max(x(part.to), from + 0.75));
    if (to <= from) continue;
    picture.fillStyle = paint[name];
    picture.fillRect(from, y + inset * height, to - from, height * (1 - 2 * inset));
  }
}

// Each instance has its share of the row's beginning.
function drawInstances(picture, lanes, { y, height, paint, instances }) {
  const known = lanes.filter((lane) => lane.instance);
  let from = 0;
  instances.forEach((name, place) => {
    const part = (GUTTER * known.filter((lane) => lane.instance === name).length) / Math.max(1, known.length);
    picture.fillStyle = paint[instanceColour(place)];
    picture.fillRect(from, y, part, height);
    from += part;
  });
}

const hasWon = (lane) => lane.answered !== undefined && isWinner(lane);
const gapOf = (height) => (height >= 6 ? 1.5 : 0.75);

function drawRow(picture, lanes, at) {
  if (lanes.length === 1) {
    drawParts(picture, partsOf(lanes[0], at.now), at);
  } else {
    for (const band of bandsOf(lanes, at.now, Math.ceil(at.right), at.x)) {
      picture.fillStyle = at.paint[LOOKS[band.kind][0]];
      picture.globalAlpha = band.kind === "work" || band.kind === "hold" ? 1 : 0.25 + 0.75 * band.share;
      picture.fillRect(Math.max(LEFT, band.from), at.y, band.to - Math.max(LEFT, band.from), at.height);
    }
    picture.globalAlpha = 1;
  }
  if (at.instances.length > 1) drawInstances(picture, lanes, at);
}

// Those too many are drawn last: of thousands, neighbours share their pixels.
function drawWinners(picture, lanes, over, placeOf, at) {
  const winners = lanes.filter(hasWon).sort((a, b) => over.has(a.person) - over.has(b.person));
  for (const lane of winners) drawWinner(picture, lane, { ...at, y: placeOf(lane), isOver: over.has(lane.person) });
}

// All lanes. `end`: of the axis; `shown`: [first, end) of the persons that drawDetail() shows, null: of none.
export function drawAll(canvas, { lanes, people, over, instances, selected, shown, end, now }) {
  const { size, height } = rowsOf(people);
  const tall = AXIS + Math.ceil(people / size) * height + 2;
  const { picture, width } = prepare(canvas, tall);
  const right = width - 10;
  const x = (time) => LEFT + ((right - LEFT) * time) / end;
  const paint = paints();
  drawAxis(picture, { from: 0, to: end, x, width, tall, paint });
  const rows = new Map();
  for (const lane of lanes) {
    const row = Math.floor(lane.person / size);
    if (!rows.has(row)) rows.set(row, []);
    rows.get(row).push(lane);
  }
  const y = (person) => AXIS + Math.floor(person / size) * height;
  const at = { height: height - gapOf(height), x, paint, right, instances, now };
  picture.fillStyle = paint.line;
  if (selected !== null) picture.fillRect(0, y(selected) - 1, width, height + 1);
  for (const [row, of] of rows) drawRow(picture, of, { ...at, y: AXIS + row * height });
  drawWinners(picture, lanes, over, (lane) => y(lane.person), at);
  if (!shown) return;
  picture.strokeStyle = paint.muted;
  picture.lineWidth = 1.5;
  picture.strokeRect(0.75, y(shown[0]) - 1, width - 1.5, y(shown[1] - 1) - y(shown[0]) + height + 1);
}

// Some lanes, each for itself, in the time of their turns.
export function drawDetail(canvas, { lanes, over, instances, selected, shown, now }) {
  const some = lanes.filter((lane) => lane.person >= shown[0] && lane.person < shown[1]);
  const tall = AXIS + (shown[1] - shown[0]) * DETAIL + 2;
  const { picture, width } = prepare(canvas, tall);
  if (some.length === 0) return;
  const right = width - 10;
  const [from, to] = spanOf(some, now);
  const x = (time) => LEFT + ((right - LEFT) * (time - from)) / (to - from);
  const paint = paints();
  drawAxis(picture, { from, to, x, width, tall, paint });
  const y = (person) => AXIS + (person - shown[0]) * DETAIL;
  const at = { height: DETAIL - gapOf(DETAIL), x, paint, right, instances, now };
  picture.fillStyle = paint.line;
  if (selected !== null) picture.fillRect(0, y(selected) - 1, width, DETAIL + 0.5);
  for (const lane of some) drawRow(picture, [lane], { ...at, y: y(lane.person) });
  drawWinners(picture, some, over, (lane) => y(lane.person), at);
}

// Which person is drawn there.
export const personAt = (offset, people) => {
  const { size, height } = rowsOf(people);
  return Math.min(people - 1, Math.floor((offset - AXIS) / height) * size);
};
export const detailAt = (offset, shown) => Math.min(shown[1] - 1, shown[0] + Math.floor((offset - AXIS) / DETAIL));
