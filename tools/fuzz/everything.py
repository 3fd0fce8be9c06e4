"""Run every fuzzer, one after the other, each for some minutes of CPU, and print what each counted.

    python tools fuzz everything --minutes 10 [--first 1000000]

Those that need the wheels of TFLM and of the mobile runtime end with an error where they are not installed. Exit code 1
where one of them found something.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import frame

TOOLS = Path(__file__).resolve().parents[1]
FUZZERS: tuple[tuple[str, ...], ...] = (
    ("models",),
    ("smallest",),
    ("inputs", "--kind", "source"),
    ("inputs", "--kind", "archive"),
    ("documents",),
    *(("texts", "--kind", kind) for kind in ("log", "project", "toml", "problem")),
    ("firmware",),
    ("lite",),
    ("verify",),
    ("shrink",),
    ("shrink", "--elementwise"),
    ("shrink", "--state", "--all-options"),
    ("shrink", "--state", "--int8-io"),
    ("shrink", "--cheaper"),
    ("shrink", "--control-flow"),
)


def main() -> int:
    """Run them; return the exit code."""
    parser = frame.parser(__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="of CPU for each (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case of each (default %(default)s)")
    options = parser.parse_args()
    failed = False
    for words in FUZZERS:
        print(f"-- {' '.join(words)}", flush=True)
        limits = ("--count", str(10**9), "--cpu-seconds", str(60 * options.minutes), "--first", str(options.first))
        done = subprocess.run([sys.executable, str(TOOLS), "fuzz", *words, *limits], check=False)
        failed |= done.returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
