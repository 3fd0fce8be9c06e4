"""Hybrid LSTMs of 2022: 8-bit weights with float32 inputs, in TFLM f2adcfc06 of 2022-05-18 on a 64-bit PC.

Each figure is of a build with the reference kernels: used in a roomy arena, the smallest in which AllocateTensors()
succeeds, and used there. What Prepare keeps may lie over temporary tensors in that arena.
"""

from __future__ import annotations

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.device.configuration import configure
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model
from tflm_sim.model.types import TensorType as T

Sizes = tuple[int, int, int, int, int]


def hybrid_lstm(type_: int, sizes: Sizes, features: str, inputs: int) -> Model:
    """Return a model of one layer.

    Args:
        type_: Of the weights.
        sizes: Sequences, steps, and elements of the input, of the cell and of the output.
        features: Among "cifg", "projection", "bias" of it, "peephole", "norm" and "time_major".
        inputs: How many the operator has, 20 or 24.
    """
    batch, steps, depth, cell, out = sizes
    builder = ModelBuilder()
    quantization = {"scale": 0.01, "zero_point": 0}

    def weights(*shape: int, there: bool = True) -> int:
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        return builder.tensor(shape, type_, data=bytes(count), **quantization) if there else -1

    def floats(size: int, *, there: bool = True) -> int:
        return builder.tensor((size,), T.FLOAT32, data=bytes(4 * size)) if there else -1

    has_gate, time_major = "cifg" not in features, "time_major" in features
    source = builder.tensor((steps, batch, depth) if time_major else (batch, steps, depth), T.FLOAT32)
    operands = [source]
    operands += [weights(cell, depth, there=i > 0 or has_gate) for i in range(4)]
    operands += [weights(cell, out, there=i > 0 or has_gate) for i in range(4)]
    operands += [weights(cell, there="peephole" in features and (i > 0 or has_gate)) for i in range(3)]
    operands += [floats(cell, there=i > 0 or has_gate) for i in range(4)]
    operands += [weights(out, cell, there="projection" in features), floats(out, there="bias" in features)]
    operands += [builder.tensor((batch, size), T.FLOAT32, is_variable=True) for size in (out, cell)]
    operands += [floats(cell, there="norm" in features and (i > 0 or has_gate)) for i in range(4)][: inputs - 20]
    result = builder.tensor((steps, batch, out) if time_major else (batch, steps, out), T.FLOAT32)
    options = {"fused_activation_function": 4, "cell_clip": 0.0, "proj_clip": 0.0, "time_major": time_major}
    builder.operator("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, [result], options=options)
    return parse(builder.build(inputs=[source], outputs=[result]))


@pytest.mark.parametrize(("type_", "sizes", "features", "inputs", "needs"), [
    (T.INT8, (1, 3, 4, 5, 5), "", 24, (2112, 3560, 2104)),
    (T.INT8, (1, 3, 4, 5, 5), "cifg peephole", 20, (2032, 3376, 2032)),
    (T.INT8, (2, 2, 7, 6, 6), "peephole time_major", 20, (2480, 4208, 2480)),
    (T.INT8, (3, 1, 2, 9, 4), "cifg projection norm", 24, (2656, 3648, 2656)),
    (T.UINT8, (1, 3, 4, 5, 5), "cifg projection bias peephole norm time_major", 24, (2176, 4104, 2168)),
    (T.UINT8, (2, 2, 7, 6, 6), "cifg projection peephole norm", 24, (2416, 4016, 2416)),
    (T.UINT8, (3, 1, 2, 9, 4), "projection bias time_major", 20, (2864, 3960, 2856)),
    (T.UINT8, (3, 1, 2, 9, 4), "projection peephole norm", 24, (3008, 4936, 3000)),
])  # fmt: skip
def test_a_hybrid_lstm_needs_what_it_needed(
    type_: int, sizes: Sizes, features: str, inputs: int, needs: tuple[int, int, int]
) -> None:
    model, where = hybrid_lstm(type_, sizes, features, inputs), configure("x86_64", runtime="f2adcfc06")
    used, smallest, used_there = needs
    assert simulate(model, where).arena_used_bytes == used
    there = simulate(model, where, arena_size=smallest)
    assert (there.status, there.arena_used_bytes) == ("ok", used_there)
    assert simulate(model, where, arena_size=smallest - 1).status == "error"
