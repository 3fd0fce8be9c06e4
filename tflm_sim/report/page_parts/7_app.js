// State, events of the user, and what the panes share.

const KEYS = [
  ["← →", "one event back or on (Shift: a whole phase or operator)"], ["Home End", "first, last event"], ["space", "play"],
  ["+ −", "closer, farther (wheel too; Shift+wheel: bytes alone)"], ["↑ ↓", "move the picture"], ["0", "show all"],
  ["p", "the fullest moment of the head"], ["b", "what decides the size"],
  ["o O", "what the operator at the cursor holds; all of them up to the cursor"], ["/", "search"], ["n", "next match"], ["t", "light or dark"], ["Esc", "let go"],
];

class App extends Panes {
  constructor(document) {
    super(Math.max(...document.pictures.map((picture) => picture.arena_bytes), 1));
    this.categories = document.categories;
    this.boards = document.boards;
    this.views = document.pictures.map((picture) => new PictureView(picture, document.strings, document.categories));
    this.activeView = this.views[0];
    this.hidden = new Set();
    this.matched = null;
    this.found = [];
    this.foundAt = -1;
    this.chosen = null;
    this.range = null;
    this.order = "size";
    this.tab = "shrink";
    this.cursor = this.#start();
    this.setTheme(this.preferredTheme());
  }

