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


def test_a_name_that_is_left_out_in_a_container_of_its_own_is_compared_with_none():
    table = ResourceVariables(3)
    assert table.create_id_if_none_found("x", None) == 0
    assert table.create_id_if_none_found("y", "a") == 1


def test_rows_that_did_not_fit_are_used_only_where_there_is_room_for_a_name():
    assert ResourceVariables(0, has_rows=False).create_id_if_none_found("", "a") is None
    with pytest.raises(ValueError, match="the rows of the table did not fit"):
        ResourceVariables(1, has_rows=False).create_id_if_none_found("", "a")


def test_a_table_has_its_rows_unless_something_else_is_said():
    table = ResourceVariables(2)
    assert (table.capacity, table.has_rows, table.stored) == (2, True, [])
