// The page: settings, files in, answers out. Whatever a file says is text, never markup.
const SETTINGS = ["board", "target", "kernels", "interpreter"];
const DEFAULT_TARGET = "cortex-m4";
const byId = (id) => document.getElementById(id);
const count = new Intl.NumberFormat("en-US");
const bytes = (value) => `${count.format(value)} B`;

const worker = new Worker("worker.js", { type: "module" });
const waiting = new Map();
let calls = 0;
worker.onmessage = ({ data: { id, value, error, progress } }) => {
  const { resolve, reject, tell } = waiting.get(id);
  if (progress !== undefined) return tell(progress);
  waiting.delete(id);
  if (error === undefined) resolve(value); else reject(new Error(error));
};
worker.onerror = (event) => say(`Python could not be started: ${event.message ?? "see the console"}`);

/** Ask Python; calls are answered in order. Where it says how far it is, that is the status. */
function ask(call, ...args) {
  return new Promise((resolve, reject) => {
    waiting.set(++calls, { resolve, reject, tell: say });
    worker.postMessage({ id: calls, call, args });
  });
}

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

async function start() {
  const { version, targets, boards: known } = await askFor("choices");
  byId("target").append(...targets.map(({ name, description }) => make("option", { value: name, title: description }, name)));
  for (const board of known) {
    boards.set(board.name, board);
    byId("board").append(make("option", { value: board.name, title: board.description }, board.name));
  }
  byId("target").value = DEFAULT_TARGET;
  readLink();
  byId("version").textContent = `tflm_sim ${version}, memory planner in Python; models of thousands of operators take seconds.`;
  byId("settings").addEventListener("change", changed);
  window.addEventListener("hashchange", () => { readLink(); resizeAll(); });
  document.documentElement.dataset.ready = "yes";
  say("Ready.");
}

function settings() {
  const { target, kernels, interpreter } = Object.fromEntries(SETTINGS.map((name) => [name, byId(name).value.trim()]));
  return JSON.stringify({ target, kernels, interpreter });
}

/** Take over what a shared link says; unknown names are passed over. */
function readLink() {
  const link = new URLSearchParams(location.hash.slice(1));
  for (const name of SETTINGS) {
    const field = byId(name), value = link.get(name);
    if (value !== null && (field.tagName === "INPUT" || [...field.options].some((option) => option.value === value))) field.value = value;
  }
}

function link() {
  const chosen = SETTINGS.map((name) => [name, byId(name).value.trim()]).filter(([, value]) => value);
  return `${location.origin}${location.pathname}#${new URLSearchParams(chosen)}`;
}

function changed(event) {
  if (event.target.id === "board" && boards.has(event.target.value)) {
    byId("target").value = boards.get(event.target.value).target;
    byId("kernels").value = "";
  } else if (event.target.id === "target") {
    byId("board").value = "";
  }
  history.replaceState(null, "", link());
  resizeAll();
}

byId("share").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(link());
    say("The link is in the clipboard; it holds the settings and no model.");
  } catch {
    say(link());
  }
});

// -- files ----------------------------------------------------------------------------------------------------------

const models = [];

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
}

/** Show a model: on top, or below the one that it comes from. */
async function show(entry, origin) {
  const box = make("article", { className: "answer", tabIndex: -1 }, make("h2", {}, entry.name));
  if (origin) origin.after(box); else byId("answers").prepend(box);
  if (entry.error !== undefined) {
    box.append(make("p", { className: "error" }, entry.error));
    return;
  }
  const model = { ...entry, box, answer: make("div") };
  box.append(model.answer, buttons(model), model.more = make("div"));
  models.push(model);
  await resize(model);
}

async function resizeAll() {
  for (const model of models) {
    model.more.replaceChildren();
    await resize(model);
  }
  if (models.length) say(`Sized for ${byId("target").value}.`);
}

async function resize(model) {
  say(`Sizing ${model.name}…`);
  const [row] = await askFor("size", model.number, settings());
  model.answer.replaceChildren(...(row.error === undefined ? answer(row) : [make("p", { className: "error" }, row.error)]));
}

const library = ({ name, version, variant }) => name + (version && `@${version}`) + (variant && ` (${variant})`);

