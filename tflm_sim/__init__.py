"""Simulate TensorFlow Lite Micro's memory arena: what a model needs on a named target, to the byte, and why.

    >>> from tflm_sim import load, smallest_arena
    >>> smallest_arena(load("model.tflite"), "cortex-m4").size

Names are imported on first use, so that importing the package stays light. ``__init__.pyi`` is the same table for
editors and type checkers.
"""

from __future__ import annotations

from tflm_sim.registry import homes, public_names

__version__ = "0.3.0"

_NAMES = {
    "answers.head_problem": "compare_planners head_problem",
    "answers.invoke_problem": "InvokeProblem",
    "answers.ledger": "TailLedger",
    "answers.offline_plan": "with_offline_plan",
    "answers.peak": "Peak",
    "answers.simulation": "Simulation simulate",
    "answers.sizing": "Sizer Sizing",
    "answers.smallest_arena": "SmallestArena SplitArenaSizes smallest_arena",
    "arena.events": "OpEvent Persist Resize Temp TempFree TempReset",
    "arena.needs": "Constraint",
    "arena.stages": "Stage",
    "checks.check": "check",
    "checks.doubts": "Doubt",
    "checks.kernel_probe": "Allocation KernelProbe TensorSpec",
    "checks.lifetime_answers": "BufferLife Lifetimes Sharing lifetimes",
    "checks.sanitizer": "Sanitizer sanitize",
    "checks.verdict": "Verdict",
    "device.configuration": "Configuration",
    "device.recording": "RecordedAllocation",
    "device.run": "PlannedBuffer",
    "errors": "ModelError SimulatedFailure TflmSimError UnsupportedOpError UsageError",
    "invocation.findings": "BufferId Finding FindingCode",
    "invocation.invoke": "Invocation invoke",
    "model.build": "ModelBuilder",
    "model.load": "encode load parse",
    "model.types": "Model TensorType",
    "ops.op_model": "Node OpModel",
    "ops.requests": "FreeTempBuffer FreeTempTensor Persistent Scratch ScratchBuffer Steps TempBuffer TempTensor",
    "planners.buffers": "Buffer Plan",
    "planners.compare": "Comparison Outcome",
    "planners.problem": "Problem",
    "planners.validate": "PlanFault",
    "report.drawings": "draw_arena draw_live_bytes draw_planners draw_tail draw_two_sets",
    "report.picture": "Picture",
    "report.take_picture": "take_picture",
    "report.trace_rows": "trace_line",
    "samples": "sample_path",
    "targets.presets": "preset",
    "targets.target": "Target",
}
"""Module -> the public names of the core that it defines ("run_shrink=shrink" would be called shrink there).

Those of the extensions stand in ``registry.py``."""

_HOMES = homes("tflm_sim", _NAMES) | public_names()
"""Public name -> the module that defines it, and ":NAME" where it is called otherwise there."""

_NUMPY = frozenset({"NotStreamed", "VerificationFailed", "Verified", "shrink", "stream", "verify"})
"""Names that need numpy."""

__all__ = sorted([*_HOMES, "__version__"])


def __dir__() -> list[str]:
    """Return the names that can be had here, so that ``help()`` and completion show what works and nothing else."""
    from importlib.util import find_spec

    absent = _NUMPY if find_spec("numpy") is None else frozenset()
    return sorted({name for name in globals() if name.startswith("__")} | set(__all__) - absent)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'tflm_sim' has no attribute '{name}'")
    from importlib import import_module

    module, _, attribute = _HOMES[name].partition(":")
    try:
        value = getattr(import_module(module), attribute or name)
    except ModuleNotFoundError as missing:
        if missing.name != "numpy":
            raise
        from tflm_sim.extras import install_command

        raise ImportError(f"tflm_sim.{name} needs numpy: {install_command('numpy')}", name="numpy") from missing
    globals()[name] = value
    return value
