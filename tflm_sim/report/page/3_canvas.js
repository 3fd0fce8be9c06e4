// One picture on two canvases: the blocks, redrawn when the view changes, and above them what follows the pointer.

const TOP = 40, MARGIN = 10, FONT = '11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';

function shade(color, amount) {
  const parts = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  const to = amount < 0 ? 0 : 255;
  return `rgb(${parts.map((part) => Math.round(part + (to - part) * Math.abs(amount))).join(",")})`;
}

function niceStep(range, most) {
  let step = 1;
  while (range / step > most) step *= 2;
  return step;
}

class PictureCanvas {
  /** `app` has the state that panes share: theme, window, hidden categories, matches, chosen, cursor. */
  constructor(view, app, host) {
    this.view = view;
    this.app = app;
    this.host = host;
    this.base = make("canvas", { "aria-hidden": "true" });
    this.over = make("canvas", { class: "over", tabindex: "0", role: "application", "aria-label": `memory over time: ${printable(view.title)}` });
    host.append(this.base, this.over);
    this.hovered = null;
    this.resize();
  }

  resize() {
    const box = this.host.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    this.width = Math.max(120, Math.round(box.width));
    this.height = Math.max(120, Math.round(box.height));
    this.gutter = this.width < 420 ? 84 : this.width < 620 ? 112 : 136;
    for (const canvas of [this.base, this.over]) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(this.height * ratio);
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
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

  draw() {
    const context = (this.context = this.base.getContext("2d"));
    this.colors = this.app.colors;
    context.clearRect(0, 0, this.width, this.height);
    context.save();
    context.beginPath();
    context.rect(this.gutter, TOP, this.width - this.gutter, this.height - TOP);
    context.clip();
    context.fillStyle = this.colors.free;
    this.#rect(0, this.view.arena, 0, 1);
    this.labels = [];
    this.drawn = 0;
    this.#drawHead();
    this.#drawTempEnvelope();
    this.#drawPassing(this.view.temps);
    this.#drawResidents();
    this.#drawPersistent();
    this.#drawMarks();
    this.#drawLabels();
    context.restore();
    this.#drawAxis();
    this.#drawGutter();
    this.drawOver();
  }

  #rect(from, to, start, end) {
    const x = this.x(from), y = this.y(start);
    this.context.fillRect(x, y, this.x(to) - x, this.y(end) - y);
  }

