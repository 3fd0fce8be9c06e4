"""Feed damaged documents to those who read them back: what they say, or one error of ours, must come out.

    python tools fuzz documents --count 200000 --cpu-seconds 600
    python tools fuzz documents --seed 7 --only 4711 --keep case.json      one case again, and its file

The corpus is what this package writes: sizes, pictures, the mobile runtime's answers, baselines, results of sweeps as
JSON, CSV and Parquet, and problems for planners.
Case N of seed S is the same on every machine. Exit 1, with the cases' numbers, when a case raises something else, takes
more than ``--limit`` seconds of CPU or more than ``--memory`` MiB of memory.
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from fuzz.fuzzer import Fuzzer, flip_bits, truncate

from tflm_sim.answers.rows import as_dict, cases
from tflm_sim.answers.simulation import simulate
from tflm_sim.checks.verdict import read_baseline
from tflm_sim.documents import as_json
from tflm_sim.errors import TflmSimError
from tflm_sim.extensions.lite.answer import LiteSettings, allocated, machine_document
from tflm_sim.extensions.lite.answer_difference import lite_difference, lite_difference_lines, read_lite_document
from tflm_sim.extensions.sweep.difference import changes
from tflm_sim.extensions.sweep.sweep import iterate_rows
from tflm_sim.extensions.sweep.tables import open_writer, read_rows
from tflm_sim.model.load import load
from tflm_sim.planners.by_name import planner
from tflm_sim.planners.problem import read_csv, write_csv
from tflm_sim.report.board_rows import BoardFit
from tflm_sim.report.difference_text import difference_lines
from tflm_sim.report.document import size_document
from tflm_sim.report.model_explorer import write_model_explorer
from tflm_sim.report.page import write_page
from tflm_sim.report.perfetto import write_perfetto
from tflm_sim.report.picture_document import picture_document, read_document
from tflm_sim.report.size_difference import difference_document, growth, read_size_document
from tflm_sim.report.svg import write_svg
from tflm_sim.report.take_picture import take_picture

BOARDS = [
    BoardFit("a", "cortex-m4", "ok", 1024, 320 << 10, 4096, 1 << 20, may_fit=can, fits=words)
    for can, words in ((True, "yes"), (False, "no: RAM"))
]
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 15, 16, 1.5, -0.0, 1e300, 2**31, 2**63 - 1, 2**63, 10**4000, "", "x", "ok", "error",
    "\x1b[31m", "\ud800", "head", [], {}, [[]], [0], {"a": 1},
)  # fmt: skip
"""What stands in a value's place."""


@cache
def corpus() -> dict[str, list[Any]]:
    """Return documents by kind, as JSON values."""
    simulation = simulate(load("sample:sine"), "cortex-m4")
    lite = machine_document("m", allocated(load("sample:sine", strict=False), LiteSettings()))
    rows = iterate_rows(["sample:sine", "absent.tflite"], cases(["cortex-m4"], ["nano33ble"]), jobs=1)
    return {
        "size": [as_json(size_document(simulation))],
        "picture": [picture_document([take_picture(simulation.model, simulation.configuration)], BOARDS)],
        "lite": [as_json(lite)],
        "baseline": [{"schema_version": 1, "sizes": {"a on b": 1024, "c": 0}}],
        "rows": [as_dict(row) for row in rows],
    }


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container of a document with each of its keys."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


def change(document: Any, rng: random.Random) -> Any:
    """Return a document with a value changed, left out, or put in twice."""
    document = json.loads(json.dumps(document))
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        container, key = rng.choice(list(places(document)) or [([document], 0)])
        action = rng.randrange(6)
        if action == 0 and isinstance(container, dict):
            del container[key]
        elif action == 1 and isinstance(container, list):
            container.insert(key, container[key])
        elif action == 2 and isinstance(container[key], int):
            container[key] += rng.choice((-1, 1, 1000, -1000))
        else:
            container[key] = copy.deepcopy(rng.choice(VALUES))
    return document


