"""A program with windows of registers, as an ESP32's have, executed.

Debian's QEMU has no ESP32, but a core with windows, a loop and no number of floating point: it stands in for the chip's
here. All that differs for QEMU are the core's name and which registers it tells of.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import tflm_sim
from tflm_sim.cli import main
from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.emulation.emulator import Emulator
from tflm_sim.extensions.firmware.emulation.execution import Execution
from tflm_sim.extensions.firmware.emulation.follow import follow
from tflm_sim.extensions.firmware.emulation.memory_map import writable
from tflm_sim.extensions.firmware.emulation.program import Program
from tflm_sim.extensions.firmware.emulation.xtensa import CHIPS, calls, is_entry, window_of_call
from tflm_sim.extensions.firmware.emulation.xtensa_machine import XtensaMachine
from tflm_sim.extensions.firmware.reading.image import load_image

sys.path.insert(0, str(Path(__file__).parent))
import elf_program
import xtensa_program

_ESP32 = next(chip for chip in CHIPS if chip.cpu == "esp32")
_ORDER = ("lbeg", "lend", "lcount", "sar", "litbase", "windowbase", "windowstart", "sr176", "sr208", "ps")
_STAND_IN = _ESP32._replace(cpu="dc233c", registers=32, order=_ORDER, words=105)
"""Source: qemu target/xtensa/core-dc233c/gdb-config.c.inc @ v7.2.0."""


class StandIn(XtensaMachine):
    """A machine whose memory is at each address."""

    def _arguments(self) -> list[str]:
        return ["-cpu", self._chip.cpu, "-m", "2G"]


class OpenStandIn(StandIn):
    """A machine whose programs may ask for files of the computer that it runs on."""

    def _arguments(self) -> list[str]:
        return [*super()._arguments(), "-semihosting"]


def executed(path: Path, invokes: int = 0, machine: type[StandIn] = StandIn) -> Execution:
    """Return what the program does on the core that stands in for an ESP32's."""
    if shutil.which("qemu-system-xtensa") is None:
        pytest.skip("qemu-system-xtensa not installed")
    image = load_image(path)
    assert image.elf is not None
    program = Program(image.elf)

    def make(is_started: bool) -> Emulator:
        kept = writable(program.elf)
        return machine(program.core, str(path), "qemu-system-xtensa", kept, _STAND_IN, 0x4008_0000, None)

    return follow(program, make, emulator="QEMU", file=str(path), invokes=invokes)


@pytest.mark.parametrize("day", ["2026-08-20", "2026-10-08"])
def test_the_smallest_arena_is_exact_and_each_request_is_seen(day: str, tmp_path: Path) -> None:
    answer = executed(xtensa_program.built(tmp_path, 1024, *elf_program.NAMESPACES[day]))
    (arena,) = answer.arenas
    # As in test_run.py: it is the same program.
    assert (arena.succeeds_from, arena.smallest_arena, arena.arena_used_bytes) == (188, 228, 1024 - 848)
    assert (arena.fits, arena.symbol, arena.is_exact) == (True, "tensor_arena", True)
    kinds = [(row.kind, row.size, row.offset) for row in arena.allocations[0].events]
    expected = [("persist", 24, 1000), ("persist", 100, 900), ("temp", 64, 0), ("persist", 40, 848)]
    assert kinds == [*expected, ("temp_reset", 1, 64)]
    # It ends early unless a constructor ran before, and a function of ESP-IDF that returns 7 returned 0.
    assert (answer.core, answer.is_guessed) == ("ESP32", True)
    assert answer.start == "started in app_main(), functions of vendors answered"


def test_no_emulator_is_left_behind(tmp_path: Path) -> None:
    executed(xtensa_program.built(tmp_path, 1024))
    gc.collect()
    assert [row for row in children() if "qemu-system" in row] == []


