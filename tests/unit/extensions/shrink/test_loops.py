"""Tiles as the iterations of a WHILE: the same bytes, one address for what is carried, and no loop taken on trust."""

from __future__ import annotations

import struct
from collections.abc import Collection
from dataclasses import replace
from itertools import accumulate
from operator import itemgetter

import numpy as np
import pytest
import shrinking_models as models

from tflm_sim import Simulation, parse, shrink, simulate
from tflm_sim.device.configuration import configure
from tflm_sim.errors import UsageError
from tflm_sim.extensions.shrink.counted_loops import Place, carried, carried_distances, counted_loops
from tflm_sim.extensions.shrink.draft_facts import draft_multiplications
from tflm_sim.extensions.shrink.loops import equal_parts, without_fill
from tflm_sim.extensions.shrink.machine import Machine
from tflm_sim.extensions.shrink.offline_planner import plan_offline, with_offsets
from tflm_sim.extensions.shrink.peaks import SplitPlan, all_splits, apply, loop_splits, plans, plans_with_loops
from tflm_sim.extensions.shrink.plan_candidates import plan_edits, planned_models
from tflm_sim.extensions.shrink.planned_profile import planned_profile
from tflm_sim.extensions.shrink.profile import profile
from tflm_sim.extensions.shrink.prove import prove
from tflm_sim.extensions.shrink.stopping import UNSTOPPED
from tflm_sim.extensions.shrink.target_sizer import TargetSizer
from tflm_sim.extensions.shrink.verify import VerificationFailed, verify
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.draft import Draft
from tflm_sim.model.encode import encode
from tflm_sim.model.types import Model, Quantization, Subgraph, TensorType
from tflm_sim.planners import native

M4 = configure("cortex-m4")
needs_c = pytest.mark.skipif(not native.available(), reason="the exact planner is C")


def chain() -> Model:
    """Return two 3x3 convolutions of 16 and 4 channels, the second with stride 2: 24 rows in, 12 rows out."""
    layers = models.Layers()
    x = layers.activation((1, 24, 24, 3))
    return layers.model([x], [layers.conv(layers.conv(x, 16), 4, stride=2)])


def looped(model: Model, parts: int) -> Model:
    """Return the model with its whole main subgraph as a loop of ``parts`` iterations."""
    draft = Draft(model)
    facts = profile(draft, simulate(model, M4))
    (split,) = [
        split
        for split in loop_splits(draft, facts, 10**9)
        if (split.kind, split.first, split.end, len(split.parts)) == ("rows", 0, len(draft.operators), parts)
    ]
    apply(draft, facts, SplitPlan((split,), 0, 0).splits)
    return parse(encode(draft.model()))


def test_parts_have_one_height_and_the_last_may_begin_in_the_one_before() -> None:
    assert equal_parts(12, 4) == ((0, 3), (3, 6), (6, 9), (9, 12))
    assert equal_parts(11, 4) == ((0, 3), (3, 6), (6, 9), (8, 11))
    assert equal_parts(3, 8) == ((0, 1), (1, 2), (2, 3))


def test_a_loop_is_the_same_expressions_and_says_how_often_it_runs() -> None:
    model = chain()
    result = looped(model, 4)
    draft = Draft(result)
    assert [draft.name(operator) for operator in draft.operators] == ["FILL", "WHILE"]
    assert [loop.iterations for loop in counted_loops(draft)] == [4]
    assert verify(model, result).outputs == 12 * 12 * 4
    # Each of 4 iterations takes 10 rows of X: rows 1 to 8 of the 10 that the first convolution makes of them are right,
    # and rows 1 to 3 of the 5 of the second, whose windows begin at rows 2, 4 and 6.
    assert draft_multiplications(draft) == 4 * (10 * 24 * 16 * 27 + 5 * 12 * 4 * 144)