PROBLEM = [["id", "lower", "upper", "size", "alignment", "offset"], ["a", 0, 3, 64, 16, ""], ["b,", 2, 9, 5, 1, 64]]
"""Buffers for planners, as lines of cells."""


@cache
def parquet() -> bytes:
    """Return the results of a sweep as a Parquet file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        writer = open_writer(path)
        writer.write(list(iterate_rows(["sample:sine", "absent"], cases(["cortex-m4"], ["nano33ble"]), jobs=1)))
        writer.close()
        return path.read_bytes()


def damaged(kind: str, rng: random.Random) -> bytes:
    """Return a damaged file of a kind that is no JSON."""
    if kind == "problem":
        lines = change(PROBLEM, rng)
        return "\n".join(",".join(map(str, line)) if isinstance(line, list) else str(line) for line in lines).encode(
            "utf-8", "backslashreplace"
        )
    data = bytearray(parquet())
    rng.choice((flip_bits, truncate))(data, rng, None)
    return bytes(data)


def make_case(number: int, options: argparse.Namespace) -> tuple[str, bytes, str]:
    """Return case ``number``: its kind, its bytes, and its kind again."""
    rng = random.Random(f"{options.seed}:{number}")
    kind = rng.choice(sorted(READERS))
    if kind not in corpus():
        return kind, damaged(kind, rng), kind
    documents = [change(row, rng) if rng.randrange(3) else row for row in corpus()[kind]]
    text = "".join(f"{json.dumps(row)}\n" for row in documents)
    if kind == "rows" and rng.randrange(2):
        text = "\n".join(
            ",".join(map(str, row)) for row in ([*corpus()[kind][0]], *(each.values() for each in documents))
        )
    data = bytearray(text.encode("utf-8", "backslashreplace"))
    if rng.randrange(4) == 0:
        rng.choice((flip_bits, truncate))(data, rng, None)
    return kind, bytes(data), kind


def read_picture(path: str) -> None:
    """Draw a saved picture in every form."""
    document = read_document(Path(path).read_bytes(), path=path)
    write_svg(io.StringIO(), document.pictures)
    for picture in document.pictures:
        write_perfetto(io.StringIO(), picture)
        write_model_explorer(io.StringIO(), picture)
    write_page(io.StringIO(), document.pictures, document.boards)


def read_size(path: str) -> None:
    """Compare a size with a good one."""
    good = size_document(simulate(load("sample:sine"), "cortex-m4"))
    for sides in ((read_size_document(path), good), (good, read_size_document(path))):
        document = difference_document(*sides)
        difference_lines(document)
        growth(document)
        json.dumps(as_json(document))


def read_lite(path: str) -> None:
    """Compare an answer about the mobile runtime with itself."""
    document = lite_difference(read_lite_document(path), read_lite_document(path))
    lite_difference_lines(document)
    json.dumps(as_json(document))


def read_results(path: str) -> None:
    """Compare the results of a sweep, as JSON or CSV, with themselves."""
    rows = list(read_rows(Path(path), ".csv" if Path(path).read_bytes()[:1] != b"{" else ".jsonl"))
    changes(rows, rows[:1])


def read_problem(path: str) -> None:
    """Plan a problem, and write it with its plan."""
    with Path(path).open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        problem = read_csv(file)
    write_csv(io.StringIO(), problem, planner("greedy")(problem.buffers))


READERS: dict[str, Callable[[str], object]] = {
    "size": read_size,
    "picture": read_picture,
    "lite": read_lite,
    "baseline": lambda path: read_baseline(Path(path)),
    "rows": read_results,
    "parquet": lambda path: changes(rows := list(read_rows(Path(path), ".parquet")), rows[:1]),
    "problem": read_problem,
}


def run(data: bytes, kind: str, options: argparse.Namespace) -> str:
    """Read a case back."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(data)
        file.flush()
        READERS[kind](file.name)
    return kind


FUZZER = Fuzzer(doc=__doc__, defaults={"memory": 2048}, make_case=make_case, run=run, expected=(TflmSimError,))

if __name__ == "__main__":
    sys.exit(FUZZER.main())
