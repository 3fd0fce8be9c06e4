// A picture on two canvases: marks, axis and names around the blocks, and above them what follows the pointer.

class PictureCanvas extends BlockCanvas {
  draw() {
    this.drawBlocks();
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(this.gutter, TOP, this.width - this.gutter, this.height - TOP);
    context.clip();
    this.flags = this.#drawMarks();
    this.drawLabels(context);
    this.flags.forEach((flag) => this.#flag(context, flag));
    context.restore();
    this.#drawAxis();
    this.#drawGutter();
    this.drawOver();
  }

  // -- marks, axis, gutter ------------------------------------------------------------------------------------------

  /** Draw the frame of the fullest moment and the line of the tightest; return their words, which lie above all. */
  #drawMarks() {
    const { view, context } = this, flags = [];
    context.strokeStyle = this.colors.mark;
    context.fillStyle = this.colors.mark;
    context.lineWidth = 1.5;
    if (view.texts.is_framed) {
      const y0 = this.y(view.scopeU(view.peakScope)), y1 = this.y(view.scopeU(view.peakScope + 1));
      context.strokeRect(this.x(0), y0, this.x(view.headEnd) - this.x(0), Math.max(y1 - y0 - 1, 2));
      flags.push([[words("fullest", { size: shortSize(view.live[view.peakScope]) }), words("fullest, short")], this.x(view.headEnd) + 6, y1 - y0 > 18 ? (y0 + y1) / 2 : y1 + 10]);
    }
    const short = view.source.shortage;
    if (short) {
      const x = this.x(short.start), y = this.y(view.stepU(short.step));
      context.globalAlpha = 0.55;
      context.fillRect(x, y, Math.max(this.x(short.end) - x, 2), this.y(1) - y);
      context.globalAlpha = 1;
      flags.push([[words("missing", { bytes: bytes(short.missing) }), count.format(short.missing)], x + 6, (y + this.y(1)) / 2]);
    }
    // Of a run that failed, the tightest step is not what decides.
    const limit = view.source.failure ? undefined : view.limits[0];
    if (limit) {
      const y = this.y(view.stepU(limit.step + 0.5));
      context.setLineDash([5, 3]);
      context.beginPath();
      context.moveTo(this.x(0), y);
      context.lineTo(this.x(view.arena), y);
      context.stroke();
      context.setLineDash([]);
      flags.push([[words("tightest"), words("tightest, short")], this.x(limit.floor) + 6, y - 9]);
    }
    return flags;
  }

  /** Draw the first of some words that there is room for. */
  #flag(context, [words, x, y]) {
    context.font = "600 " + FONT;
    context.textBaseline = "middle";
    const room = this.width - this.gutter - MARGIN - 12;
    const text = words.find((each) => context.measureText(each).width <= room) ?? fitting(context, words.at(-1), room);
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
    this.#bracket(0, view.headEnd, words("head"), this.colors.ink);
    this.#bracket(view.tailStart, view.arena, words("tail"), this.colors.ink);
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
    context.clearRect(0, TOP, this.gutter, this.height - TOP);
    context.save();
    context.beginPath();
    context.rect(0, TOP, this.gutter - 4, this.height - TOP);
    context.clip();
    this.#side(words("allocate"), 0, view.split);
    if (view.scopeCount) this.#side(words("invoked"), view.split, 1);
    let free = TOP;
    for (let i = 0; i < view.moments.name.length; i++) {
      const u = view.stepU(view.moments.step[i]);
      const next = i + 1 < view.moments.step.length ? view.stepU(view.moments.step[i + 1]) : view.split;
      free = this.#gutterLabel(() => this.#short(i), u, next, free);
    }
    for (let scope = 0; scope < view.scopeCount; scope++)
      free = this.#gutterLabel(() => view.opAt(scope), view.scopeU(scope), view.scopeU(scope + 1), free, scope === view.peakScope);
    context.restore();
  }

  #short(moment) {
    const name = this.view.shortMoment(moment);
    return this.isNarrow && this.view.moments.operator[moment] >= 0 ? name.slice(name.indexOf("#")) : name;
  }

  #gutterLabel(text, start, end, free, isMarked = false) {
    const y0 = this.y(start), y1 = this.y(end), y = Math.max((y0 + Math.min(y1, y0 + 26)) / 2, y0 + 5);
    if (y < TOP || y - 6 < free || y > this.height - 2) return free;
    const { context } = this;
    context.fillStyle = isMarked ? this.colors.mark : this.colors.soft;
    context.fillText(fitting(context, text(), this.gutter - 26), 22, y);
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
    const { range } = this.app;
    if (range && range.view === view) {
      const from = this.y(view.span(range.first)[0]), to = this.y(view.span(range.last)[1]);
      context.fillStyle = this.colors.markSoft;
      context.fillRect(0, from, this.width - MARGIN, Math.max(to - from, 1.5));
      context.fillStyle = this.colors.mark;
      context.fillRect(0, from, 3, Math.max(to - from, 1.5));
    }
    const [start, end] = view.span(this.app.cursorOf(view));
    const y0 = this.y(start), y1 = Math.max(this.y(end), y0 + 1.5);
    context.fillStyle = this.colors.accentSoft;
    context.fillRect(this.gutter, y0, this.width - this.gutter, y1 - y0);
    context.fillStyle = this.colors.accent;
    context.fillRect(this.gutter, y0 - 0.5, this.width - this.gutter - MARGIN, 1);
    if (y1 - y0 > 3) context.fillRect(this.gutter, y1 - 0.5, this.width - this.gutter - MARGIN, 1);
    this.#writeAbove(context, y0, y1);
    const middle = (y0 + y1) / 2;
    context.fillStyle = this.colors.accent;
    context.beginPath();
    context.moveTo(this.gutter - 8, middle - 5);
    context.lineTo(this.gutter - 1, middle);
    context.lineTo(this.gutter - 8, middle + 5);
    context.fill();
    context.beginPath();
    context.rect(this.gutter - 1, TOP, this.width - this.gutter + 1, this.height - TOP);
    context.clip();
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

  /** What is written where the cursor's band lies is written again above it: below it, nobody could read it. */
  #writeAbove(context, y0, y1) {
    context.save();
    context.beginPath();
    context.rect(this.gutter, TOP, this.width - this.gutter, this.height - TOP);
    context.clip();
    this.drawLabels(context, y0, y1);
    this.flags.filter(([, , y]) => Math.max(TOP + 9, y) + 8 > y0 && y - 8 < y1).forEach((flag) => this.#flag(context, flag));
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
