// The page: settings, files in, answers out. Whatever a file says is text, never markup.
const SETTINGS = ["board", "library", "target", "kernels", "interpreter"];
const DEFAULT_TARGET = "cortex-m4";
const byId = (id) => document.getElementById(id);
const count = new Intl.NumberFormat("en-US");
const WORDS = JSON.parse(byId("words").textContent);

/** A sentence of words.py, with its gaps filled. */
const words = (key, values = {}) => WORDS[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);

/** Python in a thread of its own: ``ask`` a call, ``askFor`` its JSON; ``end`` it in the middle of a call. */
class Python {
  constructor() {
    this.waiting = new Map();
    this.calls = 0;
    this.worker = new Worker("worker.js", { type: "module" });
    this.worker.onmessage = ({ data: { id, value, error, progress, started } }) => {
      if (started !== undefined) { byId("loading").value = started; return; }
      const { resolve, reject, tell } = this.waiting.get(id);
      if (progress !== undefined) return tell(progress);
      this.waiting.delete(id);
      if (error === undefined) resolve(value); else reject(new Error(error));
    };
    this.worker.onerror = (event) => this.end(words("failed to start", { reason: event.message ?? words("see console") }));
  }

  /** Calls are answered in order; ``tell`` hears how far one is. */
  ask(call, args = [], tell = say) {
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(new Error(this.ended));
      this.waiting.set(++this.calls, { resolve, reject, tell });
      this.worker.postMessage({ id: this.calls, call, args });
    });
  }

  /** What it was asked and will be asked is refused, with the reason. */
  end(reason) {
    this.ended = reason;
    this.worker.terminate();
    for (const { reject } of this.waiting.values()) reject(new Error(reason));
  }
}

const python = new Python();
const ask = (call, ...args) => python.ask(call, args);
const askFor = async (...call) => JSON.parse(await ask(...call));

function say(text) {
  byId("status").textContent = text;
}

/** Make an element with properties and children; strings become text. */
function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

// -- settings -------------------------------------------------------------------------------------------------------

const boards = new Map();
const STORE = "tflm_sim.settings";

async function start() {
  const { version, targets, boards: known, libraries } = await askFor("choices");
  byId("target").append(...targets.map(({ name, description }) => make("option", { value: name, title: description }, name)));
  for (const board of known) {
    boards.set(board.name, board);
    byId("board").append(make("option", { value: board.name, title: board.description }, board.name));
  }
  byId("known").append(...libraries.map(({ name, description }) => make("option", { value: name }, description)));
  readLink(location.hash.length > 1 ? location.hash.slice(1) : remembered());
  byId("version").textContent = version;
  byId("loading").hidden = true;
  byId("settings").addEventListener("change", changed);
  window.addEventListener("hashchange", () => { readLink(location.hash.slice(1)); resizeAll(); });
  document.documentElement.dataset.ready = "yes";
  say(words("ready"));
}

const values = () => Object.fromEntries(SETTINGS.map((name) => [name, byId(name).value.trim()]));
const settings = () => JSON.stringify(values());

/** Return the settings of the last visit; a browser that keeps nothing has none. */
function remembered() {
  try {
    return localStorage.getItem(STORE) ?? "";
  } catch {
    return "";
  }
}

/** Take over what a shared link says; unknown names are passed over. */
function readLink(text) {
  const link = new URLSearchParams(text);
  for (const name of SETTINGS) {
    const field = byId(name), value = link.get(name);
    if (value !== null && (field.tagName === "INPUT" || [...field.options].some((option) => option.value === value))) field.value = value;
  }
}

const chosen = () => new URLSearchParams(Object.entries(values()).filter(([, value]) => value));
const link = () => `${location.origin}${location.pathname}#${chosen()}`;

function changed(event) {
  if (event.target.id === "board" && boards.has(event.target.value)) {
    byId("target").value = boards.get(event.target.value).target;
    byId("kernels").value = "";
  } else if (event.target.id === "target") {
    byId("board").value = "";
  }
  history.replaceState(null, "", link());
  try {
    localStorage.setItem(STORE, chosen());
  } catch { /* The browser keeps nothing. */ }
  resizeAll();
}

byId("share").addEventListener("click", () => copy(link(), words("link copied")));

async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    say(done);
  } catch {
    say(text);
  }
}

// -- files ----------------------------------------------------------------------------------------------------------

let models = [], programs = [];
const FEW = 3;

async function take(files) {
  for (const file of files) {
    say(words("reading", { name: file.name }));
    await new Promise((painted) => setTimeout(painted));
    let found;
    try {
      found = await askFor("add", file.name, new Uint8Array(await file.arrayBuffer()));
    } catch (error) {
      found = [{ name: file.name, error: error.message }];
    }
    for (const entry of found) await show(entry);
  }
  say(words("answered", { count: count.format(byId("answers").childElementCount) }));
  await sayWhereTheyFit();
}

