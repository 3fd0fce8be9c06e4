"""FlexBuffers written out byte by byte: values, conversions, refusals."""

import pytest

from tflm_sim.errors import ModelError
from tflm_sim.model.flexbuf import FlexType, read_root, read_slots


def flex(text: str) -> memoryview:
    return memoryview(bytes.fromhex(text))


# A packed type is type << 2 | log2(width): INT 8-bit 0x04, INT 16-bit 0x05, UINT 0x08, FLOAT 32-bit 0x0e, BOOL 0x68.
@pytest.mark.parametrize(
    ("data", "number"), [("ff 04 01", -1), ("ff 08 01", 255), ("2c01 05 02", 300), ("01 68 01", 1), ("00 00 01", 0)]
)
def test_scalars_at_the_root(data: str, number: int) -> None:
    value = read_root(flex(data))
    assert (value.as_int(), value.as_float(), value.as_bool()) == (number, float(number), number != 0)


def test_floats() -> None:
    value = read_root(flex("00000040 0e 04"))
    assert (value.type, value.as_float(), value.as_int()) == (FlexType.FLOAT, 2.0, 2)
    assert read_root(flex("000000000000e0bf 0f 08")).as_float() == -0.5
    assert [read_root(flex(data)).as_float() for data in ("2c01 0d 02", "ff 0c 01")] == [300.0, -1.0]  # as integers


def test_null_is_zero_false_and_empty() -> None:
    value = read_root(flex("00 00 01"))
    assert value.is_null
    assert (value.as_int(), value.as_bool(), value.as_text(), value.as_vector(), value.as_map()) == (
        0,
        False,
        "",
        (),
        {},
    )


def test_an_indirect_number_is_followed() -> None:
    # 2-byte 300, then the root slot: 2 bytes back; INDIRECT_INT (6), what it points to is 2 bytes wide.
    assert read_root(flex("2c01 02 19 01")).as_int() == 300


def test_a_string() -> None:
    # length 2, "hi", NUL; root slot: 3 back; STRING (5)
    value = read_root(flex("02 6869 00 03 14 01"))
    assert (value.as_text(), bytes(value.as_bytes())) == ("hi", b"hi")


def test_a_vector_of_mixed_types() -> None:
    # count 2, elements 7 and true, their types; root slot: 4 back to the first element; VECTOR (10)
    value = read_root(flex("02 07 01 04 68 04 28 01"))
    assert [(item.type, item.as_int()) for item in value.as_vector()] == [(FlexType.INT, 7), (FlexType.BOOL, 1)]
    assert value.as_int() == 2  # a vector as a number is its length


def test_a_typed_vector() -> None:
    # VECTOR_INT (11): count 3, three elements
    assert [item.as_int() for item in read_root(flex("03 01 02 ff 03 2c 01")).as_vector()] == [1, 2, -1]


def test_a_pair_has_no_count() -> None:
    # VECTOR_FLOAT2 (18) of 4-byte floats 1.0, 2.0; root slot: 8 back, what it points to is 4 wide
    assert [item.as_float() for item in read_root(flex("0000803f 00000040 08 4a 01")).as_vector()] == [1.0, 2.0]


MAP = "6100 6200" + "02 05 04" + "02 01 02 05 06 04 04" + "04 24 01"


def test_a_map() -> None:
    # 0 "a" 2 "b" | 4 key count 2, 5 key -> 0, 6 key -> 2 | 7 keys are 2 back (at 5), 8 width of keys 1, 9 count 2
    # | 10 values 5 and 6 | 12 types | 14 root slot: 4 back; MAP (9)
    value = read_root(flex(MAP))
    assert {key: item.as_int() for key, item in value.as_map().items()} == {"a": 5, "b": 6}
    assert [item.as_int() for item in value.as_vector()] == [5, 6]


def test_slots_ignore_the_types_of_values() -> None:
    slots = read_slots(flex(MAP))
    assert (slots.count, slots.as_int(0), slots.as_bool(1), slots.as_float(1)) == (2, 5, True, 6.0)
    with pytest.raises(ModelError, match="the kernel reads custom option 2 of 2"):
        slots.as_int(2)