function answer(row) {
  if (row.smallest_arena_bytes === null) {
    return [make("p", { className: "error" }, `AllocateTensors() fails in an arena of any size: ${row.failure}`), make("pre", {}, row.log.join("\n"))];
  }
  const facts = [
    ["smallest arena", bytes(row.smallest_arena_bytes)], ["head", bytes(row.head_bytes)], ["tail", bytes(row.tail_bytes)],
    ["arena_used_bytes()", bytes(row.arena_used_bytes)], ["operators", count.format(row.operators.flat().length)],
    ["kernels", library(row.target.kernels)],
  ];
  const enough = row.smallest_arena_multiple_of_16;
  const number = make("p", { className: "number" }, bytes(enough), make("small", {}, ` on ${row.target.name}`));
  number.dataset.smallest = row.smallest_arena_bytes;
  return [
    number,
    make("pre", {}, `alignas(16) uint8_t tensor_arena[${enough}];`),
    make("dl", {}, ...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)))),
  ];
}

function buttons(model) {
  const button = (text, action) => {
    const element = make("button", { type: "button" }, text);
    element.addEventListener("click", async () => {
      element.disabled = true;
      try {
        say("Working…");
        model.more.replaceChildren(await action());
        say("Done.");
      } catch (error) {
        model.more.replaceChildren(make("p", { className: "error" }, error.message));
      } finally {
        element.disabled = false;
      }
    });
    return element;
  };
  return make("div", { className: "buttons" },
    button("Show every byte", () => picture(model)),
    button("Compare all boards", () => comparison(model)),
    button("Shrink", () => shrunk(model)));
}

async function shrunk(model) {
  if (!await ask("canShrink")) {
    throw new Error("This copy of the page was made without numpy, which shrinking needs; 'tflm-sim serve --allow-download' makes one with it. In a terminal: tflm-sim shrink model.tflite -o small.tflite");
  }
  const [row] = await askFor("shrink", model.number, settings());
  if (row.error !== undefined) throw new Error(row.error);
  const found = make("div", {}, make("pre", { tabIndex: 0 }, row.lines.join("\n")));
  const { smaller } = row;
  if (smaller !== null) {
    const file = new Blob([await ask("data", smaller.number)], { type: "application/octet-stream" });
    found.prepend(make("a", { className: "download", download: smaller.name, href: URL.createObjectURL(file) }, `Save ${smaller.name} (${bytes(smaller.bytes)})`));
    await show(smaller, model.box);
  }
  return found;
}

async function picture(model) {
  const html = await ask("page", model.number, settings());
  const frame = make("iframe", { title: `the arena of ${model.name}, byte by byte`, srcdoc: html });
  frame.setAttribute("sandbox", "allow-scripts");
  return frame;
}

async function comparison(model) {
  const rows = await askFor("compare", model.number);
  const head = ["board", "arena", "fits", "of RAM", "target", "what it is"];
  const cell = (text, className = "") => make("td", { className }, text);
  const line = (row) => make("tr", {},
    cell(row.board), make("td", { className: "amount", title: row.error }, row.multiple_of_16 === null ? "none" : bytes(row.multiple_of_16)),
    row.fits === null ? cell("?") : row.fits ? cell("yes", "fits") : cell("no", "not"),
    cell(row.limit === null || row.multiple_of_16 === null ? "not known" : `${(100 * row.multiple_of_16 / row.limit).toFixed(1)} %`, "amount"),
    cell(row.target), cell(boards.get(row.board).description));
  const table = make("table", {},
    make("caption", { className: "skip" }, "the model on every board"),
    make("thead", {}, make("tr", {}, ...head.map((text, index) => make("th", { scope: "col", className: index === 1 || index === 3 ? "amount" : "" }, text)))),
    make("tbody", {}, ...rows.map((row) => row.board ? line(row) : make("tr", {}, make("td", { colSpan: 6, className: "error" }, row.error)))));
  return make("div", { className: "scroll", tabIndex: 0 }, table);
}

byId("files").addEventListener("change", (event) => { take([...event.target.files]); event.target.value = ""; });
const drop = byId("drop");
drop.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); byId("files").click(); } });
for (const type of ["dragenter", "dragover"]) window.addEventListener(type, (event) => { event.preventDefault(); drop.classList.add("over"); });
for (const type of ["dragleave", "drop"]) window.addEventListener(type, (event) => { event.preventDefault(); drop.classList.remove("over"); });
window.addEventListener("drop", (event) => take([...event.dataTransfer.files]));

start().catch((error) => say(`Python could not be started: ${error.message}`));
if ("serviceWorker" in navigator) navigator.serviceWorker.register("sw.js").catch(() => {});