def test_a_loop_whose_last_iteration_computes_rows_again_is_the_same() -> None:
    model = chain()
    assert verify(model, looped(model, 6)).outputs == 12 * 12 * 4
    layers = models.Layers()
    x = layers.activation((1, 22, 24, 3))
    odd = layers.model([x], [layers.conv(layers.conv(x, 16), 4, stride=2)])  # 11 rows out: 4 times 3 of them
    assert verify(odd, looped(odd, 4)).outputs == 11 * 12 * 4


def with_constant(model: Model, old: list[int], new: list[int]) -> Model:
    """Return the model with another constant of int32."""
    (place,) = [i for i, buffer in enumerate(model.buffers) if buffer.data == np.array(old, "<i4").tobytes()]
    buffers = list(model.buffers)
    buffers[place] = replace(buffers[place], data=memoryview(np.array(new, "<i4").tobytes()), address=0)
    return parse(encode(replace(model, buffers=tuple(buffers))))


# The tables of 4 iterations: where the rows of X begin, those of the second convolution that are right, those of Y.
ROWS_OF_Y = [0, 0, 0, 0, 0, 3, 0, 0, 0, 6, 0, 0, 0, 9, 0, 0]


@pytest.mark.parametrize("table", [
    [0, 0, 0, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0],
    [0, 0, 0, 0, 0, 3, 0, 0, 0, 9, 0, 0, 0, 6, 0, 0],
])  # fmt: skip
def test_rows_in_another_place_are_refused(table: list[int]) -> None:
    model = chain()
    result = looped(model, 4)
    assert verify(model, with_constant(result, ROWS_OF_Y, ROWS_OF_Y))
    with pytest.raises(VerificationFailed, match="has other outputs"):
        verify(model, with_constant(result, ROWS_OF_Y, table))


def test_an_iteration_less_leaves_rows_as_they_were_filled() -> None:
    model = chain()
    with pytest.raises(VerificationFailed, match="has other outputs"):
        verify(model, with_constant(looped(model, 4), [16], [12]))


def test_an_iteration_more_looks_up_what_is_not_there() -> None:
    model = chain()
    with pytest.raises(VerificationFailed, match="WHILE is used in a way that is not supported"):
        verify(model, with_constant(looped(model, 4), [16], [20]))


def test_a_loop_of_a_billion_iterations_is_not_run() -> None:
    model = chain()
    with pytest.raises(VerificationFailed, match="WHILE is used in a way that is not supported"):
        verify(model, with_constant(looped(model, 4), [16], [10**9]))


def edited(model: Model, index: int, **changes: object) -> Model:
    """Return the model with a subgraph that differs."""
    subgraphs: list[Subgraph] = list(model.subgraphs)
    subgraphs[index] = replace(subgraphs[index], **changes)
    return parse(encode(replace(model, subgraphs=tuple(subgraphs))))


def body_of(model: Model) -> int:
    """Return which subgraph the model's only loop repeats."""
    (loop,) = counted_loops(Draft(model))
    return loop.body


def test_a_tensor_of_another_scale_inside_of_the_loop_is_refused() -> None:
    model = chain()
    result = looped(model, 4)
    body = result.subgraphs[body_of(result)]
    source = body.input_tensors[0]
    quantization = body.tensors[source].quantization
    assert quantization is not None
    tensors = list(body.tensors)
    tensors[source] = replace(tensors[source], quantization=Quantization((0.25,), quantization.zero_point))
    with pytest.raises(VerificationFailed, match="different types, quantizations or shapes"):
        verify(model, edited(result, body_of(result), tensors=tuple(tensors)))


def test_a_dead_operator_in_the_body_is_refused() -> None:
    model = chain()
    result = looped(model, 4)
    body = result.subgraphs[body_of(result)]
    first = body.operators[1]
    dead = replace(first, outputs=(len(body.tensors),))
    tensors = (*body.tensors, body.tensors[first.output_tensors[0]])
    with pytest.raises(VerificationFailed, match=r"the output of #\d+ SLICE is never read"):
        verify(model, edited(result, body_of(result), operators=(*body.operators, dead), tensors=tensors))


