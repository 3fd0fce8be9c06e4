"""The stages of AllocateTensors() and Invoke(): the name of each in traces, its words for people, its part of the tail.

``Phase`` and ``OpEvent`` begin a stage; all later events belong to it until the next stage begins.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self

SETUP, STRUCTS, PLANNING, INPUTS_OUTPUTS = "start", "structs", "plan", "inputs, outputs"
OBJECTS, GRAPH, KERNEL, IO_TENSORS = "allocator objects", "subgraph structs", "kernel data", "input and output tensors"


class Stage(StrEnum):
    """A phase of the allocator, or a step of an operator; the value is its name in traces.

    Attributes:
        words: The stage's name for people.
        doing: What TFLM does in the stage, in words such as "planning the memory".
        group: The group of the persistent memory that is taken in it, "" where none is.
        part: The part of AllocateTensors() that it belongs to, "" for Invoke().
    """

    words: str
    doing: str
    group: str
    part: str

    def __new__(cls, name: str, part: str = "", group: str = "", doing: str = "", words: str = "") -> Self:
        stage = str.__new__(cls, name)
        stage._value_ = name
        stage.words, stage.group, stage.part = words or name.replace("_", " "), group, part
        stage.doing = doing or stage.words
        return stage

    START = "start"
    CREATE = "create", SETUP, OBJECTS, "setting up the interpreter"
    RESOURCE_VARIABLES = "resource_variables", SETUP, "resource variable table", "creating resource variables"
    BUILTIN_DATA_ALLOCATOR = "builtin_data_allocator", SETUP, OBJECTS
    INIT_SCRATCH = "init_scratch", SETUP, OBJECTS
    SUBGRAPH_ALLOCATIONS = "subgraph_allocations", STRUCTS, GRAPH, "starting the model"
    EVAL_TENSORS = "eval_tensors", STRUCTS, "eval tensors", "describing the tensors"
    NODE_REGS = "node_regs", STRUCTS, "nodes and registrations", "listing the operators"
    OP_PARSE = "op_parse", "parse", "builtin data", "reading the operators' options", "parse"
    OP_INIT = "op_init", "init", KERNEL, "", "init"
    OP_PREPARE = "op_prepare", "prepare", KERNEL, "preparing the operators", "prepare"
    OP_PREPARED = "op_prepared", "", KERNEL, "", "prepared"
    SCRATCH_HANDLES = "scratch_handles", PLANNING, "scratch buffer handles"
    PLAN = "plan", PLANNING, "", "planning the memory"
    VARIABLES = "variables", PLANNING, "variable tensors", "placing the variables"
    PLANNER_ARENA = "planner_arena", PLANNING
    INPUT_TENSORS = "input_tensors", INPUTS_OUTPUTS, IO_TENSORS, "making the input tensors"
    INPUT_TENSOR = "input_tensor", INPUTS_OUTPUTS, IO_TENSORS
    OUTPUT_TENSORS = "output_tensors", INPUTS_OUTPUTS, IO_TENSORS, "making the output tensors"
    OUTPUT_TENSOR = "output_tensor", INPUTS_OUTPUTS, IO_TENSORS
    RESET = "reset", INPUTS_OUTPUTS
    DONE = "done", INPUTS_OUTPUTS
    OP_INVOKE = "op_invoke", "", "", "", "invoke"
    INVOKE = "invoke", "", "", "running the model"


PARTS = tuple(dict.fromkeys(stage.part for stage in Stage if stage.part))
"""The parts of AllocateTensors(), in order."""
GROUPS = frozenset(stage.group for stage in Stage if stage.group)
"""The groups of persistent memory."""
KERNEL_STEPS = frozenset({Stage.OP_INIT, Stage.OP_PREPARE, Stage.OP_PREPARED, Stage.OP_INVOKE})
"""The stages in which kernels run."""
FIRST_STAGES = frozenset({Stage.CREATE, Stage.RESOURCE_VARIABLES, Stage.BUILTIN_DATA_ALLOCATOR})
"""The stages that can be the first of a model on the arena."""
