"""What moved in a checkout of tensorflow/tflite-micro: its tables, operators, pins, and the files that were read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

import frame
from upstream.changes import RESOLVER, without_rows
from upstream.wheel_move import REFERENCE, ROOT, run_tool

from tflm_sim.targets.changes import CHANGES, CMSIS_NN_PINS, UPSTREAM
from tflm_sim.targets.reference import LAST_COUNTED, REFERENCE_SNAPSHOT

_PIN = "tensorflow/lite/micro/tools/make/ext_libs/cmsis_nn_download.sh"
_ESP = "tensorflow/lite/micro/kernels/esp_nn/conv.cc"
_CITED = re.compile(r"[\w./{},*-]+\.(?:cc|h|c|fbs)\b")
_STRUCT_TABLES = ROOT / "tflm_sim" / "targets" / "struct_tables"


class Head(NamedTuple):
    """Where a checkout stands: nine digits of its commit, when it was committed (UTC), its position in the history."""

    commit: str
    day: str
    position: int


def head_of(checkout: str) -> Head:
    """Return where a checkout of upstream stands.

    Raises:
        ValueError: It is a fork's.
    """
    if frame.git(checkout, "ls-tree", "HEAD", _ESP):
        raise ValueError(f"{checkout} is a clone of esp-tflite-micro; upstream's is asked for")
    commit, seconds = frame.git(checkout, "log", "-1", "--format=%H %ct").split()
    position = int(frame.git(checkout, "rev-list", "--first-parent", "--count", "HEAD"))
    return Head(commit[:9], datetime.fromtimestamp(int(seconds), UTC).date().isoformat(), position)


def compared(checkout: str, head: Head) -> Iterator[tuple[str, str]]:
    """Yield (line, what a person has to decide or "") of what moved between the reference commit and a checkout."""
    commits = head.position - LAST_COUNTED
    yield f"{UPSTREAM} {head.commit} of {head.day}, {commits} commits after {REFERENCE_SNAPSHOT}", ""
    pin = re.search(r'ZIP_PREFIX_NN="([0-9a-f]{7})', frame.git(checkout, "show", f"HEAD:{_PIN}"))
    known = list(CMSIS_NN_PINS)[-1]
    if pin is None or pin[1] != known:
        text = f"pin: CMSIS-NN {pin[1] if pin else 'is not found'} instead of {known}"
        yield (
            text,
            f"{text}: its size table, VERSIONS, CMSIS_NN_PINS; "
            "python tools compare cmsis_nn --checkout CLONE --version PIN checks it",
        )
    for line in without_rows(frame.git(checkout, "show", f"HEAD:{RESOLVER}")):
        yield f"operators: {line}", f"{line}; its rows are those of CONTRIBUTING, An operator"
    changed = frame.git(checkout, "diff", "--name-only", REFERENCE_SNAPSHOT, "HEAD").splitlines()
    yield from _read_files(changed)
    days = [name for name, row in CHANGES.items() if row.tree == UPSTREAM and row.position > LAST_COUNTED]
    if days and head.position > LAST_COUNTED:
        text = f"positions: {', '.join(days)} in targets/changes.py count days"
        yield (text, f"{text}; what the checkout holds gets its count (git rev-list --first-parent --count COMMIT)")


def _read_files(changed: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the changed files that our tables and kernels name, those with structs first."""
    named = {path: set(_CITED.findall(path.read_text("utf-8"))) for path in sorted((ROOT / "tflm_sim").rglob("*.py"))}
    headers = {name for path, names in named.items() if path.parent == _STRUCT_TABLES for name in names}
    structs = [path for path in changed if path in headers]
    if structs:
        yield f"structs: {', '.join(structs)} changed", f"struct headers changed, read them again: {', '.join(structs)}"
    everything = set().union(*named.values())
    kernels = [path for path in changed if path not in headers and _is_named(path, everything)]
    yield f"sources: {len(kernels)} more files changed that are named here, of {len(changed)} changed files", ""
    yield from ((f"  {path}", "") for path in kernels)
    if kernels:
        yield (
            "",
            f"{len(kernels)} files with facts that are cited, see above: git diff {REFERENCE_SNAPSHOT} HEAD -- FILE",
        )


def _is_named(path: str, names: set[str]) -> bool:
    return path in names or (path.startswith("tensorflow/lite/micro/kernels/") and path.rpartition("/")[2] in names)


def with_reference(source: str, head: Head, counted: set[str]) -> str:
    """Return the text of ``targets/reference.py`` with another reference commit, without the wheels of counted commits.

    Args:
        source: The text.
        head: Where the checkout stands.
        counted: The commits that it holds, seven digits of each.
    """
    for name, value in (
        ("REFERENCE_SNAPSHOT", f'"{head.commit}"'),
        ("REFERENCE_DAY", f'"{head.day}"'),
        ("LAST_COUNTED", str(head.position)),
    ):
        source = re.sub(rf"^{name} = .*$", f"{name} = {value}", source, flags=re.MULTILINE)
    match = re.search(r'WHEELS = """\n(.*?)"""', source, re.DOTALL)
    assert match is not None, "reference.py has the table WHEELS"
    rows = [row for row in match[1].split() if row.partition("@")[0] not in counted]
    text = "\n".join(" ".join(rows[first : first + 5]) for first in range(0, len(rows), 5))
    return f"{source[: match.start(1)]}{text}\n{source[match.end(1) :]}"


def write(checkout: str, head: Head, esp: str | None) -> Iterator[str]:
    """Write every table that is made of a checkout; yield what was done.

    Args:
        checkout: Upstream's.
        head: Where it stands.
        esp: A clone of espressif/esp-tflite-micro, which two of the tables are made of as well.
    """
    commits = {commit[:7] for commit in frame.git(checkout, "rev-list", "HEAD").split()}
    REFERENCE.write_text(with_reference(REFERENCE.read_text("utf-8"), head, commits), encoding="utf-8")
    yield f"wrote {REFERENCE.relative_to(ROOT)}: {head.commit} of {head.day}, {head.position}"
    for name, *arguments in (
        ("commit_table", checkout),
        ("trace_table", checkout),
        ("texts", checkout),
        ("places", checkout, "--write"),
        *([("kernel_texts", checkout, esp), ("kernel_requests", checkout, esp)] if esp else []),
    ):
        run_tool(name, *arguments)
        yield f"wrote what python tools upstream {name} makes"
    if not esp:
        yield "left kernel_texts.txt and kernel_requests.txt: a clone of espressif/esp-tflite-micro is needed as well"
