"""Take away what a model has twice or nobody reads: dead operators, equal constants, known results, copies of bytes.

A copy that is dropped is one whose output has the bytes of its input: its readers read the input instead. Before a
FULLY_CONNECTED that flattens anyway, a RESHAPE is such a copy although the shapes differ.

Source: tensorflow/lite/kernels/internal/reference/integer_ops/fully_connected.h @ 90b983c (batches are counted on the
output's shape, the input's does not count).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from tflm_sim.extensions.shrink.draft_facts import (
    DTYPES,
    Array,
    array,
    axis_option,
    elements,
    integers,
    is_written_within,
    quantization_key,
    replace_all,
    same_kind,
    shape,
    single_output,
)
from tflm_sim.extensions.shrink.passes import Chooser, label_of
from tflm_sim.extensions.shrink.shrunk import Edit
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import STATEFUL, VIEWS
from tflm_sim.model.types import Operator


def drop_dead(draft: Draft, choose: Chooser) -> list[Edit]:
    """Drop operators whose outputs nobody reads and that leave no state behind."""
    edits: list[Edit] = []
    while chosen := [index for index in _dead(draft) if choose()]:
        edits += [Edit(label_of(draft, index), "is read by nobody") for index in chosen]
        draft.drop(chosen)
    return edits


def _dead(draft: Draft) -> list[int]:
    """Return the operators whose outputs neither an operator nor the model's caller reads, and without an effect."""
    read = {*draft.outputs, *(tensor for operator in draft.operators for tensor in operator.input_tensors)}
    for signature in draft.origin.signatures:
        if signature.subgraph_index == 0:
            read.update(tensor for _, tensor in signature.outputs)
    unread = (i for i, operator in enumerate(draft.operators) if read.isdisjoint(operator.output_tensors))
    return [index for index in unread if not _has_effect(draft, draft.operators[index])]


def _has_effect(draft: Draft, operator: Operator) -> bool:
    """Return whether an operator leaves something behind beside its outputs."""
    is_stateful = draft.name(operator) in STATEFUL - {"VAR_HANDLE", "READ_VARIABLE"}
    return is_stateful or any(draft.tensors[tensor].is_variable for tensor in operator.named_tensors)


def merge_constants(draft: Draft, choose: Chooser) -> list[Edit]:
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
    _rename(draft, merged)
    return [Edit(f"tensor {old}", f"holds what tensor {new} holds") for old, new in merged.items()]


def _rename(draft: Draft, names: Mapping[int, int]) -> None:
    if names:
        draft.operators = [
            replace(operator, inputs=tuple(names.get(tensor, tensor) for tensor in operator.input_tensors))
            for operator in draft.operators
        ]


def fold_constants(draft: Draft, choose: Chooser) -> list[Edit]:
    """Put the results of operators that only move constant bytes, or read shapes, into the file."""
    folded: dict[int, Edit] = {}
    for index in range(len(draft.operators)):
        operator = draft.operators[index]
        result = _folded(draft, operator)
        if result is None or not choose():
            continue
        output = operator.output_tensors[0]
        facts = draft.tensors[output]
        constant = draft.add_tensor(
            result.shape, facts.type, quantization=facts.quantization, data=result.tobytes(), name=facts.name
        )
        folded[index] = Edit(label_of(draft, index), "has a result that is known")
        _rename(draft, {output: constant})
    draft.drop(folded)
    return list(folded.values())


def _folded(draft: Draft, operator: Operator) -> Array | None:
    """Return an operator's result where it is known and has the output's shape, else None."""
    output, fold = single_output(operator), _FOLDS.get(draft.name(operator))
    if output is None or output in draft.outputs or fold is None or not operator.inputs:
        return None
    facts = draft.tensors[output]
    if facts.type not in DTYPES or facts.shape is None or facts.is_variable:
        return None
    result = fold(draft, operator, output)
    return result if result is not None and result.shape == facts.shape else None


def _shape(draft: Draft, operator: Operator, output: int) -> Array | None:
    tensor = draft.tensors[operator.input_tensors[0]]
    if tensor.shape is None or -1 in (tensor.shape_signature or ()):
        return None
    return np.asarray(tensor.shape, DTYPES[draft.tensors[output].type])


def _constants(draft: Draft, operator: Operator, output: int) -> list[Array] | None:
    """Return the inputs if all are constants and the first is of the output's kind, else None."""
    values = [value for tensor in operator.input_tensors if (value := array(draft, tensor)) is not None]
    is_whole = len(values) == len(operator.input_tensors)
    return values if is_whole and same_kind(draft, operator.input_tensors[0], output) else None


def _view(draft: Draft, operator: Operator, output: int) -> Array | None:
    source = operator.input_tensors[0]
    first = array(draft, source)
    if first is None or not same_kind(draft, source, output) or first.size != elements(draft, output):
        return None
    return first.reshape(shape(draft, output))


