"""Run models over banks of RAM on emulated boards, with the planner that ``plan --bank ... -o banks.h`` writes.

    python tools compare bank_boards --tflm CHECKOUT -I flatbuffers/include -I gemmlowp -I ruy \\
        --library libtflm.a --kernels reference --bank dtcm=9000 --bank psram=2MiB MODEL...

The program (bank_boards.cc) runs each model in one arena and over the banks, on QEMU's MPS2 boards with a Cortex-M4 and
a Cortex-M7: outputs are equal, also after Reset(), and arena_used_bytes() is as planned. Then each bank that is used
gets one byte less, which the planner must refuse. The exit code is 1 where any of that is otherwise. A model with
variables runs a second time with those placed by the plan, as ``plan --bank --write`` does it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import frame
from compare.bank_loads import add_build, build

from tflm_sim import load, simulate
from tflm_sim.answers.offline_plan import with_planned_variables
from tflm_sim.device.configuration import Settings
from tflm_sim.extensions.banks.bank import RamBank, parse_banks
from tflm_sim.extensions.banks.document import banks_document
from tflm_sim.extensions.banks.header import write_header
from tflm_sim.extensions.banks.placement import BankQuestion, Placement

BOARDS = {
    "mps2-an386": ("cortex-m4", (0x20200000, 0x21000000, 0x21800000)),
    "mps2-an500": ("cortex-m7", (0x20200000, 0x60000000, 0x60800000)),
}
"""QEMU's boards, the core, and where their RAM has room for a bank each."""
_SECONDS = 120
VARIABLES = 20


def run(args: argparse.Namespace, folder: Path, board: str, placement: Placement, less: int | None) -> dict[str, int]:
    """Return the numbers that the program says; ``less`` is the bank that gets a byte less."""
    core, addresses = BOARDS[board]
    given = ", ".join(
        f"reinterpret_cast<uint8_t*>({addresses[number]:#x}), {use.needed - (number == less)}"
        for number, use in enumerate(placement.uses)
        if use.needed
    )
    elf = folder / "bank_boards.elf"
    # The board has 4 MiB at 0x20000000: the program's data, one arena, and the first bank from 0x20200000 on.
    build(args, "bank_boards.cc", elf, core, f"-DBANKS={given}", "-DONE_ARENA=1500000", str(folder / "model.s"))
    command = ["qemu-system-arm", "-M", board, "-nographic", "-semihosting-config", "enable=on,target=native"]
    done = subprocess.run(
        [*command, "-kernel", str(elf)], capture_output=True, text=True, timeout=_SECONDS, stdin=subprocess.DEVNULL,
        check=False,
    )  # fmt: skip
    return {name: int(number) for name, number in re.findall(r"^(\w+)=(\d+)$", done.stdout + done.stderr, re.MULTILINE)}


def runs(args: argparse.Namespace, name: str, banks: Sequence[RamBank]) -> Iterator[tuple[str, str, bool]]:
    """Yield the board, what was tried and whether it went as it should."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        path = folder / "model.tflite"
        path.write_bytes(load(name).source)
        assembly = f'.section .rodata\n.balign 16\n.global g_model\ng_model:\n.incbin "{folder}/model.tflite"\n'
        (folder / "model.s").write_text(assembly)
        for board, question, where in _questions(args, path):
            placed = question.place(banks)
            if placed.best is None:
                yield board, "no plan fits", True
                continue
            best = placed.best
            with (folder / "banks.h").open("w", encoding="utf-8") as file:
                write_header(file, question, banks_document(question, placed, banks))
            said = run(args, folder, board, best, None)
            tail = question.own.tail_bytes if best.head == best.tail else None
            is_right = said.get("differ") == said.get("differ_after_reset") == 0
            if tail is not None:
                is_right = is_right and said.get("used") == best.uses[best.head].planned + tail
            yield board, f"head {banks[best.head].name}, tail {banks[best.tail].name}{where}", is_right
            for number, use in enumerate(best.uses):
                if use.needed:
                    said = run(args, folder, board, best, number)
                    yield (
                        board,
                        f"one byte less in {banks[number].name}",
                        (said.get("check"), said.get("status")) == (1, 1),
                    )


def _questions(args: argparse.Namespace, path: Path) -> Iterator[tuple[str, BankQuestion, str]]:
    """Yield each board with the model that is to run on it, and where its variables are; the file is that model."""
    model = load(str(path))
    settings: Settings = {"kernels": args.kernels, "resource_variables": VARIABLES}
    for board, (core, _) in BOARDS.items():
        question = BankQuestion(simulate(model, core, **settings))
        path.write_bytes(model.source)
        yield board, question, ""
        if question.tail_variables:
            planned = with_planned_variables(question.roomy)
            path.write_bytes(planned.source)
            yield board, BankQuestion(simulate(planned, core, **settings)), "; variables planned"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all models on all boards."""
    parser = frame.parser(__doc__)
    add_build(parser)
    parser.add_argument("--bank", dest="banks", action="append", default=[], metavar="NAME=SIZE", help="two or three")
    parser.add_argument("models", nargs="+", metavar="MODEL")
    args = parser.parse_args(arguments)
    banks = parse_banks(args.banks)
    table = frame.Table({"model": "<44", "board": "<11", "tried": "<50", "right": "<5"})
    code = 0
    for name in args.models:
        for board, tried, is_right in runs(args, name, banks):
            table.row(Path(name).name, board, tried, "yes" if is_right else "NO")
            code |= not is_right
    return code


if __name__ == "__main__":
    sys.exit(main())