def test_a_root_that_is_no_vector_has_no_slots() -> None:
    assert read_slots(flex("07 04 01")).count == 0


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "0 bytes of custom options are too few"),
        ("04 01", "2 bytes of custom options are too few"),
        ("00 04 03", "end in the width 3"),
        ("00 04 04", "end in the width 4"),
    ],
)
def test_bytes_without_a_root_are_refused(data: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        read_root(flex(data))


def test_offsets_before_the_options_are_refused() -> None:
    with pytest.raises(ModelError, match="a custom option would lie at"):
        read_root(flex("00 00 ff 28 01")).as_vector()


def test_a_key_without_an_end_is_refused() -> None:
    # KEY (4) that points 1 byte back; no zero follows
    with pytest.raises(ModelError, match="has no end"):
        read_root(flex("61 01 10 01")).as_text()


def test_a_count_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ModelError, match="a custom option would lie at"):
        read_root(flex("ff 01 02 ff 03 2c 01")).as_vector()


def test_a_string_is_not_a_number() -> None:
    with pytest.raises(ModelError, match="FlexBuffers type 5 is not a number"):
        read_root(flex("02 6869 00 03 14 01")).as_int()


def test_nan_is_not_an_integer() -> None:
    with pytest.raises(ModelError, match="nan where an integer belongs"):
        read_root(flex("0000c07f 0e 04")).as_int()


def test_a_vector_of_bools() -> None:
    # VECTOR_BOOL (36): count 3, three bytes; root slot: 3 back, type 36 << 2
    assert [item.as_int() for item in read_root(flex("03 01 00 01 03 90 01")).as_vector()] == [1, 0, 1]


def test_types_have_the_numbers_of_the_flatbuffers_package() -> None:
    theirs = pytest.importorskip("flatbuffers.flexbuffers").Type
    named = {one.name.removesuffix("_DEPRECATED"): one.value for one in theirs}
    assert {one.name: one.value for one in FlexType} == {one.name: named[one.name] for one in FlexType}


@pytest.mark.parametrize("index", [-1, 2])
def test_a_slot_before_or_behind_the_others_is_refused(index: int) -> None:
    with pytest.raises(ModelError, match=f"the kernel reads custom option {index} of 2"):
        read_slots(flex(MAP)).as_bool(index)


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_numbers_of_every_width_are_what_the_flatbuffers_package_writes(width: int) -> None:
    theirs = pytest.importorskip("flatbuffers.flexbuffers")
    large = (1 << 8 * width) - 1
    builder = theirs.Builder()
    with builder.Map():
        builder.UInt("a", large)
        builder.Int("b", -(large // 2) - 1)
        builder.Bool("c", True)
        builder.IndirectInt("d", -(large // 2), byte_width=width)
        builder.IndirectUInt("e", large, byte_width=width)
        builder.IndirectFloat("f", 0.5, byte_width=max(width, 4))
        builder.Blob("g", b"\0\1" * 150)
        builder.String("h", "x" * 300)
        builder.TypedVectorFromElements("i", [1, 2, -(large // 2)])
        builder.FixedTypedVectorFromElements("j", [1, large // 2, 3])
        builder.VectorFromElements("k", [None, 7])
    found = read_root(memoryview(bytes(builder.Finish()))).as_map()
    assert [found[key].as_int() for key in "abcde"] == [large, -(large // 2) - 1, 1, -(large // 2), large]
    assert (found["f"].as_float(), bytes(found["g"].as_bytes()), found["h"].as_text()) == (
        0.5,
        b"\0\1" * 150,
        "x" * 300,
    )
    assert [[one.as_int() for one in found[key].as_vector()] for key in "ijk"] == [
        [1, 2, -(large // 2)],
        [1, large // 2, 3],
        [0, 7],
    ]
    assert [one.is_null for one in found["k"].as_vector()] == [True, False]
    assert (found["i"].as_int(), found["h"].as_vector(), bytes(found["a"].as_bytes())) == (3, (), b"")


@pytest.mark.parametrize("is_inside", [True, False])
def test_what_is_read_may_begin_with_the_first_byte_and_not_before(is_inside: bool) -> None:
    # A vector of one element whose count is the first byte; the root slot says 2 or 4 bytes back.
    data = flex("01 07 04" + ("02" if is_inside else "04") + "28 01")
    if is_inside:
        assert [one.as_int() for one in read_root(data).as_vector()] == [7]
    else:
        with pytest.raises(ModelError, match="would lie at"):
            read_root(data).as_vector()


@pytest.mark.parametrize("length", [0, 1, 255, 256, 257, 600])
def test_a_key_of_any_length(length: int) -> None:
    body = b"k" * length + b"\0"
    slot = len(body).to_bytes(2, "little")
    assert read_root(memoryview(body + slot + bytes([4 << 2, 2]))).as_text() == "k" * length
