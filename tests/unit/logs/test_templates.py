"""A printf format read backwards: whole lines in linear time, and lines whose beginning was lost."""

from __future__ import annotations

from tflm_sim.logs.templates import Template, _common


def test_only_a_text_between_two_literals_is_matched_once_and_for_all() -> None:
    formats = ("a %s b", "a %d b", "%s b", "a %s")
    assert ["(?>" in Template(each, ("x",)).pattern.pattern for each in formats] == [True, False, False, False]


def test_a_cut_line_is_known_by_four_characters_of_a_literal_and_by_no_fewer() -> None:
    template = Template("ab cdef %d", ("n",))
    assert template.find_end("def 5") == ({"n": 5}, 5)  # "def " is four
    assert template.find_end("ef 5") is None


def test_of_two_texts_each_ends_where_what_the_format_has_after_it_stands() -> None:
    both, number = Template("a %s of %s failed", ("x", "y")), Template("a %s of %d in %s failed", ("x", "n", "y"))
    assert both.find_all("a step of node failed") == [({"x": "step", "y": "node"}, 0, 21)]
    assert number.find_all("a step of 5 in node failed") == [({"x": "step", "n": 5, "y": "node"}, 0, 26)]


def test_as_many_characters_agree_with_a_literal_as_are_the_same_from_its_start() -> None:
    # Blanks may be missing, so all of "in node" is there in five of its six letters and its blank.
    assert [_common("in node", text) for text in ("innode 7", "in no", "x", "")] == [
        (6, True),
        (5, False),
        (0, False),
        (0, False),
    ]
