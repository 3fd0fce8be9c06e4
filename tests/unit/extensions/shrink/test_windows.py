"""How much of a window stands in the window before: by operator, for windows of which that can be counted by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import shrinking_models as models

from tflm_sim import load
from tflm_sim.errors import ModelError, UsageError
from tflm_sim.extensions.shrink.windows import WindowWork, window_work
from tflm_sim.extensions.shrink.windows_text import stream_lines
from tflm_sim.model.types import Model


def chain(*layers: Callable[[models.Layers, int], int], rows: int = 8, columns: int = 1, depth: int = 4) -> Model:
    """Return layers one behind the other, of a window of rows."""
    made = models.Layers()
    x = tensor = made.activation((1, rows, columns, depth))
    for layer in layers:
        tensor = layer(made, tensor)
    return made.model([x], [tensor])


def taps(count: int, *, same: bool = False, stride: int = 1) -> Callable[[models.Layers, int], int]:
    """Return a layer that makes each row of ``count`` rows, with a multiply-accumulate an element a tap."""
    return lambda made, x: made.depthwise(x, kernel=(count, 1), same=same, stride=stride)


def dense(made: models.Layers, x: int) -> int:
    """Return a layer of all rows."""
    _, rows, columns, depth = made.shapes[x]
    return made.dense(made.reshape(x, (1, rows * columns * depth)), 2, depth=rows * columns * depth)


def new(work: WindowWork) -> dict[str, tuple[int, ...]]:
    """Return the new elements of each operator that multiplies, of each step."""
    return {f"{each.number} {each.operator}": each.new for each in work.operators if each.macs}


def test_without_padding_only_the_rows_with_new_frames_are_new() -> None:
    work = window_work(chain(taps(3), taps(2)), 3)
    # 6 rows of 3 taps and 5 of 2 taps, of 4 channels.
    assert (work.macs, work.steps, work.new_macs) == (6 * 4 * 3 + 5 * 4 * 2, (1, 2, 3, 4), (20, 40, 60, 80))
    assert new(work) == {"0 DEPTHWISE_CONV_2D": (4, 8, 12, 16), "1 DEPTHWISE_CONV_2D": (4, 8, 12, 16)}


def test_what_saw_the_padding_is_new_at_both_edges() -> None:
    """The first of 8 rows reads padding in each window, and the last one did so in the window before."""
    work = window_work(chain(taps(3, same=True), taps(3, same=True)), 1)
    # Rows 0, 6 and 7 of the first layer; of the second one rows 0 and 1, and 5, 6 and 7.
    assert new(work) == {"0 DEPTHWISE_CONV_2D": (12, 16, 24), "1 DEPTHWISE_CONV_2D": (20, 24, 32)}
    assert (work.steps, work.macs, work.new_macs) == ((1, 2, 4), 192, (96, 120, 168))


def test_a_step_that_is_no_multiple_of_the_stride_makes_all_new() -> None:
    work = window_work(chain(taps(2, stride=2), taps(2), rows=16), 3)
    # Strides of 2: 8 rows, 7 rows.
    assert work.steps == (1, 2, 3, 4, 8)
    assert new(work) == {"0 DEPTHWISE_CONV_2D": (32, 4, 32, 8, 16), "1 DEPTHWISE_CONV_2D": (28, 4, 28, 8, 16)}
    assert work.new_macs == (120, 16, 120, 32, 64)


def test_a_layer_of_all_frames_is_new_in_every_window() -> None:
    work = window_work(chain(taps(3), dense), 1)
    assert new(work) == {"0 DEPTHWISE_CONV_2D": (4, 8, 16), "2 FULLY_CONNECTED": (2, 2, 2)}
    assert work.new_macs == (12 + 48, 24 + 48, 48 + 48)


def test_a_flat_input_has_the_frames_that_the_reshape_behind_it_makes() -> None:
    made = models.Layers()
    x = made.activation((1, 32))
    y = made.depthwise(made.reshape(x, (1, 8, 1, 4)), kernel=(3, 1), same=False)
    work = window_work(made.model([x], [y]), 1)
    assert (work.shape, work.axis, work.frames) == ((1, 8, 1, 4), 1, 8)
    assert new(work) == {"1 DEPTHWISE_CONV_2D": (4, 8, 16)}


def test_frames_may_lie_along_any_axis() -> None:
    """Windows of 3 x 3 without padding, of 8 rows and 6 columns: 6 x 4 places, 4 channels."""
    model = chain(lambda made, x: made.depthwise(x, same=False), columns=6)
    assert [window_work(model, 1, axis).operators[0].new[0] for axis in (1, 2)] == [4 * 4, 6 * 4]
    with pytest.raises(
        UsageError, match=r"^a window of \[1, 8, 6, 4\] can move along the axes 1 \(of 8\) and 2 \(of 6\)"
    ):
        window_work(model, 1)


def test_a_state_moves_on_from_window_to_window() -> None:
    """A queue of four frames takes the one that is the window's last: what is made of all of them is new."""
    work = window_work(models.queues_model(), 1, 3)
    assert work.is_stateful
    assert [each.new[0] for each in work.operators if each.macs] == [16, 16]


