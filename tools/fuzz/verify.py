"""Change what shrink made of random models, and compare what verify() says of it with the real TFLM (the pip wheel).

    python tools fuzz verify --count 2000 --jobs 2 [--first NUMBER]
    python tools fuzz verify --only 4711 --keep case.tflite      one case again, and the file that was changed

A model is one of tools/fuzz/shrink.py's; one in three stays as it is, the others are shrunk. One to three of an
operator's options, operands and order, of a tensor's shape, type and quantization, and of a constant's bytes are
changed. verify() must refuse the result, or the wheel must run it and give the original's bytes. It may raise its own
error only, in the memory of --memory. Exit code 1 at a difference.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import struct
import sys
from functools import lru_cache
from typing import Any

import numpy as np
from fuzz import shrink as fuzz_shrink  # it adds the path of the next
from fuzz.fuzzer import DiffersError, Fuzzer
from tflite_micro.python.tflite_micro import runtime

import shrinking_models as models  # isort: skip

from dataclasses import replace

from tflm_sim import parse
from tflm_sim.errors import ModelError, TflmSimError
from tflm_sim.extensions.shrink.verify import VerificationFailed, verify
from tflm_sim.extensions.shrink.wheel_worker import ROOMY, stimulus
from tflm_sim.model.draft import Draft
from tflm_sim.model.encode import encode
from tflm_sim.model.types import Model, Quantization, TensorType

CASES_A_MODEL = 50
RUNS = 6
WHEEL_SECONDS = 20
NUMBERS = (-(2**31), -1000, -2, -1, 0, 1, 2, 3, 4, 5, 7, 16, 100, 4096, 65536, 2**24, 2**31 - 1)
TYPES = (TensorType.FLOAT32, TensorType.INT32, TensorType.INT64, TensorType.BOOL, TensorType.INT16, TensorType.INT8)


@lru_cache(maxsize=2)
def pair(seed: int) -> tuple[bytes, bytes]:
    """Return the file of a random model and what shrink made of it."""
    make = models.random_elementwise if seed % 5 == 0 else models.random_model
    data = bytes(make(seed).source)
    if seed % 3 == 0:
        return data, data
    try:
        return data, fuzz_shrink.shrunk_at_random(parse(data), seed).data
    except TflmSimError:
        return data, data


def change_option(rng: random.Random, draft: Draft) -> str:
    """Change an option of an operator."""
    index = rng.randrange(len(draft.operators))
    operator = draft.operators[index]
    numbers = {name: value for name, value in operator.options.items() if isinstance(value, int | float)}
    if not numbers:
        return ""
    name, old = rng.choice(list(numbers.items()))
    new = not old if isinstance(old, bool) else rng.choice((old + 1, old - 1, rng.choice(NUMBERS)))
    draft.operators[index] = replace(operator, options={**operator.options, name: new})
    return f"#{index} {draft.name(operator)}.{name}: {old} to {new}"


def change_operand(rng: random.Random, draft: Draft) -> str:
    """Name another tensor, leave one out, or swap two."""
    index = rng.randrange(len(draft.operators))
    operator = draft.operators[index]
    which = rng.choice(("inputs", "inputs", "outputs"))
    operands = list(getattr(operator, which) or ())
    if not operands:
        return ""
    place = rng.randrange(len(operands))
    how = rng.choice(("other", "swap", "drop", "absent"))
    if how == "other":
        operands[place] = rng.randrange(len(draft.tensors))
    elif how == "swap":
        rng.shuffle(operands)
    elif how == "drop":
        del operands[place]
    else:
        operands[place] = -1
    found = tuple(operands)
    is_input = which == "inputs"
    changed = replace(operator, inputs=found) if is_input else replace(operator, outputs=found)
    draft.operators[index] = changed
    return f"#{index} {which}: {how}"


def change_order(rng: random.Random, draft: Draft) -> str:
    """Swap two operators, double one, or leave one out."""
    one, other = (rng.randrange(len(draft.operators)) for _ in range(2))
    how = rng.choice(("swap", "double", "drop"))
    if how == "swap":
        draft.operators[one], draft.operators[other] = draft.operators[other], draft.operators[one]
    elif how == "double":
        draft.operators.insert(one, draft.operators[other])
    elif len(draft.operators) > 1:
        del draft.operators[one]
    return f"operators {one}, {other}: {how}"


def change_tensor(rng: random.Random, draft: Draft) -> str:
    """Change a tensor's shape, type, quantization, or whether it is a variable."""
    index = rng.randrange(len(draft.tensors))
    tensor = draft.tensors[index]
    how = rng.choice(("shape", "type", "quantization", "is_variable"))
    if how == "shape":
        shape = list(tensor.shape or ())
        if shape and rng.random() < 0.7:
            shape[rng.randrange(len(shape))] = rng.choice(NUMBERS)
        else:
            rng.shuffle(shape)
            shape = shape[: rng.randrange(5)]
        draft.tensors[index] = replace(tensor, shape=tuple(shape))
    elif how == "type":
        draft.tensors[index] = replace(tensor, type=rng.choice(TYPES))
    elif how == "is_variable":
        draft.tensors[index] = replace(tensor, is_variable=not tensor.is_variable)
    else:
        draft.tensors[index] = replace(tensor, quantization=_requantized(rng, tensor.quantization))
    return f"tensor {index}: {how}"


