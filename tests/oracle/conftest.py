"""``wheel``: the pip wheel of TFLM as an oracle; ``same_as_wheel``: a model in it and in our ``x86_64-pip``.

The wheel is built without DCHECKs: where a DCHECK of ours halts the device, the wheel goes on.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.schema import BUILTIN_OPERATORS
from tflm_sim.model.types import OptionValue
from tflm_sim.targets.presets import preset

ARENA_SIZE = 1 << 20
_ALLOCATION = re.compile(r"\[RecordingMicroAllocator\] '(.+)' used (\d+) bytes .*\(requested (\d+) bytes for (\d+) ")
_PLACE = re.compile(r"^(tensorflow|signal)/\S+\.cc(:\d+)? ")
_TOTAL = re.compile(r"\[RecordingMicroAllocator\] Arena allocation (\w+) (\d+) bytes")
_CATEGORIES = {
    "TfLiteEvalTensor data": "kTfLiteEvalTensorData",
    "Persistent TfLiteTensor data": "kPersistentTfLiteTensorData",
    "Persistent TfLiteTensor quantization data": "kPersistentTfLiteTensorQuantizationData",
    "Persistent buffer data": "kPersistentBufferData",
    "TfLiteTensor variable buffer data": "kTfLiteTensorVariableBufferData",
    "NodeAndRegistration struct": "kNodeAndRegistrationArray",
    "Operator runtime data": "kOpData",
    "Persistent compression data": "kCompressionData",
}


@dataclass(frozen=True)
class WheelRun:
    """What one model did in the wheel.

    Attributes:
        status: "ok", "error" or "abort".
        log: The device's lines, without the recorder's report and without blank lines.
        totals: "total", "head" and "tail" of the arena in bytes; empty unless ok.
        recorded: Category to (requested bytes, used bytes, count); categories without bytes are left out.
        invoke: The status of Invoke() on inputs of zeros, "" where there was none.
        invoke_log: The lines that it prints.
    """

    status: str
    log: tuple[str, ...]
    totals: dict[str, int]
    recorded: dict[str, tuple[int, int, int]]
    invoke: str
    invoke_log: tuple[str, ...]


class Wheel:
    """A worker process with the wheel loaded; it forks for each model."""

    def __init__(self) -> None:
        worker = Path(__file__).with_name("wheel_worker.py")
        self._process = subprocess.Popen([sys.executable, worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, model: bytes, arena_size: int = ARENA_SIZE) -> WheelRun:
        """Run AllocateTensors() of a model in an arena of ``arena_size`` bytes."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None, "stdin is a pipe"
        assert stdout is not None, "stdout is a pipe"
        stdin.write(f"{len(model)} {arena_size}\n".encode() + model)
        stdin.flush()
        answer = json.loads(stdout.readline())
        lines = [line for line in answer["stderr"].splitlines() if line.strip()]
        return WheelRun(
            status=answer["status"],
            log=tuple(line for line in lines if not line.startswith("[RecordingMicroAllocator]")),
            totals={match[1]: int(match[2]) for line in lines if (match := _TOTAL.match(line))},
            recorded={
                _CATEGORIES[match[1]]: (int(match[3]), int(match[2]), int(match[4]))
                for line in lines
                if (match := _ALLOCATION.match(line))
            },
            invoke=answer["invoke"],
            invoke_log=tuple(line for line in answer["invoke_stderr"].splitlines() if line.strip()),
        )

    def close(self) -> None:
        """End the worker."""
        self._process.communicate()


@pytest.fixture(scope="session")
def wheel() -> Iterator[Wheel]:
    """Return the wheel; skip where it is not installed."""
    pytest.importorskip("tflite_micro")
    oracle = Wheel()
    yield oracle
    oracle.close()


@pytest.fixture(scope="session")
def same_as_wheel(wheel: Wheel) -> Callable[..., Simulation]:
    """Return a check that a model does the same in the wheel and in our simulation of it, which it returns."""

    def check(model: bytes, arena_size: int = ARENA_SIZE) -> Simulation:
        real = wheel.run(model, arena_size)
        ours = simulate(parse(model), preset("x86_64-pip"), arena_size=arena_size, interpreter="recording")
        assert (ours.status, _shown(ours.log)) == (real.status, _shown(real.log))
        if real.status == "ok":
            head, tail = ours.head_bytes, ours.tail_bytes
            assert {"total": head + tail, "head": head, "tail": tail} == real.totals
            assert _recorded(ours) == real.recorded
            assert_same_invoke(ours, real)
        return ours

    return check


def assert_same_invoke(ours: Simulation, real: WheelRun) -> None:
    """Compare what we say of Invoke() with what the wheel does on inputs of zeros; values can make it fail as well."""
    log = tuple(line for line in real.invoke_log if "out of range (length is" not in line)
    problem = ours.invoke_problem
    if problem is not None and problem.status == "error":
        assert (real.invoke, _without_numbers(_without_places(log))) == ("error", _without_numbers(problem.log))
    elif real.invoke == "error":
        assert not re.search("type|support", "".join(log)), "Eval does not know a type, and we do not say so"


def _without_numbers(log: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines without what follows from an address, or from a double that is printed as an integer."""
    return tuple(re.sub(r"\? != \?|-?\d+ != -?\d+|got (\?|-?\d{5,})", "?", line) for line in _without_places(log))


def _shown(log: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines as a terminal shows them, without blank ones."""
    return tuple(line for text in log for line in text.splitlines() if line.strip())


def _without_places(log: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines as a terminal shows them, without file and line."""
    return tuple(_PLACE.sub("", line) for line in _shown(log))


def _recorded(simulation: Simulation) -> dict[str, tuple[int, int, int]]:
    return {
        name: (entry.requested, entry.used, entry.count)
        for name, entry in simulation.recorded.items()
        if entry.requested or entry.used
    }


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