def test_all_that_an_unknown_operator_makes_is_new_where_anything_that_it_reads_is() -> None:
    made = models.Layers()
    x = made.activation((1, 8, 1, 4))
    y = made.depthwise(x, kernel=(3, 1), same=False)
    z = made.activation((1, 6, 1, 4))
    made.b.custom("Smooth", [y], [z])
    work = window_work(made.model([x], [z]), 1, 1)
    assert [(each.operator, each.new[0], each.is_opaque) for each in work.operators] == [
        ("DEPTHWISE_CONV_2D", 4, False),
        ("custom Smooth", 24, True),
    ]
    assert stream_lines(work, None)[-1] == "Not looked into, so that all is new behind anything new: #1 custom Smooth."


@pytest.mark.parametrize(("model", "step", "axis", "error", "words"), [
    (chain(taps(3)), 8, None, UsageError, "--stream 8: a window of 8 frames moves on by 1 to 7"),
    (chain(taps(3)), 0, 1, UsageError, "--stream 0: a window of 8 frames moves on by 1 to 7"),
    (chain(taps(3)), 1, 2, UsageError, r"--axis 2: .* \[1, 8, 1, 4\]; frames are along one of \[1, 3\]"),
    (chain(dense), 1, None, UsageError, r"a window of \[1, 8, 1, 4\] that moves on by 1 has nothing in common"),
    (load("sample:residual"), 40, None, UsageError, "name it with --axis"),
])  # fmt: skip
def test_what_no_window_is_is_refused_by_name(
    model: Model, step: int, axis: int | None, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        window_work(model, step, axis)


def test_two_inputs_are_no_window() -> None:
    made = models.Layers()
    x, y = made.activation((1, 8, 1, 4)), made.activation((1, 8, 1, 4))
    with pytest.raises(ModelError, match="it has 2 inputs, and a window is one input"):
        window_work(made.model([x, y], [made.add(x, y)]), 1)


def test_what_nobody_writes_makes_no_window() -> None:
    made = models.Layers()
    x, other = made.activation((1, 8, 1, 4)), made.activation((1, 8, 1, 4))
    with pytest.raises(ModelError, match=r"its windows cannot be compared .*reads tensor 1, which was never written"):
        window_work(made.model([x], [made.add(x, other)]), 1, 1)


def test_operators_that_pass_on_what_is_there_are_no_rows_and_those_at_the_end_are_one() -> None:
    def behind(made: models.Layers, x: int) -> int:
        return made.dense(made.dense(made.elementwise("RELU", x), 3, depth=2), 5, depth=3)

    work = window_work(chain(taps(3), lambda made, x: made.elementwise("RELU", x), dense, behind), 1)
    assert stream_lines(work, "folder/window.tflite") == [
        "window.tflite: when its window of 8 frames moves on by 1 frame, 81 of 141 multiply-accumulates are new "
        "(57.4 %)",
        "",
        "new in a window, by the frames that it moves on:",
        "operator              elements  MACs        1        2        4",
        "#0 DEPTHWISE_CONV_2D        24    72   16.7 %   33.3 %   66.7 %",
        "#3 FULLY_CONNECTED           2    48  100.0 %  100.0 %  100.0 %",
        "#5 to #6                     8    21  100.0 %  100.0 %  100.0 %",
        "MACs in all                      141   57.4 %   66.0 %   83.0 %",
        "MACs a frame                               81       46       29",
        "",
        "The window moves along axis 1 of [1, 8, 1, 4]. What is not new is the same expression of the same frames as "
        "in the window before; TFLM computes it again.",
        "'tflm-sim shrink MODEL --stream 1 --axis 1 --for macs -o OUT.tflite' writes a model that keeps them.",
    ]
