"""``tflm-sim diff --base``: the models of ``tflm-sim.toml`` before and after a change; a pull request's comment."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tflm_sim.checks.verdict import Verdict
from tflm_sim.cli.options import refuse_besides, simulated
from tflm_sim.cli.terminal import say, say_document
from tflm_sim.device.configuration import Configuration, planner_words
from tflm_sim.errors import UsageError
from tflm_sim.extensions.ci.cli_check import about
from tflm_sim.extensions.ci.forge import ForgeError, PullRequest, from_environment
from tflm_sim.extensions.ci.project import PROJECT_FILE, Cell, Project, cells, read_project
from tflm_sim.extensions.ci.project_text import Review, exit_code, review_markdown
from tflm_sim.files import append
from tflm_sim.model.types import Model
from tflm_sim.report.document import SizeDocument, size_document
from tflm_sim.report.map import map_lines
from tflm_sim.report.picture import Picture
from tflm_sim.report.size_difference import difference_document, growth
from tflm_sim.report.take_picture import take_picture
from tflm_sim.report.verdict_text import deciding

MAX_PICTURES = 3
PICTURE_COLUMNS = 100
_OPTIONS = ("base", "comment", "markdown")


def compare_project(args: argparse.Namespace) -> int:
    """Print the models of ``tflm-sim.toml`` beside those of another commit; return the exit code, that of ``check``.

    A comment that cannot be written is said, and does not change the verdict.
    """
    asked = next(name for name in _OPTIONS if getattr(args, name))
    if args.sources:
        raise UsageError(f"--{asked} compares the models that {PROJECT_FILE} names; remove {args.sources[0]}")
    refuse_besides(args, asked, "sources", *_OPTIONS)  # What the models run on stands in the file.
    request = from_environment(os.environ)
    base = args.base or (request.base if request is not None else "")
    if not Path(PROJECT_FILE).exists():
        raise UsageError(f"there is no {PROJECT_FILE} in this folder, which names the models and what they are held to")
    if not base:
        say("nothing to compare with: give --base COMMIT; CI's environment names no pull request", file=sys.stderr)
    project = read_project()
    after = list(cells(project, simulate=simulated))
    reviews, gone = _against(base, project, after) if base else ([Review(cell) for cell in after], [])
    text = review_markdown(_with_pictures(reviews), about(after), has_base=bool(base), gone=gone)
    if args.markdown is not None:
        append(args.markdown, text)
    else:
        say_document(text)
    if args.comment:
        _comment(request, text)
    return exit_code(after)


def _comment(request: PullRequest | None, text: str) -> None:
    if request is None:
        say("no pull request to comment on: CI's environment names none", file=sys.stderr)
        return
    try:
        say(f"the comment is {request.comment(text)}", file=sys.stderr)
    except ForgeError as error:
        say(f"no comment: {error}; a fork's workflow may only read, and has the summary", file=sys.stderr)


def _against(base: str, project: Project, after: list[Cell]) -> tuple[list[Review], list[Cell]]:
    """Return each verdict with that for a base commit, and the verdicts that only the base commit has."""
    with _checked_out(base) as folder:
        old = _project_of_base(folder / PROJECT_FILE, project)
        before = {
            (cell.model, cell.firmware.label): cell for cell in cells(replace(old, baseline=None, built=project.folder))
        }
        reviews = [_review(cell, before.pop((cell.model, cell.firmware.label), None)) for cell in after]
        return reviews, [cell for cell in before.values() if deciding(cell.judged)[0].needed is not None]


def _project_of_base(path: Path, project: Project) -> Project:
    """Return the project in the base commit; the present one where that has none, or it cannot be used."""
    try:
        return read_project(path)
    except UsageError as error:
        if path.exists():
            say(f"the {PROJECT_FILE} of before is not used: {error.__cause__ or error}", file=sys.stderr)
        return replace(project, path=path)


def _review(after: Cell, before: Cell | None) -> Review:
    if before is None:
        return Review(after)
    (new, _), (old, _) = deciding(after.judged), deciding(before.judged)
    if new.needed is None or old.needed is None or new.needed == old.needed:
        return Review(after, before)
    documents = _document(before), _document(after)
    shown = [document.answer.smallest_arena_multiple_of_16 for document in documents]
    # The simulation of a program that is only read may be another one than its verdict is about.
    return Review(after, before, difference_document(*documents) if shown == [old.needed, new.needed] else None)


def _with_pictures(reviews: list[Review]) -> list[Review]:
    """Draw the arenas of the first rows that are not good, or that grew."""
    drawn = 0
    for index, review in enumerate(reviews):
        verdict, configuration = deciding(review.after.judged)
        grew = review.difference is not None and growth(review.difference)
        if drawn < MAX_PICTURES and verdict.model is not None and (verdict.exit_code == 1 or (grew or 0) > 0):
            picture = _picture(verdict, verdict.model, configuration)
            if picture.size.answer.smallest_arena_multiple_of_16 == verdict.needed:  # It is of the arena in the table.
                reviews[index] = review._replace(picture=tuple(map_lines(picture, width=PICTURE_COLUMNS)))
                drawn += 1
    return reviews


def _picture(verdict: Verdict, model: Model, configuration: Configuration) -> Picture:
    if verdict.figures is not None:
        found: Picture = verdict.figures.pictures()[0]
        return found
    return take_picture(model, configuration, title=planner_words(configuration.planner, configuration.own_planner))


def _document(cell: Cell) -> SizeDocument:
    verdict, configuration = deciding(cell.judged)
    assert verdict.model is not None, "it has a size"
    if verdict.figures is not None:
        found: SizeDocument = verdict.figures.document()
        return found
    return size_document(simulated(verdict.model, configuration))


@contextmanager
def _checked_out(commit: str) -> Iterator[Path]:
    """Check out a commit to a temporary folder; yield the folder in it that corresponds to the current one.

    Raises:
        UsageError: There is no such commit, or this is no repository.
    """
    if commit.startswith("-"):
        raise UsageError(f"{commit} is not a commit")
    prefix = _git("rev-parse", "--show-prefix").strip()
    if _git_fails("cat-file", "-e", f"{commit}^{{commit}}"):  # as in the shallow clone that CI makes
        if _git_fails("fetch", "--quiet", "--depth=1", "origin", commit):
            raise UsageError(f"{commit} is no commit of this repository, nor can it be fetched from 'origin'")
        commit = "FETCH_HEAD"
    with tempfile.TemporaryDirectory(prefix="tflm-sim-base-") as folder:
        tree = Path(folder, "tree")
        _git("-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", "--detach", str(tree), commit)
        try:
            yield tree / prefix
        finally:
            _git("worktree", "remove", "--force", str(tree))


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise UsageError("comparing with another commit needs git, which is not on PATH") from None
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it fails"])[-1]
        raise UsageError(f"git {words[0] if words[0] != '-c' else words[2]}: {said}")
    return done.stdout


def _git_fails(*words: str) -> bool:
    try:
        _git(*words)
    except UsageError:
        return True
    return False
