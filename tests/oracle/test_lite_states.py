"""Steps between allocations: resizes, delegates, refusals; after each, ours against the live mobile runtime."""

import base64
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tflm_sim.documents import as_json
from tflm_sim.errors import PrepareError, SimulatedFailure
from tflm_sim.extensions.lite.answer import subgraph_document
from tflm_sim.extensions.lite.builtin_ops import builtin_op_resolver
from tflm_sim.extensions.lite.delegates import DelegateFlags, SimpleDelegate
from tflm_sim.extensions.lite.tflite_interpreter import build_interpreter
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ai_edge_litert") is None, reason="the wheel ai-edge-litert is absent"),
]
FLOAT = TensorType.FLOAT32
STATIC, DYNAMIC, SHAPES, HINT = (
    DelegateFlags.NONE,
    DelegateFlags.ALLOWS_DYNAMIC_TENSORS,
    DelegateFlags.ALLOWS_DYNAMIC_TENSORS | DelegateFlags.REQUIRES_PROPAGATED_SHAPES,
    DelegateFlags.HINTS_FULL_DELEGATION,
)


def chain(*ops, signature=None, outputs=None):
    """Operators in a row on 16 floats."""
    builder = ModelBuilder()
    tensors = [builder.tensor((16,), FLOAT, shape_signature=signature)]
    tensors += [builder.tensor((16,), FLOAT) for _ in ops]
    for op, source, result in zip(ops, tensors, tensors[1:], strict=False):
        builder.operator(op, [source], [result])
    return builder.build(inputs=tensors[:1], outputs=tensors[-1:] if outputs is None else outputs)


def dynamic_middle():
    """A TILE whose multiples are an input, between two ABS."""
    builder = ModelBuilder()
    x, before, tiled, y = (builder.tensor((4,), FLOAT) for _ in range(4))
    times = builder.tensor((1,), TensorType.INT32)
    builder.operator("ABS", [x], [before])
    builder.operator("TILE", [before, times], [tiled])
    builder.operator("ABS", [tiled], [y])
    return builder.build(inputs=[x, times], outputs=[y])


def variables():
    """VAR_HANDLE, READ_VARIABLE and an ADD, as a streaming model has them."""
    builder = ModelBuilder()
    handle = builder.tensor((), TensorType.RESOURCE)
    x, state, total = (builder.tensor((1, 8), FLOAT) for _ in range(3))
    builder.operator("VAR_HANDLE", [], [handle], options={"shared_name": "state"})
    builder.operator("READ_VARIABLE", [handle], [state])
    builder.operator("ADD", [x, state], [total])
    builder.operator("ASSIGN_VARIABLE", [handle, total], [])
    return builder.build(inputs=[x], outputs=[total])


def temporaries():
    """A convolution with im2col, which a delegate takes after it was prepared."""
    builder = ModelBuilder()
    x, y, z = (builder.tensor((1, 6, 6, 2), FLOAT) for _ in range(3))
    weights = builder.tensor((2, 3, 3, 2), FLOAT, data=bytes(144))
    bias = builder.tensor((2,), FLOAT, data=bytes(8))
    options = {"padding": "SAME", "stride_w": 1, "stride_h": 1}
    builder.operator("CONV_2D", [x, weights, bias], [y], options=options)
    builder.operator("RELU", [y], [z])
    return builder.build(inputs=[x], outputs=[z])


def two_kinds():
    """A string and a float input."""
    builder = ModelBuilder()
    text, x, y = builder.tensor((1,), TensorType.STRING), builder.tensor((2,), FLOAT), builder.tensor((2,), FLOAT)
    shape = builder.tensor((1,), TensorType.INT32)
    builder.operator("SHAPE", [text], [shape], options={"out_type": "INT32"})
    builder.operator("ABS", [x], [y])
    return builder.build(inputs=[text, x], outputs=[y, shape])


def absent_ends():
    """-1 among the graph's inputs and outputs."""
    builder = ModelBuilder()
    x, y = builder.tensor((3,), FLOAT), builder.tensor((3,), FLOAT)
    builder.operator("ABS", [x], [y])
    return builder.build(inputs=[-1, x, -1], outputs=[y, -1])


def constant_weights():
    builder = ModelBuilder()
    x, y = builder.tensor((2,), FLOAT), builder.tensor((2,), FLOAT)
    builder.operator("ADD", [x, builder.tensor((2,), FLOAT, data=bytes(8))], [y])
    return builder.build(inputs=[x], outputs=[y])


ALLOCATE = ["allocate"]


def resize(index, *shape, strict=False):
    return ["resize", index, list(shape), strict]


def delegate(*nodes, flags=STATIC, fails=""):
    return ["delegate", list(nodes), int(flags), fails]


