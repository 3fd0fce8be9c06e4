"""Kernels that prepare other subgraphs, which have arenas of their own, and resource variables.

A child's inputs are sized as the node's and belong to nobody (``CUSTOM``): the parent lends its bytes when it runs.

Source: tflite/kernels/{if,while,call_once,stablehlo_composite,stablehlo_case,var_handle,read_variable,...}.cc,
control_flow_common.h @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from itertools import pairwise

from tflm_sim.errors import SimulatedFailure
from tflm_sim.extensions.lite.graph_info import NO_TYPE, OPTIONAL_TENSOR, AllocationType, TfLiteContext, TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import PrepareCall
from tflm_sim.model.types import TensorType

_HANDLE_BYTES = 4
_HANDLES = (t.RESOURCE, t.VARIANT)


def _sibling(call: PrepareCall, index: int, text: str) -> TfLiteContext:
    call.ensure(0 <= index < len(call.subgraph.siblings), text)
    return call.subgraph.siblings[index]


def _copy_inputs(call: PrepareCall, inputs: tuple[int, ...], child: TfLiteContext) -> None:
    """Give a child's inputs the shapes and types of the node's; a refusal is reported but does not stop it."""
    for index, target in zip(inputs, child.inputs, strict=True):
        if target == OPTIONAL_TENSOR:
            continue
        if index == OPTIONAL_TENSOR:
            raise call.abort("a subgraph needs an input that is absent")
        source, tensor = call.subgraph.tensors[index], child.tensors[target]
        try:
            child.resize_input(target, source.shape)
        except SimulatedFailure as failure:
            call.subgraph.reports.append(failure.device_message)
        tensor.type = source.type


def _lend_inputs(child: TfLiteContext) -> None:
    for index in child.inputs:
        if index != OPTIONAL_TENSOR and child.tensors[index].type not in _HANDLES:
            child.tensors[index].allocation_type = AllocationType.CUSTOM


def _size_outputs(call: PrepareCall, sources: list[TfLiteTensor], *, are_dynamic: bool) -> None:
    for index, source in zip(call.node.outputs, sources, strict=True):
        if index == OPTIONAL_TENSOR:
            continue
        output = call.subgraph.tensors[index]
        if are_dynamic:
            call.dynamic(output)
        else:
            call.resize(output, source.shape)


def _outputs(child: TfLiteContext) -> list[TfLiteTensor]:
    return [child.tensors[index] for index in child.outputs]


def if_else(call: PrepareCall) -> None:
    """IF: both branches are prepared; outputs that differ in shape are dynamic."""
    call.ensure(call.input_count > 0, "node->inputs->size > 0")
    condition = call.input(0)
    call.is_c_type(condition, t.BOOL, "cond")
    call.ensure_eq(condition.elements, 1, "NumElements(cond)")
    count = "subgraphs->size()"
    branches = [
        _sibling(call, call.option(f"{name}_subgraph_index"), f"op_data->{name}_subgraph_index < {count}")
        for name in ("then", "else")
    ]
    _branches(call, branches)


def _branches(call: PrepareCall, branches: list[TfLiteContext], *, lends_types: bool = False) -> None:
    """Prepare branches; with ``lends_types`` their outputs get the types of the node's."""
    inputs = call.node.inputs[1:]
    for child in branches:
        call.ensure_eq(len(inputs), len(child.inputs), "num_inputs", "subgraph->inputs().size()")
        call.ensure_eq(call.output_count, len(child.outputs), "num_outputs", "subgraph->outputs().size()")
    for child in branches:
        child.remove_unused_inputs()
    if lends_types:
        kinds = [tensor.type for child in branches for tensor in _outputs(child)]
        for kind in kinds:
            call.ensure_c_types_eq(kind, TensorType(kinds[0]), "branch_output->type", "first_branch_type")
    for child in branches:
        _copy_inputs(call, inputs, child)
    for child in branches:
        _lend_inputs(child)
        if lends_types:
            for place, tensor in enumerate(_outputs(child)):
                tensor.type = call.output(place).type
        child.allocate_tensors()
    are_dynamic = _ever_true(call, any(child.has_dynamic_tensors for child in branches))
    if not are_dynamic:
        if lends_types:  # the option's subgraphs are compared, whichever were prepared
            indices = call.vector("branch_subgraph_indices")[: len(branches)]
            if min(indices) < 0:
                raise IndexError("the runtime reads in front of its list of subgraphs")
            branches = list(map(call.subgraph.siblings.__getitem__, indices))
        are_dynamic = _ever_true(call, _shapes_differ(branches))
    _size_outputs(call, _outputs(branches[0]), are_dynamic=are_dynamic)


