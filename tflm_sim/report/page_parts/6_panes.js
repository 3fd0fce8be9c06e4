// What all panes share: the window of time and bytes that they show, and when they are drawn.

class Panes {
  constructor(most) {
    this.all = { u0: 0, u1: 1, b0: 0, b1: most };
    this.window = { ...this.all };
    this.panes = [];
  }

  // -- drawing ------------------------------------------------------------------------------------------------------

  redraw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => this.paint());
  }

  paint() {
    this.pending = 0;
    const start = performance.now();
    this.panes.forEach((pane) => { pane.canvas.draw(); pane.host.classList.toggle("zoomed", this.isZoomed); });
    this.drawMs = performance.now() - start;
  }

  redrawOver() {
    if (this.pending || this.pendingOver) return;
    this.pendingOver = requestAnimationFrame(() => { this.pendingOver = 0; this.panes.forEach((pane) => pane.canvas.drawOver()); });
  }

  // -- zoom and pan -------------------------------------------------------------------------------------------------

  get isZoomed() {
    const { window: now, all } = this;
    return now.u1 - now.u0 < all.u1 - all.u0 - 1e-12 || now.b1 - now.b0 < all.b1 - all.b0 - 1e-9;
  }

  zoom(factor, { u, b, axes = "ub" } = {}) {
    const { window: now, all } = this;
    const scale = (low, high, at, least, edge) => {
      const range = Math.min(edge, Math.max(least, (high - low) * factor));
      const start = Math.max(0, Math.min(edge - range, at - ((at - low) * range) / (high - low)));
      return [start, start + range];
    };
    const middle = u ?? (now.u0 + now.u1) / 2;
    if (axes.includes("u")) [now.u0, now.u1] = scale(now.u0, now.u1, middle, Math.min(1, 4 / this.activeView.count), all.u1);
    if (axes.includes("b")) [now.b0, now.b1] = scale(now.b0, now.b1, b ?? (now.b0 + now.b1) / 2, Math.min(32, all.b1), all.b1);
    this.redraw();
  }

  pan(du, db) {
    const { window: now, all } = this;
    const u = Math.max(-now.u0, Math.min(all.u1 - now.u1, du)), b = Math.max(-now.b0, Math.min(all.b1 - now.b1, db));
    now.u0 += u; now.u1 += u; now.b0 += b; now.b1 += b;
    this.redraw();
  }

  showAll() {
    this.window = { ...this.all };
    this.redraw();
  }

  /** Move the window so that a time is in it. */
  show(view, { start, end, from, to }) {
    const { u0, u1, b0, b1 } = this.window, tall = u1 - u0, wide = b1 - b0;
    if (start < u0 || Math.min(end, start + tall) > u1) this.window.u0 = Math.max(0, Math.min(1 - tall, (start + Math.min(end, start + tall)) / 2 - tall / 2));
    this.window.u1 = this.window.u0 + tall;
    if (from !== undefined && (from < b0 || to > b1)) this.window.b0 = Math.max(0, Math.min(this.all.b1 - wide, (from + to) / 2 - wide / 2));
    this.window.b1 = this.window.b0 + wide;
  }
}
