"""What a wheel's parsers and Init functions allocate: read from machine code, compared with our tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import capstone
from upstream.printed_checks import Registers, _calls
from upstream.wheel_structs import Allocations, against_ours, allocations, between, ours

PARSER = bytes.fromhex(
    "be20000000"  # mov $0x20,%esi
    "ba08000000"  # mov $8,%edx
    "ff10"  # call *(%rax)
    "48895810"  # mov %rbx,0x10(%rax)
    "897018"  # mov %esi,0x18(%rax)
    "8944240c"  # mov %eax,0xc(%rsp)
    "c3"  # ret
)
GREW = Allocations(frozenset({(32, 8)}), frozenset({16, 24}))
WAS = Allocations(frozenset({(16, 4)}), frozenset())


class Code:
    """A wheel of two functions, the second of which is no parser."""

    def functions(
        self, wanted: Callable[[str], bool]
    ) -> Iterator[tuple[str, list[capstone.CsInsn], Iterator[Registers]]]:
        decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        decoder.detail = True
        for name in filter(wanted, ("ParseFullyConnected", "FullyConnectedPrepare")):
            code = list(decoder.disasm(PARSER, 0))
            yield name, code, _calls(code)


def test_size_alignment_and_members_of_a_struct_are_in_its_parsers_code() -> None:
    assert allocations(Code()) == {"ParseFullyConnected": GREW}  # type: ignore[arg-type]


def test_a_struct_that_grew_is_named_with_what_our_tables_have() -> None:
    name = "ParseFullyConnected"
    assert against_ours({name: GREW}, ours("8f6596d")) == ([], 1)
    assert against_ours({name: GREW}, ours("5328e0d")) == (
        [
            "ParseFullyConnected allocates 32 bytes aligned to 8; "
            "TfLiteFullyConnectedParams has 16 bytes aligned to 4 in targets/struct_tables"
        ],
        1,
    )
    assert against_ours({"ParseNothingKnown": GREW}, ours()) == ([], 0)


def test_between_two_wheels_what_came_went_and_grew_is_named() -> None:
    old = {"ParseFullyConnected": WAS, "ParseOld": WAS, "ConvInit": WAS}
    new = {"ParseFullyConnected": GREW, "NewInit": Allocations(frozenset({(80, 0)}), frozenset()), "ConvInit": WAS}
    assert between(old, new) == [
        "NewInit is new: it allocates 80 bytes",
        "ParseFullyConnected allocates 32 bytes aligned to 8, in the wheel before 16 bytes aligned to 4; it writes to "
        "0x10, 0x18 of what it was given, where it did not",
        "ParseOld is gone",
    ]
