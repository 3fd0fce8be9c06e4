"""Write the table of upstream's commits that --runtime knows: hash, commit time and position of each.

    python tools upstream commit_table PATH/TO/tflite-micro/.git

A position counts the first-parent commits up to one. A commit that a merge brought in has the position of that merge
when it is as new as ``MERGED_CHANGE``, the first of them that matters to an arena, else that of the merge's first
parent.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import frame

TABLE = Path(__file__).parents[2] / "tflm_sim" / "targets" / "upstream_commits.txt.gz"
MERGE = "1ca285989"
MERGED_CHANGE = "18ded8042"


def rows(repository: str) -> list[str]:
    """Return one line a commit, "HASH SECONDS POSITION", by position; the first-parent commit of each comes last."""
    main = frame.git(repository, "rev-list", "--first-parent", "--reverse", "HEAD").split()
    positions = {commit: index for index, commit in enumerate(main, start=1)}
    merge = positions[frame.git(repository, "rev-parse", MERGE).strip()]
    with_change = set(frame.git(repository, "rev-list", f"{MERGED_CHANGE}^..{MERGE}").split())
    lines = []
    for line in frame.git(repository, "log", "--format=%H %ct", "HEAD").splitlines():
        commit, seconds = line.split()
        position = positions.get(commit, merge if commit in with_change else merge - 1)
        lines.append((position, commit in positions, f"{commit} {seconds} {position}"))
    return [line for _, _, line in sorted(lines)]


def write_table(doc: str | None, what: str, rows: Callable[[str], list[str]], table: Path) -> None:
    """Write the rows of the repository that the command line names."""
    parser = frame.parser(doc)
    parser.add_argument("repository", metavar="PATH/TO/tflite-micro/.git")
    lines = rows(parser.parse_args().repository)
    table.write_bytes(gzip.compress("\n".join(lines).encode() + b"\n", mtime=0))
    print(f"{len(lines)} {what} -> {table} ({table.stat().st_size:,} bytes)")


if __name__ == "__main__":
    write_table(__doc__, "commits", rows, TABLE)
