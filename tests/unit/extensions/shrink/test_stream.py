"""A model that takes the new frames of its window: what is computed, what is kept, and what is refused by name."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
import shrinking_models as models
from moving_models import random_moving_model
from test_windows import chain, dense, taps

from tflm_sim import Streamed, load, smallest_arena, stream, streamed_lines, verify, with_offline_plan
from tflm_sim.errors import ModelError, UsageError
from tflm_sim.extensions.shrink.draft_facts import draft_multiplications
from tflm_sim.extensions.shrink.refusal import VerificationFailed
from tflm_sim.extensions.shrink.stream import NotStreamed
from tflm_sim.extensions.shrink.stream_rewrite import Keep, StreamPlan, streamed
from tflm_sim.extensions.shrink.stream_rows import moving
from tflm_sim.model.draft import Draft
from tflm_sim.model.encode import encode
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType

Layer = Callable[[models.Layers, int], int]
SPOTTER = load("sample:keyword_spotter")


def rewritten(model: Model, step: int, axis: int, plan: StreamPlan | None = None) -> Model:
    """Return a model that streams as a plan says, all that can stream where there is none, read again."""
    facts = moving(Draft(model), axis, step)
    return parse(encode(streamed(model, facts, plan or StreamPlan(frozenset(facts.rules)))[0]))


def names(model: Model) -> list[str]:
    draft = Draft(model)
    return [draft.name(operator) for operator in draft.operators]


def test_without_padding_each_layer_computes_one_row_a_frame() -> None:
    """Windows of 3 and of 2 rows of 4 channels, a multiply-accumulate a tap.

    Kept are 2 old rows of the input, one of the first layer with the new one, and 4 of the second.
    """
    result = stream(chain(taps(3), taps(2), dense), 1, aim="macs")
    assert (result.before.macs, result.after.macs) == (6 * 12 + 5 * 8 + 40, 12 + 8 + 40)
    assert (result.input_shape, result.start_up, result.operators) == ((1, 1, 1, 4), 8, (0, 1))
    assert [(each.rows, each.bytes) for each in result.rings] == [(2, 8), (2, 8), (4, 16)]
    assert result.verified == (
        "2 output elements are the same expressions as the window's from invocation 8 on, whatever the 32 elements of "
        "state held before (10 operators read)"
    )


def test_with_padding_the_rows_at_both_edges_are_computed_again() -> None:
    """Two layers of 3 rows, SAME: rows 0 to 2, 6 and 7 of the first, 0, 1 and 5 to 7 of the second."""
    model = chain(taps(3, same=True), taps(3, same=True), dense)
    after = rewritten(model, 1, 1)
    assert draft_multiplications(Draft(after)) == (3 + 2) * 12 + (2 + 3) * 12 + 64
    assert names(after).count("PAD") == 4
    assert verify(model, after, stream=1).start_up == 8


@pytest.mark.parametrize("keep", [Keep.WHOLE, Keep.OLD, Keep.RESOURCE])
def test_rows_behind_an_edge_come_out_of_a_ring_that_holds_all_old_ones(keep: Keep) -> None:
    """The edge of the second layer, row 0, reads rows 0 and 1 of the first: 1 is kept, 0 is computed again."""
    model = chain(taps(3, same=True), taps(3, same=True), dense)
    order = frozenset({0, 1})
    again, kept = (rewritten(model, 1, 1, StreamPlan(order, keep, lasting=each)) for each in (frozenset(), range(99)))
    assert draft_multiplications(Draft(again)) == (3 + 2) * 12 + (2 + 3) * 12 + 64
    assert draft_multiplications(Draft(kept)) == (1 + 2) * 12 + (2 + 3) * 12 + 64
    assert verify(model, kept, stream=1).states > verify(model, again, stream=1).states


def test_a_pool_with_padding_runs_on_more_rows_and_what_is_wrong_is_cut_off() -> None:
    def pool(made: models.Layers, x: int) -> int:
        y = made.activation(made.shapes[x])
        options = {"padding": "SAME", "stride_w": 1, "stride_h": 1, "filter_width": 1, "filter_height": 3}
        made.b.operator("AVERAGE_POOL_2D", [x], [y], options=options)
        return y

    model = chain(pool, dense, rows=12)
    after = rewritten(model, 2, 1)
    assert "PAD" not in names(after)
    assert verify(model, after, stream=2, axis=1).outputs == 2


@pytest.mark.parametrize("keep", [Keep.WHOLE, Keep.OLD, Keep.RESOURCE, Keep.AGAIN])
def test_old_rows_are_kept_in_each_way(keep: Keep) -> None:
    model = chain(taps(3), taps(4), dense, rows=12)
    facts = moving(Draft(model), 1, 1)
    source = facts.source
    plan = StreamPlan(frozenset(facts.rules), keep, ((source, Keep.OLD),) if keep is Keep.AGAIN else ())
    after = rewritten(model, 1, 1, plan)
    states = {Keep.WHOLE: 3 + 4 + 7, Keep.OLD: 2 + 3 + 6, Keep.RESOURCE: 2 + 3 + 6, Keep.AGAIN: 11}
    assert verify(model, after, stream=1).states == 4 * states[keep]
    assert ("READ_VARIABLE" in names(after)) is (keep is Keep.RESOURCE)


def test_the_way_that_needs_the_smallest_arena_is_taken() -> None:
    model = chain(taps(3), taps(4), dense, rows=12)
    facts = moving(Draft(model), 1, 1)
    best = stream(model, 1, aim="macs")
    uniform = [rewritten(model, 1, 1, StreamPlan(frozenset(facts.rules), keep)) for keep in list(Keep)[:3]]
    assert best.gains[0].after.arena <= min(smallest_arena(each, "cortex-m4").size for each in uniform)


def test_a_flat_input_becomes_the_frames_that_its_reshape_made() -> None:
    made = models.Layers()
    x = made.activation((1, 32), name="window")
    y = dense(made, made.depthwise(made.reshape(x, (1, 8, 1, 4)), kernel=(3, 1), same=False))
    result = stream(made.model([x], [y]), 2, aim="macs")
    main = result.model.subgraphs[0]
    assert (result.input_shape, main.tensors[main.input_tensors[0]].name) == ((1, 2, 1, 4), "window")
    assert (result.window_shape, result.frame_bytes, result.start_up) == ((1, 8, 1, 4), 4, 4)


def test_layers_around_a_residual_connection_stream() -> None:
    made = models.Layers()
    x = made.activation((1, 20, 1, 4))
    one = made.depthwise(x, kernel=(3, 1), same=True)
    two = made.depthwise(made.depthwise(one, kernel=(5, 1), same=True), kernel=(3, 1), same=True)
    model = made.model([x], [dense(made, made.add(one, two))])
    after = rewritten(model, 1, 1)
    # Rows 0 to 1, 0 to 3 and 0 to 4 at the beginning, and as many and two more at the end, with a new row each.
    assert draft_multiplications(Draft(after)) < draft_multiplications(Draft(model)) == 20 * 4 * 11 + 160
    assert verify(model, after, stream=1, axis=1).outputs == 2


def test_rows_of_padding_alone_come_back_too() -> None:
    """A PAD of three rows before a layer of two: its first two rows see no frame at all."""

    def padded(made: models.Layers, x: int) -> int:
        y = made.activation((1, 15, 1, 4))
        made.b.operator("PAD", [x, made.b.tensor((4, 2), models.INT32, data=[0, 0, 3, 0, 0, 0, 0, 0])], [y])
        return y

    model = chain(padded, taps(2), dense, rows=12)
    assert verify(model, rewritten(model, 2, 1), stream=2, axis=1).start_up == 6


def test_an_output_that_moves_on_stays_the_output_that_it_was() -> None:
    model = chain(taps(3), lambda made, x: made.elementwise("RELU", x))
    draft = Draft(model)
    draft.tensors[draft.outputs[0]] = replace(draft.tensors[draft.outputs[0]], name="rows")
    result = stream(draft.model(), 1, aim="macs")
    main = result.model.subgraphs[0]
    (output,) = (main.tensors[index] for index in main.output_tensors)
    assert (output.name, output.dims, output.is_variable) == ("rows", (1, 6, 1, 4), False)


def test_the_frames_may_be_the_columns() -> None:
    model = chain(lambda made, x: made.depthwise(x, same=False), dense, rows=5, columns=12)
    result = stream(model, 2, axis=2, aim="macs")
    assert result.input_shape == (1, 5, 2, 4)
    assert "The frames lie along axis 2 of the input" in "\n".join(streamed_lines(result))


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(at, marks=pytest.mark.nightly) for at in range(12, 60))])
def test_random_models_stream_as_any_plan_says(seed: int) -> None:
    """Chains and residual connections, VALID and SAME, strides of 1 to 3: rows kept in every way, cut anywhere."""
    moved, rng = random_moving_model(seed), random.Random(seed)
    facts = moving(Draft(moved.model), moved.axis, moved.step)
    order = sorted(facts.rules)
    for count in range(1, len(order) + 1):
        tensors = [tensor for tensor in facts.rows if tensor != facts.source and rng.random() < 0.4]
        others = tuple((tensor, rng.choice(list(Keep))) for tensor in tensors)
        keep, is_padded = rng.choice((Keep.OLD, Keep.WHOLE, Keep.RESOURCE)), rng.random() < 0.5
        lasting = frozenset(tensor for tensor in facts.rows if rng.random() < 0.5)
        plan = StreamPlan(frozenset(order[:count]), keep, others, is_padded, lasting)
        after = rewritten(moved.model, moved.step, moved.axis, plan)
        verified = verify(moved.model, after, stream=moved.step, axis=moved.axis)
        assert verified.start_up == -(-moved.frames // moved.step)


def with_constant(model: Model, operator: str, place: int, change: Callable[[list[int]], list[int]]) -> Model:
    """Return a model in which a constant of its last operator of a name holds other integers."""
    draft = Draft(model)
    number = max(at for at, each in enumerate(draft.operators) if draft.name(each) == operator)
    inputs = list(draft.operators[number].input_tensors)
    data = draft.data(inputs[place])
    assert data is not None
    values = change([int.from_bytes(data[at : at + 4], "little", signed=True) for at in range(0, len(data), 4)])
    raw = b"".join(value.to_bytes(4, "little", signed=True) for value in values)
    inputs[place] = draft.add_tensor(draft.tensors[inputs[place]].dims, TensorType.INT32, data=raw)
    draft.operators[number] = replace(draft.operators[number], inputs=tuple(inputs))
    return parse(encode(draft.model()))


def earlier(begin: list[int]) -> list[int]:
    return [begin[0], begin[1] - 1, *begin[2:]]


def test_old_rows_of_another_moment_are_refused() -> None:
    """The ring's SLICE begins a row too early: every output sees a row twice."""
    model = chain(taps(3), taps(4), dense, rows=12)
    after = rewritten(model, 1, 1, StreamPlan(frozenset({0, 1})))
    assert verify(model, after, stream=1).start_up == 12
    wrong = with_constant(after, "SLICE", 1, earlier)
    wrong = with_constant(wrong, "SLICE", 2, lambda size: [size[0], 6, *size[2:]])
    with pytest.raises(VerificationFailed, match="elements of output 0 of invocation 12 are computed differently"):
        verify(model, wrong, stream=1)