byId("sample").addEventListener("click", async () => {
  for (const entry of await askFor("sample")) await show(entry);
  say(words("sample answered"));
  await sayWhereTheyFit();
});

/** Show a model: on top, or below the one that it comes from. Of many models the table leads to each, and one is open. */
async function show(entry, origin) {
  const box = make("article", { className: "answer", tabIndex: -1 }, make("h2", {}, entry.name));
  if (origin) origin.after(box); else byId("answers").prepend(box);
  const model = { ...entry, box, answer: make("div"), work: make("div"), more: make("div"), panel: null, facts: {} };
  const isProgram = entry.firmware !== undefined, isModel = entry.number !== undefined;
  box.append(model.answer, isModel ? buttons(model) : make("div", { className: "buttons" }, removal(model)), model.work, model.more);
  (isProgram ? programs : models).push(model);
  openOnly(box);
  await (isProgram ? judge(model) : resize(model));
}

/** Where there are more than a few models, hide the others, but for one that is being worked on. */
function openOnly(box) {
  for (const model of models) model.box.hidden = models.length > FEW && model.box !== box && !model.work.childElementCount;
}

/** Say whether the models of a program fit its arenas. */
async function judge(program) {
  say(words("reading", program));
  const [row] = await askFor("firmware", program.firmware, settings());
  const verdict = (text, at) => make("p", { className: `verdict ${row.tones[at]}` }, text);
  const open = program.answer.querySelector("details")?.open ?? false;
  program.answer.replaceChildren(...(row.error === undefined
    ? [...row.verdicts.map(verdict), make("details", { open }, make("summary", {}, words("what the file says")), make("pre", { tabIndex: 0 }, row.facts.join("\n")))]
    : [failed({ message: row.error })]));
}

/** Size all again; a panel that is open stays, with what is true now. */
async function resizeAll() {
  for (const model of [...models]) {
    await resize(model);
    if (model.panel) model.more.replaceChildren(await model.panel().catch(failed));
  }
  for (const program of [...programs]) await judge(program);
  const { board, target, library } = values(), named = [board, target === board ? "" : target, library].filter(Boolean);
  const sizes = models.filter(({ error }) => error === undefined).map(({ facts }) => facts);
  if (sizes.length && sizes.every(({ failure }) => failure)) say(sizes[0].failure);
  else if (models.length + programs.length) say(words("sized for", { names: named.join(", ") || DEFAULT_TARGET }));
  await sayWhereTheyFit();
}

async function resize(model) {
  say(words("sizing", model));
  const [row] = model.error === undefined ? await askFor("size", model.number, settings()).catch((error) => [{ error: error.message }]) : [model];
  model.facts = row.error === undefined ? row : { failure: row.error, row: { fits: words("none"), reason: row.error } };
  model.answer.replaceChildren(...(row.error === undefined ? answer(row) : [failed({ message: row.error })]));
  overview();
}

let asked = 0;

/** Name the smallest boards that a model fits under the "no" of its own, one model after another until all are sized anew. */
async function sayWhereTheyFit() {
  const mine = ++asked;
  for (const model of models.filter(({ facts }) => facts.row?.left < 0)) {
    const no = model.answer.querySelector(".verdict");
    if (no.nextElementSibling.className === "elsewhere") continue;
    const [table] = await askFor("compare", model.number);
    if (mine !== asked) return;
    no.after(make("p", { className: "elsewhere" }, table.summary ?? table.error));
  }
}

const failed = ({ message }) => make("p", { className: "error" }, message);

function answer(row) {
  const verdict = row.verdict ? [make("p", { className: `verdict ${row.tone}` }, row.verdict)] : [];
  if (row.smallest === null) return [...verdict, ...(row.log ? [make("pre", {}, row.log)] : [])];
  const assumed = row.assumed ? [make("small", { className: "assumed" }, row.assumed)] : [];
  const number = make("p", { className: "number" }, row.number, make("small", {}, row.about), ...assumed);
  number.dataset.smallest = row.smallest;
  const toCopy = make("button", { type: "button", className: "quiet" }, words("copy"));
  toCopy.addEventListener("click", () => copy(row.line, words("line copied")));
  return [
    number,
    ...(row.problem ? [make("p", { className: "error" }, row.problem)] : []),
    ...verdict,
    strip(row.strip),
    make("div", { className: "line" }, make("pre", {}, row.line), toCopy),
    make("dl", {}, ...row.facts.map(([title, value]) => make("div", {}, make("dt", {}, title), make("dd", {}, value)))),
  ];
}

