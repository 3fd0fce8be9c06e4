"""Ids of resource variables: by container and shared name, as ``strcmp`` compares them."""

from __future__ import annotations

import pytest

from tflm_sim.graph.resource_variables import ResourceVariables


def test_a_name_keeps_its_id():
    table = ResourceVariables(2)
    assert [table.create_id_if_none_found("", name) for name in ("a", "b", "a")] == [0, 1, 0]
    assert table.stored == [None, None]


def test_a_full_table_knows_its_names_and_takes_no_more():
    table = ResourceVariables(1)
    assert [table.create_id_if_none_found("", name) for name in ("a", "b", "a")] == [0, None, 0]


def test_containers_keep_names_apart():
    table = ResourceVariables(2)
    assert [table.create_id_if_none_found(container, "a") for container in ("x", "y")] == [0, 1]


def test_a_container_that_is_left_out_matches_every_container():
    table = ResourceVariables(2)
    assert [table.create_id_if_none_found(container, "a") for container in ("x", None)] == [0, 0]


def test_a_name_ends_at_its_first_nul():
    table = ResourceVariables(2)
    assert [table.create_id_if_none_found("", name) for name in ("a\0b", "a\0c")] == [0, 0]


@pytest.mark.parametrize(
    ("first", "second"), [(("", None), ("", "a")), (("", "a"), ("", None)), ((None, "a"), ("", "a"))]
)
def test_comparing_with_a_null_pointer_is_an_error(first, second):
    table = ResourceVariables(2)
    assert table.create_id_if_none_found(*first) == 0
    with pytest.raises(ValueError, match="without a name"):
        table.create_id_if_none_found(*second)
