"""``--int8-io``: a model whose inputs and outputs are the integers inside of it; the QUANTIZE of an input is gone.

    float32 --> QUANTIZE --> int8 --> CONV_2D ... --> int8 --> DEQUANTIZE --> float32
                             int8 --> CONV_2D ... --> int8

An input of floats takes four bytes for each that the QUANTIZE behind it makes of them, and both are alive at once.
Between an input or output and that operator there may be some that only move elements: they move the integers instead.

This changes the interface: what the firmware writes and reads is converted by lines of its own (``conversions``).
"""

from __future__ import annotations

from dataclasses import replace

from tflm_sim.extensions.shrink.conversions import operator_between
from tflm_sim.extensions.shrink.draft_facts import same_kind, shape, single_output
from tflm_sim.extensions.shrink.interface import numbers_of
from tflm_sim.extensions.shrink.passes import Chooser, label_of
from tflm_sim.extensions.shrink.shrunk import Edit
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import VIEWS
from tflm_sim.model.types import Operator, TensorType

_MOVES = VIEWS | {"TRANSPOSE"}
"""Operators with one input of data whose elements they move, of any type alike."""


def remove_io_quantization(draft: Draft, choose: Chooser) -> list[Edit]:
    """Let inputs and outputs have the type that the operator which converts them gives or takes."""
    edits = []
    for position, tensor in enumerate(dict.fromkeys(draft.inputs)):
        reached = _behind(draft, tensor)
        if not isinstance(reached, str) and choose():
            edits.append(_make_input_integer(draft, reached, position))
    for position, tensor in enumerate(dict.fromkeys(draft.outputs)):
        chain = _before(draft, tensor)
        if not isinstance(chain, str) and choose():
            edits.append(_make_output_integer(draft, chain, position))
    return edits


def has_io_quantization(draft: Draft) -> bool:
    """Return whether there is an input or output that :func:`remove_io_quantization` changes."""
    is_cut = [not isinstance(_behind(draft, tensor), str) for tensor in draft.inputs]
    return any(is_cut) or any(not isinstance(_before(draft, tensor), str) for tensor in draft.outputs)


def kept_io_quantization(draft: Draft) -> list[str]:
    """Return why an input or output that an operator converts stays as it is, a sentence each."""
    found = [f"input {at}: {why}" for at, t in enumerate(draft.inputs) if isinstance(why := _behind(draft, t), str)]
    found += [f"output {at}: {end}" for at, t in enumerate(draft.outputs) if isinstance(end := _before(draft, t), str)]
    return [sentence for sentence in found if not sentence.endswith(": ")]


def _is_converted(draft: Draft, outer: int, inner: int, name: str, *, is_input: bool) -> bool:
    """Return whether an operator between two tensors is one that ``conversions`` has lines for."""
    one, other = numbers_of(draft.tensors[outer]), numbers_of(draft.tensors[inner])
    if one is None or other is None or shape(draft, outer) != shape(draft, inner):
        return False
    return operator_between(one, other, is_input=is_input) == name


def _is_free(draft: Draft, tensor: int) -> bool:
    """Return whether a tensor is an activation that one operator writes and neither caller nor signature names."""
    named = {*draft.inputs, *draft.outputs}
    for signature in draft.origin.signatures:
        if signature.subgraph_index == 0:
            named.update(index for _, index in (*signature.inputs, *signature.outputs))
    is_computed = draft.is_activation(tensor) and not draft.tensors[tensor].is_variable
    return tensor not in named and is_computed and len(draft.writers(tensor)) == 1


def _behind(draft: Draft, tensor: int) -> tuple[list[int], list[int]] | str:
    """Return the tensors that only move an input's elements, itself first, and the operators that convert them all.

    A sentence says which other reader an input with such an operator has; "" stands for an input without one.
    """
    if not _is_given(draft, tensor):
        return ""
    moved, readers = _followed(draft, tensor)
    converters = readers["converts"]
    if not converters:
        return ""
    first, *more = (draft.operators[index].output_tensors[0] for index in converters)
    others = [label_of(draft, index) for index in readers["other"]]
    others += [
        f"#{index} QUANTIZE to other numbers"
        for index, output in zip(converters[1:], more, strict=True)
        if not same_kind(draft, first, output)
    ]
    return f"it is also read by {others[0]}" if others else (moved, converters)


