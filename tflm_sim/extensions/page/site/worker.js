// Python, away from the page's own thread. Messages in: {id, call, args}; out: {id, value}, {id, error} or {id, progress}.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const NUMPY = "@NUMPY@";
const ready = start();

async function start() {
  // How far the start is: by far the longest is Python itself.
  const tell = (started) => self.postMessage({ started });
  tell(0.05);
  const python = await loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href });
  const archive = await (await fetch(new URL("./tflm_sim.zip", import.meta.url))).arrayBuffer();
  tell(0.7);
  python.unpackArchive(archive, "zip");
  let numpy = NUMPY && await (await fetch(new URL(NUMPY, import.meta.url))).arrayBuffer();
  const bridge = python.pyimport("tflm_sim.extensions.page.bridge");
  const models = bridge.OpenModels();
  tell(1);
  // From here on nothing can be sent: neither by the package nor by what a file might talk it into.
  for (const name of ["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "WebTransport", "importScripts"]) {
    Object.defineProperty(self, name, { value: undefined, configurable: false, writable: false });
  }
  return {
    choices: () => bridge.choices(),
    add: (name, data) => models.add(name, python.toPy(data)),
    size: (number, settings) => models.size(number, settings),
    firmware: (number, settings) => models.firmware(number, settings),
    compare: (number) => models.compare(number),
    sample: () => models.sample(),
    svg: (number, settings) => models.svg(number, settings),
    page: (number, settings) => models.page(number, settings),
    canShrink: () => NUMPY !== null,
    data: (number) => models.data(number).toJs(),
    shrink: (number, settings, progress) => {
      if (numpy) python.unpackArchive(numpy, "wheel");
      numpy = null;
      return models.shrink(number, settings, progress);
    },
  };
}

self.onmessage = async ({ data: { id, call, args } }) => {
  try {
    const progress = (text) => self.postMessage({ id, progress: text });
    self.postMessage({ id, value: (await ready)[call](...args, progress) });
  } catch (error) {
    // Python's last line says what happened; the rest is where.
    const lines = String(error.message ?? error).trim().split("\n");
    self.postMessage({ id, error: lines[lines.length - 1].replace(/^tflm_sim[\w.]+: /, "") });
  }
};
