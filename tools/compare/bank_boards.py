"""Run models over banks of RAM on emulated boards, with the planner that ``plan --bank ... -o banks.h`` writes.

    python tools compare bank_boards --tflm CHECKOUT -I flatbuffers/include -I gemmlowp -I ruy \\
        --library libtflm.a --kernels reference --bank dtcm=9000 --bank psram=2MiB MODEL...

The program (bank_boards.cc) runs each model in one arena and over the banks, on QEMU's MPS2 boards with a Cortex-M4 and
a Cortex-M7: outputs are equal, also after Reset(), and arena_used_bytes() is as planned. Before, each bank that is used
has one byte less, and a table is for another model, which the planner must refuse. The exit code is 1 where any of that
is otherwise. A model with variables runs a second time with those placed by the plan, as ``plan --bank --write`` does
it. ``--board`` is for one board alone, and a bank in per cent for that share of the arena: ``--bank dtcm=50%``.
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
from tflm_sim.errors import TflmSimError
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


def run(args: argparse.Namespace, folder: Path, board: str, placement: Placement) -> tuple[dict[str, int], list[int]]:
    """Return the numbers that the program says, and of each bank that is used whether a byte less is refused."""
    core, addresses = BOARDS[board]
    used = [(addresses[number], use.needed) for number, use in enumerate(placement.uses) if use.needed]
    head = placement.uses[placement.head]
    has_more_temps = head.needed > head.planned + head.tail
    for_temps = sum(use.needed > 0 for use in placement.uses[: placement.head]) if has_more_temps else len(used)
    given = ", ".join(
        f"reinterpret_cast<uint8_t*>({address:#x}), {needed}u - (less == {number})"
        for number, (address, needed) in enumerate(used)
    )
    elf = folder / "bank_boards.elf"
    # The board has 4 MiB at 0x20000000: the program's data, one arena, and the first bank from 0x20200000 on.
    defines = f"-DBANKS={given}", f"-DUSED={len(used)}", f"-DHEAD_FOR_TEMPS={for_temps}", "-DONE_ARENA=1500000"
    build(args, "bank_boards.cc", elf, core, *defines, str(folder / "model.s"))
    command = ["qemu-system-arm", "-M", board, "-nographic", "-semihosting-config", "enable=on,target=native"]
    done = subprocess.run(
        [*command, "-kernel", str(elf)], capture_output=True, text=True, timeout=_SECONDS, stdin=subprocess.DEVNULL,
        check=False,
    )  # fmt: skip
    rows = re.findall(r"^(\w+)=(\d+)$", done.stdout + done.stderr, re.MULTILINE)
    said = {name: int(number) for name, number in rows if name != "refused"}
    return said, [int(number) for name, number in rows if name == "refused"]


def banks_for(question: BankQuestion, texts: Sequence[str]) -> tuple[RamBank, ...]:
    """Return the banks; those in per cent are that share of the model's arena."""
    smallest = question.roomy.smallest
    arena = 0 if smallest is None else smallest.size
    shares = re.compile(r"(\w+)=(\d+)%")
    return parse_banks(
        shares.sub(lambda row: f"{row[1]}={max(arena * int(row[2]) // 100, 16)}", text) for text in texts
    )


def other_table(header: str) -> str:
    """Return the table of a header for a model whose first buffer is read by one operator more."""
    table = header[header.index("#pragma once") :].replace("tflm_banks::model", "tflm_banks::other")
    return re.sub(r"(?m)^(    \{\d, \d+u, \d+u, \d+, )(\d+)", lambda row: f"{row[1]}{int(row[2]) + 1}", table, count=1)


def runs(args: argparse.Namespace, name: str) -> Iterator[tuple[str, str, bool | None]]:
    """Yield the board, what was tried and whether it went as it should; None where nothing could be tried."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        path = folder / "model.tflite"
        path.write_bytes(load(name).source)
        assembly = f'.section .rodata\n.balign 16\n.global g_model\ng_model:\n.incbin "{folder}/model.tflite"\n'
        (folder / "model.s").write_text(assembly)
        for board, question, where in _questions(args, path):
            banks = banks_for(question, args.banks)
            placed = question.place(banks)
            if placed.best is None:
                yield board, "no plan fits", None
                continue
            best = placed.best
            with (folder / "banks.h").open("w", encoding="utf-8") as file:
                write_header(file, question, banks_document(question, placed, banks))
            (folder / "other.h").write_text(other_table((folder / "banks.h").read_text("utf-8")))
            said, refused = run(args, folder, board, best)
            if said.get("fails_in_one_arena"):
                yield board, "not compared: it fails in one arena, too", None
                continue
            tail = question.own.tail_bytes if best.head == best.tail else None
            is_right = said.get("differ") == said.get("differ_after_reset") == 0
            if tail is not None:
                is_right = is_right and said.get("used") == best.uses[best.head].planned + tail
            yield board, f"head {banks[best.head].name}, tail {banks[best.tail].name}{where}", is_right
            tried = [f"one byte less in {bank.name}" for bank, use in zip(banks, best.uses, strict=True) if use.needed]
            tried.append("a table for another model")
            for number, what in enumerate(tried):
                yield board, what, refused[number : number + 1] == [1]


def _questions(args: argparse.Namespace, path: Path) -> Iterator[tuple[str, BankQuestion, str]]:
    """Yield each board with the model that is to run on it, and where its variables are; the file is that model."""
    model = load(str(path))
    settings: Settings = {"kernels": args.kernels, "resource_variables": VARIABLES}
    for board in args.board or BOARDS:
        core, _ = BOARDS[board]
        question = BankQuestion(simulate(model, core, **settings), replace_plan=True)
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
    parser.add_argument("--board", choices=[*BOARDS], action="append", help="only on these")
    parser.add_argument("models", nargs="+", metavar="MODEL")
    args = parser.parse_args(arguments)
    table = frame.Table({"model": "<44", "board": "<11", "tried": "<50", "right": "<5"})
    code = 0
    for name in args.models:
        try:
            for board, tried, is_right in runs(args, name):
                table.row(Path(name).name, board, tried, "-" if is_right is None else "yes" if is_right else "NO")
                code |= is_right is False
        except TflmSimError as error:
            table.row(Path(name).name, None, str(error), None)
    return code


if __name__ == "__main__":
    sys.exit(main())