  #visible(category) {
    return !this.app.hidden.has(this.view.categories[category].key);
  }

  #paint(category, thing, variant) {
    const faint = this.app.matched && !this.app.matched.get(this.view)[thing.kind].has(thing.index);
    this.context.globalAlpha = faint ? 0.16 : 1;
    this.context.fillStyle = this.colors.fill[category][variant % 3];
  }

  #box(thing, category, variant, name) {
    const { from, to, start, end } = this.view.extent(thing);
    const x0 = this.x(from), x1 = this.x(to), y0 = this.y(start), y1 = this.y(end);
    if (x1 < this.gutter || x0 > this.width || y1 < TOP || y0 > this.height) return;
    const width = Math.max(x1 - x0, 0.6), height = Math.max(y1 - y0, 0.6);
    this.#paint(category, thing, variant);
    const gapX = width > 4 ? 1 : 0, gapY = height > 4 ? 1 : 0;
    this.context.fillRect(x0, y0, width - gapX, height - gapY);
    this.drawn++;
    if (name && width > 46 && height > 13 && this.context.globalAlpha === 1)
      this.labels.push({ name: name(), x0: Math.max(x0, this.gutter), x1: Math.min(x1, this.width), y0: Math.max(y0, TOP), y1: Math.min(y1, this.height), category });
    this.context.globalAlpha = 1;
  }

  #drawHead() {
    const { heads, blocks } = this.view;
    for (const block of heads) {
      if (!this.#visible(blocks.category[block])) continue;
      this.#box({ kind: "block", index: block }, blocks.category[block], 0, () => this.view.categories[blocks.category[block]].title);
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
      this.#box(thing, category[block], block, null);
    }
  }

  #drawResidents() {
    const { view } = this, { category, offset, size: length } = view.residents;
    for (let i = 0; i < offset.length; i++) {
      if (!this.#visible(category[i])) continue;
      const thing = { kind: "resident", index: i };
      this.#box(thing, category[i], i, () => `${view.name(thing, 48)}  ${shortSize(length[i])}`);
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
      this.#box({ kind: "block", index: run.block }, category, run.narrow ? 0 : run.block, run.narrow ? null : () => printable(run.name, 40));
      return;
    }
    this.context.fillStyle = this.colors.fill[category][0];
    const x = this.x(run.from), y = this.y(view.stepU(view.blocks.begin[run.block]));
    this.context.fillRect(x, y, Math.max(this.x(run.to) - x, 0.6), this.y(1) - y);
    this.drawn++;
  }

  #drawLabels() {
    const { context } = this;
    context.font = FONT;
    context.textBaseline = "middle";
    for (const { x0, x1, y0, y1, name, category } of this.labels) {
      if (x1 - x0 < 40 || y1 - y0 < 12) continue;
      context.save();
      context.beginPath();
      context.rect(x0, y0, x1 - x0 - 4, y1 - y0);
      context.clip();
      context.fillStyle = this.colors.text[category];
      context.fillText(name, x0 + 5, Math.min((y0 + y1) / 2, y0 + 60));
      context.restore();
    }
  }

  // -- marks, axis, gutter ------------------------------------------------------------------------------------------

  #drawMarks() {
    const { view, context } = this;
    context.strokeStyle = this.colors.mark;
    context.fillStyle = this.colors.mark;
    context.lineWidth = 1.5;
    if (view.peakScope >= 0) {
      const y0 = this.y(view.scopeU(view.peakScope)), y1 = this.y(view.scopeU(view.peakScope + 1));
      context.strokeRect(this.x(0), y0, this.x(view.headEnd) - this.x(0), Math.max(y1 - y0 - 1, 2));
      this.#flag(`fullest: ${shortSize(view.live[view.peakScope])} alive`, this.x(view.headEnd) + 6, y1 - y0 > 18 ? (y0 + y1) / 2 : y1 + 10);
    }
    const limit = view.limits[0];
    if (limit) {
      const y = this.y(view.stepU(limit.step + 0.5));
      context.setLineDash([5, 3]);
      context.beginPath();
      context.moveTo(this.x(0), y);
      context.lineTo(this.x(view.arena), y);
      context.stroke();
      context.setLineDash([]);
      this.#flag("tightest: what binds", this.x(limit.floor) + 6, y - 9);
    }
  }

  #flag(text, x, y) {
    const { context } = this;
    context.font = "600 " + FONT;
    context.textBaseline = "middle";
    const width = context.measureText(text).width + 10;
    const left = Math.max(this.gutter + 2, Math.min(x, this.width - width - MARGIN));
    const middle = Math.max(TOP + 9, y);
    context.fillStyle = this.colors.sheet;
    context.globalAlpha = 0.9;
    context.fillRect(left, middle - 8, width, 16);
    context.globalAlpha = 1;
    context.fillStyle = this.colors.mark;
    context.fillText(text, left + 5, middle + 0.5);
  }

  #drawAxis() {
    const { context, view } = this, { b0, b1 } = this.app.window;
    context.fillStyle = this.colors.sheet;
    context.fillRect(0, 0, this.width, TOP);
    context.font = FONT;
    context.textBaseline = "middle";
    context.textAlign = "center";
    context.fillStyle = this.colors.soft;
    context.strokeStyle = this.colors.line;
    context.lineWidth = 1;
    const step = niceStep(b1 - b0, (this.width - this.gutter) / 70);
    for (let byte = Math.ceil(Math.max(0, b0) / step) * step; byte <= Math.min(b1, view.arena); byte += step) {
      const x = this.x(byte);
      context.beginPath();
      context.moveTo(x, 17);
      context.lineTo(x, 21);
      context.stroke();
      const text = step >= 1024 && byte % 1024 === 0 ? `${count.format(byte / 1024)} K` : count.format(byte);
      if (x < this.width - 14) context.fillText(text, x, 10);
    }
    context.textAlign = "left";
    this.#bracket(0, view.headEnd, "head", this.colors.head);
    this.#bracket(view.tailStart, view.arena, "tail", this.colors.tail);
  }

  #bracket(from, to, name, color) {
    const { context } = this;
    const x0 = Math.max(this.x(from), this.gutter), x1 = Math.min(this.x(to), this.width - 2);
    if (x1 - x0 < 2) return;
    context.fillStyle = color;
    context.fillRect(x0, 35, x1 - x0, 3);
    const text = x1 - x0 > 110 ? `${name} ${shortSize(to - from)}` : x1 - x0 > 34 ? name : "";
    context.fillText(text, x0 + 2, 28);
  }

  #drawGutter() {
    const { context, view } = this;
    context.font = FONT;
    context.textBaseline = "middle";
    context.save();
    context.beginPath();
    context.rect(0, TOP, this.gutter - 4, this.height - TOP);
    context.clip();
    this.#side("AllocateTensors()", 0, view.split);
    if (view.scopeCount) this.#side("Invoke()", view.split, 1);
    const narrow = this.gutter < 130;
    let free = TOP;
    for (let i = 0; i < view.moments.name.length; i++) {
      const u = view.stepU(view.moments.step[i]);
      const next = i + 1 < view.moments.step.length ? view.stepU(view.moments.step[i + 1]) : view.split;
      free = this.#gutterLabel(() => this.#short(i, narrow), u, next, free);
    }
    for (let scope = 0; scope < view.scopeCount; scope++)
      free = this.#gutterLabel(() => view.opAt(scope), view.scopeU(scope), view.scopeU(scope + 1), free, scope === view.peakScope);
    context.restore();
  }

  #short(moment, narrow) {
    const name = this.view.momentName(moment);
    return narrow ? name.replace(" of ", " ").replace("prepare ", "").replace("parse ", "").replace("init ", "") : name.replace(" of ", " ");
  }

  #gutterLabel(text, start, end, free, isMarked = false) {
    const y0 = this.y(start), y1 = this.y(end), y = Math.max((y0 + Math.min(y1, y0 + 26)) / 2, y0 + 5);
    if (y < TOP || y - 6 < free || y > this.height - 2) return free;
    const { context } = this;
    context.fillStyle = isMarked ? this.colors.mark : this.colors.soft;
    context.fillText(text(), 22, y);
    return y + 6;
  }

  #side(text, start, end) {
    const { context } = this;
    const y0 = Math.max(this.y(start), TOP), y1 = Math.min(this.y(end), this.height - MARGIN);
    if (y1 - y0 < 8) return;
    context.fillStyle = this.colors.line;
    context.fillRect(17, y0 + 1, 1.5, y1 - y0 - 3);
    if (y1 - y0 < 90) return;
    context.save();
    context.translate(9, (y0 + y1) / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillStyle = this.colors.ink;
    context.fillText(text, 0, 0);
    context.restore();
  }

  // -- what follows the pointer -------------------------------------------------------------------------------------

  drawOver() {
    const context = this.over.getContext("2d"), { view } = this;
    context.clearRect(0, 0, this.width, this.height);
    context.save();
    context.beginPath();
    context.rect(0, TOP, this.width, this.height - TOP);
    context.clip();
    const [start, end] = view.span(this.app.cursorOf(view));
    const y0 = this.y(start), y1 = Math.max(this.y(end), y0 + 1.5);
    context.fillStyle = this.colors.accentSoft;
    context.fillRect(this.gutter, y0, this.width - this.gutter, y1 - y0);
    context.fillStyle = this.colors.accent;
    context.fillRect(this.gutter, y0 - 0.5, this.width - this.gutter - MARGIN, 1);
    if (y1 - y0 > 3) context.fillRect(this.gutter, y1 - 0.5, this.width - this.gutter - MARGIN, 1);
    const middle = (y0 + y1) / 2;
    context.beginPath();
    context.moveTo(this.gutter - 8, middle - 5);
    context.lineTo(this.gutter - 1, middle);
    context.lineTo(this.gutter - 8, middle + 5);
    context.fill();
    const chosen = this.app.chosen && this.app.chosen.view === view ? this.app.chosen.thing : null;
    if (chosen && chosen.kind === "resident") {
      context.setLineDash([3, 3]);
      for (const other of view.sharing(chosen.index).slice(0, 400)) this.#outline(context, { kind: "resident", index: other }, this.colors.ink, 1);
      context.setLineDash([]);
    }
    if (chosen) this.#outline(context, chosen, this.colors.mark, 2.5);
    if (this.hovered) this.#outline(context, this.hovered, this.colors.ink, 1.5);
    context.restore();
  }

  #outline(context, thing, color, width) {
    const { from, to, start, end } = this.view.extent(thing);
    const x = this.x(from), y = this.y(start);
    context.strokeStyle = color;
    context.lineWidth = width;
    context.strokeRect(x, y, Math.max(this.x(to) - x - 1, 1.5), Math.max(this.y(end) - y - 1, 1.5));
  }
}
