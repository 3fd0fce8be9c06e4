"""The pages of the documentation that an assistant can read."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


@cache
def pages() -> dict[str, str]:
    """Return what each page says, by its file's name."""
    lines = files("tflm_sim.extensions.mcp").joinpath("pages.txt").read_text("utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines if not line.startswith("#"))


def page(name: str) -> Traversable:
    """Return a page: in a wheel it lies in a folder beside this module, in a checkout in ``docs``."""
    packed = files("tflm_sim.extensions.mcp").joinpath("pages", name)
    return packed if packed.is_file() else Path(__file__).parents[3] / "docs" / name
