"""Invariant: whatever a model says about an operator, AllocateTensors succeeds, is refused, or halts; nothing else.

Shapes are negative, huge and of any rank, constants too short, options another operator's or bytes that are no
FlexBuffer, quantization absurd. Each operator runs on the arena, and alone, where any request may be turned down.
"""

from __future__ import annotations

import os
import struct
from dataclasses import replace
from itertools import islice

import pytest
from fuzz.smallest import hold
from hypothesis import given, settings
from hypothesis import strategies as st

from tflm_sim.answers.simulation import simulate
from tflm_sim.answers.sizing import Sizer
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import PrepareError
from tflm_sim.graph.eval_tensor import TYPE_SIZES
from tflm_sim.graph.outline import outlines
from tflm_sim.graph.resource_variables import ResourceVariables
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.schema import BUILTIN_OPERATORS, option_fields, options_of_operator
from tflm_sim.model.types import Model, Quantization, Tensor, TensorType
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.reference import REFERENCE
from tflm_sim.ops.reference.custom import ETHOS_U
from tflm_sim.ops.requests import (
    KernelTensor,
    Persistent,
    Scratch,
    SetShape,
    Steps,
    TempBuffer,
    TempTensor,
    TempTensors,
)
from tflm_sim.targets.presets import preset
from tflm_sim.targets.target import Target

flexbuffers = pytest.importorskip("flatbuffers.flexbuffers")

MODELS = {**REFERENCE, "ethos-u": ETHOS_U}
MOST_REQUESTS = 300
TARGETS = [preset("cortex-m4", kernels="reference"), preset("x86_64-compression"), preset("i386")]
SIZER = Sizer()
LIKELY = (TensorType.INT8, TensorType.FLOAT32, TensorType.INT32, TensorType.INT16, TensorType.BOOL, TensorType.INT64)

# How many inputs the operators take that do not take one.
_INPUTS = (
    (2, "ADD SUB MUL DIV MAXIMUM MINIMUM EQUAL LESS FLOOR_DIV FLOOR_MOD SQUARED_DIFFERENCE PRELU CUMSUM EXPAND_DIMS"),
    (2, "MEAN SUM REDUCE_MAX REDUCE_MIN REDUCE_ALL ARG_MAX TRANSPOSE PAD MIRROR_PAD RESHAPE FILL GATHER GATHER_ND"),
    (2, "REVERSE_V2 BROADCAST_TO BROADCAST_ARGS BATCH_MATMUL RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR EMBEDDING_LOOKUP"),
    (2, "ASSIGN_VARIABLE CONCATENATION PACK SPLIT"),
    (3, "CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED SLICE SELECT_V2 PADV2 SPLIT_V SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND"),
    (3, "TRANSPOSE_CONV DYNAMIC_UPDATE_SLICE TFLite_Detection_PostProcess"),
    (4, "STRIDED_SLICE"),
    (5, "SVDF"),
    (24, "UNIDIRECTIONAL_SEQUENCE_LSTM"),
)
INPUTS = {op: count for count, ops in _INPUTS for op in ops.split()}

rarely = st.integers(0, 11).map(lambda number: number == 11)
dimensions = st.sampled_from([1, 1, 2, 2, 3, 4, 0, -1, 7, 1 << 16, 2**31 - 1, -(2**31)])
shapes = st.none() | st.lists(dimensions, max_size=9)
types = st.sampled_from(LIKELY) | st.sampled_from(list(TensorType)) | st.integers(-3, 30)
scale_values = st.sampled_from([0.5, 1.0, 1.0 / 256, 0.0, -1.0, float("inf"), float("nan"), 1e-40])
scales = st.lists(scale_values, max_size=3)
zero_points = st.lists(st.sampled_from([0, 0, 3, -128, 128, 2**31, -(2**63)]), max_size=3)
int32_vectors = st.lists(st.integers(-1, 3), min_size=1, max_size=8)
option_values = st.sampled_from([0, 1, 1, 2, 3, 5, -1, 100, 2**31 - 1, -(2**31)])

FLEX_NAMES = ["T", "fft_length", "frame_size", "frame_step", "prefill", "num_channels", "delay_length", "shift"]
FLEX_NAMES += ["max_detections", "num_classes"]
flex_values = option_values | st.booleans() | st.floats(width=32) | st.text(max_size=3) | st.none()
flex_maps = st.dictionaries(st.sampled_from(FLEX_NAMES), flex_values, max_size=10)
custom_options = st.none() | st.binary(max_size=30) | flex_maps.map(lambda values: bytes(flexbuffers.Dumps(values)))

