"""Where head, tail and tensors go, on the samples: literal figures, and what every placement must keep."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tflm_sim.answers.arena_needs import arena_needs
from tflm_sim.answers.offline_plan import with_planned_variables
from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.errors import UsageError
from tflm_sim.extensions.banks.bank import RamBank, parse_banks
from tflm_sim.extensions.banks.curve import curve
from tflm_sim.extensions.banks.placement import BankQuestion
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType
from tflm_sim.planners import native
from tflm_sim.planners.buffers import plan_of
from tflm_sim.planners.validate import validate
from tflm_sim.report.size_answer import size_answer
from tflm_sim.report.text import answer_lines
from tflm_sim.targets.boards import board

NEEDS_C = pytest.mark.skipif(not native.available(), reason="the C core was not built, and packs nothing")


def question(name: str, target: str = "cortex-m4", **settings: str) -> BankQuestion:
    return BankQuestion(simulate(f"sample:{name}", target, **settings))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["dtcm=64KiB"], "is given 1 time;"),
        (["dtcm=64KiB", "DTCM=1KiB"], "two banks are called 'dtcm'"),
        (["dtcm=64KiB", "psram"], "psram has no size"),
        (["dtcm=64KiB", "2=1KiB"], "write NAME=SIZE"),
        (["dtcm=8", "psram=1KiB"], "holds no 16 bytes"),
        (["a=64KiB@0x20000000", "b=1KiB@0x20000000"], "a reaches to 0x20010000, b begins at 0x20000000"),
        (["a=64KiB@0x20000000", "b=1KiB@0x20000100"], "a reaches to 0x20010000, b begins at 0x20000100"),
        (["a=64KiB@0xfffff000", "b=1KiB"], "32 bits of addresses"),
    ],
)
def test_what_is_no_list_of_banks_is_refused(texts: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_banks(texts)


def test_a_bank_that_begins_off_a_multiple_of_16_loses_what_is_before_it() -> None:
    bank, _ = parse_banks(["a=100@0x20000004", "b=1KiB"])
    assert (bank.lost, bank.usable) == (12, 80)


def test_boards_know_their_banks() -> None:
    assert parse_banks(["flexram", "ram2", "sdram=8MiB"], board("teensy41")) == (
        RamBank("flexram", 512 << 10),
        RamBank("ram2", 512 << 10),
        RamBank("sdram", 8 << 20),
    )
    with pytest.raises(UsageError, match=r"teensy41 has FlexRAM \(ITCM, DTCM\) 512 KiB \+ RAM2 512 KiB"):
        parse_banks(["psram", "ram2"], board("teensy41"))


def test_tflms_own_create_with_two_arenas_is_that_of_split_arenas() -> None:
    asked = question("mobilenet_v1_025")
    split = simulate("sample:mobilenet_v1_025", "cortex-m4", split_arenas=True).split
    assert split is not None
    way = next(way for way in asked.stock_ways(parse_banks(["a=64KiB", "b=2MiB"])) if (way.head, way.tail) == (0, 1))
    assert [use.needed for use in way.uses] == [-(-split.non_persistent // 16) * 16, split.persistent]


def test_the_fewest_bytes_in_slow_banks_are_the_heads_or_the_tails() -> None:
    banks = parse_banks(["dtcm=64KiB", "psram=2MiB"])
    ways = question("mobilenet_v1_025", kernels="reference").stock_ways(banks)
    moved = {(way.head, way.tail): sum(use.moved.total for use in way.uses[1:]) for way in ways}
    assert (moved[0, 1], moved[1, 0], moved[1, 1]) == (1_852_416, 7_316_132, 9_168_548)


@NEEDS_C
@pytest.mark.parametrize("name", ["mobilenet_v1_025", "residual", "streaming", "keyword_spotter"])
@pytest.mark.parametrize("kernels", ["reference", "cmsis_nn"])
def test_every_bank_holds_what_is_placed_there_and_less_of_the_fast_one_is_never_better(
    name: str, kernels: str
) -> None:
    asked = question(name, kernels=kernels)
    whole = asked.roomy.smallest
    assert whole is not None
    found = []
    for part in (1.0, 0.7, 0.4, 0.2):
        banks = (RamBank("fast", int(whole.multiple_of_16 * part)), RamBank("slow", 4 << 20))
        placed = asked.place(banks)
        assert placed.is_optimal
        best = placed.best
        assert best is not None
        assert best.plan is not None
        assert best.fits(banks)
        for number in (0, 1):
            rows = [index for index, bank in enumerate(best.plan.banks) if bank == number]
            buffers = [asked.buffers[index] for index in rows]
            assert validate(buffers, plan_of(buffers, [best.plan.offsets[index] for index in rows])) == []
        found.append(best.uses[1].moved.total)
        assert found[-1] == placed.slow_bound
    assert all(larger <= smaller for larger, smaller in pairwise(found))


@NEEDS_C
def test_three_banks_use_the_slowest_least() -> None:
    asked = question("mobilenet_v1_025")
    two = asked.place(parse_banks(["a=20KiB", "c=2MiB"])).best
    three = asked.place(parse_banks(["a=20KiB", "b=20KiB", "c=2MiB"])).best
    assert two is not None
    assert three is not None
    assert three.uses[2].moved.total < two.uses[1].moved.total


@NEEDS_C
def test_banks_that_hold_too_little_are_proved_to() -> None:
    placed = question("mobilenet_v1_025").place(parse_banks(["a=20KiB", "b=20KiB"]))
    assert (placed.best, placed.is_decided) == (None, True)


@NEEDS_C
def test_a_curve_falls_from_all_in_the_slow_bank_to_nothing() -> None:
    points = curve(question("residual"), parse_banks(["a=1KiB", "b=2MiB"]))
    assert points[0].slow_bytes == 0
    assert len(points) > 3
    for larger, smaller in pairwise(points):
        assert larger.fast_bytes > smaller.fast_bytes
        assert larger.slow_bytes < smaller.slow_bytes


def with_states() -> Simulation:
    """Return two SVDFs of 16 steps in a row, whose states of 512 bytes each are variables."""
    b = ModelBuilder()
    x = b.tensor((1, 8), TensorType.INT8, scale=0.5)
    inputs = [x]
    for _ in range(2):
        feature = b.tensor((16, 8), TensorType.INT8, data=bytes(128), scale=0.004)
        time = b.tensor((16, 16), TensorType.INT16, data=bytes(512), scale=0.0001)
        bias = b.tensor((8,), TensorType.INT32, data=bytes(32), scale=0.000001)
        state = b.tensor((1, 256), TensorType.INT16, scale=0.01, zero_point=0, is_variable=True)
        y = b.tensor((1, 8), TensorType.INT8, scale=0.5)
        b.operator("SVDF", [inputs[-1], feature, time, bias, state], [y], options={"rank": 2})
        inputs.append(y)
    return simulate(parse(b.build(inputs=[x], outputs=[y])), "cortex-m4", kernels="reference")


@NEEDS_C
def test_variables_that_the_model_asks_the_planner_for_have_a_place_of_their_own_in_any_bank() -> None:
    roomy = with_states()
    in_tail = BankQuestion(roomy)
    planned = simulate(with_planned_variables(roomy), roomy.configuration)
    asked = BankQuestion(planned)
    assert (in_tail.tail_variables, asked.tail_variables) == (1024, 0)
    assert in_tail.needs.tail - asked.needs.tail == 1024
    banks = parse_banks(["fast=1500", "slow=64KiB"])
    best = asked.place(banks).best
    assert best is not None
    assert best.plan is not None
    states = [index for index, info in enumerate(asked.infos) if asked.is_variable(info)]
    assert [asked.infos[index].first_created for index in states] == [-1, -1]  # TFLM says of them what it says.
    for state in states:
        bank, start = best.plan.banks[state], best.plan.offsets[state]
        for other, each in enumerate(asked.buffers):
            at = best.plan.offsets[other]
            assert other == state or best.plan.banks[other] != bank or at + each.size <= start or start + 512 <= at


def test_a_file_whose_variables_are_planned_overlaps_nothing_with_tflms_own_planner_either() -> None:
    roomy = with_states()
    planned = simulate(with_planned_variables(roomy), roomy.configuration)
    assert planned.head_bytes == roomy.head_bytes + 1024
    assert planned.tail_bytes == roomy.tail_bytes - 1024
    assert {each.offset for each in planned.buffers if each.info.first_created < 0} == {
        roomy.head_bytes,
        roomy.head_bytes + 512,
    }


def test_variables_in_the_head_are_alive_always_and_no_gaps() -> None:
    roomy = with_states()
    planned = simulate(with_planned_variables(roomy), roomy.configuration)
    assert roomy.peak is not None
    assert planned.peak is not None
    assert (roomy.peak.variable_bytes, planned.peak.variable_bytes) == (0, 1024)
    assert planned.peak.live_bytes == roomy.peak.live_bytes + 1024 == planned.head_bytes
    assert f"{planned.head_bytes:,} B (1,024 B of variables); no plan can be smaller" in "\n".join(
        answer_lines(size_answer(planned), 0)
    )


def test_a_model_without_variables_has_none_to_plan() -> None:
    with pytest.raises(UsageError, match="no variable tensors"):
        with_planned_variables(simulate("sample:streaming", "cortex-m4"))  # Its states are resource variables.


def test_with_a_planner_of_its_own_tflm_needs_less_beside_the_plan() -> None:
    own = simulate("sample:mobilenet_v1_025", "cortex-m4", own_planner=True)
    needs = arena_needs(own)
    assert needs.tail == -(-own.tail_bytes // 16) * 16
    assert needs.tail_apart < needs.tail < needs.together_before


@pytest.mark.parametrize(
    ("target", "settings", "message"),
    [
        ("x86_64", {}, "processors of 32 bits"),
        ("cortex-m4", {"runtime": "2022-06-01"}, "has one arena"),
        ("cortex-m4", {"interpreter": "recording"}, "interpreter=plain"),
    ],
)
def test_what_has_no_two_banks_is_refused(target: str, settings: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        question("sine", target, **settings)
