"""Take the pictures of the pages again: each light and dark, with two pixels for each of CSS.

python tools release screenshots [NAME ...]      writes docs/pictures/NAME-light.png, NAME-dark.png and shown.json
python tools release screenshots --check         says which pictures show other words or numbers than their page does

``shown.json`` has what each picture shows: its words and numbers, not its pixels. --check compares with that, and its
exit code is 1 where something differs. The page of ``serve`` needs Pyodide: from .venv, as tools/test.sh puts it there,
or with --allow-download from npm.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import frame
from release import chromium

from tflm_sim.device.configuration import Configuration
from tflm_sim.extensions.page.cli import make_server
from tflm_sim.extensions.page.planners import compiled_planners
from tflm_sim.extensions.page.site import PYODIDE_VERSION, fetch_pyodide, read_pyodide, site_files
from tflm_sim.extensions.shrink.shrink import shrink
from tflm_sim.model.download import downloads
from tflm_sim.model.load import load
from tflm_sim.report.page import write_page
from tflm_sim.report.picture import Picture
from tflm_sim.report.svg import write_svg
from tflm_sim.report.take_picture import take_picture
from tflm_sim.samples import sample_path
from tflm_sim.targets.presets import preset

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "pictures"
SHOWN = DOCS / "shown.json"
PYODIDE = ROOT / ".venv" / f"pyodide-{PYODIDE_VERSION}.tgz"
THEMES = ("light", "dark")
SCALE = 2


class Shot(NamedTuple):
    """One picture: the sample and targets, the window, and what is done in the page before it is taken.

    ``shrunk`` puts beside each picture what ``shrink`` makes of the sample.
    """

    sample: str
    targets: tuple[str, ...] = ("cortex-m4",)
    width: int = 1280
    height: int = 800
    script: str = ""
    shrunk: bool = False


CHOOSE = "tflmSim.choose(tflmSim.views[0], {kind: 'resident', index: 3});"
SEARCH = "document.getElementById('search').value = 'depthwise'; tflmSim.search('depthwise'); tflmSim.nextMatch();"
TIGHTEST = "tflmSim.toTightest(); tflmSim.zoom(0.4, {u: 0.2, b: 0});"
SHOTS = {
    "page": Shot("mobilenet_v1_025"),
    "page-block": Shot("mobilenet_v1_025", script=CHOOSE),
    "page-search": Shot("keyword_spotter", script=SEARCH),
    "page-tightest": Shot("streaming", script=TIGHTEST),
    "page-compare": Shot("residual", ("cortex-m4", "esp32-s3")),
    "page-shrink": Shot("mobilenet_v1_025", shrunk=True),
    "page-phone": Shot("mobilenet_v1_025", width=390, height=1250),
}
SERVE = "serve"
SERVED = ("residual", "streaming", "mobilenet_v1_025")
SETTINGS = "#board=nicla-sense-me&target=cortex-m4"
READY = "return document.documentElement.dataset.ready"
ANSWERED = "return document.getElementById('status').textContent.endsWith('answered.')"
NAMES = "return window.tflmSim ? tflmSim.panes.map(({canvas}) => canvas.labels.map(({name}) => name)) : []"


def pictures(shot: Shot) -> Iterator[Picture]:
    """Yield the pictures of a page."""
    model = load(sample_path(shot.sample))
    for name in shot.targets:
        yield take_picture(model, Configuration(preset(name)))
        if shot.shrunk:
            yield take_picture(shrink(model, name).model, Configuration(preset(name)), title=f"shrunk, on {name}")


def shown(driver: Any) -> list[str]:
    """Return what a page shows: the lines of its text, and the names in its pictures."""
    text = driver.execute_script("return document.body.innerText")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [*filter(None, lines), *(name for names in driver.execute_script(NAMES) for name in names)]


def report(driver: Any, name: str, folder: Path, theme: str) -> list[str]:
    """Open a report in the browser and return what it shows."""
    shot, path = SHOTS[name], folder / f"{name}.html"
    if not path.exists():
        with path.open("w", encoding="utf-8") as file:
            write_page(file, list(pictures(shot)))
    chromium.emulate(driver, width=shot.width, height=shot.height, theme=theme, scale=SCALE)
    driver.get(path.as_uri())
    chromium.drawn(driver)
    driver.execute_script(shot.script)
    time.sleep(0.3)
    return shown(driver)


def serve(driver: Any, address: str, theme: str) -> list[str]:
    """Open the page that sizes models, with three of them, and return what it shows."""
    chromium.emulate(driver, width=1100, height=940, theme=theme, scale=SCALE)
    driver.get("about:blank")
    driver.get(f"{address}{SETTINGS}")
    while not driver.execute_script(READY):
        time.sleep(0.1)
    driver.find_element("id", "files").send_keys("\n".join(str(sample_path(name)) for name in SERVED))
    while not driver.execute_script(ANSWERED):
        time.sleep(0.1)
    # Which version it is does not make a picture old.
    return [line for line in shown(driver) if not line.startswith("tflm_sim ")]


@contextmanager
def served(*, may_download: bool) -> Iterator[str]:
    """Serve the page that sizes models, and yield its address."""
    with downloads(allowed=may_download):
        pyodide = fetch_pyodide() if may_download else read_pyodide(PYODIDE)
    server = make_server(site_files(pyodide, compiled_planners()), 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()


def looks(
    driver: Any, names: Sequence[str], folder: Path, *, may_download: bool
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the name and the theme of each picture, while it is in the browser, and what it shows."""
    for name in names:
        if name == SERVE:
            with served(may_download=may_download) as address:
                for theme in THEMES:
                    yield name, theme, serve(driver, address, theme)
        else:
            for theme in THEMES:
                yield name, theme, report(driver, name, folder, theme)


