"""Simulate TensorFlow Lite Micro's memory arena: what a model needs on a named target, to the byte, and why.

    >>> from tflm_sim import load, preset, smallest_arena
    >>> smallest_arena(load("model.tflite"), preset("cortex-m4")).size

Names are imported on first use, so that importing the package stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "ModelError": "tflm_sim.errors",
    "SimulatedFailure": "tflm_sim.errors",
    "Simulation": "tflm_sim.allocator.simulate",
    "SmallestArena": "tflm_sim.allocator.smallest_arena",
    "Target": "tflm_sim.target.target",
    "TflmSimError": "tflm_sim.errors",
    "UnsupportedOpError": "tflm_sim.errors",
    "UsageError": "tflm_sim.errors",
    "load": "tflm_sim.model.load",
    "parse": "tflm_sim.model.load",
    "preset": "tflm_sim.target.presets:target",
    "sample_path": "tflm_sim.samples",
    "simulate": "tflm_sim.allocator.simulate",
    "smallest_arena": "tflm_sim.allocator.smallest_arena",
}

__all__ = [
    "ModelError",
    "SimulatedFailure",
    "Simulation",
    "SmallestArena",
    "Target",
    "TflmSimError",
    "UnsupportedOpError",
    "UsageError",
    "__version__",
    "load",
    "parse",
    "preset",
    "sample_path",
    "simulate",
    "smallest_arena",
]

if TYPE_CHECKING:
    from tflm_sim.allocator.simulate import Simulation, simulate
    from tflm_sim.allocator.smallest_arena import SmallestArena, smallest_arena
    from tflm_sim.errors import ModelError, SimulatedFailure, TflmSimError, UnsupportedOpError, UsageError
    from tflm_sim.model.load import load, parse
    from tflm_sim.samples import sample_path
    from tflm_sim.target.presets import target as preset
    from tflm_sim.target.target import Target


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tflm_sim' has no attribute '{name}'")
    module, _, attribute = _HOMES[name].partition(":")
    value = getattr(import_module(module), attribute or name)
    globals()[name] = value
    return value