def _shapes_differ(branches: list[TfLiteContext]) -> bool:
    rows = [[tensor.shape for tensor in _outputs(child)] for child in branches]
    return any(one != other for one, other in pairwise(rows))


def _ever_true(call: PrepareCall, is_true: bool) -> bool:
    """Return whether something was true in this Prepare or in an earlier one: the kernels never forget."""
    if call.node.user_data is None:
        call.node.user_data = {}
    call.node.user_data["has_dynamic_outputs"] = call.node.user_data.get("has_dynamic_outputs", False) or is_true
    return bool(call.node.user_data["has_dynamic_outputs"])


def case(call: PrepareCall) -> None:
    """STABLEHLO_CASE: every subgraph but the first counts as a branch."""
    call.ensure(len(call.vector("branch_subgraph_indices")) > 0, "params->num_branches > 0")
    index = call.input(0)
    call.is_c_type(index, t.INT32, "index")
    call.ensure_eq(index.elements, 1, "NumElements(index)")
    _branches(call, list(call.subgraph.siblings[1:]), lends_types=True)


def while_loop(call: PrepareCall) -> None:
    """WHILE: an output of the node that nobody reads and that the body only hands on gets no bytes."""
    count = call.input_count
    call.ensure_eq(call.output_count, count, "node->outputs->size", "num_inputs")
    condition, body = (
        _sibling(call, call.option(f"{name}_subgraph_index"), f"op_data->{name}_subgraph_index < subgraphs->size()")
        for name in ("cond", "body")
    )
    call.ensure(condition is not body, "op_data->cond_subgraph_index != op_data->body_subgraph_index")
    call.ensure_eq(len(condition.inputs), count, "cond_subgraph->inputs().size()", "num_inputs")
    call.ensure_eq(len(condition.outputs), 1, "cond_subgraph->outputs().size()")
    call.ensure_eq(len(body.inputs), count, "body_subgraph->inputs().size()", "num_inputs")
    call.ensure_eq(len(body.outputs), count, "body_subgraph->outputs().size()", "num_inputs")
    condition.remove_unused_inputs()
    _copy_inputs(call, call.node.inputs, condition)
    condition.allocate_tensors()
    answer = condition.tensors[condition.outputs[0]]
    if not answer.is_dynamic:
        call.is_type(answer, t.BOOL, "cond_output")
        if answer.rank:
            call.dims_size(1, cond_output=answer)
            call.ensure_eq(answer.shape[0], 1, "cond_output->dims->data[0]")
    _copy_inputs(call, call.node.inputs, body)
    _forward_unread_outputs(call, body)
    _lend_inputs(body)
    body.allocate_tensors()
    pairs = [(body.tensors[a], body.tensors[b]) for a, b in zip(body.inputs, body.outputs, strict=True)]
    are_dynamic = body.has_dynamic_tensors or any(_changes(call, *pair) for pair in pairs)
    _size_outputs(call, _outputs(body), are_dynamic=_ever_true(call, are_dynamic))


def _changes(call: PrepareCall, before: TfLiteTensor, after: TfLiteTensor) -> bool:
    call.same_type(before, after, "body_input", "body_output")
    call.ensure(not after.is_dynamic, "!IsDynamicTensor(body_output)")
    if before.shape == after.shape:
        return False
    return sum(tensor.shape[0] for tensor in (before, after) if tensor.rank) != 1  # () and (1,) count as equal


def _forward_unread_outputs(call: PrepareCall, body: TfLiteContext) -> None:
    nodes = call.subgraph.execution_nodes
    read = set(call.subgraph.outputs).union(*(node.inputs for node in nodes))
    outputs = list(call.node.outputs)
    for place, (source, target) in enumerate(zip(body.inputs, body.outputs, strict=True)):
        index, tensor = outputs[place], body.tensors[source]
        if source != target or index == OPTIONAL_TENSOR or index in read or tensor.type in (t.STRING, *_HANDLES):
            continue
        call.subgraph.tensors[index].data = call.subgraph.tensors[index].offset = None
        outputs[place] = OPTIONAL_TENSOR
        tensor.allocation_type = AllocationType.CUSTOM
    call.node.outputs = tuple(outputs)