def _requantized(rng: random.Random, quantization: Quantization | None) -> Quantization | None:
    if quantization is None or not len(quantization.scale) or rng.random() < 0.1:
        return None
    scale, points = list(quantization.scale), list(quantization.zero_point)
    place = rng.randrange(len(scale))
    how = rng.randrange(4)
    if how == 0:
        scale[place] = float(np.float32(scale[place] * rng.choice((0.5, 2.0, 1.001, -1.0, 0.0))))
    elif how == 1 and points:
        points[rng.randrange(len(points))] += rng.choice((-1, 1, 1000))
    elif how == 2:
        del scale[place]
    else:
        return Quantization(scale, points, rng.randrange(-1, 5))
    return Quantization(scale, points, quantization.quantized_dimension)


def change_constant(rng: random.Random, draft: Draft) -> str:
    """Change a byte of a constant, or a whole number of it."""
    there = [index for index, tensor in enumerate(draft.tensors) if draft.data(index)]
    if not there:
        return ""
    index = rng.choice(there)
    data = bytearray(draft.data(index) or b"")
    if draft.tensors[index].type == TensorType.INT32 and len(data) >= 4 and rng.random() < 0.8:
        place = 4 * rng.randrange(len(data) // 4)
        data[place : place + 4] = rng.choice(NUMBERS).to_bytes(4, "little", signed=True)
    else:
        place = rng.randrange(len(data))
        data[place] ^= 1 << rng.randrange(8)
    changed = draft.add_tensor((), TensorType.INT8, data=bytes(data))
    draft.tensors[index] = replace(draft.tensors[index], buffer=draft.tensors[changed].buffer)
    return f"constant {index} at {place}"


CHANGES = (change_option, change_option, change_operand, change_order, change_tensor, change_constant, change_constant)


def make_case(number: int, options: argparse.Namespace) -> tuple[str, bytes, Any]:
    """Return a changed result: what was changed, its bytes, and the original's."""
    rng = random.Random(f"{options.seed}.{number}")
    original, result = pair(number // CASES_A_MODEL)
    draft = Draft(parse(result))
    said = [rng.choice(CHANGES)(rng, draft) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    try:
        return "; ".join(filter(None, said)), encode(draft.model()), original
    except (TflmSimError, ValueError, OverflowError, IndexError, struct.error) as error:
        return f"cannot be written: {error}", b"", original


def wheel_says(original: bytes, result: bytes, model: Model) -> str:
    """Return "same", or how the wheel's outputs differ; each run is a process of its own, which may die."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (WHEEL_SECONDS, WHEEL_SECONDS))  # a WHILE may have no end
        os.close(read)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(write, _compared(original, result, model).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode()
    status = os.waitpid(child, 0)[1]
    return said or f"the wheel is ended by signal {os.WTERMSIG(status)}"


def _compared(original: bytes, result: bytes, model: Model) -> str:
    rng, main = np.random.default_rng(24), model.subgraphs[0]
    try:
        both = [runtime.Interpreter.from_bytes(data, arena_size=ROOMY) for data in (original, result)]
    except RuntimeError:
        return "the wheel does not allocate it"
    for run in range(RUNS):
        details = [both[0].get_input_details(index) for index in range(len(main.input_tensors))]
        inputs = [stimulus(rng, np.dtype(each["dtype"]), tuple(each["shape"]), run) for each in details]
        outputs = []
        for each in both:
            try:
                for index, values in enumerate(inputs):
                    each.set_input(values, index)
                each.invoke()
            except (RuntimeError, ValueError):
                return "the original cannot be invoked" if each is both[0] else "the wheel does not invoke it"
            outputs.append([each.get_output(index).tobytes() for index in range(len(main.output_tensors))])
        if outputs[0] != outputs[1]:
            return f"other bytes in run {run}"
    return "same"


def run(data: bytes, original: bytes, options: argparse.Namespace) -> str:
    """Verify a changed result; run what is accepted in the wheel as well.

    Raises:
        DiffersError: verify() accepts what the wheel runs otherwise.
    """
    if not data:
        return "cannot be written"
    try:
        before, after = parse(original), parse(data)
    except ModelError:
        return "not a model"
    try:
        verify(before, after)
    except VerificationFailed as refusal:
        return "refused: " + re.sub(r"\d[\d,]*", "N", re.sub(r"#\d+ \w+", "#", str(refusal)[9:45])).rsplit(" ", 1)[0]
    said = wheel_says(original, data, before)
    if said not in ("same", "the original cannot be invoked"):
        raise DiffersError(said)
    return f"accepted: {said}"


FUZZER = Fuzzer(
    doc=__doc__, defaults={"count": 1000, "limit": 30.0, "memory": 4096}, make_case=make_case, run=run, expected=()
)

if __name__ == "__main__":
    sys.exit(FUZZER.main())
