"""Operators that run other subgraphs: IF, WHILE, CALL_ONCE.

Source: tensorflow/lite/micro/kernels/{if,while,call_once}.cc and micro_interpreter_graph.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import Subgraph, TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.node_checks import int_option, require_op_data
from tflm_sim.ops.requests import Steps
from tflm_sim.ops.roles import abort, ensure, ensure_c_types_eq, ensure_count_eq, ensure_eq, free, input_tensor, op_data

_GRAPH = "tensorflow/lite/micro/micro_interpreter_graph.cc"


def _subgraph(node: Node, index: int) -> Subgraph:
    """Return a subgraph whose index was compared with NumSubgraphs() only from above."""
    if index < 0:
        raise abort(_GRAPH, "subgraph_idx >= 0")
    return node.model.subgraphs[index]


def _input_count(node: Node, index: int) -> int:
    """``NumSubgraphInputs``."""
    inputs = _subgraph(node, index).inputs
    if inputs is None:
        raise abort(_GRAPH, "inputs() != nullptr")
    return len(inputs)


def _output_count(node: Node, index: int) -> int:
    """``NumSubgraphOutputs``."""
    return len(_subgraph(node, index).outputs or ())


def _subgraph_option(node: Node, table: str, name: str, place: str) -> int:
    """Read a subgraph index from the options and hold it against NumSubgraphs()."""
    index = int_option(node, table, name)
    ensure(index < len(node.model.subgraphs), place, f"op_data->{name} < graph_info.NumSubgraphs()")
    return index


def _prepare_if(node: Node) -> Steps[None]:
    require_op_data(node, "if.cc:50", "op_data")
    if node.operator.inputs is None:
        raise abort("if.cc:53", "node->inputs != nullptr")
    ensure(len(node.inputs) > 0, "if.cc:53", "node->inputs->size > 0")
    condition = yield from input_tensor(node, 0, "if.cc:60", "cond")
    ensure_c_types_eq(condition.type, TensorType.BOOL, "if.cc:61", "cond->type", "kTfLiteBool")
    ensure_count_eq(node, condition.flat_size, 1, "if.cc:62", "NumElements(cond)", "1")
    yield from free(condition)
    then_index = _subgraph_option(node, "IfOptions", "then_subgraph_index", "if.cc:74")
    _subgraph_option(node, "IfOptions", "else_subgraph_index", "if.cc:76")
    ensure_eq(
        len(node.inputs) - 1,
        _input_count(node, then_index),
        "if.cc:79",
        "num_inputs",
        "graph_info.NumSubgraphInputs(op_data->then_subgraph_index)",
    )
    ensure_eq(
        len(node.outputs),
        _output_count(node, then_index),
        "if.cc:81",
        "num_outputs",
        "graph_info.NumSubgraphOutputs(op_data->then_subgraph_index)",
    )


def _prepare_while(node: Node) -> Steps[None]:
    require_op_data(node, "while.cc:49", "op_data")
    if node.operator.inputs is None or node.operator.outputs is None:
        raise abort("while.cc:55", "node->inputs != nullptr && node->outputs != nullptr")
    condition = _subgraph_option(node, "WhileOptions", "cond_subgraph_index", "while.cc:60")
    body = _subgraph_option(node, "WhileOptions", "body_subgraph_index", "while.cc:62")
    inputs, outputs = len(node.inputs), len(node.outputs)
    for place, name, index in (("while.cc:65", "cond", condition), ("while.cc:67", "body", body)):
        text = f"graph_info.NumSubgraphInputs(op_data->{name}_subgraph_index)"
        ensure_eq(inputs, _input_count(node, index), place, "num_inputs", text)
    ensure_eq(inputs, outputs, "while.cc:69", "num_inputs", "num_outputs")
    text = "graph_info.NumSubgraphOutputs(op_data->body_subgraph_index)"
    ensure_eq(outputs, _output_count(node, body), "while.cc:70", "num_outputs", text)
    yield from ()


def _prepare_call_once(node: Node) -> Steps[None]:
    require_op_data(node, "call_once.cc:48", "op_data")
    ensure(not node.inputs, "call_once.cc:51", "NumInputs(node) == 0")
    ensure(not node.outputs, "call_once.cc:52", "NumOutputs(node) == 0")
    _subgraph_option(node, "CallOnceOptions", "init_subgraph_index", "call_once.cc:57")
    yield from ()


_K = "tensorflow/lite/micro/kernels/"

MODELS: tuple[OpModel, ...] = (
    OpModel("IF", "TfLiteIfParams", op_data("if.OpData"), _prepare_if, _K + "if.cc"),
    OpModel("WHILE", "TfLiteWhileParams", op_data("while.OpData"), _prepare_while, _K + "while.cc"),
    OpModel("CALL_ONCE", "TfLiteCallOnceParams", op_data("call_once.OpData"), _prepare_call_once, _K + "call_once.cc"),
)
