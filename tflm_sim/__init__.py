"""Simulate TensorFlow Lite Micro's memory arena: what a model needs on a named target, to the byte, and why.

    >>> from tflm_sim import load, smallest_arena
    >>> smallest_arena(load("model.tflite"), "cortex-m4").size

Names are imported on first use, so that importing the package stays light. ``__init__.pyi`` is the same table for
editors and type checkers.
"""

from __future__ import annotations

__version__ = "0.2.0"

_HOMES = {
    "Allocation": "tflm_sim.checks.kernel_probe",
    "ArenaObjective": "tflm_sim.sweeps.objective",
    "BoardSession": "tflm_sim.board.session:Session",
    "Buffer": "tflm_sim.planners.buffers",
    "BufferId": "tflm_sim.invocation.findings",
    "BufferLife": "tflm_sim.checks.lifetimes",
    "Comparison": "tflm_sim.planners.compare",
    "Configuration": "tflm_sim.device.configuration",
    "Constraint": "tflm_sim.arena.needs",
    "ExecutedAllocation": "tflm_sim.emulation.execution",
    "ExecutedArena": "tflm_sim.emulation.execution",
    "ExecutedEvent": "tflm_sim.emulation.execution",
    "ExecutedInvoke": "tflm_sim.emulation.execution",
    "ExecutedOperator": "tflm_sim.emulation.execution",
    "ExecutedStore": "tflm_sim.emulation.execution",
    "Execution": "tflm_sim.emulation.execution",
    "Finding": "tflm_sim.invocation.findings",
    "FindingCode": "tflm_sim.invocation.findings",
    "FreeTempBuffer": "tflm_sim.ops.requests",
    "FreeTempTensor": "tflm_sim.ops.requests",
    "Invocation": "tflm_sim.invocation.invoke",
    "InvokeProblem": "tflm_sim.answers.invoke_problem",
    "KernelProbe": "tflm_sim.checks.kernel_probe",
    "Lifetimes": "tflm_sim.checks.lifetimes",
    "LiteAnswer": "tflm_sim.lite.answer:Answer",
    "LiteSettings": "tflm_sim.lite.answer",
    "LiteSummary": "tflm_sim.lite.summary:Summary",
    "Model": "tflm_sim.model.types",
    "ModelBuilder": "tflm_sim.model.build",
    "ModelError": "tflm_sim.errors",
    "Node": "tflm_sim.ops.op_model",
    "OpEvent": "tflm_sim.arena.events",
    "OpModel": "tflm_sim.ops.op_model",
    "Outcome": "tflm_sim.planners.compare",
    "Peak": "tflm_sim.answers.peak",
    "Persist": "tflm_sim.arena.events",
    "Persistent": "tflm_sim.ops.requests",
    "Picture": "tflm_sim.report.picture",
    "Plan": "tflm_sim.planners.buffers",
    "PlanFault": "tflm_sim.planners.validate",
    "PlannedBuffer": "tflm_sim.device.run",
    "Problem": "tflm_sim.planners.problem",
    "RecordedAllocation": "tflm_sim.device.recording",
    "ReplayOutcome": "tflm_sim.board.replay",
    "ReplayScript": "tflm_sim.board.replay",
    "ReplayStep": "tflm_sim.board.replay",
    "Resize": "tflm_sim.arena.events",
    "Sanitizer": "tflm_sim.checks.sanitizer",
    "Scratch": "tflm_sim.ops.requests",
    "ScratchBuffer": "tflm_sim.ops.requests",
    "SerialPort": "tflm_sim.board.transport",
    "Sharing": "tflm_sim.checks.lifetimes",
    "Shrunk": "tflm_sim.shrinking.shrunk",
    "SimulatedFailure": "tflm_sim.errors",
    "Simulation": "tflm_sim.answers.simulation",
    "Sizer": "tflm_sim.answers.sizing",
    "Sizing": "tflm_sim.answers.sizing",
    "SmallestArena": "tflm_sim.answers.smallest_arena",
    "SplitArenaSizes": "tflm_sim.answers.smallest_arena",
    "Stage": "tflm_sim.arena.stages",
    "Steps": "tflm_sim.ops.requests",
    "TailLedger": "tflm_sim.answers.ledger",
    "Target": "tflm_sim.targets.target",
    "Temp": "tflm_sim.arena.events",
    "TempBuffer": "tflm_sim.ops.requests",
    "TempFree": "tflm_sim.arena.events",
    "TempReset": "tflm_sim.arena.events",
    "TempTensor": "tflm_sim.ops.requests",
    "TensorSpec": "tflm_sim.checks.kernel_probe",
    "TensorType": "tflm_sim.model.types",
    "TflmSimError": "tflm_sim.errors",
    "UnsupportedOpError": "tflm_sim.errors",
    "UsageError": "tflm_sim.errors",
    "VerificationFailed": "tflm_sim.shrinking.verify",
    "Verified": "tflm_sim.shrinking.verify",
    "arena_objective": "tflm_sim.sweeps.objective",
    "compare_planners": "tflm_sim.planners.compare:compare",
    "double_batch": "tflm_sim.lite.answer",
    "draw_arena": "tflm_sim.report.drawings",
    "draw_live_bytes": "tflm_sim.report.drawings",
    "draw_planners": "tflm_sim.report.drawings",
    "draw_tail": "tflm_sim.report.drawings",
    "draw_two_sets": "tflm_sim.report.drawings",
    "encode": "tflm_sim.model.load",
    "execute": "tflm_sim.emulation.execute",
    "head_problem": "tflm_sim.answers.head_problem",
    "invoke": "tflm_sim.invocation.invoke",
    "lifetimes": "tflm_sim.checks.lifetimes",
    "lite_allocated": "tflm_sim.lite.answer:allocated",
    "lite_summaries": "tflm_sim.lite.summary:summaries",
    "load": "tflm_sim.model.load",
    "open_port": "tflm_sim.board.transport",
    "parse": "tflm_sim.model.load",
    "preset": "tflm_sim.targets.presets",
    "replay_script": "tflm_sim.checks.device_replay",
    "run_script": "tflm_sim.board.replay",
    "sample_path": "tflm_sim.samples",
    "sanitize": "tflm_sim.checks.sanitizer",
    "shrink": "tflm_sim.shrinking.shrink",
    "shrunk_lines": "tflm_sim.report.shrunk",
    "simulate": "tflm_sim.answers.simulation",
    "smallest_arena": "tflm_sim.answers.smallest_arena",
    "sweep": "tflm_sim.sweeps.sweep",
    "take_picture": "tflm_sim.report.take_picture",
    "trace_line": "tflm_sim.report.trace",
    "verify": "tflm_sim.shrinking.verify",
    "with_offline_plan": "tflm_sim.answers.offline_plan",
}
"""Public name -> the module that defines it, and ":NAME" where it is called otherwise there."""

_NUMPY = frozenset({"VerificationFailed", "Verified", "shrink", "verify"})
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
        from tflm_sim.extras import command_for

        raise ImportError(f"tflm_sim.{name} needs numpy: {command_for('numpy')}", name="numpy") from missing
    globals()[name] = value
    return value
