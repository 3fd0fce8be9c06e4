// The lower canvas of a picture: coordinates and blocks, redrawn when the view changes.

const TOP = 40, MARGIN = 10, FONT = '11px/1 system-ui, "Segoe UI", "DejaVu Sans", sans-serif';

/** A colour with lines over it, as palette.py has it for the still pictures. */
function hatched(color) {
  const tile = make("canvas", { width: 8, height: 8 }), context = tile.getContext("2d");
  context.fillStyle = color;
  context.fillRect(0, 0, 8, 8);
  context.strokeStyle = "rgba(255,255,255,.55)";
  context.lineWidth = 1.6;
  context.beginPath();
  for (const x of [-8, 0, 8]) { context.moveTo(x, 8); context.lineTo(x + 8, 0); }
  context.stroke();
  return context.createPattern(tile, "repeat");
}

/** A text in so many pixels, with a mark where it was cut. */
function fitting(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  let length = Math.floor((text.length * room) / context.measureText(text).width);
  while (length > 0 && context.measureText(`${text.slice(0, length)}…`).width > room) length--;
  return length > 0 ? `${text.slice(0, length)}…` : "";
}

function niceStep(range, most) {
  let step = 1;
  while (range / step > most) step *= 2;
  return step;
}

class BlockCanvas {
  /** `app` has the state that panes share: theme, window, hidden categories, matches, chosen, cursor. */
  constructor(view, app, host) {
    this.view = view;
    this.app = app;
    this.host = host;
    this.base = make("canvas", { "aria-hidden": "true" });
    this.over = make("canvas", { class: "over", tabindex: "0", role: "application", "aria-label": words("memory", { title: printable(view.title) }) });
    host.append(this.base, this.over);
    this.hovered = null;
    this.resize();
  }

  resize() {
    const box = this.host.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    this.width = Math.max(120, Math.round(box.width));
    this.height = Math.max(120, Math.round(box.height));
    this.#makeRoomForNames();
    for (const canvas of [this.base, this.over]) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(this.height * ratio);
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
  }