small_shapes = st.lists(st.sampled_from([1, 1, 2, 3, 4]), max_size=4)
plain_tensors = st.fixed_dictionaries(
    {"shape": small_shapes | st.just([1, 4, 4, 2]), "type": st.sampled_from(LIKELY)},
    optional={"scale": st.just([0.5]), "zero_point": st.just([0])},
)
hostile_changes = st.fixed_dictionaries(
    {},
    optional={
        "shape": shapes,
        "type": types,
        "data": st.binary(max_size=40),
        "scale": scales,
        "zero_point": zero_points,
        "quantized_dimension": st.integers(-1, 4),
        "is_variable": st.booleans(),
    },
)


@st.composite
def vectors(draw: st.DrawFn) -> dict[str, object]:
    """Return a constant int32 tensor, such as axes, paddings or dims."""
    values = draw(int32_vectors)
    shape = draw(st.sampled_from([[len(values)], [len(values) // 2, 2], []]))
    return {"shape": shape, "type": TensorType.INT32, "data": struct.pack(f"<{len(values)}i", *values)}


@st.composite
def operands(draw: st.DrawFn, count: int) -> list[dict[str, object]]:
    """Return ``count`` tensors: like the first one, or vectors, some with hostile changes."""
    first = draw(plain_tensors)
    made = [draw(st.just(first) | plain_tensors | vectors()) for _ in range(count)]
    for change in draw(st.lists(st.tuples(st.integers(0, count - 1), hostile_changes), max_size=2)):
        made[change[0]] = made[change[0]] | change[1]
    return made


@st.composite
def options(draw: st.DrawFn, op: str) -> dict[str, object]:
    values: dict[str, object] = {}
    for field in option_fields(options_of_operator(op)):
        if field.is_vector and field.type == "ubyte":
            values[field.name] = draw(st.none() | st.binary(max_size=10))
        elif field.is_vector:
            values[field.name] = tuple(draw(st.lists(st.integers(-2, 3), max_size=10)))
        elif field.type in ("bool", "byte", "ubyte") or field.enum:
            values[field.name] = draw(st.integers(0, 7))
        elif field.type in ("int", "long"):
            values[field.name] = draw(option_values)
        elif field.type == "float":
            values[field.name] = draw(st.floats(width=32))
        elif field.type == "string":
            values[field.name] = draw(st.none() | st.text(max_size=3))
    return values


@st.composite
def nodes(draw: st.DrawFn, op: str) -> bytes:
    """Return a file with one operator, mostly with as many operands as it should have."""
    builder = ModelBuilder()
    input_count = draw(st.integers(0, 12)) if draw(rarely) else INPUTS.get(op, 1)
    output_count = draw(st.integers(0, 3)) if draw(rarely) else 1
    inputs: list[int] | None = [builder.tensor(**given) for given in draw(operands(input_count))] if input_count else []
    outputs: list[int] | None = (
        [builder.tensor(**given) for given in draw(operands(output_count))] if output_count else []
    )
    extra = builder.tensor((2,), TensorType.INT8)
    if draw(rarely):
        inputs, outputs = draw(st.sampled_from([(None, outputs), (inputs, None), (inputs, (inputs or [])[:1])]))
    if inputs and draw(rarely):
        inputs[draw(st.integers(0, len(inputs) - 1))] = -1
    if op in BUILTIN_OPERATORS:
        table = draw(st.sampled_from(["", "AddOptions", "ReshapeOptions"])) if draw(rarely) else None
        builder.operator(op, inputs, outputs, options=draw(options(op)) if table is None else {}, options_type=table)
    else:
        builder.custom(op, inputs, outputs, options=draw(custom_options))
    return builder.build(inputs=[extra], outputs=[extra])


def carry_out(node: Node, steps: Steps[object], refusals: list[bool]) -> object:
    """Answer up to MOST_REQUESTS requests; ``refusals`` says which the arena turns down."""
    answer: object = None
    for refused in islice((refusals or [False]) * MOST_REQUESTS, MOST_REQUESTS):
        try:
            request = steps.send(answer)
        except StopIteration as stop:
            return stop.value
        answer = None
        match request:
            case Persistent(size, _, checked):
                assert 0 <= size < 2**64
                if refused and not checked:
                    raise PrepareError("a null pointer is written to", status="abort")
                answer = None if refused else 0
            case Scratch(size) | TempBuffer(size):
                assert 0 <= size < 2**64
                answer = None if refused else 0
            case TempTensor(index) if not refused and node.tensors[index].type in TYPE_SIZES:
                answer = KernelTensor(node.tensors[index])
            case TempTensors(wanted):
                given = [None if index < 0 or refused else KernelTensor(node.tensors[index]) for index, _ in wanted]
                ends = [at for at, (_, is_needed) in enumerate(wanted, start=1) if is_needed and given[at - 1] is None]
                answer = given[: min(ends, default=len(given))]
            case SetShape(tensor, shape):
                assert all(isinstance(size, int) for size in shape)
                tensor.shape = shape
    return None


def hold_the_quick_answer_equal(model: Model, machine: Target) -> None:
    """Without events, the smallest arena is the one that follows from the events, or the same failure.

    It works, and a byte less does not. Of the shared ``Sizer`` kernels are noted at the first time and known at the
    second.
    """
    roomy = simulate(model, machine)
    if roomy.failure is None:
        hold([model], Configuration(machine))
    for size in (smallest_arena, SIZER.smallest_arena, SIZER.smallest_arena):
        if roomy.failure is None:
            assert size(model, machine) == roomy.smallest
            continue
        with pytest.raises(type(roomy.failure)) as caught:
            size(model, machine)
        assert str(caught.value) == str(roomy.failure)


EXAMPLES = 5 if os.environ.get("CI") else 15
"""Of each operator: CI draws the same ones each time, nightly others."""


@pytest.mark.parametrize("op", sorted(MODELS))
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_any_operator_is_simulated_in_any_arena_and_alone(op: str, data: st.DataObject) -> None:
    model = parse(data.draw(nodes(op)))
    for machine in TARGETS:
        arena_size = data.draw(st.just(1 << 16) | st.integers(0, 4096))
        assert simulate(model, machine, arena_size=arena_size).status in ("ok", "error", "abort")
        hold_the_quick_answer_equal(model, machine)
    machine = data.draw(st.sampled_from(TARGETS))
    node = Node(
        model=model,
        target=machine,
        subgraph_index=0,
        index=0,
        op=op,
        subgraph_tensors=[outlines(model)[0].eval_tensors()],
        resource_variables=data.draw(st.sampled_from([None, ResourceVariables(0), ResourceVariables(2)])),
        compressed_tensors=data.draw(st.frozensets(st.integers(0, 5))) if machine.runtime.compression else frozenset(),
    )
    refusals = data.draw(st.just([]) | st.lists(st.booleans(), max_size=12))
    row = MODELS[op]
    try:
        if row.parse is not None:
            row.parse(node)
        if row.init is not None:
            node.user_data = carry_out(node, row.init(node), refusals)
        if row.prepare is not None:
            carry_out(node, row.prepare(node), refusals)
    except PrepareError:
        return


@st.composite
def with_other_scales(draw: st.DrawFn, model: Model) -> Model:
    """Return a model with as many scales and zero points, of other values."""

    def other(tensor: Tensor) -> Tensor:
        if (old := tensor.quantization) is None:
            return tensor
        scale = [draw(scale_values) for _ in range(old.scale_count)]
        zero_point = [draw(st.sampled_from([0, 3, -128])) for _ in range(old.zero_point_count)]
        return replace(tensor, quantization=Quantization(scale, zero_point, old.quantized_dimension))

    (subgraph,) = model.subgraphs
    return replace(model, subgraphs=(replace(subgraph, tensors=tuple(map(other, subgraph.tensors))),))


@pytest.mark.parametrize("op", sorted(MODELS))
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_what_is_known_of_an_operator_holds_for_other_scales(op: str, data: st.DataObject) -> None:
    model = parse(data.draw(nodes(op)))
    machine = data.draw(st.sampled_from(TARGETS))
    hold_the_quick_answer_equal(model, machine)
    hold_the_quick_answer_equal(data.draw(with_other_scales(model)), machine)
    hold_the_quick_answer_equal(model, machine)
