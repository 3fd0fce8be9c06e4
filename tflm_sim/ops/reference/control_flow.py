"""Operators that run other subgraphs: IF, WHILE, CALL_ONCE.

Source: tensorflow/lite/micro/kernels/{if,while,call_once}.cc and micro_interpreter_graph.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import Subgraph, TensorType
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import int_option
from tflm_sim.ops.requests import Steps
from tflm_sim.ops.roles import op_data, undefined

_GRAPH = "tensorflow/lite/micro/micro_interpreter_graph.cc"


def _subgraph(node: Node, index: int) -> Subgraph:
    """Return a subgraph whose index was compared with NumSubgraphs() only from above."""
    if index < 0:
        raise undefined(_GRAPH, f"subgraph {index} is read")
    return node.model.subgraphs[index]


def _input_count(node: Node, index: int) -> int:
    """``NumSubgraphInputs``."""
    inputs = _subgraph(node, index).inputs
    if inputs is None:
        raise undefined(_GRAPH, "the subgraph's inputs are a null pointer")
    return len(inputs)


def _output_count(node: Node, index: int) -> int:
    """``NumSubgraphOutputs``."""
    return len(_subgraph(node, index).output_tensors)


def _graph(k: Kernel) -> str:
    """How a check says whose the subgraphs are."""
    return "graph_info." if k.has("graph_in_context") else "graph_info->"


def _subgraph_option(k: Kernel, table: str, name: str) -> int:
    """Read a subgraph index from the options and check it against NumSubgraphs()."""
    index = int_option(k.node, table, name)
    k.ensure(index < len(k.node.model.subgraphs), f"op_data->{name} < {_graph(k)}NumSubgraphs()")
    return index


def _prepare_if(node: Node) -> Steps[None]:
    k = Kernel(node, "if.cc")
    k.op_data("op_data")
    k.check(node.operator.inputs is not None, "node->inputs != nullptr")
    k.ensure(len(node.inputs) > 0, "node->inputs->size > 0")
    condition = yield from k.input(0, "cond")
    k.is_c_type(condition, TensorType.BOOL, "cond")
    k.ensure_count_eq(condition.flat_size, 1, "NumElements(cond)", "1")
    yield from k.free(condition)
    then_index = _subgraph_option(k, "IfOptions", "then_subgraph_index")
    _subgraph_option(k, "IfOptions", "else_subgraph_index")
    text = _graph(k) + "NumSubgraph{}(op_data->then_subgraph_index)"
    k.ensure_eq(len(node.inputs) - 1, _input_count(node, then_index), "num_inputs", text.format("Inputs"))
    k.ensure_eq(len(node.outputs), _output_count(node, then_index), "num_outputs", text.format("Outputs"))


def _prepare_while(node: Node) -> Steps[None]:
    k = Kernel(node, "while.cc")
    k.op_data("op_data")
    both = node.operator.inputs is not None and node.operator.outputs is not None
    k.check(both, "node->inputs != nullptr && node->outputs != nullptr")
    condition = _subgraph_option(k, "WhileOptions", "cond_subgraph_index")
    body = _subgraph_option(k, "WhileOptions", "body_subgraph_index")
    inputs, outputs = len(node.inputs), len(node.outputs)
    for name, index in (("cond", condition), ("body", body)):
        text = f"graph_info.NumSubgraphInputs(op_data->{name}_subgraph_index)"
        k.ensure_eq(inputs, _input_count(node, index), "num_inputs", text)
    k.ensure_eq(inputs, outputs, "num_inputs", "num_outputs")
    text = "graph_info.NumSubgraphOutputs(op_data->body_subgraph_index)"
    k.ensure_eq(outputs, _output_count(node, body), "num_outputs", text)
    yield from ()


def _prepare_call_once(node: Node) -> Steps[None]:
    k = Kernel(node, "call_once.cc")
    k.op_data("op_data")
    for tensors, name in ((node.inputs, "Inputs"), (node.outputs, "Outputs")):
        count = f"Num{name}(node)" if k.has("no_inputs") else f"node->{name.lower()}->size"
        k.ensure(not tensors, f"{count} == 0")
    _subgraph_option(k, "CallOnceOptions", "init_subgraph_index")
    yield from ()


MODELS: tuple[OpModel, ...] = (
    OpModel("IF", "TfLiteIfParams", op_data("if.OpData"), _prepare_if),
    OpModel("WHILE", "TfLiteWhileParams", op_data("while.OpData"), _prepare_while),
    OpModel("CALL_ONCE", "TfLiteCallOnceParams", op_data("call_once.OpData"), _prepare_call_once),
)
