"""The smallest arena of every model in two pip wheels of TFLM: that of 2026-10-08, and that of 2026-10-23 (8f6596d)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.device.configuration import Configuration, configure
from tflm_sim.errors import TflmSimError
from tflm_sim.model.load import load
from tflm_sim.targets.presets import preset

SHARED = Path(__file__).parents[3] / "shared"
WHEELS = SHARED / "upstream_moved"
MODELS = SHARED / "models"
CRASHES = "google-ai-edge-ai-edge-quantizer__single_resize_bilinear"
"""The wheels crash in an arena that is too small for it, instead of refusing it; it works from 1,016 bytes on."""


def needs(where: Configuration) -> dict[str, int | None]:
    """Return the smallest arena of every model in bytes; None where it does not allocate."""
    found: dict[str, int | None] = {}
    for path in sorted(MODELS.glob("*.tflite")):
        try:
            found[path.stem] = smallest_arena(load(path), where).size
        except TflmSimError:
            found[path.stem] = None
    return found


@pytest.mark.shared("models")
@pytest.mark.shared("upstream_moved")
@pytest.mark.parametrize(
    ("recording", "runtime"),
    [("wheel-20261008", "2026-10-08"), ("wheel-20261023", None), ("wheel-20261023", "2026-10-23")],
)
def test_every_model_needs_what_it_needed_in_the_wheel(recording: str, runtime: str | None) -> None:
    recorded = json.loads((WHEELS / f"{recording}.json").read_text())
    assert needs(configure(preset("x86_64-pip", runtime=runtime))) == recorded | {CRASHES: 1016}
    assert (len(recorded), sum(size is not None for size in recorded.values())) == (283, 223)


@pytest.mark.shared("models")
@pytest.mark.parametrize(
    ("machine", "models", "growing", "least", "most", "too_small"),
    [("cortex-m4", 223, 83, 8, 108, 51), ("riscv32", 224, 84, 8, 80, 64), ("i386", 224, 84, 8, 80, 63)],
)
def test_models_with_fully_connected_layers_need_more_on_32_bits_since_2026_10_12(
    machine: str, models: int, growing: int, least: int, most: int, too_small: int
) -> None:
    """``too_small``: how many multiples of 16 that fit TFLM of 2026-08-20 are too small for that of 2026-10-23."""
    before, since = needs(configure(machine)), needs(configure(preset(machine, runtime="8f6596d")))
    pairs = [(old, new) for old, new in zip(before.values(), since.values(), strict=True) if old and new]
    assert [name for name, size in before.items() if size is None] == [
        name for name, size in since.items() if size is None
    ]
    grown = [new - old for old, new in pairs if new != old]
    assert (len(pairs), len(grown), min(grown), max(grown)) == (models, growing, least, most)
    assert sum(old + -old % 16 < new for old, new in pairs) == too_small
