"""Random models with IF and WHILE between layers; their subgraphs are layers, too, and may keep states."""

from __future__ import annotations

import random
from typing import Any

from shrinking_models import INT32, Layers, random_step
from stateful_models import queue, running_sum

from tflm_sim.model.types import Model, TensorType

MOST_TURNS = 3


def random_control_flow(seed: int) -> Model:
    """Return a model of 3 to 9 layers, int8, of which one to three are IFs or WHILEs."""
    rng = random.Random(seed)
    layers = Layers(seed)
    x = layers.activation((1, rng.randint(3, 14), rng.randint(3, 14), rng.choice((1, 2, 4, 8))))
    condition = layers.b.tensor((1,), TensorType.BOOL, name="condition")
    turns = layers.b.tensor((1,), INT32, name="turns")
    made, inputs = [x], [x]
    left = rng.randint(1, 3)
    for _ in range(rng.randint(3, 9)):
        source = made[-1] if rng.random() < 0.75 else rng.choice(made)
        if rng.random() < 0.15:
            made.append(rng.choice((queue, running_sum))(layers, rng, source, f"state{len(made)}"))
            continue
        if left and rng.random() < 0.4:
            left -= 1
            if rng.random() < 0.5:
                made.append(_if(layers, rng, condition, source))
                inputs += [condition] if condition not in inputs else []
            else:
                is_counted = rng.random() < 0.4
                made.append(_while(layers, rng, None if is_counted else turns, source))
                inputs += [turns] if not is_counted and turns not in inputs else []
            continue
        found = random_step(layers, rng, source, made)
        made += [] if found is None else [found]
    while left == 3 or len(made) < 4:
        left -= 1
        made.append(_if(layers, rng, condition, made[-1]))
        inputs += [condition] if condition not in inputs else []
    outputs = [made[-1]]
    if rng.random() < 0.3:
        outputs.append(rng.choice(made[1:-1]))
    return layers.model(inputs, outputs)


def _inside(layers: Layers, rng: random.Random) -> Layers:
    """Return layers in a subgraph of their own."""
    inner = Layers(rng.randrange(1 << 20))
    inner.b = layers.b.add_subgraph()  # type: ignore[assignment]  # it has what layers call
    return inner


def _body(inner: Layers, rng: random.Random, x: int) -> int:
    """Return what one to three layers that keep the shape make of ``x``."""
    y = x
    for _ in range(rng.randint(1, 3)):
        depth, kind = inner.shapes[y][3], rng.choice(("conv", "depthwise", "unary", "add", "state"))
        if kind == "conv":
            y = inner.conv(y, depth, kernel=rng.choice((1, 3)))
        elif kind == "depthwise":
            y = inner.depthwise(y)
        elif kind == "unary":
            y = inner.elementwise(rng.choice(("RELU", "LEAKY_RELU")), y)
        elif kind == "state":
            y = _sum_within(inner, y, f"inner {rng.randrange(2)} of {inner.shapes[y]}")
        else:
            y = inner.add(y, x)
    return y


def _sum_within(inner: Layers, x: int, name: str) -> int:
    """Return the sum of all that came here, which other subgraphs add to as well."""
    handle, before = inner.b.tensor((), TensorType.RESOURCE), inner.activation(inner.shapes[x])
    inner.b.operator("VAR_HANDLE", [], [handle], options={"shared_name": name})
    inner.b.operator("READ_VARIABLE", [handle], [before])
    total = inner.add(before, x)
    inner.b.operator("ASSIGN_VARIABLE", [handle, total], [])
    return total


def _if(layers: Layers, rng: random.Random, condition: int, x: int) -> int:
    indices = []
    for _ in range(2):
        inner = _inside(layers, rng)
        source = inner.activation(layers.shapes[x])
        inner.b.inputs, inner.b.outputs = [source], [_body(inner, rng, source)]  # type: ignore[attr-defined]
        indices.append(inner.b.index)  # type: ignore[attr-defined]
    y = layers.activation(layers.shapes[x])
    options = {"then_subgraph_index": indices[0], "else_subgraph_index": indices[1]}
    layers.b.operator("IF", [condition, x], [y], options=options)
    return y


def _while(layers: Layers, rng: random.Random, turns: int | None, x: int) -> int:
    """Add a loop that counts up to ``turns`` (at most ``MOST_TURNS``), or to a constant."""
    b = layers.b
    start = b.tensor((1,), INT32, data=[0])
    limit = b.tensor((1,), INT32, data=[rng.randint(0, MOST_TURNS)])
    if turns is not None:
        constant, limit = b.tensor((1,), INT32, data=[MOST_TURNS]), b.tensor((1,), INT32)
        b.operator("MINIMUM", [turns, constant], [limit])
    looks, runs = _inside(layers, rng), _inside(layers, rng)
    for inner in (looks, runs):
        c: Any = inner.b
        counter, most, value = c.tensor((1,), INT32), c.tensor((1,), INT32), inner.activation(layers.shapes[x])
        c.inputs = [counter, most, value]
        if inner is looks:
            goes_on = c.tensor((1,), TensorType.BOOL)
            c.operator("LESS", [counter, most], [goes_on])
            c.outputs = [goes_on]
        else:
            one, following = c.tensor((1,), INT32, data=[1]), c.tensor((1,), INT32)
            c.operator("ADD", [counter, one], [following])
            c.outputs = [following, most, _body(inner, rng, value)]
    y = layers.activation(layers.shapes[x])
    ends = [b.tensor((1,), INT32), b.tensor((1,), INT32), y]
    indices = {"cond_subgraph_index": looks.b.index, "body_subgraph_index": runs.b.index}  # type: ignore[attr-defined]
    b.operator("WHILE", [start, limit, x], ends, options=indices)
    return y
