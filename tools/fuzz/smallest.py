"""Hold the smallest arena of random models against simulations: it works, and fails with one byte less.

    python tools fuzz smallest --count 300000 --jobs 2 --seed 20261126    a night; the date is another seed each night
    python tools fuzz smallest --seed 7 --only 4711 --keep x.tflite       one case, and the file of its first model

A case is one model, or up to three that share an arena: a file of the corpus or a random model of "fuzz shrink", whose
graph was changed at random (no operators, all variable, all constant, without elements, more subgraphs, an offline plan
...), or a file damaged as by "fuzz models". What it runs on is drawn too: any preset or library, any version of TFLM
that moved a byte, the interpreter, the planner, one arena or two, where the arena begins. smallest_arena(), a Sizer
that has seen the cases before, and the events of a roomy run must agree; simulations in an arena of that size, in
smaller ones and in a multiple of 16 decide who is right. No other program is asked.

Case N of seed S is the same on every machine with the same corpus. Exit 1, with the cases' numbers, at a difference.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from fuzz.fuzzer import DiffersError, Fuzzer
from fuzz.models import SHARED_MODELS, Seed, corpus, mutate
from fuzz.shrink import MODELS

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.answers.sizing import Sizer
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.device.configuration import Configuration, Settings, configure
from tflm_sim.errors import ModelError, SimulatedFailure, UnsupportedOpError, UsageError
from tflm_sim.model.encode import encode
from tflm_sim.model.load import parse
from tflm_sim.model.types import ConstantData, Metadata, Model, Subgraph, Tensor
from tflm_sim.planners.memory_planner import ONLINE_PLANNED_BUFFER
from tflm_sim.targets.changes import CHANGES, UPSTREAM
from tflm_sim.targets.libraries import LIBRARIES
from tflm_sim.targets.presets import PRESETS

REFUSED = (ModelError, SimulatedFailure, UnsupportedOpError, UsageError)
"""What a case may end in before there is a size."""
COMMITS = tuple(sorted({change.commit for change in CHANGES.values() if change.tree == UPSTREAM}))
BUILDS = tuple(library for library in LIBRARIES if library.target)
MOST_BELOW = 64
"""Bytes below the smallest arena in which a smaller one is tried."""
SIZER = Sizer()


# -- graphs ---------------------------------------------------------------------------------------------------------


def each_tensor(model: Model, change: Callable[[Tensor], Tensor]) -> Model:
    """Return the model with each tensor changed."""
    return each_subgraph(model, lambda subgraph: replace(subgraph, tensors=tuple(map(change, subgraph.tensors))))


def each_subgraph(model: Model, change: Callable[[Subgraph], Subgraph]) -> Model:
    """Return the model with each subgraph changed."""
    return replace(model, subgraphs=tuple(map(change, model.subgraphs)))


def filled_buffers(model: Model) -> list[int]:
    """Return the buffers with data."""
    return [index for index, buffer in enumerate(model.buffers) if buffer.data]


def no_operators(model: Model, rng: random.Random) -> Model:
    """Leave only tensors."""
    return each_subgraph(model, lambda subgraph: replace(subgraph, operators=()))


def fewer_operators(model: Model, rng: random.Random) -> Model:
    """Leave the first operators of each subgraph."""
    return each_subgraph(
        model, lambda each: replace(each, operators=each.operators[: rng.randint(0, len(each.operators))])
    )


def no_tensors(model: Model, rng: random.Random) -> Model:
    """Leave nothing."""
    return each_subgraph(model, lambda each: replace(each, operators=(), tensors=(), inputs=(), outputs=()))


def all_variable(model: Model, rng: random.Random) -> Model:
    """Make what has no data a variable."""
    filled = set(filled_buffers(model))
    return each_tensor(model, lambda tensor: replace(tensor, is_variable=tensor.buffer not in filled))


def some_variable(model: Model, rng: random.Random) -> Model:
    """Make some tensors variables."""
    return each_tensor(model, lambda tensor: replace(tensor, is_variable=tensor.is_variable or rng.randrange(4) == 3))


def all_constant(model: Model, rng: random.Random) -> Model:
    """Give every tensor data, of whatever size."""
    filled = filled_buffers(model) or [0]
    return each_tensor(model, lambda tensor: replace(tensor, buffer=tensor.buffer or rng.choice(filled)))


def no_elements(model: Model, rng: random.Random) -> Model:
    """Make every tensor empty, which few operators accept."""
    found = each_tensor(model, lambda tensor: replace(tensor, shape=(0, *tensor.dims[1:])))
    return no_operators(found, rng) if rng.randrange(2) else found


def other_shapes(model: Model, rng: random.Random) -> Model:
    """Change a dimension of some tensors."""

    def change(tensor: Tensor) -> Tensor:
        if not tensor.shape or rng.randrange(4) < 3:
            return tensor
        axis = rng.randrange(len(tensor.shape))
        return replace(tensor, shape=(*tensor.shape[:axis], rng.randint(0, 40), *tensor.shape[axis + 1 :]))

    return each_tensor(model, change)


def no_ends(model: Model, rng: random.Random) -> Model:
    """Leave out inputs, outputs, or both."""
    which = rng.choice(("inputs", "outputs", "both"))
    return each_subgraph(
        model,
        lambda each: replace(
            each, inputs=each.inputs if which == "outputs" else (), outputs=each.outputs if which == "inputs" else ()
        ),
    )


def more_subgraphs(model: Model, rng: random.Random) -> Model:
    """Add subgraphs that nobody calls: copies of others, with operators or without."""
    copies = [rng.choice(model.subgraphs) for _ in range(rng.randint(1, 3))] if model.subgraphs else []
    added = (copy if rng.randrange(2) else replace(copy, operators=()) for copy in copies)
    return replace(model, subgraphs=(*model.subgraphs, *added))


def offline_plan(model: Model, rng: random.Random) -> Model:
    """Plan some tensors, or all, offline."""
    count = sum(len(subgraph.tensors) for subgraph in model.subgraphs)
    rate = rng.choice((0, 3, 10))
    offsets = [16 * rng.randrange(64) if rng.randrange(10) < rate else ONLINE_PLANNED_BUFFER for _ in range(count)]
    payload = b"".join(number.to_bytes(4, "little", signed=True) for number in (1, 0, count, *offsets))
    metadata = Metadata("OfflineMemoryAllocation", len(model.buffers))
    buffers = (*model.buffers, ConstantData(memoryview(payload)))
    return replace(model, buffers=buffers, metadata=(*model.metadata, metadata))


def same(model: Model, rng: random.Random) -> Model:
    """Change nothing."""
    return model


CHANGES_OF_GRAPHS: tuple[Callable[[Model, random.Random], Model], ...] = (
    same,
    no_operators,
    fewer_operators,
    no_tensors,
    all_variable,
    some_variable,
    all_constant,
    no_elements,
    other_shapes,
    no_ends,
    more_subgraphs,
    offline_plan,
)


def any_model(rng: random.Random, seeds: Sequence[Seed]) -> bytes:
    """Return a seed or a random model whose graph was changed one to three times, or a seed whose bytes were."""
    kind = rng.choice(("seed", "seed", "random", "bytes"))
    if kind == "bytes":
        return mutate(rng.choice(seeds), rng)
    if kind == "random":
        model: Model = rng.choice(tuple(MODELS.values()))(rng.getrandbits(32))
    else:
        model = parse(rng.choice(seeds).data)
    for change in rng.choices(CHANGES_OF_GRAPHS, k=rng.choice((1, 1, 2, 3))):
        model = change(model, rng)
    return encode(model)


def any_others(rng: random.Random, seeds: Sequence[Seed]) -> list[bytes]:
    """Return the models that share the arena of a first one: none to two."""
    return [any_model(rng, seeds) for _ in range(rng.choice((0, 0, 0, 0, 0, 0, 1, 2)))]


# -- what they run on -----------------------------------------------------------------------------------------------


def any_configuration(rng: random.Random) -> Configuration:
    """Return a preset, or a library's build, and a way to set TFLM up there."""
    while True:
        try:
            return _drawn(rng)
        except UsageError:  # TFLM has no such combination.
            continue


