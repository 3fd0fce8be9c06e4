"""What is said to QEMU's debugger, and how its answers are read: a debugger of the test's instead of a QEMU."""

from __future__ import annotations

import io
import os
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.emulation.emulator import Core, Reason, Snapshot, Stop
from tflm_sim.extensions.firmware.emulation.gdb_machine import GdbMachine
from tflm_sim.extensions.firmware.emulation.memory_map import Span

CORTEX_M33 = Core("Cortex-M33", True, "", "mps2-an505", ("r0", "r1", "r2", "r3"), "lr")
RISCV = Core("RISC-V 32", False, "", "virt", ("a0",), "ra")
DESCRIPTIONS = {
    "target.xml": '<xi:include href="core.xml"/><xi:include href="csr.xml"/><xi:include href="fp.xml"/>' + " " * 3000,
    "core.xml": '<reg name="r0" bitsize="32"/><reg name="sp" bitsize="32"/><reg name="pc" bitsize="32" regnum="15"/>',
    "csr.xml": '<reg name="mstatus" regnum="20"/><reg name="mie"/>',
    "fp.xml": '<reg name="fpscr"/>',
}


class Debugger(GdbMachine):
    """A machine whose debugger keeps bytes, and answers what it was told to."""

    def __init__(self, core: Core = CORTEX_M33, *kept: Span) -> None:
        self.core = core
        self.asked: list[str] = []
        self.memory = bytearray(0x1000)
        self.answers: dict[str, list[str]] = {}
        self._kept, self._devices, self._faults, self._placed = kept, (), frozenset({0x700}), {}
        self._stops, self._general, self._spare = set(), {}, 0x80F0_0000
        self._numbers = {"r0": 0, "sp": 1, "pc": 15}
        self._is_gone = self._is_in_handler = False

    def _ask(self, text: str) -> str:
        self.asked.append(text)
        if text in self.answers:
            return self.answers[text].pop(0)
        place, _, data = text[1:].partition(":")
        if text[0] in "mM":
            start, size = (int(one, 16) for one in place.split(","))
            if start + size > len(self.memory):
                return "E14"
            if text[0] == "M":
                self.memory[start : start + size] = bytes.fromhex(data)
                return "OK"
            return self.memory[start : start + size].hex()
        if text.startswith("qXfer"):
            name, span = text.split(":")[3:]
            offset, size = (int(one, 16) for one in span.split(","))
            piece = DESCRIPTIONS[name][offset : offset + size]
            return ("m" if offset + size < len(DESCRIPTIONS[name]) else "l") + piece
        return "OK"


def with_pipe(*pieces: bytes) -> tuple[GdbMachine, io.BytesIO, int]:
    """Return a machine to which a debugger says these bytes, what is said to it, and the debugger's end."""
    reading, writing = os.pipe()
    machine = GdbMachine.__new__(GdbMachine)
    said = io.BytesIO()
    machine.core = CORTEX_M33
    machine._received = b""
    machine._qemu = SimpleNamespace(stdin=said, stdout=os.fdopen(reading, "rb", buffering=0))  # type: ignore[assignment]
    for piece in pieces:
        os.write(writing, piece)
    return machine, said, writing


def test_a_packet_has_a_sum_of_its_bytes() -> None:
    machine, said, _ = with_pipe()
    machine._send("m0,4")
    assert said.getvalue() == b"$m0,4#fd"  # 0x6d + 0x30 + 0x2c + 0x34


def test_a_packet_is_whole_with_both_digits_of_its_sum() -> None:
    machine, said, writing = with_pipe(b"+junk$OK#9a$T05#b9$a#6")
    assert (machine._receive(5), machine._receive(5)) == ("OK", "T05")
    assert said.getvalue() == b"++"
    assert machine._receive(0.01) is None
    os.write(writing, b"1")
    assert machine._receive(5) == "a"
    os.close(writing)
    with pytest.raises(EOFError):
        machine._receive(5)
    with pytest.raises(FirmwareError, match="QEMU's board mps2-an505 ended, or does not answer"):
        machine._ask("g")


def test_registers_are_those_that_the_description_numbers() -> None:
    assert list(Debugger()._described()) == [("r0", 0), ("sp", 1), ("pc", 15), ("fpscr", 22)]


def test_memory_is_read_and_written_in_blocks_and_where_none_is_it_is_zero() -> None:
    machine = Debugger()
    data = bytes(range(256)) * 14
    machine.write(0x10, data)
    assert machine.read(0x10, len(data)) == data
    assert machine.read(0xFFE, 4) == bytes(4)
    assert [one.partition(":")[0] for one in machine.asked[:2]] == ["M10,400", "M410,400"]
    assert sum(int(one.partition(":")[0].split(",")[1], 16) for one in machine.asked if one[0] == "M") == len(data)


