// The page: settings, files in, answers out. Whatever a file says is text, never markup.
const SETTINGS = ["board", "library", "target", "kernels", "interpreter"];
const DEFAULT_TARGET = "cortex-m4";
const byId = (id) => document.getElementById(id);
const count = new Intl.NumberFormat("en-US");
const bytes = (value) => `${count.format(value)} B`;

/** Python in a thread of its own: ``ask`` a call, ``askFor`` its JSON; ``end`` it in the middle of a call. */
class Python {
  constructor() {
    this.waiting = new Map();
    this.calls = 0;
    this.worker = new Worker("worker.js", { type: "module" });
    this.worker.onmessage = ({ data: { id, value, error, progress } }) => {
      const { resolve, reject, tell } = this.waiting.get(id);
      if (progress !== undefined) return tell(progress);
      this.waiting.delete(id);
      if (error === undefined) resolve(value); else reject(new Error(error));
    };
    this.worker.onerror = (event) => this.end(`Python could not be started: ${event.message ?? "see the console"}`);
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
  const { version, planner_core: core, targets, boards: known, libraries } = await askFor("choices");
  byId("target").append(...targets.map(({ name, description }) => make("option", { value: name, title: description }, name)));
  for (const board of known) {
    boards.set(board.name, board);
    byId("board").append(make("option", { value: board.name, title: board.description }, board.name));
  }
  byId("known").append(...libraries.map(({ name, description }) => make("option", { value: name }, description)));
  readLink(location.hash.length > 1 ? location.hash.slice(1) : remembered());
  byId("version").textContent = `tflm_sim ${version}, memory planner in ${core}${core === "C" ? "." : "; models of thousands of operators take seconds."}`;
  byId("settings").addEventListener("change", changed);
  window.addEventListener("hashchange", () => { readLink(location.hash.slice(1)); resizeAll(); });
  document.documentElement.dataset.ready = "yes";
  say("Ready.");
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

byId("share").addEventListener("click", () => copy(link(), "The link is in the clipboard; it holds the settings and no model."));

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

async function take(files) {
  for (const file of files) {
    say(`Reading ${file.name}…`);
    await new Promise((painted) => setTimeout(painted));
    let found;
    try {
      found = await askFor("add", file.name, new Uint8Array(await file.arrayBuffer()));
    } catch (error) {
      found = [{ name: file.name, error: error.message }];
    }
    for (const entry of found) await show(entry);
  }
  say(`${count.format(byId("answers").childElementCount)} answered.`);
  await sayWhereTheyFit();
}

byId("sample").addEventListener("click", async () => {
  for (const entry of await askFor("sample")) await show(entry);
  say("A MobileNet that comes with the package is answered.");
  await sayWhereTheyFit();
});

/** Show a model: on top, or below the one that it comes from. */
async function show(entry, origin) {
  const box = make("article", { className: "answer", tabIndex: -1 }, make("h2", {}, entry.name));
  if (origin) origin.after(box); else byId("answers").prepend(box);
  const model = { ...entry, box, answer: make("div"), work: make("div"), more: make("div"), panel: null, facts: {} };
  const isProgram = entry.firmware !== undefined, isModel = entry.number !== undefined;
  box.append(model.answer, isModel ? buttons(model) : make("div", { className: "buttons" }, removal(model)), model.work, model.more);
  (isProgram ? programs : models).push(model);
  await (isProgram ? judge(model) : resize(model));
}

/** Say whether the models of a program fit its arenas. */
async function judge(program) {
  say(`Reading ${program.name}…`);
  const [row] = await askFor("firmware", program.firmware, settings());
  const verdict = (text) => make("p", { className: /^no[,:]/.test(text) ? "verdict not" : "verdict" }, text);
  const open = program.answer.querySelector("details")?.open ?? false;
  program.answer.replaceChildren(...(row.error === undefined
    ? [...row.verdicts.map(verdict), make("details", { open }, make("summary", {}, "What the file says"), make("pre", { tabIndex: 0 }, row.facts.join("\n")))]
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
  else if (models.length + programs.length) say(`Sized for ${named.join(", ") || DEFAULT_TARGET}.`);
  await sayWhereTheyFit();
}

async function resize(model) {
  say(`Sizing ${model.name}…`);
  const [row, verdict] = model.error === undefined ? await askFor("size", model.number, settings()) : [model];
  model.facts = row.error === undefined ? { ...row, verdict } : { failure: row.error };
  model.answer.replaceChildren(...(row.error === undefined ? answer(row, verdict) : [failed({ message: row.error })]));
  overview();
}

let asked = 0;

/** Name the smallest boards that a model fits under the "no" of its own, one model after another until all are sized anew. */
async function sayWhereTheyFit() {
  const mine = ++asked;
  for (const model of models.filter(({ facts }) => facts.verdict?.answer === "no")) {
    const no = model.answer.querySelector(".verdict");
    if (no.nextElementSibling.className === "elsewhere") continue;
    const rows = await askFor("compare", model.number);
    if (mine !== asked) return;
    no.after(make("p", { className: "elsewhere" }, whereItFits(rows)));
  }
}

function whereItFits(rows) {
  const fits = rows.filter((row) => row.fits).sort((one, other) => (one.limit - other.limit) || (one.board < other.board ? -1 : 1));
  const smallest = fits.slice(0, 5).map((row) => row.board).join(", ");
  return smallest ? `With the newest TFLM it fits ${fits.length} of ${rows.length} boards; the smallest: ${smallest}.` : "With the newest TFLM it fits none of the boards.";
}

const failed = ({ message }) => make("p", { className: "error" }, message);
const library = ({ name, version, variant }) => name + (version && `@${version}`) + (variant && ` (${variant})`);

function stuck({ status, subgraph, operator, op, reason }) {
  const ends = status === "error" ? "Invoke() fails" : "what Invoke() computes is undefined";
  return `allocates, but ${ends}: #${operator} ${op}${subgraph ? ` of subgraph ${subgraph}` : ""}: ${reason}`;
}

function answer(row, verdict) {
  if (row.smallest_arena_bytes === null) {
    const log = row.log.join("\n").trim();
    return [failed({ message: `AllocateTensors() fails in an arena of any size: ${row.failure}` }), ...(log ? [make("pre", {}, log)] : [])];
  }
  const { runtime, kernels, name } = row.target;
  const facts = [
    ["smallest arena", bytes(row.smallest_arena_bytes)], ["head", bytes(row.head_bytes)], ["tail", bytes(row.tail_bytes)],
    ["arena_used_bytes()", bytes(row.arena_used_bytes)], ["operators", count.format(row.operators.flat().length)],
    ["kernels", library(kernels)], ["TFLM", runtime.snapshot],
  ];
  const enough = row.smallest_arena_multiple_of_16;
  const newer = row.assumed?.includes("kernels") && row.target.newer_kernels ? `; with ${kernels.name} ${row.target.newer_kernels} it may need more or less` : "";
  const assumed = row.assumed?.length ? [make("small", { className: "assumed" }, ` (not named, so assumed: ${row.assumed.join(", ")}${newer})`)] : [];
  const number = make("p", { className: "number" }, bytes(enough), make("small", {}, ` on ${name}`), ...assumed);
  number.dataset.smallest = row.smallest_arena_bytes;
  const line = `alignas(16) uint8_t tensor_arena[${enough}];`;
  const toCopy = make("button", { type: "button", className: "quiet" }, "Copy");
  toCopy.addEventListener("click", () => copy(line, "The line is in the clipboard."));
  return [
    number,
    ...(row.invoke_problem && !verdict?.text.includes(stuck(row.invoke_problem)) ? [make("p", { className: "error" }, stuck(row.invoke_problem))] : []),
    ...(verdict ? [make("p", { className: verdict.answer === "no" ? "verdict not" : "verdict" }, verdict.text)] : []),
    make("div", { className: "line" }, make("pre", {}, line), toCopy),
    make("dl", {}, ...facts.map(([title, value]) => make("div", {}, make("dt", {}, title), make("dd", {}, value)))),
  ];
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
        say("Working…");
        place.replaceChildren(await action());
        say("Done.");
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
    button("Show every byte", () => picture(model), model.more),
    button("Compare all boards", () => comparison(model), model.more),
    button("Shrink", () => shrunk(model), model.work),
    removal(model));
}

function removal(model) {
  const remove = make("button", { type: "button", className: "quiet" }, "Remove");
  remove.addEventListener("click", () => {
    [models, programs] = [models, programs].map((open) => open.filter((other) => other !== model));
    model.second?.end("Removed.");
    const next = model.box.nextElementSibling ?? byId("drop").querySelector("input");
    model.box.remove();
    overview();
    next.focus();
  });
  return remove;
}

/** Shrink in a Python of its own, so that other models answer meanwhile and it can be ended. */
async function shrunk(model) {
  if (!await ask("canShrink")) {
    throw new Error("This copy of the page was made without numpy, which shrinking needs; 'tflm-sim serve --allow-download' makes one with it. In a terminal: tflm-sim shrink model.tflite -o small.tflite");
  }
  const other = model.second = new Python();
  const bar = make("p", { className: "progress" }, "Starting a second Python…");
  const cancel = make("button", { type: "button" }, "Cancel");
  cancel.addEventListener("click", () => other.end("Cancelled."));
  model.work.replaceChildren(make("div", { className: "working" }, bar, cancel));
  try {
    const data = await ask("data", model.number);
    const [opened] = JSON.parse(await other.ask("add", [model.file ?? model.name, data]));
    if (opened.error !== undefined) throw new Error(opened.error);
    bar.textContent = "Looking for rewritings…";
    const [row] = JSON.parse(await other.ask("shrink", [opened.number, settings()], (text) => { bar.textContent = `${text}…`; }));
    if (row.error !== undefined) throw new Error(row.error);
    const found = make("div", {}, make("pre", { tabIndex: 0 }, row.lines.join("\n")));
    if (row.smaller !== null) {
      const small = await other.ask("data", [row.smaller.number]);
      const [entry] = await askFor("add", row.smaller.name, small);
      found.prepend(saved(small, entry.name, `Save ${entry.name} (${bytes(entry.bytes)})`, "application/octet-stream"));
      await show(entry, model.box);
      sayWhereTheyFit();
    }
    return found;
  } finally {
    other.end("It is done.");
  }
}

const saved = (data, name, text, type) => make("a", { className: "download", download: name, href: URL.createObjectURL(new Blob([data], { type })) }, text);

async function picture(model) {
  const html = await ask("page", model.number, settings());
  const frame = make("iframe", { title: `the arena of ${model.name}, byte by byte`, srcdoc: html });
  frame.setAttribute("sandbox", "allow-scripts");
  const svg = await ask("svg", model.number, settings());
  const toSave = make("div", { className: "buttons" },
    saved(svg, `${model.name}.svg`, "Save the picture (SVG)", "image/svg+xml"),
    saved(html, `${model.name}.html`, "Save this report (HTML)", "text/html"));
  return make("div", {}, toSave, frame);
}

/** A report on a narrow screen is as high as it says, else it would scroll inside of the page. */
window.addEventListener("message", ({ source, data }) => {
  const frame = [...document.querySelectorAll("iframe")].find(({ contentWindow }) => contentWindow === source);
  if (frame && Number.isFinite(data?.height)) frame.style.height = data.height > 0 ? `${Math.min(data.height, 1e5) + 2}px` : "";
});

async function comparison(model) {
  const rows = await askFor("compare", model.number);
  const head = ["board", "arena", "fits", "of RAM", "of flash", "target", "what it is"];
  const amounts = [1, 3, 4], wide = [4, 5, 6];
  const name = (index) => [amounts.includes(index) ? "amount" : "", wide.includes(index) ? "wide" : "", index === head.length - 1 ? "words" : ""].join(" ").trim();
  const share = (part, whole) => (part === null || !whole ? "not known" : `${(100 * part / whole).toFixed(1)} %`);
  const why = (row) => (row.multiple_of_16 === null ? `no: ${row.status}` : row.multiple_of_16 <= (row.limit ?? 0) ? "no: flash" : "no: RAM");
  const line = (row) => {
    const { flash, description } = boards.get(row.board);
    const cells = [
      row.board, row.multiple_of_16 === null ? "none" : bytes(row.multiple_of_16),
      row.fits === null ? "not known" : row.fits ? "if free" : why(row),
      share(row.multiple_of_16, row.limit), share(row.model_bytes, flash), row.target, description,
    ].map((text, index) => make("td", { className: name(index) }, text));
    cells[1].title = row.error;
    cells[2].className = row.fits === null ? "" : row.fits ? "fits" : "not";
    return make("tr", {}, ...cells);
  };
  const table = make("table", {},
    make("caption", { className: "skip" }, "the model on every board"),
    make("thead", {}, make("tr", {}, ...head.map((text, index) => make("th", { scope: "col", className: name(index) }, text)))),
    make("tbody", {}, ...rows.map((row) => row.board ? line(row) : make("tr", {}, make("td", { colSpan: 7, className: "error" }, row.error)))));
  return make("div", {}, make("p", { className: "verdict" }, whereItFits(rows)), make("div", { className: "scroll", tabIndex: 0 }, table));
}

// -- many models ----------------------------------------------------------------------------------------------------

/** Of a model that fails in any arena, head and tail are what it came to: it has none. */
const sized = (name) => ({ facts }) => (facts.smallest_arena_bytes ?? null) === null ? null : facts[name];
const COLUMNS = [
  ["model", (model) => model.name],
  ["arena", sized("smallest_arena_multiple_of_16")],
  ["head", sized("head_bytes")],
  ["tail", sized("tail_bytes")],
  ["operators", ({ facts }) => facts.operators?.flat().length ?? null],
  ["left on the board", ({ facts }) => facts.verdict?.left ?? null],
];
const WIDE = [2, 3, 4], LEFT = 5;
const nameOf = (index) => `${index ? "amount" : ""} ${WIDE.includes(index) ? "wide" : ""}`.trim();
let order = { column: null, isDown: false };

/** Show a table of the models, when there are several, in the order that was asked for. */
function overview() {
  byId("overview").hidden = models.length < 2;
  const shown = values().board ? COLUMNS : COLUMNS.slice(0, LEFT);
  if (order.column === LEFT && shown.length === LEFT) order = { column: null, isDown: false };
  const rows = [...models];
  if (order.column !== null) {
    const of = COLUMNS[order.column][1], sign = order.isDown ? -1 : 1;
    rows.sort((one, other) => sign * (order.column === 0 ? of(one).localeCompare(of(other)) : (of(one) ?? -Infinity) - (of(other) ?? -Infinity) || 0));
  }
  for (const [index, cell] of [...byId("overview").querySelectorAll("th")].entries()) {
    cell.hidden = index >= shown.length;
    cell.ariaSort = index !== order.column ? "none" : order.isDown ? "descending" : "ascending";
  }
  byId("overview").querySelector("tbody").replaceChildren(...rows.map((model) => {
    const go = make("button", { type: "button", className: "quiet" }, model.name);
    go.addEventListener("click", () => { model.box.scrollIntoView(); model.box.focus(); });
    const cells = shown.slice(1).map(([, of], index) => make("td", { className: nameOf(index + 1) }, of(model) === null ? "none" : count.format(of(model))));
    if (model.facts.verdict?.answer === "no") cells.at(-1).classList.add("not");
    return make("tr", {}, make("td", {}, go), ...cells);
  }));
}

for (const [index, [title]] of COLUMNS.entries()) {
  const sort = make("button", { type: "button", className: "quiet" }, title);
  sort.addEventListener("click", () => { order = { column: index, isDown: order.column === index ? !order.isDown : index > 0 }; overview(); });
  byId("overview").querySelector("thead tr").append(make("th", { scope: "col", className: nameOf(index) }, sort));
}

byId("csv").addEventListener("click", () => {
  const quoted = (value) => `"${String(value ?? "").replace(/^[=+@-]/, "'$&").replaceAll('"', '""')}"`;
  const lines = [COLUMNS.map(([title]) => title), ...models.map((model) => COLUMNS.map(([, of]) => of(model)))];
  saved(lines.map((row) => row.map(quoted).join(",")).join("\n") + "\n", "arenas.csv", "", "text/csv").click();
});

byId("files").addEventListener("change", (event) => { take([...event.target.files]); event.target.value = ""; });
const drop = byId("drop");
for (const type of ["dragenter", "dragover"]) window.addEventListener(type, (event) => { event.preventDefault(); drop.classList.add("over"); });
for (const type of ["dragleave", "drop"]) window.addEventListener(type, (event) => { event.preventDefault(); drop.classList.remove("over"); });
window.addEventListener("drop", (event) => take([...event.dataTransfer.files]));

start().catch((error) => say(`Python could not be started: ${error.message}`));
if ("serviceWorker" in navigator) navigator.serviceWorker.register("sw.js").catch(() => {});