def _transpose(draft: Draft, operator: Operator, output: int) -> Array | None:
    values = _constants(draft, operator, output)
    return None if values is None else np.transpose(values[0], [int(axis) for axis in values[1].ravel()])


def _joined(draft: Draft, operator: Operator, output: int) -> Array | None:
    values = _constants(draft, operator, output)
    if values is None or len({value.dtype for value in values}) > 1:
        return None
    axis = axis_option(operator, len(shape(draft, output)))
    return np.stack(values, axis=axis) if draft.name(operator) == "PACK" else np.concatenate(values, axis=axis)


_FOLDS: Mapping[str, Callable[[Draft, Operator, int], Array | None]] = {
    **dict.fromkeys(VIEWS, _view),
    **dict.fromkeys(("CONCATENATION", "PACK"), _joined),
    "TRANSPOSE": _transpose,
    "SHAPE": _shape,
}
"""What is known of the result of each operator that only moves bytes or reads a shape."""


def drop_copies(draft: Draft, choose: Chooser) -> list[Edit]:
    """Let the readers of a copy read what it copies."""
    edits: list[Edit] = []
    index = 0
    while index < len(draft.operators):
        operator = draft.operators[index]
        reason = _copy_reason(draft, operator)
        if reason is None or not _drop(draft, index, reason, choose):
            index += 1
            continue
        edits.append(Edit(f"#{index} {draft.name(operator)}", reason))
    return edits


_SAME_BYTES = "is the same bytes in the same shape"
_FLATTENED = "stands before what flattens anyway"


def _copy_reason(draft: Draft, operator: Operator) -> str | None:
    """Return why an operator's output can be replaced by its input, None where it cannot."""
    output, source = single_output(operator), (*operator.input_tensors, -1)[0]
    if output is None or not draft.is_activation(source) or not same_kind(draft, source, output):
        return None
    if draft.tensors[output].is_variable or _is_written_before_read(draft, operator, source, output):
        return None
    keeps = _IDENTITIES.get(draft.name(operator))
    if keeps is not None and shape(draft, source) == shape(draft, output) and keeps(draft, operator):
        return _SAME_BYTES
    return _view_reason(draft, operator, source, output)


def _view_reason(draft: Draft, operator: Operator, source: int, output: int) -> str | None:
    """Return why the readers of a view may read the same bytes in another shape, None where they may not."""
    is_view = draft.name(operator) in VIEWS and elements(draft, source) == elements(draft, output)
    readers = [draft.operators[index] for index in draft.readers(output)]
    if not is_view or output in draft.outputs or not readers:
        return None
    if all(draft.name(each) in VIEWS and each.input_tensors[0] == output for each in readers):
        return "is viewed again by its readers"
    return _FLATTENED if all(_flattens(draft, each, source, output) for each in readers) else None


def _is_written_before_read(draft: Draft, operator: Operator, source: int, output: int) -> bool:
    """Return whether a variable gets a new value before the last reader of its copy has run."""
    if not draft.tensors[source].is_variable:
        return False
    index = draft.operators.index(operator)
    last = max(draft.readers(output), default=index)
    return output in draft.outputs or is_written_within(draft, source, index, last)


def _always(draft: Draft, operator: Operator) -> bool:
    return True


def _joins_one(draft: Draft, operator: Operator) -> bool:
    return len(operator.input_tensors) == 1 and operator.options.get("fused_activation_function", 0) == 0


def _steps_by_one(draft: Draft, operator: Operator) -> bool:
    strides = integers(draft, operator.input_tensors[3])
    return strides is not None and set(strides) == {1}


def _keeps_order(draft: Draft, operator: Operator) -> bool:
    order = integers(draft, operator.input_tensors[1])
    return order is not None and order == sorted(order)


_IDENTITIES: Mapping[str, Callable[[Draft, Operator], bool]] = {
    **dict.fromkeys((*VIEWS, "QUANTIZE", "SLICE", "CAST", "PAD", "PADV2"), _always),
    "CONCATENATION": _joins_one,
    "STRIDED_SLICE": _steps_by_one,
    "TRANSPOSE": _keeps_order,
}
"""Operators that change nothing where input and output have one shape and kind, and what else that takes."""


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
    bound = (*draft.inputs, *draft.outputs)
    if output not in draft.outputs:
        old, new = output, source
    elif reason == _SAME_BYTES and source not in bound and source in draft.producers():
        old, new = source, output
    else:
        return False
    if not choose():
        return False
    del draft.operators[index]
    draft.operators = [
        replace(each, inputs=_renamed(each.inputs, old, new), outputs=_renamed(each.outputs, old, new))
        for each in draft.operators
    ]
    return True


def _renamed(tensors: tuple[int, ...] | None, old: int, new: int) -> tuple[int, ...] | None:
    return None if tensors is None else replace_all(tensors, old, new)
