r"""Build programs with real TFLM in many forms, run them in QEMU, and ask each verb about them.

    python tools truth programs --tflm CHECKOUT --flatbuffers DIR --gemmlowp DIR --ruy DIR --model MODEL.tflite \
        --work DIR [--core cortex-m4] [--compiler clang] [--flags=-Os,-O2] [--program-flags=-g,-O0,-gsplit-dwarf,-s] \
        [--kernels cmsis_nn=DIR] [--picolibc DIR] [--form NAME | --share 0/10] [--others 2]
    python tools truth programs --work DIR [--work DIR] [--ask-again]

It is given all sources and fetches nothing. Each program is a row of {form x core x flags x flags of the program x
TFLM x kernels}; the library is built once for each but the first and fourth. The smallest arena is found by bisection
in QEMU, then the program is built with that arena, and with a byte less, and asked about; a form that works in no
arena is asked about with a large one. Rows stand in programs.jsonl in the folder --work, and one that is there is not
made again. --share 0/10 builds every tenth form, from the first on, then from the second on for the next of {core x
flags x flags of the program}, of which one may be "-g -Xlinker --no-gc-sections". Without --tflm those rows are
counted; --ask-again asks each once more.

An answer is wrong where it says yes (exit code 0) of what fails, or no (1) of what works, or where its size is another
one (read, it may be that of another address of the arena: up to 12 bytes more). Right is a yes or a no, or a condition
with the right size; the others are refused. The table has them by verb, with the mean seconds (without the start of
Python). The last line counts whether the sizes that conditions name work in QEMU, and a byte less not. The model's
operators must be among RESOLVER's (program_forms).
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from truth.program_builds import CORES, Builder, Library
from truth.program_forms import ANY_ARENA, FORMS

from tflm_sim.cli import main as tflm_sim

KINDS = ("exact", "condition", "refused", "wrong")
_TOML = '[[firmware]]\nfirmware = "{program}"\nlimit = {arena}\nmodels = ["{model}"]\nrun = {run}\n'


def said(words: list[str], folder: Path) -> tuple[int, str, float]:
    """Return the exit code and the standard output of a command in a folder, and its seconds.

    A process of its own begins as a copy of this one, so that no start of Python is counted and nothing is kept.
    """
    with tempfile.TemporaryFile("w+b") as out:
        begun = time.monotonic()
        child = os.fork()
        if child == 0:
            code = 70
            try:
                os.chdir(folder)
                os.dup2(out.fileno(), 1)
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
                code = tflm_sim(words)
                sys.stdout.flush()
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        seconds = time.monotonic() - begun
        out.seek(0)
        return code, out.read().decode("utf-8", "replace"), seconds


def asked(row: dict[str, Any], count: int) -> dict[str, dict[str, Any]]:
    """Return what each verb says of a program: exit code, answer, size in bytes or None, doubts, seconds.

    Besides ``firmware`` and ``firmware --run`` it asks ``count`` others, other ones of each program: all of them
    answer from one description. With a count below zero it asks none.
    """
    if count < 0:
        return {}
    program, model, arena = (str(row[each]) for each in ("program", "model", "arena"))
    verbs = {
        "firmware": ["firmware", program, "--json"],
        "firmware --run": ["firmware", program, "--run", "--json"],
        "check --firmware": ["check", model, "--limit", arena, "--firmware", program, "--json"],
        "check --executed": ["check", model, "--limit", arena, "--firmware", program, "--executed", "--json"],
        "size --firmware": ["size", model, "--firmware", program, "--json"],
        "size --executed": ["size", model, "--firmware", program, "--executed", "--json"],
        "toml": ["check", "--json"],
        "toml, run": ["check", "--json"],
    }
    others = list(verbs)[2:]
    for verb in random.Random(program).sample(others, len(others) - count):
        del verbs[verb]
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in (program, model):
            shutil.copy(path, folder)
        for verb, words in verbs.items():
            run = str(verb.endswith("run")).lower()
            (Path(folder) / "tflm-sim.toml").write_text(
                _TOML.format(program=Path(program).name, model=Path(model).name, arena=arena, run=run), "utf-8"
            )
            code, text, seconds = said(words, Path(folder))
            answer, size, doubts = text, None, []
            if text.startswith("{"):
                document = json.loads(text)
                parts = [document.get("program"), *document.get("verdicts", ()), document]
                if verb == "firmware --run":
                    parts += document.get("arenas", ())[:1]
                answer = document.get("answer") or next(
                    (each["answer"] for each in parts if each and "answer" in each), ""
                )
                doubts = [doubt["text"] for each in parts if each for doubt in each.get("doubts") or ()]
                sizes = [each.get("smallest_arena") or each.get("smallest_arena_bytes") for each in parts if each]
                size = next((each for each in sizes if each), None)
            answers[verb] = {
                "code": code, "answer": answer[:300], "size": size, "doubts": doubts, "seconds": round(seconds, 2),
            }  # fmt: skip
    return answers


def is_condition(answer: dict[str, Any]) -> bool:
    """Return whether an answer hangs on a condition."""
    words = answer["answer"]
    return answer["code"] == 3 and (words == "if" or ", if " in words or "depends" in words)


def named_sizes(builder: Builder, row: dict[str, Any], own: str) -> dict[str, list[bool]]:
    """Return the sizes that conditions name, each with whether it works in QEMU, and whether a byte less does."""
    form = FORMS[row["form"]]
    if form.fails or form.is_of_program or not form.invokes:
        return {}
    sizes = {answer["size"] for answer in row["answers"].values() if is_condition(answer)} - {None}
    smallest = row["smallest"]
    return {
        str(size): [
            each == smallest or (each + 1 != smallest and builder.works(builder.program(row["form"], each, own)))
            for each in (size, size - 1)
        ]
        for size in sorted(sizes)
    }


def kind_of(verb: str, answer: dict[str, Any], row: dict[str, Any]) -> str:
    """Return whether an answer is exact, hangs on a condition, is refused, is wrong, or of something else ("")."""
    form = FORMS[row["form"]]
    if form.is_of_program and not verb.startswith("firmware"):
        return ""
    code, words, size = answer["code"], answer["answer"], answer["size"]
    is_of_size, is_executed = verb.startswith("size"), verb.endswith(("run", "executed"))
    if code not in (0, 1, 3, *([4] if is_of_size else ())) or "Traceback" in words:
        return "wrong"
    if is_of_size:
        # It says how much is needed, whatever the program's arena is.
        does_work = row["smallest"] is not None
        code = {"yes": 0, "no": 1, "": 0 if size else 3}.get(words, 3)
    else:
        does_work = row["works"]
    if code == (1 if does_work else 0):
        return "wrong"
    if None not in (size, row["smallest"]) and not form.has_own_size and (is_executed or code != 1):
        # What is read says the most that any address of the arena may need.
        most = row["smallest"] + (0 if is_executed else 12)
        if not row["smallest"] <= size <= most:
            return "wrong" if code != 3 else "condition, other size" if is_condition(answer) else "refused"
    return "exact" if code != 3 else "condition" if is_condition(answer) else "refused"


def table(rows: Iterable[dict[str, Any]]) -> bool:
    """Print each answer that is wrong or refused, the counts by verb, and return whether none is wrong."""
    counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
    seconds: Counter[str] = Counter()
    programs: Counter[str] = Counter()
    conditions: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for row in rows:
        for works, less_works in row.get("named", {}).values():
            sizes["fails" if not works else "works, and so does a byte less" if less_works else "works exactly"] += 1
        programs[Path(row["program"]).parent.name] += 1
        for verb, answer in row["answers"].items():
            kind = kind_of(verb, answer, row)
            if not kind:
                continue
            counted[verb][kind] += 1
            seconds[verb] += answer["seconds"]
            conditions.update(answer["doubts"] if kind.startswith("condition") else ())
            if kind not in ("exact", "condition"):
                truth = f"{'works' if row['works'] else 'fails'}, {row['smallest']} B"
                told = f"exit code {answer['code']}, {answer['answer']!r}, {answer['size']} B, {answer['doubts']}"
                print(f"{kind}: {row['program']}: {verb}: {told}; in QEMU: {truth}")
    for text, count in conditions.most_common():
        print(f"{count:>6} {text}")
    kinds = [*KINDS, *sorted({kind for each in counted.values() for kind in each} - set(KINDS))]
    print(f"{sum(programs.values())} programs: " + ", ".join(f"{count} {name}" for name, count in programs.items()))
    print(f"{'':<20}" + "".join(f"{kind:>24}" if " " in kind else f"{kind:>11}" for kind in [*kinds, "seconds"]))
    for verb, by in counted.items():
        each = [f"{by[kind]:>24}" if " " in kind else f"{by[kind]:>11}" for kind in kinds]
        print(f"{verb:<20}{''.join(each)}{seconds[verb] / by.total():>11.1f}")
    print("sizes that conditions name: " + ", ".join(f"{count} {what}" for what, count in sizes.items()))
    return not any(by["wrong"] for by in counted.values())


def rows_of(builder: Builder, model: Path, name: str, own: str, near: int | None) -> Iterable[dict[str, Any]]:
    """Yield a form's programs, built and run: with the smallest arena, and with a byte less.

    Args:
        builder: What builds them.
        model: Their model.
        name: The form.
        own: The flags of the program.
        near: The smallest arena of a form before, which is tried first.

    Raises:
        subprocess.CalledProcessError: They do not compile or link.
    """
    form = FORMS[name]
    smallest: int | None = None
    known: dict[int, Path] = {}
    if near and form.invokes and not form.fails:
        known = {arena: builder.program(name, arena, own) for arena in (near, near - 1)}
        if builder.works(known[near]) and not builder.works(known[near - 1]):
            smallest = near
    if smallest is None and not form.fails:
        smallest = builder.smallest(builder.program(name, ANY_ARENA, own, is_truth=True))
    for arena in [ANY_ARENA] if smallest is None else [smallest, smallest - 1]:
        program = known.get(arena) or builder.program(name, arena, own)
        works = not form.fails and (builder.works(program) if form.invokes else arena == smallest)
        yield {
            "program": str(program), "model": str(model), "form": name, "arena": arena, "works": works,
            "smallest": smallest,
        }  # fmt: skip


def main() -> int:
    """Build, run and ask; return 1 where an answer is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, action="append")
    for name in ("tflm", "flatbuffers", "gemmlowp", "ruy", "model", "picolibc"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--core", action="append", choices=CORES)
    parser.add_argument("--compiler", default="gcc", choices=("gcc", "clang"))
    parser.add_argument("--kernels", default="reference", help="cmsis_nn=DIR or esp_nn=DIR, their checkout")
    parser.add_argument("--flags", default="-Os", help="one library for each, separated by commas")
    parser.add_argument("--program-flags", default="-g", help="one program for each, with each library")
    parser.add_argument("--form", action="append", choices=FORMS)
    parser.add_argument("--share", default="0/1", help="every which form, and the first")
    parser.add_argument(
        "--others", type=int, default=2, help="verbs besides firmware and firmware --run; -1: not asked"
    )
    parser.add_argument("--ask-again", action="store_true")
    given = parser.parse_args()
    records = [work / "programs.jsonl" for work in given.work]
    rows = [json.loads(line) for each in records if each.exists() for line in each.read_text("utf-8").splitlines()]
    if given.ask_again:
        rows = [
            {**row, "answers": asked(row, given.others)}
            for row in rows
            if given.form is None or row["form"] in given.form
        ]
    if given.tflm is None:
        return 0 if table(rows) else 1
    kernels, _, kernels_from = given.kernels.partition("=")
    includes = (given.flatbuffers / "include", given.gemmlowp, given.ruy)
    library = Library(
        given.tflm.resolve(), includes, kernels, Path(kernels_from) if kernels_from else None, given.picolibc
    )
    first, every = map(int, given.share.split("/"))
    turns = itertools.count(first)
    for core, flags in itertools.product(given.core or ["cortex-m4"], given.flags.split(",")):
        builder = Builder(given.work[0].resolve(), library, core, given.compiler, flags, given.model)
        near = None
        shared = (
            (own, name)
            for own, turn in zip(given.program_flags.split(","), turns, strict=False)
            for name in list(given.form or FORMS)[turn % every :: every]
        )
        for own, name in shared:
            done = [row for row in rows if (row["build"], row["form"], row["flags"]) == (builder.name, name, own)]
            near = next((row["smallest"] for row in done), near)
            if done:
                continue
            try:
                made = list(rows_of(builder, given.model.resolve(), name, own, near))
            except subprocess.CalledProcessError as error:
                print(f"not built: {builder.name}: {name} {own}: {(error.stderr or b'').decode()[-300:]}", flush=True)
                continue
            for row in made:
                row = {"build": builder.name, "flags": own, **row, "answers": asked(row, given.others)}
                row["named"] = named_sizes(builder, row, own)
                near = row["smallest"] or near
                rows.append(row)
                with records[0].open("a", encoding="utf-8") as to:
                    to.write(json.dumps(row) + "\n")
    return 0 if table(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
