"""What a model says twice, or for nobody: dead operators, equal constants, known results, copies of the same bytes.

A copy that is dropped is one whose output has the bytes of its input: its readers read the input instead. Before a
FULLY_CONNECTED that flattens anyway, a RESHAPE is such a copy although the shapes differ.

Source: tensorflow/lite/kernels/internal/reference/integer_ops/fully_connected.h @ 90b983c (batches are counted on the
output's shape, the input's is not looked at).
"""

from __future__ import annotations

import numpy as np

from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import STATEFUL, VIEWS
from tflm_sim.model.types import Operator
from tflm_sim.shrinking.graph import (
    DTYPES,
    Array,
    array,
    axis_option,
    elements,
    integers,
    quantization_key,
    replace_all,
    same_kind,
    shape,
    single_output,
)
from tflm_sim.shrinking.passes import Chooser, label_of
from tflm_sim.shrinking.shrunk import Witness
from tflm_sim.values import replace


def drop_dead(draft: Draft, choose: Chooser) -> list[Witness]:
    """Drop operators whose outputs nobody reads and that leave no state behind."""
    witnesses: list[Witness] = []
    while True:
        read = {*draft.outputs, *(t for operator in draft.operators for t in operator.input_tensors)}
        for signature in draft.origin.signatures:
            if signature.subgraph_index == 0:
                read.update(tensor for _, tensor in signature.outputs)
        dead = [
            index
            for index, operator in enumerate(draft.operators)
            if not any(tensor in read for tensor in operator.output_tensors) and not _has_effect(draft, operator)
        ]
        chosen = [index for index in dead if choose()]
        if not chosen:
            return witnesses
        witnesses += [Witness(label_of(draft, index), "is read by nobody") for index in chosen]
        draft.operators = [operator for index, operator in enumerate(draft.operators) if index not in chosen]


def _has_effect(draft: Draft, operator: Operator) -> bool:
    """Return whether an operator leaves something behind beside its outputs."""
    is_stateful = draft.name(operator) in STATEFUL - {"VAR_HANDLE", "READ_VARIABLE"}
    return is_stateful or any(draft.tensors[tensor].is_variable for tensor in operator.named_tensors)


def merge_constants(draft: Draft, choose: Chooser) -> list[Witness]:
    """Let equal constants be one tensor."""
    kept: dict[tuple[object, ...], int] = {}
    merged: dict[int, int] = {}
    bound = {*draft.inputs, *draft.outputs}
    for index, tensor in enumerate(draft.tensors):
        data = draft.data(index)
        if data is None or tensor.is_variable or index in bound:
            continue
        seen = tensor.quantization.range if tensor.quantization else None
        key = (tensor.type, tensor.shape, quantization_key(tensor.quantization), seen, bytes(data))
        first = kept.setdefault(key, index)
        if first != index and choose():
            merged[index] = first
    if merged:
        draft.operators = [
            replace(operator, inputs=tuple(merged.get(tensor, tensor) for tensor in operator.input_tensors))
            for operator in draft.operators
        ]
    return [Witness(f"tensor {old}", f"holds what tensor {new} holds") for old, new in merged.items()]


def fold_constants(draft: Draft, choose: Chooser) -> list[Witness]:
    """Put the results of operators that only move constant bytes, or read shapes, into the file."""
    folded: dict[int, Witness] = {}
    for index in range(len(draft.operators)):
        operator = draft.operators[index]
        output = single_output(operator)
        result = None if output is None or output in draft.outputs else _folded(draft, operator, output)
        if result is None or output is None or not choose():
            continue
        facts = draft.tensors[output]
        constant = draft.add_tensor(
            facts.shape or (), facts.type, quantization=facts.quantization, data=result.tobytes(), name=facts.name
        )
        folded[index] = Witness(label_of(draft, index), "has a result that is known")
        draft.operators = [replace(each, inputs=replace_all(each.inputs, output, constant)) for each in draft.operators]
    draft.operators = [operator for index, operator in enumerate(draft.operators) if index not in folded]
    return list(folded.values())


def _folded(draft: Draft, operator: Operator, output: int) -> Array | None:
    """Return an operator's result where it is known, else None."""
    name, inputs = draft.name(operator), operator.input_tensors
    facts = draft.tensors[output]
    if facts.type not in DTYPES or facts.shape is None or facts.is_variable or not inputs:
        return None
    if name == "SHAPE":
        tensor = draft.tensors[inputs[0]]
        if tensor.shape is None or -1 in (tensor.shape_signature or ()):
            return None
        return np.asarray(tensor.shape, DTYPES[facts.type])
    values = [array(draft, tensor) for tensor in inputs]
    first = values[0]
    if first is None or not same_kind(draft, inputs[0], output):
        return None
    result: Array | None = None
    if name in VIEWS:
        result = first.reshape(facts.shape) if first.size == elements(draft, output) else None
    elif name == "TRANSPOSE" and values[1] is not None:
        result = np.transpose(first, [int(axis) for axis in values[1].ravel()])
    elif name in ("CONCATENATION", "PACK") and all(v is not None and v.dtype == first.dtype for v in values):
        whole = [value for value in values if value is not None]
        if name == "PACK":
            result = np.stack(whole, axis=axis_option(draft, operator, len(facts.shape)))
        else:
            result = np.concatenate(whole, axis=axis_option(draft, operator, len(facts.shape)))
    return result if result is not None and result.shape == facts.shape else None


