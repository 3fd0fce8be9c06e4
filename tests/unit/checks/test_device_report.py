from dataclasses import replace

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.arena.events import PlanAdd, PlanOffset
from tflm_sim.checks import device_report
from tflm_sim.checks.device_report import ComparedFigure, ReportComparison, compare_report, identify
from tflm_sim.device.configuration import Configuration
from tflm_sim.logs.arena_report import ArenaReport
from tflm_sim.logs.log_events import ArenaUsed, BenchmarkRecord, CategoryUse, PlanBuffer, PlanDialect, PlanReport
from tflm_sim.model.load import load
from tflm_sim.samples import sample_path
from tflm_sim.targets.presets import preset

MODEL = load(sample_path("sine"))
IDENTITY = identify(sample_path("sine").read_bytes())
PLAIN = Configuration(preset("cortex-m4"), "plain")
RECORDING = Configuration(preset("cortex-m4"), "recording")


def plain_report(arena_size: int, **changes: object) -> ArenaReport:
    simulation = simulate(MODEL, PLAIN, arena_size=arena_size)
    report = ArenaReport(
        1, 9, 1, arena_size, 0, (), None, None, simulation.arena_used_bytes, None, None, (), (), None, 0
    )
    return replace(report, **changes)  # type: ignore[arg-type]


def compare(report: object, configuration: Configuration = PLAIN) -> ReportComparison:
    return compare_report(report, MODEL, configuration, identity=IDENTITY)  # type: ignore[arg-type]


@pytest.mark.parametrize("arena_size", [2000, 2001, 2002, 2004, 2008, 2015, 4096])
def test_a_stub_report_is_compared_in_its_own_arena(arena_size: int) -> None:
    assert compare(plain_report(arena_size)).is_equal


def test_the_skew_of_the_arena_counts() -> None:
    skewed = replace(PLAIN, target=replace(PLAIN.target, arena_address=4))
    simulation = simulate(MODEL, skewed, arena_size=2000)
    assert compare(plain_report(2000, skew=4, total=simulation.arena_used_bytes)).is_equal


def test_one_byte_more_is_a_difference() -> None:
    total = simulate(MODEL, PLAIN, arena_size=2000).arena_used_bytes
    (figure,) = compare(plain_report(2000, total=total + 1)).figures
    assert (figure.name, figure.low, figure.simulated, figure.is_equal) == ("total", total + 1, total, False)


@pytest.mark.parametrize(
    "changes",
    [
        {"model_size": 1, "model_crc32": IDENTITY.crc32},
        {"model_size": IDENTITY.size, "model_crc32": 1},
        {"info": (("sha256", "00" * 32),)},
    ],
)
def test_a_report_about_another_model_is_refused(changes: dict[str, object]) -> None:
    comparison = compare(plain_report(2000, **changes))
    assert comparison.refused.startswith("it is about another model")
    assert not comparison.is_equal


def test_a_report_about_this_model_is_not_refused() -> None:
    same = {"model_size": IDENTITY.size, "model_crc32": IDENTITY.crc32, "info": (("sha256", IDENTITY.sha256),)}
    assert compare(plain_report(2000, **same)).is_equal


def test_a_report_with_categories_comes_from_a_recording_interpreter() -> None:
    simulation = simulate(MODEL, RECORDING, arena_size=2048)
    uses = tuple(
        CategoryUse(key, recorded.used, recorded.requested, recorded.count)
        for key, recorded in zip(
            [
                "TFLITE_EVAL_TENSOR_DATA",
                "PERSISTENT_TFLITE_TENSOR_DATA",
                "PERSISTENT_TFLITE_TENSOR_QUANTIZATION_DATA",
                "PERSISTENT_BUFFER_DATA",
                "TFLITE_TENSOR_VARIABLE_BUFFER_DATA",
                "NODE_AND_REGISTRATION_ARRAY",
                "OP_DATA",
            ],
            simulation.recorded.values(),
            strict=True,
        )
    )
    report = plain_report(2048, total=simulation.arena_used_bytes, categories=uses)
    comparison = compare(report)
    assert comparison.is_equal
    assert len(comparison.figures) == 22  # the total and seven categories of three


