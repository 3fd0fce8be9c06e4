"""Shrink random models and compare every result with the original in the real TFLM (the pip wheel).

    python tools fuzz shrink --count 300 --jobs 2 [--first SEED]
        [--elementwise | --state | --cheaper | --control-flow] [--int8-io] [--all-options]
    python tools fuzz shrink --only 4711 --keep case.tflite      one case again, and its file

A model is a graph of a few layers (shrinking_models.py in tests/), also with operands that can be left out
and for reference kernels always, or of elementwise operators on int8, int16 and float32, or of queues, sums, SVDFs
and LSTMs (stateful_models.py), both always with a plan, or with IF and WHILE, whose subgraphs may keep states. With
--int8-io its ends are floats, and shrink may let them be integers. The targets, limits and options are drawn too. Each
result must be verified, need what is predicted on every target, run in the wheel in exactly its predicted arena, fail
there with 16 bytes less, and give the same bytes on a sequence of inputs. Exit code 1 at a difference.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from fuzz.fuzzer import DiffersError, Fuzzer

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "unit" / "extensions" / "shrink"))
import control_flow_models
import shrinking_models as models
import stateful_models

from tflm_sim import parse, shrink, smallest_arena
from tflm_sim.documents import as_json
from tflm_sim.errors import TflmSimError
from tflm_sim.extensions.shrink.prove import WHEEL_TARGET
from tflm_sim.extensions.shrink.shrunk import Shrunk
from tflm_sim.extensions.shrink.wheel_worker import ENDS, ROOMY, converted, stimulus

TARGETS = ("cortex-m4", "cortex-m3", "esp32-s3", "esp32-p4", "cortex-m55", "x86_64-pip")
RUNS = 12
MODELS = {
    "layers": models.random_model,
    "elementwise": models.random_elementwise,
    "state": stateful_models.random_state_model,
    "cheaper": models.random_cheaper_model,
    "control_flow": control_flow_models.random_control_flow,
}


def shrunk_at_random(
    model: Any,
    seed: int,
    *,
    is_planned: bool = False,
    has_all: bool = False,
    int8_io: bool = False,
    targets: Sequence[str] = TARGETS,
) -> Shrunk:
    """Return what shrink makes of a model for targets and options that the seed draws, and those asked for."""
    rng = random.Random(seed)
    return shrink(
        model,
        rng.sample(targets, rng.choice((1, 1, 1, 2)) if len(targets) > 1 else 1),
        max_macs=rng.choice((1.0, 1.35, 3.0)),
        offline_plan=rng.random() < 0.3 or is_planned or has_all,
        kernel_order=rng.random() < 0.3 or has_all,
        int8_io=rng.random() < 0.5 or has_all or int8_io,
        loops=rng.random() < 0.3 or has_all,
    )


def difference(shrunk: Shrunk) -> str:
    """Return how a result differs from the original in the wheel, "" where it does not."""
    from tflite_micro.python.tflite_micro import runtime

    for gain in shrunk.gains:
        if smallest_arena(parse(shrunk.data), gain.target).size != gain.after.arena:
            return f"another arena on {gain.target}"
    after = shrunk.gains[0].after
    if after.head < shrunk.bound.head or after.arena < shrunk.bound.arena:
        return f"{after}, below the bound of {shrunk.bound}"
    arena = smallest_arena(shrunk.model, WHEEL_TARGET).size
    original = runtime.Interpreter.from_bytes(bytes(shrunk.origin.source), arena_size=ROOMY)
    result = runtime.Interpreter.from_bytes(shrunk.data, arena_size=arena)
    if _is_enough(shrunk.data, arena - 16):
        return f"runs in {arena - 16} B, too"
    rng = np.random.default_rng(14)
    given, wanted = ({e.index: as_json(e) for e in shrunk.conversions if e.what == what} for what in ENDS)
    main = shrunk.model.subgraphs[0]
    facts = [original.get_input_details(place) for place in range(len(main.input_tensors))]
    count = len(main.output_tensors)
    for run in range(RUNS):
        values = [stimulus(rng, np.dtype(each["dtype"]), tuple(each["shape"]), run) for each in facts]
        outputs = []
        for interpreter, ends in ((original, ({}, {})), (result, (given, wanted))):
            for place, value in enumerate(converted(values, ends[0])):
                interpreter.set_input(value, place)
            interpreter.invoke()
            found = converted([interpreter.get_output(index) for index in range(count)], ends[1])
            outputs.append([output.tobytes() for output in found])
        if outputs[0] != outputs[1]:
            return f"other bytes in run {run}"
    return ""


def _is_enough(data: bytes, arena: int) -> bool:
    """Return whether the wheel allocates a model in an arena. An LSTM without room ends the process: it has its own."""
    from tflite_micro.python.tflite_micro import runtime

    child = os.fork()
    if not child:
        try:
            runtime.Interpreter.from_bytes(data, arena_size=arena)
        except RuntimeError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def make_case(number: int, options: argparse.Namespace) -> tuple[str, bytes, int]:
    """Return a random model: what it is, its bytes, and its seed."""
    name = next((name for name in MODELS if name in options and getattr(options, name)), "layers")
    model = MODELS[name](number)
    if "int8_io" in options and options.int8_io:
        model = models.with_float_ends(model, number)
    return name, bytes(model.source), number


def run(data: bytes, seed: int, options: argparse.Namespace) -> str:
    """Shrink a model and return what came of it.

    Raises:
        DiffersError: A pass failed, was not verified, or the result is not what was promised.
    """
    try:
        is_planned = options.elementwise or options.state
        targets = [WHEEL_TARGET] if options.cheaper else TARGETS
        shrunk = shrunk_at_random(
            parse(data),
            seed,
            is_planned=is_planned,
            has_all=options.all_options,
            int8_io=options.int8_io,
            targets=targets,
        )
    except TflmSimError as error:
        return f"refused: {str(error)[:60]}"
    for each in shrunk.rejected:
        if "does not understand" in each.reason or "refused" in each.reason:
            raise DiffersError(f"{each.name}: {each.reason}")
    if shrunk.has_gained and (what := difference(shrunk)):
        raise DiffersError(what)
    return "gain: " + ", ".join(sorted({step.name for step in shrunk.steps})) if shrunk.has_gained else "no gain"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what only this fuzzer takes."""
    parser.add_argument("--elementwise", action="store_true", help="elementwise operators of all types, with plans")
    parser.add_argument("--state", action="store_true", help="operators with a state, with plans")
    parser.add_argument(
        "--cheaper", action="store_true", help="operators with cheaper forms (a bias of zeros), for reference kernels"
    )
    parser.add_argument("--control-flow", action="store_true", help="IF and WHILE between layers")
    parser.add_argument(
        "--int8-io", action="store_true", help="inputs and outputs of floats, which may become integers"
    )
    parser.add_argument("--all-options", action="store_true", help="each with every option that saves more")


FUZZER = Fuzzer(
    doc=__doc__,
    defaults={"count": 100, "limit": 60.0},
    make_case=make_case,
    run=run,
    expected=(),
    add_options=add_options,
)

if __name__ == "__main__":
    sys.exit(FUZZER.main())
