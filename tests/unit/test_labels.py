"""Labels of blocks: what most names begin with is left out, and what does not fit is cut at its end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.labels import fitted, short_names


def test_the_beginning_that_half_of_the_names_share_is_left_out() -> None:
    names = ["image", "MobilenetV1/MobilenetV1/Conv2d_0/Relu6", "MobilenetV1/MobilenetV1/Conv2d_1/Relu6"]
    assert short_names(names) == ["image", "0/Relu6", "1/Relu6"]


def test_the_first_name_stands_for_those_that_a_converter_joined() -> None:
    assert short_names(["model/conv/Relu;model/conv/BiasAdd", "model/dense/MatMul"]) == ["conv/Relu", "dense/MatMul"]


def test_a_lonely_name_is_kept_whole() -> None:
    assert short_names(["model/conv/Relu"]) == ["model/conv/Relu"]


@pytest.mark.parametrize(("room", "shown"), [(9, "conv/Relu"), (8, "conv/Re…"), (4, "con…"), (3, "")])
def test_what_does_not_fit_is_cut_at_its_end(room: int, shown: str) -> None:
    assert fitted("conv/Relu", room) == shown


@given(st.lists(st.text()), st.integers(0, 60))
def test_labels_are_one_a_name_on_one_line_and_never_too_long(names: list[str], room: int) -> None:
    labels = short_names(names)
    assert len(labels) == len(names)
    assert all(len(fitted(label, room)) <= room and "\n" not in label for label in labels)


def test_a_beginning_is_left_out_that_half_of_the_names_share_and_no_fewer() -> None:
    assert short_names(["a/x", "a/y", "b", "c"]) == ["x", "y", "b", "c"]
    assert short_names(["a/x", "a/y", "b", "c", "d"]) == ["a/x", "a/y", "b", "c", "d"]
    assert short_names(["a/x", "b"]) == ["a/x", "b"]
    assert short_names(["a/", "a/"]) == ["a/", "a/"]  # nothing would be left


def test_a_long_name_is_cut_and_what_is_hostile_in_it_is_shown_as_escapes() -> None:
    assert short_names(["x" * 41]) == ["x" * 39 + "…"]
    assert short_names(["a\nb"]) == ["a\\x0ab"]