def test_an_edge_without_its_padding_is_refused() -> None:
    model = chain(taps(3, same=True), dense, rows=12)
    after = rewritten(model, 1, 1)
    wrong = with_constant(after, "PAD", 1, lambda widths: [*widths[:2], widths[3], widths[2], *widths[4:]])
    with pytest.raises(VerificationFailed, match="computed differently"):
        verify(model, wrong, stream=1)


def test_a_stream_is_one_of_its_own_step_and_axis_only() -> None:
    model = chain(taps(3), dense, rows=12)
    after = rewritten(model, 2, 1)
    with pytest.raises(VerificationFailed, match="the input is not the new frames of the window, 4 elements"):
        verify(model, after, stream=1)
    with pytest.raises(VerificationFailed, match="name or shape of input 0 is not the original's"):
        verify(model, after)


@pytest.mark.parametrize(("model", "step", "axis", "error", "words"), [
    (SPOTTER, 1, 1, NotStreamed, "its stride of 2 does not divide the 1 rows .* so S should be a multiple of 2"),
    (SPOTTER, 2, 1, NotStreamed, r"would not become smaller \(22,824 B -> [\d,]+ B on cortex-m4\)\. --for macs"),
    (SPOTTER, 2, None, UsageError, "can move along the axes 1"),
    (chain(dense), 1, 1, NotStreamed, "nothing is won: #0 RESHAPE: in the shape that it makes, frames are no rows"),
    (load("sample:streaming"), 1, None, ModelError, "keeps a state .*the model streams already"),
    (chain(taps(3)), 8, None, UsageError, "--stream 8: a window of 8 frames moves on by 1 to 7"),
])  # fmt: skip
def test_what_wins_nothing_or_cannot_be_is_refused_by_name(
    model: Model, step: int, axis: int | None, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        stream(model, step, axis=axis)


def test_an_operator_that_nobody_knows_is_refused_by_name() -> None:
    made = models.Layers()
    x = made.activation((1, 8, 1, 4))
    y = made.depthwise(x, kernel=(3, 1), same=False)
    z = made.activation((1, 6, 1, 4))
    made.b.custom("Smooth", [y], [z])
    with pytest.raises(ModelError, match="#1 custom Smooth is not known here: it may keep a state"):
        stream(made.model([x], [z]), 1, axis=1)


def test_limits_are_kept_or_refused_by_name() -> None:
    model = chain(taps(3), taps(2), dense)
    with pytest.raises(NotStreamed, match="no stream needs 100 B or less: the smallest that was found needs"):
        stream(model, 1, aim="macs", goal=100)
    with pytest.raises(NotStreamed, match="needs no more operators than it may"):
        stream(model, 1, aim="macs", operators=())
    with pytest.raises(UsageError, match="`aim=speed`: a stream is for one of: ram, macs"):
        stream(model, 1, aim="speed")


def test_a_plan_of_the_window_does_not_outlive_it() -> None:
    planned = with_offline_plan(chain(taps(3), taps(2), dense), "cortex-m4", "greedy")
    with pytest.raises(ModelError, match="the model has an offline plan"):
        stream(planned, 1, aim="macs")
    result = stream(planned, 1, aim="macs", replan=True)
    assert not any(entry.name == "OfflineMemoryAllocation" for entry in result.model.metadata)


def test_a_search_that_ends_early_gives_the_best_until_then() -> None:
    result = stream(SPOTTER, 2, axis=1, aim="macs", time_limit=1e-6)
    assert result.stopped == "the time was over"
    assert result.operators == (0,)
    assert "the search ended early: the time was over; this is the best until then" in streamed_lines(result)


@pytest.fixture(scope="module")
def spotter() -> Streamed:
    return stream(SPOTTER, 2, axis=1, aim="macs")


def test_the_keyword_spotter_takes_two_frames_for_more_memory_and_fewer_multiplications(spotter: Streamed) -> None:
    assert (spotter.gains[0].before.arena, spotter.gains[0].after.arena) == (22824, 52576)
    assert (spotter.before.macs, spotter.after.macs) == (2_656_768, 1_105_408)
    assert spotter.extra_operators == ("CONCATENATION", "PAD", "SLICE")


def test_the_answer_says_what_must_be_known(spotter: Streamed) -> None:
    lines = streamed_lines(spotter)
    assert lines[0] == (
        "keyword_spotter.tflite: takes 2 new frames instead of its window of 49: 22,824 B -> 52,576 B on cortex-m4, "
        "1/2.4 of the MACs"
    )
    assert "bytes of frames that the application keeps        490          0  -100.0 %" in lines
    assert "    memcpy(interpreter.input(0)->data.raw, frames, 20);" in lines
    assert "    if (++invocations >= 25) {  // the last 49 frames are its window" in lines
    assert (
        "It must get every frame once and in order. It is right from invocation 25 on, ceil(49 / 2): feed it the 49 "
        "frames of the first window, after 1 frame of anything."
    ) in lines
    assert "Where frames were dropped, and after Reset(), the next 24 results are wrong." in lines
    assert ("on all rows: #9 AVERAGE_POOL_2D: each of its outputs is made of every frame") in lines
