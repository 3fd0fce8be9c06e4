"""Vela's allocators @ ethos-u-vela 5.2.0 on recorded problems; hill climb in Python and, where it was built, in C."""

import gzip
import json
from pathlib import Path

import pytest

from tflm_sim.planners import hill_climb, native, vela
from tflm_sim.planners.buffers import Buffer, Plan

GOLDEN = Path(__file__).parents[3] / "shared/planners/vela_golden.json.gz"


def instances():
    return json.loads(gzip.decompress(GOLDEN.read_bytes()))["instances"] if GOLDEN.exists() else []


def buffers_of(instance):
    return [Buffer(size, first, last + 1, alignment=16) for size, first, last in instance["live_ranges"]]


def answer(instance, allocator):
    return Plan(tuple(instance[allocator]["addresses"]), instance[allocator]["total"])


@pytest.mark.parametrize("instance", instances(), ids=lambda instance: instance["name"])
def test_greedy_and_the_climb_from_its_start(instance):
    buffers = buffers_of(instance)
    assert vela.plan(buffers) == answer(instance, "greedy")
    assert hill_climb.plan(buffers, time_limit=0) == answer(instance, "hillclimb_initial")
    assert hill_climb.plan(buffers) == answer(instance, "hillclimb")


@pytest.mark.parametrize("instance", instances(), ids=lambda instance: instance["name"])
def test_hill_climb_in_python(instance):
    buffers = buffers_of(instance)
    search = hill_climb.HillClimb(buffers)
    search.run(100_000)
    assert hill_climb.plan_of(buffers, search.best_offsets) == answer(instance, "hillclimb")
    assert max(hill_climb.live_bytes(buffers).values()) == instance["hillclimb"]["min_required"]


SPEED = GOLDEN.parent / "speed.json"


def recorded_peaks():
    rows = json.loads(SPEED.read_text())["vela_python_5.2.0"] if SPEED.exists() else {}
    return [pytest.param(name, row, id=name) for name, row in rows.items() if row["n"] <= 1000]


@pytest.mark.skipif(not native.available(), reason="minutes in Python")
@pytest.mark.parametrize(("name", "row"), recorded_peaks())
def test_the_peaks_of_the_speed_problems(name, row):
    # Sizes are multiples of 16, so Vela's alignment of 16 changes nothing.
    lines = (GOLDEN.parent / "speed" / f"{name}.csv").read_text().splitlines()[1:]
    rows = (map(int, line.split(",")) for line in lines)
    buffers = [Buffer(size, first, last + 1) for size, first, last in rows]
    assert vela.plan(buffers).peak == row["greedy"]["peak"]
    assert hill_climb.plan(buffers).peak == row["hillclimb_default"]["peak"]
