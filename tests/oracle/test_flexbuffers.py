"""Our FlexBuffers reader against the ``flatbuffers`` package's writer: what goes in comes out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.model.flexbuf import FlexType, FlexValue, read_root, read_slots

flexbuffers = pytest.importorskip("flatbuffers.flexbuffers")

keys = st.text(st.characters(codec="ascii", exclude_characters="\0"), min_size=1, max_size=8)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(-3e38, 3e38)  # the package cannot write larger ones
    | st.text(max_size=12)
    | st.binary(max_size=12)
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5), max_leaves=12
)


def python_value(value: FlexValue) -> object:
    """Return a value as the package takes it."""
    if value.type == FlexType.MAP:
        return {key: python_value(item) for key, item in value.as_map().items()}
    readers = {
        FlexType.NULL: lambda: None,
        FlexType.BOOL: value.as_bool,
        FlexType.INT: value.as_int,
        FlexType.UINT: value.as_int,
        FlexType.FLOAT: value.as_float,
        FlexType.STRING: value.as_text,
        FlexType.BLOB: lambda: bytes(value.as_bytes()),
    }
    if value.type in readers:
        return readers[FlexType(value.type)]()
    return [python_value(item) for item in value.as_vector()]


@given(values)
def test_any_value_that_the_package_writes(value: object) -> None:
    assert python_value(read_root(memoryview(bytes(flexbuffers.Dumps(value))))) == value


@given(st.dictionaries(keys, st.integers(-(2**31), 2**31 - 1), max_size=8))
def test_slots_are_the_values_in_the_order_of_their_keys(options: dict[str, int]) -> None:
    slots = read_slots(memoryview(bytes(flexbuffers.Dumps(options))))
    in_order = [options[key] for key in sorted(options)]
    assert [slots.as_int(i) for i in range(slots.count)] == in_order
    assert [slots.as_bool(i) for i in range(slots.count)] == [value != 0 for value in in_order]


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=2, max_size=4))
def test_fixed_vectors_and_typed_vectors(numbers: list[float]) -> None:
    for fixed in (True, False):
        builder = flexbuffers.Builder()
        if fixed:
            builder.FixedTypedVectorFromElements(numbers)
        else:
            builder.TypedVectorFromElements(numbers)
        root = read_root(memoryview(bytes(builder.Finish())))
        assert [item.as_float() for item in root.as_vector()] == numbers


def test_indirect_numbers_and_keys() -> None:
    builder = flexbuffers.Builder()
    with builder.Vector():
        builder.IndirectInt(-(2**40))
        builder.IndirectUInt(2**40)
        builder.IndirectFloat(0.25)
        builder.Key("a key")
    items = read_root(memoryview(bytes(builder.Finish()))).as_vector()
    assert [items[0].as_int(), items[1].as_int(), items[2].as_float()] == [-(2**40), 2**40, 0.25]
    assert items[3].as_text() == "a key"
