"""The proof on the user's own kernels: both models in the place of the one in a linked program, which is executed.

Equal outputs would prove nothing if no fault could change them. So a copy of the original whose weights are all
inverted runs on the same inputs every time, and has to give other outputs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from tflm_sim.errors import FirmwareError, ModelError
from tflm_sim.extensions.shrink.draft_facts import Array
from tflm_sim.extensions.shrink.input_ranges import input_ranges
from tflm_sim.extensions.shrink.interface import conversions
from tflm_sim.extensions.shrink.prove import ProofFailed
from tflm_sim.extensions.shrink.shrunk import Conversion, ProgramProof
from tflm_sim.extensions.shrink.wheel_worker import ENDS, compiled, floats_of_steps, stimulus, stream_chunks
from tflm_sim.model.element_types import STRUCT_CODES
from tflm_sim.model.types import Model, Tensor
from tflm_sim.registry import programs

_SEED = 27
_WEIGHTS = 1
"""The number of the input of an operator that holds its weights."""
_WEIGHT_TYPES = frozenset("bBhf")
"""Letters of Python's ``struct``: the types of weights; others say shapes and indices."""
_Outputs = list[tuple[bytes, ...]]
_Compute: TypeAlias = Callable[[Model | bytes, Iterable[Sequence[bytes]]], _Outputs]


def prove_in_program(
    original: Model,
    shrunk: Model,
    runs: int,
    program: str | os.PathLike[str],
    into: int = 0,
    stream: Mapping[str, Any] | None = None,
) -> ProgramProof:
    """Execute a program with each of the models and compare every output.

    Args:
        original: The model before.
        shrunk: The model after; ``source`` of both holds their bytes.
        runs: Random inputs, beside the two extreme ones; a state goes on from each to the next.
        program: The linked program.
        into: The number of its interpreter that gets them, from 1 on; 0 for each.
        stream: Of a result that takes the new frames of the original's window: how that moves on, for
            :func:`~tflm_sim.extensions.shrink.wheel_worker.stream_chunks`.

    Raises:
        ModelError: The program cannot run the original, or a damaged model would not be noticed: nothing is proved.
        ProofFailed: An output differs, or the program does not run the result.
    """
    reader, path = programs(), os.fspath(program)
    if reader is None:
        raise ModelError("not proved: no extension is installed that executes programs", path=path)
    compute = partial(reader.outputs, path, into=into)
    ends = conversions(original, shrunk) if stream is None else ()
    inputs = list(_inputs(original, runs, ends)) if stream is None else []
    given = _converted(inputs, ends, ENDS[0])
    if stream is not None:
        inputs, given = _windows_and_chunks(original, runs, stream)
    try:
        expected = compute(original, inputs)
    except FirmwareError as problem:
        raise ModelError(f"not proved: it does not run in {path} ({problem.message})", path=original.path) from None
    try:
        found = compute(shrunk, given)[len(given) - len(inputs) :]
    except FirmwareError as problem:
        raise ProofFailed(f"refused: {path} does not run the result ({problem.message}); nothing is written") from None
    different = _first_difference(expected, _converted(found, ends, ENDS[1]))
    if different is not None:
        raise ProofFailed(f"refused: the outputs of run {different} in {path} differ from the original's")
    _check_control(original, compute, inputs, expected)
    before, after = (reader.smallest_arena(path, model, into=into) for model in (original, shrunk))
    return ProgramProof(path, len(inputs), len(set(expected)), before, after)


def _converted(runs: Sequence[Sequence[bytes]], ends: Sequence[Conversion], what: str) -> _Outputs:
    """Return the inputs of each run as the result takes them, or its outputs as the original gives them."""
    changed = {end.index: end for end in ends if end.what == what}
    functions = {index: compiled(end.function, end.python) for index, end in changed.items()}

    def one(index: int, data: bytes) -> bytes:
        end = changed.get(index)
        if end is None:
            return data
        element_type = (end.before if what == ENDS[0] else end.after).type
        return bytes(functions[index](np.frombuffer(data, element_type)).tobytes())

    return [tuple(one(index, data) for index, data in enumerate(run)) for run in runs]


