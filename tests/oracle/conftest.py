"""``wheel``: the pip wheel of TFLM as an oracle; ``same_as_wheel``: a model in it and in our ``x86_64-pip``.

pytest tests/oracle --keep-models FOLDER     only write the models that would be compared, for another wheel
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from upstream.wheel_runs import ARENA_SIZE, RunningWheel, difference

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.schema import BUILTIN_OPERATORS
from tflm_sim.model.types import OptionValue
from tflm_sim.targets.presets import preset


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of ``tools upstream move``."""
    parser.addoption("--keep-models", metavar="FOLDER", help="write the models of same_as_wheel, and compare none")


@pytest.fixture(scope="session")
def wheel() -> Iterator[RunningWheel]:
    """Return the wheel; skip where it is not installed."""
    pytest.importorskip("tflite_micro")
    oracle = RunningWheel()
    yield oracle
    oracle.close()


@pytest.fixture(scope="session")
def same_as_wheel(wheel: RunningWheel, pytestconfig: pytest.Config) -> Callable[..., Simulation]:
    """Return a check that a model does the same in the wheel and in our simulation of it, which it returns."""
    kept = pytestconfig.getoption("--keep-models", None)

    def check(model: bytes, arena_size: int = ARENA_SIZE) -> Simulation:
        if kept is not None and arena_size == ARENA_SIZE:
            (Path(kept) / sha256(model).hexdigest()[:16]).write_bytes(model)
        ours = simulate(parse(model), preset("x86_64-pip"), arena_size=arena_size, interpreter="recording")
        if kept is None:
            assert difference(ours, wheel.run(model, arena_size)) == ""
        return ours

    return check


TensorSpec = tuple[Any, ...] | None
"""(shape, type) or (shape, type, arguments of ModelBuilder.tensor); None for an absent input."""


def _one_op(
    op: str,
    inputs: Sequence[TensorSpec],
    outputs: Sequence[TensorSpec],
    *,
    options: Mapping[str, OptionValue] | None = None,
    custom_options: bytes | None = None,
) -> bytes:
    builder = ModelBuilder()
    graph_inputs: list[int] = []

    def index(spec: TensorSpec) -> int:
        if spec is None:
            return -1
        arguments = spec[2] if len(spec) > 2 else {}
        tensor = builder.tensor(*spec[:2], **arguments)
        if "data" not in arguments and not arguments.get("is_variable"):
            graph_inputs.append(tensor)
        return tensor

    node_inputs = [index(spec) for spec in inputs]
    known_inputs = list(graph_inputs)
    node_outputs = [index(spec) for spec in outputs]
    if op in BUILTIN_OPERATORS:
        builder.operator(op, node_inputs, node_outputs, options=options)
    else:
        builder.custom(op, node_inputs, node_outputs, options=custom_options)
    return builder.build(inputs=known_inputs, outputs=[tensor for tensor in node_outputs if tensor >= 0])


@pytest.fixture(scope="session")
def one_op() -> Callable[..., bytes]:
    """Return the maker of models of one operator; what is neither constant nor variable is an input of the graph."""
    return _one_op
