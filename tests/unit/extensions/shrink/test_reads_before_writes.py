"""A variable that is read in front of what writes it holds what the last invocation wrote: no pass mixes the two up."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import shrinking_models as models

from tflm_sim.device.configuration import configure
from tflm_sim.extensions.shrink.cheaper_operators import slice_pieces
from tflm_sim.extensions.shrink.fuse import join_depthwise, pad_to_same
from tflm_sim.extensions.shrink.passes import Chooser, Pass
from tflm_sim.extensions.shrink.prune import drop_copies, fold_constants
from tflm_sim.extensions.shrink.states import states_to_variables
from tflm_sim.extensions.shrink.verify import verify
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Model, TensorType

REFERENCE = configure("cortex-m4", kernels="reference")


def variable(layers: models.Layers, shape: Sequence[int]) -> int:
    """Return a variable tensor."""
    state = layers.b.tensor(shape, models.INT8, scale=0.5, zero_point=models.POINT, is_variable=True)
    layers.shapes[state] = tuple(shape)
    return state


def last_rows(layers: models.Layers, x: int, count: int) -> int:
    """Return a SLICE of the last rows."""
    batch, rows, columns, depth = layers.shapes[x]
    taken = layers.activation((batch, count, columns, depth))
    begin = layers.integers([0, rows - count, 0, 0])
    layers.b.operator("SLICE", [x, begin, layers.integers([batch, count, columns, depth])], [taken])
    return taken


def ring() -> Model:
    """Return a ring of 4 rows: its last two are read, it goes on by two new ones, and its last two are read again."""
    layers = models.Layers()
    x = layers.activation((1, 2, 1, 4))
    state, fresh = variable(layers, (1, 4, 1, 4)), layers.conv(x, 4, kernel=1)
    early = last_rows(layers, state, 2)
    layers.b.operator("CONCATENATION", [early, fresh], [state], options={"axis": 1})
    late = last_rows(layers, state, 2)
    return layers.model([x], [layers.add(early, late), layers.conv(state, 2, kernel=1)])


def padded(at: int) -> Model:
    """Return PAD of a variable, a convolution of that, and behind as many of the two what writes the variable."""
    layers = models.Layers()
    x = layers.activation((1, 4, 4, 4))
    state, y = variable(layers, (1, 4, 4, 4)), -1
    for number in range(3):
        if number == at:
            layers.b.operator("RELU", [x], [state])
        if number == 0:
            y = layers.pad(state, 1, 1)
        if number == 1:
            y = layers.conv(y, 2, same=False)
    return layers.model([x], [y])


def kept_padding() -> Model:
    """Return a convolution of what the last invocation padded, and the PAD of this one behind it."""
    layers = models.Layers()
    x = layers.activation((1, 4, 4, 4))
    state = variable(layers, (1, 6, 6, 4))
    y = layers.conv(state, 2, same=False)
    paddings = layers.b.tensor((4, 2), models.INT32, data=[0, 0, 1, 1, 1, 1, 0, 0])
    layers.b.operator("PAD", [x, paddings], [state])
    return layers.model([x], [y])


def mixed(at: int) -> Model:
    """Return SPLIT of a variable, depthwise convolutions of 3 and 5 rows, and what writes the variable at a place."""
    layers = models.Layers()
    x = layers.activation((1, 5, 1, 16))
    state, halves = variable(layers, (1, 5, 1, 16)), [layers.activation((1, 5, 1, 8)) for _ in range(2)]
    axis, made = layers.b.tensor((), models.INT32, data=[3]), list[int]()
    for number in range(4):
        if number == at:
            layers.b.operator("RELU", [x], [state])
        if number == 0:
            layers.b.operator("SPLIT", [axis, state], halves, options={"num_splits": 2})
        if number == 1:
            made.append(layers.depthwise(last_rows(layers, halves[0], 3), kernel=(3, 1), same=False))
            made.append(layers.depthwise(halves[1], kernel=(5, 1), same=False))
        if number == 2:
            made = [layers.concatenation(made, 3)]
    return layers.model([x], made)


def copied(at: int) -> Model:
    """Return a RESHAPE that changes nothing of a variable, its reader, and what writes the variable at a place."""
    layers = models.Layers()
    x = layers.activation((1, 4, 4, 4))
    state, y = variable(layers, (1, 4, 4, 4)), -1
    for number in range(3):
        if number == at:
            layers.b.operator("RELU", [x], [state])
        if number == 0:
            y = layers.reshape(state, (1, 4, 4, 4))
        if number == 1:
            y = layers.conv(y, 2)
    return layers.model([x], [y])


def with_bytes_in_the_file() -> Model:
    """Return a RESHAPE of a variable tensor for which the file has bytes, which TFLM does not read."""
    layers = models.Layers()
    x = layers.activation((1, 2, 2, 4))
    state = layers.b.tensor((1, 4, 4), models.INT8, data=[7] * 16, scale=0.5, zero_point=models.POINT, is_variable=True)
    layers.shapes[state] = (1, 4, 4)
    y = layers.reshape(state, (1, 2, 2, 4))
    model = layers.model([x], [layers.add(x, layers.elementwise("RELU", y))])
    draft = Draft(model)
    draft.operators.append(draft.operator("RESHAPE", [x], [state]))
    return draft.model()


def delays(names: Sequence[str]) -> Model:
    """Return a delay by two invocations: resource variable "second" takes what was in "first", which takes the input.

    Args:
        names: The order in which they are named.
    """
    b, shape = ModelBuilder(), (1, 8)
    x, old_first, old_second, fresh, y = (b.tensor(shape, models.INT8, scale=0.5) for _ in range(5))
    handles = {name: b.tensor((), TensorType.RESOURCE) for name in names}
    for name, handle in handles.items():
        b.operator("VAR_HANDLE", [], [handle], options={"shared_name": name})
    b.operator("READ_VARIABLE", [handles["second"]], [old_second])
    b.operator("LEAKY_RELU", [old_second], [y], options={"alpha": 0.5})
    b.operator("READ_VARIABLE", [handles["first"]], [old_first])
    b.operator("ASSIGN_VARIABLE", [handles["second"], old_first], [])
    b.operator("RELU", [x], [fresh])
    b.operator("ASSIGN_VARIABLE", [handles["first"], fresh], [])
    return models.parse(b.build(inputs=[x], outputs=[y]))


@pytest.mark.parametrize(("edit", "model", "places"), [
    # The first SLICE takes what the last invocation left there; the second one takes the convolution's rows.
    (slice_pieces, ring(), ["#3 SLICE"]),
    (pad_to_same, padded(0), ["#1 PAD"]),
    (pad_to_same, padded(1), []),
    (pad_to_same, padded(2), ["#0 PAD"]),
    (pad_to_same, kept_padding(), []),
    (join_depthwise, mixed(0), ["#5 CONCATENATION"]),
    (join_depthwise, mixed(1), []),
    (join_depthwise, mixed(2), []),
    (join_depthwise, mixed(3), ["#4 CONCATENATION"]),
    (drop_copies, copied(0), ["#1 RESHAPE"]),
    (drop_copies, copied(1), []),
    (drop_copies, copied(2), ["#0 RESHAPE"]),
    (fold_constants, with_bytes_in_the_file(), []),
    # One of the two is a variable tensor; with both, the output would be one invocation early.
    (states_to_variables, delays(["first", "second"]), ["variable 'first'"]),
    (states_to_variables, delays(["second", "first"]), ["variable 'second'"]),
])  # fmt: skip
def test_a_pass_takes_what_a_variable_holds_at_the_time(edit: Pass, model: Model, places: list[str]) -> None:
    draft = Draft(model)
    assert [each.where for each in edit(draft, Chooser())] == places
    verify(model, draft.model(), REFERENCE)
