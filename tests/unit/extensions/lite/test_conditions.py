"""Where the conditions of LiteRT's kernels stand."""

from __future__ import annotations

import pytest

from tflm_sim.errors import TflmSimError
from tflm_sim.extensions.lite.kernels.conditions import line_of


def test_of_several_conditions_of_one_text_the_number_says_which() -> None:
    # activations.cc checks NumInputs(node) first in line 202, then in line 224; there is no 99th, so it is the last.
    assert [line_of("activations.cc", "NumInputs(node)", "1", number) for number in (1, 2)] == [202, 224]
    assert line_of("activations.cc", "NumInputs(node)", "1", 99) == line_of("activations.cc", "NumInputs(node)", "1", 0)


def test_a_condition_without_a_row_names_the_table_and_the_command_that_compares_it() -> None:
    with pytest.raises(
        TflmSimError, match=r"check 'NumImputs\(node\) != 1' in tflite/kernels/add\.cc is not known"
    ) as e:
        line_of("add.cc", "NumImputs(node)", "1")
    assert "extensions/lite/kernels/conditions.txt" in str(e.value)
    assert "python tools upstream lite_tables CHECKOUT" in str(e.value)
