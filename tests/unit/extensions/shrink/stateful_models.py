"""Random streaming models: queues and sums in resource variables, SVDFs and LSTMs, one or two inputs."""

from __future__ import annotations

import random
from math import prod

from shrinking_models import INT8, INT16, INT32, POINT, Layers

from tflm_sim.model.types import Model, TensorType


def random_state_model(seed: int) -> Model:
    """Return 1 to 4 operators with a state and up to 5 others between them, int8, outputs taken anywhere."""
    rng = random.Random(seed)
    layers = Layers(seed)
    shape = (1, rng.choice((1, 1, 2)), rng.choice((1, 4, 9)), rng.choice((4, 16, 32)))
    inputs = [layers.activation(shape) for _ in range(rng.choice((1, 1, 2)))]
    made = [*inputs, layers.add(*inputs)] if len(inputs) == 2 else [*inputs]
    for number in range(rng.randint(1, 4)):
        source = made[-1] if rng.random() < 0.7 else rng.choice(made)
        add_state = rng.choice((queue, queue, running_sum, _svdf, _lstm))
        made.append(add_state(layers, rng, source, f"state{number}"))
        if rng.random() < 0.6:
            made.append(_stateless(layers, rng, made[-1]))
    outputs = [made[-1]]
    if rng.random() < 0.3:
        outputs.append(rng.choice(made[len(inputs) :]))
    return layers.model(inputs, list(dict.fromkeys(outputs)))


def _stateless(layers: Layers, rng: random.Random, x: int) -> int:
    _, rows, columns, depth = layers.shapes[x]
    kind = rng.choice(("conv", "conv", "depthwise", "unary", "dense"))
    if kind == "conv":
        return layers.conv(x, rng.choice((8, 24, 48)), kernel=rng.choice((1, 3)), same=True)
    if kind == "depthwise":
        return layers.depthwise(x, kernel=(min(3, rows), 1), same=rng.random() < 0.5)
    if kind == "unary":
        return layers.elementwise(rng.choice(("RELU", "LEAKY_RELU")), x)
    count = rows * columns * depth
    flat = layers.dense(layers.reshape(x, (1, count)), 8, depth=count)
    return layers.reshape(flat, (1, 1, 1, 8))


def resource_variable(layers: Layers, rng: random.Random, shape: tuple[int, ...], name: str) -> int:
    """Return the handle of a resource variable that begins at the zero point, or with other numbers."""
    b, options = layers.b, {"shared_name": name}
    init = b.add_subgraph(name)
    inner = init.tensor((), TensorType.RESOURCE)
    is_zero = rng.random() < 0.7
    numbers = [POINT if is_zero else rng.randrange(-128, 128) for _ in range(prod(shape))]
    value = init.tensor(shape, INT8, data=numbers, scale=0.5, zero_point=POINT)
    init.operator("VAR_HANDLE", [], [inner], options=options)
    init.operator("ASSIGN_VARIABLE", [inner, value], [])
    b.operator("CALL_ONCE", [], [], options={"init_subgraph_index": init.index})
    handle = b.tensor((), TensorType.RESOURCE)
    b.operator("VAR_HANDLE", [], [handle], options=options)
    return handle


def _read(layers: Layers, handle: int, shape: tuple[int, ...]) -> int:
    found = layers.activation(shape)
    layers.b.operator("READ_VARIABLE", [handle], [found])
    return found


def queue(layers: Layers, rng: random.Random, x: int, name: str) -> int:
    """Return the last rows and the new ones; the variable keeps as many as before."""
    _, rows, columns, depth = layers.shapes[x]
    shape = (1, rng.randint(1, 4), columns, depth)
    handle = resource_variable(layers, rng, shape, name)
    whole = layers.concatenation([_read(layers, handle, shape), x], 1)
    kept = layers.activation(shape)
    end = shape[1] + rows
    bounds = [layers.integers(each) for each in ([0, rows, 0, 0], [1, end, columns, depth], [1, 1, 1, 1])]
    layers.b.operator("STRIDED_SLICE", [whole, *bounds], [kept])
    layers.b.operator("ASSIGN_VARIABLE", [handle, kept], [])
    return layers.depthwise(whole, kernel=(end, 1), same=False) if rng.random() < 0.7 else whole


def running_sum(layers: Layers, rng: random.Random, x: int, name: str) -> int:
    """Return the sum of all inputs, as it is computed or as it is read again."""
    shape = layers.shapes[x]
    handle = resource_variable(layers, rng, shape, name)
    total = layers.add(_read(layers, handle, shape), x)
    layers.b.operator("ASSIGN_VARIABLE", [handle, total], [])
    return total if rng.random() < 0.6 else _read(layers, handle, shape)


def _svdf(layers: Layers, rng: random.Random, x: int, name: str) -> int:
    """Return an SVDF over all elements of ``x``: rank 1 or 2, a memory of 2 to 6 steps in a variable tensor."""
    b, count = layers.b, prod(layers.shapes[x])
    units, rank, memory = rng.choice((4, 8)), rng.choice((1, 2)), rng.randint(2, 6)
    filters = units * rank
    feature = b.tensor((filters, count), INT8, data=_random(rng, filters * count, 127), scale=0.004)
    time = b.tensor((filters, memory), INT16, data=_random(rng, filters * memory, 32767), scale=0.0001)
    bias = b.tensor((units,), INT32, data=_random(rng, units, 500), scale=0.01 * 0.0001)
    state = b.tensor((1, filters * memory), INT16, scale=0.01, zero_point=0, is_variable=True, name=name)
    flat, y = layers.reshape(x, (1, count)), layers.activation((1, units))
    b.operator("SVDF", [flat, feature, time, bias, state], [y], options={"rank": rank})
    return layers.reshape(y, (1, 1, 1, units))


def _lstm(layers: Layers, rng: random.Random, x: int, name: str) -> int:
    """Return an LSTM over all pixels of ``x`` as its steps: 4 or 8 units, which go on in two variable tensors."""
    _, rows, columns, depth = layers.shapes[x]
    b, steps, units = layers.b, rows * columns, rng.choice((4, 8))

    def weights(given: int) -> int:
        return b.tensor((units, given), INT8, data=_random(rng, units * given, 127), scale=0.01)

    gates = [weights(depth) for _ in range(4)] + [weights(units) for _ in range(4)]
    biases = [b.tensor((units,), INT32, data=_random(rng, units, 500), scale=0.005) for _ in range(4)]
    hidden = b.tensor((1, units), INT8, scale=2.0**-7, zero_point=0, is_variable=True, name=f"{name} hidden")
    cell = b.tensor((1, units), INT16, scale=2.0**-11, zero_point=0, is_variable=True, name=f"{name} cell")
    steps_of_x = layers.reshape(x, (1, steps, depth))
    y = b.tensor((1, steps, units), INT8, scale=2.0**-7, zero_point=0)
    layers.shapes[y] = (1, steps, units)
    operands = [steps_of_x, *gates, *[-1] * 3, *biases, *[-1] * 2, hidden, cell, *[-1] * 4]
    options = {"fused_activation_function": "TANH", "cell_clip": 10.0}
    b.operator("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, [y], options=options)
    return layers.reshape(y, (1, rows, columns, units))


def _random(rng: random.Random, count: int, most: int) -> list[int]:
    return [rng.randint(-most, most) for _ in range(count)]