  /** The gutter is as wide as the names in it, up to about two fifths of the picture; phases are left out where it is not. */
  #makeRoomForNames() {
    const { view } = this, context = this.base.getContext("2d"), most = Math.max(0.4 * this.width, Math.min(190, 0.47 * this.width));
    context.font = FONT;
    const longest = (names) => 30 + context.measureText(names.reduce((long, name) => (name.length > long.length ? name : long), "")).width;
    const operators = longest(view.scopes.map((_, scope) => view.opAt(scope)));
    const phases = longest(view.moments.name.map((_, moment) => view.shortMoment(moment)));
    this.isNarrow = phases > most;
    this.gutter = Math.max(84, Math.min(this.isNarrow ? operators : Math.max(operators, phases), most));
  }

  // -- coordinates --------------------------------------------------------------------------------------------------

  x(byte) {
    const { b0, b1 } = this.app.window;
    return this.gutter + ((byte - b0) * (this.width - this.gutter - MARGIN)) / (b1 - b0);
  }

  y(u) {
    const { u0, u1 } = this.app.window;
    return TOP + ((u - u0) * (this.height - TOP - MARGIN)) / (u1 - u0);
  }

  byteAt(x) {
    const { b0, b1 } = this.app.window;
    return b0 + ((x - this.gutter) * (b1 - b0)) / (this.width - this.gutter - MARGIN);
  }

  uAt(y) {
    const { u0, u1 } = this.app.window;
    return u0 + ((y - TOP) * (u1 - u0)) / (this.height - TOP - MARGIN);
  }

  thingAt(x, y) {
    const byte = this.byteAt(x), u = this.uAt(y);
    if (x < this.gutter || y < TOP || byte < 0 || byte >= this.view.arena || u < 0 || u >= 1) return null;
    const thing = this.view.at(byte, u);
    return thing && this.app.hidden.has(this.view.category(thing).key) ? null : thing;
  }

  // -- the blocks ---------------------------------------------------------------------------------------------------

  drawBlocks() {
    const context = (this.context = this.base.getContext("2d"));
    this.colors = this.app.colors;
    this.labels = [];
    this.drawn = 0;
    context.clearRect(0, 0, this.width, this.height);
    context.fillStyle = this.colors.free;
    this.#rect(0, this.view.arena, 0, 1);
    this.#drawHead();
    this.#drawTempEnvelope();
    this.#drawPassing(this.view.temps);
    this.#drawResidents();
    this.#drawPersistent();
  }

  #rect(from, to, start, end) {
    const x = this.x(from), y = this.y(start);
    this.context.fillRect(x, y, this.x(to) - x, this.y(end) - y);
  }

  #visible(category) {
    return !this.app.hidden.has(this.view.categories[category].key);
  }

  #paint(category, thing) {
    const faint = this.app.matched && !this.app.matched.get(this.view)[thing.kind].has(thing.index);
    this.context.globalAlpha = faint ? 0.16 : 1;
    this.context.fillStyle = this.colors.paint[category];
  }

  #box(thing, category, name, size = "") {
    const { from, to, start, end } = this.view.extent(thing);
    const x0 = this.x(from), x1 = this.x(to), y0 = this.y(start), y1 = this.y(end);
    if (x1 < this.gutter || x0 > this.width || y1 < TOP || y0 > this.height) return;
    const width = Math.max(x1 - x0, 0.6), height = Math.max(y1 - y0, 0.6);
    this.#paint(category, thing);
    const gapX = width > 4 ? 1 : 0, gapY = height > 4 ? 1 : 0;
    this.context.fillRect(x0, y0, width - gapX, height - gapY);
    this.drawn++;
    if (name && width > 46 && height > 13 && this.context.globalAlpha === 1)
      this.labels.push({ name: name(), size, x0: Math.max(x0, this.gutter), x1: Math.min(x1, this.width), y0: Math.max(y0, TOP), y1: Math.min(y1, this.height), first: this.#firstOf(thing), category });
    this.context.globalAlpha = 1;
  }

  /** How tall the first scope of a planned buffer is: there its name is clear of the frame around the fullest one. */
  #firstOf(thing) {
    if (thing.kind !== "resident") return 120;
    const scope = this.view.residents.first[thing.index];
    return Math.max(this.y(this.view.scopeU(scope + 1)) - this.y(this.view.scopeU(scope)), 18);
  }

  #drawHead() {
    const { heads, blocks } = this.view;
    for (const block of heads) {
      if (!this.#visible(blocks.category[block])) continue;
      this.#box({ kind: "block", index: block }, blocks.category[block], () => this.view.categories[blocks.category[block]].title);
    }
  }

  /** What temp holds until its reset, also where it was given back. */
  #drawTempEnvelope() {
    const { view } = this, { head, temp } = view.states;
    if (this.app.hidden.has("temp")) return;
    const { u0, u1 } = this.app.window;
    const from = Math.max(0, view.indexAt(Math.max(u0, 0)));
    const to = Math.min(view.stepCount, view.indexAt(Math.min(u1, view.split - 1e-9)) + 1);
    if (u0 > view.split) return;
    this.context.fillStyle = this.colors.tempSoft;
    for (let step = from; step < to; ) {
      let next = step + 1;
      while (next < to && temp[next] === temp[step] && head[next] === head[step]) next++;
      if (temp[step] > head[step]) this.#rect(head[step], temp[step], view.stepU(step), view.stepU(next));
      step = next;
    }
  }

  #drawPassing(list) {
    const { view } = this, { begin, category } = view.blocks, { u0, u1 } = this.app.window;
    const first = ((u0 / view.split) * view.stepCount) - view.longest, last = (u1 / view.split) * view.stepCount;
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (begin[list[middle]] < first) low = middle + 1; else high = middle;
    }
    let rowDone = -1, reached = 0;
    for (let at = low; at < list.length && begin[list[at]] <= last; at++) {
      const block = list[at];
      if (!this.#visible(category[block])) continue;
      const thing = { kind: "block", index: block }, box = view.extent(thing);
      const row = Math.floor(this.y(box.start)), tall = this.y(box.end) - this.y(box.start) >= 1;
      if (!tall && row === rowDone && box.to <= reached) continue;
      if (row !== rowDone) { rowDone = row; reached = 0; }
      reached = Math.max(reached, box.to);
      this.#box(thing, category[block], null);
    }
  }

  #drawResidents() {
    const { view } = this, { category, offset, size: length } = view.residents;
    for (let i = 0; i < offset.length; i++) {
      if (!this.#visible(category[i])) continue;
      const thing = { kind: "resident", index: i };
      this.#box(thing, category[i], () => view.texts.labels[i] || view.name(thing, 48), `  ${shortSize(length[i])}`);
    }
  }

  /** Neighbours of one colour that begin in one row of pixels are drawn as one. */
  #drawPersistent() {
    const { view } = this, { category, offset, size: length, padding, label } = view.blocks;
    let run = null;
    for (const block of view.persistent) {
      if (!this.#visible(category[block])) continue;
      const row = Math.floor(this.y(view.stepU(view.blocks.begin[block])));
      const to = offset[block] + length[block] + padding[block];
      const narrow = this.x(offset[block] + length[block]) - this.x(offset[block]) < 3;
      const joins = run && narrow && run.row === row && to === run.from && !this.app.matched && category[run.block] === category[block];
      if (joins) { run.from = offset[block]; run.count++; continue; }
      this.#flushRun(run);
      run = { block, row, from: offset[block], to: offset[block] + length[block], count: 1, narrow, name: label[block] };
      if (!narrow) { this.#flushRun(run); run = null; }
    }
    this.#flushRun(run);
  }

  #flushRun(run) {
    if (!run) return;
    const { view } = this, category = view.blocks.category[run.block];
    if (run.count === 1) {
      this.#box({ kind: "block", index: run.block }, category, run.narrow ? null : () => printable(run.name, 40));
      return;
    }
    this.context.fillStyle = this.colors.paint[category];
    const x = this.x(run.from), y = this.y(view.stepU(view.blocks.begin[run.block]));
    this.context.fillRect(x, y, Math.max(this.x(run.to) - x, 0.6), this.y(1) - y);
    this.drawn++;
  }

  /** Names between two heights lie above the blocks and above all marks, on a rim of their block's colour. */
  drawLabels(context, from = 0, to = this.height) {
    context.font = FONT;
    context.textBaseline = "middle";
    context.lineWidth = 4;
    context.lineJoin = "round";
    for (const { x0, x1, y0, y1, first, name, size, category } of this.labels) {
      const y = Math.min((y0 + y1) / 2, y0 + first / 2);
      if (x1 - x0 < 40 || y1 - y0 < 12 || y + 8 < from || y - 8 > to) continue;
      context.save();
      context.beginPath();
      context.rect(x0, y0, x1 - x0 - 4, y1 - y0);
      context.clip();
      const room = x1 - x0 - 10;
      const shown = context.measureText(name + size).width <= room ? name + size : fitting(context, name, room);
      context.strokeStyle = this.colors.fill[category];
      context.strokeText(shown, x0 + 5, y);
      context.fillStyle = this.colors.text[category];
      context.fillText(shown, x0 + 5, y);
      context.restore();
    }
  }
}
