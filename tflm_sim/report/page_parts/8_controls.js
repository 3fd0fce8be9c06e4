// Mouse, touch and keyboard.

/** What a picture is drawn at for A4, whatever the window: two fit on a page. */
const PAPER = "width: 900px; height: 470px; flex: none; min-height: 0";

Object.assign(App.prototype, {
  hover(pane, event) {
    const box = pane.canvas.over.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    const thing = pane.canvas.thingAt(x, y);
    pane.canvas.hovered = thing;
    this.redrawOver();
    this.showTip(pane, thing, event);
  },

  showTip(pane, thing, event) {
    const tip = byId("tip");
    tip.hidden = !thing;
    if (!thing) return;
    const { view } = pane, table = thing.kind === "resident" ? view.residents : view.blocks;
    const lines = [words("at", { size: size(table.size[thing.index]), offset: count.format(table.offset[thing.index]) }), view.category(thing).title, view.lifetime(thing)];
    if (thing.kind === "resident") lines.push(words("shares, short", { count: count.format(view.residents.sharing[thing.index]) }));
    tip.replaceChildren(make("b", {}, view.name(thing, 120)), ...lines.map((line) => make("span", {}, line)));
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8))}px`;
    tip.style.top = `${event.clientY + 18 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 18}px`;
  },

  click(pane, event) {
    const box = pane.canvas.over.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    this.activeView = pane.view;
    const u = pane.canvas.uAt(y);
    if (u >= 0 && u < 1 && y >= TOP) this.setCursor(pane.view.indexAt(u));
    this.choose(pane.view, pane.canvas.thingAt(x, y));
  },

  onKey(event) {
    if (byId("keys").open || (event.target.closest("input") && event.key !== "Escape")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("button, [role=tabpanel]") && [" ", "Enter", "ArrowUp", "ArrowDown"].includes(event.key)) return;
    const { window: now } = this, tall = (now.u1 - now.u0) / 8;
    const actions = {
      ArrowLeft: () => this.step(-1, event.shiftKey), ArrowRight: () => this.step(1, event.shiftKey),
      ArrowUp: () => this.pan(-tall, 0), ArrowDown: () => this.pan(tall, 0),
      Home: () => this.setCursor(0), End: () => this.setCursor(this.activeView.count - 1), " ": () => this.play(),
      "+": () => this.zoom(0.7), "=": () => this.zoom(0.7), "-": () => this.zoom(1 / 0.7), 0: () => this.showAll(),
      p: () => this.toPeak(), b: () => this.toTightest(), o: () => this.chooseRange(this.activeView, this.cursor, this.cursor),
      O: () => this.chooseRange(this.activeView, this.range?.view === this.activeView ? this.range.first : 0, this.cursor),
      n: () => this.nextMatch(), N: () => this.nextMatch(-1),
      "/": () => byId("search").focus(), t: () => this.toggleTheme(), "?": () => byId("keys").showModal(), Escape: () => this.letGo(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  },

  /** Put on paper what the tabs hold, one after the other, without what only a click makes sense of. */
  layOut() {
    const parts = { Peak: shrinkPanel, Tail: tailPanel, Buffers: buffersPanel, ...(this.texts.boards.length ? { Boards: boardsPanel } : {}) };
    const sections = Object.entries(parts).map(([title, panel]) => make("section", {}, make("h2", {}, words(title)), ...panel(this)));
    for (const section of sections) for (const element of section.querySelectorAll("[id]")) element.removeAttribute("id");
    byId("paper").replaceChildren(...sections);
    this.themeOnScreen = this.theme;
    for (const { host, canvas } of this.panes) {
      host.style = PAPER;
      canvas.resize();
      host.style = "";
    }
    this.inTheme("light");
  },

  backOnScreen() {
    for (const { canvas } of this.panes) canvas.resize();
    this.inTheme(this.themeOnScreen);
  },

  letGo() {
    byId("search").value = "";
    byId("search").blur();
    this.search("");
    this.choose(this.activeView, null);
  },

  play() {
    if (this.playing) {
      clearInterval(this.playing);
      this.playing = 0;
    } else {
      if (this.cursor >= this.activeView.count - 1) this.setCursor(0);
      const pace = Math.max(1, Math.round(this.activeView.count / 600));
      this.playing = setInterval(() => (this.cursor >= this.activeView.count - 1 ? this.play() : this.setCursor(this.cursor + pace)), 60);
    }
    byId("play").textContent = words(this.playing ? "pause" : "play");
  },
});

/** Drag pans, two fingers or the wheel zoom, a click chooses; over the names (or with Shift) a drag chooses operators. */
App.prototype.listen = function listen(pane) {
  const canvas = pane.canvas.over, pointers = new Map();
  let moved = 0, spread = 0, from = null;
  const placeAt = (event) => {
    const u = pane.canvas.uAt(Math.max(event.clientY - canvas.getBoundingClientRect().top, TOP));
    return pane.view.indexAt(Math.min(Math.max(u, 0), 1 - 1e-9));
  };
  const isAtNames = (event) => event.clientX - canvas.getBoundingClientRect().left < pane.canvas.gutter;
  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event);
    moved = 0;
    from = event.shiftKey || isAtNames(event) ? placeAt(event) : null;
    if (pointers.size === 2) spread = distance(pointers);
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) { canvas.classList.toggle("names", isAtNames(event)); this.hover(pane, event); return; }
    const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
    moved += Math.abs(dx) + Math.abs(dy);
    pointers.set(event.pointerId, event);
    if (moved < 5) return;
    if (!canvas.hasPointerCapture(event.pointerId)) canvas.setPointerCapture(event.pointerId);
    byId("tip").hidden = true;
    if (from !== null) { this.chooseRange(pane.view, from, placeAt(event)); return; }
    const perX = pane.canvas.byteAt(1) - pane.canvas.byteAt(0), perY = pane.canvas.uAt(1) - pane.canvas.uAt(0);
    if (pointers.size === 1) this.pan(-dy * perY, -dx * perX);
    else if (spread) { const now = distance(pointers); this.zoom(spread / now); spread = now; }
  });
  const release = (event) => {
    const wasDown = pointers.delete(event.pointerId);
    if (event.type !== "pointerup" || !wasDown || moved >= 5) return;
    if (from === null || !isAtNames(event)) { this.click(pane, event); return; }
    this.setCursor(from);
    this.chooseRange(pane.view, from, from);
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => { pane.canvas.hovered = null; byId("tip").hidden = true; this.redrawOver(); });
  canvas.addEventListener("dblclick", (event) => this.zoomAt(pane, event, 0.4, "ub"));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const amount = event.deltaY || event.deltaX;
    this.zoomAt(pane, event, Math.exp(Math.max(-60, Math.min(60, amount)) / 200), event.ctrlKey ? "ub" : event.shiftKey ? "b" : "u");
  }, { passive: false });
};

App.prototype.zoomAt = function zoomAt(pane, event, factor, axes) {
  const box = pane.canvas.over.getBoundingClientRect();
  this.zoom(factor, { u: pane.canvas.uAt(event.clientY - box.top), b: pane.canvas.byteAt(event.clientX - box.left), axes });
};

function distance(pointers) {
  const [one, other] = [...pointers.values()];
  return Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) || 1;
}

App.prototype.listenToControls = function listenToControls() {
  const on = (id, action) => byId(id).addEventListener("click", action);
  on("theme", () => this.toggleTheme());
  on("help", () => byId("keys").showModal());
  on("zoom-in", () => this.zoom(0.6));
  on("zoom-out", () => this.zoom(1 / 0.6));
  on("zoom-all", () => this.showAll());
  on("to-peak", () => this.toPeak());
  on("to-tight", () => this.toTightest());
  on("next", () => this.nextMatch());
  on("first", () => this.setCursor(0));
  on("back", (event) => this.step(-1, event.shiftKey));
  on("play", () => this.play());
  on("forward", (event) => this.step(1, event.shiftKey));
  on("last", () => this.setCursor(this.activeView.count - 1));
  byId("slider").addEventListener("input", () => this.setCursor(Number(byId("slider").value)));
  byId("search").addEventListener("input", () => this.search(byId("search").value));
  byId("search").addEventListener("keydown", (event) => { if (event.key === "Enter") this.nextMatch(event.shiftKey ? -1 : 1); });
  document.addEventListener("keydown", (event) => this.onKey(event));
  window.addEventListener("beforeprint", () => this.layOut());
  window.addEventListener("afterprint", () => this.backOnScreen());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.inTheme(this.preferredTheme()));
  // In a page around it, a phone's has no scroll box within another: it is told how high this one is, 0 where it may choose.
  const height = () => (matchMedia("(max-width: 900px)").matches ? document.documentElement.offsetHeight : 0);
  if (window.parent !== window) new ResizeObserver(() => window.parent.postMessage({ height: height() }, "*")).observe(document.documentElement);
};

const data = JSON.parse(byId("data").textContent);
WORDS = data.page.words;
const app = new App(data);
app.build();
// For scripts that drive the page; the first paint, in ms since the page was asked for, is there to be measured.
window.tflmSim = app;
requestAnimationFrame(() => requestAnimationFrame(() => { document.documentElement.dataset.firstPaint = performance.now().toFixed(1); }));