  #start() {
    const view = this.activeView;
    return view.peakScope >= 0 ? view.stepCount + view.peakScope : Math.max(view.count - 1, 0);
  }

  // -- theme --------------------------------------------------------------------------------------------------------

  /** Return the theme that was chosen here, else the one of the machine. */
  preferredTheme() {
    try {
      const saved = localStorage.getItem("tflm-sim-theme");
      if (saved) return saved;
    } catch { /* a page from a file may have no storage */ }
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  setTheme(theme) {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(`--${name}`).trim();
    const fills = this.categories.map((row) => row[theme]);
    this.colors = {
      free: read("free"), sheet: read("sheet"), ink: read("ink"), soft: read("soft"), line: read("line"), mark: read("mark"),
      markSoft: read("mark-soft"), accent: read("accent"), accentSoft: theme === "dark" ? "rgba(110,168,255,.20)" : "rgba(31,111,235,.16)",
      fill: fills, paint: fills.map((color, index) => (this.categories[index].is_hatched ? hatched(color) : color)),
      text: this.categories.map((row) => row[`${theme}_ink`]),
      tempSoft: `${fills[this.categories.findIndex((row) => row.section === "temp")]}47`,
    };
  }

  toggleTheme() {
    this.inTheme(this.theme === "dark" ? "light" : "dark");
    try { localStorage.setItem("tflm-sim-theme", this.theme); } catch { /* see above */ }
  }

  /** Show all in a theme, at once: who prints does not wait for the next frame. */
  inTheme(theme) {
    this.setTheme(theme);
    this.#showChips();
    this.showPanel();
    this.paint();
  }

  // -- building the page --------------------------------------------------------------------------------------------

  build() {
    const { size: report } = this.views[0];
    const path = report.model.path || "model";
    byId("model").textContent = printable(path.split(/[\\/]/).pop(), 90);
    byId("firmware").textContent = this.views.length === 1 ? printable(this.views[0].title, 200)
      : `side by side: the figures are those of the first picture${this.views.length > 2 ? "; each has its own above it" : ", the differences those of the other"}`;
    byId("advice").textContent = report.advice ? printable(report.advice, 200).replaceAll("`", "") : "";
    byId("advice").hidden = !report.advice;
    document.body.classList.toggle("compared", this.views.length > 1);
    document.body.classList.toggle("many", this.views.length > 2);
    showFigures(byId("figures"), this.views.length > 2 ? this.views.slice(0, 1) : this.views);
    this.#showBanner();
    this.#showChips();
    this.panes = this.views.map((view) => {
      const host = make("div", { class: "canvas" });
      const name = this.views.length > 1 ? `${printable(view.title, 200)} ` : "";
      const note = view.source.split_at ? `arenas of ${size(view.source.split_at)} and ${size(view.arena - view.source.split_at)}` : `arena of ${size(view.arena)}`;
      const need = this.views.length > 1 ? this.#need(view) : [];
      byId("panes").append(make("div", { class: "pane" }, make("h2", {}, name, make("small", {}, note), ...need), host));
      return { view, host };
    });
    for (const pane of this.panes) pane.canvas = new PictureCanvas(pane.view, this, pane.host);
    this.panes.forEach((pane) => this.listen(pane));
    this.listenToControls();
    this.#showTabs();
    this.setCursor(this.cursor);
    this.showPanel();
    // Setting a canvas's size clears it: it is drawn at once, so that no frame shows it empty.
    new ResizeObserver(() => { this.panes.forEach((pane) => pane.canvas.resize()); this.paint(); }).observe(byId("panes"));
    this.paint();
  }

  /** The arena that a picture needs, and how much more than the first one that is. */
  #need(view) {
    const [first, own] = [this.views[0], view].map((each) => each.size.smallest_arena_multiple_of_16 ?? null);
    if (own === null) return [];
    const more = first === null || view === this.views[0] ? 0 : own - first;
    const parts = [make("span", { class: "need", "data-need": own }, bytes(own))];
    if (more) parts.push(make("span", { class: more > 0 ? "more" : "less" }, ` ${more > 0 ? "+" : "−"}${count.format(Math.abs(more))}`));
    return [make("p", {}, "to put in the firmware: ", ...parts)];
  }

  #showBanner() {
    const failing = this.views.filter((view) => view.source.failure);
    byId("banner").hidden = !failing.length;
    byId("banner").textContent = failing.map((view) => `${this.views.length > 1 ? `${printable(view.title, 400)}: ` : ""}AllocateTensors() fails: ${printable(view.source.failure, 400)}${(view.source.advice || []).map((each) => `\n${printable(each, 400)}`).join("")}`).join("\n");
  }

  #showChips() {
    const sums = new Map();
    const { residents, blocks } = this.views[0];
    const add = (category, n) => sums.set(category, Math.max(sums.get(category) || 0, n));
    residents.category.forEach((category, i) => add(category, residents.size[i]));
    const tail = new Map();
    blocks.category.forEach((category, i) => {
      if (this.categories[category].section === "tail") tail.set(category, (tail.get(category) || 0) + blocks.size[i] + blocks.padding[i]);
      else add(category, blocks.size[i]);
    });
    const chips = [];
    this.categories.forEach((category, index) => {
      const isTail = category.section === "tail";
      if (!(isTail ? tail : sums).has(index)) return;
      const amount = isTail ? shortSize(tail.get(index)) : "";
      const note = isTail ? "" : `largest: ${shortSize(sums.get(index))}`;
      const chip = make("button", { type: "button", "data-category": category.key, "aria-pressed": String(!this.hidden.has(category.key)), title: `${category.section}${note ? ", " + note : ""}: click to hide or show` },
        swatch(this, category), category.title, make("small", {}, amount));
      chip.addEventListener("click", () => this.toggleCategory(category.key));
      chips.push(chip);
    });
    refill(byId("chips"), chips);
  }

  #showTabs() {
    const names = { chosen: "Block", shrink: "Peak", buffers: "Buffers", tail: "Tail", ...(this.boards.length ? { boards: "Boards" } : {}) };
    refill(byId("tabs"), Object.entries(names).map(([key, name]) => make("button",
      { type: "button", role: "tab", id: `tab-${key}`, "aria-selected": String(this.tab === key), "aria-controls": "panel", onclick: () => { this.tab = key; this.#showTabs(); this.showPanel(); } }, name)));
  }

  showPanel() {
    const panels = { chosen: chosenPanel, shrink: shrinkPanel, buffers: buffersPanel, tail: tailPanel, boards: boardsPanel };
    refill(byId("panel"), panels[this.tab](this));
  }

  openTab(tab) {
    this.tab = tab;
    this.#showTabs();
    this.showPanel();
  }

  // -- cursor, choice, search ---------------------------------------------------------------------------------------

  cursorOf(view) {
    return view === this.activeView ? this.cursor : view.counterpart(this.activeView, this.cursor);
  }

  setCursor(index) {
    const view = this.activeView;
    this.cursor = Math.max(0, Math.min(view.count - 1, index));
    byId("slider").max = view.count - 1;
    byId("slider").value = this.cursor;
    byId("slider").setAttribute("aria-valuetext", this.eventText(view)[0]);
    const [what, state] = this.eventText(view);
    byId("event").replaceChildren(make("b", {}, what), make("span", {}, state));
    if (this.panes.length) {
      if (this.tab === "chosen" && !this.chosen) this.showPanel();
      this.redrawOver();
    }
  }

  eventText(view) {
    const index = this.cursor;
    if (index >= view.stepCount) {
      const scope = index - view.stepCount;
      return [`Invoke(): ${view.opAt(scope)}`, `${size(view.live[scope])} alive in ${view.aliveAt(scope).length} buffers; operator ${scope} of ${view.scopeCount - 1}`];
    }
    const { head, temp, tail } = view.states;
    const place = view.momentName(view.momentOf[index]);
    const free = tail[index] - temp[index];
    return [`${count.format(index + 1)}. ${place}: ${stepText(view, index)}`,
      `head ${count.format(head[index])}, temp to ${count.format(temp[index])}, ${count.format(free)} free, tail ${count.format(view.arena - tail[index])}`];
  }

  step(direction, isWhole) {
    const view = this.activeView;
    if (!isWhole || this.cursor >= view.stepCount) return this.setCursor(this.cursor + direction);
    const moment = view.momentOf[this.cursor] + direction;
    const next = moment < 0 ? 0 : moment >= view.moments.step.length ? view.stepCount : view.moments.step[moment];
    return this.setCursor(next);
  }

  goTo(view, index) {
    this.activeView = view;
    this.setCursor(index);
    this.show(view, { ...this.window, start: view.span(index)[0], end: view.span(index)[1] });
    this.redraw();
  }

  /** Say what whole operators, from one place to another, hold. */
  chooseRange(view, from, to) {
    const [one, other] = from < to ? [from, to] : [to, from];
    this.activeView = view;
    this.chosen = null;
    this.range = { view, first: view.wholeOf(one)[0], last: view.wholeOf(other)[1] };
    this.tab = "chosen";
    this.#showTabs();
    this.showPanel();
    this.redrawOver();
  }

  choose(view, thing, { show = false } = {}) {
    this.range = null;
    this.chosen = thing && { view, thing };
    if (thing) this.activeView = view;
    if (show) {
      this.show(view, view.extent(thing));
      this.redraw();
    }
    if (thing) this.tab = "chosen";
    this.#showTabs();
    this.showPanel();
    this.setCursor(this.cursor);
    this.redrawOver();
  }

  toggleCategory(key) {
    if (!this.hidden.delete(key)) this.hidden.add(key);
    this.#showChips();
    this.showPanel();
    this.redraw();
  }

  search(query) {
    this.matched = null;
    this.found = [];
    this.foundAt = -1;
    if (query.trim()) {
      this.matched = new Map();
      for (const view of this.views) {
        const things = view.matches(query.trim());
        const only = (kind) => new Set(things.filter((thing) => thing.kind === kind).map((thing) => thing.index));
        this.matched.set(view, { resident: only("resident"), block: only("block") });
        this.found.push(...things.map((thing) => ({ view, thing })));
      }
    }
    this.#showMatches();
    if (this.tab === "buffers") this.showPanel();
    this.redraw();
  }

  #showMatches() {
    const place = this.foundAt >= 0 ? `${this.foundAt + 1} of ` : "";
    byId("matches").textContent = this.matched ? `${place}${count.format(this.found.length)} match${this.found.length === 1 ? "" : "es"}` : "";
  }

  nextMatch(direction = 1) {
    if (!this.found.length) return;
    this.foundAt = (this.foundAt + direction + this.found.length) % this.found.length;
    const { view, thing } = this.found[this.foundAt];
    this.choose(view, thing, { show: true });
    this.#showMatches();
  }

  toPeak() {
    const view = this.activeView;
    if (view.peakScope >= 0) this.goTo(view, view.stepCount + view.peakScope);
    this.openTab("shrink");
  }

  toTightest() {
    const view = this.activeView;
    if (view.limits.length) this.goTo(view, view.limits[0].step);
    this.openTab("shrink");
  }
}