def save(png: bytes, path: Path) -> None:
    """Write a picture with 256 colours, a third of its bytes; large areas keep theirs, which ``kmeans`` sees to."""
    from PIL import Image  # It comes with matplotlib.

    few = (
        Image.open(io.BytesIO(png))
        .convert("RGB")
        .quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
    )
    few.save(path, optimize=True)


def differences(now: Mapping[str, Sequence[str]], before: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a line for each picture that shows other words or numbers than its page does now."""
    lines = []
    for name, texts in now.items():
        gone = [text for text in before.get(name, ()) if text not in texts]
        new = [text for text in texts if text not in before.get(name, ())]
        if gone or new:
            lines.append(
                f"{name}: shows {gone[:3]}, the page {new[:3]}; take it again: tools release screenshots {name}"
            )
    return lines


def main() -> int:
    """Take them, or compare what they show."""
    parser = frame.parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join((*SHOTS, SERVE))}; default: all")
    parser.add_argument("--check", action="store_true", help="take none, and say which show other words or numbers")
    parser.add_argument("--allow-download", action="store_true", help="fetch Pyodide from npm")
    args = parser.parse_args()
    names = args.names or [*SHOTS, SERVE]
    if SERVE in names and not args.allow_download and not PYODIDE.exists():
        print(f"{SERVE} is left out: there is no {PYODIDE}; --allow-download fetches it", file=sys.stderr)
        names.remove(SERVE)
    if missing := chromium.missing():
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)
        return 3
    before = json.loads(SHOWN.read_text("utf-8")) if SHOWN.exists() else {}
    now: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        driver = chromium.start(Path(folder) / "profile")
        try:
            for name, theme, texts in looks(driver, names, Path(folder), may_download=args.allow_download):
                now[name] = texts
                if not args.check:
                    save(driver.get_screenshot_as_png(), DOCS / f"{name}-{theme}.png")
        finally:
            driver.quit()
    lines = differences(now, before)
    print("\n".join(lines) or "the pictures show what the pages do")
    if args.check:
        return 1 if lines else 0
    SHOWN.write_text(json.dumps({**before, **now}, indent=1, ensure_ascii=False) + "\n", "utf-8")
    with (DOCS / "residual.svg").open("w", encoding="utf-8") as file:
        write_svg(file, [take_picture(load(sample_path("residual")), Configuration(preset("cortex-m4")))])
    return 0


if __name__ == "__main__":
    sys.exit(main())
