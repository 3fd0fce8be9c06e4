"""Look whether upstream moved, say what that changes, and write what can be written without a decision.

    python tools upstream move                                   the newest of each upstream and fork
    python tools upstream move --only NAME --given NAME=PATH     a wheel or a clone that is here already
    python tools upstream move --only NAME --program cortex-m4=APP.elf     as well, structs in debug information
    python tools upstream move --write                           bring the tables up to date as well
    python tools upstream move --issue                           tell the repository's issues (in its weekly workflow)

The list is ``upstreams.py``. Where the pip wheel is newer than the newest that is known, its structs are measured, and
the committed sample and every model of tests/oracle run in it. Where tensorflow/tflite-micro is, its operators, pins
and changed files are read from a checkout, which is cloned unless it is given. A wheel of LiteRT answers random models,
and its conditions are compared. A clone of a fork that is given is asked which TFLM it holds, if a clone of
tensorflow/tflite-micro is given, too. What a person has to decide comes last.

Exit code 0: nothing moved. 1: a person has to decide something. 3: an upstream could not be asked, and else nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import frame
from upstream import checkout_move, lite_move, program_structs, wheel_move
from upstream.issue import tell
from upstream.upstreams import (
    CHECKOUT,
    UPSTREAMS,
    WHEEL,
    Unreachable,
    Upstream,
    ask,
    git_address,
    given_version,
    is_moved,
    version_of,
)
from upstream.wheel_move import download, tool_output

from tflm_sim.errors import TflmSimError
from tflm_sim.targets import history
from tflm_sim.targets.presets import preset
from tflm_sim.targets.reference import REFERENCE_SNAPSHOT

_LINES = 24
"""How many lines of a tool are printed: its first ones, and its last."""


class Report:
    """What was found (mutable): lines, printed as they come, and what a person has to decide."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.decisions: list[str] = []
        self.unreachable: list[str] = []

    def say(self, line: str) -> None:
        """Add a line."""
        if line:
            self.lines.append(line)
            print(line, flush=True)

    def take(self, found: Iterable[tuple[str, str]]) -> None:
        """Add lines, and the decisions that follow from them."""
        for line, decision in found:
            self.say(line)
            if decision:
                self.decisions.append(decision)

    @property
    def text(self) -> str:
        """All of it, for an issue."""
        decide = [f"{number}. {text}" for number, text in enumerate(self.decisions, 1)]
        return "\n".join(["To decide:", "", *decide, "", "What was found:", "", "```", *self.lines, "```"])


def look(upstreams: Iterable[Upstream], given: dict[str, str], report: Report) -> dict[str, str]:
    """Print the newest of each upstream; return those that moved or are given: the version, or the path that is given.

    What is given is not asked for.
    """
    moved = {}
    for upstream in upstreams:
        path = given.get(upstream.name, "")
        try:
            newest = given_version(upstream, Path(path)) if path else ask(upstream)
        except Unreachable as error:
            report.unreachable.append(upstream.name)
            report.say(f"{upstream.name:<48} {upstream.known:<24} not reached: {error}")
            continue
        has_moved = is_moved(upstream, newest)
        what = ("given, " if path else "") + ("moved" if has_moved else "known")
        report.say(f"{upstream.name:<48} {upstream.known:<24} {newest[:40]:<40} {what}")
        if has_moved or path:
            moved[upstream.name] = path or newest
        if has_moved and upstream.then:
            report.decisions.append(f"{upstream.name} {newest} after {upstream.known}: {upstream.then}")
    return moved


def look_at_wheel(newest: str, folder: Path, report: Report, *, is_written: bool, since: str | None) -> None:
    """Compare a wheel, given or of a version, with our tables and with the wheel before it."""
    path = Path(newest) if newest.endswith(".whl") else download(newest, folder)
    release = wheel_move.release_of(path)
    versions = {commit.hash[:7]: commit for commit in history.wheels()}
    is_known = release.commit[:7] in versions
    old = wheel_move.release_of(Path(since)) if since else None
    if old is None and not is_known:
        old = wheel_move.release_of(download(version_of(history.newest()), folder))
    report.say("")
    report.say(f"{WHEEL} {release}" + (f" beside {old}" if old else ""))
    models = folder / "models"
    models.mkdir()
    report.take(wheel_move.compared(release, old, models, release.commit if is_known else None))
    if not is_known:
        report.decisions.append(
            f"the wheel of {release.day}: its row in targets/reference.py and the lines of its checks (--write), a "
            "recording of what models need in it and its row in targets/evidence.py"
        )
    if is_written:
        base = download(version_of(history.main_line()[-1]), folder)
        for line in wheel_move.write(release, base):
            report.say(line)


def look_at_checkout(newest: str, folder: Path, report: Report, *, is_written: bool, esp: str | None) -> None:
    """Compare a checkout, given or to be cloned, with our tables."""
    checkout = newest
    if not Path(newest).exists():
        checkout = str(folder / "tflite-micro.git")
        frame.git(".", "clone", "--quiet", "--bare", git_address(CHECKOUT), checkout)
    head = checkout_move.head_of(checkout)
    report.say("")
    report.take(checkout_move.compared(checkout, head))
    if head.commit != REFERENCE_SNAPSHOT:
        report.decisions.append(f"{head.commit} as the reference commit: the tables that are made of it (--write)")
    if is_written:
        for line in checkout_move.write(checkout, head, esp):
            report.say(line)


