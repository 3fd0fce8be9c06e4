"""Prepares that were seen are not run again, unless a kernel looked at something that is different now."""

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from tflm_sim.answers.sizing import Sizer
from tflm_sim.answers.smallest_arena import SmallestArena
from tflm_sim.arena.measuring_arena import MeasuringArena
from tflm_sim.device import prepare_cache
from tflm_sim.device.prepare_cache import PrepareCache
from tflm_sim.device.recorded_prepare import Recorder
from tflm_sim.device.seen_node import NotRepeatable, SeenNode
from tflm_sim.device.tensors import TensorStructs
from tflm_sim.errors import PrepareError, UsageError
from tflm_sim.graph.outline import outlines
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.registry import registrations
from tflm_sim.ops.requests import Persistent, SetShape, Steps, TempTensors
from tflm_sim.targets.presets import preset

X86 = preset("x86_64")
INT8 = TensorType.INT8
Size = Callable[..., SmallestArena]


@pytest.fixture
def smallest_arena() -> Size:
    """Return the method of a ``Sizer`` that knows nothing."""
    return Sizer().smallest_arena


@pytest.fixture
def learnt(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the operators that are learnt from now on."""
    learnt: list[str] = []

    def learn(node: Node, *rest: Any) -> object:
        learnt.append(node.op)
        return known(node, *rest)

    known = prepare_cache._learn
    monkeypatch.setattr(prepare_cache, "_learn", learn)
    return learnt


def add(scale: float = 0.5, *, twice: bool = False) -> Model:
    """Return a model of one int8 ADD, or of two in a row."""
    builder = ModelBuilder()
    source, middle, result = (builder.tensor((1, 64), INT8, scale=scale, zero_point=0) for _ in range(3))
    builder.operator("ADD", [source, source], [middle])
    if twice:
        builder.operator("ADD", [middle, middle], [result])
    return parse(builder.build(inputs=[source], outputs=[result if twice else middle]))


def pad(paddings: bytes, columns: int = 6) -> Model:
    """Return a model of one PAD from [1, 4] to [1, columns]."""
    builder = ModelBuilder()
    source = builder.tensor((1, 4), INT8, scale=0.5, zero_point=0)
    constant = builder.tensor((2, 2), TensorType.INT32, data=b"".join(n.to_bytes(4, "little") for n in paddings))
    result = builder.tensor((1, columns), INT8, scale=0.5, zero_point=0)
    builder.operator("PAD", [source, constant], [result])
    return parse(builder.build(inputs=[source], outputs=[result]))


def test_an_operator_is_learnt_once_in_a_model_and_by_a_sizer(smallest_arena: Size, learnt: list[str]) -> None:
    once = smallest_arena(add(twice=True), X86)
    assert learnt == ["ADD"]
    assert smallest_arena(add(twice=True), X86) == once
    assert learnt == ["ADD"]


def test_another_target_learns_for_itself(smallest_arena: Size, learnt: list[str]) -> None:
    smallest_arena(add(twice=True), X86)
    smallest_arena(add(twice=True), preset("cortex-m4"))
    assert learnt == ["ADD", "ADD"]


def test_targets_that_a_kernel_cannot_tell_apart_learn_once(smallest_arena: Size, learnt: list[str]) -> None:
    for name in ("cortex-m4", "cortex-m7", "cortex-m33"):
        smallest_arena(add(), preset(name))
    smallest_arena(add(), replace(preset("cortex-m4"), arena_address=4))
    assert learnt == ["ADD"]


def test_another_scale_is_the_same_prepare_where_its_checks_pass_too(smallest_arena: Size, learnt: list[str]) -> None:
    assert smallest_arena(add(0.5, twice=True), X86) == smallest_arena(add(0.25, twice=True), X86)
    assert learnt == ["ADD"]


def test_a_scale_that_the_kernel_refuses_is_refused_after_one_that_it_takes(
    smallest_arena: Size, learnt: list[str]
) -> None:
    smallest_arena(add(0.5, twice=True), X86)
    with pytest.raises(PrepareError):
        smallest_arena(add(float("inf")), X86)
    smallest_arena(add(0.5), X86)
    assert learnt == ["ADD", "ADD"]


def test_other_constants_are_looked_at_again(smallest_arena: Size, learnt: list[str]) -> None:
    for _ in range(2):
        smallest_arena(pad(bytes([0, 0, 1, 1])), X86)
    assert learnt == ["PAD"]
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


def test_whether_a_tensor_is_a_variable_is_looked_at_again(smallest_arena: Size, learnt: list[str]) -> None:
    for _ in range(2):
        smallest_arena(svdf(is_variable=True), X86)
    assert learnt == ["SVDF"]
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

    with pytest.raises(NotRepeatable):
        Recorder(seen.tensors, TensorStructs(X86)).run(prepare())


def test_a_kernel_of_ones_own_is_always_run(smallest_arena: Size) -> None:
    runs = []

    def prepare(node: Node) -> Steps[None]:
        runs.append(1)
        yield Persistent(16 * len(runs))

    own = (OpModel("ADD", "TfLiteAddParams", prepare=prepare),)
    first, second = (smallest_arena(add(twice=True), X86, custom_ops=own).size for _ in range(2))
    assert (len(runs), second - first) == (4, 16 * (3 + 4 - 1 - 2))


def test_a_tensor_whose_shape_another_kernel_changed_is_not_as_its_key_says(
    smallest_arena: Size, learnt: list[str]
) -> None:
    builder = ModelBuilder()
    x, y, z, result = (builder.tensor((1, 16), TensorType.FLOAT32) for _ in range(4))
    builder.custom("MINE", [x], [y])
    builder.operator("ABS", [y], [z])
    builder.operator("RSQRT", [x], [result])
    model = parse(builder.build(inputs=[x], outputs=[z, result]))

    def prepare(node: Node) -> Steps[None]:
        yield SetShape(node.tensors[node.outputs[0]], (1, 8))

    smallest_arena(model, X86, custom_ops=[OpModel("MINE", prepare=prepare)])
    assert learnt == ["RSQRT"]


@pytest.mark.parametrize(("changes", "is_taken"), [
    ({}, True),
    ({"user_data": "OpData"}, True),
    ({"user_data": ["what Init found out"]}, False),
    ({"damage": 7}, False),
    ({"compressed_tensors": frozenset({0})}, False),
])  # fmt: skip
def test_a_node_with_a_state_of_its_own_is_always_prepared(changes: dict[str, object], is_taken: bool) -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 16), TensorType.FLOAT32) for _ in range(2))
    builder.operator("ZEROS_LIKE", [x], [y])
    model = parse(builder.build(inputs=[x], outputs=[y]))
    tensors = [outline.eval_tensors() for outline in outlines(model)]
    node = Node(model=model, target=X86, subgraph_index=0, index=0, op="ZEROS_LIKE", subgraph_tensors=tensors)
    row = registrations(X86)["ZEROS_LIKE"]
    cache, arena = PrepareCache(8), MeasuringArena(1 << 20, table_bytes=0)
    steps = cache.of(model, X86, arena)
    arena.allocate_persistent_buffer(16, 16)
    assert steps.step(node, row, is_as_filed=True) == ()
    taken = arena.needs.non_persistent
    assert taken > 0
    for name, value in changes.items():
        setattr(node, name, value)
    # The step that is known already: it is taken again, or the kernel has to be run.
    assert steps.step(node, row, is_as_filed=True) == (() if is_taken else None)
    # A tail of 0 bytes is too small for any step.
    assert cache.of(model, X86, MeasuringArena(0, table_bytes=0)).step(node, row, is_as_filed=True) is None


def test_the_prepare_that_was_used_longest_ago_is_forgotten(learnt: list[str]) -> None:
    sizer = Sizer(most_prepares=2)
    padded = pad(bytes([0, 0, 1, 1]))
    for model in (add(), padded, add(), svdf(is_variable=True)):  # PAD was used before ADD, and goes
        sizer.smallest_arena(model, X86)
    assert (learnt, sizer.remembered) == (["ADD", "PAD", "SVDF"], 2)
    sizer.smallest_arena(add(), X86)
    assert learnt == ["ADD", "PAD", "SVDF"]
    sizer.smallest_arena(padded, X86)
    assert learnt == ["ADD", "PAD", "SVDF", "PAD"]


def test_two_sizers_and_two_threads_learn_for_themselves(learnt: list[str]) -> None:
    first, second = Sizer(), Sizer()
    for sizer in (first, second, first):
        sizer.smallest_arena(add(), X86)
    assert learnt == ["ADD", "ADD"]
    with ThreadPoolExecutor(1) as thread:
        thread.submit(first.smallest_arena, add(), X86).result()
        assert thread.submit(lambda: first.remembered).result() == 1
    assert (learnt, first.remembered) == (["ADD", "ADD", "ADD"], 1)


def test_what_a_sizer_forgets_is_learnt_again(learnt: list[str]) -> None:
    sizer = Sizer()
    for remembered in (0, 0):
        assert sizer.remembered == remembered
        sizer.smallest_arena(add(), X86)
        sizer.forget()
    assert learnt == ["ADD", "ADD"]


def test_a_sizer_pickles_without_what_it_remembers() -> None:
    sizer = Sizer(most_prepares=7)
    sizer.smallest_arena(add(), X86)
    assert repr(pickle.loads(pickle.dumps(sizer))) == "Sizer(most_prepares=7, remembered=0)"
    assert repr(sizer) == "Sizer(most_prepares=7, remembered=1)"


def test_a_sizer_that_remembers_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="is useless"):
        Sizer(most_prepares=0)