/** The arena as a bar, and below it what each part is. */
function strip(segments) {
  const bar = make("div", { className: "strip" }), legend = make("ul", { className: "legend" });
  bar.role = "img";
  bar.ariaLabel = words("arena");
  for (const { title, bytes, category, light, dark, is_hatched: isHatched } of segments) {
    const colored = () => {
      const part = make("i", { title, className: `${category} ${isHatched ? "hatched" : ""}` });
      part.style.backgroundColor = `light-dark(${light}, ${dark})`;
      return part;
    };
    const part = colored();
    part.style.flexGrow = bytes;
    bar.append(part);
    legend.append(make("li", {}, colored(), title));
  }
  return make("div", {}, bar, legend);
}

/** Make the buttons of a model. While one works it is marked, keeps the focus and takes no second click. */
function buttons(model) {
  const button = (text, action, place) => {
    const element = make("button", { type: "button" }, text);
    element.addEventListener("click", async () => {
      if (element.ariaDisabled === "true") return;
      element.ariaDisabled = "true";
      if (place === model.more) model.panel = action;
      try {
        say(words("working"));
        place.replaceChildren(await action());
        say(words("done"));
      } catch (error) {
        place.replaceChildren(failed(error));
        say(error.message);
      } finally {
        element.ariaDisabled = "false";
      }
    });
    return element;
  };
  return make("div", { className: "buttons" },
    button(words("show every byte"), () => picture(model), model.more),
    button(words("compare all boards"), () => comparison(model), model.more),
    button(words("shrink"), () => shrunk(model), model.work),
    removal(model));
}

function removal(model) {
  const remove = make("button", { type: "button", className: "quiet" }, words("remove"));
  remove.addEventListener("click", () => {
    [models, programs] = [models, programs].map((open) => open.filter((other) => other !== model));
    model.second?.end(words("removed"));
    const next = model.box.nextElementSibling ?? byId("drop").querySelector("input");
    model.box.remove();
    openOnly(next);
    overview();
    next.focus();
  });
  return remove;
}

/** Shrink in a Python of its own, so that other models answer meanwhile and it can be ended. */
async function shrunk(model) {
  if (!await ask("canShrink")) {
    throw new Error(words("no numpy"));
  }
  const other = model.second = new Python();
  const bar = make("p", { className: "progress" }, words("second python"));
  const cancel = make("button", { type: "button" }, words("cancel"));
  cancel.addEventListener("click", () => other.end(words("cancelled")));
  model.work.replaceChildren(make("div", { className: "working" }, bar, cancel));
  try {
    const data = await ask("data", model.number);
    const [opened] = JSON.parse(await other.ask("add", [model.file ?? model.name, data]));
    if (opened.error !== undefined) throw new Error(opened.error);
    bar.textContent = words("rewritings");
    const [row] = JSON.parse(await other.ask("shrink", [opened.number, settings()], (text) => { bar.textContent = words("progress", { text }); }));
    if (row.error !== undefined) throw new Error(row.error);
    const found = make("div", {}, make("pre", { tabIndex: 0 }, row.lines.join("\n")));
    if (row.smaller !== null) {
      const small = await other.ask("data", [row.smaller.number]);
      const [entry] = await askFor("add", row.smaller.name, small);
      found.prepend(saved(small, entry.name, entry.save, "application/octet-stream"));
      await show(entry, model.box);
      sayWhereTheyFit();
    }
    return found;
  } finally {
    other.end(words("is done"));
  }
}

const saved = (data, name, text, type) => make("a", { className: "download", download: name, href: URL.createObjectURL(new Blob([data], { type })) }, text);

async function picture(model) {
  const html = await ask("page", model.number, settings());
  const frame = make("iframe", { title: words("every byte of", model), srcdoc: html });
  frame.setAttribute("sandbox", "allow-scripts");
  const svg = await ask("svg", model.number, settings());
  const toSave = make("div", { className: "buttons" },
    saved(svg, `${model.name}.svg`, words("save picture"), "image/svg+xml"),
    saved(html, `${model.name}.html`, words("save report"), "text/html"));
  return make("div", {}, toSave, frame);
}

/** A report on a narrow screen is as high as it says, else it would scroll inside of the page. */
window.addEventListener("message", ({ source, data }) => {
  const frame = [...document.querySelectorAll("iframe")].find(({ contentWindow }) => contentWindow === source);
  if (frame && Number.isFinite(data?.height)) frame.style.height = data.height > 0 ? `${Math.min(data.height, 1e5) + 2}px` : "";
});

