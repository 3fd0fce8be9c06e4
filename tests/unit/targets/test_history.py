"""Upstream's commits by hash and by day, and what a runtime of the past is made of."""

from __future__ import annotations

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.targets.abi import AAPCS
from tflm_sim.targets.changes import BEFORE_UPSTREAM, CHANGES, EDGE_IMPULSE, REVERSED, UPSTREAM
from tflm_sim.targets.history import commits, find_commit, find_day, main_line
from tflm_sim.targets.libraries import find_library
from tflm_sim.targets.presets import at_runtime, preset
from tflm_sim.targets.runtime import FIRST_BUILD, REFERENCE_DAY, REFERENCE_SNAPSHOT, Runtime, find_runtime
from tflm_sim.targets.structs import layouts


def test_the_table_holds_every_commit_and_positions_count_the_main_line() -> None:
    assert len(commits()) == 1971
    assert [commit.position for commit in main_line()] == list(range(1, 1929))
    assert main_line()[0].short == "d96bdbdc6"
    assert main_line()[-1].short == "90b983c2b"


@pytest.mark.parametrize(
    ("day", "commit"),
    [
        ("2021-06-15", "217ad9fcb"),
        ("2022-06-14", "419a97eb9"),
        ("2024-09-09", "89f99a9e7"),
        ("2026-08-20", "90b983c2b"),
    ],
)
def test_a_day_is_where_main_stood_at_its_end(day: str, commit: str) -> None:
    assert find_day(day).short == commit


def test_seven_digits_in_any_case_name_a_commit() -> None:
    assert find_commit("52C9568").short == "52c956815"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("2021-04-07", "begins on 2021-04-08"),
        ("2021-04-08", "no library yet"),
        ("2026-08-21", "ends with 90b983c2b of 2026-08-20"),
        ("2023-02-30", "is no day"),
        ("0000000", "no commit"),
        ("52c956", "neither a day"),
        ("main", "neither a day"),
    ],
)
def test_what_names_no_runtime_is_refused_in_a_sentence(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        find_runtime(text)


def test_every_change_stands_at_the_position_of_its_commit() -> None:
    for name, change in CHANGES.items():
        if change.tree == UPSTREAM:
            commit = find_commit(change.commit)
            first = BEFORE_UPSTREAM if commit.position == FIRST_BUILD else commit.position
            assert change.position in (first, commit.position), name
            assert commit.day == change.date, name


def test_a_change_that_was_undone_lasts_until_then() -> None:
    row = CHANGES["created_is_used"]
    assert [Runtime("x", upstream=row.position + step).has("created_is_used") for step in (-1, 0, 30, 31)] == [
        False,
        True,
        True,
        False,
    ]


# tests/../shared/history/cm4_struct_history.txt: sizes that arm-none-eabi-gcc gives at 18 commits.
MEASURED = {
    "MicroAllocator": {
        "2021-04-10": 24,
        "2021-06-15": 28,
        "2021-09-15": 32,
        "2022-03-15": 36,
        "2022-06-14": 40,
        "2022-12-14": 36,
    },
    "TfLiteNode": {"2021-04-10": 24, "2021-09-15": 28},
    "NodeAndRegistration": {"2021-04-10": 28, "2021-09-15": 32},
    "OpDataConv": {"2021-04-10": 52, "2022-12-14": 56},
    "OpDataFullyConnected": {"2021-04-10": 32, "2022-12-14": 36, "2025-01-07": 48},
    "OpDataReduce": {"2022-06-14": 36, "2022-12-14": 40, "2026-08-20": 44},
    "OpDataSvdf": {"2021-09-15": 32, "2021-12-15": 36},
    "Relu6OpData": {"2021-09-15": 2, "2025-01-07": 8},
    "internal::ScratchBufferRequest": {"2021-04-10": 8, "2022-03-15": 12},
    "MicroResourceVariables::MicroResourceVariable": {"2021-09-15": 16, "2023-03-15": 20},
}


def test_structs_are_as_large_as_they_were_measured_on_a_cortex_m4() -> None:
    for struct, sizes in MEASURED.items():
        for day, size in sizes.items():
            assert layouts(AAPCS, find_runtime(day))[struct].size == size, (struct, day)


def test_a_preset_that_is_one_build_takes_no_other_runtime() -> None:
    with pytest.raises(UsageError, match="one build of TFLM"):
        at_runtime(preset("x86_64-pip"), "2023-06-15")


def test_the_day_of_the_reference_is_its_commits() -> None:
    assert find_commit(REFERENCE_SNAPSHOT).day == REFERENCE_DAY


@pytest.mark.parametrize(("runtime", "words"), [
    (Runtime(), "TFLM of 2026-08-20 (90b983c2b)"),
    (find_runtime("2023-06-15"), "TFLM of 2023-06-15 (7ab206e50)"),
    (preset("x86_64-pip").runtime, "TFLM of October 2026 (8f6596d)"),
    (preset("nano33ble-chirale").runtime, "TFLM of 2023-01-13 (chirale-2.0.0)"),
    (find_library("Harvard_TinyMLx").runtime(), "TFLM of early 2021 (Harvard_TinyMLx@1.2.4)"),
    (Runtime("esphome@2026.6.5"), "TFLM esphome@2026.6.5"),
])  # fmt: skip
def test_a_runtime_in_words_has_its_day_unless_a_document_gave_the_name_alone(runtime: Runtime, words: str) -> None:
    assert str(runtime) == words


@pytest.mark.parametrize("name", ["tensorflow_uint8", "dequantize_int32"])
def test_what_tensorflows_kernels_took_ends_with_the_fourth_commit_of_tflms_own_repository(name: str) -> None:
    assert CHANGES[name].until == CHANGES["io_tensors"].position == 4


def test_what_edge_impulse_did_on_its_own_begins_and_ends_with_its_updates() -> None:
    own = REVERSED[EDGE_IMPULSE]
    update = CHANGES["edge_impulse_kernels"].position  # 29ca890, as the table says
    names = ("pad_5d", "fc_filter_zero_point", "abs_rsqrt_quantized", "expand_dims_prepares")
    assert {name: own[name].stop for name in names} == dict.fromkeys(names, update)
    assert own["reduce_num_axis"].start == CHANGES["edge_impulse_reductions"].position  # e8a7b5d
