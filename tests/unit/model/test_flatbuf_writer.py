"""The writer's layout: order, alignment, shared vtables, references into the tail."""

import pytest

from tflm_sim.model.flatbuf import SCALARS, FlatBuffer
from tflm_sim.model.flatbuf_writer import Blob, InTail, TableNode, TableVector, numbers, serialize, text


def test_a_table_with_one_scalar_is_twenty_four_bytes() -> None:
    table = TableNode()
    table.scalar(0, "uint", 7)
    # 0 root offset 16, 4 identifier, 8 vtable of 6 bytes, 14 padding to 16, 16 table of 4 + 4 bytes
    assert serialize(table, b"TEST") == bytes.fromhex("10000000 54455354 0600 0800 0400 0000 08000000 07000000")


def test_a_scalar_with_its_default_value_is_left_out() -> None:
    table = TableNode()
    table.scalar(0, "int", 5, 5)
    assert not FlatBuffer(memoryview(serialize(table, b"TEST"))).root().has(0)


def test_wide_scalars_are_aligned() -> None:
    table = TableNode()
    table.scalar(0, "ubyte", 1)
    table.scalar(1, "ulong", 2)
    table.scalar(2, "ushort", 3)
    root = FlatBuffer(memoryview(serialize(table, b"TEST"))).root()
    assert [root.scalar(i, SCALARS[kind]) for i, kind in enumerate(("ubyte", "ulong", "ushort"))] == [1, 2, 3]
    assert (root.position + root.field_offset(1)) % 8 == 0


def test_vector_elements_are_aligned() -> None:
    table = TableNode()
    table.child(0, text("a"))
    table.child(1, numbers("q", [1, 2]))
    table.child(2, Blob(3, b"abc", 16))
    buffer = FlatBuffer(memoryview(serialize(table, b"TEST")))
    root = buffer.root()
    assert (root.text(0), root.numbers(1, "q"), root.view(2)) == ("a", (1, 2), b"abc")
    starts = [root.target(slot) for slot in range(3)]
    assert all(start is not None for start in starts)
    assert [(start or 0) + 4 for start in starts][1] % 8 == 0
    assert [(start or 0) + 4 for start in starts][2] % 16 == 0


def test_a_string_ends_in_a_nul() -> None:
    table = TableNode()
    table.child(0, text("abc"))
    data = serialize(table, b"TEST")
    assert data[data.index(b"abc") + 3] == 0


def test_equal_vtables_are_written_once() -> None:
    def with_tables(count: int) -> int:
        tables = []
        for i in range(count):
            table = TableNode()
            table.scalar(0, "int", i + 1)
            tables.append(table)
        root = TableNode()
        root.child(0, TableVector(tables))
        return len(serialize(root, b"TEST"))

    assert with_tables(3) - with_tables(2) == 4 + 8  # an element of the vector, a table


def test_none_is_left_out() -> None:
    table = TableNode()
    table.child(0, text(None))
    table.child(1, numbers("i", None))
    root = FlatBuffer(memoryview(serialize(table, b"TEST"))).root()
    assert not root.has(0)
    assert not root.has(1)


def test_tables_may_lie_in_the_tail() -> None:
    old = TableNode()
    old.scalar(0, "uint", 42)
    tail = serialize(old, b"OLD!")
    root = TableNode()
    root.child(0, InTail(FlatBuffer(memoryview(tail)).root().position))
    root.tail_position(1, 4)
    data = serialize(root, b"TEST", tail=tail)
    assert data.endswith(tail)
    assert (len(data) - len(tail)) % 16 == 0
    view = FlatBuffer(memoryview(data)).root()
    inner = view.table(0)
    assert inner is not None
    assert inner.scalar(0, SCALARS["uint"]) == 42
    assert data[view.scalar(1, SCALARS["ulong"]) :][:4] == b"OLD!"


@pytest.mark.parametrize("size", range(1, 10))
def test_tables_and_the_lengths_of_vectors_lie_at_multiples_of_4_whatever_is_before_them(size: int) -> None:
    table, inner = TableNode(), TableNode()
    inner.scalar(0, "ubyte", 1)
    nodes = (text("x" * size), numbers("b", [1] * size), numbers("h", [2] * size), Blob(size, bytes(size)))
    for slot, node in enumerate((*nodes, TableVector([inner] * size), TableNode(), numbers("d", [0.5]))):
        table.child(slot, node)
    root = FlatBuffer(memoryview(serialize(table, b"TEST"))).root()
    places = [root.target(slot) for slot in range(7)]
    assert [place % 4 for place in places if place is not None] == [0] * 7
    assert (root.position % 4, ((places[6] or 0) + 4) % 8) == (0, 0)
    assert root.numbers(2, "h") == (2,) * size


def test_fields_of_one_width_are_in_the_order_of_their_slots() -> None:
    table = TableNode()
    for slot in (3, 1):
        table.child(slot, text("x"))
    table.scalar(2, "uint", 7)
    root = FlatBuffer(memoryview(serialize(table, b"TEST"))).root()
    assert [root.field_offset(slot) for slot in (1, 2, 3)] == [4, 8, 12]


def test_a_vector_of_tables_has_4_bytes_for_each_and_no_more() -> None:
    table = TableNode()
    table.child(0, TableVector([TableNode(), TableNode()]))
    # 8 the vtable of the root, 16 the root: 4 + 4 bytes. 24 the vector: 2, and where the tables are, 12 bytes. 36 the
    # vtable of both, of no field; 40 and 44 the tables.
    assert serialize(table, b"TEST") == bytes.fromhex(
        "10000000 54455354 0600 0800 0400 0000 08000000 04000000 02000000 0c000000 0c000000 0400 0400 04000000 08000000"
    )
