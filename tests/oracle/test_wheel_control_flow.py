"""IF, WHILE, CALL_ONCE and resource variables do in the wheel what they do in our simulation of it."""

from __future__ import annotations

import pytest

from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType as T

SHAPE = (4,)


def _negate(builder):
    """Add a subgraph that negates its input; return its index."""
    graph = builder.add_subgraph()
    source, result = graph.tensor(SHAPE, T.FLOAT32), graph.tensor(SHAPE, T.FLOAT32)
    graph.operator("NEG", [source], [result])
    graph.inputs, graph.outputs = [source], [result]
    return graph.index


def _less_than_zero(builder):
    """Add a subgraph that compares its input with 0; return its index."""
    graph = builder.add_subgraph()
    source, zero = graph.tensor(SHAPE, T.FLOAT32), graph.tensor((1,), T.FLOAT32, data=[0.0])
    result = graph.tensor(SHAPE, T.BOOL)
    graph.operator("LESS", [source, zero], [result])
    graph.inputs, graph.outputs = [source], [result]
    return graph.index


def _assign(builder, name):
    """Add a subgraph that assigns a constant to a variable; return its index."""
    graph = builder.add_subgraph()
    handle, value = graph.tensor((), T.RESOURCE), graph.tensor(SHAPE, T.FLOAT32, data=[1.0] * 4)
    graph.operator("VAR_HANDLE", [], [handle], options={"shared_name": name, "container": ""})
    graph.operator("ASSIGN_VARIABLE", [handle, value], [])
    graph.inputs, graph.outputs = [], []
    return graph.index


def _if(*, shape=(1,), type_=T.BOOL, count=1, then=1):
    builder = ModelBuilder()
    _negate(builder)
    _negate(builder)
    condition = builder.tensor(shape, type_)
    source, result = builder.tensor(SHAPE, T.FLOAT32), builder.tensor(SHAPE, T.FLOAT32)
    options = {"then_subgraph_index": then, "else_subgraph_index": 2}
    builder.operator("IF", [condition, *[source] * count], [result], options=options)
    return builder.build(inputs=[condition, source], outputs=[result])


def _while(*, count=1, condition=2):
    builder = ModelBuilder()
    _negate(builder)
    _less_than_zero(builder)
    source, result = builder.tensor(SHAPE, T.FLOAT32), builder.tensor(SHAPE, T.FLOAT32)
    options = {"cond_subgraph_index": condition, "body_subgraph_index": 1}
    builder.operator("WHILE", [source] * count, [result], options=options)
    return builder.build(inputs=[source], outputs=[result])


def _call_once(*, inputs=0, subgraph=1, name="state", assign=False):
    builder = ModelBuilder()
    _assign(builder, "state")
    source, result = builder.tensor(SHAPE, T.FLOAT32), builder.tensor(SHAPE, T.FLOAT32)
    handle = builder.tensor((), T.RESOURCE)
    builder.operator("CALL_ONCE", [source] * inputs, [], options={"init_subgraph_index": subgraph})
    builder.operator("VAR_HANDLE", [], [handle], options={"shared_name": name, "container": ""})
    builder.operator("READ_VARIABLE", [handle], [result])
    if assign:
        builder.operator("ASSIGN_VARIABLE", [handle, source], [])
    return builder.build(inputs=[source], outputs=[result])


@pytest.mark.parametrize("model", [
    _if(),
    _if(shape=()),
    _while(),
    _call_once(),
    _call_once(assign=True),
    _call_once(name="another"),
    _call_once(name="another", assign=True),
])  # fmt: skip
def test_subgraphs_and_variables(same_as_wheel, model):
    assert same_as_wheel(model).status == "ok"


@pytest.mark.parametrize("model", [
    _if(type_=T.INT8),
    _if(shape=(2,)),
    _if(count=2),
    _if(then=5),
    _while(count=2),
    _while(condition=9),
    _call_once(inputs=1),
    _call_once(subgraph=7),
])  # fmt: skip
def test_refusals(same_as_wheel, model):
    assert same_as_wheel(model).status == "error"
