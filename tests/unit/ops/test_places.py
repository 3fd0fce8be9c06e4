"""The table of checks' lines reads back what it writes, and a check that it does not have is a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.errors import TflmSimError
from tflm_sim.ops import places
from tflm_sim.ops.places import Version, read, written
from tflm_sim.targets.presets import preset

RUNTIME = preset("cortex-m4").runtime
TEXTS = st.sampled_from(
    ["filter != nullptr", "!node->user_data != nullptr", "ConvPrepare: a != b #2", "one:\n", "x: 1"]
)
FILES = st.dictionaries(
    st.sampled_from(["conv_common.cc", "add.cc"]),
    st.lists(
        st.tuples(st.integers(0, 3000), st.dictionaries(TEXTS, st.integers(1, 999)), st.sampled_from(["", "conv.cc"])),
        min_size=1,
        max_size=4,
        unique_by=lambda row: row[0],
    ).map(lambda rows: [Version(*row) for row in sorted(rows, key=lambda row: row[0])]),
    min_size=1,
)


@given(st.dictionaries(st.sampled_from(["tensorflow/tflite-micro", "espressif/esp-tflite-micro"]), FILES))
def test_what_is_written_is_read_back(table: dict[str, dict[str, list[Version]]]) -> None:
    assert read(written(table).splitlines()) == table


def test_a_row_says_since_when_a_check_stands_at_a_line() -> None:
    rows = ["owner/name\tconv_common.cc\t5=conv.cc\t107\t119", "filter != nullptr\t5:50\t107:72\t119:-"]
    assert read(rows)["owner/name"]["conv_common.cc"] == [
        Version(5, {"filter != nullptr": 50}, "conv.cc"),
        Version(107, {"filter != nullptr": 72}),
        Version(119, {}),
    ]


def test_the_line_of_a_check_is_that_of_the_runtime() -> None:
    assert places.place(RUNTIME, "conv_common.cc", "filter != nullptr", "ConvPrepare") == ("conv_common.cc", 156)


def test_a_file_without_lines_is_a_sentence_that_names_the_command() -> None:
    with pytest.raises(TflmSimError) as refused:
        places.place(RUNTIME, "my_kernel.cc", "filter != nullptr")
    assert str(refused.value) == (
        "the line of any check in my_kernel.cc is not known; python tools upstream places CHECKOUT --write looks "
        "it up in a clone of the repository and writes tflm_sim/ops/places.txt"
    )
