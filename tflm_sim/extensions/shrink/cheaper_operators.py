"""Name fewer tensors: each costs a struct in the tail, and a row of the table that is there while TFLM plans.

    RESHAPE(x, [1, 8, 1, 4])                     RESHAPE(x): the kernel takes the shape from its output
    CONV_2D(x, w, zeros)                         CONV_2D(x, w): where the kernel adds no bias then
    SLICE(CONCATENATION(a, b)) of rows of b      SLICE(b), often with a begin that is there already
    CONV_2D(x, w of 1x1)                         FULLY_CONNECTED(x, w), which keeps less of its own

For a RESHAPE without its second input, the options say the shape, which LiteRT reads.

Source: tensorflow/lite/micro/kernels/reshape_common.cc ReshapeOutput, tensorflow/lite/kernels/reshape.cc GetOutputShape
@ 90b983c.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tflm_sim.device.configuration import Configuration
from tflm_sim.extensions.shrink.contracts import DENSE, NO_BIAS, promised_since
from tflm_sim.extensions.shrink.draft_facts import axis_option, integers, is_image, same_kind, shape, window
from tflm_sim.extensions.shrink.fuse import slice_bounds, slice_to
from tflm_sim.extensions.shrink.kernel_use import use_of
from tflm_sim.extensions.shrink.passes import Chooser, label_of
from tflm_sim.extensions.shrink.prune import drop_dead
from tflm_sim.extensions.shrink.shrunk import Edit
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import CONVOLUTIONS
from tflm_sim.model.types import Operator

_BIASED = CONVOLUTIONS | {"FULLY_CONNECTED"}


def drop_shapes(draft: Draft, choose: Chooser) -> list[Edit]:
    """Leave out the shape of each RESHAPE that the shape of its output says anyway."""
    edits: list[Edit] = []
    for index, operator in enumerate(draft.operators):
        said = _said_shape(draft, operator)
        if said is None or not choose():
            continue
        options = {"new_shape": tuple(said)}
        draft.operators[index] = draft.operator(
            "RESHAPE", operator.input_tensors[:1], operator.output_tensors, options=options
        )
        edits.append(Edit(label_of(draft, index), "takes the shape from its output"))
    return edits


def _said_shape(draft: Draft, operator: Operator) -> list[int] | None:
    """Return the constant shape that a RESHAPE names, if it is its output's but for a -1, else None.

    Where input and output are of different kinds, ``verify`` does not know what a RESHAPE does.
    """
    if draft.name(operator) != "RESHAPE" or len(operator.input_tensors) != 2:
        return None
    if not same_kind(draft, operator.input_tensors[0], operator.output_tensors[0]):
        return None
    there = shape(draft, operator.output_tensors[0])
    said = integers(draft, operator.input_tensors[1])
    if not said or len(said) != len(there) or said.count(-1) > 1 or min(there) < 1:
        return None
    return said if all(one in (-1, other) for one, other in zip(said, there, strict=True)) else None


def drop_zero_biases(draft: Draft, choose: Chooser, configurations: Sequence[Configuration]) -> list[Edit]:
    """Leave out each bias of zeros whose kernel adds nothing where there is none."""
    edits: list[Edit] = []
    for index, operator in enumerate(draft.operators):
        if not _has_zero_bias(draft, operator):
            continue
        use = use_of(draft.name(operator), operator, draft.tensors)
        if promised_since(use, NO_BIAS, configurations) and choose():
            draft.operators[index] = replace(operator, inputs=operator.input_tensors[:2])
            edits.append(Edit(label_of(draft, index), "has a bias of zeros"))
    return edits


def _has_zero_bias(draft: Draft, operator: Operator) -> bool:
    """Return whether an operator adds a constant all of whose bytes are 0: 0, or 0.0, which keeps no sign."""
    inputs = operator.input_tensors
    data = draft.data(inputs[2]) if draft.name(operator) in _BIASED and len(inputs) == 3 else None
    return data is not None and not any(bytes(data))


def slice_pieces(draft: Draft, choose: Chooser) -> list[Edit]:
    """Let each SLICE of a CONCATENATION that takes from one of its pieces only read that piece."""
    edits: list[Edit] = []
    for index, operator in enumerate(draft.operators):
        found = _piece(draft, index)
        if found is None or not choose():
            continue
        draft.operators[index] = slice_to(draft, *found, operator.output_tensors[0])
        edits.append(Edit(label_of(draft, index), f"takes from tensor {found[0]} only"))
    return edits + (drop_dead(draft, Chooser()) if edits else [])


def _piece(draft: Draft, index: int) -> tuple[int, list[tuple[int, int]]] | None:
    """Return the piece that a SLICE takes all of its elements from, with [start, end) along its axes, or None."""
    operator = draft.operators[index]
    if draft.name(operator) != "SLICE":
        return None
    whole, bounds = operator.input_tensors[0], slice_bounds(draft, operator)
    # A SLICE of a variable in front of its CONCATENATION takes what the last invocation joined.
    joins = [at for at in draft.writers(whole) if draft.name(draft.operators[at]) == "CONCATENATION" and at < index]
    if bounds is None or not joins or joins != draft.writers(whole):
        return None
    joining = draft.operators[joins[0]]
    if len(joins) > 1 or joining.options.get("fused_activation_function", 0):
        return None
    axis = axis_option(joining, len(bounds))
    begin, end = bounds[axis]
    first = 0
    for piece in joining.input_tensors:
        behind = first + shape(draft, piece)[axis]
        if first <= begin < end <= behind:
            own = [*bounds[:axis], (begin - first, end - first), *bounds[axis + 1 :]]
            return (piece, own) if _is_kept(draft, piece, whole) else None
        first = behind
    return None


def _is_kept(draft: Draft, piece: int, whole: int) -> bool:
    """Return whether a CONCATENATION changes nothing of a piece, which is an activation of the same kind."""
    is_plain = draft.is_activation(piece) and not draft.tensors[piece].is_variable
    return is_plain and same_kind(draft, piece, whole) and len(draft.writers(piece)) <= 1


def dense_layers(draft: Draft, choose: Chooser, configurations: Sequence[Configuration]) -> list[Edit]:
    """Turn pointwise convolutions into FULLY_CONNECTED where the model has that anyway, and the kernels give the same.

    An operator that the model had not would need more in the resolver than this saves in the arena.
    """
    if "FULLY_CONNECTED" not in map(draft.name, draft.operators):
        return []
    edits: list[Edit] = []
    for index, operator in enumerate(draft.operators):
        if not _is_pointwise(draft, operator):
            continue
        if promised_since(use_of("CONV_2D", operator, draft.tensors), DENSE, configurations) and choose():
            draft.operators[index] = _dense(draft, operator)
            edits.append(Edit(label_of(draft, index), "is FULLY_CONNECTED of each pixel"))
    return edits


def _is_pointwise(draft: Draft, operator: Operator) -> bool:
    """Return whether a convolution takes each pixel by itself, with a constant filter and a scale for each channel."""
    if draft.name(operator) != "CONV_2D" or not all(is_image(draft, each) for each in operator.input_tensors[:2]):
        return False
    source, filters, output = *operator.input_tensors[:2], operator.output_tensors[0]
    windows = [window(draft, operator, axis) for axis in (1, 2)]
    quantization, channels = draft.tensors[filters].quantization, shape(draft, filters)[0]
    return (
        all(each.kernel == each.stride == 1 for each in windows)
        and shape(draft, source)[3] == shape(draft, filters)[3]
        and shape(draft, output) == (*shape(draft, source)[:3], channels)
        and quantization is not None
        and len(quantization.scale) == channels > 1
        and not any(quantization.zero_point)
        and draft.is_constant(filters)
    )


def _dense(draft: Draft, operator: Operator) -> Operator:
    """Return the FULLY_CONNECTED that computes a pointwise convolution; its filter is added to the draft."""
    source, filters, *bias = operator.input_tensors
    facts, (channels, *_, depth) = draft.tensors[filters], shape(draft, filters)
    rows = draft.add_tensor((channels, depth), facts.type, quantization=facts.quantization, name=facts.name)
    draft.tensors[rows] = replace(draft.tensors[rows], buffer=facts.buffer)
    options = {"fused_activation_function": operator.options["fused_activation_function"], "keep_num_dims": True}
    return draft.operator("FULLY_CONNECTED", (source, rows, *bias), operator.output_tensors, options=options)