THREE = chain("ABS", "SIN", "ABS")
SCENARIOS = {
    "a static delegate, a resize and back": (THREE, [delegate(1), ALLOCATE, resize(0, 32), ALLOCATE]),
    "a static delegate after an allocation": (THREE, [ALLOCATE, delegate(1), resize(0, 32), ALLOCATE]),
    "the same shape again": (THREE, [delegate(1), ALLOCATE, resize(0, 16), ALLOCATE]),
    "a dynamic delegate first": (THREE, [delegate(1, 2, flags=DYNAMIC), ALLOCATE]),
    "a dynamic delegate after an allocation": (THREE, [ALLOCATE, delegate(1, flags=DYNAMIC), resize(0, 16), ALLOCATE]),
    "a delegate that wants shapes": (THREE, [delegate(1, flags=SHAPES), ALLOCATE, resize(0, 32), ALLOCATE]),
    "a hint that is true": (THREE, [delegate(0, 1, 2, flags=HINT)]),
    "a hint that is not": (THREE, [delegate(0, flags=HINT), ALLOCATE]),
    "a kernel that fails": (THREE, [delegate(1, fails="kernel"), ALLOCATE]),
    "a kernel that fails later": (THREE, [delegate(1, flags=DYNAMIC, fails="kernel"), ALLOCATE]),
    "a kernel that fails after an allocation": (
        THREE,
        [ALLOCATE, delegate(1, flags=DYNAMIC, fails="kernel"), ALLOCATE],
    ),
    "a delegate that fails": (THREE, [delegate(1, fails="prepare"), ALLOCATE, resize(0, 32), ALLOCATE]),
    "the second one fails": (THREE, [delegate(0), delegate(1, fails="prepare"), ALLOCATE, resize(0, 8), ALLOCATE]),
    "the second one's kernel fails": (THREE, [delegate(0), delegate(1, fails="kernel"), ALLOCATE]),
    "static and dynamic": (THREE, [delegate(0), delegate(2, flags=DYNAMIC), ALLOCATE, resize(0, 32), ALLOCATE]),
    "dynamic and static": (THREE, [delegate(0, flags=DYNAMIC), delegate(2), ALLOCATE, resize(0, 32), ALLOCATE]),
    "a static delegate among dynamic tensors": (dynamic_middle(), [delegate(0), ALLOCATE, resize(0, 8), ALLOCATE]),
    "a dynamic delegate among dynamic tensors": (dynamic_middle(), [delegate(0, flags=DYNAMIC), ALLOCATE]),
    "a static delegate on a model with variables": (variables(), [delegate(2), ALLOCATE, ALLOCATE]),
    "a delegate takes what has temporaries": (temporaries(), [ALLOCATE, delegate(0), ALLOCATE]),
    "a delegate takes what has temporaries, and a resize": (
        temporaries(),
        [delegate(0), resize(0, 2, 6, 6, 2), ALLOCATE, resize(0, 1, 6, 6, 2), ALLOCATE],
    ),
    "a strict resize of an open dimension": (chain("ABS", signature=(-1,)), [resize(0, 9, strict=True), ALLOCATE]),
    "strict resizes that are refused": (THREE, [resize(0, 17, strict=True), resize(0, 4, 4, strict=True), ALLOCATE]),
    "no such tensor": (THREE, [resize(99, 1), resize(99, 1, strict=True), ALLOCATE]),
    "a shape without a size": (THREE, [resize(0, -3), ALLOCATE, resize(0, 4), ALLOCATE]),
    "a constant": (constant_weights(), [resize(2, 3), ALLOCATE, resize(2, 2), ALLOCATE]),
    "a string": (two_kinds(), [resize(0, 5), ALLOCATE, resize(0, 5), ALLOCATE]),
    "absent inputs and outputs": (absent_ends(), [ALLOCATE, resize(1, 3), ALLOCATE]),
    "no readiness": (chain("ABS"), [["invoke"], ALLOCATE, resize(0, 8), ["invoke"]]),
}


@pytest.fixture(scope="module")
def live():
    worker = str(Path(__file__).with_name("lite_states_worker.py"))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, worker], text=True, **pipes) as process:
        yield process
        process.stdin.close()


def theirs(live, data, steps):
    live.stdin.write(json.dumps({"model": base64.b64encode(data).decode(), "steps": [["watch"], *steps]}) + "\n")
    live.stdin.flush()
    return json.loads(live.stdout.readline())[1:]


def no(*_):
    raise PrepareError("no")


def taker(nodes, flags, fails):
    """The delegate of the worker."""
    made = SimpleDelegate(
        "Taker", lambda _: False, prepare_kernel=no if fails == "kernel" else None, flags=DelegateFlags(flags)
    )

    class Taker:
        name, flags = made.name, made.flags

        def prepare(self, subgraph):
            if fails == "prepare":
                no()
            chosen = {id(subgraph.nodes[index]) for index in nodes if index in subgraph.execution_plan}
            SimpleDelegate(
                "Taker", lambda node: id(node) in chosen, prepare_kernel=made.prepare_kernel, flags=self.flags
            ).prepare(subgraph)

    return Taker()


def ours(data, steps):
    interpreter = build_interpreter(parse(data, strict=False), builtin_op_resolver())
    seen = []
    for step, *arguments in steps:
        failed = False
        try:
            if step == "delegate":
                interpreter.modify_graph_with_delegate(taker(*arguments))
            elif step == "resize":
                index, shape, strict = arguments
                interpreter.resize_input(index, shape, strict=strict)
            else:
                {"allocate": interpreter.allocate_tensors, "invoke": interpreter.invoke}[step]()
        except SimulatedFailure:
            failed = True
        graphs = json.loads(json.dumps(as_json([subgraph_document(graph) for graph in interpreter.subgraphs])))
        said = "".join(interpreter.reports) if failed else ""
        seen.append([said, [{**graph, "temporaries": []} for graph in graphs]])
    return seen


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_step_is_the_wheels(live, name):
    data, steps = SCENARIOS[name]
    for step, one, other in zip(steps, ours(data, steps), theirs(live, data, steps), strict=True):
        assert one == other, step