def test_a_rounded_figure_agrees_when_the_simulation_is_within_it() -> None:
    used = simulate(MODEL, PLAIN, arena_size=1 << 20).arena_used_bytes
    assert compare(ArenaUsed(1, used - 50, used + 49, "mltk")).is_equal
    assert not compare(ArenaUsed(1, used + 1, used + 100, "mltk")).is_equal


def test_an_mcufit_record_is_known_by_its_hash() -> None:
    used = simulate(MODEL, PLAIN, arena_size=1 << 20).arena_used_bytes
    values = {"arena_used_bytes": used, "model_sha256": IDENTITY.sha256}
    assert compare(BenchmarkRecord(1, "result", tuple(values.items()))).is_equal
    foreign = BenchmarkRecord(1, "result", (("arena_used_bytes", used), ("model_sha256", "ff")))
    assert compare(foreign).refused.startswith("it is about another model: SHA-256 ff")


def test_a_printed_plan_is_compared_buffer_by_buffer() -> None:
    simulation = simulate(MODEL, PLAIN, arena_size=1 << 20)
    added = [event for event in simulation.events if isinstance(event, PlanAdd)]
    offsets = {event.planner_index: event.offset for event in simulation.events if isinstance(event, PlanOffset)}
    buffers = tuple(
        PlanBuffer(index, event.size, offsets[index], event.first, event.last) for index, event in enumerate(added)
    )
    good = PlanReport(PlanDialect.STARS, 1, 9, buffers, (), ())
    assert compare(good).is_equal
    moved = (replace(buffers[0], offset=buffers[0].offset + 16), *buffers[1:])
    wrong = [figure.name for figure in compare(replace(good, buffers=moved)).figures if not figure.is_equal]
    assert wrong == ["buffer 0 offset"]


def test_a_planner_outside_the_arena_leaves_only_the_head_and_the_plan_to_compare() -> None:
    head = simulate(MODEL, PLAIN, arena_size=2000).head_bytes
    report = plain_report(2000, info=(("planner", "outside"),), total=1, tail=1, head=head)
    assert [figure.name for figure in compare(report).figures] == ["head"]


def test_an_arena_in_which_the_simulation_fails_is_said() -> None:
    assert compare(replace(plain_report(2000), arena_size=200)).refused.startswith(
        "the simulation fails in this arena: "
    )


def test_a_model_without_a_checksum_is_told_apart_by_its_size() -> None:
    comparison = compare(plain_report(2000, model_size=1))
    assert f"1 bytes with CRC-32 00000000, not {IDENTITY.size} bytes with {IDENTITY.crc32:08x}" in comparison.refused


@pytest.mark.parametrize(("different", "best"), [((2, 2, 2), 0), ((2, 1, 1), 1), ((2, 1, 0), 2), ((0, 0, 0), 0)])
def test_of_sizes_that_explain_as_much_the_first_counts(
    monkeypatch: pytest.MonkeyPatch, different: tuple[int, ...], best: int
) -> None:
    def compared(report: object, model: object, observed: object, about: object, size: int) -> ReportComparison:
        figures = [ComparedFigure(f"figure{at} used", 1, 1, 2) for at in range(different[size])]
        return ReportComparison(f"size {size}", "", (*figures, ComparedFigure("same", 1, 1, 1)))

    monkeypatch.setattr(device_report, "_arena_sizes", lambda report: [0, 1, 2])
    monkeypatch.setattr(device_report, "_compare", compared)
    found = compare_report(ArenaUsed(1, 8, 8, "any"), MODEL, PLAIN, checks_remainders=True)
    assert found.about == f"size {best}"
