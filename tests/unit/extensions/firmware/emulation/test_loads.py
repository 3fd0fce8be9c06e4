"""Machine code that the GNU assembler made: which addresses it loads, and after which of it a function may begin."""

from __future__ import annotations

import pytest

from tflm_sim.extensions.firmware.emulation.loads import constants, is_behind_an_end, loads

ANY = range(1 << 32)
THUMB = bytes.fromhex(
    "0248 014f dff80490"  # 0: ldr r0, [pc, #8]; ldr r7, [pc, #4]; ldr.w r9, [pc, #4]
    "00bf 00bf 34120020"  # 8: nop; nop; .word 0x20001234
    "5ff80830"  # 10: ldr.w r3, [pc, #-8]
    "4af6cd32 c2f20102"  # 14: movw r2, #0xabcd; movt r2, #0x2001
    "40f6ff7c c0f6000c"  # 1c: movw ip, #0x0fff; movt ip, #0x0800
    "c3f20004"  # 24: movt r4, #0x3000
)
RISCV = bytes.fromhex(
    "37150020 13054523"  # 0: lui a0, 0x20001; addi a0, a0, 0x234
    "b7070080 9385f7ff"  # 8: lui a5, 0x80000; addi a1, a5, -1
    "17060100 4106"  # 10: auipc a2, 0x10; c.addi a2, 16
    "fd66 ed16 0577 1507"  # 16: c.lui a3, 0x1f; c.addi a3, -5; c.lui a4, 0xfffe1; c.addi a4, 5
    "0564 0504"  # 1e: c.lui s0, 1; c.addi s0, 1
    "13831300"  # 22: addi t1, t2, 1
    "8562 b7523412"  # 26: c.lui t0, 1; lui t0, 0x12345
    "03a54200 93884200"  # 2c: lw a0, 4(t0); addi a7, t0, 4
)


def test_thumb_code_loads_constants_behind_and_before_it_and_halves_of_addresses() -> None:
    assert [(load.address, load.value, load.argument) for load in loads(0x8000, THUMB, ANY, is_arm=True)] == [
        (0x8000, 0x2000_1234, 0),
        (0x8002, 0xBF00_BF00, 7),
        (0x8004, 0x2000_1234, 9),
        (0x8010, 0x2000_1234, 3),
        (0x8018, 0x2001_ABCD, 2),
        (0x8020, 0x0800_0FFF, 12),
        (0x8024, 0x3000_0000, 4),
    ]


def test_risc_v_code_adds_to_upper_halves_that_it_loaded() -> None:
    start = 0x8000_0000
    assert [(load.address - start, load.value, load.argument) for load in loads(start, RISCV, ANY, is_arm=False)] == [
        (0x04, 0x2000_1234, 0),
        (0x0C, 0x7FFF_FFFF, 1),
        (0x14, 0x8001_0020, 2),  # 0x8000_0010 + 0x1_0000 + 16
        (0x18, 0x0001_EFFB, 3),
        (0x1C, 0xFFFE_1005, 4),
        (0x20, 0x0000_1001, 8 - 10),  # s0 is x8, a0 x10
        (0x30, 0x1234_5004, 7),
    ]


@pytest.mark.parametrize(("is_arm", "code"), [(True, THUMB), (False, RISCV)])
def test_only_what_loads_a_wanted_address_is_found(is_arm: bool, code: bytes) -> None:
    found = [load.value for load in loads(0x8000, code, {0x2000_1234}, is_arm=is_arm)]
    assert found == [0x2000_1234] * (3 if is_arm else 1)


@pytest.mark.parametrize(
    ("code", "values"),
    [
        ("0048 00bf 78563412", [0x1234_5678]),  # ldr r0, [pc, #0]: the last four bytes of the code
        ("0048 00bf 785634", []),
        ("5ff80400 00bf", [0x0004_F85F]),  # ldr.w r0, [pc, #-4]: the instruction itself
        ("5ff80500 00bf", []),  # a byte before the code
    ],
)
def test_a_constant_lies_within_the_code(code: str, values: list[int]) -> None:
    assert [load.value for load in loads(0x8000, bytes.fromhex(code), ANY, is_arm=True)] == values


def test_where_the_constants_of_thumb_code_lie() -> None:
    assert [*constants(0x8000, THUMB)] == [0x800C, 0x8008, 0x800C]
    assert [*constants(0x8002, THUMB[2:8])] == [0x8008, 0x800C]


@pytest.mark.parametrize(
    ("is_arm", "before", "is_end"),
    [
        (True, "0000", True),
        (True, "00bf", True),  # nop
        (True, "c046", True),  # mov r8, r8
        (True, "10bd", True),  # pop {r4, pc}
        (True, "01be", True),  # bkpt 1
        (True, "03de", True),  # udf #3
        (True, "7047", True),  # bx lr
        (True, "1847", True),  # bx r3
        (True, "f7e7", True),  # b
        (True, "fff7f6bf", True),  # b.w
        (True, "fff7f4ff", True),  # bl
        (True, "bde81081", True),  # ldmia.w sp!, {r4, r8, pc}
        (True, "b5e81081", True),  # ldmia.w r5!, {r4, r8, pc}
        (True, "10b5", False),  # push {r4, lr}
        (True, "0120", False),  # movs r0, #1
        (True, "10bc", False),  # pop {r4}
        (True, "ead0", False),  # beq
        (True, "bde81041", False),  # ldmia.w sp!, {r4, r8, lr}
        (True, "3ff4e7af", False),  # beq.w
        (True, "d4d4", True),  # what lld fills up with
        (True, "4746", False),  # mov r7, r8
        (True, "01df", False),  # svc 1
        (False, "0000", True),
        (False, "0100", True),  # c.nop
        (False, "0290", True),  # c.ebreak
        (False, "f5bf", True),  # c.j
        (False, "8280", True),  # c.jr ra
        (False, "8287", True),  # c.jr a5
        (False, "6f00707f", True),  # j
        (False, "67804700", True),  # jalr zero, 4(a5)
        (False, "67000300", True),  # jr t1
        (False, "ef00b07e", True),  # jal
        (False, "73001000", True),  # ebreak
        (False, "73002030", True),  # mret
        (False, "13000000", True),  # nop
        (False, "e7804700", True),  # jalr ra, 4(a5)
        (False, "13051500", False),  # addi a0, a0, 1
        (False, "8297", False),  # c.jalr a5
        (False, "0505", False),  # c.addi a0, 1
        (False, "79d5", False),  # c.beqz a0
        (False, "2e85", False),  # c.mv a0, a1
    ],
)
def test_a_function_may_begin_behind_an_end_of_another_one(is_arm: bool, before: str, is_end: bool) -> None:
    code = bytes.fromhex(before).rjust(4, b"\xff")
    assert is_behind_an_end(code + b"\xff\xff", 4, is_arm=is_arm) is is_end


@pytest.mark.parametrize("is_arm", [True, False])
def test_a_function_may_begin_where_the_code_does(is_arm: bool) -> None:
    assert is_behind_an_end(b"\xff\xff\xff\xff", 2, is_arm=is_arm)