@needs_c
def test_in_a_plan_what_is_carried_has_one_address() -> None:
    model = chain()
    result = looped(model, 4)
    planned = plan_offline(result, [simulate(result, M4)])
    assert planned is not None
    simulation = simulate(planned, M4)
    places = {(each.info.subgraph, each.info.tensor): each.offset for each in simulation.buffers}
    draft = Draft(planned)
    (loop,) = counted_loops(draft)
    image, output, counter = carried(draft, loop)
    assert [len(group) for group in (image, output, counter)] == [4, 5, 3]
    for group in (image, output, counter):
        assert len({places[place] for place in group}) == 1
    verified = verify(model, planned, ["cortex-m4", "cortex-m55", "esp32-s3", "x86_64-pip"])
    assert str(verified).endswith("keeps every byte that is still to be read")
    # X and Y whole; 10 rows of 24 * 16 between them, the 5 rows of 12 * 4 that come of these, and what the second
    # convolution copies of them (two windows of int16); the counter, twice, and the rows of X.
    assert simulation.head_bytes == 24 * 24 * 3 + 12 * 12 * 4 + 10 * 24 * 16 + 5 * 12 * 4 + 2 * 9 * 16 * 2 + 3 * 16


@needs_c
def test_a_plan_that_lets_the_body_write_on_what_it_carries_is_refused() -> None:
    model = chain()
    result = looped(model, 4)
    planned = plan_offline(result, [simulate(result, M4)])
    assert planned is not None
    places = {(each.info.subgraph, each.info.tensor): each.offset for each in simulate(planned, M4).buffers}
    draft = Draft(planned)
    (loop,) = counted_loops(draft)
    starts = [0, len(planned.subgraphs[0].tensors)]
    starts += [starts[1] + len(planned.subgraphs[1].tensors)]
    offsets = {starts[subgraph] + tensor: at for (subgraph, tensor), at in places.items() if tensor >= 0}
    sliced = planned.subgraphs[loop.body].operators[1].output_tensors[0]
    image = places[loop.body, planned.subgraphs[loop.body].input_tensors[0]]
    wrong = parse(encode(with_offsets(result, {**offsets, starts[loop.body] + sliced: image + 16})))
    with pytest.raises(VerificationFailed, match="whose bytes were overwritten"):
        verify(model, wrong)


def moved(model: Model, simulation: Simulation, tensors: Collection[Place], by: int) -> Model:
    """Return a planned model with the offsets of some tensors ``by`` bytes higher."""
    starts = [*accumulate((len(subgraph.tensors) for subgraph in model.subgraphs), initial=0)]
    offsets = {
        starts[each.info.subgraph] + each.info.tensor: each.offset
        + by * ((each.info.subgraph, each.info.tensor) in tensors)
        for each in simulation.buffers
        if each.info.tensor >= 0
    }
    return parse(encode(with_offsets(model, offsets)))


def test_a_loop_of_one_iteration_has_read_all_before_it_writes() -> None:
    # 48 is where the counter of 12 iterations ends, 4 numbers each.
    draft = Draft(with_constant(looped(chain(), 12), [48], [4]))
    (loop,) = counted_loops(draft)
    assert loop.counts == (0,)
    assert list(carried_distances(draft, loop)) == [(0, 1, 0)]


