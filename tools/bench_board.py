"""Time what reads a board's bytes: milliseconds of CPU for 4,096 bytes, text of every kind and what attacks a reader.

    python tools/bench_board.py [--kilobytes 100]

Each stream is read twice, the second twice as long: the last column is how many times longer that took (2 is linear).
A port at 921,600 baud brings 92 kB/s: 4 kB every 44 ms.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

import frame

from tflm_sim.extensions.board.monitor import Monitor

LOGS = Path(__file__).resolve().parent.parent / "tests" / "unit" / "logs" / "recorded"
REAL = b"".join(path.read_bytes() for path in sorted(LOGS.glob("*.log")))
STREAMS: dict[str, bytes] = {
    "recorded logs": REAL,
    "short lines": b"hello world, this is a line\n",
    "a line without an end": b"x",
    "noise": random.Random(1).randbytes(1 << 16),
    "fields without a start": b'{"',
    "CRCs without fields": b'{"a}*',
    "marks": b"$TSIM,",
    "a check's message, repeated": b"a:1 x != ",
    "operators' messages, repeated": b"Node a (number 1",
    "profiler's words, repeated": b"a took ",
    "table cells": b"Total|",
    "escape sequences": b"\x1b[",
    "nested JSON": b"MCUFIT_RESULT [[[[[[[[",
    "a report that never ends": b"0 (id=0): size=\n",
}


def read(data: bytes, piece: int) -> float:
    """Return the CPU seconds for a stream that arrives in pieces."""
    monitor = Monitor()
    start = time.process_time()
    for offset in range(0, len(data), piece):
        monitor.feed(data[offset : offset + piece])
    monitor.close()
    return time.process_time() - start


def main() -> int:
    """Print the table."""
    parser = frame.parser(__doc__)
    parser.add_argument("--kilobytes", type=int, default=100)
    args = parser.parse_args()
    table = frame.Table(
        {"stream": "<32", "64-byte pieces, ms": ">18.2f", "4 kB pieces, ms": ">15.2f", "times, twice as long": ">20.1f"}
    )
    for name, pattern in STREAMS.items():
        data = pattern * (args.kilobytes * 1000 // len(pattern) + 1)
        small, large, twice = read(data, 64), read(data, 4096), read(data * 2, 4096)
        scale = 1000 * 4096 / len(data)
        table.row(name, small * scale, large * scale, twice / max(large, 1e-9))
    return 0


if __name__ == "__main__":
    sys.exit(main())
