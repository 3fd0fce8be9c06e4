"""One fault put into a small model at random: a shape, a type, scales, a missing tensor, an option, a version."""

from __future__ import annotations

import random
from dataclasses import replace
from math import prod

from tflm_sim.model.encode import encode
from tflm_sim.model.load import parse
from tflm_sim.model.types import Buffer, Model, Operator, Quantization, Tensor, TensorType

TYPES = tuple(TensorType[name] for name in ["FLOAT32", "INT8", "INT32", "INT64", "BOOL", "UINT8", "INT16", "FLOAT16"])
SCALES = (None, Quantization((0.5,), (0,)), Quantization((0.5,), (3,)), Quantization((1 / 256,), (-128,)))


def mutated(data: bytes, seed: int) -> bytes:
    """Return a model with one fault in the first operator of its first subgraph."""
    rng, model = random.Random(seed), parse(data)
    graph = model.subgraphs[0]
    operator = graph.operators[0]
    used = sorted({index for index in (*(operator.inputs or ()), *(operator.outputs or ())) if index >= 0})
    kind = rng.choice(("shape", "type", "scale", "shape", "type", "inputs", "options", "version"))
    if kind == "version":
        codes = [replace(code, version=rng.randint(1, 9)) for code in model.operator_codes]
        return encode(replace(model, operator_codes=tuple(codes)))
    tensors = list(graph.tensors)
    if kind in ("shape", "type", "scale") and used:
        index = rng.choice(used)
        tensors[index], model = _changed(rng, kind, tensors[index], model)
    elif kind in ("inputs", "options"):
        operator = _damaged(rng, kind, operator)
    graph = replace(graph, tensors=tuple(tensors), operators=(operator, *graph.operators[1:]))
    return encode(replace(model, subgraphs=(graph, *model.subgraphs[1:])))


def _changed(rng: random.Random, kind: str, tensor: Tensor, model: Model) -> tuple[Tensor, Model]:
    """Return a tensor with another shape, type or quantization; a constant's bytes are zeros that fit."""
    if kind == "scale":
        return replace(tensor, quantization=rng.choice(SCALES)), model
    if kind == "type":
        tensor = replace(tensor, type=rng.choice(TYPES))
    else:
        shape = list(tensor.shape or ())
        change = rng.choice(("longer", "shorter", "larger", "scalar"))
        if change == "longer":
            shape.insert(rng.randint(0, len(shape)), rng.choice((1, 2)))
        elif change == "scalar":
            shape = []
        elif shape and change == "shorter":
            shape.pop()
        elif shape:
            shape[rng.randrange(len(shape))] += 1
        tensor = replace(tensor, shape=tuple(shape))
    if model.buffers[tensor.buffer].data is None:
        return tensor, model
    zeros = Buffer(memoryview(bytes(8 * prod(tensor.shape or ()))))
    return replace(tensor, buffer=len(model.buffers)), replace(model, buffers=(*model.buffers, zeros))


def _damaged(rng: random.Random, kind: str, operator: Operator) -> Operator:
    """Return an operator without one of its inputs, or with another number for an option."""
    inputs = list(operator.inputs or ())
    if kind == "inputs" and inputs:
        if rng.random() < 0.5:
            inputs.pop()
        else:
            inputs[rng.randrange(len(inputs))] = -1
        return replace(operator, inputs=tuple(inputs))
    numbers = sorted(name for name, value in operator.options.items() if type(value) is int)
    if kind == "options" and numbers:
        return replace(operator, options={**operator.options, rng.choice(numbers): rng.choice((0, 1, 2, 3, 5))})
    return operator