def test_registers_are_asked_for_once_until_something_changes() -> None:
    machine = Debugger()
    machine.answers["g"] = ["040302010010002001800000", "05030201001000200180"]
    assert [machine.get(name) for name in ("r0", "sp", "pc")] == [0x01020304, 0x2000_1000, 0x8000]
    machine.set("r0", -2)
    assert machine.asked == ["g", "P0=feffffff"]
    assert machine.get("r0") == 0x01020305
    with pytest.raises(FirmwareError, match="does not say what is in its register pc"):
        machine.get("pc")
    odd = Debugger(RISCV)
    odd.answers["g"] = ["000000000000000001800000"]
    assert odd.get("pc") == 0x8001


def test_a_stop_is_set_once_and_left_once() -> None:
    machine = Debugger()
    machine.stop_at([0x100])
    machine.stop_at([0x100, 0x200])
    machine.leave(0x100)
    machine.leave(0x100)
    assert machine.asked == ["Z0,100,2", "Z0,200,2", "z0,100,2"]


def test_spare_memory_grows_down_by_multiples_of_16() -> None:
    machine = Debugger()
    assert [machine.spare(size) for size in (1, 16, 17)] == [0x80EF_FFF0, 0x80EF_FFE0, 0x80EF_FFC0]


def test_a_state_is_registers_memory_and_the_callers_stack() -> None:
    machine = Debugger(CORTEX_M33, Span(0x20, 0x24))
    machine.memory[0x20:0x24] = b"kept"
    registers = "00000000" + "21000000" + "01800000"
    machine.answers |= {"g": [registers] * 9, "p0": ["00000000"], "p1": ["E14"], "pf": ["01800000"]}
    saved = machine.save()
    assert (saved.processor, saved.memory) == ({"r0": "00000000", "pc": "01800000"}, {0x20: b"kept"})
    assert len(saved.devices) == 8
    machine._general = {}
    machine.answers |= {"g": [registers.replace("21", "24")], "p0": ["0"], "p1": ["0"], "pf": ["0"]}
    assert set(machine.save().memory) == {0x20, 0x24}, "the stack lies elsewhere"
    risc_v = Debugger(RISCV, Span(0, 0x100))
    risc_v.answers |= {"g": [registers], "p0": ["0"], "p1": ["0"], "pf": ["0"]}
    assert risc_v.save().devices == {}


def test_a_state_is_gone_back_to_after_a_reset_where_a_fault_is_handled() -> None:
    machine = Debugger()
    snapshot = Snapshot({"r0": "07000000"}, {0xE000_ED08: b"\0\1\0\0"}, {0x20: b"kept"})
    machine.restore(snapshot)
    assert machine.asked == ["M20,4:6b657074", "P0=07000000"]
    machine.asked.clear()
    machine._numbers["r1"] = 2
    machine._is_in_handler = True
    machine.restore(snapshot)
    stored = ["Pf=f0ffef80", "P0=08ed00e0", "P2=00010000", "vCont;s:1"]
    assert machine.asked[0] == "qRcmd,73797374656d5f7265736574"  # system_reset
    assert machine.asked[2:6] == stored
    assert machine.asked[6:] == ["M20,4:6b657074", "P0=07000000"]
    assert not machine._is_in_handler


@pytest.mark.parametrize(
    ("stopped_at", "stops", "stop"),
    [
        (0x200, {0x200}, Stop(Reason.ADDRESS, 0x200)),
        (0x700, set(), Stop(Reason.FAULT, 0x700, "faults, and goes on")),
        (0x700, {0x700}, Stop(Reason.ADDRESS, 0x700)),
    ],
)
def test_where_it_stops_it_was_asked_to_or_it_faults(stopped_at: int, stops: set[int], stop: Stop) -> None:
    machine = Debugger()
    machine._stops = set(stops)
    places = ["00" * 8 + one.to_bytes(4, "little").hex() for one in (0x100, stopped_at)]
    machine.answers["g"] = list(places)
    sent: list[str] = []
    machine._send = sent.append  # type: ignore[method-assign]
    machine._spent = lambda: 0.0  # type: ignore[method-assign]
    machine._receive = lambda patience: "T05"  # type: ignore[method-assign]
    assert machine.run(5) == stop
    assert sent == ["vCont;c"]
    assert machine._is_in_handler is (stop.reason is Reason.FAULT)


def test_a_program_that_takes_too_long_is_interrupted() -> None:
    machine: Any = Debugger()
    machine.answers["g"] = ["00" * 8 + "00010000"] * 2
    spent = iter((1.0, 6.0, 6.5))
    interrupted: list[bool] = []
    machine._send, machine._spent, machine._receive = lambda text: None, lambda: next(spent), lambda patience: None
    machine._interrupt = lambda: interrupted.append(True)
    assert machine.run(5) == Stop(Reason.LIMIT, 0x100)
    assert interrupted == [True]
    assert next(spent, None) is None, "5 seconds were not too many"
