"""TFLite's ArenaPlanner and SimpleMemoryArena @ f67457790 on recorded graphs and allocation sequences."""

import gzip
import json
from functools import cache
from pathlib import Path

import pytest
from recorded_graph import graph_from_json

from tflm_sim.errors import PlanningError
from tflm_sim.extensions.lite.arena_planner import ArenaPlanner
from tflm_sim.extensions.lite.simple_memory_arena import NO_ALLOC, NODE_NOT_ASSIGNED, SimpleMemoryArena

PLANNERS = Path(__file__).parents[3] / "shared/planners"
pytestmark = pytest.mark.shared("planners")


@cache
def recorded(name, key):
    path = PLANNERS / name
    if not path.exists():
        return []
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)[key]


def state(planner, label):
    """Return what the driver of the recordings dumps."""

    def assigned(nodes):
        return [None if node == NODE_NOT_ASSIGNED else node for node in nodes]

    return {
        "op": "dump",
        "label": label,
        "offsets": [tensor.offset for tensor in planner.graph.tensors],
        "arena_size": planner.arena.buffer_size,
        "persistent_size": planner.persistent_arena.buffer_size,
        "arena_high_water": planner.arena.high_water_mark,
        "persistent_high_water": planner.persistent_arena.high_water_mark,
        "has_nonpersistent_memory": planner.has_nonpersistent_memory,
        "alloc_node": assigned(planner.alloc_node),
        "dealloc_node": assigned(planner.dealloc_node),
        "refcounts": planner.refcounts,
        "shared_with": {str(index): owner for index, owner in sorted(planner.shared_with.items())},
        "bytes": [tensor.size for tensor in planner.graph.tensors],
    }


def run(planner, command):
    """Carry out one command of the driver, and return what it answers."""
    word, *arguments = command.split()
    if word == "DUMP":
        return state(planner, *arguments)
    numbers = [int(argument) for argument in arguments]
    if word == "RESET":
        planner.reset_allocations()
    elif word == "PLAN":
        planner.plan_allocations()
    elif word == "EXEC":
        planner.execute_allocations(*numbers)
    elif word == "RESETAFTER":
        planner.reset_allocations_after(*numbers)
    else:
        assert word == "BYTES"
        planner.graph.tensors[numbers[0]].size = numbers[1]
        return None
    return {"op": {"RESETAFTER": "reset_after"}.get(word, word.lower()), "status": 0}


def planner_for(graph, description):
    return ArenaPlanner(
        graph, preserves_all_tensors=description["preserve_all_tensors"], tensor_alignment=description["alignment"]
    )


def test_every_state_of_the_planner_is_the_recorded_one():
    for case in recorded("arena_golden.json.gz", "instances"):
        planner = planner_for(graph_from_json(case["graph"]), case["graph"])
        answers = [answer for command in case["commands"] if (answer := run(planner, command)) is not None]
        assert json.loads(json.dumps(answers)) == case["observed"], case["name"]


def test_in_place_cases():
    for case in recorded("arena_planner_cases.json", "inplace_own_cases"):
        planner = planner_for(graph_from_json(case["graph"]), case["graph"])
        last = max(len(case["graph"]["nodes"]) - 1, 0)
        label = case["observed"][-1]["label"]
        commands = ("RESET", "PLAN", f"EXEC 0 {last}", f"DUMP {label}")
        assert [run(planner, command) for command in commands] == case["observed"], case["name"]


def test_the_recordings_hold_the_ties_that_they_announce():
    cases = recorded("arena_golden.json.gz", "instances")
    assert sum(case["tie_dependent"] for case in cases) == 32


def status(action, *arguments):
    """Return TFLite's status, 0 or 1, and what the action returned."""
    try:
        return 0, action(*arguments)
    except PlanningError:
        return 1, None


def run_arena_step(arena, slots, step):
    """Carry out one step, and return what the driver of the recordings prints."""
    operation = step["op"]
    if operation == "allocate":
        ends = {"tensor": step["tensor"], "first_node": step["first_node"], "last_node": step["last_node"]}
        alloc = slots[step["slot"]] = arena.allocate(step["size"], step["alignment"], **ends)
        return {"op": "alloc", "slot": step["slot"], "status": 0, "offset": alloc.offset, "hwm": arena.high_water_mark}
    if operation == "commit":
        code, is_reallocated = status(arena.commit)
        return {"op": operation, "status": code, "reallocated": bool(is_reallocated), "size": arena.buffer_size}
    if operation == "resolve":
        code, offset = status(arena.resolve_alloc, slots.get(step["slot"], NO_ALLOC))
        return {"op": operation, "slot": step["slot"], "status": code, "ptr_offset": offset}
    if operation in ("purge_active_allocs", "purge_after"):
        getattr(arena, operation)(step["node"])
        return {"op": operation.removesuffix("_allocs"), "active": len(arena.active_allocs)}
    getattr(arena, operation)()
    answers = {"release_buffer": {"status": 0, "base_null": arena.buffer_size == 0}, "clear_plan": {"status": 0}}
    return {"op": operation, **answers.get(operation, {})}


def test_every_answer_of_the_arena_is_the_recorded_one():
    cases = recorded("sma_golden.json.gz", "instances") + recorded(
        "arena_planner_cases.json", "simple_memory_arena_test"
    )
    for case in cases:
        arena, slots = SimpleMemoryArena(case["arena_alignment"]), {}
        assert [run_arena_step(arena, slots, step) for step in case["steps"]] == case["observed"]
