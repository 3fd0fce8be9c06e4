"""Flatbuffers written out byte by byte: what the views read, and where they refuse."""

from struct import pack

import pytest

from tflm_sim.errors import ModelError
from tflm_sim.model.flatbuf import SCALARS, FlatBuffer, Table


def flatbuffer(data: bytes) -> FlatBuffer:
    return FlatBuffer(memoryview(data))


# Root at 16: the vtable at 8 has one slot for field 0 (at byte 4 of the table) and one for an absent field 1.
#   0 root offset | 4 identifier | 8 vtable: size 8, table size 8, field 0 at 4, field 1 absent | 16 table
ONE_FIELD = pack("<I4sHHHHiI", 16, b"TEST", 8, 8, 4, 0, 16 - 8, 7)


def test_a_field_is_found_through_the_vtable() -> None:
    root = flatbuffer(ONE_FIELD).root(b"TEST")
    assert root.position == 16
    assert root.has(0)
    assert root.scalar(0, SCALARS["uint"]) == 7


def test_an_absent_field_has_its_default() -> None:
    root = flatbuffer(ONE_FIELD).root(b"TEST")
    assert not root.has(1)
    assert root.scalar(1, SCALARS["int"], 5) == 5
    assert root.numbers(1, "i") is None
    assert root.text(1) is None
    assert root.view(1) is None
    assert root.table(1) is None
    assert root.tables(1) is None


def test_a_field_past_the_end_of_the_vtable_is_absent() -> None:
    assert not flatbuffer(ONE_FIELD).root(b"TEST").has(19)


@pytest.mark.parametrize("size", range(8))
def test_fewer_than_eight_bytes_are_no_flatbuffer(size: int) -> None:
    with pytest.raises(ModelError, match=f"{size} bytes are too few"):
        flatbuffer(ONE_FIELD[:size]).root()


def test_another_identifier_is_named() -> None:
    with pytest.raises(ModelError, match=r"the file identifier is b'TEST' and not b'TFL3' \(at byte 4\)"):
        flatbuffer(ONE_FIELD).root(b"TFL3")


def test_a_size_prefix_is_recognised() -> None:
    with pytest.raises(ModelError, match="size-prefixed"):
        flatbuffer(pack("<I", len(ONE_FIELD)) + ONE_FIELD).root(b"TEST")


def test_no_identifier_is_checked_when_none_is_asked_for() -> None:
    assert flatbuffer(ONE_FIELD).root().scalar(0, SCALARS["uint"]) == 7


@pytest.mark.parametrize(
    ("data", "message", "offset"),
    [
        (pack("<I4s", 100, b"TEST"), "a table would end at byte 104 of a file of 8", 100),
        (pack("<I4si", 8, b"TEST", 9), "a vtable would lie 1 bytes before the file", 0),
        (pack("<I4si", 8, b"TEST", -100), "a scalar would end at byte 110 of a file of 12", 108),
        (pack("<I4siHH", 8, b"TEST", -4, 40, 4), "a vtable would end at byte 52 of a file of 16", 12),
    ],
    ids=["root outside", "vtable before the file", "vtable behind the file", "vtable cut off"],
)
def test_a_table_that_is_not_inside_the_file_is_refused(data: bytes, message: str, offset: int) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        flatbuffer(data).root(b"TEST")
    assert caught.value.offset == offset


def test_a_scalar_that_is_not_inside_the_file_is_refused() -> None:
    data = pack("<I4sHHHHi", 16, b"TEST", 6, 8, 4, 0, 8)
    with pytest.raises(ModelError, match="a scalar would end at byte 24 of a file of 20") as caught:
        flatbuffer(data).root().scalar(0, SCALARS["uint"])
    assert caught.value.offset == 20


def test_an_odd_vtable_size_reaches_into_the_slot_that_it_cuts() -> None:
    # C++ compares the slot's byte position (4) with the vtable's size (5), so the field counts as present.
    data = pack("<I4sHHHHiI", 16, b"TEST", 5, 8, 4, 0, 8, 7)
    assert flatbuffer(data).root().scalar(0, SCALARS["uint"]) == 7


# A table whose field 0 is an offset to what follows the table at byte 24.
def referring(payload: bytes, offset: int = 4) -> FlatBuffer:
    return flatbuffer(pack("<I4sHHHHiI", 16, b"TEST", 8, 8, 4, 0, 8, offset) + payload)


def test_a_vector_of_numbers() -> None:
    assert referring(pack("<I3i", 3, 1, -2, 3)).root().numbers(0, "i") == (1, -2, 3)


def test_an_empty_vector_is_not_an_absent_one() -> None:
    assert referring(pack("<I", 0)).root().numbers(0, "q") == ()


def test_a_byte_vector_is_not_copied() -> None:
    buffer = referring(pack("<I4s", 4, b"data"))
    view = buffer.root().view(0)
    assert view is not None
    assert bytes(view) == b"data"
    assert view.obj is buffer.data.obj


def test_a_string_replaces_invalid_utf8() -> None:
    assert referring(pack("<I3sx", 3, b"a\xffb")).root().text(0) == "a\ufffdb"


def test_a_vector_of_tables() -> None:
    # The vector is at 24; its only element, at 28, points back to no earlier byte: a table at 28 + 4 = 32.
    inner = pack("<IIiI", 1, 4, 32 - 8, 9)
    tables = referring(inner).root().tables(0)
    assert tables is not None
    assert [table.scalar(0, SCALARS["uint"]) for table in tables] == [9]


@pytest.mark.parametrize("count", [4, 2**31, 2**32 - 1])
def test_a_vector_that_does_not_fit_is_refused_before_anything_is_allocated(count: int) -> None:
    with pytest.raises(ModelError, match=f"a vector of {count} x 4 bytes would end at byte") as caught:
        referring(pack("<I3i", count, 1, 2, 3)).root().numbers(0, "i")
    assert caught.value.offset == 24


def test_an_offset_behind_the_file_is_refused() -> None:
    with pytest.raises(ModelError, match="a vector would end at byte 1024 of a file of 24") as caught:
        referring(b"", 1000).root().numbers(0, "i")
    assert caught.value.offset == 1020


def test_many_references_to_one_vector_exhaust_the_budget() -> None:
    # 40,000 bytes of numbers in a file of 40,028: twice that and 4,096 bytes more may be parsed, three times not.
    buffer = referring(pack("<I", 10_000) + bytes(40_000))
    root = buffer.root()
    assert root.numbers(0, "i") == root.numbers(0, "i") == (0,) * 10_000
    with pytest.raises(ModelError, match="its vectors overlap"):
        root.numbers(0, "i")


def test_a_table_can_be_viewed_at_any_position() -> None:
    assert Table(flatbuffer(ONE_FIELD), 16).scalar(0, SCALARS["uint"]) == 7


@pytest.mark.parametrize(("data", "says"), [
    # The root's offset is 16, in a file of 16 bytes: its table would begin there.
    ("10000000 54464c33 0000000000000000", "a table would end at byte 20 of a file of 16: is it truncated?"),
    # The vtable of the table at 8 would begin at 8 + 8.
    ("08000000 54464c33 f8ffffff 00000000", "a scalar would end at byte 18 of a file of 16: is it truncated?"),
])  # fmt: skip
def test_what_lies_outside_says_where_it_would_end(data: str, says: str) -> None:
    with pytest.raises(ModelError) as refused:
        FlatBuffer(memoryview(bytes.fromhex(data))).root().has(0)
    assert says in str(refused.value)