@needs_c
def test_without_fill_a_loop_writes_over_the_rows_that_it_has_read() -> None:
    model = chain()
    result = without_fill(looped(model, 12))
    assert result is not None
    assert without_fill(result) is None
    draft = Draft(result)
    assert [draft.name(operator) for operator in draft.operators] == ["WHILE"]
    (loop,) = counted_loops(draft)
    # A row of Y has 12 * 4 = 48 B. The second iteration still reads from the first row of X on, as tiles have 6 rows;
    # later X is read faster than Y is written.
    assert list(carried_distances(draft, loop)) == [(0, 1, 48)]
    planned = plan_offline(result, [simulate(result, M4)])
    assert planned is not None
    simulation = simulate(planned, M4)
    image, output, _ = carried(draft, loop)
    places = {(each.info.subgraph, each.info.tensor): each.offset for each in simulation.buffers}
    assert places[image[0]] - places[output[0]] == 48
    assert verify(model, planned)
    with pytest.raises(VerificationFailed, match="SLICE of subgraph 2 reads tensor 4, whose bytes were overwritten"):
        verify(model, moved(planned, simulation, output, 48 + 24 * 24 * 3 - 12 * 12 * 4))


@needs_c
def test_a_row_too_high_is_overwritten_before_it_is_read() -> None:
    layers = models.Layers()
    x = layers.activation((1, 16, 16, 8))
    model = layers.model([x], [layers.conv(layers.conv(x, 32), 8)])
    result = without_fill(looped(model, 8))
    assert result is not None
    draft = Draft(result)
    (loop,) = counted_loops(draft)
    # A row has 128 B, two of them are a part. The last iteration reads from row 10 on, when 14 rows are written.
    assert list(carried_distances(draft, loop)) == [(0, 1, 4 * 128)]
    planned = plan_offline(result, [simulate(result, M4)])
    assert planned is not None
    simulation = simulate(planned, M4)
    image, output, _ = carried(draft, loop)
    places = {(each.info.subgraph, each.info.tensor): each.offset for each in simulation.buffers}
    assert places[image[0]] - places[output[0]] == 4 * 128
    assert verify(model, planned)
    with pytest.raises(VerificationFailed, match="reads tensor 4, whose bytes were overwritten"):
        verify(model, moved(planned, simulation, output, 16))