def _drawn(rng: random.Random) -> Configuration:
    settings: Settings = {
        "planner": rng.choice(("greedy", "greedy", "linear")),
        "interpreter": rng.choice((None, "plain", "recording")),
        "split_arenas": rng.randrange(8) == 7,
        "own_planner": rng.randrange(8) == 7,
        "resource_variables": rng.choice((None, None, 0, 3)),
        "variable_arena": rng.choice((None, None, None, 1 << 16)),
    }
    if not settings["split_arenas"] and rng.randrange(3) == 2:
        settings["arena_address"] = rng.randrange(16)
    if rng.randrange(4) == 3:
        library = rng.choice(BUILDS)
        settings["library"] = library.label
        return configure(library.target, **settings)
    if rng.randrange(3) == 2:
        settings["runtime"], settings["kernels"] = rng.choice(COMMITS), "reference"
    else:
        settings["kernels"] = rng.choice((None, None, "reference"))
    return configure(rng.choice(tuple(PRESETS)), **settings)


# -- the check ------------------------------------------------------------------------------------------------------


def hold(models: Sequence[Model], configuration: Configuration, *, less: Iterable[int] = (1,)) -> None:
    """Check the smallest arena of models, or the smallest pair, with simulations in that size and around it.

    Args:
        models: The models, on one allocator.
        configuration: What they run on.
        less: How many bytes less are tried.

    Raises:
        DiffersError: It is not the smallest, or it does not work, or two ways to find it differ.
        SimulatedFailure: AllocateTensors() fails in an arena of any size; all ways to find the smallest say so.
        UnsupportedOpError, ModelError, UsageError: As :func:`smallest_arena`.
    """
    roomy = simulate(models, configuration)
    if configuration.split_arenas:
        _hold_pair(roomy.unwrap(), less)
        return
    ways = [partial(ask, models, configuration) for ask in (smallest_arena, SIZER.smallest_arena)]
    if roomy.smallest is None:
        for ask in ways:
            _expect_failure(ask)
        roomy.unwrap()
    smallest = roomy.smallest
    if smallest is None or any(ask() != smallest for ask in ways):
        raise DiffersError(f"the events say {smallest}, the measuring arenas {[ask().size for ask in ways]}")
    run = partial(simulate, models, configuration)
    at = run(arena_size=smallest.size)
    _expect_works(at, roomy, "the smallest")
    _expect_works(run(arena_size=smallest.multiple_of_16), roomy, "the smallest multiple of 16")
    if at.arena_used_bytes != smallest.arena_used_bytes:
        raise DiffersError(f"{at.arena_used_bytes} bytes are used, not {smallest.arena_used_bytes}")
    for fewer in less:
        below = run(arena_size=max(smallest.size - fewer, 0))
        # With one byte less it fails: only a kernel that takes persistent memory overwrites its own temps, unnoticed.
        is_unnoticed = fewer == 1 and smallest.binding.kind != "tail" and below.failure is None
        if is_unnoticed or _works(below, roomy):
            raise DiffersError(
                f"{smallest.size} bytes are said to be the smallest, and in {below.arena_size} AllocateTensors() "
                f"succeeds, too: {smallest.binding}, {below.corruptions}"
            )


