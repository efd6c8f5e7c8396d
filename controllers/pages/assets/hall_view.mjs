// A hall on a canvas: far away each seat is a pixel, nearer a square, near it has its number. Tells what was chosen.
import { isSet } from "./bitmap.mjs";
import { blockAt, layout, neighbour, positionOf, seatAt, STAGE } from "./hall.mjs";

const AS_PIXELS = 5; // below so many pixels per seat
const WITH_NUMBERS = 19;
const ROUND = 10; // below, corners and lines cannot be seen
const READABLE = 14; // from here on a seat can be told from its neighbours
const NEAREST = 44;
const FLASH_MS = 900;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const keyOf = ({ location, number }) => `${location}\n${number}`;

export class HallView {
  #canvas;
  #picture;
  #options;
  #plan = null;
  #shape = "";
  #view = { scale: 1, x: 0, y: 0 };
  #fitted = true;
  #small = document.createElement("canvas"); // one pixel per seat
  #dot = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  #colours = {};
  #font = "sans-serif";
  #mine = new Set();
  #mineSeats = [];
  #chosen = null;
  #cursor = null;
  #flashes = new Map();
  #pointers = new Map();
  #moved = 0;
  #waiting = false;

  // options: onChoose(seat), onCursor(seat), stage(): text of the stage.
  constructor(canvas, picture, options) {
    this.#canvas = canvas;
    this.#picture = picture;
    this.#options = options;
    new ResizeObserver(() => this.#resize()).observe(canvas);
    document.addEventListener("themechange", () => this.recolour());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.#up(event));
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.#key(event));
    for (const name of ["focus", "blur"]) canvas.addEventListener(name, () => this.draw());
    this.recolour();
  }

  get plan() {
    return this.#plan;
  }
  get isFitted() {
    return this.#fitted;
  }
  set mine(seats) {
    this.#mine = new Set(seats.map(keyOf));
    this.#mineSeats = seats;
    this.#paintSmall();
    this.draw();
  }
  set chosen(seat) {
    this.#chosen = seat;
    if (seat) this.#cursor = seat;
    this.draw();
  }

  // After the picture was replaced or altered.
  refresh(changed = []) {
    this.#layOut();
    if (!calm.matches) for (const seat of changed) this.#flashes.set(keyOf(seat), performance.now());
    this.#paintSmall();
    this.draw();
  }
  recolour() {
    const probe = document.createElement("span");
    this.#canvas.parentElement.append(probe);
    for (const name of ["free", "free-line", "sold", "mine", "chosen", "on-chosen", "label", "text", "stage", "stage-text", "focus", "paper"]) {
      probe.className = `seat-${name}`;
      this.#colours[name] = getComputedStyle(probe).color;
    }
    probe.remove();
    this.#font = getComputedStyle(this.#canvas).fontFamily;
    this.#paintSmall();
    this.draw();
  }
  zoom(factor) {
    this.#zoomAt(factor, this.#canvas.clientWidth / 2, this.#canvas.clientHeight / 2);
  }
  fit() {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    if (this.#plan === null || width === 0) return;
    const scale = Math.min(width / this.#plan.width, height / this.#plan.height, 40);
    this.#view = { scale, x: (width - this.#plan.width * scale) / 2, y: (height - this.#plan.height * scale) / 2 };
    this.#fitted = true;
    this.#canvas.classList.remove("zoomed");
    this.draw();
  }
  // Whether the seat is on the screen and large enough to be told from its neighbours.
  show(seat) {
    const { x, y } = positionOf(this.#plan, seat);
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const scale = this.#view.scale < READABLE ? 26 : this.#view.scale;
    const left = this.#view.x + x * this.#view.scale;
    const top = this.#view.y + y * this.#view.scale;
    const isSeen = scale === this.#view.scale && left >= 0 && top >= 0 && left < width - scale && top < height - scale;
    if (!isSeen) this.#set(scale, width / 2 - (x + 0.5) * scale, height / 2 - (y + 0.5) * scale);
  }

  #layOut() {
    const sections = this.#picture.sections;
    const aspect = this.#canvas.clientWidth / Math.max(1, this.#canvas.clientHeight);
    const shape = `${aspect > 1.1 ? "wide" : "high"} ${sections.map(({ location, count }) => `${location}:${count}`).join()}`;
    if (shape === this.#shape || sections.length === 0) return;
    this.#shape = shape;
    this.#plan = layout(sections, aspect);
    this.#small.width = this.#plan.width;
    this.#small.height = this.#plan.height;
    this.fit();
  }
  #resize() {
    const ratio = devicePixelRatio;
    this.#canvas.width = Math.round(this.#canvas.clientWidth * ratio);
    this.#canvas.height = Math.round(this.#canvas.clientHeight * ratio);
    this.#layOut();
    this.#paintSmall();
    if (this.#fitted) this.fit();
    this.draw();
  }
  #set(scale, x, y) {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const keep = 80; // pixels of the hall that stay in sight
    this.#view = {
      scale,
      x: Math.min(width - keep, Math.max(keep - this.#plan.width * scale, x)),
      y: Math.min(height - keep, Math.max(keep - this.#plan.height * scale, y)),
    };
    this.#fitted = false;
    this.#canvas.classList.add("zoomed");
    this.draw();
  }
  #zoomAt(factor, px, py) {
    if (this.#plan === null) return;
    const least = Math.min(this.#canvas.clientWidth / this.#plan.width, this.#canvas.clientHeight / this.#plan.height, 40);
    const scale = Math.min(NEAREST, this.#view.scale * factor);
    if (scale <= least) return this.fit();
    const by = scale / this.#view.scale;
    this.#set(scale, px - (px - this.#view.x) * by, py - (py - this.#view.y) * by);
  }

  #toPlan(event) {
    return { x: (event.offsetX - this.#view.x) / this.#view.scale, y: (event.offsetY - this.#view.y) / this.#view.scale };
  }
  #down(event) {
    this.#pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.#moved = this.#pointers.size > 1 ? Infinity : 0;
    this.#canvas.setPointerCapture(event.pointerId);
  }
  #move(event) {
    const before = this.#pointers.get(event.pointerId);
    if (before === undefined) return;
    const now = { x: event.offsetX, y: event.offsetY };
    if (this.#pointers.size === 2) this.#pinch(event.pointerId, before, now);
    else this.#drag(before, now);
    this.#pointers.set(event.pointerId, now);
  }
  #drag(before, now) {
    this.#moved += Math.hypot(now.x - before.x, now.y - before.y);
    if (this.#fitted || this.#moved < 5) return;
    this.#set(this.#view.scale, this.#view.x + now.x - before.x, this.#view.y + now.y - before.y);
  }
  #pinch(id, before, now) {
    const other = [...this.#pointers].find(([key]) => key !== id)[1];
    const distance = (point) => Math.hypot(point.x - other.x, point.y - other.y);
    this.#zoomAt(distance(now) / Math.max(1, distance(before)), (now.x + other.x) / 2, (now.y + other.y) / 2);
  }
  #up(event) {
    const wasClick = this.#pointers.delete(event.pointerId) && this.#moved < 5 && event.type === "pointerup";
    if (wasClick && this.#plan !== null) this.#click(event);
  }
  #click(event) {
    const { x, y } = this.#toPlan(event);
    // Seats are too small to be hit: zoom in first.
    if (this.#view.scale < 9) {
      const target = Math.min(NEAREST, Math.max(READABLE, this.#view.scale * 4)) / this.#view.scale;
      if (blockAt(this.#plan, x, y)) this.#zoomAt(target, event.offsetX, event.offsetY);
      return;
    }
    const seat = seatAt(this.#plan, x, y);
    if (seat !== null) this.#options.onChoose(seat);
  }
  #wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    this.#zoomAt(Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
  }
  #key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (this.#plan === null) return;
    if (steps[event.key]) {
      const first = { location: this.#plan.blocks[0].location, number: 1 };
      this.#cursor = this.#cursor ? neighbour(this.#plan, this.#cursor, ...steps[event.key]) : first;
      this.show(this.#cursor);
      this.#options.onCursor(this.#cursor);
      this.draw();
    } else if ((event.key === "Enter" || event.key === " ") && this.#cursor) {
      this.#options.onChoose(this.#cursor);
    } else if (event.key === "+" || event.key === "=") {
      this.zoom(1.5);
    } else if (event.key === "-") {
      this.zoom(1 / 1.5);
    } else if (event.key === "0") {
      this.fit();
    } else {
      return;
    }
    event.preventDefault();
  }

  draw() {
    if (this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      this.#paint();
    });
  }
  #colourOf(seat) {
    if (this.#mine.size > 0 && this.#mine.has(keyOf(seat))) return "mine";
    return this.#picture.isSold(seat) ? "sold" : "free";
  }
  #paintSmall() {
    if (this.#plan === null || this.#small.width === 0) return;
    const context = this.#small.getContext("2d");
    const image = context.createImageData(this.#small.width, this.#small.height);
    const pixels = new Uint32Array(image.data.buffer);
    const [free, sold, mine] = ["free-line", "sold", "mine"].map((name) => this.#pixelOf(name));
    for (const block of this.#plan.blocks) {
      const bits = this.#picture.bitsOf(block.location);
      for (let i = 0; i < block.count; ++i)
        pixels[(block.y + Math.floor(i / block.columns)) * image.width + block.x + (i % block.columns)] = isSet(bits, i + 1) ? sold : free;
    }
    for (const seat of this.#mineSeats.filter((one) => this.#picture.has(one))) {
      const { x, y } = positionOf(this.#plan, seat);
      pixels[y * image.width + x] = mine;
    }
    context.putImageData(image, 0, 0);
  }
  // A colour as image data has it.
  #pixelOf(name) {
    const context = this.#dot.getContext("2d", { willReadFrequently: true });
    context.fillStyle = this.#colours[name];
    context.fillRect(0, 0, 1, 1);
    return new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0];
  }
  #paint() {
    const context = this.#canvas.getContext("2d");
    const ratio = devicePixelRatio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.#canvas.clientWidth, this.#canvas.clientHeight);
    if (this.#plan === null) return;
    const { scale, x, y } = this.#view;
    context.translate(x, y);
    this.#paintStage(context, scale);
    if (scale < AS_PIXELS) {
      context.imageSmoothingEnabled = false;
      context.drawImage(this.#small, 0, 0, this.#plan.width * scale, this.#plan.height * scale);
    }
    for (const block of this.#plan.blocks) if (this.#isSeen(block)) this.#paintBlock(context, block, scale);
    if (this.#cursor && this.#picture.has(this.#cursor) && (document.activeElement === this.#canvas || this.#chosen)) this.#paintCursor(context, scale);
  }
  #isSeen(block) {
    const { scale, x, y } = this.#view;
    return (block.x + block.columns) * scale + x > 0 && block.x * scale + x < this.#canvas.clientWidth &&
      (block.y + block.rows) * scale + y > 0 && (block.y - 2) * scale + y < this.#canvas.clientHeight;
  }
  #paintStage(context, scale) {
    const width = Math.min(this.#plan.width * 0.5, 34) * scale;
    const left = (this.#plan.width * scale - width) / 2;
    context.fillStyle = this.#colours.stage;
    context.beginPath();
    context.roundRect(left, 0.6 * scale, width, (STAGE - 1.4) * scale, [2, 2, scale, scale]);
    context.fill();
    const size = Math.min(15, (STAGE - 2) * scale);
    if (size < 8) return;
    context.fillStyle = this.#colours["stage-text"];
    context.font = `600 ${size}px ${this.#font}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(this.#options.stage(), left + width / 2, 0.6 * scale + ((STAGE - 1.4) * scale) / 2, width - 8);
  }
  #paintBlock(context, block, scale) {
    const size = Math.min(16, Math.max(scale * 1.1, 11));
    const middle = (block.x + block.columns / 2) * scale;
    context.font = `600 ${size}px ${this.#font}`;
    context.textAlign = "center";
    if (scale * 2 >= size) {
      context.fillStyle = this.#colours.label;
      context.textBaseline = "alphabetic";
      context.fillText(block.location, middle, (block.y - 0.45) * scale, block.columns * scale);
    } else if (block.columns * scale > 34 && block.rows * scale > 20) {
      this.#paintName(context, block.location, middle, (block.y + block.rows / 2) * scale, size);
    }
    if (scale >= AS_PIXELS) this.#paintSeats(context, block, scale);
  }
  // Inside the block: there is no room above it.
  #paintName(context, name, x, y, size) {
    const width = context.measureText(name).width + 10;
    context.fillStyle = this.#colours.paper;
    context.beginPath();
    context.roundRect(x - width / 2, y - size * 0.75, width, size * 1.5, 5);
    context.fill();
    context.fillStyle = this.#colours.label;
    context.textBaseline = "middle";
    context.fillText(name, x, y + 0.5);
  }
  // Only the seats that are on the screen.
  #paintSeats(context, block, scale) {
    const { x, y } = this.#view;
    const left = Math.max(0, Math.floor(-x / scale - block.x));
    const right = Math.min(block.columns, Math.ceil((this.#canvas.clientWidth - x) / scale - block.x));
    const top = Math.max(0, Math.floor(-y / scale - block.y));
    const bottom = Math.min(block.rows, Math.ceil((this.#canvas.clientHeight - y) / scale - block.y));
    for (let row = top; row < bottom; ++row)
      for (let column = left; column < right; ++column) {
        const number = row * block.columns + column + 1;
        if (number <= block.count)
          this.#paintSeat(context, { location: block.location, number }, (block.x + column) * scale, (block.y + row) * scale, scale);
      }
  }
  #paintSeat(context, seat, left, top, scale) {
    const isChosen = this.#chosen && this.#chosen.number === seat.number && this.#chosen.location === seat.location;
    const state = this.#colourOf(seat);
    const colour = isChosen && state === "free" ? "chosen" : state;
    const margin = Math.max(0.5, scale * 0.1);
    context.fillStyle = this.#colours[colour === "free" && scale < ROUND ? "free-line" : colour];
    if (scale < ROUND) {
      context.fillRect(left + margin, top + margin, scale - 2 * margin, scale - 2 * margin);
    } else {
      context.beginPath();
      context.roundRect(left + margin, top + margin, scale - 2 * margin, scale - 2 * margin, scale * 0.24);
      context.fill();
    }
    if (colour === "free" && scale >= ROUND) {
      context.strokeStyle = this.#colours["free-line"];
      context.lineWidth = 1;
      context.stroke();
    }
    if (this.#flashes.size > 0) this.#paintFlash(context, seat, left, top, scale);
    if (scale >= WITH_NUMBERS && colour !== "sold") this.#paintNumber(context, seat.number, colour, left, top, scale);
  }
  #paintNumber(context, number, colour, left, top, scale) {
    context.fillStyle = colour === "free" ? this.#colours.text : this.#colours["on-chosen"];
    context.font = `${colour === "free" ? 500 : 700} ${Math.min(13, scale * 0.42)}px ${this.#font}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(colour === "mine" ? "✓" : String(number), left + scale / 2, top + scale / 2 + 0.5, scale - 4);
  }
  #paintFlash(context, seat, left, top, scale) {
    const began = this.#flashes.get(keyOf(seat));
    if (began === undefined) return;
    const passed = (performance.now() - began) / FLASH_MS;
    if (passed >= 1) return void this.#flashes.delete(keyOf(seat));
    context.globalAlpha = 1 - passed;
    context.strokeStyle = this.#colours.focus;
    context.lineWidth = 2;
    context.beginPath();
    context.roundRect(left + 1 - passed * 3, top + 1 - passed * 3, scale - 2 + passed * 6, scale - 2 + passed * 6, scale * 0.3);
    context.stroke();
    context.globalAlpha = 1;
    this.draw();
  }
  #paintCursor(context, scale) {
    const { x, y } = positionOf(this.#plan, this.#cursor);
    const size = Math.max(scale, 8);
    context.strokeStyle = this.#colours.focus;
    context.lineWidth = 3;
    context.beginPath();
    context.roundRect((x + 0.5) * scale - size / 2 - 1, (y + 0.5) * scale - size / 2 - 1, size + 2, size + 2, size * 0.28);
    context.stroke();
  }
}