def _followed(draft: Draft, tensor: int) -> tuple[list[int], dict[str, list[int]]]:
    """Return the tensors that only move an input's elements, itself first, and all readers of these by their role."""
    moved, readers = [tensor], dict[str, list[int]](converts=[], moves=[], other=[])
    for one in moved:
        for index in draft.readers(one):
            role = _role(draft, one, draft.operators[index])
            readers[role].append(index)
            moved += draft.operators[index].output_tensors if role == "moves" else ()
    return moved, readers


def _role(draft: Draft, tensor: int, operator: Operator) -> str:
    """Return whether a reader only "moves" an input's elements or "converts" them, or is some "other"."""
    name, output = draft.name(operator), single_output(operator)
    if output is None or not _is_free(draft, output) or operator.input_tensors.index(tensor) != 0:
        return "other"
    if name in _MOVES and same_kind(draft, tensor, output):
        return "moves"
    return "converts" if _is_converted(draft, tensor, output, name, is_input=True) else "other"


def _is_given(draft: Draft, tensor: int) -> bool:
    """Return whether a tensor is an input that nothing but the caller writes, once."""
    is_once = draft.inputs.count(tensor) == 1 and tensor not in draft.outputs
    return is_once and not draft.writers(tensor) and not draft.tensors[tensor].is_variable


def _make_input_integer(draft: Draft, found: tuple[list[int], list[int]], position: int) -> Edit:
    moved, converters = found
    made = {draft.operators[index].output_tensors[0]: draft.operators[index].input_tensors[0] for index in converters}
    like = draft.tensors[next(iter(made))]
    for each in moved:
        draft.tensors[each] = replace(draft.tensors[each], type=like.type, quantization=like.quantization)
    draft.drop(converters)
    draft.operators = [_renamed(operator, made) for operator in draft.operators]
    return Edit(f"input {position}", f"takes {TensorType(like.type).name.lower()}: its QUANTIZE is gone")


def _renamed(operator: Operator, names: dict[int, int]) -> Operator:
    return replace(
        operator,
        inputs=tuple(names.get(tensor, tensor) for tensor in operator.input_tensors),
        outputs=tuple(names.get(tensor, tensor) for tensor in operator.output_tensors),
    )


def _before(draft: Draft, tensor: int) -> list[int] | str:
    """Return the operators that end in an output: the one that converts, then those that only move what it gives.

    A sentence says who else reads what they make; "" stands for an output without such an operator.
    """
    producers, chain, at = draft.producers(), list[int](), tensor
    while at in producers:
        operator = draft.operators[producers[at]]
        name, source = draft.name(operator), (*operator.input_tensors, -1)[0]
        if single_output(operator) is None or not draft.is_activation(source) or producers[at] in chain:
            return ""
        chain.insert(0, producers[at])
        if _is_converted(draft, at, source, name, is_input=False):
            return _why_not(draft, tensor, chain) or chain
        if name not in _MOVES or not same_kind(draft, source, at):
            return ""
        at = source
    return ""


def _why_not(draft: Draft, tensor: int, chain: list[int]) -> str:
    """Return what keeps the operators at the end of a model, "" where nothing does."""
    source = draft.operators[chain[0]].input_tensors[0]
    if draft.outputs.count(tensor) != 1 or len(draft.writers(tensor)) != 1:
        return "the model gives it twice"
    if not _is_free(draft, source):
        return f"what its {draft.name(draft.operators[chain[0]])} reads is an input or output, too"
    for index in chain:
        made = draft.operators[index].output_tensors[0]
        readers = [reader for reader in draft.readers(made) if reader not in chain]
        if readers or (made != tensor and not _is_free(draft, made)):
            return "what it is made of is also read elsewhere"
    return ""


def _make_output_integer(draft: Draft, chain: list[int], position: int) -> Edit:
    converter = draft.operators[chain[0]]
    source, made = converter.input_tensors[0], converter.output_tensors[0]
    like = draft.tensors[source]
    for index in chain:
        each = draft.operators[index].output_tensors[0]
        draft.tensors[each] = replace(draft.tensors[each], type=like.type, quantization=like.quantization)
    draft.drop(chain[:1])
    draft.operators = [_renamed(operator, {source: made}) for operator in draft.operators]
    what = f"gives {TensorType(like.type).name.lower()}: its {draft.name(converter)} is gone"
    return Edit(f"output {position}", what)
