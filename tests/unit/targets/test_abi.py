import pytest

from tflm_sim.targets.abi import AAPCS, I386, ILP32, LP64, Abi, StructLayout, declare

NO_FLAGS: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    ("abi", "layout"),
    [
        # pointer 8, enum 4, bool 1, pad 3, int64 8
        (LP64, StructLayout(24, 8, {"data": 0, "type": 8, "flag": 12, "wide": 16})),
        # pointer 4, enum 4, bool 1, pad 3, int64 aligned to 4
        (I386, StructLayout(20, 4, {"data": 0, "type": 4, "flag": 8, "wide": 12})),
        # pointer 4, enum 1, bool 1, pad 2, int64 aligned to 8
        (AAPCS, StructLayout(16, 8, {"data": 0, "type": 4, "flag": 5, "wide": 8})),
        # pointer 4, enum 4, bool 1, pad 7, int64 aligned to 8
        (ILP32, StructLayout(24, 8, {"data": 0, "type": 4, "flag": 8, "wide": 16})),
    ],
    ids=lambda value: value.name if isinstance(value, Abi) else "",
)
def test_each_abi_places_the_same_declaration_differently(abi: Abi, layout: StructLayout) -> None:
    struct = declare("S", "here", "ptr data; enum type; bool flag; int64 wide")
    assert struct.layout(abi, {}, NO_FLAGS) == layout


def test_double_is_4_aligned_only_on_i386() -> None:
    struct = declare("S", "here", "int first; double second")
    assert [struct.layout(abi, {}, NO_FLAGS).size for abi in (LP64, I386, AAPCS, ILP32)] == [16, 12, 16, 16]


def test_an_array_counts_its_elements_and_aligns_like_one() -> None:
    struct = declare("S", "here", "int8 count; int32[5] values; int16 mask")
    # 1, pad 3, 5 * 4, 2, pad 2
    assert struct.layout(AAPCS, {}, NO_FLAGS) == StructLayout(28, 4, {"count": 0, "values": 4, "mask": 24})


def test_a_nested_struct_keeps_its_own_padding() -> None:
    inner = declare("Inner", "here", "int a; bool b").layout(AAPCS, {}, NO_FLAGS)
    outer = declare("Outer", "here", "bool first; Inner second; bool third")
    # 1, pad 3, 8 (5 and its pad), 1, pad 3
    assert outer.layout(AAPCS, {"Inner": inner}, NO_FLAGS).size == 16


def test_a_flagged_member_exists_only_in_builds_with_the_flag() -> None:
    struct = declare("S", "here", "int always; ?compression int[2] sometimes")
    assert struct.layout(AAPCS, {}, NO_FLAGS) == StructLayout(4, 4, {"always": 0})
    assert struct.layout(AAPCS, {}, frozenset({"compression"})).size == 12


def test_an_empty_class_still_takes_a_byte() -> None:
    assert declare("Empty", "here", "").layout(LP64, {}, NO_FLAGS) == StructLayout(1, 1, {})
