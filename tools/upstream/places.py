"""Compare ``ops/places.txt`` with a checkout of TFLM, or write it.

    python tools upstream places CHECKOUT                     lines of the newest versions that differ, exit code 1
    python tools upstream places CHECKOUT --commit 0c425da36  those of another commit
    python tools upstream places CHECKOUT --write             bring this checkout's part of the file up to date
    python tools upstream places CHECKOUT --before LIBRARY    lines of the library from before upstream, or with --write

A file without a version, and a check whose text stands in no version of the files that it can be in, are told by name,
exit code 1: a misspelt one would pass for one that is not there yet.

Versions that are newer than the checkout are left as they are: those of pip wheels (``tools upstream wheel_places``).

CHECKOUT is a clone of tensorflow/tflite-micro or of espressif/esp-tflite-micro, with or without a work tree; LIBRARY
one of tinyMLx/arduino-library, whose TFLM is older than upstream and whose files have other names. Which
files matter is read from the sources of ``tflm_sim/ops``: every "name.cc" or "name.h" there is looked for.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from subprocess import PIPE

import frame
from upstream.checks import Check, checks, keys
from upstream.our_checks import Written, written_checks

from tflm_sim.ops.places import OLD, Version, full_place, read, version_at, written
from tflm_sim.ops.reference.signal_checks import SIGNAL_KERNELS
from tflm_sim.targets.changes import BEFORE_UPSTREAM, EDGE_IMPULSE, ESP, UPSTREAM

OPS = Path(__file__).resolve().parents[2] / "tflm_sim" / "ops"
PLACES = OPS / "places.txt"
Lines = dict[str, int]
Versions = list[Version]
_TREES = {"esp_nn": ESP, "edge_impulse": EDGE_IMPULSE, "mvp": "SiliconLabs/gecko_sdk"}


class Checkout:
    """A clone.

    Args:
        path: Its work tree, or its git directory.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        commits = self.run("rev-list", "--first-parent", "--reverse", "HEAD").split()
        self._positions = {commit: number for number, commit in enumerate(commits, start=1)}
        self._contents = subprocess.Popen(["git", "-C", path, "cat-file", "--batch"], stdin=PIPE, stdout=PIPE)
        self.tree = ESP if self.text("HEAD", "tensorflow/lite/micro/kernels/esp_nn/conv.cc") else UPSTREAM

    def run(self, *arguments: str) -> str:
        """Return what a git command prints."""
        return frame.git(self._path, *arguments)

    def text(self, commit: str, path: str) -> str:
        """Return a file of a commit, "" where it has none."""
        assert self._contents.stdin, "it is a pipe"
        assert self._contents.stdout, "it is a pipe"
        self._contents.stdin.write(f"{commit}:{path.removeprefix('./')}\n".encode())
        self._contents.stdin.flush()
        *_, last = self._contents.stdout.readline().split()
        if not last.isdigit():
            return ""
        return self._contents.stdout.read(int(last) + 1)[:-1].decode()

    def position(self, commit: str) -> int:
        """Return how many first-parent commits there are up to a commit."""
        return int(self.run("rev-list", "--first-parent", "--count", commit))

    def versions(self, path: str) -> list[tuple[int, str]]:
        """Return (position, commit) of each first-parent commit that touches a file, oldest first."""
        return self._touched.get(path, [])

    @cached_property
    def _touched(self) -> dict[str, list[tuple[int, str]]]:
        """What ``versions`` returns, of all files."""
        touched: dict[str, list[tuple[int, str]]] = {}
        commit = ""
        log = self.run("log", "--first-parent", "-m", "--no-renames", "--reverse", "--format=//%H", "--name-only")
        for line in log.splitlines():
            if line.startswith("//"):
                commit = line[2:]
            elif line:
                touched.setdefault(line, []).append((self._positions[commit], commit))
        return touched


def tree_of(path: Path) -> str:
    """Return whose kernels a module has; those of Edge Impulse and of Silicon Labs have checks without lines."""
    return next((tree for folder, tree in _TREES.items() if folder in path.parts), UPSTREAM)


def named_files(tree: str) -> list[str]:
    """Return the upstream files that the operators of a tree name, without the kernels' directory."""
    found = set()
    for path in (path for path in OPS.rglob("*.py") if tree_of(path) == tree):
        names = re.findall(r'(SIGNAL_KERNELS \+ )?"([\w/]+\.(?:cc|h))"', path.read_text("utf-8"))
        found |= {SIGNAL_KERNELS + name if signal else name for signal, name in names}
    return sorted(found)


def lines_of(source: str, newest: Iterable[Check] = ()) -> Lines:
    """Return the line of each key in a file.

    Args:
        source: The file.
        newest: The checks of its newest version, under whose keys those of an older one are found as well.
    """
    found = checks(source)
    lines = {text: check.line for text, check in keys(found).items()}
    for text, check in keys(list(newest)).items():
        alike = [one for one in found if one.text == check.text]
        same = [one for one in alike if one.function == check.function] or alike
        if text not in lines and same and (" #" not in text or len(same) > 1):
            lines[text] = same[0].line
    return dict(sorted(lines.items(), key=lambda row: row[1]))


_IN_HEADERS = {"batch_matmul_common.cc": "./tensorflow/lite/micro/kernels/batch_matmul.h"}
"""Files whose checks stood in a header for a while, as a device prints it that was compiled with ``-I.``."""