def call_once(call: PrepareCall) -> None:
    """CALL_ONCE: its subgraph is allocated when it runs."""
    index = call.option("init_subgraph_index")
    call.ensure(index != call.subgraph.index, "op_data->init_subgraph_index != this_subgraph->GetSubgraphIndex()")
    call.ensure_eq(call.input_count, 0, "node->inputs->size")
    call.ensure_eq(call.output_count, 0, "node->outputs->size")
    child = _sibling(call, index, "op_data->init_subgraph_index < subgraphs->size()")
    call.ensure_eq(len(child.inputs), 0, "init_subgraph->inputs().size()")
    call.ensure_eq(len(child.outputs), 0, "init_subgraph->outputs().size()")


def composite(call: PrepareCall) -> None:
    """STABLEHLO_COMPOSITE: its decomposition is a subgraph."""
    call.ensure(call.input_count > 0, "node->inputs->size > 0")
    index = call.option("decomposition_subgraph_index")
    child = _sibling(call, index, "op_state->subgraph_index < subgraphs->size()")
    right = "decomposition_subgraph->{}().size()"
    call.ensure_eq(call.input_count, len(child.inputs), "num_inputs", right.format("inputs"))
    call.ensure_eq(call.output_count, len(child.outputs), "num_outputs", right.format("outputs"))
    child.remove_unused_inputs()
    _copy_inputs(call, call.node.inputs, child)
    _lend_inputs(child)
    child.allocate_tensors()
    _size_outputs(call, _outputs(child), are_dynamic=_ever_true(call, child.has_dynamic_tensors))


def var_handle(call: PrepareCall) -> None:
    """VAR_HANDLE: the handle is four bytes in the persistent arena."""
    output = call.output()
    output.allocation_type = AllocationType.ARENA_RW_PERSISTENT
    output.data = None
    output.size = _HANDLE_BYTES


def read_variable(call: PrepareCall) -> None:
    """READ_VARIABLE: a scalar output is treated as one whose shape is not known."""
    call.ensure_eq(call.input_count, 1, "node->inputs->size")
    call.ensure_eq(call.output_count, 1, "node->outputs->size")
    _check_handle(call, call.input(0))
    output = call.output()
    if output.rank == 0:
        call.dynamic(output)


def assign_variable(call: PrepareCall) -> None:
    call.counts(2, 0)
    _check_handle(call, call.input(0))


def _check_handle(call: PrepareCall, handle: TfLiteTensor) -> None:
    names = ("Resource", "Int32")
    text = " || ".join(f"input_resource_id_tensor->type == kTfLite{name}" for name in names)
    call.ensure(handle.type in (t.RESOURCE, t.INT32), f"({text})")
    call.ensure_eq(handle.elements, 1, "NumElements(input_resource_id_tensor)")


def hashtable(call: PrepareCall) -> None:
    """HASHTABLE: its handle is a dynamic tensor of four bytes."""
    call.counts(0)
    pair = call.option("key_dtype", NO_TYPE), call.option("value_dtype", NO_TYPE)
    kinds = {t.INT64: "kTfLiteInt64", t.STRING: "kTfLiteString"}
    orders = ((t.INT64, t.STRING), (t.STRING, t.INT64))
    texts = [f"(params->key_dtype == {kinds[a]} && params->value_dtype == {kinds[b]})" for a, b in orders]
    call.ensure(pair in orders, " || ".join(texts))
    handle = call.output()
    call.is_c_type(handle, t.RESOURCE, "resource_handle_tensor")
    handle.data, handle.size, handle.shape = bytearray(_HANDLE_BYTES), _HANDLE_BYTES, (1,)


def hashtable_find(call: PrepareCall) -> None:
    call.counts(3)
    _check_table(call)
    call.resize(call.output(), call.input(1).shape)


def hashtable_import(call: PrepareCall) -> None:
    call.counts(3, 0)
    _check_table(call)
    keys, values = call.input(1), call.input(2)
    call.ensure(keys.shape == values.shape, "HaveSameShapes(key_tensor, value_tensor)")


def hashtable_size(call: PrepareCall) -> None:
    call.counts(1)
    _check_table(call)
    call.resize(call.output(), (1,))


def _check_table(call: PrepareCall) -> None:
    handle = call.input(0)
    call.is_c_type(handle, t.RESOURCE, "input_resource_id_tensor")
    call.rank(handle, 1, "input_resource_id_tensor")
    call.ensure_eq(handle.shape[0], 1, "SizeOfDimension(input_resource_id_tensor, 0)")
