"""The stages of AllocateTensors(), and of Invoke(): each one's name in traces, words for people, and group of the tail.

``Phase`` and ``OpEvent`` begin a stage; whatever follows in the event stream belongs to it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self

OBJECTS, GRAPH, KERNEL, ENDS = "allocator objects", "subgraph structs", "kernel data", "input and output tensors"


class Stage(StrEnum):
    """A phase of the allocator, or a step of an operator; the value is its name in traces.

    Attributes:
        words: What people call it.
        group: What persistent memory that is taken in it is, "" where none is.
    """

    words: str
    group: str

    def __new__(cls, name: str, group: str = "", words: str = "") -> Self:
        """Make a row of the table."""
        stage = str.__new__(cls, name)
        stage._value_ = name
        stage.words, stage.group = words or name.replace("_", " "), group
        return stage

    START = "start"
    CREATE = "create", OBJECTS
    RESOURCE_VARIABLES = "resource_variables", "resource variable table"
    BUILTIN_DATA_ALLOCATOR = "builtin_data_allocator", OBJECTS
    INIT_SCRATCH = "init_scratch", OBJECTS
    SUBGRAPH_ALLOCATIONS = "subgraph_allocations", GRAPH
    EVAL_TENSORS = "eval_tensors", "eval tensors"
    NODE_REGS = "node_regs", "nodes and registrations"
    OP_PARSE = "op_parse", "builtin data", "parse"
    OP_INIT = "op_init", KERNEL, "init"
    OP_PREPARE = "op_prepare", KERNEL, "prepare"
    OP_PREPARED = "op_prepared", KERNEL, "prepared"
    SCRATCH_HANDLES = "scratch_handles", "scratch buffer handles"
    PLAN = "plan"
    VARIABLES = "variables", "variable tensors"
    PLANNER_ARENA = "planner_arena"
    INPUT_TENSORS = "input_tensors", ENDS
    INPUT_TENSOR = "input_tensor", ENDS
    OUTPUT_TENSORS = "output_tensors", ENDS
    OUTPUT_TENSOR = "output_tensor", ENDS
    RESET = "reset"
    DONE = "done"
    OP_INVOKE = "op_invoke", "", "invoke"


GROUPS = frozenset(stage.group for stage in Stage if stage.group)
"""What the tail's bytes are."""
KERNEL_STEPS = frozenset({Stage.OP_INIT, Stage.OP_PREPARE, Stage.OP_PREPARED, Stage.OP_INVOKE})
"""The stages in which kernels run."""
BEGINNINGS = frozenset({Stage.CREATE, Stage.RESOURCE_VARIABLES, Stage.BUILTIN_DATA_ALLOCATOR})
"""The stages with which a model on the arena begins."""
