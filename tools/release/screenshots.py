"""Take the screenshots of docs/pictures again: both themes, a phone, a comparison, a search, and the still pictures.

python tools release screenshots [NAME ...]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import frame
from release import chromium

from tflm_sim.device.configuration import Configuration
from tflm_sim.extensions.shrink.shrink import shrink
from tflm_sim.model.load import load
from tflm_sim.report.page import write_page
from tflm_sim.report.picture import Picture
from tflm_sim.report.svg import write_svg
from tflm_sim.report.take_picture import take_picture
from tflm_sim.samples import sample_path
from tflm_sim.targets.presets import preset

DOCS = Path(__file__).resolve().parents[2] / "docs" / "pictures"


class Shot(NamedTuple):
    """One screenshot: its file, the sample and targets, the window, and what is done in the page before it.

    ``shrunk`` puts beside each picture what ``shrink`` makes of the sample.
    """

    name: str
    sample: str
    targets: tuple[str, ...]
    width: int
    height: int
    theme: str
    script: str = ""
    shrunk: bool = False


CHOOSE = "tflmSim.choose(tflmSim.views[0], {kind: 'resident', index: 3});"
SEARCH = "document.getElementById('search').value = 'depthwise'; tflmSim.search('depthwise'); tflmSim.nextMatch();"
TIGHTEST = "tflmSim.toTightest(); tflmSim.zoom(0.4, {u: 0.2, b: 0});"
SHOTS = (
    Shot("page-light", "mobilenet_v1_025", ("cortex-m4",), 1280, 800, "light"),
    Shot("page-dark", "mobilenet_v1_025", ("cortex-m4",), 1280, 800, "dark", CHOOSE),
    Shot("page-search", "keyword_spotter", ("cortex-m4",), 1280, 800, "light", SEARCH),
    Shot("page-tightest", "streaming", ("cortex-m4",), 1280, 800, "dark", TIGHTEST),
    Shot("page-compare", "residual", ("cortex-m4", "esp32-s3"), 1280, 800, "light"),
    Shot("page-shrink", "mobilenet_v1_025", ("cortex-m4",), 1280, 800, "light", shrunk=True),
    Shot("page-phone-light", "mobilenet_v1_025", ("cortex-m4",), 390, 1250, "light"),
    Shot("page-phone-dark", "mobilenet_v1_025", ("cortex-m4",), 390, 1250, "dark"),
)


def pictures(shot: Shot) -> Iterator[Picture]:
    """Yield the pictures of a page."""
    model = load(sample_path(shot.sample))
    for name in shot.targets:
        yield take_picture(model, Configuration(preset(name)))
        if shot.shrunk:
            yield take_picture(shrink(model, name).model, Configuration(preset(name)), title=f"shrunk, on {name}")


def take(driver: Any, shot: Shot, folder: Path) -> None:
    """Write one screenshot."""
    path = folder / f"{shot.name}.html"
    with path.open("w", encoding="utf-8") as file:
        write_page(file, list(pictures(shot)))
    chromium.emulate(driver, width=shot.width, height=shot.height, theme=shot.theme)
    driver.get(path.as_uri())
    while not driver.execute_script("return document.documentElement.dataset.firstPaint"):
        time.sleep(0.05)
    driver.execute_script(shot.script)
    time.sleep(0.3)
    driver.save_screenshot(str(DOCS / f"{shot.name}.png"))


def main() -> int:
    """Write all of them."""
    parser = frame.parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    names = parser.parse_args().names
    if missing := chromium.missing():
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)
        return 1
    DOCS.mkdir(parents=True, exist_ok=True)
    wanted = [shot for shot in SHOTS if not names or shot.name in names]
    with tempfile.TemporaryDirectory() as folder:
        driver = chromium.start(Path(folder) / "profile")
        try:
            for shot in wanted:
                take(driver, shot, Path(folder))
        finally:
            driver.quit()
    with (DOCS / "residual.svg").open("w", encoding="utf-8") as file:
        write_svg(file, [take_picture(load(sample_path("residual")), Configuration(preset("cortex-m4")))])
    return 0


if __name__ == "__main__":
    sys.exit(main())