def look_at_others(
    upstreams: Iterable[Upstream], moved: dict[str, str], checkout: str | None, report: Report, *, is_written: bool
) -> None:
    """Let the tools that read a wheel or a clone of the other upstreams say what is in those that moved or are given.

    Args:
        upstreams: Those that were looked at.
        moved: What moved, by name: a version, or a path.
        checkout: A clone of tensorflow/tflite-micro, which a fork is compared with.
        report: Where it is said.
        is_written: Whether tables are written.
    """
    for upstream in upstreams:
        newest = moved.get(upstream.name, "")
        write = ["--write"] if is_written else []
        commands: list[tuple[str, list[str | Path]]]
        with tempfile.TemporaryDirectory() as folder:
            if upstream.reader == "lite_conditions" and newest:
                path = Path(newest) if newest.endswith(".whl") else download(newest, Path(folder), upstream.name)
                report.say("")
                report.take(lite_move.compared(path))
                commands = [("lite_conditions", [path, *write])]
            elif upstream.reader == "identify_library" and checkout and Path(newest).is_dir() and newest:
                commands = [("identify_library", [checkout, newest])]
            elif upstream.reader == "lite_tables" and Path(newest).is_dir() and newest:
                commands = [("lite_tables", [newest])]
                if is_written:
                    commands.append(("lite_tables", [newest, *write]))
            elif upstream.reader == "library_pins" and newest and is_written:
                commands = [("library_pins", [*write])]
            else:
                continue
            for name, arguments in commands:
                report.say(f"{upstream.name}, {name}:")
                lines = tool_output(name, *arguments)
                if len(lines) > _LINES:
                    lines[_LINES - 1 : -1] = [f"... {len(lines) - _LINES} more"]
                for line in lines:
                    report.say(f"  {line}")


def _programs(values: Sequence[str]) -> Iterator[tuple[str, Path]]:
    for value in values:
        target, _, path = value.partition("=")
        if not Path(path).is_file():
            raise ValueError(f"--program {value}: TARGET=PATH, a program that exists")
        yield target, Path(path)


def _chosen(names: Sequence[str]) -> list[Upstream]:
    known = {upstream.name: upstream for upstream in UPSTREAMS}
    if strange := [name for name in names if name not in known]:
        raise ValueError(f"--only {strange[0]}: one of {', '.join(known)}")
    return [upstream for upstream in UPSTREAMS if not names or upstream.name in names]


def _given(values: Sequence[str]) -> Iterator[tuple[str, str]]:
    names = [upstream.name for upstream in UPSTREAMS]
    for value in values:
        name, _, path = value.partition("=")
        if name not in names or not Path(path).exists():
            raise ValueError(f"--given {value}: NAME=PATH, a path that exists and one of {', '.join(names)}")
        yield name, path


def main(arguments: Sequence[str]) -> int:
    """Look, and return the exit code."""
    parser = frame.parser(__doc__)
    parser.add_argument("--only", action="append", metavar="NAME", help="only this upstream, or these")
    parser.add_argument("--given", action="append", default=[], metavar="NAME=PATH", help="a wheel, or a clone")
    parser.add_argument(
        "--program", action="append", default=[], metavar="TARGET=APP.elf", help="a program with debug information"
    )
    parser.add_argument("--since", metavar="OLD.whl", help="the wheel before, which is downloaded otherwise")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--issue", action="store_true")
    args = parser.parse_args(arguments)
    report = Report()
    try:
        given = dict(_given(args.given))
        chosen = _chosen(args.only or [])
        moved = look(chosen, given, report)
        with tempfile.TemporaryDirectory() as folder:
            if WHEEL in moved:
                look_at_wheel(moved[WHEEL], Path(folder), report, is_written=args.write, since=args.since)
            if CHECKOUT in moved:
                esp = given.get("espressif/esp-tflite-micro")
                look_at_checkout(moved[CHECKOUT], Path(folder), report, is_written=args.write, esp=esp)
        look_at_others(chosen, moved, given.get(CHECKOUT), report, is_written=args.write)
        for target, path in _programs(args.program):
            report.take(program_structs.compared(path, preset(target, runtime=history.newest().short)))
    except (TflmSimError, ValueError, OSError, subprocess.CalledProcessError) as error:
        print(f"move: {error}", file=sys.stderr)
        return 3
    print()
    for number, text in enumerate(report.decisions, 1):
        print(f"to decide {number}: {text}")
    if report.unreachable:
        print(f"not reached: {', '.join(report.unreachable)}")
    print(f"{len(moved)} of {len(chosen)} moved or given; a person has {len(report.decisions)} things to decide")
    if args.issue and report.decisions:
        print(tell(os.environ, f"Upstream moved: {', '.join(sorted(moved))}", report.text))
    return 1 if report.decisions else 3 if report.unreachable else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
