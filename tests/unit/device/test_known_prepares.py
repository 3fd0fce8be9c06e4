"""Prepares that were seen are not run again, unless a kernel looked at something that is different now."""

from collections.abc import Callable
from typing import Any

import pytest

from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.device import known_prepares
from tflm_sim.device.recorded_prepare import Recorder
from tflm_sim.device.seen_node import SeenNode, TooFar
from tflm_sim.device.tensors import TensorStructs
from tflm_sim.errors import PrepareError
from tflm_sim.graph.outline import outlines
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.requests import Persistent, Steps, TempTensors
from tflm_sim.targets.presets import preset
from tflm_sim.values import replace

X86 = preset("x86_64")
INT8 = TensorType.INT8


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Forget what other tests taught; return the names of the operators that are learnt from now on."""
    known_prepares.known_to.cache_clear()
    learnt: list[str] = []

    def learn(node: Node, *rest: object) -> object:
        learnt.append(node.op)
        return known(node, *rest)

    known = known_prepares._learn
    monkeypatch.setattr(known_prepares, "_learn", learn)
    return learnt


def add(scale: float = 0.5, *, twice: bool = False) -> Model:
    """Return a model of one int8 ADD, or of two in a row."""
    builder = ModelBuilder()
    source, middle, result = (builder.tensor((1, 64), INT8, scale=scale, zero_point=0) for _ in range(3))
    builder.operator("ADD", [source, source], [middle])
    if twice:
        builder.operator("ADD", [middle, middle], [result])
    return parse(builder.build(inputs=[source], outputs=[result if twice else middle]))


def pad(paddings: bytes) -> Model:
    """Return a model of one PAD from [1, 4] to [1, 6]."""
    builder = ModelBuilder()
    source = builder.tensor((1, 4), INT8, scale=0.5, zero_point=0)
    constant = builder.tensor((2, 2), TensorType.INT32, data=b"".join(n.to_bytes(4, "little") for n in paddings))
    result = builder.tensor((1, 6), INT8, scale=0.5, zero_point=0)
    builder.operator("PAD", [source, constant], [result])
    return parse(builder.build(inputs=[source], outputs=[result]))


def test_an_operator_is_learnt_once_in_a_model_and_in_a_process(nothing_known: list[str]) -> None:
    once = smallest_arena(add(twice=True), X86)
    assert nothing_known == ["ADD"]
    assert smallest_arena(add(twice=True), X86) == once
    assert nothing_known == ["ADD"]


def test_another_target_learns_for_itself(nothing_known: list[str]) -> None:
    smallest_arena(add(twice=True), X86)
    smallest_arena(add(twice=True), preset("cortex-m4"))
    assert nothing_known == ["ADD", "ADD"]


def test_targets_that_a_kernel_cannot_tell_apart_learn_once(nothing_known: list[str]) -> None:
    for name in ("cortex-m4", "cortex-m7", "cortex-m33"):
        smallest_arena(add(), preset(name))
    smallest_arena(add(), replace(preset("cortex-m4"), arena_address=4))
    assert nothing_known == ["ADD"]


def test_another_scale_is_the_same_prepare_where_its_checks_pass_too(nothing_known: list[str]) -> None:
    assert smallest_arena(add(0.5, twice=True), X86) == smallest_arena(add(0.25, twice=True), X86)
    assert nothing_known == ["ADD"]


def test_a_scale_that_the_kernel_refuses_is_refused_after_one_that_it_takes(nothing_known: list[str]) -> None:
    smallest_arena(add(0.5, twice=True), X86)
    with pytest.raises(PrepareError):
        smallest_arena(add(float("inf")), X86)
    smallest_arena(add(0.5), X86)
    assert nothing_known == ["ADD", "ADD"]


def test_other_constants_are_looked_at_again(nothing_known: list[str]) -> None:
    for _ in range(2):
        smallest_arena(pad(bytes([0, 0, 1, 1])), X86)
    assert nothing_known == ["PAD"]
    with pytest.raises(PrepareError):  # 4 + 1 + 2 is not 6
        smallest_arena(pad(bytes([0, 0, 1, 2])), X86)


def svdf(*, is_variable: bool) -> Model:
    """Return a model of one float SVDF of rank 2, whose state the file calls a variable or not."""
    builder = ModelBuilder()
    inputs = [builder.tensor(shape, TensorType.FLOAT32) for shape in ((1, 16), (8, 16), (8, 10), (4,))]
    inputs.append(builder.tensor((1, 80), TensorType.FLOAT32, is_variable=is_variable))
    result = builder.tensor((1, 4), TensorType.FLOAT32)
    builder.operator("SVDF", inputs, [result], options={"rank": 2})
    return parse(builder.build(inputs=inputs[:1], outputs=[result]))


def test_whether_a_tensor_is_a_variable_is_looked_at_again(nothing_known: list[str]) -> None:
    for _ in range(2):
        smallest_arena(svdf(is_variable=True), X86)
    assert nothing_known == ["SVDF"]
    with pytest.raises(PrepareError):
        smallest_arena(svdf(is_variable=False), X86)


@pytest.mark.parametrize(
    "look",
    [
        lambda node, tensor: tensor.eval,
        lambda node, tensor: tensor.index,
        lambda node, tensor: tensor.affine.scale,
        lambda node, tensor: node.model,
        lambda node, tensor: node.tensors[0],
        lambda node, tensor: node.resource_variables,
    ],
)
def test_what_no_key_holds_is_not_shown(look: Callable[[Any, Any], object]) -> None:
    model = add()
    tensors = [outline.eval_tensors() for outline in outlines(model)]
    node = Node(model=model, target=X86, subgraph_index=0, index=0, op="ADD", subgraph_tensors=tensors)
    seen = SeenNode(node, {0: 0, 1: 1})

    def prepare() -> Steps[None]:
        (tensor,) = yield TempTensors(((0, True),))
        assert (tensor.type, tensor.shape, tensor.scale) == (INT8, (1, 64), 0.5)
        look(seen, tensor)

    with pytest.raises(TooFar):
        Recorder(seen.tensors, TensorStructs(X86)).run(prepare())


def test_a_kernel_of_ones_own_is_always_run() -> None:
    runs = []

    def prepare(node: Node) -> Steps[None]:
        runs.append(node.index)
        yield Persistent(16 * len(runs))

    own = (OpModel("ADD", "TfLiteAddParams", prepare=prepare),)
    first, second = (smallest_arena(add(twice=True), X86, custom_ops=own).size for _ in range(2))
    assert (len(runs), second - first) == (4, 16 * (3 + 4 - 1 - 2))


def test_what_is_known_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_prepares, "MOST_KEYS", 3)
    monkeypatch.setattr(known_prepares, "MOST_OF_A_KEY", 2)
    known = known_prepares.known_prepares(X86)
    for left in (0, 1, 2):
        for _ in range(2):
            smallest_arena(pad(bytes([0, 0, left, 2 - left])), X86)
    assert [len(found) for found in known._known.values() if found is not None] == [2]
    smallest_arena(load("sample:mobilenet_v1_025"), X86)
    assert len(known._known) <= 3
