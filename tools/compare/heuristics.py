"""Leave each heuristic of the exact planner out in turn, and count what that costs.

    python tools compare heuristics [--only NAME,NAME] [--times 4] [--extra 10000]

The C sources are copied, a heuristic is taken out of the copy, and what a compiler makes of it solves A to K, the hard
ones (at their capacities) and those with mixed alignments (the smallest plan). First the planner as it is; then each
problem may take so many ``--times`` its nodes and ``--extra`` more. What is not solved counts with all of these, and
what is open for the planner as it is is not asked again. Nodes are the same on every machine; CPU seconds are of this
one.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import frame
from bench_exact import CAPACITY, SHARED, Instance, hard_instances, instances, mixed_problems
from cffi import FFI

from tflm_sim.planners.native import build_native
from tflm_sim.planners.problem import Problem

NATIVE = Path(build_native.__file__).parent
MOST_NODES = {"A to K": 100_000, "hard": 500_000, "mixed": 25_000}
"""By set: for a problem and the planner as it is."""

Change = tuple[str, str, str]
"""A file, a piece of its text that stands there once, and what takes its place."""

HEURISTICS: dict[str, tuple[Change, ...]] = {
    "time in both directions": (
        ("exact_strategy.c", "first.way %= way_count", "first.way = first.way % way_count & MERGED"),
        ("exact_strategy.c", "(int)(bits >> 60) & 1", "0"),
    ),
    "lifetimes as blocks": (
        ("exact_strategy.c", "first.way %= way_count", "first.way &= MIRRORED"),
        ("exact_strategy.c", "way_count > MERGED &&", "0 &&"),
    ),
    "two levels": (("exact.c", "pack(w) || split(w) || ask(w)", "pack(w) || ask(w)"),),
    "packing without gaps": (("exact.c", "pack(w) || split(w) || ask(w)", "split(w) || ask(w)"),),
    "the gap's part learns": (
        ("exact.c", "e->aim += (1.0 - e->aim) * 0.1", "e->aim += 0"),
        ("exact.c", "e->aim *= 0.9", "e->aim *= 1"),
    ),
    "larger capacities too": (("exact.c", "(capacity >= 0 && turn % APPROACH_EVERY != 0)", "capacity >= 0"),),
    "bred from the winner": (("exact_strategy.c", "winner != NULL && bits >> 63", "0"),),
    "stretched keys": (("exact_strategy.c", "bits & 32 ? bits >> 5 : 0", "0"),),
    "first strategies": (("exact_strategy.c", "turn < FIRST_STRATEGIES", "turn < 0"),),
    "longer and longer": (("exact_strategy.c", "turn % LONG_EVERY == LONG_EVERY - 1", "0"),),
    "remembered failures": (("exact_search_choose.h", "return f->state.a == state.a &&", "return 0 &&"),),
    "twins in order": (("exact_build.c", "if (memcmp(rows[k].key,", "if (0 && memcmp(rows[k].key,"),),
    "harmless ones": (("exact_search.c", "f->harmless = !push_neighbours", "f->harmless = 0 * push_neighbours"),),
    "not first": (("exact_search_deduce.h", "!raise_not_first(s, r)", "1"),),
    "stacks in nodes": (("exact_search_deduce.h", "if (s->p->most_align == 1) return 1;", "return 1;"),),
    "stacks as a bound": (
        ("exact_stack.c", "if (p->most_align == 1) return TFLM_PLAN_OK;", "free(tops);\n  return TFLM_PLAN_OK;"),
    ),
}


def compiled(directory: Path, changes: Sequence[Change]) -> Any:
    """Return the library that the sources make with some changes, and the FFI that calls it."""
    for path in (*NATIVE.glob("*.c"), *NATIVE.glob("*.h")):
        shutil.copy(path, directory)
    for name, old, new in changes:
        path = directory / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name} has {text.count(old)} times {old!r}"
        path.write_text(text.replace(old, new), encoding="utf-8")
    library = directory / "exact.so"
    sources = [str(directory / name) for name in build_native.SOURCES]
    subprocess.run(["cc", "-O2", "-w", "-shared", "-fPIC", "-pthread", *sources, "-o", str(library)], check=True)
    ffi = FFI()
    for header in ("tflm_plan.h", "exact_types.h", "exact.h"):
        ffi.cdef(build_native.declarations((NATIVE / header).read_text(encoding="utf-8")))
    return ffi, ffi.dlopen(str(library))


def nodes_to_answer(ffi: Any, library: Any, problem: Problem, capacity: int | None, node_limit: int) -> int | None:
    """Return the nodes that the answer took, or None where it did not come within the limit."""
    rows = [(b.size, b.lower, b.upper - 1, b.alignment, -1) for b in problem.buffers]
    result, offsets = ffi.new("tflm_exact_result_t *"), ffi.new("int64_t[]", len(rows))
    options = (-1 if capacity is None else capacity, node_limit, -1.0, 1, ffi.NULL, ffi.NULL, ffi.NULL)
    code = library.tflm_exact_solve(
        ffi.new("tflm_exact_buffer_t[]", rows), len(rows), ffi.new("tflm_exact_options_t *", options), result, offsets
    )
    assert code == 0, f"status {code}"
    return result.status.nodes if result.proved else None


@dataclass
class Case:
    """A problem of a set, how many nodes it may take, and how many it took (None: more)."""

    set_name: str
    instance: Instance
    node_limit: int
    nodes: int | None = None


def all_cases() -> list[Case]:
    """Return every problem."""
    sets = {
        "A to K": ((name, CAPACITY, problem) for name, problem in instances(SHARED / "planners" / "challenging")),
        "hard": hard_instances(SHARED / "planners" / "hard"),
        "mixed": mixed_problems(),
    }
    return [Case(name, instance, MOST_NODES[name]) for name, listed in sets.items() for instance in listed]


def solve_without(heuristic: str, cases: list[Case]) -> float:
    """Solve the cases and return the CPU seconds."""
    with tempfile.TemporaryDirectory() as directory:
        ffi, library = compiled(Path(directory), HEURISTICS.get(heuristic, ()))
        start = time.process_time()
        for case in cases:
            _, capacity, problem = case.instance
            case.nodes = nodes_to_answer(ffi, library, problem, capacity, case.node_limit)
        return time.process_time() - start


def cells_of(set_name: str, cases: list[Case]) -> tuple[str, int]:
    """Return how many of a set are solved, and the nodes of all."""
    of_set = [case for case in cases if case.set_name == set_name]
    solved = sum(case.nodes is not None for case in of_set)
    return f"{solved}/{len(of_set)}", sum(case.node_limit if case.nodes is None else case.nodes for case in of_set)


def main() -> None:
    """Print a row for the planner as it is, and one for each heuristic."""
    parser = frame.parser(__doc__)
    parser.add_argument("--only", default=",".join(HEURISTICS), help="heuristics, with commas between")
    parser.add_argument("--times", type=int, default=3, metavar="N")
    parser.add_argument("--extra", type=int, default=5_000, metavar="NODES")
    args = parser.parse_args()
    cases = all_cases()
    columns = {"left out": "<24"}
    for set_name in MOST_NODES:
        columns |= {set_name: ">8", f"nodes of {set_name}": ">15,"}
    table = frame.Table(columns | {"CPU s": ">8.1f"})
    for name in ("nothing", *args.only.split(",")):
        cpu_s = solve_without(name, cases)
        table.row(name, *(cell for set_name in MOST_NODES for cell in cells_of(set_name, cases)), cpu_s)
        if name == "nothing":
            cases = [case for case in cases if case.nodes is not None]
            for case in cases:
                case.node_limit = args.times * (case.nodes or 0) + args.extra


if __name__ == "__main__":
    main()
