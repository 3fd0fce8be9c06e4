"""``tflm_sim.keras``: the callback that stops a training whose model cannot fit.

    >>> from tflm_sim.keras import ArenaBudget
    >>> model.fit(x, y, callbacks=[ArenaBudget("64KiB", "cortex-m4")])

What it has comes from an extension; ``registry.py`` says from which.
"""

from __future__ import annotations

from typing import Any

from tflm_sim.registry import public_module


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(public_module("keras"), name)


def __dir__() -> list[str]:
    return dir(public_module("keras"))