def _hold_pair(roomy: Simulation, less: Iterable[int]) -> None:
    pair = roomy.split
    if pair is None:
        raise DiffersError("it works in two roomy arenas, and there is no smallest pair")
    run = partial(simulate, roomy.models, roomy.configuration)
    at = run(arena_size=pair.persistent, non_persistent_arena_size=pair.non_persistent)
    _expect_works(at, roomy, "the smallest pair")
    for fewer in less:
        for persistent, rest in ((fewer, 0), (0, fewer)):
            sizes = max(pair.persistent - persistent, 0), max(pair.non_persistent - rest, 0)
            if sizes != (pair.persistent, pair.non_persistent):
                below = run(arena_size=sizes[0], non_persistent_arena_size=sizes[1])
                if _works(below, roomy):
                    raise DiffersError(f"{pair} is said to be the smallest pair, and {sizes} works")


def _works(run: Simulation, roomy: Simulation) -> bool:
    """Return whether AllocateTensors() succeeds, gets all that it asks for, and no byte is handed out twice.

    What a kernel writes past its own bytes does not count, only whether the device survives it. Some go on without what
    they asked for: TRANSPOSE_CONV of floats without its multipliers, CONV_2D of 2021 without its bias.
    """
    lacks = set(run.log) - set(roomy.log)
    refused = any("ailed to allocate" in line or "nable to allocate" in line for line in lacks)
    return run.failure is None and not refused and all(" past its " in text for text in run.corruptions)


def _expect_works(run: Simulation, roomy: Simulation, what: str) -> None:
    if not _works(run, roomy):
        raise DiffersError(f"{run.arena_size} bytes are said to be {what} that works: {run.failure} {run.corruptions}")


def _expect_failure(ask: Callable[[], object]) -> None:
    try:
        found = ask()
    except SimulatedFailure:
        return
    raise DiffersError(f"the events say that no arena works, and {found} is found")


# -- cases ----------------------------------------------------------------------------------------------------------


def make_case(number: int, options: argparse.Namespace) -> tuple[str, bytes, random.Random]:
    """Return case ``number``: what it is, the bytes of its first model, and what draws the rest."""
    rng = random.Random(f"{options.seed}:{number}")
    return "smallest", any_model(rng, corpus(options.corpus, options.max_size)), rng


def run(data: bytes, rng: random.Random, options: argparse.Namespace) -> str:
    """Check a case."""
    files = [data, *any_others(rng, corpus(options.corpus, options.max_size))]
    configuration = any_configuration(rng)
    hold([parse(file) for file in files], configuration, less=(1, rng.randint(2, MOST_BELOW)))
    return "two arenas" if configuration.split_arenas else f"{configuration.interpreter}, {configuration.planner}"


FUZZER = Fuzzer(
    doc=__doc__,
    defaults={"corpus": SHARED_MODELS, "max_size": 50_000, "limit": 5.0},
    make_case=make_case,
    run=run,
    expected=REFUSED,
)
main = FUZZER.main

if __name__ == "__main__":
    sys.exit(main())
