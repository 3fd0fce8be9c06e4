"""``Configuration``: how a firmware sets TFLM up."""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.errors import UsageError
from tflm_sim.ops.op_model import OpModel
from tflm_sim.targets.target import Target

INTERPRETERS = ("plain", "recording")
PLANNER_NAMES = ("greedy", "linear")


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a firmware decides besides its target.

    Attributes:
        target: What it runs on.
        interpreter: "plain" or "recording" (whose allocator objects are larger).
        planner: "greedy", or "linear" (``preserve_all_tensors``).
        resource_variable_count: Room in ``MicroResourceVariables``; None for one per VAR_HANDLE name, and no table at
            all for a model without VAR_HANDLE.
        is_split: Whether persistent and non-persistent memory are two arenas.
        custom_ops: Kernels of one's own, by the name of the custom operator; the name of a builtin operator replaces
            the library's kernel.
        variable_arena_size: Bytes of an arena of its own, with an allocator of its own, in which the firmware makes the
            table of resource variables; None where it makes it in the model's arena.
        preserved: What if these tensors, (subgraph, tensor), had to live to the end of Invoke()? TFLM itself has no
            such setting for single tensors.

    Raises:
        UsageError: A value has no meaning, or TFLM has no such combination.
    """

    target: Target
    interpreter: str = "plain"
    planner: str = "greedy"
    resource_variable_count: int | None = None
    is_split: bool = False
    custom_ops: tuple[OpModel, ...] = ()
    variable_arena_size: int | None = None
    preserved: frozenset[tuple[int, int]] = frozenset()

    def __post_init__(self) -> None:
        if self.interpreter not in INTERPRETERS:
            raise UsageError(f"interpreter '{self.interpreter}' is not one of {', '.join(INTERPRETERS)}")
        if self.planner not in PLANNER_NAMES:
            raise UsageError(f"planner '{self.planner}' is not one of {', '.join(PLANNER_NAMES)}")
        if self.interpreter == "recording" and self.planner == "linear":
            raise UsageError("RecordingMicroAllocator::Create always makes a GreedyMemoryPlanner; interpreter: plain")
        if self.interpreter == "recording" and self.is_split:
            raise UsageError("RecordingMicroAllocator::Create takes one arena; interpreter: plain")
        if self.resource_variable_count is not None and self.resource_variable_count < 0:
            raise UsageError(f"{self.resource_variable_count} resource variables are fewer than none")
