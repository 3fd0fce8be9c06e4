"""``tflm-sim diff``: what changed between two models, targets, library versions or saved documents.

Exit code 0: compared; 1: with ``--fail-on-increase``, it grew; 3: with it, one of the two works in no arena, or a
doubt can turn the answer.
``--between`` is answered in ``diff_between.py``.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from tflm_sim.checks.doubts import EXIT_CODES, answer_of, first_words, listed, settling_lines, turning
from tflm_sim.checks.program_need import ProgramNeed
from tflm_sim.cli.options import (
    Subparsers,
    add_configuration,
    add_executed,
    add_split_arenas,
    add_verb,
    answer_of_an_extension,
    assumed,
    configured,
    is_executed,
    measured,
    pair,
    possible_configurations,
    simulated,
)
from tflm_sim.cli.terminal import say, show
from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.escape import printable
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.registry import programs
from tflm_sim.report.bank_pictures import program_size
from tflm_sim.report.difference_text import difference_lines
from tflm_sim.report.document import SizeDocument, model_facts, size_document
from tflm_sim.report.size_difference import Difference, difference_document, growth, read_size_document
from tflm_sim.sizes import parse_size
from tflm_sim.units import format_size

ABOUT = """
Use it to find out what an update of a library, another target or a new version
of a model costs. Give one model with two settings, or two models. If an arena
was large enough with an older TFLM, --between finds the changes of TFLM that
moved its size, and by how many bytes. In pull requests, --base compares all
models of tflm-sim.toml with those of a commit.
"""
EXAMPLES = """
tflm-sim diff model.tflite --target cortex-m4 --target esp32-s3
tflm-sim diff model.tflite --target esp32-s3 --kernels esp_nn@1.2.0 --kernels esp_nn@1.2.1
tflm-sim diff old.tflite new.tflite --target cortex-m7 --fail-on-increase 1KiB
tflm-sim diff before.json after.json --json
tflm-sim diff model.tflite --between 2023-06-15 --and 2024-12-23
tflm-sim diff model.tflite --between esp-tflite-micro@1.3.2 --and esp-tflite-micro@1.3.7 --target esp32
tflm-sim diff model.tflite --between esp_nn@1.1.0 --and esp_nn@1.2.3 --target esp32-s3-esphome
tflm-sim diff --lite old.tflite new.tflite
tflm-sim diff old.elf new.elf --executed
tflm-sim diff model.tflite --firmware old.elf --firmware new.elf --executed
tflm-sim diff --base main
tflm-sim diff --comment --markdown "$GITHUB_STEP_SUMMARY"
"""
EXITS = {
    1: "--fail-on-increase, --between: the smallest arena grew, or AllocateTensors() fails after the change; --base: a "
    "model does not fit",
    3: "a file cannot be used; --fail-on-increase: AllocateTensors() fails before the change; --base: it is unknown",
}


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "diff", EXAMPLES, about=ABOUT, exits=EXITS)
    parser.add_argument(
        "sources",
        nargs="*",
        metavar="MODEL|SIZE.json",
        help="one for both sides, or one before and one after: a .tflite file, sample:NAME, the output of 'size "
        "--json', or with --executed a linked program, with its own model",
    )
    add_configuration(parser, is_pair=True)
    add_executed(parser)
    add_split_arenas(parser)
    parser.add_argument(
        "--fail-on-increase",
        nargs="?",
        const="0",
        metavar="BYTES",
        help="exit 1 when the smallest arena grows by more than BYTES (default: 0)",
    )
    parser.add_argument(
        "--between",
        metavar="A",
        help="find the changes of TFLM from version A to version B that moved the smallest arena: a day, a commit, "
        "LIBRARY@VERSION or KERNELS@VERSION",
    )
    parser.add_argument("--and", dest="until", metavar="B", help="with --between: the newer version")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    if len(args.sources) > 2:
        raise UsageError(f"{len(args.sources)} files are too many; give one before and one after")
    if args.sources and (args.between or args.until):
        from tflm_sim.cli import diff_between

        return diff_between.run(args)
    if (code := answer_of_an_extension("diff", args)) is not None:
        return code
    before, after = pair(args)
    is_alone = len(args.sources) == 1 and vars(before) == vars(after)
    if not args.sources or (is_alone and not args.executed):
        raise UsageError("give one model with two settings, or two models, or --base COMMIT")
    allowed = None if args.fail_on_increase is None else parse_size(args.fail_on_increase)
    linked = [source for source in args.sources if _is_program(source)]
    if linked and not args.executed:
        raise UsageError(f"{linked[0]} is a linked program; add --executed to run it with its own model")
    if args.executed and not args.firmware and not linked:
        load(args.sources[0])  # It says what is wrong with a file that is no program either.
    is_executed(argparse.Namespace(**{**vars(args), "firmware": args.firmware or linked}), "split_arenas")
    needs: list[ProgramNeed] = []
    sides = _document(args.sources[0], before, needs), _document(args.sources[-1], after, needs)
    document = difference_document(*sides)
    doubts = tuple({doubt.text: doubt for need in needs for doubt in turning(need.doubts)}.values())
    works, why = (None, "") if allowed is None else _judged(document, allowed)
    answer = None if allowed is None else answer_of(works, doubts)
    show(replace(document, answer=answer), difference_lines, as_json=args.json)
    if not args.json:
        if doubts:
            say("", f"all of this, if {listed([printable(doubt.text, 200) for doubt in doubts])}")
        if answer is not None:
            say("", f"{first_words(works, doubts)}: {why}")
        say(*dict.fromkeys(line for need in needs for line in settling_lines(need.answer, need.settled_by)))
    return 0 if answer is None else EXIT_CODES[answer]


def _document(source: str, args: argparse.Namespace, needs: list[ProgramNeed]) -> SizeDocument:
    """Return one side; what a program's file says goes into ``needs``, too."""
    if source.endswith(".json"):
        return read_size_document(source)
    if _is_program(source):
        return _measured(argparse.Namespace(**{**vars(args), "firmware": source}), None)
    if args.executed and args.firmware:
        return _measured(args, load(source))
    model = load(source)
    config, need = configured(args, source, model)
    if need is None:
        return size_document(simulated(model, config), assumed=assumed(args, config))
    if need.works is not True:
        raise FirmwareError(need.reason, path=args.firmware)
    assert need.simulation is not None, "it works in some arena"
    needs.append(need)
    if need.banks:
        found = program_size(need, need.parts)
    else:
        found = size_document(need.simulation, parts=need.parts, candidates=need.candidates)
    return replace(found, model=model_facts(model))


def _is_program(source: str) -> bool:
    reader = programs()
    return reader is not None and reader.is_program(source)


def _measured(args: argparse.Namespace, model: Model | None) -> SizeDocument:
    """Return what was measured in a program, with a given model or with its own."""
    return measured(args, model, possible_configurations(args)).document()


def _judged(document: Difference, allowed: int) -> tuple[bool | None, str]:
    """Return whether the smallest arena grew by at most ``allowed`` bytes, None where that is not known; and why."""
    grown = growth(document)
    if grown is None:
        if document.before.status == "ok" != document.after.status:
            return False, "now it fails in an arena of any size"
        if document.before.status == "ok":
            return None, "one side has one arena, and the other several"
        return None, "it failed in an arena of any size before"
    if grown > allowed:
        return False, f"the smallest arena grew by {format_size(grown)}, {format_size(allowed)} are allowed"
    return True, f"the smallest arena did not grow by more than {format_size(allowed)}"
