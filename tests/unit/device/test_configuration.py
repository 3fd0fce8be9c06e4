"""``configure()``: what a user writes, as one value that everything takes."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tflm_sim.answers.offline_plan import with_offline_plan
from tflm_sim.answers.simulation import simulate
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.checks.lifetime_answers import cost_of_preserving, lifetimes
from tflm_sim.checks.sanitizer import sanitize
from tflm_sim.device.cases import cases_of, range_of
from tflm_sim.device.configuration import Configuration, Where, configure, configure_each, planner_words
from tflm_sim.errors import UsageError
from tflm_sim.model.load import load
from tflm_sim.ops.op_model import OpModel
from tflm_sim.samples import sample_path
from tflm_sim.targets.presets import preset

M4 = preset("cortex-m4")
SINE = load(sample_path("sine"))


@pytest.mark.parametrize("where", ["cortex-m4", "Cortex-M4", M4, Configuration(M4)])
def test_a_name_in_any_case_a_target_and_a_configuration_are_the_same(where: Where) -> None:
    assert configure(where) == Configuration(M4)


@pytest.mark.parametrize("where", ["cortex-m4", M4, Configuration(M4)])
def test_every_entry_point_takes_each_of_them(where: Where) -> None:
    size = smallest_arena(SINE, where).multiple_of_16
    assert simulate(SINE, where, arena_size=size).status == "ok"
    assert lifetimes(SINE, where).find("output").size == 1
    assert sanitize(SINE, where) == ()
    assert cost_of_preserving(SINE, where, None).before == size
    assert simulate(with_offline_plan(SINE, where, "linear"), where).status == "ok"


def test_settings_win_over_those_of_a_configuration_and_leave_the_others() -> None:
    base = configure("cortex-m4", kernels="reference", variable_arena=1024, custom_ops=[OpModel("MINE")])
    changed = configure(base, planner="linear", arena_address=4)
    assert changed == replace(base, planner="linear", target=replace(base.target, arena_address=4))


def test_none_is_the_targets_own() -> None:
    assert configure("x86_64-pip", kernels=None, interpreter=None).interpreter == "recording"
    assert Configuration(preset("x86_64-pip")).interpreter == "recording"


def test_a_setting_that_does_not_exist_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="there is no setting 'plan'; did you mean planner or own_planner"):
        simulate(SINE, "cortex-m4", plan="linear")  # type: ignore[call-arg]


def test_kernels_go_with_a_name() -> None:
    with pytest.raises(UsageError, match="needs the name of a target"):
        configure(M4, kernels="reference")


def test_an_unknown_target_is_named_as_it_was_written() -> None:
    with pytest.raises(UsageError, match="unknown target 'Cortex-M5'; did you mean cortex-m55"):
        configure("Cortex-M5")


@pytest.mark.parametrize(("planner", "object_bytes"), [("greedy", 44), ("linear", 4 * 1024 + 12)])
def test_a_planner_that_the_firmware_makes_is_not_in_the_arena(planner: str, object_bytes: int) -> None:
    """LinearMemoryPlanner holds 1,024 offsets; greedy_memory_planner.h, linear_memory_planner.h @ 90b983c."""
    made, given = (smallest_arena(SINE, M4, planner=planner, own_planner=own).size for own in (False, True))
    assert made - given == object_bytes


def test_only_one_arena_with_the_plain_interpreter_takes_a_planner() -> None:
    for settings in ({"interpreter": "recording"}, {"split_arenas": True}):
        with pytest.raises(UsageError, match=r"only MicroAllocator::Create with one arena takes a planner"):
            configure("cortex-m4", own_planner=True, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(("settings", "says"), [
    ({"optimize_kernels_for": "fun"}, "kernels are optimized for one of speed, size, neither, not for 'fun'"),
    ({"interpreter": "quick"}, "interpreter 'quick' is not one of plain, recording"),
    ({"planner": "best"}, "planner 'best' is not one of greedy, linear"),
    ({"resource_variables": -1}, "resource_variables: -1 is out of range: 0 to 9,223,372,036,854,775,807"),
    ({"interpreter": "recording", "planner": "linear"}, "RecordingMicroAllocator::Create always creates a Greedy"),
    ({"interpreter": "recording", "split_arenas": True}, "RecordingMicroAllocator::Create takes one arena"),
    ({"library": "chirale", "runtime": "2023-06-15"}, "`library=` already selects the version of TFLM; remove "
     "`runtime=`"),
    ({"board": "esp32"}, "esp32 runs esp32 (ilp32), not cortex-m4 (aapcs); remove `target=` or `board=`"),
    ({"board": "stf32f4"}, "unknown board 'stf32f4'; did you mean stm32f4-discovery?"),
])  # fmt: skip
def test_what_has_no_meaning_is_refused(settings: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(says)}"):
        configure("cortex-m4", **settings)  # type: ignore[arg-type]


def test_what_has_a_meaning_is_kept() -> None:
    assert configure("cortex-m4", resource_variables=0).resource_variables == 0
    assert configure("cortex-m4", optimize_kernels_for="size").target.runtime.kernels_for_size
    assert not configure("cortex-m4").target.runtime.kernels_for_size
    assert configure("cortex-m4", variable_arena="1KiB").variable_arena == 1024
    assert configure("cortex-m4", ethos_u=True).target.ethos_u is True
    assert configure("cortex-m4", preserved=[(0, 1)]).preserved == frozenset({(0, 1)})
    assert configure("cortex-m4", own_planner=True).own_planner
    assert configure("cortex-m4").custom_ops == ()


def test_a_target_takes_a_runtime_and_no_library_or_kernels() -> None:
    assert configure(M4, runtime="2023-06-15").target.runtime.day == "2023-06-15"
    assert configure(Configuration(M4), runtime="2023-06-15").target.runtime.day == "2023-06-15"
    with pytest.raises(UsageError, match="it goes with the name of a target alone"):
        configure(M4, library="chirale")


def test_one_target_or_several() -> None:
    assert configure_each("cortex-m4") == configure_each([M4]) == [Configuration(M4)]
    assert len(configure_each(["cortex-m4", "esp32"])) == 2
    with pytest.raises(UsageError, match="at least one target is needed; there are none"):
        configure_each([])
    with pytest.raises(UsageError, match="a target"):
        configure_each(5)  # type: ignore[arg-type]


def test_a_planner_in_words_may_be_the_firmwares_own() -> None:
    assert [planner_words("greedy", own) for own in (False, True)] == ["greedy planner", "own greedy planner"]


def test_cases_name_only_what_differs() -> None:
    one, other = (configure("cortex-m4", optimize_kernels_for=purpose) for purpose in ("speed", "size"))
    assert cases_of([one, other]) == ["kernels optimized for speed", "kernels optimized for size"]
    assert cases_of([one, one]) == ["", ""]
    assert cases_of([one]) == [""]
    recording = replace(other, interpreter="recording")
    assert cases_of([one, recording])[1] == "kernels optimized for size, recording interpreter"
    assert range_of(["b, x", "a, x"]) == "a to b, x"


@pytest.mark.parametrize(("settings", "name", "runtime"), [
    ({"board": "Arduino Nano 33 BLE"}, "cortex-m4", "90b983c2b"),
    ({"board": "seeed_xiao_esp32s3", "library": "ArduTFLite.h"}, "esp32-s3", "chirale-2.0.0"),
    ({"library": "espressif/esp-tflite-micro@1.3.5"}, "esp32", "esp-tflite-micro@1.3.5"),
])  # fmt: skip
def test_a_board_or_a_library_names_the_target(settings: dict[str, str], name: str, runtime: str) -> None:
    found = configure(**settings).target  # type: ignore[arg-type]
    assert (found.name, found.runtime.snapshot) == (name, runtime)


def test_something_names_the_target() -> None:
    with pytest.raises(UsageError, match=r"^no target is named: give a target, a board, a library or a program$"):
        configure(planner="linear")
    with pytest.raises(
        UsageError, match=r"^firmware='app\.elf' says which TFLM is linked; it goes with the name of a "
    ):
        configure(M4, firmware="app.elf")
