"""What ``shrink`` refuses or leaves alone, by name."""

from __future__ import annotations

import pytest
import shrinking_models as models

from tflm_sim import parse, shrink
from tflm_sim.device.configuration import configure
from tflm_sim.errors import ModelError
from tflm_sim.extensions.shrink.shrunk import Shrunk
from tflm_sim.extensions.shrink.states import refusals
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Model, TensorType
from tflm_sim.ops.op_model import OpModel
from tflm_sim.planners import native

INT8 = TensorType.INT8
BYTES = (1, 16, 16, 8)


def tensor(builder: ModelBuilder, *, scale: float = 0.5, data: list[int] | None = None) -> int:
    return builder.tensor(BYTES, INT8, scale=scale, zero_point=0, data=data)


def with_custom(name: str) -> Model:
    """Return CONV_2D, then a custom operator, then a 3x3 CONV_2D between larger tensors."""
    layers = models.Layers()
    x = layers.activation((1, 16, 16, 3))
    y = layers.conv(x, 8)
    z = layers.activation(layers.shapes[y])
    layers.b.custom(name, [y], [z])
    return layers.model([x], [layers.pool(layers.conv(z, 32))])


def test_a_model_that_vela_compiled_is_refused_by_name_whatever_is_asked() -> None:
    for options in ({}, {"replan": True}):
        with pytest.raises(ModelError, match=r"Vela compiled the model for an Ethos-U"):
            shrink(with_custom("ethos-u"), "cortex-m4", **options)


MVP = configure("cortex-m33", kernels="mvp", runtime="silabs-gsdk@4.4.1")


def test_for_the_mvp_no_layer_gets_another_shape_and_that_is_said() -> None:
    for model in (models.channels_model(), models.rows_model(), models.pad_same_model()):
        shrunk = shrink(model, MVP, offline_plan=True)
        assert (shrunk.steps, [each[:32] for each in shrunk.left_alone]) == ((), ["layers: the MVP's kernels add in"])
    assert [step.name for step in shrink(models.flatten_model(), MVP).steps] == ["copies"]
    forced = shrink(models.channels_model(), MVP, force_float=True)
    assert ([step.name for step in forced.steps], forced.left_alone) == (["splits"], ())


def computed(shrunk: Shrunk) -> list[str]:
    """Return where the splits begin and end: "#2 CONV_2D to #3 MAX_POOL_2D"."""
    return [edit.where for step in shrunk.steps if step.name == "splits" for edit in step.edits]


def test_a_custom_operator_is_in_no_split_and_that_is_said() -> None:
    shrunk = shrink(with_custom("MINE"), configure("cortex-m4", custom_ops=[OpModel("MINE")]))
    assert "#1 custom operator MINE: nothing is known of it, so it is in no split" in shrunk.left_alone
    assert computed(shrunk) == ["#2 CONV_2D to #3 MAX_POOL_2D"]


def test_the_bodies_of_an_if_stay_as_they_are_and_that_is_said() -> None:
    b = ModelBuilder()
    condition = b.tensor((1,), TensorType.BOOL)
    x, y = tensor(b), tensor(b)
    for _ in range(2):
        branch = b.add_subgraph()
        ends = [tensor(branch) for _ in range(3)]
        branch.operator("RELU", ends[:1], ends[1:2])
        branch.operator("RELU", ends[1:2], ends[2:])
        branch.inputs, branch.outputs = ends[:1], ends[2:]
    b.operator("IF", [condition, x], [y], options={"then_subgraph_index": 1, "else_subgraph_index": 2})
    model = parse(b.build(inputs=[condition, x], outputs=[y]))
    shrunk = shrink(model, "cortex-m4")
    assert shrunk.left_alone == ("#0 IF: the subgraphs that it runs stay as they are",)
    assert [len(graph.operators) for graph in shrunk.model.subgraphs] == [1, 2, 2]


def ring(
    *,
    writers: int = 1,
    is_constant: bool = True,
    written_scale: float = 0.5,
    reads_late: bool = False,
    assigns_first: bool = False,
) -> Model:
    """Return a state that is replaced by the input: y = state + x, state = RELU(x)."""
    b = ModelBuilder()
    options = {"shared_name": "s"}
    init = b.add_subgraph("init")
    handle, value = init.tensor((), TensorType.RESOURCE), tensor(init, data=[0] * 2048 if is_constant else None)
    init.operator("VAR_HANDLE", [], [handle], options=options)
    init.operator("ASSIGN_VARIABLE", [handle, value], [])
    b.operator("CALL_ONCE", [], [], options={"init_subgraph_index": 1})
    handle = b.tensor((), TensorType.RESOURCE)
    b.operator("VAR_HANDLE", [], [handle], options=options)
    x, old, y, new = tensor(b), tensor(b), tensor(b), tensor(b, scale=written_scale)
    if assigns_first:
        b.operator("RELU", [x], [new])
        b.operator("ASSIGN_VARIABLE", [handle, new], [])
    b.operator("READ_VARIABLE", [handle], [old])
    if reads_late:
        b.operator("RELU", [x], [new])
    b.operator("ADD", [old, x], [y])
    if not reads_late and not assigns_first:
        b.operator("RELU", [x], [new])
    for _ in range(writers - assigns_first):
        b.operator("ASSIGN_VARIABLE", [handle, new], [])
    return parse(b.build(inputs=[x], outputs=[y]))


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (ring(writers=2), "variable 's': 2 writers and 1 readers, where one of each is needed"),
        (
            ring(is_constant=False),
            "the resource variables are written in other subgraphs than one that only sets constants",
        ),
        (models.state_model(initial=5), "variable 'ring': its initial state is not the zero point"),
        (ring(written_scale=0.25), "variable 's': its quantization would have to change"),
        (
            ring(reads_late=True),
            "variable 's': operator 4 still reads the old value when operator 3 writes the new one",
        ),
        (ring(assigns_first=True), "variable 's': operator 4 reads it after operator 3 wrote it"),
    ],
)
def test_a_resource_variable_that_stays_is_named_with_the_reason(model: Model, sentence: str) -> None:
    assert refusals(Draft(model)) == [sentence]


def test_a_resource_variable_that_can_be_a_variable_tensor_is_not_named() -> None:
    assert refusals(Draft(ring())) == []


@pytest.mark.skipif(not native.available(), reason="the exact planner is C")
def test_a_model_that_reads_what_nobody_wrote_gets_no_plan_and_is_told_why() -> None:
    b = ModelBuilder()
    x, nothing, y = tensor(b), tensor(b), tensor(b)
    b.operator("ADD", [x, nothing], [y])
    shrunk = shrink(parse(b.build(inputs=[x], outputs=[y])), "cortex-m4", offline_plan=True)
    assert not shrunk.has_gained
    assert ("offline plan", "#0 ADD reads tensor 1, which was never written") in [
        (row.name, row.reason) for row in shrunk.rejected
    ]
