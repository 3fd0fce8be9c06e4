"""Show how large the report page of large models is, and how soon it is there.

    python tools/bench_report.py [MODEL.tflite...]

Without arguments: the shared models with most operators that TFLM can allocate, and synthetic ones of 1,000 and 6,000
operators. The columns: seconds to simulate and write, bytes of the page (and gzipped), and in headless Chromium
milliseconds from the request of the page to its first paint with the picture, of redrawing everything, and of redrawing
while zoomed in. Machines are shared and noisy: the best of three is shown.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import frame
from bench_size import MODELS, chain
from release import chromium

from tflm_sim.device.configuration import Configuration
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model
from tflm_sim.report.page import write_page
from tflm_sim.report.take_picture import take_picture
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.targets.presets import preset

NAMES = ("NXP-eiq-model-zoo__dperson_shufflenetv2", "spotify-basic-pitch__icassp_2022_nmp")
LENGTHS = (1000, 6000)
_DRAW = """((app) => {
  const time = (action) => { const start = performance.now(); action(); return performance.now() - start; };
  const best = (action) => Math.min(...[1, 2, 3, 4, 5].map(() => time(action)));
  const all = best(() => app.paint());
  app.zoom(0.05, {u: 0.6});
  return [all, best(() => { app.pan(0.001, 0); app.paint(); })];
})(tflmSim)"""


def models(paths: Sequence[str]) -> Iterator[tuple[str, Model]]:
    """Yield what to draw, by name."""
    if paths:
        yield from ((Path(path).stem, load(path)) for path in paths)
        return
    found = [path for name in NAMES if (path := MODELS / f"{name}.tflite").exists()]
    for path in found or [sample_path(name) for name in SAMPLES[-3:]]:
        yield path.stem, load(path)
    for length in LENGTHS:
        yield f"{length:,} ADDs in a row", parse(chain(length))


def measure(driver: Any, path: Path) -> tuple[float, float, float]:
    """Return milliseconds: first paint, redraw of all, redraw zoomed in; the best of three."""
    rows = []
    for _ in range(3):
        driver.get(path.as_uri())
        while not (first := driver.execute_script("return document.documentElement.dataset.firstPaint")):
            time.sleep(0.02)
        rows.append((float(first), *driver.execute_script(f"return {_DRAW}")))
    first, everything, near = (min(column) for column in zip(*rows, strict=True))
    return first, everything, near


def main() -> int:
    """Print the table."""
    parser = frame.parser(__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL.tflite")
    chosen = parser.parse_args().models
    if missing := chromium.missing():
        print(f"not installed: {', '.join(missing)} (apt-get install chromium chromium-driver)", file=sys.stderr)
        return 1
    columns = {"model": "<30", "ops": ">11,", "write s": ">11.2f", "page bytes": ">11,", "gzip": ">11,"}
    table = frame.Table(columns | dict.fromkeys(("paint ms", "all ms", "zoom ms"), ">11.1f"))
    with tempfile.TemporaryDirectory() as folder:
        driver = chromium.start(Path(folder) / "profile")
        chromium.emulate(driver, width=1280, height=800, theme="light")
        try:
            for number, (name, model) in enumerate(models(chosen)):
                path = Path(folder) / f"{number}.html"
                start = time.perf_counter()
                with path.open("w", encoding="utf-8") as file:
                    write_page(file, [take_picture(model, Configuration(preset("cortex-m4")))])
                seconds = time.perf_counter() - start
                size, packed = path.stat().st_size, len(gzip.compress(path.read_bytes()))
                ops = sum(len(subgraph.operators) for subgraph in model.subgraphs)
                table.row(name[-30:], ops, seconds, size, packed, *measure(driver, path))
        finally:
            driver.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