def _inputs(model: Model, runs: int, ends: Sequence[Conversion]) -> Iterator[list[bytes]]:
    """Yield the bytes of each input of each run.

    Raises:
        ModelError: An input is of a type whose values are not known here.
    """
    main, ranges = model.subgraphs[0], input_ranges(model)
    changed = {end.index: end for end in ends if end.what == ENDS[0]}
    random = np.random.default_rng(_SEED)
    tensors = [main.tensors[index] for index in main.input_tensors]
    _refuse_unknown(tensors, model)
    for run in range(runs + 2):
        yield [
            _values(random, tensor, run, within, changed.get(index)).tobytes()
            for index, (tensor, within) in enumerate(zip(tensors, ranges, strict=True))
        ]


def _windows_and_chunks(
    model: Model, runs: int, stream: Mapping[str, Any]
) -> tuple[list[list[bytes]], list[tuple[bytes, ...]]]:
    """Return the inputs of a model that takes a window, and of one that takes its frames, which begins before it.

    Raises:
        ModelError: The input is of a type whose values are not known here.
    """
    tensor = model.subgraphs[0].tensors[model.subgraphs[0].input_tensors[0]]
    _refuse_unknown([tensor], model)
    random, within = np.random.default_rng(_SEED), input_ranges(model)[0]
    pairs = list(stream_chunks(random, np.dtype(STRUCT_CODES[tensor.type]), stream, runs, within))
    return [[whole.tobytes()] for whole, _ in pairs if whole is not None], [(chunk.tobytes(),) for _, chunk in pairs]


def _refuse_unknown(tensors: Sequence[Tensor], model: Model) -> None:
    unknown = next((tensor.type for tensor in tensors if tensor.type not in STRUCT_CODES), None)
    if unknown is not None:
        raise ModelError(f"not proved: an input is of the type {unknown}, which has no values here", path=model.path)


def _values(
    random: np.random.Generator, tensor: Tensor, run: int, within: tuple[int, int] | None, end: Conversion | None
) -> Array:
    shape, dtype = tensor.dims, np.dtype(STRUCT_CODES[tensor.type])
    if end is None or dtype != np.float32:
        return stimulus(random, dtype, shape, run, within)
    after = end.after
    return floats_of_steps(random, shape, run, after.type, after.scale or 1.0, after.zero_point or 0)


def _first_difference(expected: _Outputs, found: _Outputs) -> int | None:
    return next((run for run, pair in enumerate(zip(expected, found, strict=True)) if pair[0] != pair[1]), None)


def _check_control(original: Model, compute: _Compute, inputs: Sequence[Sequence[bytes]], expected: _Outputs) -> None:
    """Refuse where a damaged model gives the same outputs."""
    damaged = _damaged(original)
    if damaged == original.source:
        raise ModelError("not proved: it has no weights, so that no damaged model can be tried", path=original.path)
    try:
        found = compute(damaged, inputs)
    except FirmwareError:
        return
    if _first_difference(expected, found) is None:
        raise ModelError("not proved: with damaged weights the outputs are the same on all inputs", path=original.path)


def _weights(model: Model) -> Iterator[Tensor]:
    for subgraph in model.subgraphs:
        for operator in subgraph.operators:
            for index in operator.input_tensors[_WEIGHTS : _WEIGHTS + 1]:
                tensor = subgraph.tensors[index] if index >= 0 else None
                if tensor and STRUCT_CODES.get(tensor.type) in _WEIGHT_TYPES and model.tensor_data(tensor) is not None:
                    yield tensor


def _damaged(model: Model) -> bytes:
    """Return a model with all its weights inverted, bit by bit."""
    data = bytearray(model.source)
    for number in {tensor.buffer for tensor in _weights(model)}:
        buffer = model.buffers[number]
        assert buffer.data is not None, "it was seen to have data"
        end = buffer.address + len(buffer.data)
        data[buffer.address : end] = bytes(byte ^ 0xFF for byte in buffer.data)
    return bytes(data)
