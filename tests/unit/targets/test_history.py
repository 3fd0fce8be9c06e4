"""Upstream's commits by hash and by day, and what a runtime of the past is made of."""

from __future__ import annotations

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.targets.abi import AAPCS
from tflm_sim.targets.changes import BEFORE_UPSTREAM, CHANGES, EDGE_IMPULSE, ESP, NEWEST, REVERSED, UPSTREAM
from tflm_sim.targets.history import at_position, commits, find_commit, find_day, main_line, wheels
from tflm_sim.targets.libraries import LIBRARIES, find_library
from tflm_sim.targets.presets import at_runtime, preset
from tflm_sim.targets.reference import LAST_COUNTED, REFERENCE_DAY, REFERENCE_SNAPSHOT
from tflm_sim.targets.runtime import FIRST_BUILD, Runtime, find_runtime
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
        ("2026-08-23", "90b983c2b"),
        ("2026-10-09", "230c9d9"),
        ("2026-10-12", "1881137"),
        ("2026-10-18", "64b3de8"),
        ("2026-10-23", "8f6596d"),
    ],
)
def test_a_day_is_where_main_stood_at_its_end(day: str, commit: str) -> None:
    assert find_day(day).short == commit


def test_seven_digits_in_any_case_name_a_commit() -> None:
    assert find_commit("52C9568").short == "52c956815"
    assert find_commit("8F6596D").short == "8f6596d"


def test_all_digits_of_a_commit_name_it_though_its_wheel_says_only_seven() -> None:
    assert find_commit("8f6596d" + 33 * "0").short == "8f6596d"


def test_commits_of_wheels_have_no_count_and_stand_as_many_positions_behind_as_they_came_days_later() -> None:
    assert main_line()[-1].position == LAST_COUNTED
    assert main_line()[-1].seconds < wheels()[0].seconds
    assert [wheel.seconds for wheel in wheels()] == sorted(wheel.seconds for wheel in wheels())
    positions = {wheel.short: wheel.position - LAST_COUNTED for wheel in wheels()}
    assert positions["13cd6c1"] == 4  # 2026-08-24, four days after 90b983c2b.
    assert positions["230c9d9"] == 50
    assert positions["1881137"] == 53
    assert (positions["f7ed40d"], positions["8f6596d"]) == (64, 65)  # Two of 2026-10-23.
    assert len(set(positions.values())) == len(positions) == 35
    assert Runtime("8f6596d").position(UPSTREAM) == find_commit("8f6596d").position
    assert at_position(LAST_COUNTED + 65).short == "8f6596d"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("2021-04-07", "begins on 2021-04-08"),
        ("2021-04-08", "no library yet"),
        ("2026-10-24", "ends with 8f6596d of 2026-10-23, the commit of a pip wheel"),
        (
            "2026-10-10",
            "between 230c9d9 of 2026-10-09 and 1881137 of 2026-10-12, .* TfLiteFullyConnectedParams.quant_spec",
        ),
        ("2026-10-11", "what main held on 2026-10-11 is not known: .*; name one of the two"),
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


def test_what_upstream_changed_back_ends_with_the_commit_that_did_so() -> None:
    undone = {
        name: f"{main_line()[change.until - 1].short} {main_line()[change.until - 1].day}"
        for name, change in CHANGES.items()
        if change.tree == UPSTREAM and change.until <= NEWEST
    }
    assert undone == {
        "prepare_status_lost": "c0cf25d24 2021-11-18",
        "offline_by_shortest": "c056e7463 2022-08-16",
        "created_is_used": "7925e839c 2022-12-14",
        "early_uint8_kernels": "0afb62f9d 2021-06-08",
        "space_to_batch_shape": "83bbff9a0 2023-11-30",
        "output_shapes": "7a63bce43 2024-01-11",
        "reshape_of_any_rank": "7a63bce43 2024-01-11",
        "tensorflow_uint8": "a37043ff7 2021-04-09",
        "dequantize_int32": "a37043ff7 2021-04-09",
        "uint8_kernels": "1ca285989 2021-08-23",
        "lstm_prints": "8e21f182f 2023-02-03",
        "fill_without_dims": "2b3f8d0f0 2025-08-08",
        "scales_as_double": "b29826661 2023-02-16",
        "fc_no_per_channel": "47b545074 2024-09-27",
    }
    assert Runtime("x", upstream=NEWEST).has("io_tensors")


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
        at_runtime(preset("nano33ble-chirale"), "2026-10-12")


