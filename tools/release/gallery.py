"""Render the gallery: twelve situations that a report can be in, each light, dark, and in grey; to be looked at.

python tools release gallery FOLDER [NAME ...]

``tests/browser/test_gallery.py`` holds what stands in each.
"""

from __future__ import annotations

import struct
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import frame
from release import chromium

from tflm_sim.device.configuration import Configuration
from tflm_sim.extensions.lite.answer import LiteSettings, allocated
from tflm_sim.extensions.lite.planned_picture import lite_pictures
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.report.page import write_page
from tflm_sim.report.picture import Picture
from tflm_sim.report.take_picture import take_picture
from tflm_sim.targets.presets import preset

I8, U8, F32 = TensorType.INT8, TensorType.UINT8, TensorType.FLOAT32
M4 = Configuration(preset("cortex-m4"))
OPERATORS = 300


class Situation(NamedTuple):
    """A page of the gallery: its pictures, its window in CSS pixels, and whether it is printed on A4."""

    pictures: Callable[[], Sequence[Picture]]
    width: int = 1280
    height: int = 800
    is_paper: bool = False


def _of(model: str | Model, *targets: str, arena_size: int | None = None) -> list[Picture]:
    loaded = load(f"sample:{model}") if isinstance(model, str) else model
    configurations = [Configuration(preset(name)) for name in targets] or [M4]
    return [take_picture(loaded, each, arena_size=arena_size) for each in configurations]


def never_fits() -> Model:
    """Return a model that no arena is large enough for: TFLM has no kernel for its operator."""
    b = ModelBuilder()
    source, result = (b.tensor((1, 4), I8, scale=0.5) for _ in range(2))
    b.operator("LSTM", [source], [result])
    return parse(b.build(inputs=[source], outputs=[result]))


def vela() -> Model:
    """Return a model as Vela lays it out: one operator, whose scratch begins where the head does."""
    b = ModelBuilder()
    commands, weights = b.tensor((64,), U8, data=bytes(64)), b.tensor((512,), U8, data=bytes(512))
    scratch = b.tensor((65536,), U8, name="scratch")
    source = b.tensor((1, 4096), I8, scale=0.5, name="image")
    result = b.tensor((1, 2), I8, scale=0.5, name="scores")
    b.custom("ethos-u", [commands, weights, scratch, scratch, source], [result], options=b"\1\4\1")
    b.metadata("OfflineMemoryAllocation", struct.pack("<8i", 1, 0, 5, -1, -1, 0, 0, 4096))
    return parse(b.build(inputs=[source], outputs=[result]))


def loop() -> Model:
    """Return a model with a WHILE: its condition and its body are subgraphs of their own."""
    b = ModelBuilder()
    body, condition = b.add_subgraph("body"), b.add_subgraph("condition")
    inside, negated = (body.tensor((1, 256), F32, name=name) for name in ("carried", "negated"))
    body.operator("NEG", [inside], [negated])
    body.inputs, body.outputs = [inside], [negated]
    compared, less = (
        condition.tensor((1, 256), F32, name="carried"),
        condition.tensor((1, 256), TensorType.BOOL, name="less"),
    )
    zero = condition.tensor((1,), F32, data=[0.0], name="zero")
    condition.operator("LESS", [compared, zero], [less])
    condition.inputs, condition.outputs = [compared], [less]
    source, result = (b.tensor((1, 256), F32, name=name) for name in ("start", "end"))
    options = {"cond_subgraph_index": condition.index, "body_subgraph_index": body.index}
    b.operator("WHILE", [source], [result], options=options)
    return parse(b.build(inputs=[source], outputs=[result]))


def long_chain() -> Model:
    """Return a model of ``OPERATORS`` operators, in a chain."""
    b = ModelBuilder()

    def tensor(size: int, name: str) -> int:
        return b.tensor((1, size), I8, scale=0.5, zero_point=0, name=name)

    first = last = tensor(512, "image")
    for number in range(OPERATORS):
        result = tensor(512, f"layer_{number}")
        b.operator("ADD" if number % 3 else "RELU", [last, last] if number % 3 else [last], [result])
        last = result
    return parse(b.build(inputs=[first], outputs=[last]))


def _two_arenas() -> list[Picture]:
    return [take_picture(load("sample:mobilenet_v1_025"), replace(M4, split_arenas=True))]


def _litert() -> list[Picture]:
    settings = LiteSettings()
    return lite_pictures("mobilenet_v1_025", allocated(load("sample:mobilenet_v1_025"), settings), settings)


def _vela() -> list[Picture]:
    target = replace(preset("cortex-m55", kernels="reference"), ethos_u=True)
    return [take_picture(vela(), Configuration(target))]


GALLERY = {
    "small": Situation(lambda: _of("sine")),
    "large": Situation(lambda: _of("mobilenet_v1_025")),
    "fails": Situation(lambda: _of("mobilenet_v1_025", arena_size=60 * 1024)),
    "never-fits": Situation(lambda: _of(never_fits())),
    "vela": Situation(_vela),
    "litert": Situation(_litert),
    "two-arenas": Situation(_two_arenas),
    "while": Situation(lambda: _of(loop())),
    "300-operators": Situation(lambda: _of(long_chain())),
    "three": Situation(lambda: _of("residual", "cortex-m4", "esp32-s3", "cortex-m55")),
    "phone": Situation(lambda: _of("residual"), width=390, height=1250),
    "a4": Situation(lambda: _of("residual", "cortex-m4", "esp32-s3"), is_paper=True),
}


LOOKS = (("light", "light", "none"), ("dark", "dark", "none"), ("grey", "light", "achromatopsia"))
"""The name of each look, the theme, and what the reader sees."""


@cache
def pictures(name: str) -> Sequence[Picture]:
    """Return the pictures of a situation, made once."""
    return GALLERY[name].pictures()


def show(driver: Any, name: str, folder: Path, theme: str, *, scale: int = 1) -> None:
    """Open a situation in the browser and wait until it is drawn."""
    situation = GALLERY[name]
    path = folder / f"{name}.html"
    with path.open("w", encoding="utf-8") as file:
        write_page(file, pictures(name))
    chromium.emulate(driver, width=situation.width, height=situation.height, theme=theme, scale=scale)
    driver.get(path.as_uri())
    chromium.drawn(driver)
    if situation.is_paper:
        driver.execute_script("window.dispatchEvent(new Event('beforeprint'))")
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})


def main() -> int:
    """Write a PNG of each, light, dark and grey."""
    parser = frame.parser(__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(GALLERY)}; default: all")
    args = parser.parse_args()
    if missing := chromium.missing():
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)
        return 3
    args.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        driver = chromium.start(Path(temporary) / "profile")
        try:
            for name in args.names or GALLERY:
                for look, theme, sees in LOOKS:
                    show(driver, name, Path(temporary), theme)
                    driver.execute_cdp_cmd("Emulation.setEmulatedVisionDeficiency", {"type": sees})
                    time.sleep(0.2)
                    driver.save_screenshot(str(args.folder / f"{name}-{look}.png"))
                    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
                print(name, flush=True)
        finally:
            driver.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
