"""Compare the loads and stores that are counted for ``--bank`` with what an emulated Cortex-M4 or M55 executes.

    python tools compare bank_loads --tflm CHECKOUT -I flatbuffers/include -I gemmlowp -I ruy \\
        --library libtflm.a --kernels reference MODEL...

CHECKOUT is tensorflow/tflite-micro at 90b983c; of the libraries, built for the core with TF_LITE_STATIC_MEMORY, the
first that has a kernel counts (for CMSIS-NN its kernels in front). The program is bank_loads.cc: one Invoke() in an
arena in which no two buffers share a byte, so that every access belongs to one buffer. Of a Cortex-M4 Unicorn calls
back for each. Of a Cortex-M55 (``--core cortex-m55``, built with -mfloat-abi=softfp), whose MVE Unicorn does not know,
a plugin of QEMU counts (bank_loads_plugin.c, which is compiled first). ESP-NN where it is C is compiled for the
Cortex-M4, too (``--kernels esp_nn`` or ``esp_nn_ansi``), and simulated for the ESP32.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import frame

from tflm_sim import load, simulate
from tflm_sim.errors import TflmSimError
from tflm_sim.extensions.banks.traffic import traffic

HERE = Path(__file__).parent
FLAGS = (
    "-mthumb -Os -std=c++17 -fno-rtti -fno-exceptions -fno-threadsafe-statics -ffunction-sections -fdata-sections "
    "-funsigned-char -DTF_LITE_STATIC_MEMORY -nostartfiles -Wl,--gc-sections,-z,muldefs,-u,kVectors "
    "-Wl,-e,_start,--section-start=.vectors=0,-Ttext=0x40,-Tdata=0x20000000 --specs=nosys.specs"
)
ARENA_BYTES = 0x1000000
_SECONDS = 300


class Core(NamedTuple):
    """Where the program's arena and model are in an emulated core's memory, and what else its build is told."""

    arena: int
    model: int
    flags: tuple[str, ...]


_MARK = 0x63000000
CORES = {
    "cortex-m4": Core(0x21000000, 0x00800000, ()),
    "cortex-m55": Core(0x60000000, 0x62000000, ("-mfloat-abi=softfp", f"-DMARK={_MARK:#x}", "-DSTACK_END=0x20080000")),
}
"""The second one is QEMU's mps3-an547: its DDR is large enough, and its TCM holds code and data."""


def add_build(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where TFLM is."""
    parser.add_argument("--tflm", type=Path, required=True, metavar="CHECKOUT", help="tensorflow/tflite-micro")
    parser.add_argument("-I", dest="include", action="append", default=[], metavar="FOLDER", help="its dependencies")
    parser.add_argument("--library", action="append", default=[], metavar="LIB.a", help="TFLM, built for the core")
    parser.add_argument("--kernels", default="reference", help="whose kernels the libraries have")
    parser.add_argument("--define", action="append", default=[], metavar="X=Y", help="for the program")


def build(args: argparse.Namespace, source: str, out: Path, core: str, *more: str) -> None:
    """Link a program with TFLM; end with the compiler's own words where that fails, exit code 3."""
    folders = [f"-I{folder}" for folder in (args.tflm, *args.include, out.parent)]
    defines = [f"-D{define}" for define in args.define]
    command = ["arm-none-eabi-g++", f"-mcpu={core}", *FLAGS.split(), *folders, *defines, str(HERE / source), *more]
    libraries = [*args.library, *args.library, "-lm"]
    run = subprocess.run([*command, *libraries, "-o", str(out)], capture_output=True, text=True, check=False)
    if run.returncode:
        print(run.stderr, file=sys.stderr)
        sys.exit(3)


Counts = Sequence[int]
"""Bytes by address of the arena."""


def executed(folder: Path, core: str, model: bytes) -> tuple[Counts, Counts, str]:
    """Return the bytes loaded and stored by address of the arena, and what the program says."""
    if core == "cortex-m4":
        return _in_unicorn((folder / "bank_loads.elf").read_bytes(), model)
    return _in_qemu(folder, CORES[core], model)


def _in_qemu(folder: Path, core: Core, model: bytes) -> tuple[Counts, Counts, str]:
    plugin, counts, given = (folder / name for name in ("bank_loads.so", "counts", "model.tflite"))
    if not plugin.exists():
        compiler = ["cc", "-O2", "-shared", "-fPIC", str(HERE / "bank_loads_plugin.c"), "-o", str(plugin)]
        subprocess.run(compiler, check=True)
    given.write_bytes(model)
    counts.unlink(missing_ok=True)
    command = [
        *("qemu-system-arm", "-M", "mps3-an547", "-nographic", "-semihosting-config", "enable=on,target=native"),
        *("-kernel", str(folder / "bank_loads.elf")),
        *("-device", f"loader,file={given},addr={core.model:#x},force-raw=on"),
        *("-plugin", f"{plugin},out={counts},arena={core.arena:#x},bytes={ARENA_BYTES},mark={_MARK:#x}"),
    ]
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, stdin=subprocess.DEVNULL, check=False
        )
    except subprocess.TimeoutExpired:
        return [], [], f"no end in {_SECONDS} s"
    found = array("I")
    if counts.exists():
        found.frombytes(counts.read_bytes())
    return found[:ARENA_BYTES], found[ARENA_BYTES:], run.stdout + run.stderr


