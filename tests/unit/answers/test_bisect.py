"""Which change of a history moved a model's arena."""

from __future__ import annotations

from tflm_sim.answers.bisect import bisect, commits_between, versions_between
from tflm_sim.device.configuration import configure
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.samples import sample_path
from tflm_sim.targets.history import find_commit


def _sample() -> Model:
    return load(sample_path("mobilenet_v1_025"))


def test_every_change_that_moves_the_arena_is_a_step() -> None:
    states = commits_between(configure("x86_64"), 229 - 1, 250)
    steps = list(bisect(_sample(), states))
    # 31 nodes grow by a pointer: 31 x 8 = 248. Then MicroAllocator by 8 and the planner's own 72 bytes.
    assert [(step.state.name, step.state.date) for step in steps] == [
        ("b6cbaea68", "2021-08-11"),
        ("a1f4b8804", "2021-09-09"),
    ]
    first, second = (step.after - step.before for step in steps if step.after and step.before)
    assert 0 <= first - 31 * 8 < 16
    assert 0 <= second - (8 + 72) < 16


def test_behind_the_counted_commits_a_step_is_the_first_wheel_with_the_change() -> None:
    first, last = find_commit("90b983c").position, find_commit("8f6596d").position
    (step,) = bisect(load("sample:sine"), commits_between(configure("cortex-m4", kernels="reference"), first, last))
    assert (step.state.name, step.state.date) == ("1881137", "2026-10-12")
    assert "TfLiteFullyConnectedParams.quant_spec, later than the wheel of 2026-10-09" in step.state.summaries
    assert (step.before, step.after) == (1068, 1100)


def test_where_nothing_moves_there_is_no_step() -> None:
    assert list(bisect(_sample(), commits_between(configure("x86_64"), 1900, 1908))) == []


def test_the_first_state_is_where_it_begins_and_versions_come_in_their_order() -> None:
    names = [state.name for state in versions_between(configure("esp32"), "1.1.1", "1.2.1")]
    assert names == ["1.1.1", "1.1.2", "1.2.0", "1.2.1"]
    first, *_ = commits_between(configure("x86_64"), 1000, 1100)
    assert (first.name, first.summaries) == (first.configuration.target.runtime.snapshot, ())


def test_cmsis_nn_is_the_one_of_each_commit() -> None:
    states = list(commits_between(configure("cortex-m4"), 1200, 1210))
    assert [(state.name, str(state.configuration.target.kernel_library)) for state in states] == [
        ("96c4b8621", "cmsis_nn@d071e9f (dsp)"),
        ("925909cf6", "cmsis_nn@d071e9f (dsp)"),
        ("6f2828619", "cmsis_nn@dc64e48 (dsp)"),
    ]


def test_a_change_at_the_very_first_state_is_none_and_one_at_the_last_is() -> None:
    # 2022-02-11 is at position 512: tensors of UINT16 are known.
    target = configure("cortex-m4")
    (first,) = commits_between(target, 512, 512)
    assert (first.date, first.summaries) == ("2022-02-11", ())
    *_, last = commits_between(target, 511, 512)
    assert (last.name, last.summaries[0]) == (first.name, "tensors of UINT16 are known")


def test_where_the_device_prints_nothing_the_turn_says_why_it_fails() -> None:
    """Until 2021-11-16 an operator needed vectors of inputs and outputs, which CALL_ONCE here does not have."""
    builder = ModelBuilder()
    x, y = (builder.tensor((4,), TensorType.INT8) for _ in range(2))
    builder.operator("RELU", [x], [y])
    builder.operator("CALL_ONCE", None, None, options={"init_subgraph_index": builder.add_subgraph().index})
    model = parse(builder.build(inputs=[x], outputs=[y]))
    before, after = (next(commits_between(configure("cortex-m4"), position, position)) for position in (360, 380))
    (turn,) = bisect(model, [before, after])
    assert (turn.before, turn.message) == (None, "")
    (back,) = bisect(model, [after, before])
    assert (back.before, back.after) == (turn.after, None)
    assert "a null pointer is read" in back.message


def test_what_the_device_prints_where_it_fails_is_the_message_of_the_turn() -> None:
    builder = ModelBuilder()
    x = builder.tensor((4,), TensorType.UINT16)
    model = parse(builder.build(inputs=[x], outputs=[]))
    known, unknown = (next(commits_between(configure("cortex-m4"), position, position)) for position in (512, 511))
    (turn,) = bisect(model, [known, unknown])
    assert (turn.after, turn.message) == (None, "Failed to initialize tensor 0")
