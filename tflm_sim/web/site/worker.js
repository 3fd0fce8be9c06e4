// Python, away from the page's own thread. Messages in: {id, call, args}; out: {id, value} or {id, error}.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const ready = start();

async function start() {
  const python = await loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href });
  const archive = await (await fetch(new URL("./tflm_sim.zip", import.meta.url))).arrayBuffer();
  python.unpackArchive(archive, "zip");
  const bridge = python.pyimport("tflm_sim.web.bridge");
  const session = bridge.Session();
  // From here on nothing can be sent: neither by the package nor by what a file might talk it into.
  for (const name of ["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "WebTransport", "importScripts"]) {
    Object.defineProperty(self, name, { value: undefined, configurable: false, writable: false });
  }
  return {
    choices: () => bridge.choices(),
    add: (name, data) => session.add(name, python.toPy(data)),
    size: (number, settings) => session.size(number, settings),
    compare: (number) => session.compare(number),
    page: (number, settings) => session.page(number, settings),
  };
}

self.onmessage = async ({ data: { id, call, args } }) => {
  try {
    self.postMessage({ id, value: (await ready)[call](...args) });
  } catch (error) {
    // Python's last line says what happened; the rest is where.
    const lines = String(error.message ?? error).trim().split("\n");
    self.postMessage({ id, error: lines[lines.length - 1] });
  }
};
