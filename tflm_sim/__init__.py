"""Simulate TensorFlow Lite Micro's memory arena: what a model needs on a named target, to the byte, and why.

    >>> from tflm_sim import load, smallest_arena
    >>> smallest_arena(load("model.tflite"), "cortex-m4").size

Names are imported on first use, so that importing the package stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_HOMES = {
    "Allocation": "tflm_sim.checks.kernel_probe",
    "Configuration": "tflm_sim.device.configuration",
    "Finding": "tflm_sim.invocation.findings",
    "FindingCode": "tflm_sim.invocation.findings",
    "FreeTempBuffer": "tflm_sim.ops.requests",
    "FreeTempTensor": "tflm_sim.ops.requests",
    "KernelProbe": "tflm_sim.checks.kernel_probe",
    "ModelError": "tflm_sim.errors",
    "Node": "tflm_sim.ops.op_model",
    "OpModel": "tflm_sim.ops.op_model",
    "Persistent": "tflm_sim.ops.requests",
    "Sanitizer": "tflm_sim.checks.sanitizer",
    "Scratch": "tflm_sim.ops.requests",
    "ScratchBuffer": "tflm_sim.ops.requests",
    "SimulatedFailure": "tflm_sim.errors",
    "Simulation": "tflm_sim.answers.simulation",
    "SmallestArena": "tflm_sim.answers.smallest_arena",
    "Steps": "tflm_sim.ops.requests",
    "Target": "tflm_sim.targets.target",
    "TempBuffer": "tflm_sim.ops.requests",
    "TempTensor": "tflm_sim.ops.requests",
    "TensorSpec": "tflm_sim.checks.kernel_probe",
    "TensorType": "tflm_sim.model.types",
    "TflmSimError": "tflm_sim.errors",
    "UnsupportedOpError": "tflm_sim.errors",
    "UsageError": "tflm_sim.errors",
    "invoke": "tflm_sim.invocation.invoke",
    "lifetimes": "tflm_sim.checks.lifetimes",
    "load": "tflm_sim.model.load",
    "parse": "tflm_sim.model.load",
    "preset": "tflm_sim.targets.presets:target",
    "arena_objective": "tflm_sim.sweeps.objective",
    "sample_path": "tflm_sim.samples",
    "sweep": "tflm_sim.sweeps.sweep",
    "sanitize": "tflm_sim.checks.sanitize",
    "shrink": "tflm_sim.shrinking.shrink",
    "simulate": "tflm_sim.answers.simulation",
    "smallest_arena": "tflm_sim.answers.smallest_arena",
}

__all__ = [
    "Allocation",
    "Configuration",
    "Finding",
    "FindingCode",
    "FreeTempBuffer",
    "FreeTempTensor",
    "KernelProbe",
    "ModelError",
    "Node",
    "OpModel",
    "Persistent",
    "Sanitizer",
    "Scratch",
    "ScratchBuffer",
    "SimulatedFailure",
    "Simulation",
    "SmallestArena",
    "Steps",
    "Target",
    "TempBuffer",
    "TempTensor",
    "TensorSpec",
    "TensorType",
    "TflmSimError",
    "UnsupportedOpError",
    "UsageError",
    "__version__",
    "arena_objective",
    "invoke",
    "lifetimes",
    "load",
    "parse",
    "preset",
    "sample_path",
    "sanitize",
    "shrink",
    "simulate",
    "smallest_arena",
    "sweep",
]

if TYPE_CHECKING:
    from tflm_sim.answers.simulation import Simulation, simulate
    from tflm_sim.answers.smallest_arena import SmallestArena, smallest_arena
    from tflm_sim.checks.kernel_probe import Allocation, KernelProbe, TensorSpec
    from tflm_sim.checks.lifetimes import lifetimes
    from tflm_sim.checks.sanitize import sanitize
    from tflm_sim.checks.sanitizer import Sanitizer
    from tflm_sim.device.configuration import Configuration
    from tflm_sim.errors import ModelError, SimulatedFailure, TflmSimError, UnsupportedOpError, UsageError
    from tflm_sim.invocation.findings import Finding, FindingCode
    from tflm_sim.invocation.invoke import invoke
    from tflm_sim.model.load import load, parse
    from tflm_sim.model.types import TensorType
    from tflm_sim.ops.op_model import Node, OpModel
    from tflm_sim.ops.requests import (
        FreeTempBuffer,
        FreeTempTensor,
        Persistent,
        Scratch,
        ScratchBuffer,
        Steps,
        TempBuffer,
        TempTensor,
    )
    from tflm_sim.samples import sample_path
    from tflm_sim.shrinking.shrink import shrink
    from tflm_sim.sweeps.objective import arena_objective
    from tflm_sim.sweeps.sweep import sweep
    from tflm_sim.targets.presets import target as preset
    from tflm_sim.targets.target import Target


def __dir__() -> list[str]:
    return sorted(globals().keys() | set(__all__))


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tflm_sim' has no attribute '{name}'")
    module, _, attribute = _HOMES[name].partition(":")
    value = getattr(import_module(module), attribute or name)
    globals()[name] = value
    return value
