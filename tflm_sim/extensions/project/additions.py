"""``check FOLDER`` of a project, and ``--fix``."""

from __future__ import annotations

import argparse
import os
import sys
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
    from tflm_sim.extensions.project.wake_word import WakeWord

_NOT_OF_A_PROJECT = (
    "firmware",
    "executed",
    "ram_free",
    "external_ram",
    "baseline",
    "update_baseline",
    "markdown",
    "sarif",
)
"""Options that ask something else than what the sources say."""


def add_options(verb: str, parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument(
        "--fix", action="store_true", help="with a project's folder: write the changes into its sources (asks first)"
    )


def answer(verb: str, args: argparse.Namespace) -> int | None:
    """Answer about a project; None for anything else, where a folder's first line says that it is none."""
    first = args.models[0] if args.models else ""
    is_folder = bool(first) and os.path.isdir(first)
    manifest, kind = None, ""
    if is_folder or first.endswith(".json"):
        from tflm_sim.extensions.project.folder import kind_of_project  # Most who check name a model.
        from tflm_sim.extensions.project.wake_word import manifest_in

        manifest = manifest_in(first)
        kind = kind_of_project(first) if is_folder and manifest is None else ""
    if manifest is None and not kind:
        if args.fix:
            raise UsageError("--fix needs the folder of a project that uses TFLM")
        if is_folder and args.limit is None and args.board is None and not os.path.isfile(PROJECT_FILE):
            raise UsageError(f"{first} is no project that uses TFLM; for all models in it give --limit or --board")
        if is_folder and not args.json:
            say(f"{first} is no project that uses TFLM, so these are all models in it")
        return None
    if given := options.first_given(args, _NOT_OF_A_PROJECT):
        raise UsageError(f"{first} is {kind or 'the manifest of a wake word'}: {given} is for a model; name that")
    if len(args.models) > 2:
        raise UsageError("a project takes one model: tflm-sim check FOLDER MODEL")
    return _say(args, first, kind, manifest, args.models[1] if len(args.models) == 2 else None)


def _say(args: argparse.Namespace, name: str, kind: str, manifest: WakeWord | None, model: str | None) -> int:
    """Print the answer about a project, and write the changes where that is asked for."""
    from tflm_sim.extensions.project import answer as answers
    from tflm_sim.extensions.project.wake_word import KIND_OF_WAKE_WORD
    from tflm_sim.report.circumstances import sentence_with_assumed, target_line
    from tflm_sim.report.verdict_text import verdict_document, verdict_lines

    if manifest is not None:
        kind, found = KIND_OF_WAKE_WORD, answers.answer_wake_word(manifest, args, model)
    else:
        found = answers.answer_folder(name, kind, args, model)
    verdict, assumed = found.verdict, options.assumed(found.args, found.configuration)
    change = verdict.parts["project"].patch
    if args.json:
        say_json(verdict_document([(verdict, found.configuration)], assumed=assumed), indent=None)
    else:
        first, *lines = verdict_lines(verdict)
        say(f"{name} is {kind}")
        say_verdict(sentence_with_assumed(first, assumed))
        say(*lines, target_line(found.configuration.target))
        if change:
            say("", *change.splitlines(), wraps=False)
            if not args.fix:
                say("", "--fix writes these changes")
    if args.fix and found.changed and _is_wanted(len(found.changed)):
        for path, text in found.changed.items():
            with replacing_bytes(path) as file:
                file.write(text.encode("latin-1"))
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
