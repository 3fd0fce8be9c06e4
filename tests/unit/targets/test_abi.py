from collections.abc import Mapping

import pytest

from tflm_sim.targets.abi import AAPCS, I386, ILP32, LP64, Abi
from tflm_sim.targets.declarations import Header, StructLayout


def layout(members: str, abi: Abi, others: Mapping[str, StructLayout] | None = None, has: str = "") -> StructLayout:
    return Header(f"struct S {{ {members} }};", has.split().__contains__)["S"].layout(abi, others or {})


@pytest.mark.parametrize(
    ("abi", "expected"),
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
def test_each_abi_places_the_same_declaration_differently(abi: Abi, expected: StructLayout) -> None:
    assert layout("void *data; enum type; bool flag; int64_t wide;", abi) == expected


def test_double_is_4_aligned_only_on_i386() -> None:
    assert [layout("int first; double second;", abi).size for abi in (LP64, I386, AAPCS, ILP32)] == [16, 12, 16, 16]


def test_an_array_counts_its_elements_and_aligns_like_one() -> None:
    # 1, pad 3, 5 * 4, 2, pad 2
    assert layout("int8_t count; int32_t values[5]; int16_t mask;", AAPCS) == StructLayout(
        28, 4, {"count": 0, "values": 4, "mask": 24}
    )


def test_a_nested_struct_keeps_its_own_padding() -> None:
    inner = layout("int a; bool b;", AAPCS)
    # 1, pad 3, 8 (5 and its pad), 1, pad 3
    assert layout("bool first; Inner second; bool third;", AAPCS, {"Inner": inner}).size == 16


def test_a_member_under_a_condition_exists_only_where_it_holds() -> None:
    members = "int always; [[compression]] int sometimes[2]; [[!longer && compression]] int8_t last;"
    assert layout(members, AAPCS) == StructLayout(4, 4, {"always": 0})
    assert layout(members, AAPCS, has="compression") == StructLayout(16, 4, {"always": 0, "sometimes": 4, "last": 12})
    assert layout(members, AAPCS, has="compression longer").size == 12


def test_a_struct_under_a_condition_stands_for_the_versions_where_it_holds() -> None:
    text = "// a.h\nstruct [[!grown]] S { int a; };  // :1\nstruct [[grown]] S : Base {  // :2\n  int a,\n  *b;\n};\n"
    before, after = (Header(text, words.__contains__) for words in ([], ["grown"]))
    assert [field.name for field in before["S"].members] == ["a"]
    assert [(field.type, field.name) for field in after["S"].members] == [
        ("Base", "base"),
        ("int", "a"),
        ("void *", "b"),
    ]


def test_an_empty_class_still_takes_a_byte() -> None:
    assert layout("", LP64) == StructLayout(1, 1, {})