def test_the_pip_preset_takes_the_wheels_behind_the_counted_commits() -> None:
    assert at_runtime(preset("x86_64-pip"), "2026-10-08").sizeof("TfLiteFullyConnectedParams") == 16
    assert at_runtime(preset("x86_64-pip"), "2026-10-12").sizeof("TfLiteFullyConnectedParams") == 32
    assert not at_runtime(preset("x86_64-pip"), "2026-10-12").runtime.has_debug_checks
    with pytest.raises(UsageError, match="which is not modelled for 2026-08-20; "):
        at_runtime(preset("x86_64-pip"), "90b983c")


def test_the_day_of_the_reference_is_its_commits() -> None:
    assert find_commit(REFERENCE_SNAPSHOT).day == REFERENCE_DAY


@pytest.mark.parametrize(("runtime", "words"), [
    (Runtime(), "TFLM of 2026-08-20 (90b983c2b)"),
    (find_runtime("2023-06-15"), "TFLM of 2023-06-15 (7ab206e50)"),
    (preset("x86_64-pip").runtime, "TFLM of 2026-10-23 (8f6596d, placed by its pip wheel's day)"),
    (find_runtime("2026-10-18"), "TFLM of 2026-10-17 (64b3de8, placed by its pip wheel's day)"),
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


EDGE_IMPULSE_HISTORY = """
7e29702@2020-12-24 6100079@2021-01-19 68b3945@2021-02-03 dcc5ca1@2021-02-12 7adcab5@2021-03-10
547eaa3@2021-03-18 6b402ac@2021-04-12 6887772@2021-05-11 0e0ecbd@2021-06-29 00ea795@2021-07-07
be7b099@2021-08-31 64736ab@2021-10-14 0c351be@2021-10-27 f0e6213@2021-12-28 144730e@2022-04-21
4c96547@2022-09-16 85471be@2023-03-17 f351785@2023-03-21 63d49e4@2023-06-30 abf7f15@2023-08-25
29ca890@2023-11-15 3fc7065@2023-12-07 6b61a84@2024-03-29 cd64dd7@2024-05-19 3b2f7cd@2024-06-24
e8a7b5d@2024-08-12 bf70bf7@2024-08-12 f58efea@2024-09-05 2b8c471@2024-09-12 f1ed5f0@2024-09-18
c4864e2@2024-10-14 776c46f@2024-10-25 02cf3d3@2024-11-22 38a79b4@2024-11-22 4ec5868@2024-11-27
89e5576@2024-12-02 5573a81@2025-05-20 9f2b818@2025-05-20 15fd14e@2025-05-20 5363795@2025-05-20
"""
"""The commits of Edge Impulse's SDK at the positions from 34 on, and their days, UTC.

Source: git log --first-parent --reverse in edgeimpulse/inferencing-sdk-cpp @ 919819f.
"""


def edge_impulse() -> dict[str, tuple[int, str]]:
    rows = (entry.split("@") for entry in EDGE_IMPULSE_HISTORY.split())
    return {commit: (position, day) for position, (commit, day) in enumerate(rows, start=34)}


def test_edge_impulses_changes_stand_at_the_positions_of_their_commits() -> None:
    history = edge_impulse()
    changes = {name: change for name, change in CHANGES.items() if change.tree == EDGE_IMPULSE}
    merged = changes.pop("edge_impulse_pads_once")  # 380fe7a came with a merge: between two commits of the main line.
    assert history["29ca890"][0] < merged.position <= history["6b61a84"][0]
    assert {name: (row.position, row.date) for name, row in changes.items()} == {
        name: history[row.commit] for name, row in changes.items()
    }


def test_what_edge_impulse_did_on_its_own_begins_with_its_commits() -> None:
    positions = {commit: position for commit, (position, _) in edge_impulse().items()}
    assert {name: where.start for name, where in REVERSED[EDGE_IMPULSE].items()} == {
        "pad_5d": positions["be7b099"],
        "fc_filter_zero_point": positions["be7b099"],
        "abs_rsqrt_quantized": positions["85471be"],
        "expand_dims_prepares": positions["85471be"],
        "select_frees": positions["3b2f7cd"],
        "reduce_num_axis": positions["e8a7b5d"],
    }
    newest = Runtime("x", upstream=4, forks=((EDGE_IMPULSE, NEWEST),))
    for name in ("select_frees", "reduce_num_axis"):  # Which last to the end of the history.
        assert newest.has(name) != Runtime("x", upstream=4).has(name)


def test_a_release_of_edge_impulse_stands_at_the_commit_of_its_day() -> None:
    by_day = {day: position for position, day in reversed(edge_impulse().values())}
    releases = {row.version: row.fork for row in LIBRARIES if row.name == "edge-impulse"}
    assert releases.pop("1.93.20") == (EDGE_IMPULSE, 131)
    assert releases == {version: (EDGE_IMPULSE, by_day[version]) for version in releases}
    assert len(releases) == 14


ESP_TAGS = {
    "1.2.0": 107, "1.3.0": 131, "1.3.1": 133, "1.3.2": 141, "1.3.3": 147, "1.3.3~1": 147, "1.3.4": 157, "1.3.5": 164,
    "1.3.7": 173, "1.3.8": 174,
}  # fmt: skip
"""Source: git rev-list --first-parent --count TAG in espressif/esp-tflite-micro; v1.4.0 has no tag there."""


def test_a_release_of_esp_tflite_micro_stands_at_its_tag() -> None:
    forks = {row.version: row.fork for row in LIBRARIES if row.name == "esp-tflite-micro" and row.fork[0]}
    assert forks.pop("1.4.0") == (ESP, 176)  # 99f49e1 of 2026-08-14
    assert forks == {version: (ESP, position) for version, position in ESP_TAGS.items()}


def test_changes_of_esp_tflite_micro_stand_at_the_positions_of_their_commits() -> None:
    # Counted likewise.
    positions = {
        "5be29f4": (120, "2024-01-15"),
        "0032f17": (133, "2024-06-03"),
        "1171b51": (157, "2025-09-01"),
        "5c2f290": (173, "2026-06-02"),
    }
    own = [change for change in CHANGES.values() if change.tree == ESP]
    assert [(change.position, change.date) for change in own] == [positions[change.commit] for change in own]


def test_a_change_ends_behind_its_beginning() -> None:
    assert all(change.until > change.position for change in CHANGES.values())


def test_the_first_commit_with_a_library_is_a_runtime_and_the_day_of_each_is_its_own() -> None:
    assert find_runtime("a37043ff7").upstream == FIRST_BUILD == 4
    assert all(Runtime("x", upstream=commit.position).day == commit.day for commit in main_line()[3:])
    with pytest.raises(UsageError, match=r"up to 90b983c2b \(2026-08-20\) begins with 0000000, and none of a"):
        find_commit("0000000")


def test_positions_in_other_histories() -> None:
    assert Runtime().position(UPSTREAM) == 1928  # 90b983c2b
    assert Runtime().position(EDGE_IMPULSE) == 0
    assert Runtime().position(ESP) == NEWEST
    assert preset("nano33ble-chirale").runtime.position(UPSTREAM) == find_commit("0c425da36").position == 981
    edge = find_library("edge-impulse").runtime()
    assert edge.position(ESP) == ESP_TAGS["1.2.0"]  # Where Edge Impulse took ESP-NN from.
    assert Runtime("esp-tflite-micro-1.3.3").position(ESP) == ESP_TAGS["1.3.3"]
