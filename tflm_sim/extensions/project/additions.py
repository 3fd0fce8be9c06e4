"""``check FOLDER`` of a project, and ``--fix``; ``size FOLDER`` sizes its models for its own library and board."""

from __future__ import annotations

import argparse
import os
import sys
from codecs import BOM_UTF8
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tflm_sim.cli import options
from tflm_sim.cli.terminal import say, say_json, say_verdict
from tflm_sim.cli.things import PROJECT_FILE
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import UsageError
from tflm_sim.files import replacing_bytes
from tflm_sim.model.types import Model

if TYPE_CHECKING:
    from tflm_sim.extensions.project.answer import ProjectAnswer

_NOT_OF_A_PROJECT = (
    "firmware",
    "executed",
    "ram_free",
    "external_ram",
    "beside",
    "baseline",
    "update_baseline",
    "markdown",
    "sarif",
)
"""Options that ask something else than what the sources say."""


def add_options(verb: str, parser: argparse.ArgumentParser) -> None:
    if verb != "check":
        return
    parser.add_argument(
        "--fix", action="store_true", help="with a project's folder: write the changes into its sources (asks first)"
    )


def answer(verb: str, args: argparse.Namespace) -> int | None:
    """Answer about a project; None for anything else, where a folder's first line says that it is none."""
    if verb == "size":
        _size_for_project(args)
        return None
    first = args.models[0] if args.models else ""
    if first.endswith(".ino") and os.path.isfile(first):
        first = os.path.dirname(first) or "."
    is_folder = bool(first) and os.path.isdir(first)
    kind = ""
    if is_folder or first.endswith((".json", ".yaml", ".yml")):
        from tflm_sim.extensions.project.project_kind import words_of  # Most who check name a model.

        kind = words_of(first)
    if not kind:
        if args.fix:
            raise UsageError("--fix needs the folder of a project that uses TFLM")
        if is_folder and args.limit is None and args.board is None and not os.path.isfile(PROJECT_FILE):
            if os.path.isfile(os.path.join(first, PROJECT_FILE)):
                raise UsageError(f"{first} has a {PROJECT_FILE}, which is checked there: cd {first}; tflm-sim check")
            raise UsageError(f"{first} is no project that uses TFLM; for all models in it give --limit or --board")
        if is_folder and not args.json:
            say(f"{first} is no project that uses TFLM, so these are all models in it")
        return None
    if given := options.first_given(args, _NOT_OF_A_PROJECT):
        raise UsageError(f"{first} is {kind}: {given} is for a model; name that")
    if len(args.models) > 2 or any(map(os.path.isdir, args.models[1:])):
        raise UsageError("one project at a time, with one model: tflm-sim check FOLDER MODEL")
    found = _answers(args, first, kind, args.models[1] if len(args.models) == 2 else None)
    if not args.json:
        say(f"{first} is {kind}")
    codes = [_say(args, one, is_alone=len(found) == 1) for one in found]
    return 1 if 1 in codes else max(codes)


def _size_for_project(args: argparse.Namespace) -> None:
    """Size the models of one project for the library and the board that its files name, unless others are given."""
    folder = args.models[0] if len(args.models) == 1 else ""
    if not os.path.isdir(folder) or args.firmware:
        return
    from tflm_sim.extensions.project.answer import as_in_project
    from tflm_sim.extensions.project.esphome import KIND_OF_ESPHOME
    from tflm_sim.extensions.project.project_kind import words_of
    from tflm_sim.extensions.project.wake_word import KIND_OF_WAKE_WORD

    kind = words_of(folder)
    if kind in ("", KIND_OF_ESPHOME, KIND_OF_WAKE_WORD):
        return
    if taken := as_in_project(folder, kind, args):
        say(f"{folder} is {kind}, so this is for {' and '.join(taken)}", file=sys.stderr)


def _answers(args: argparse.Namespace, name: str, kind: str, model: str | None) -> list[ProjectAnswer]:
    """Return the answer about a project; about a device of ESPHome, one for each of its wake words."""
    from tflm_sim.extensions.project import answer as answers
    from tflm_sim.extensions.project.esphome import KIND_OF_ESPHOME, configuration_in, read_esphome
    from tflm_sim.extensions.project.wake_word import KIND_OF_WAKE_WORD, manifest_in, wake_word

    if kind == KIND_OF_WAKE_WORD:
        return [answers.answer_wake_word(manifest_in(name), args, model)]
    if kind != KIND_OF_ESPHOME:
        return [answers.answer_folder(name, kind, args, model)]
    device = read_esphome(configuration_in(name))
    manifests = [wake_word(path) for path in device.manifests]
    if model is not None and len(manifests) != 1:
        raise UsageError(f"{device.path} has {len(manifests)} wake words beside it: check the manifest with the model")
    return [  # Each changes options of its own.
        answers.answer_wake_word(manifest, argparse.Namespace(**vars(args)), model, device)
        for manifest in manifests or [None]
    ]


def _say(args: argparse.Namespace, found: ProjectAnswer, *, is_alone: bool) -> int:
    """Print an answer about a project, and write the changes where that is asked for."""
    from tflm_sim.extensions.project.folder import read_text
    from tflm_sim.report.circumstances import sentence_with_assumed, target_line
    from tflm_sim.report.verdict_text import verdict_document, verdict_lines

    verdict, assumed = found.verdict, options.assumed(found.args, found.configuration)
    change = verdict.parts["project"].patch
    if args.json:
        say_json(verdict_document([(verdict, found.configuration)], assumed=assumed), indent=None)
    else:
        first, *lines = verdict_lines(verdict)
        say_verdict(f"{'' if is_alone else f'{verdict.name}: '}{sentence_with_assumed(first, assumed)}")
        say(*lines, target_line(found.configuration.target))
        if change:
            say("", *change.splitlines(), wraps=False)
            if not args.fix:
                say("", "--fix writes these changes")
    if args.fix and found.changed and _is_wanted(len(found.changed)):
        for path, text in found.changed.items():
            mark = BOM_UTF8 if read_text(path).startswith(BOM_UTF8) else b""
            with replacing_bytes(path) as file:
                file.write(mark + text.encode("latin-1"))
            say(f"written: {path}", file=sys.stderr if args.json else None)
    return verdict.exit_code


def _is_wanted(count: int) -> bool:
    """Ask on a terminal whether the files are to be written; elsewhere ``--fix`` is the answer."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    say(f"write {count} file{'s' if count > 1 else ''}? [y/N] ", file=sys.stderr)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def parts(verb: str, args: argparse.Namespace, model: Model, configuration: Configuration) -> Mapping[str, object]:
    """Return nothing: the part stands in a project's own verdict."""
    return {}
