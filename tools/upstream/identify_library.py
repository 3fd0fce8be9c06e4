"""Say which commits of tensorflow/tflite-micro a library holds, file by file.

    python tools upstream identify_library UPSTREAM LIBRARY [COMMIT ...] [--prefix FOLDER]

UPSTREAM and LIBRARY are clones, with or without a work tree; COMMIT of LIBRARY, HEAD when left out. A file counts as
upstream's where only its include lines, its spaces, or the name of TF_LITE_STATIC_MEMORY differ: libraries for the
Arduino IDE rename files and macros. Printed are the commits that most of the files agree on, and each file that no
commit has, which is the library's own change.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import sha1

import frame

_KEPT = re.compile(
    r"tensorflow/lite/(micro|core|c|kernels|schema)/(?!.*(_test|/testing/|/benchmarks/|/examples/|/tools/))"
)
_LEFT_OUT = re.compile(rb"\s+|#include[^\n]*|//[^\n]*|ARDUINO|TF_LITE_STATIC_MEMORY|/\*.*?\*/", re.DOTALL)
_NAMES = 9
Blobs = dict[str, str]
"""Path to the hash of a blob."""


def upstream_path(path: str, prefix: str) -> str | None:
    """Return what a library's file is called upstream, None where it is none of those that matter."""
    if prefix not in path or "tensorflow/lite/" not in path:
        return None
    path = path[path.index("tensorflow/lite/") :]
    path = re.sub(r"\.cpp$", ".cc", path)
    return path if _KEPT.match(path) and path.endswith((".cc", ".h", ".c")) else None


def digests(repository: str, blobs: Sequence[str]) -> dict[str, str]:
    """Return the hash of what each blob says, by blob; a blob that the clone lacks is left out."""
    reader = subprocess.Popen(
        ["git", "-C", repository, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert reader.stdin is not None
    assert reader.stdout is not None
    found = {}
    for blob in dict.fromkeys(blobs):
        reader.stdin.write(f"{blob}\n".encode())
        reader.stdin.flush()
        header = reader.stdout.readline().split()
        if header[-1] != b"missing":
            text = reader.stdout.read(int(header[2]) + 1)
            found[blob] = sha1(_LEFT_OUT.sub(b"", text)).hexdigest()
    reader.stdin.close()
    return found


def library_files(repository: str, commit: str, prefix: str) -> Blobs:
    """Return the files of a library that upstream may have, by upstream's name."""
    files = {}
    for line in frame.git(repository, "ls-tree", "-r", commit).splitlines():
        (_, _, blob), path = line.split("\t")[0].split(), line.split("\t")[1]
        name = upstream_path(path, prefix)
        if name is not None:
            files[name] = blob
    return files


def upstream_versions(repository: str) -> Iterator[tuple[str, int, str]]:
    """Yield (path, position, blob) of each change on the main line, oldest first; a blob of zeros is a deletion."""
    position = 0
    shown = ("-m", "--reverse", "--raw", "--no-abbrev", "--no-renames", "--format=%H")
    log = frame.git(repository, "log", "--first-parent", *shown)
    for line in log.splitlines():
        if line.startswith(":"):
            fields, path = line.split("\t", 1)
            yield path, position, fields.split()[3]
        elif line:
            position += 1


def spans(versions: list[tuple[int, str]], digest: str, end: int) -> Iterator[range]:
    """Yield the positions at which a file says what ``digest`` is of."""
    for (start, found), (stop, _) in zip(versions, [*versions[1:], (end + 1, "")], strict=False):
        if found == digest:
            yield range(start, stop)


def main(arguments: Sequence[str]) -> int:
    """Print what a library holds; return 0."""
    parser = frame.parser(__doc__)
    parser.add_argument("upstream")
    parser.add_argument("library")
    parser.add_argument("commits", nargs="*", default=["HEAD"])
    parser.add_argument("--prefix", default="", help="only paths with this in them")
    options = parser.parse_args(arguments)
    commits = frame.git(options.upstream, "rev-list", "--first-parent", "--reverse", "HEAD").split()
    changes = [change for change in upstream_versions(options.upstream) if upstream_path(change[0], "")]
    says = digests(options.upstream, [blob for _, _, blob in changes])
    history: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for path, position, blob in changes:
        history[path].append((position, says.get(blob, "")))
    for commit in options.commits:
        print_library(options.library, commit, options.prefix, history, commits)
    return 0


def print_library(
    repository: str, commit: str, prefix: str, history: dict[str, list[tuple[int, str]]], commits: list[str]
) -> None:
    """Print the commits of upstream with the most files of one of a library, and the files of its own."""
    files = library_files(repository, commit, prefix)
    says = digests(repository, list(files.values()))
    votes: dict[int, int] = defaultdict(int)
    known: dict[str, list[range]] = {}
    for path, blob in files.items():
        known[path] = list(spans(history.get(path, []), says.get(blob, "?"), len(commits)))
        for span in known[path]:
            for position in span:
                votes[position] += 1
    most = max(votes.values(), default=0)
    best = [position for position, count in sorted(votes.items()) if count == most]
    said = frame.git(repository, "log", "-1", "--format=%h %cs", commit).strip()
    print(f"{said}: {len(files)} files, {most} of them as at")
    for position in dict.fromkeys((best[0], best[-1]) if best else ()):
        print(f"  {position:5} {commits[position - 1][:9]}")
    own = [path for path in files if not any(best and best[0] in span for span in known[path])]
    for path in own[:_NAMES] if len(own) > 3 * _NAMES else own:
        print(f"  own: {path}" + ("" if not known[path] else f" (as at {known[path][0].start})"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