async function comparison(model) {
  const [table] = await askFor("compare", model.number);
  if (table.error !== undefined) throw new Error(table.error);
  const head = ["board", "column arena", "fits", "of RAM", "of flash", "target", "what it is"];
  const amounts = [1, 3, 4], wide = [4, 5, 6];
  const name = (index) => [amounts.includes(index) ? "amount" : "", wide.includes(index) ? "wide" : "", index === head.length - 1 ? "words" : ""].join(" ").trim();
  const line = (cells, at) => {
    const shown = cells.map((text, index) => make("td", { className: index === 2 ? `fits ${table.tones[at]}` : name(index) }, text));
    shown[1].title = table.errors[at];
    return make("tr", {}, ...shown);
  };
  const drawn = make("table", {},
    make("caption", { className: "skip" }, words("on every board")),
    make("thead", {}, make("tr", {}, ...head.map((key, index) => make("th", { scope: "col", className: name(index) }, words(key))))),
    make("tbody", {}, ...table.rows.map(line)));
  return make("div", {}, make("p", { className: "verdict" }, table.summary), make("div", { className: "scroll", tabIndex: 0 }, drawn));
}

// -- many models ----------------------------------------------------------------------------------------------------

const COLUMNS = ["name", "arena", "head", "tail", "operators", "left", "fits", "reason"], WIDE = ["head", "tail", "operators", "left"], WORDY = ["name", "fits", "reason"];
const titleOf = (column) => words(column === "name" ? "model" : `column ${column}`);
const cellOf = (model, column) => (column === "name" ? model.name : model.facts.row?.[column] ?? null);
const nameOf = (column) => `${WORDY.includes(column) ? column : "amount"} ${WIDE.includes(column) ? "wide" : ""}`.trim();
let order = { column: null, isDown: false };

/** Show a table of the models, when there are several, in the order that was asked for. */
function overview() {
  byId("overview").hidden = models.length < 2;
  const hasBoard = Boolean(values().board), isShown = (column) => column !== "left" || hasBoard;
  if (order.column !== null && !isShown(order.column)) order = { column: null, isDown: false };
  const rows = [...models];
  if (order.column !== null) {
    const of = (model) => cellOf(model, order.column), sign = order.isDown ? -1 : 1;
    rows.sort((one, other) => sign * (WORDY.includes(order.column) ? String(of(one)).localeCompare(String(of(other))) : (of(one) ?? -Infinity) - (of(other) ?? -Infinity) || 0));
  }
  for (const [index, cell] of [...byId("overview").querySelectorAll("th")].entries()) {
    cell.hidden = !isShown(COLUMNS[index]);
    cell.ariaSort = COLUMNS[index] !== order.column ? "none" : order.isDown ? "descending" : "ascending";
  }
  byId("overview").querySelector("tbody").replaceChildren(...rows.map((model) => {
    const go = make("button", { type: "button", className: "quiet" }, model.name);
    go.addEventListener("click", () => { openOnly(model.box); model.box.scrollIntoView(); model.box.focus(); });
    const cells = COLUMNS.slice(1).filter(isShown).map((column) => {
      const value = cellOf(model, column);
      return make("td", { className: nameOf(column) }, typeof value === "string" ? value : value === null ? words("none") : count.format(value));
    });
    if (model.facts.tone) cells.at(-2).classList.add(model.facts.tone);
    return make("tr", {}, make("td", {}, go), ...cells);
  }));
}

for (const column of COLUMNS) {
  const sort = make("button", { type: "button", className: "quiet" }, titleOf(column));
  sort.addEventListener("click", () => { order = { column, isDown: order.column === column ? !order.isDown : !WORDY.includes(column) }; overview(); });
  byId("overview").querySelector("thead").rows[0].append(make("th", { scope: "col", className: nameOf(column) }, sort));
}

byId("csv").addEventListener("click", () => {
  const quoted = (value) => `"${String(value ?? "").replace(/^[=+@-]/, "'$&").replaceAll('"', '""')}"`;
  const lines = [COLUMNS.map(titleOf), ...models.map((model) => COLUMNS.map((column) => cellOf(model, column)))];
  saved(lines.map((row) => row.map(quoted).join(",")).join("\n") + "\n", "arenas.csv", "", "text/csv").click();
});

byId("files").addEventListener("change", (event) => { take([...event.target.files]); event.target.value = ""; });
const drop = byId("drop");
for (const type of ["dragenter", "dragover"]) window.addEventListener(type, (event) => { event.preventDefault(); drop.classList.add("over"); });
for (const type of ["dragleave", "drop"]) window.addEventListener(type, (event) => { event.preventDefault(); drop.classList.remove("over"); });
window.addEventListener("drop", (event) => take([...event.dataTransfer.files]));

start().catch((error) => say(words("failed to start", { reason: error.message })));
if ("serviceWorker" in navigator) navigator.serviceWorker.register("sw.js").catch(() => {});