@needs_c
def test_in_the_body_too_an_output_begins_below_its_input() -> None:
    model, reference = chain(), configure("cortex-m4", kernels="reference")
    result = looped(model, 12)
    body = result.subgraphs[body_of(result)]
    first, second = [each for each in body.operators if each.options_type == "Conv2DOptions"]
    (rows, wide), (_, small) = ((each.input_tensors[0], each.output_tensors[0]) for each in (first, second))
    planned = plan_offline(result, [simulate(result, reference)], kernel_order=True)
    assert planned is not None
    simulation = simulate(planned, reference)
    places = {each.info.tensor: each.offset for each in simulation.buffers if each.info.subgraph == body_of(result)}
    # 6 rows of 24 * 3 become 6 of 24 * 16. The last pixel reads from pixel 4 * 24 + 22 = 118 on, and ends at byte 2303.
    assert places[rows] - places[wide] == 1952 == -(-(2303 - 118 * 3) // 16) * 16
    assert places[wide] - places[small] == 16
    assert verify(model, planned, reference)
    with pytest.raises(VerificationFailed, match=r"CONV_2D of subgraph 2 writes tensor \d+ over bytes of tensor \d+"):
        verify(model, moved(planned, simulation, {(body_of(result), small)}, 16), reference)


@needs_c
def test_in_the_body_too_a_pointwise_convolution_gets_the_kernel_that_goes_pixel_by_pixel() -> None:
    layers = models.Layers()
    x = layers.activation((1, 24, 24, 3))
    wide = layers.conv(layers.conv(x, 16), 16, kernel=1)
    model, sizer = layers.model([x], [layers.conv(wide, 4, stride=2)]), TargetSizer([M4])
    result = looped(model, 12)
    as_it_is = plan_offline(result, sizer.measure_all(result), kernel_order=True)
    planned = min(planned_models(result, sizer, kernel_order=True, stopping=UNSTOPPED), key=itemgetter(1))[0]
    # What is carried: 1,728 + 48 B; the counter and what was looked up: 2 * 16 B. The last convolution reads 6 rows of
    # 24 * 16 B where the pointwise one wrote them on its own input, writes 3 of 12 * 4 B, and has two windows as int16.
    assert sizer.measure(planned).head_bytes == 1776 + 32 + 2304 + 144 + 2 * 9 * 16 * 2 == 4832
    assert as_it_is is not None
    assert sizer.measure(as_it_is).head_bytes == 6944
    convolutions = [
        each for each in planned.subgraphs[body_of(planned)].operators if "dilation_w_factor" in each.options
    ]
    assert [each.options["dilation_w_factor"] for each in convolutions] == [1, 2, 1]
    said = [f"{each.where} {each.what}" for each in plan_edits(planned, result, sizer)]
    assert "#4 CONV_2D of subgraph 2 goes pixel by pixel with a dilation on its single tap" in said
    assert "#4 CONV_2D of subgraph 2 writes tensor 17 16 B below tensor 16, 2,288 B on it" in said
    assert verify(model, planned)


def test_loops_are_looked_at_where_copies_seem_to_need_a_little_less() -> None:
    layers = models.Layers()
    x = layers.activation((1, 24, 24, 3))
    inside = layers.conv(layers.conv(x, 8), 16, stride=2)
    model, sizer = layers.model([x], [layers.conv(inside, 16, stride=2)]), TargetSizer([M4])
    draft, facts = Draft(model), planned_profile(Draft(model), sizer, kernel_order=True)
    splits, loops = all_splits(draft, facts, 10**9), loop_splits(draft, facts, 10**9)
    assert not any(split.is_loop for plan in plans(facts, [*splits, *loops], 10**9) for split in plan.splits)
    found = [
        [(each.first, each.end, len(each.parts)) for each in plan.splits]
        for plan in plans_with_loops(facts, splits, loops, 10**9)
    ]
    assert found == [[(0, 2, 12)], [(0, 2, 6)], [(0, 2, 4)]]


@needs_c
def test_bytes_that_nobody_wrote_are_no_output() -> None:
    model = chain()
    result = without_fill(looped(model, 4))
    assert result is not None
    assert verify(model, parse(encode(result)))
    with pytest.raises(VerificationFailed, match="has other outputs"):
        verify(model, with_constant(result, [16], [12]))


def test_a_pad_pads_each_iteration_as_the_image_and_the_wrong_rows_are_cut_off() -> None:
    layers = models.Layers()
    x = layers.activation((1, 24, 24, 3))
    padded = layers.pad(layers.conv(x, 16), 1, 2)  # 27 rows; the convolution makes 25 of them
    model = layers.model([x], [layers.conv(padded, 4, same=False)])
    result = looped(model, 5)
    (loop,) = counted_loops(Draft(result))
    body = result.subgraphs[loop.body]
    shapes = [body.tensors[operator.output_tensors[0]].shape for operator in body.operators]
    # 5 rows of Y need 7 rows of the padded image: within the image 7 rows of the first convolution, which reads 9 rows
    # of X for them. So all iterations read 9 rows, which are 12 with their padding.
    assert (1, 9, 24, 3) in shapes
    assert (1, 12, 27, 16) in shapes
    assert loop.iterations == 5
    assert verify(model, result).outputs == 25 * 25 * 4


@needs_c
def test_a_call_once_writes_over_the_tensors_of_its_own_subgraph_only() -> None:
    """The loop comes later: its tensors may lie on the model's input, which is read between the two."""
    shrunk = shrink(models.random_model(542), "cortex-m3", max_macs=1.0, loops=True)
    draft = Draft(shrunk.model)
    names = [draft.name(operator) for operator in draft.operators]
    assert names[:6] == ["CALL_ONCE", "VAR_HANDLE", "RELU", "ASSIGN_VARIABLE", "TRANSPOSE_CONV", "WHILE"]
    assert not [each for each in shrunk.rejected if "refused" in each.reason or "overwritten" in each.reason]


def test_int16_has_no_fill_and_its_loop_begins_with_whatever_lies_there() -> None:
    layers = models.Layers(type=TensorType.INT16)
    x = layers.activation((1, 24, 24, 3))
    model = layers.model([x], [layers.conv(layers.conv(x, 16), 4, stride=2)])
    result = looped(model, 4)
    assert [Draft(result).name(operator) for operator in result.subgraphs[0].operators] == ["WHILE"]
    assert verify(model, result).outputs == 12 * 12 * 4


@needs_c
@pytest.mark.parametrize("type", [TensorType.INT8, TensorType.INT16])
def test_loops_over_pads_give_the_same_bytes_in_the_wheel(type: int) -> None:
    pytest.importorskip("tflite_micro")
    layers = models.Layers(type=type)
    x = layers.activation((1, 24, 24, 3))
    padded = layers.pad(layers.conv(x, 16), 2, 1)
    model = layers.model([x], [layers.conv(padded, 4, stride=2, same=False)])
    result = looped(model, 4)
    result = without_fill(result) or result
    planned = plan_offline(result, [simulate(result, configure("x86_64-pip"))])
    assert planned is not None
    data = encode(planned)
    proof = prove(model, data, parse(data), 4)
    assert (proof.runs, proof.distinct, proof.fails_below) == (6, 6, True)


@needs_c
def test_shrink_takes_a_loop_where_it_wins() -> None:
    layers = models.Layers()
    x = layers.activation((1, 64, 64, 1))
    y = layers.conv(layers.conv(x, 48), 48, stride=2)
    model = layers.model([x], [layers.conv(y, 8, stride=2)])
    with_copies, with_loops = (shrink(model, "cortex-m4", offline_plan=True, loops=each) for each in (False, True))
    assert with_loops.gains[0].after.arena < with_copies.gains[0].after.arena
    assert "WHILE" in with_loops.extra_operators


def test_a_tflm_without_dynamic_update_slice_is_refused() -> None:
    old = configure("cortex-m4", runtime="2025-11-09")
    with pytest.raises(UsageError, match=r"`loops=True` needs DYNAMIC_UPDATE_SLICE, which TFLM has since 2025-11-10"):
        shrink(chain(), old, loops=True)


def counter(iterations: int) -> Model:
    """Return a loop that counts: its body looks up what follows a number."""
    builder = ModelBuilder()
    condition, body = builder.add_subgraph("condition"), builder.add_subgraph("body")
    x = condition.tensor((1,), TensorType.INT32)
    limit = condition.tensor((1,), TensorType.INT32, data=struct.pack("<i", iterations))
    less = condition.tensor((1,), TensorType.BOOL)
    condition.operator("LESS", [x, limit], [less])
    condition.inputs, condition.outputs = [x], [less]
    x, y = (body.tensor((1,), TensorType.INT32) for _ in range(2))
    following = body.tensor(
        (iterations,), TensorType.INT32, data=struct.pack(f"<{iterations}i", *range(1, iterations + 1))
    )
    size = body.tensor((1,), TensorType.INT32, data=struct.pack("<i", 1))
    body.operator("SLICE", [following, x, size], [y])
    body.inputs, body.outputs = [x], [y]
    first = builder.tensor((1,), TensorType.INT32, data=bytes(4))
    last = builder.tensor((1,), TensorType.INT32)
    options = {"cond_subgraph_index": condition.index, "body_subgraph_index": body.index}
    builder.operator("WHILE", [first], [last], options=options)
    return parse(builder.build(inputs=[], outputs=[last]))


def test_iterations_are_not_free_however_small_their_tensors_are() -> None:
    """Two operators count as 8,192 elements each, the table of n as n: n (2 * 8,192 + 3 + n) is at most 2^28."""
    assert len(Machine(counter(10_125)).loops) == 2
    assert len(Machine(counter(10_126)).loops) == 0
