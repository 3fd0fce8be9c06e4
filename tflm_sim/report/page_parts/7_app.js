// State, events of the user, and what the panes share.

class App extends Panes {
  constructor(document) {
    super(Math.max(...document.pictures.map((picture) => picture.arena_bytes), 1));
    this.categories = document.categories;
    this.texts = document.page;
    this.views = document.pictures.map((picture, at) => new PictureView(picture, document.strings, document.categories, document.page.pictures[at]));
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
      markSoft: read("mark-soft"), accent: read("accent"), accentSoft: theme === "dark" ? "rgba(110,168,255,.20)" : "rgba(22,89,192,.16)",
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
    byId("model").textContent = this.texts.model;
    byId("firmware").textContent = this.texts.about;
    byId("advice").textContent = this.texts.advice;
    byId("advice").hidden = !this.texts.advice;
    document.body.classList.toggle("compared", this.views.length > 1);
    document.body.classList.toggle("many", this.views.length > 2);
    showFigures(byId("figures"), this.texts.cards);
    byId("to-peak").hidden = this.views.every((view) => view.peakScope < 0);
    byId("to-tight").hidden = this.views.every((view) => !view.limits.length || view.source.failure);
    this.#showBanner();
    this.#showChips();
    this.panes = this.views.map((view) => {
      const host = make("div", { class: "canvas" });
      const { heading, note } = view.texts;
      byId("panes").append(make("div", { class: "pane" }, make("h2", {}, heading, heading ? " " : "", make("small", {}, note)), host));
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

  #showBanner() {
    byId("banner").hidden = !this.texts.banner.length;
    byId("banner").textContent = this.texts.banner.join("\n");
  }

  #showChips() {
    const chips = new Map();  // Of a category the first picture's; a bank may have some that the others have not.
    for (const view of this.views) for (const chip of view.texts.chips) if (!chips.has(chip.key)) chips.set(chip.key, chip);
    refill(byId("chips"), [...chips.values()].map(({ key, amount, hint }) => {
      const category = this.categories.find((one) => one.key === key);
      const chip = make("button", { type: "button", "data-category": key, "aria-pressed": String(!this.hidden.has(key)), title: hint },
        swatch(this, category), category.title, ...(amount ? [make("small", {}, amount)] : []));
      chip.addEventListener("click", () => this.toggleCategory(key));
      return chip;
    }));
  }

  #showTabs() {
    const names = { chosen: words("Block"), shrink: words("Peak"), buffers: words("Buffers"), tail: words("Tail"), ...(this.texts.boards.length ? { boards: words("Boards") } : {}) };
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
      return [words("invoke", { operator: view.opAt(scope) }), view.texts.scopes[scope]];
    }
    const { head, temp, tail } = view.states;
    const place = view.momentName(view.momentOf[index]);
    const state = { head: head[index], temp: temp[index], free: tail[index] - temp[index], tail: view.arena - tail[index] };
    return [words("event", { number: count.format(index + 1), place, what: stepText(view, index) }),
      words("state", Object.fromEntries(Object.entries(state).map(([name, value]) => [name, count.format(value)])))];
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
    const all = words(this.found.length === 1 ? "match" : "matches", { count: count.format(this.found.length) });
    const text = this.foundAt >= 0 ? words("match at", { place: this.foundAt + 1, count: all }) : all;
    byId("matches").textContent = this.matched ? text : "";
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
