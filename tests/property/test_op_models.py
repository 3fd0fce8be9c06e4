"""Whatever a model says about an operator, its parser, Init and Prepare end in PrepareError or come to an end.

Tensors have negative and huge dimensions, unknown types, constants shorter than their shape, quantization that makes no
sense; options are out of range, of another operator, or bytes that are no FlexBuffer; the arena may refuse anything.
"""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tflm_sim.errors import PrepareError
from tflm_sim.graph.eval_tensor import TYPE_SIZES, EvalTensor
from tflm_sim.graph.resource_variables import ResourceVariables
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.schema import BUILTIN_OPERATORS, option_fields, options_of_operator
from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.reference import REFERENCE
from tflm_sim.ops.reference.ethos_u import ETHOS_U
from tflm_sim.ops.requests import KernelTensor, Persistent, Scratch, SetShape, Steps, TempBuffer, TempTensor
from tflm_sim.target.presets import target as preset

flexbuffers = pytest.importorskip("flatbuffers.flexbuffers")

MODELS = {**REFERENCE, "ethos-u": ETHOS_U}
MOST_REQUESTS = 300
TARGETS = [preset(name, kernels="reference") for name in ("x86_64-compression", "cortex-m4", "i386")]
NAMES = ["T", "fft_length", "frame_size", "frame_step", "prefill", "num_channels", "delay_length", "shift"]
NAMES += ["max_detections", "num_classes"]
INT32 = st.integers(-(2**31), 2**31 - 1)
SMALL = st.integers(-3, 12)

dims = st.lists(st.one_of(st.integers(1, 8), st.sampled_from([-1, 0, 1, 2**31 - 1])), max_size=7)
types = st.one_of(st.sampled_from([int(number) for number in TensorType]), st.sampled_from([99, -1]))
numbers = st.one_of(st.sampled_from([0.5, 1.0, 0.0, -1.0, float("nan"), float("inf"), 1e-40]), st.floats(width=32))
quantization = st.one_of(
    st.just({}),
    st.fixed_dictionaries(
        {
            "scale": st.lists(numbers, min_size=1, max_size=4),
            "zero_point": st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4),
            "quantized_dimension": SMALL,
        }
    ),
)
constants = st.one_of(st.none(), st.binary(max_size=40), st.just(bytes([0, 1, 2, 3, 1, 1, 0, 0] * 8)))
tensors = st.one_of(st.none(), st.tuples(dims, types, constants, quantization))
plain_tensors = st.tuples(
    st.lists(st.integers(1, 4), max_size=5),
    st.sampled_from([TensorType.INT8, TensorType.INT16, TensorType.INT32, TensorType.FLOAT32, TensorType.BOOL]),
    constants,
    st.sampled_from([{}, {"scale": 0.5}]),
)
tensor_lists = st.one_of(st.none(), st.lists(tensors, max_size=6), st.lists(plain_tensors, min_size=1, max_size=6))
flex_values = st.one_of(SMALL, INT32, st.booleans(), st.floats(width=32), st.text(max_size=3), st.none())
flex_maps = st.dictionaries(st.sampled_from(NAMES), flex_values, max_size=10)
custom_options = st.one_of(
    st.none(), st.binary(max_size=24), flex_maps.map(lambda values: bytes(flexbuffers.Dumps(values)))
)


def option_values(table: str) -> st.SearchStrategy[dict[str, object]]:
    kinds = {"bool": st.booleans(), "float": st.floats(width=32), "string": st.none() | st.text(max_size=3)}
    values = {
        field.name: st.lists(INT32, max_size=10).map(tuple) if field.is_vector else kinds.get(field.type, SMALL | INT32)
        for field in option_fields(table)
        if field.type in (*kinds, "int", "byte", "ubyte") and not field.enum
    }
    return st.fixed_dictionaries({}, optional=values)


@st.composite
def nodes(draw: st.DrawFn, op: str) -> Node:
    builder = ModelBuilder()

    def indices(specs):
        return (
            None
            if specs is None
            else [-1 if spec is None else builder.tensor(spec[0], spec[1], data=spec[2], **spec[3]) for spec in specs]
        )

    inputs, outputs = indices(draw(tensor_lists)), indices(draw(tensor_lists))
    if op in BUILTIN_OPERATORS:
        table = draw(st.sampled_from([options_of_operator(op), options_of_operator(op), "GatherOptions", ""]))
        builder.operator(op, inputs, outputs, options_type=table, options=draw(option_values(table)))
    else:
        builder.custom(op, inputs, outputs, options=draw(custom_options))
    model = builder.model()
    tensors = [EvalTensor(model, tensor, index) for index, tensor in enumerate(model.subgraphs[0].tensors)]
    target = draw(st.sampled_from(TARGETS))
    compressed = draw(st.frozensets(st.integers(0, 5))) if target.runtime.compression else frozenset()
    return Node(
        model=model,
        target=target,
        subgraph_index=0,
        index=0,
        op=op,
        subgraph_tensors=[tensors],
        resource_variables=draw(st.sampled_from([None, ResourceVariables(0), ResourceVariables(2)])),
        compressed_tensors=compressed,
    )


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
            case SetShape(tensor, shape):
                assert all(isinstance(size, int) for size in shape)
                tensor.shape = shape
    return None


@pytest.mark.parametrize("op", sorted(MODELS))
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_kernel_model_refuses_or_ends(op, data):
    node = data.draw(nodes(op))
    refusals = data.draw(st.one_of(st.just([]), st.lists(st.booleans(), max_size=12)))
    model = MODELS[op]
    try:
        if model.parse is not None:
            model.parse(node)
        if model.init is not None:
            node.user_data = carry_out(node, model.init(node), refusals)
        if model.prepare is not None:
            carry_out(node, model.prepare(node), refusals)
    except PrepareError:
        return