def _in_unicorn(program: bytes, model: bytes) -> tuple[Counts, Counts, str]:
    import unicorn
    from unicorn import arm_const as arm

    machine = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
    machine.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M4)
    where = CORES["cortex-m4"]
    for start, size in ((0, 0x1000000), (0x20000000, 0x400000), (where.arena, ARENA_BYTES), (0xE0000000, 0x100000)):
        machine.mem_map(start, size)
    for address, data in segments(program):
        machine.mem_write(address, data)
    machine.mem_write(where.model, model)
    stack, start = (int.from_bytes(machine.mem_read(address, 4), "little") for address in (0, 4))
    machine.reg_write(arm.UC_ARM_REG_SP, stack)
    loads, stores, said, hooks = [0] * ARENA_BYTES, [0] * ARENA_BYTES, [], []

    def access(_: object, kind: int, address: int, size: int, *__: object) -> None:
        (stores if kind == unicorn.UC_MEM_WRITE else loads)[address - where.arena] += size

    def ask(*_: object) -> None:
        what, pc = machine.reg_read(arm.UC_ARM_REG_R0), machine.reg_read(arm.UC_ARM_REG_PC)
        if what != 4:
            machine.emu_stop()
            return
        text = bytes(machine.mem_read(machine.reg_read(arm.UC_ARM_REG_R1), 256)).partition(b"\0")[0].decode("latin-1")
        if text == "BEGIN\n":  # Callbacks from the start would be in the way of instructions in IT blocks.
            kinds = unicorn.UC_HOOK_MEM_READ | unicorn.UC_HOOK_MEM_WRITE
            hooks.append(machine.hook_add(kinds, access, begin=where.arena, end=where.arena + ARENA_BYTES - 1))
            machine.ctl_flush_tb()
        elif text == "END\n":
            machine.hook_del(hooks.pop())
        said.append(text)
        machine.reg_write(arm.UC_ARM_REG_PC, (pc + 2) | 1)

    machine.hook_add(unicorn.UC_HOOK_INTR, ask)
    try:
        machine.emu_start(start | 1, 0xFFFFFFF0, timeout=_SECONDS * 1_000_000)
    except unicorn.UcError as error:
        said.append(f"{error}")
    return loads, stores, "".join(said)


def segments(program: bytes) -> list[tuple[int, bytes]]:
    """Return what an ELF file has loaded, by address."""
    first = int.from_bytes(program[28:32], "little")
    found = []
    for number in range(int.from_bytes(program[44:46], "little")):
        row = [int.from_bytes(program[first + 32 * number + 4 * n :][:4], "little") for n in range(6)]
        kind, offset, address, _, size, _ = row
        if kind == 1 and size:
            found.append((address, program[offset : offset + size]))
    return found


def compared(name: str, folder: Path, core: str, kernels: str, *, is_listed: bool) -> tuple[int, int, int, int, str]:
    """Return bytes executed and counted, how far buffers are apart, the tail's bytes executed, and a remark."""
    model = load(name)
    loads, stores, said = executed(folder, core, bytes(model.source))
    if not said.endswith("ok\n") or not loads:
        return 0, 0, 0, 0, re.sub(r"\s+", " ", said)[-60:]
    target = "esp32" if kernels.startswith("esp_nn") else core
    simulation = simulate(model, target, kernels=kernels, planner="linear", resource_variables=40)
    counted = traffic(simulation)
    main = model.subgraphs[0]
    found = total = apart = 0
    for planned, (loaded, stored) in zip(simulation.buffers, counted.buffers, strict=True):
        info = planned.info
        if info.scratch < 0 and info.subgraph == 0:  # The application is not executed between the marks.
            stored -= info.size * (info.tensor in main.input_tensors)
            loaded -= info.size * (info.tensor in main.output_tensors)
        seen = sum(loads[planned.offset : planned.end]), sum(stores[planned.offset : planned.end])
        found += sum(seen)
        total += loaded + stored
        apart += abs(seen[0] - loaded) + abs(seen[1] - stored)
        if is_listed and seen != (loaded, stored):
            what = f"tensor {info.tensor}" if info.scratch < 0 else f"scratch {info.scratch}"
            print(f"    {what} of #{info.node}, {info.size:,} B: executed {seen}, counted {(loaded, stored)}")
    head = max((planned.end for planned in simulation.buffers), default=0)
    return found, total, apart, sum(loads[head:]) - counted.tail.loads, ", ".join(counted.by_element)


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute and compare; the exit code is 1 where a kernel whose loops are known is more than 1 % off."""
    parser = frame.parser(__doc__)
    add_build(parser)
    parser.add_argument("--core", choices=[*CORES], default="cortex-m4", help="that the libraries are built for")
    parser.add_argument("--list", action="store_true", help="also print each buffer that differs")
    parser.add_argument("models", nargs="+", metavar="MODEL")
    args = parser.parse_args(arguments)
    table = frame.Table(
        {
            "model": "<44",
            "executed": ">13,",
            "counted": ">13,",
            "apart": ">11,",
            "tail's structs": ">14,",
            "by element": "<40",
        }
    )
    code = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder, core = Path(temporary), CORES[args.core]
        where = f"-DARENA={core.arena:#x}", f"-DMODEL={core.model:#x}"
        build(args, "bank_loads.cc", folder / "bank_loads.elf", args.core, *where, *core.flags)
        for name in args.models:
            try:
                found, total, apart, structs, remark = compared(
                    name, folder, args.core, args.kernels, is_listed=args.list
                )
            except TflmSimError as error:
                table.row(Path(name).name, None, None, None, None, str(error))
                continue
            table.row(Path(name).name, found or None, total or None, apart, structs, remark)
            code |= bool(found and not remark and apart * 100 > found)
    return code


if __name__ == "__main__":
    sys.exit(main())
