"""One fault put into a small model at random: a shape, a type, scales, values, another tensor, an option, a version."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from math import prod

from tflm_sim.model.encode import encode
from tflm_sim.model.load import parse
from tflm_sim.model.schema import BUILTIN_OPERATORS, BUILTIN_OPTIONS, option_fields
from tflm_sim.model.types import ConstantData, Model, Operator, Quantization, Tensor, TensorType

TYPES = tuple(TensorType[name] for name in ["FLOAT32", "INT8", "INT32", "INT64", "BOOL", "UINT8", "INT16", "FLOAT16"])
WIDTHS = {
    TensorType.INT8: 1,
    TensorType.UINT8: 1,
    TensorType.BOOL: 1,
    TensorType.INT16: 2,
    TensorType.FLOAT16: 2,
    TensorType.FLOAT32: 4,
    TensorType.INT32: 4,
}
LARGEST_CONSTANT = 10_000
SCALES = (None, Quantization((0.5,), (0,)), Quantization((0.5,), (3,)), Quantization((1 / 256,), (-128,)))
ODD_SCALES = (0.0, -0.0, -0.5, 1e-45, 1e-10, 3e38, math.inf, -math.inf, math.nan, 1.0, 2.0**-15)
ODD_ZERO_POINTS = (0, 1, -128, 127, 255, 2**15, 2**31 - 1, 2**31, -(2**31) - 1, -(2**40), 2**63 - 1)


KINDS = (
    "shape", "type", "scale", "shape", "type", "inputs", "options", "version", "huge", "values", "values", "build",
    "odd scale", "odd scale", "activation", "table", "operator",
)  # fmt: skip
SIZES = (0, 7, 1000, 65536, 2**20, 2**24, 2**31 - 1, -1)
NUMBERS = (-2, -1, 0, 0, 1, 1, 2, 3, 5, 7, 127)


def mutated(data: bytes, seed: int) -> bytes:
    """Return a model with one fault in an operator of its first subgraph."""
    rng, model = random.Random(seed), parse(data)
    graph = model.subgraphs[0]
    if not graph.operators:
        return data
    place = rng.randrange(len(graph.operators))
    operator = graph.operators[place]
    used = sorted({index for index in (*(operator.inputs or ()), *(operator.outputs or ())) if index >= 0})
    kind = rng.choice(KINDS)
    if kind == "version":
        codes = [replace(code, version=rng.randint(1, 9)) for code in model.operator_codes]
        return encode(replace(model, operator_codes=tuple(codes)))
    tensors = list(graph.tensors)
    if kind == "operator":
        code = replace(rng.choice(model.operator_codes), builtin_code=(number := rng.randrange(len(BUILTIN_OPERATORS))))
        code = replace(code, raw_builtin_code=number, custom_code=None)
        model = replace(model, operator_codes=(*model.operator_codes, code))
        operator = replace(operator, opcode_index=len(model.operator_codes) - 1)
    elif kind in ("inputs", "options", "activation", "table"):
        operator = _damaged(rng, kind, operator, len(tensors))
    elif used:
        index = rng.choice(used)
        tensors[index], model = _changed(rng, kind, tensors[index], model)
    operators = (*graph.operators[:place], operator, *graph.operators[place + 1 :])
    graph = replace(graph, tensors=tuple(tensors), operators=operators)
    return encode(replace(model, subgraphs=(graph, *model.subgraphs[1:])))


def _changed(rng: random.Random, kind: str, tensor: Tensor, model: Model) -> tuple[Tensor, Model]:
    """Return a tensor with another shape, type, quantization or values; a constant of another size gets new ones."""
    if kind == "scale":
        return replace(tensor, quantization=rng.choice(SCALES)), model
    if kind == "odd scale":
        count = max(1, len(tensor.quantization.scale) if tensor.quantization else 1)
        scale = tuple(rng.choice(ODD_SCALES) for _ in range(count))
        zero_point = tuple(rng.choice(ODD_ZERO_POINTS) for _ in range(count))
        axis = tensor.quantization.quantized_dimension if tensor.quantization else 0
        return replace(tensor, quantization=Quantization(scale, zero_point, axis)), model
    if kind == "build":
        return _unbuildable(rng, tensor), model
    if kind == "type":
        tensor = replace(tensor, type=rng.choice(TYPES))
    elif kind == "huge" and tensor.shape:
        shape = list(tensor.shape)
        shape[rng.randrange(len(shape))] = rng.choice(SIZES)
        tensor = replace(tensor, shape=tuple(shape))
    elif kind == "shape":
        tensor = replace(tensor, shape=_reshaped(rng, list(tensor.shape or ())))
    count = prod(tensor.shape or ())
    is_constant = tensor.buffer < len(model.buffers) and model.buffers[tensor.buffer].data is not None
    if not is_constant or not 0 <= count < LARGEST_CONSTANT:
        return tensor, model
    values = [rng.choice(NUMBERS) if kind == "values" else 0 for _ in range(count)]
    width = WIDTHS.get(tensor.type, 8)
    data = ConstantData(memoryview(b"".join(value.to_bytes(width, "little", signed=True) for value in values)))
    return replace(tensor, buffer=len(model.buffers)), replace(model, buffers=(*model.buffers, data))


def _unbuildable(rng: random.Random, tensor: Tensor) -> Tensor:
    """Return a tensor that the runtime refuses while it reads the model, more often than not."""
    scales, zeros = rng.choice((0, 1, 2, 3)), rng.choice((0, 1, 2, 3))
    axis = rng.choice((0, 0, 1, 7, -1))
    quantization = Quantization((0.5,) * scales, (0,) * zeros, quantized_dimension=axis)
    changes = (
        {"quantization": quantization},
        {"quantization": quantization},
        {"buffer": 99},
        {"is_variable": True},
        {"type": 99},
    )
    return replace(tensor, **rng.choice(changes))


def _reshaped(rng: random.Random, shape: list[int]) -> tuple[int, ...]:
    change = rng.choice(("longer", "shorter", "larger", "scalar"))
    if change == "longer":
        shape.insert(rng.randint(0, len(shape)), rng.choice((1, 2)))
    elif change == "scalar":
        shape = []
    elif shape and change == "shorter":
        shape.pop()
    elif shape:
        place = rng.randrange(len(shape))
        shape[place] = min(shape[place] + 1, max(SIZES))
    return tuple(shape)


def _damaged(rng: random.Random, kind: str, operator: Operator, tensors: int) -> Operator:
    """Return an operator without one of its inputs or with another one, or with another option or table of them."""
    if kind == "table":
        table = rng.choice(BUILTIN_OPTIONS)
        options = {field.name: field.default for field in option_fields(table) if field.default is not None}
        return replace(operator, options_type=table, options=options)
    if kind == "activation" and "fused_activation_function" in operator.options:
        return replace(operator, options={**operator.options, "fused_activation_function": rng.randrange(6)})
    inputs = list(operator.inputs or ())
    if kind == "inputs" and inputs:
        change = rng.choice(("absent", "fewer", "other"))
        if change == "fewer":
            inputs.pop()
        else:
            inputs[rng.randrange(len(inputs))] = -1 if change == "absent" else rng.randrange(tensors)
        return replace(operator, inputs=tuple(inputs))
    numbers = sorted(name for name, value in operator.options.items() if isinstance(value, int | tuple))
    if kind == "options" and numbers:
        name = rng.choice(numbers)
        value, number = operator.options[name], rng.choice(NUMBERS)
        if isinstance(value, tuple):
            value = tuple(number if rng.random() < 0.5 else one for one in value)
        else:
            value = not value if isinstance(value, bool) else number
        return replace(operator, options={**operator.options, name: value})
    return operator


def with_type(data: bytes, kind: int) -> bytes:
    """Return a model in which every tensor of the type of the first operator's first input has another type."""
    model = parse(data)
    graph = model.subgraphs[0]
    first = next(index for index in graph.operators[0].inputs or () if index >= 0)
    buffers, tensors = list(model.buffers), []
    for tensor in graph.tensors:
        if tensor.type == graph.tensors[first].type:
            tensor = replace(tensor, type=int(kind))
            if buffers[tensor.buffer].data is not None:
                buffers.append(ConstantData(memoryview(bytes(16 * max(1, prod(tensor.shape or ()))))))
                tensor = replace(tensor, buffer=len(buffers) - 1)
        tensors.append(tensor)
    graph = replace(graph, tensors=tuple(tensors))
    return encode(replace(model, buffers=tuple(buffers), subgraphs=(graph, *model.subgraphs[1:])))


def without_inputs(data: bytes) -> list[bytes]:
    """Return a model for each input that the first operator has: the one that lacks it."""
    model = parse(data)
    graph = model.subgraphs[0]
    operator, models = graph.operators[0], []
    for place, index in enumerate(operator.inputs or ()):
        if index >= 0:
            inputs = tuple(-1 if place == at else one for at, one in enumerate(operator.inputs or ()))
            changed = replace(graph, operators=(replace(operator, inputs=inputs), *graph.operators[1:]))
            models.append(encode(replace(model, subgraphs=(changed, *model.subgraphs[1:]))))
    return models
