"""What stands for the boot ROM of an RP2040, called as Arm's run-time ABI lays arguments out."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.extensions.firmware.emulation.boot_rom import rom_answer


class Machine:
    """Registers and a little memory."""

    core = SimpleNamespace(arguments=("r0", "r1", "r2", "r3"), link="lr", code_bit=1)

    def __init__(self, arguments: bytes) -> None:
        words = struct.unpack("<4I", arguments.ljust(16, b"\0"))
        self.registers = dict(zip(self.core.arguments, words, strict=True)) | {"lr": 0x1001}
        self.memory = bytearray(range(64))

    def get(self, register: str) -> int:
        return self.registers[register]

    def set(self, register: str, value: int) -> None:
        self.registers[register] = value

    def read(self, address: int, size: int) -> bytes:
        return bytes(self.memory[address : address + size])

    def write(self, address: int, data: bytes) -> None:
        self.memory[address : address + len(data)] = data


def called(name: str, form: str, *arguments: float) -> Machine:
    """Return the machine after a function returned."""
    machine: Any = Machine(struct.pack("<" + form, *arguments))
    answer = rom_answer(f"__wrap_{name}")
    assert answer is not None
    answer(machine)
    assert machine.registers["pc"] == 0x1000
    return machine


def words(form: str, *values: float) -> list[int]:
    data = struct.pack("<" + form, *values)
    return list(struct.unpack(f"<{len(data) // 4}I", data))


@pytest.mark.parametrize(
    ("name", "form", "arguments", "result", "values"),
    [
        ("__aeabi_fadd", "ff", (1.5, 2.25), "f", (3.75,)),
        # 2**24 + 1 is no single number, and goes to the even one beside it.
        ("__aeabi_fadd", "ff", (16777216.0, 1.0), "f", (16777216.0,)),
        ("__aeabi_frsub", "ff", (1.0, 4.0), "f", (3.0,)),
        ("__aeabi_fmul", "ff", (3e38, 10.0), "f", (float("inf"),)),
        ("__aeabi_ddiv", "dd", (1.0, -0.0), "d", (float("-inf"),)),
        ("__aeabi_dmul", "dd", (0.1, 3.0), "d", (0.1 * 3.0,)),
        ("__aeabi_dcmplt", "dd", (1.0, 2.0), "I", (1,)),
        ("__aeabi_fcmpun", "ff", (float("nan"), 2.0), "I", (1,)),
        ("__aeabi_f2iz", "f", (-2.9,), "i", (-2,)),
        ("__aeabi_f2uiz", "f", (-2.9,), "I", (0,)),
        ("__aeabi_d2iz", "d", (float("inf"),), "i", (2147483647,)),
        ("__aeabi_d2lz", "d", (-(2.0**40),), "q", (-(1 << 40),)),
        ("__aeabi_ui2d", "I", (4294967295,), "d", (4294967295.0,)),
        ("__aeabi_f2d", "f", (0.5,), "d", (0.5,)),
        ("__aeabi_d2f", "d", (0.5,), "f", (0.5,)),
        ("__aeabi_idivmod", "ii", (-7, 2), "ii", (-3, -1)),
        ("__aeabi_uidiv", "II", (7, 0), "I", (0,)),
        ("__aeabi_uldivmod", "QQ", (1 << 40, 3), "QQ", ((1 << 40) // 3, (1 << 40) % 3)),
        ("round", "d", (-2.5,), "d", (-3.0,)),
        ("round", "d", (0.49999999999999994,), "d", (0.0,)),
        ("sqrtf", "f", (2.25,), "f", (1.5,)),
        ("floor", "d", (-2.5,), "d", (-3.0,)),
        ("ceil", "d", (-0.5,), "d", (-0.0,)),
        ("trunc", "d", (float("-inf"),), "d", (float("-inf"),)),
        ("expf", "f", (float("-inf"),), "f", (0.0,)),
        ("exp", "d", (1000.0,), "d", (float("inf"),)),
        ("log", "d", (0.0,), "d", (float("-inf"),)),
        ("log", "d", (float("inf"),), "d", (float("inf"),)),
        ("sqrt", "d", (float("-inf"),), "d", (float("nan"),)),
        ("__popcountsi2", "I", (0xF0F0,), "I", (8,)),
        ("__clzsi2", "I", (1,), "I", (31,)),
        ("__ctzsi2", "I", (8,), "I", (3,)),
    ],
)
def test_a_function_returns_what_it_computes(
    name: str, form: str, arguments: tuple[float, ...], result: str, values: tuple[float, ...]
) -> None:
    machine = called(name, form, *arguments)
    expected = words(result, *values)
    assert [machine.registers[register] for register in machine.core.arguments[: len(expected)]] == expected


def test_copies_and_fills_are_made_in_memory() -> None:
    assert called("memcpy", "III", 40, 2, 3).memory[39:44] == bytes([39, 2, 3, 4, 43])
    assert called("memset", "III", 40, 7, 2).memory[39:43] == bytes([39, 7, 7, 42])
    assert called("__aeabi_memset4", "III", 40, 2, 7).memory[39:43] == bytes([39, 7, 7, 42])


def test_other_functions_are_run() -> None:
    assert rom_answer("__wrap_malloc") is None
    assert rom_answer("memcpy") is None