def children() -> list[str]:
    """Return the names of the processes that this one started and that are there, those included that ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # One of somebody else's may have ended meanwhile.
            name, _, rest = path.read_text("utf-8", "replace").rpartition(")")
            found += [name] if int(rest.split()[1]) == os.getpid() else []
    return found


def test_an_arena_that_is_too_small_is_seen_with_what_is_printed(tmp_path: Path) -> None:
    (arena,) = executed(xtensa_program.built(tmp_path, 120)).arenas
    assert (arena.fits, arena.smallest_arena, arena.reason) == (False, 228, "AllocateTensors() returned 1")
    # 24 B of 120 B went to the object.
    assert arena.allocations[0].log == ("Failed to allocate tail memory. Requested: 100, available 96",)


def test_a_size_in_which_the_program_faults_does_not_work_and_the_next_one_starts_afresh(tmp_path: Path) -> None:
    (arena,) = executed(xtensa_program.built(tmp_path, 1024, "-DFAILED=(__builtin_trap(),1)")).arenas
    assert (arena.succeeds_from, arena.smallest_arena, arena.fits) == (188, 228, True)


def test_a_fault_is_told_where_it_is(tmp_path: Path) -> None:
    trap = '-DFAILED=({ asm volatile("ill"); 1; })'
    (arena,) = executed(xtensa_program.built(tmp_path, 60, trap)).arenas
    assert arena.reason.startswith("it runs into an undefined instruction in AllocateTensors() at 0x400d0")


@pytest.mark.parametrize(("machine", "is_made"), [(StandIn, False), (OpenStandIn, True)])
def test_a_program_makes_no_file_on_the_computer(machine: type[StandIn], is_made: bool, tmp_path: Path) -> None:
    file = tmp_path / "made"
    create = (  # simcall: open() for writing, made where there is none
        f'({{ register int call asm("a2") = 5; register const char *name asm("a3") = "{file}"; '
        'register int flags asm("a4") = 0x41; register int mode asm("a5") = 0600; '
        'asm volatile(".byte 0, 0x51, 0" : "+r"(call) : "r"(name), "r"(flags), "r"(mode) : "memory"); })'
    )
    executed(xtensa_program.built(tmp_path, 1024, f"-DAFTERWARDS={create}"), 1, machine)
    assert file.exists() == is_made


def test_instructions_are_counted_those_included_that_spill_windows(tmp_path: Path) -> None:
    counts = []
    for depth in (0, 1, 100, 101):
        program = xtensa_program.built(tmp_path, 1024, f"-DDEPTH={depth}")
        (invocation,) = executed(program, invokes=1).arenas[0].allocations[0].invocations
        assert (invocation.status, invocation.stack, invocation.stores) == ("ok", None, None)
        assert invocation.instructions is not None
        counts.append(invocation.instructions)
    # A call is 7 instructions. A deep one also spills a window and fills it again, 10 instructions each, as many as
    # the handlers have; QEMU counts the entry and the retw again with which the program goes on.
    assert (counts[1] - counts[0], counts[3] - counts[2]) == (7, 7 + 2 * (10 + 1))


def test_calls_of_the_windowed_convention_are_read() -> None:
    # call8 to 0x1010 at 0x1001: the offset counts words from the aligned address behind it; callx8 a8, callx12 a15.
    assert (window_of_call(bytes.fromhex("e50000")), window_of_call(bytes.fromhex("f00f00"))) == (2, 3)
    assert window_of_call(bytes.fromhex("1df000")) is None
    assert is_entry(bytes.fromhex("364100"))
    near = (0x25 | 3 << 6).to_bytes(3, "little")
    assert list(calls(0x1001, near)) == [(0x1001, 0x1000 + 4 * 3 + 4, True)]
    # A literal of four bytes before the load: l32r a8, .-4; callx8 a8.
    assert list(calls(0x2000, bytes.fromhex("78563412") + bytes.fromhex("81ffff") + bytes.fromhex("e00800"))) == [
        (0x2004, 0x12345678, True)
    ]


@pytest.mark.parametrize("has_qemu", [True, False])
def test_without_the_qemu_of_espressif_it_is_refused_with_what_would_do(
    has_qemu: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = xtensa_program.built(tmp_path)
    folder = tmp_path / "bin"
    folder.mkdir()
    if has_qemu:
        (folder / "qemu-system-xtensa").write_text("#!/bin/sh\necho dc233c\n")
        (folder / "qemu-system-xtensa").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder) + os.pathsep + "/nowhere")
    assert main(["firmware", str(program), "--run"]) == 3
    said = capsys.readouterr().err
    assert "a program for an ESP32 is executed by qemu-system-xtensa of Espressif" in said
    assert ("has not this core" if has_qemu else "there is none") in said


def test_another_chip_is_refused(tmp_path: Path) -> None:
    # The constants of an ESP32-S3 lie at 0x3C000000.
    program = xtensa_program.built(tmp_path, 1024, "-Wl,--section-start=.rodata=0x3C000020")
    with pytest.raises(FirmwareError, match=r"only the ESP32 is one whose programs were tried in an emulator"):
        tflm_sim.execute(program)


def test_a_qemu_without_the_boot_rom_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = xtensa_program.built(tmp_path)
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "qemu-system-xtensa").write_text("#!/bin/sh\necho esp32\n")
    (folder / "qemu-system-xtensa").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder) + os.pathsep + "/bin")
    with pytest.raises(FirmwareError, match=r"has not its file esp32-v3-rom\.bin, the boot ROM of an ESP32"):
        tflm_sim.execute(program)
