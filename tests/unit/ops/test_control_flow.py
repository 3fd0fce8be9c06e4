"""IF, WHILE and CALL_ONCE. Subgraph 1 has one input and one output, subgraph 2 two of each, subgraph 3 no vectors."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tflm_sim.model.types import Subgraph
from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
CONDITION, VALUE = ((1,), T.BOOL), ((4,), T.FLOAT32)


def _subgraph(count):
    ends = None if count is None else (0,) * count
    return Subgraph(tensors=(), operators=(), inputs=ends, outputs=ends)


def _bench(kernel, op, inputs, outputs, **arguments):
    bench = kernel(op, inputs, outputs, **arguments)
    extra = tuple(_subgraph(count) for count in (1, 2, None))
    bench.node.model = replace(bench.node.model, subgraphs=bench.node.model.subgraphs + extra)
    return bench


def _if(kernel, inputs=(CONDITION, VALUE), outputs=(VALUE,), then=1, otherwise=1, **arguments):
    options = {"then_subgraph_index": then, "else_subgraph_index": otherwise}
    return _bench(kernel, "IF", inputs, outputs, **{"options": options, **arguments})


def _while(kernel, inputs=(VALUE,), outputs=(VALUE,), condition=1, body=1):
    options = {"cond_subgraph_index": condition, "body_subgraph_index": body}
    return _bench(kernel, "WHILE", inputs, outputs, options=options)


def _call_once(kernel, inputs=(), outputs=(), subgraph=1):
    return _bench(kernel, "CALL_ONCE", inputs, outputs, options={"init_subgraph_index": subgraph})


def test_if_takes_its_condition(kernel):
    bench = _if(kernel)
    assert bench.init() == ["persistent 8 if.OpData"]  # two ints
    assert bench.prepare() == ["temp 0", "free 0"]


def test_while_and_call_once_only_have_op_data(kernel):
    bench = _while(kernel)
    assert bench.init() == ["persistent 8 while.OpData"]  # two ints
    assert bench.prepare() == []
    bench = _call_once(kernel)
    assert bench.init() == ["persistent 8 call_once.OpData"]  # an int and a bool
    assert bench.prepare() == []


@pytest.mark.parametrize(("arguments", "message"), [
    ({"inputs": ()}, "53 node->inputs->size > 0 was not true."),
    ({"inputs": (None, VALUE)}, "60 cond != nullptr was not true."),
    ({"inputs": (VALUE, VALUE)}, "61 cond->type != kTfLiteBool (1 != 6)"),
    ({"then": 4}, "74 op_data->then_subgraph_index < graph_info.NumSubgraphs() was not true."),
    ({"otherwise": 4}, "76 op_data->else_subgraph_index < graph_info.NumSubgraphs() was not true."),
    ({"then": 2}, "79 num_inputs != graph_info.NumSubgraphInputs(op_data->then_subgraph_index) (1 != 2)"),
    ({"outputs": (VALUE, VALUE)},
     "81 num_outputs != graph_info.NumSubgraphOutputs(op_data->then_subgraph_index) (2 != 1)"),
])  # fmt: skip
def test_if_refusals(kernel, arguments, message):
    assert _if(kernel, **arguments).refusal() == f"{KERNELS}if.cc:{message}"


@pytest.mark.parametrize(("target", "numbers"), [("x86_64", "3 != 1"), ("cortex-m4", "3 != 0")])
def test_a_32_bit_device_prints_the_upper_half_of_a_64_bit_count(kernel, target, numbers):
    bench = _if(kernel, inputs=(((3,), T.BOOL), VALUE), target=target)
    assert bench.refusal() == f"{KERNELS}if.cc:62 NumElements(cond) != 1 ({numbers})"


@pytest.mark.parametrize("arguments", [{"inputs": None}, {"then": -1}, {"then": 3}, {"refuse": "persistent"}])
def test_if_halts(kernel, arguments):
    assert _if(kernel, **arguments).refusal().startswith("halts: ")


def test_options_of_another_operator_leave_both_indices_at_0(kernel):
    bench = _if(kernel, then=9, options={"axis": 9}, options_type="GatherOptions")
    message = "79 num_inputs != graph_info.NumSubgraphInputs(op_data->then_subgraph_index) (1 != 0)"
    assert bench.refusal() == f"{KERNELS}if.cc:{message}"


@pytest.mark.parametrize(("arguments", "message"), [
    ({"condition": 4}, "60 op_data->cond_subgraph_index < graph_info.NumSubgraphs() was not true."),
    ({"body": 4}, "62 op_data->body_subgraph_index < graph_info.NumSubgraphs() was not true."),
    ({"condition": 2}, "65 num_inputs != graph_info.NumSubgraphInputs(op_data->cond_subgraph_index) (1 != 2)"),
    ({"body": 2}, "67 num_inputs != graph_info.NumSubgraphInputs(op_data->body_subgraph_index) (1 != 2)"),
    ({"outputs": ()}, "69 num_inputs != num_outputs (1 != 0)"),
])  # fmt: skip
def test_while_refusals(kernel, arguments, message):
    assert _while(kernel, **arguments).refusal() == f"{KERNELS}while.cc:{message}"


@pytest.mark.parametrize("arguments", [{"inputs": None}, {"outputs": None}, {"condition": -1}, {"body": 3}])
def test_while_halts(kernel, arguments):
    assert _while(kernel, **arguments).refusal().startswith("halts: ")


@pytest.mark.parametrize(("arguments", "message"), [
    ({"inputs": (VALUE,)}, "51 NumInputs(node) == 0 was not true."),
    ({"outputs": (VALUE,)}, "52 NumOutputs(node) == 0 was not true."),
    ({"subgraph": 4}, "57 op_data->init_subgraph_index < graph_info.NumSubgraphs() was not true."),
])  # fmt: skip
def test_call_once_refusals(kernel, arguments, message):
    assert _call_once(kernel, **arguments).refusal() == f"{KERNELS}call_once.cc:{message}"