def drop_copies(draft: Draft, choose: Chooser) -> list[Witness]:
    """Let the readers of a copy read what it copies."""
    witnesses: list[Witness] = []
    index = 0
    while index < len(draft.operators):
        operator = draft.operators[index]
        reason = _copy_reason(draft, operator)
        if reason is None or not _drop(draft, index, reason, choose):
            index += 1
            continue
        witnesses.append(Witness(f"#{index} {draft.name(operator)}", reason))
    return witnesses


_SAME_BYTES = "is the same bytes in the same shape"
_FLATTENED = "stands before what flattens anyway"


def _copy_reason(draft: Draft, operator: Operator) -> str | None:
    """Return why an operator's output can be replaced by its input, None where it cannot."""
    name, output, inputs = draft.name(operator), single_output(operator), operator.input_tensors
    if output is None or not inputs or not draft.is_activation(inputs[0]):
        return None
    source = inputs[0]
    if not same_kind(draft, source, output) or draft.tensors[output].is_variable:
        return None
    if draft.tensors[source].is_variable and _is_written_before_read(draft, operator, source, output):
        return None
    if _is_identity(draft, operator, name, source, output):
        return _SAME_BYTES
    if name not in VIEWS or output in draft.outputs or elements(draft, source) != elements(draft, output):
        return None
    readers = [draft.operators[index] for index in draft.readers(output)]
    if readers and all(draft.name(each) in VIEWS and each.input_tensors[0] == output for each in readers):
        return "is viewed again by its readers"
    if readers and all(_flattens(draft, each, source, output) for each in readers):
        return _FLATTENED
    return None


def _is_written_before_read(draft: Draft, operator: Operator, source: int, output: int) -> bool:
    """Return whether a variable gets a new value before the last reader of its copy has run."""
    if output in draft.outputs:
        return True
    index = draft.operators.index(operator)
    last = max(draft.readers(output), default=index)
    return any(source in each.output_tensors for each in draft.operators[index : last + 1])


def _is_identity(draft: Draft, operator: Operator, name: str, source: int, output: int) -> bool:
    """Return whether the output is the input, byte for byte and shape for shape."""
    inputs = operator.input_tensors
    if shape(draft, source) != shape(draft, output):
        return False
    if name in VIEWS or name in ("QUANTIZE", "SLICE", "CAST"):
        return True
    if name == "CONCATENATION":
        return len(inputs) == 1 and operator.options.get("fused_activation_function", 0) == 0
    if name == "STRIDED_SLICE":
        strides = integers(draft, inputs[3])
        return strides is not None and set(strides) == {1}
    if name == "TRANSPOSE":
        order = integers(draft, inputs[1])
        return order is not None and order == sorted(order)
    return name in ("PAD", "PADV2")


def _flattens(draft: Draft, reader: Operator, source: int, output: int) -> bool:
    """Return whether a reader takes its first input as rows of the filter's depth, whatever its shape is."""
    inputs = reader.input_tensors
    if draft.name(reader) != "FULLY_CONNECTED" or inputs[0] != output or output in inputs[1:]:
        return False
    depth = shape(draft, inputs[1])[-1:]
    rows = elements(draft, reader.output_tensors[0]) // max(1, shape(draft, reader.output_tensors[0])[-1])
    return (
        not reader.options.get("keep_num_dims")
        and len(depth) == 1
        and elements(draft, source) == rows * depth[0]
        and len(shape(draft, source)) <= 4
    )


def _drop(draft: Draft, index: int, reason: str, choose: Chooser) -> bool:
    """Drop a copy and return whether that was possible and chosen."""
    operator = draft.operators[index]
    source, output = operator.input_tensors[0], operator.output_tensors[0]
    if output not in draft.outputs:
        old, new = output, source
    elif reason == _SAME_BYTES and source not in (*draft.inputs, *draft.outputs) and source in draft.producers():
        old, new = source, output
    else:
        return False
    if not choose():
        return False
    del draft.operators[index]
    draft.operators = [
        replace(
            each,
            inputs=None if each.inputs is None else replace_all(each.inputs, old, new),
            outputs=None if each.outputs is None else replace_all(each.outputs, old, new),
        )
        for each in draft.operators
    ]
    return True