def versions_of(checkout: Checkout, file: str) -> list[tuple[int, str, str]]:
    """Return (position, commit, file) of each version of a file, and of the one from which it was split off."""
    versions = [(position, commit, file) for position, commit in checkout.versions(full_place(file))]
    if file.endswith("_common.cc"):
        before = file.replace("_common.cc", ".cc")
        first = versions[0][0]
        older = [(position, commit, before) for position, commit in checkout.versions(full_place(before))]
        if file in _IN_HEADERS:
            header = _IN_HEADERS[file]
            within = [(position, commit, header) for position, commit in checkout.versions(header.removeprefix("./"))]
            older = [version for version in older if version[0] < within[0][0]] + within
        versions = [version for version in older if version[0] < first] + versions
    return versions


def places_of(checkout: Checkout, file: str) -> Versions:
    """Return the versions of a file."""
    path = full_place(file)
    newest = checkout.text("HEAD", path)
    if not newest:
        return []
    rows: Versions = []
    for position, commit, then in versions_of(checkout, file):
        lines = lines_of(checkout.text(commit, full_place(then)), checks(newest))
        row = Version(position, lines, "" if then == file else then)
        if not rows or rows[-1][1:] != row[1:]:
            rows.append(row)
    return rows


def differences(checkout: Checkout, commit: str, table: dict[str, Versions], files: Sequence[str]) -> list[str]:
    """Return which of ``files`` the table does not have, and where it and a commit differ, a line each."""
    position = checkout.position(commit)
    absent = [file for file in files if file not in table and checkout.text("HEAD", full_place(file))]
    found = [f"{file}: none of its lines are here; --write adds them" for file in absent]
    for file, versions in table.items():
        version = version_at(versions, position)
        ours, then = version.lines, full_place(version.file or file)
        theirs = lines_of(checkout.text(commit, then), checks(checkout.text("HEAD", full_place(file))))
        for name in sorted(ours.keys() | theirs.keys()):
            if ours.get(name) != theirs.get(name):
                found.append(f"{file}: {name} at {ours.get(name)} here, at {theirs.get(name)} there")
    return found


def places_before(checkout: Checkout, library: Checkout) -> dict[str, Versions]:
    """Return the one version of each file that a library from before upstream has, by upstream's name of today."""
    found: dict[str, Versions] = {}
    for file in named_files(UPSTREAM):
        then = file.replace("cmsis_nn/", "cmsis-nn/").replace("_common.cc", ".cc")
        newest = checks(checkout.text("HEAD", full_place(file)))
        for name in dict.fromkeys((file, then, f"cmsis-nn/{then}")):
            text = library.text("HEAD", f"src/{full_place(name)}".replace(".cc", ".cpp"))
            lines = lines_of(text, newest)
            if lines:
                found[file] = [Version(BEFORE_UPSTREAM, lines, "" if name == file else name)]
                break
    return found


def said(key: str) -> str:
    """Return what a check says, without the function and the number that make it a key."""
    return re.sub(r"^\w+: ", "", re.sub(r" #\d+$", "", key))


def texts_of(checkout: Checkout, file: str, later: Versions) -> frozenset[str] | None:
    """Return what the checks of a file say, in any of its versions; None when there never was such a file.

    Args:
        checkout: The clone.
        file: The file.
        later: Versions that are newer than the checkout.
    """
    versions = versions_of(checkout, file) if checkout.versions(full_place(file)) else []
    found = [check.text for _, commit, then in versions for check in checks(checkout.text(commit, full_place(then)))]
    found += [said(key) for version in later for key in version.lines]
    return frozenset(found) if versions or later else None


def unknown(written: Iterable[Written], texts: Mapping[str, frozenset[str] | None]) -> list[str]:
    """Return the files without a version, and the checks that no version of their files has, a line each.

    Args:
        written: The checks of one tree's kernels.
        texts: What the checks of its files say, by file.
    """
    found = [f"{file}: there is no such file in any version" for file, said in texts.items() if said is None]
    for check in written:
        files = [file for file in texts if check.files & {file, file.removeprefix(SIGNAL_KERNELS)}]
        if not any(check.says(text) for file in files for text in texts[file] or ()):
            where = f"{check.path.relative_to(OPS.parent.parent)}:{check.line}"
            found.append(f"{where}: no version of {', '.join(files) or 'any file'} has a check '{check.shown}'")
    return found


def main(arguments: Sequence[str]) -> int:
    """Check or write, and return the exit code."""
    parser = frame.parser(__doc__)
    parser.add_argument("checkout")
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--before", metavar="LIBRARY")
    args = parser.parse_args(arguments)
    checkout = Checkout(args.checkout)
    table = read(PLACES.read_text("utf-8").splitlines()) if PLACES.exists() else {}
    if args.before:
        before = places_before(checkout, Checkout(args.before))
        if args.write:
            PLACES.write_text(written({**table, OLD: before}), encoding="utf-8")
        elif before != table.get(OLD):
            print(f"{OLD}: lines differ from those of {args.before}")
        return int(not args.write and before != table.get(OLD))
    files = named_files(checkout.tree)
    ours = [check for check in written_checks(OPS) if tree_of(check.path) == checkout.tree]
    newest, held = checkout.position("HEAD"), table.get(checkout.tree, {})
    later = {file: [version for version in held.get(file, []) if version.since > newest] for file in files}
    found = unknown(ours, {file: texts_of(checkout, file, later[file]) for file in files})
    if not args.write:
        found += differences(checkout, args.commit, held, files)
        print("\n".join(found) or f"{checkout.tree}: {len(files)} files, {len(ours)} checks, all lines are right")
        return int(bool(found))
    rows = {file: versions for file in files if (versions := places_of(checkout, file) + later[file])}
    table[checkout.tree] = rows
    PLACES.write_text(written(table), encoding="utf-8")
    if found:
        print("\n".join(found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
