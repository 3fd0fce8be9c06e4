"""What single instructions of each processor do, as their manuals say; encoded by the GNU assembler."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from tflm_sim.extensions.firmware.reading.elf import Elf
from tflm_sim.extensions.firmware.reading.machine_code import decoder
from tflm_sim.extensions.firmware.reading.machine_steps import (
    Branch,
    CallTo,
    Compare,
    Forget,
    Load,
    Or,
    Round,
    SetTo,
    Shift,
    Step,
    Store,
    Sum,
)

sys.path.insert(0, str(Path(__file__).parent))
from elf_writer import ARM, Part, write_elf


def program(processor: str) -> Elf:
    """Return a program for a processor, without code."""
    if processor == "x86-64":
        head = (
            b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 0, 0, 0, 64, 56, 0, 64, 0, 0)
        )
        return Elf(memoryview(head))
    return Elf(memoryview(write_elf(Part(".text", b"\0"), machine=ARM if processor == "cortex-m4" else 243)))


def told(steps: list[Step]) -> tuple[list[Step], set[Step]]:
    """Return the steps in order, and apart what is forgotten, whose order is the decoder's."""
    return [one for one in steps if not isinstance(one, Forget)], {one for one in steps if isinstance(one, Forget)}


# At 0x8002; Thumb's pc is four bytes on, rounded down to a word: 0x8004.
INSTRUCTIONS = [
    ("cortex-m4", "d1e90223", [Load("r2", "r1", 8, 4), Load("r3", "r1", 12, 4)]),  # ldrd r2, r3, [r1, #8]
    ("cortex-m4", "c1e90223", [Store("r1", 8, 4, "r2"), Store("r1", 12, 4, "r3")]),  # strd r2, r3, [r1, #8]
    ("cortex-m4", "10b5", [SetTo("sp", "sp", -8), Store("sp", 0, 4, "r4"), Store("sp", 4, 4, "lr")]),  # push {r4, lr}
    ("cortex-m4", "10bd", [Load("r4", "sp", 0, 4), SetTo("sp", "sp", 8), Branch(None, False, returns=True)]),  # pop
    ("cortex-m4", "2ded028b", [Store("sp", -8, 8, None), SetTo("sp", "sp", -8)]),  # vpush {d8}
    ("cortex-m4", "bdec028b", [SetTo("sp", "sp", 8)]),  # vpop {d8}
    ("cortex-m4", "c2f20000", [SetTo("r0", "r0", 0x2000 << 16)]),  # movt r0, #0x2000
    ("cortex-m4", "02a0", [SetTo("r0", "", 0x8004 + 8)]),  # adr r0, #8
    ("cortex-m4", "0148", [Load("r0", "", 0x8004 + 4, 4)]),  # ldr r0, [pc, #4]
    ("cortex-m4", "8889", [Load("r0", "r1", 12, 2)]),  # ldrh r0, [r1, #12]
    ("cortex-m4", "51f8040f", [Forget("r0"), Forget("r1")]),  # ldr r0, [r1, #4]!
    ("cortex-m4", "41f8040f", [Store("r1", None, 0, None), Forget("r1")]),  # str r0, [r1, #4]!
    ("cortex-m4", "4df8088d", [SetTo("sp", "sp", -8), Store("sp", 0, 4, "r8")]),  # str r8, [sp, #-8]!
    ("cortex-m4", "6de90445", [SetTo("sp", "sp", -16), Store("sp", 0, 4, "r4"), Store("sp", 4, 4, "r5")]),  # strd, !
    ("cortex-m4", "10b1", [Compare("r0", 0), Branch(0x8002 + 4 + 4, True, True)]),  # cbz r0, 0x800a
    ("cortex-m4", "10b9", [Compare("r0", 0), Branch(0x8002 + 4 + 4, True, False)]),  # cbnz r0, 0x800a
    ("riscv32", "37050020", [SetTo("a0", "", 0x20000 << 12)]),  # lui a0, 0x20000
    ("riscv32", "17150000", [SetTo("a0", "", 0x8002 + (1 << 12))]),  # auipc a0, 1
    ("riscv32", "2e85", [SetTo("a0", "a1", 0)]),  # mv a0, a1
    ("riscv32", "3ec2", [Store("sp", 4, 4, "a5")]),  # c.swsp a5, 4(sp)
    ("riscv32", "9247", [Load("a5", "sp", 4, 4)]),  # c.lwsp a5, 4(sp)
    ("riscv32", "03d5c500", [Load("a0", "a1", 12, 2)]),  # lhu a0, 12(a1)
    ("riscv32", "11c1", [Compare("a0", 0), Branch(0x8002 + 4, True, True)]),  # beqz a0, 0x8006
    ("riscv32", "6300b500", [Compare(None, 0), Branch(0x8002, True, None)]),  # beq a0, a1, 0x8002
    ("riscv32", "ef008000", [CallTo(0x8002 + 8)]),  # jal 0x800a
    ("riscv32", "e78000e1", [CallTo(None, "ra", -496)]),  # jalr ra, -496(ra)
    ("riscv32", "67008326", [CallTo(None, "t1", 616), Branch(None, False)]),  # jalr zero, 616(t1)
    ("x86-64", "58", [Load("rax", "rsp", 0, 8), SetTo("rsp", "rsp", 8)]),  # pop rax
    ("x86-64", "50", [SetTo("rsp", "rsp", -8), Store("rsp", 0, 8, "rax")]),  # push rax
    ("x86-64", "6a05", [SetTo("rsp", "rsp", -8), SetTo("number", "", 5), Store("rsp", 0, 8, "number")]),  # push 5
    ("x86-64", "ff30", [SetTo("rsp", "rsp", -8), Store("rsp", 0, 8, None)]),  # push [rax]
    ("x86-64", "c9", [SetTo("rsp", "rbp", 8), Load("rbp", "rbp", 0, 8)]),  # leave
    ("x86-64", "488d0d10000000", [SetTo("rcx", "", 0x8002 + 7 + 16)]),  # lea rcx, [rip + 16]
    ("x86-64", "8b4708", [Load("rax", "rdi", 8, 4)]),  # mov eax, [rdi + 8]
    ("x86-64", "884708", [Store("rdi", 8, 1, None)]),  # mov [rdi + 8], al
    ("x86-64", "31c0", [SetTo("rax", "", 0), Compare(None, 0)]),  # xor eax, eax
    ("x86-64", "4883ec10", [SetTo("rsp", "rsp", -16), Compare(None, 0)]),  # sub rsp, 16
    ("x86-64", "85c0", [Compare("rax", 0)]),  # test eax, eax
    ("x86-64", "83f805", [Compare("rax", 5)]),  # cmp eax, 5
    ("x86-64", "7402", [Branch(0x8002 + 2 + 2, True, True)]),  # je 0x8006
    ("x86-64", "eb02", [Branch(0x8002 + 2 + 2, False, None)]),  # jmp 0x8006
    ("cortex-m4", "4879", [Load("r0", "r1", 5, 1)]),  # ldrb r0, [r1, #5]
    ("cortex-m4", "8860", [Store("r1", 8, 4, "r0")]),  # str r0, [r1, #8]
    ("cortex-m4", "4871", [Store("r1", 5, 1, "r0")]),  # strb r0, [r1, #5]
    ("cortex-m4", "c880", [Store("r1", 6, 2, "r0")]),  # strh r0, [r1, #6]
    ("cortex-m4", "51f80200", [Forget("r0")]),  # ldr.w r0, [r1, r2]
    ("cortex-m4", "41f80200", [Store("r1", None, 0, None)]),  # str.w r0, [r1, r2]
    ("cortex-m4", "51f8040b", [Forget("r0"), Forget("r1")]),  # ldr.w r0, [r1], #4
    ("cortex-m4", "d1f804f0", [Forget("pc"), Branch(None, False)]),  # ldr.w pc, [r1, #4]
    ("cortex-m4", "f1e90223", [Forget("r2"), Forget("r3"), Forget("r1")]),  # ldrd r2, r3, [r1, #8]!
    ("cortex-m4", "0846", [SetTo("r0", "r1", 0)]),  # mov r0, r1
    ("cortex-m4", "0520", [SetTo("r0", "", 5), Compare("r0", 0)]),  # movs r0, #5
    ("cortex-m4", "41f23420", [SetTo("r0", "", 4660)]),  # movw r0, #4660
    ("cortex-m4", "0844", [Sum("r0", "r0", "r1", 1)]),  # add r0, r1
    ("cortex-m4", "c81c", [SetTo("r0", "r1", 3), Compare("r0", 0)]),  # adds r0, r1, #3
    ("cortex-m4", "0338", [SetTo("r0", "r0", -3), Compare("r0", 0)]),  # subs r0, #3
    ("cortex-m4", "01f26400", [SetTo("r0", "r1", 100)]),  # addw r0, r1, #100
    ("cortex-m4", "a1f26400", [SetTo("r0", "r1", -100)]),  # subw r0, r1, #100
    ("cortex-m4", "84b0", [SetTo("sp", "sp", -16)]),  # sub sp, #16
    ("cortex-m4", "02a8", [SetTo("r0", "sp", 8)]),  # add r0, sp, #8
    ("cortex-m4", "01eb8200", [Forget("r0")]),  # add.w r0, r1, r2, lsl #2
    ("cortex-m4", "4feac100", [Shift("r0", "r1", 3)]),  # mov.w r0, r1, lsl #3
    ("cortex-m4", "0801", [Shift("r0", "r1", 4), Compare("r0", 0)]),  # lsls r0, r1, #4
    ("cortex-m4", "4fea1110", [Forget("r0")]),  # mov.w r0, r1, lsr #4
    ("cortex-m4", "41ea0200", [Or("r0", "r1", "r2")]),  # orr.w r0, r1, r2
    ("cortex-m4", "0843", [Or("r0", "r0", "r1"), Compare("r0", 0)]),  # orrs r0, r1
    ("cortex-m4", "41ea4200", [Forget("r0")]),  # orr.w r0, r1, r2, lsl #1
    ("cortex-m4", "21f00f00", [Round("r0", "r1", 16)]),  # bic.w r0, r1, #15
    ("cortex-m4", "30f00f00", [Round("r0", "r0", 16), Compare("r0", 0)]),  # bics.w r0, r0, #15
    ("cortex-m4", "21f00500", [Forget("r0")]),  # bic.w r0, r1, #5
    ("cortex-m4", "21ea0200", [Forget("r0")]),  # bic.w r0, r1, r2
    ("cortex-m4", "0728", [Compare("r0", 7)]),  # cmp r0, #7
    ("cortex-m4", "8842", [Forget("cpsr"), Compare(None, 0)]),  # cmp r0, r1
    ("cortex-m4", "7047", [Branch(None, False, returns=True)]),  # bx lr
    ("cortex-m4", "9847", [CallTo(None, "r3")]),  # blx r3
    ("cortex-m4", "dfe800f0", [Branch(None, False)]),  # tbb [pc, r0]
    ("cortex-m4", "30bc", [Load("r4", "sp", 0, 4), Load("r5", "sp", 4, 4), SetTo("sp", "sp", 8)]),  # pop {r4, r5}
    ("cortex-m4", "01fb02f0", [Forget("r0")]),  # mul.w r0, r1, r2
    ("cortex-m4", "4843", [Forget("r0"), Compare(None, 0), Compare("r0", 0)]),  # muls r0, r1
    (
        "cortex-m4",
        "0cc1",
        [Forget("r1"), Store("r1", None, 0, None), Store("r2", None, 0, None), Store("r3", None, 0, None)],
    ),
    ("cortex-m4", "81ed000a", [Store("s0", None, 0, None), Store("r1", None, 0, None)]),  # vstr s0, [r1]
    ("cortex-m4", "2ded038a", [Store("sp", -12, 12, None), SetTo("sp", "sp", -12)]),  # vpush {s16-s18}
    ("riscv32", "1545", [SetTo("a0", "", 5)]),  # li a0,5
    ("riscv32", "7555", [SetTo("a0", "", -3)]),  # li a0,-3
    ("riscv32", "37553412", [SetTo("a0", "", 0x12345 << 12)]),  # lui a0,0x12345
    ("riscv32", "13953500", [Shift("a0", "a1", 3)]),  # sll a0,a1,0x3
    ("riscv32", "0e05", [Shift("a0", "a0", 3)]),  # sll a0,a0,0x3
    ("riscv32", "33e5c500", [Or("a0", "a1", "a2")]),  # or a0,a1,a2
    ("riscv32", "4d8d", [Or("a0", "a0", "a1")]),  # or a0,a0,a1
    ("riscv32", "13f505ff", [Round("a0", "a1", 16)]),  # andi a0,a1,-16
    ("riscv32", "4199", [Round("a0", "a0", 16)]),  # andi a0,a0,-16
    ("riscv32", "13f5f500", [Forget("a0")]),  # andi a0,a1,15
    ("riscv32", "1385c5ff", [SetTo("a0", "a1", -4)]),  # add a0,a1,-4
    ("riscv32", "3385c500", [Sum("a0", "a1", "a2", 1)]),  # add a0,a1,a2
    ("riscv32", "2e95", [Sum("a0", "a0", "a1", 1)]),  # add a0,a0,a1
    ("riscv32", "3385c540", [Sum("a0", "a1", "a2", -1)]),  # sub a0,a1,a2
    ("riscv32", "0d8d", [Sum("a0", "a0", "a1", -1)]),  # sub a0,a0,a1
    ("riscv32", "3d71", [SetTo("sp", "sp", -32)]),  # add sp,sp,-32
    ("riscv32", "0808", [SetTo("a0", "sp", 16)]),  # add a0,sp,16
    ("riscv32", "1105", [SetTo("a0", "a0", 4)]),  # add a0,a0,4
    ("riscv32", "8845", [Load("a0", "a1", 8, 4)]),  # lw a0,8(a1)
    ("riscv32", "03952500", [Load("a0", "a1", 2, 2)]),  # lh a0,2(a1)
    ("riscv32", "03851500", [Load("a0", "a1", 1, 1)]),  # lb a0,1(a1)
    ("riscv32", "03c51500", [Load("a0", "a1", 1, 1)]),  # lbu a0,1(a1)
    ("riscv32", "88c5", [Store("a1", 8, 4, "a0")]),  # sw a0,8(a1)
    ("riscv32", "2391a500", [Store("a1", 2, 2, "a0")]),  # sh a0,2(a1)
    ("riscv32", "a380a500", [Store("a1", 1, 1, "a0")]),  # sb a0,1(a1)
    ("riscv32", "e7000500", [CallTo(None, "a0")]),  # jalr a0
    ("riscv32", "0295", [CallTo(None, "a0")]),  # jalr a0
    ("riscv32", "ef020000", [Forget("t0")]),  # jal t0,.
    ("riscv32", "6f000000", [Branch(0x8002, False, None)]),  # j .
    ("riscv32", "8280", [Branch(None, False, returns=True)]),  # ret
    ("riscv32", "0285", [CallTo(None, "a0"), Branch(None, False)]),  # jr a0: a call whose result is returned, or a jump
    ("riscv32", "0290", [Branch(None, False)]),  # ebreak
    ("riscv32", "63040500", [Compare("a0", 0), Branch(0x8002 + 8, True, True)]),  # beqz a0,. + 8
    ("riscv32", "63540500", [Compare("a0", 0), Branch(0x8002 + 8, True, None)]),  # bgez a0,. + 8
    ("riscv32", "6364b500", [Compare(None, 0), Branch(0x8002 + 8, True, None)]),  # bltu a0,a1,. + 8
    ("riscv32", "3385c502", [Forget("a0")]),  # mul a0,a1,a2
    ("riscv32", "2f25b600", [Store("a1", None, 0, None), Store("a2", None, 0, None), Forget("a0")]),  # amoadd.w
    ("riscv32", "c8e1", [Store("a1", None, 0, None), Forget("fa0")]),  # fsw fa0,4(a1)
    ("x86-64", "48c7c005000000", [SetTo("rax", "", 5)]),  # mov rax,0x5
    ("x86-64", "b805000000", [SetTo("rax", "", 5)]),  # mov eax,0x5
    ("x86-64", "66b80500", [Forget("rax")]),  # mov ax,0x5
    ("x86-64", "4889d8", [SetTo("rax", "rbx", 0)]),  # mov rax,rbx
    ("x86-64", "89d8", [SetTo("rax", "rbx", 0)]),  # mov eax,ebx
    ("x86-64", "88d8", [Forget("rax")]),  # mov al,bl
    ("x86-64", "48894708", [Store("rdi", 8, 8, "rax")]),  # mov QWORD PTR [rdi+0x8],rax
    ("x86-64", "c7470807000000", [SetTo("number", "", 7), Store("rdi", 8, 4, "number")]),  # mov DWORD PTR [rdi+0x8],0x7
    ("x86-64", "c6470807", [SetTo("number", "", 7), Store("rdi", 8, 1, "number")]),  # mov BYTE PTR [rdi+0x8],0x7
    ("x86-64", "488b0437", [Forget("rax")]),  # mov rax,QWORD PTR [rdi+rsi*1]
    ("x86-64", "48890437", [Store("rdi", None, 0, None)]),  # mov QWORD PTR [rdi+rsi*1],rax
    ("x86-64", "0fb64702", [Load("rax", "rdi", 2, 1)]),  # movzx eax,BYTE PTR [rdi+0x2]
    ("x86-64", "0fb6c3", [Forget("rax")]),  # movzx eax,bl
    ("x86-64", "4883c008", [SetTo("rax", "rax", 8), Compare(None, 0)]),  # add rax,0x8
    ("x86-64", "4883e0f0", [Round("rax", "rax", 16), Compare(None, 0)]),  # and rax,-16
    ("x86-64", "83e0f0", [Forget("rflags"), Forget("rax"), Compare(None, 0)]),  # and eax,-16
    ("x86-64", "4801d8", [Sum("rax", "rax", "rbx", 1), Compare(None, 0)]),  # add rax,rbx
    ("x86-64", "83c008", [Forget("rflags"), Forget("rax"), Compare(None, 0)]),  # add eax,0x8
    ("x86-64", "4829d8", [Sum("rax", "rax", "rbx", -1), Compare(None, 0)]),  # sub rax,rbx
    ("x86-64", "4831c0", [SetTo("rax", "", 0), Compare(None, 0)]),  # xor rax,rax
    ("x86-64", "31d8", [Forget("rflags"), Forget("rax"), Compare(None, 0)]),  # xor eax,ebx
    ("x86-64", "30c0", [Forget("rflags"), Forget("rax"), Compare(None, 0)]),  # xor al,al
    ("x86-64", "488d4708", [SetTo("rax", "rdi", 8)]),  # lea rax,[rdi+0x8]
    ("x86-64", "488d0437", [Forget("rax")]),  # lea rax,[rdi+rsi*1]
    ("x86-64", "4883f805", [Compare("rax", 5)]),  # cmp rax,0x5
    ("x86-64", "3c05", [Compare(None, 0)]),  # cmp al,0x5
    ("x86-64", "4839d8", [Compare(None, 0)]),  # cmp rax,rbx
    ("x86-64", "4885c0", [Compare("rax", 0)]),  # test rax,rax
    ("x86-64", "4885d8", [Compare(None, 0)]),  # test rax,rbx
    ("x86-64", "84c0", [Compare(None, 0)]),  # test al,al
    ("x86-64", "4150", [SetTo("rsp", "rsp", -8), Store("rsp", 0, 8, "r8")]),  # push r8
    ("x86-64", "4159", [Load("r9", "rsp", 0, 8), SetTo("rsp", "rsp", 8)]),  # pop r9
    ("x86-64", "ffd0", [CallTo(None)]),  # call rax
    ("x86-64", "ffe0", [Branch(None, False)]),  # jmp rax
    ("x86-64", "c3", [Branch(None, False)]),  # ret
    ("x86-64", "f4", [Branch(None, False)]),  # hlt
    ("x86-64", "0f0b", [Branch(None, False)]),  # ud2
    ("x86-64", "41b801000000", [SetTo("r8", "", 1)]),  # mov r8d,0x1
    ("x86-64", "480fafc3", [Forget("rflags"), Forget("rax"), Compare(None, 0)]),  # imul rax,rbx
    ("x86-64", "440fafc3", [Forget("rflags"), Forget("r8"), Compare(None, 0)]),  # imul r8d,ebx
    ("x86-64", "99", [Forget("rax"), Forget("rdx")]),  # cdq
    ("x86-64", "0f94c0", [Forget("rax")]),  # sete al
    ("x86-64", "400f94c6", [Forget("rsi")]),  # sete sil
    ("x86-64", "410f94c0", [Forget("r8")]),  # sete r8b
    ("x86-64", "66bd0100", [Forget("rbp")]),  # mov bp,0x1
]


@pytest.mark.parametrize(("processor", "code", "steps"), INSTRUCTIONS, ids=lambda value: str(value)[:12])
def test_an_instruction_does_what_its_manual_says(processor: str, code: str, steps: list[Step]) -> None:
    machine = decoder(program(processor))
    assert machine is not None
    found = machine.decode(bytes.fromhex(code), 0x8002)
    assert found is not None
    assert (found[0], told(found[1])) == (len(code) // 2, told(steps))
