"""A model on a window, rewritten to take the new frames only: ``streamed(model, facts, plan)``.

    window    X -> A -> B -> whole         stream    frames -> new rows of A -> new rows of B --.
                                                                  ^                  ^           > whole
                                                               old rows of A      old rows of B-'

Each operator of the plan runs on the rows of its output that are new (the right part), and, where padding has spoiled
the rows at the beginning, on these again, too (the left part). What it reads besides is kept from the last invocation
in a state: a *ring*. Rows behind the spoiled ones that left parts read are computed again as well, or taken out of the
ring, which then holds all old rows (``StreamPlan.lasting``). The operators behind the plan run as before, on whole
tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import product

import numpy as np

from tflm_sim.errors import ModelError
from tflm_sim.extensions.shrink.draft_facts import is_image, replace_all, shape, window
from tflm_sim.extensions.shrink.split import add_integers
from tflm_sim.extensions.shrink.stream_rows import Moving, MovingRows
from tflm_sim.extensions.shrink.tile_rules import Rows as Range
from tflm_sim.extensions.shrink.tile_rules import Rule, WindowRule
from tflm_sim.graph.lifetimes import OFFLINE_MEMORY_ALLOCATION
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import CONVOLUTIONS
from tflm_sim.model.types import Model, Operator, TensorType
from tflm_sim.model.windows import PADDING_VALID


class Keep(Enum):
    """How old rows get into the next invocation.

    WHOLE: a variable tensor holds all rows that are read, the new ones too; the old ones are copied out and in again.
    OLD: a variable tensor holds the old rows only, and all that are read are put together in the plan.
    RESOURCE: like OLD, in a resource variable.
    AGAIN: not at all; they are computed again.
    """

    WHOLE = "whole"
    OLD = "old"
    RESOURCE = "resource"
    AGAIN = "again"


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """Which operators run on new rows only, and how.

    Attributes:
        operators: Their indices.
        keep: How old rows are kept, of each tensor that ``others`` does not name.
        others: (tensor, how) for those that are kept otherwise.
        is_padded: Rows at an edge are padded by a PAD, if they are a convolution's; else the kernel pads rows on both
            sides, and what is wrong then is cut off.
        lasting: Tensors whose ring holds all old rows, so that left parts take theirs out of it.
    """

    operators: frozenset[int]
    keep: Keep = Keep.OLD
    others: tuple[tuple[int, Keep], ...] = ()
    is_padded: bool = True
    lasting: frozenset[int] = frozenset()

    def kept(self, tensor: int) -> Keep:
        """Return how the old rows of a tensor are kept."""
        return dict(self.others).get(tensor, self.keep)


@dataclass(frozen=True, slots=True)
class Ring:
    """A state that holds so many rows of so many elements, in a way."""

    rows: int
    elements: int
    keep: Keep


class NotRunnable(ModelError):
    """An operator cannot run on just these rows."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """The rows that an operator reads for some rows of its output.

    Attributes:
        rows: Read, half-open.
        written: What it makes of them: the rows that are wanted, and perhaps more.
        padding: Rows of padding before and behind that a PAD adds; None where the operator runs as it is.
        is_valid: Whether it runs without padding of its own.
    """

    rows: Range
    written: Range
    padding: Range | None = None
    is_valid: bool = False


@dataclass(slots=True)
class _Need:
    """The rows of a tensor that the rewritten model needs (mutable while they are collected).

    Attributes:
        first, end: What the right parts of its readers read, half-open; of a whole tensor from its left edge on.
        left: Rows from the beginning that its readers' left parts read, or the left edge of a whole tensor.
        edge: Those of them that are computed; the others are taken out of the ring.
        is_whole: Whether an operator behind the plan reads all of it.
    """

    first: int
    end: int = 0
    left: int = 0
    edge: int = 0
    is_whole: bool = False


def streamed(model: Model, facts: Moving, plan: StreamPlan) -> tuple[Model, dict[int, Ring]]:
    """Return the rewritten model, and its rings by the tensors whose rows they keep.

    Raises:
        NotRunnable: An operator cannot run on the rows that the plan gives it.
    """
    rewriting = _Rewriting(Draft(model), facts, plan)
    rewriting.run()
    return rewriting.draft.model(), rewriting.rings


@dataclass(slots=True)
class _Rewriting:
    """A draft while it becomes a stream (mutable).

    Attributes:
        needs: What is needed of each tensor that moves on.
        new: Of each, the rows that are computed, half-open.
        rings: Of each whose rows are kept.
        right, left: The tensors that stand for its rows: (tensor, the row that it begins with).
        edges: The part of ``left`` that is computed.
        states: The rings that are read already, by the tensors whose rows they keep: the ring, and its VAR_HANDLE.
    """

    draft: Draft
    facts: Moving
    plan: StreamPlan
    needs: dict[int, _Need] = field(default_factory=dict)
    new: dict[int, Range] = field(default_factory=dict)
    rings: dict[int, Ring] = field(default_factory=dict)
    right: dict[int, tuple[int, int]] = field(default_factory=dict)
    left: dict[int, int] = field(default_factory=dict)
    edges: dict[int, int] = field(default_factory=dict)
    states: dict[int, tuple[int, int]] = field(default_factory=dict)
    emitted: list[Operator] = field(default_factory=list)
    cuts: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def run(self) -> None:
        draft, before = self.draft, list(self.draft.operators)
        draft.set_metadata(OFFLINE_MEMORY_ALLOCATION, None)  # It says where other tensors lie.
        self._collect()
        self._take_frames()
        order = sorted(self.plan.operators)
        for number in order:
            operator = before[number]
            output = operator.output_tensors[0]
            if output in self.needs and self.needs[output].left:
                self.left[output] = self._beginning(number, output)
        for number, operator in enumerate(before):
            if number in self.facts.views:
                continue
            output = operator.output_tensors[0] if operator.output_tensors else -1
            if number not in self.plan.operators:
                inputs = tuple(self.right[t][0] if t in self.right else t for t in operator.inputs or ())
                self.emitted.append(replace(operator, inputs=inputs))
            elif output in self.needs:
                self._keep(output, self._applied(number, self.new[output], is_left=False))
        draft.operators = self.emitted
        for tensor in set(draft.outputs) & self.right.keys():
            self._rename(self.right[tensor][0], tensor)

    def _rename(self, made: int, output: int) -> None:
        """Make what stands for an output of the model that output, whose name is part of the interface."""
        for number, operator in enumerate(self.draft.operators):
            inputs, outputs = (replace_all(each, made, output) for each in (operator.inputs, operator.outputs))
            self.draft.operators[number] = replace(operator, inputs=inputs, outputs=outputs)

    def _collect(self) -> None:
        """Find from the end on which rows of each tensor are needed, and which of these are computed."""
        operators = self.draft.operators
        for number in range(len(operators) - 1, -1, -1):
            if number in self.plan.operators:
                self._collect_from(number)
                continue
            for tensor in set(operators[number].input_tensors) & self.facts.rows.keys():
                self._want_whole(tensor)
        for tensor in set(self.draft.outputs) & self.facts.rows.keys():
            self._want_whole(tensor)

    def _want_whole(self, tensor: int) -> None:
        rows = self.facts.rows[tensor]
        need = self.needs.setdefault(tensor, _Need(rows.left))
        need.first, need.end, need.left, need.is_whole = rows.left, rows.size, max(need.left, rows.left), True

    def _collect_from(self, number: int) -> None:
        """Add what an operator of the plan reads; all readers of its output have been looked at."""
        output = self.draft.operators[number].output_tensors[0]
        if output in self.draft.outputs:
            self._want_whole(output)
        need, rule = self.needs.get(output), self.facts.rules[number]
        if need is None:
            return
        rows, need.edge = self.facts.rows[output], need.left
        if output in self.plan.lasting and rows.left < need.left <= min(rows.end, need.end) - rows.step:
            need.first, need.edge = rows.left, rows.left
        self.new[output] = self._computed(output, need)
        right = self._reading(number, self.new[output]).rows
        left = self._reading(number, (0, need.edge)).rows[1] if need.edge else 0
        for tensor in rule.activations:
            own = self.needs.setdefault(tensor, _Need(right[0]))
            own.first, own.end, own.left = min(own.first, right[0]), max(own.end, right[1]), max(own.left, left)

    def _computed(self, tensor: int, need: _Need) -> Range:
        """Return the rows of a tensor that are computed in each invocation."""
        rows = self.facts.rows[tensor]
        if self._kept(tensor) is Keep.AGAIN:
            return need.first, need.end
        return max(need.first, min(rows.end, need.end) - rows.step), need.end

    def _kept(self, tensor: int) -> Keep:
        """Return how the old rows of a tensor are kept; left parts read a ring of old rows only."""
        keep, need = self.plan.kept(tensor), self.needs[tensor]
        return Keep.OLD if keep is not Keep.RESOURCE and need.edge < need.left else keep

    def _beginning(self, number: int, output: int) -> int:
        """Return the first rows of an operator's output, for left parts: computed, and out of the ring."""
        need, rows = self.needs[output], self.facts.rows[output]
        parts = [self._applied(number, (0, need.edge), is_left=True)] if need.edge else []
        self.edges.update((output, part) for part in parts)
        if need.edge < need.left:
            ring, _ = self._state(output, self.new[output][0] - need.first)
            parts.append(self._cut(ring, rows, need.first, (need.edge, need.left)))
        return parts[0] if len(parts) == 1 else self._joined(output, parts, need.left)

    def _state(self, tensor: int, old: int) -> tuple[int, int]:
        """Return the ring that holds the old rows of a tensor when an invocation begins, and its VAR_HANDLE or -1."""
        if tensor not in self.states:
            draft, like, handle = self.draft, self.draft.tensors[tensor], -1
            is_resource = self._kept(tensor) is Keep.RESOURCE
            dims = self._dims(tensor, old)
            ring = draft.add_tensor(dims, like.type, quantization=like.quantization, is_variable=not is_resource)
            if is_resource:
                handle = draft.add_tensor((), TensorType.RESOURCE)
                options = {"container": "", "shared_name": f"ring{len(self.states) + 1}"}
                self.emitted.append(draft.operator("VAR_HANDLE", (), (handle,), options=options))
                self.emitted.append(draft.operator("READ_VARIABLE", (handle,), (ring,)))
            self.states[tensor] = ring, handle
        return self.states[tensor]

    def _take_frames(self) -> None:
        """Make the input one of the new frames only, and keep the old ones that are read."""
        draft, source = self.draft, self.facts.source
        rows, need = self.facts.rows[source], self.needs[source]
        (before,) = draft.inputs
        frames = draft.add_like(source, self._dims(source, rows.step))
        draft.tensors[frames] = replace(draft.tensors[frames], name=draft.tensors[before].name)
        draft.inputs = (frames,)
        signatures = tuple(
            replace(each, inputs=tuple((name, frames if tensor == before else tensor) for name, tensor in each.inputs))
            if each.subgraph_index == 0
            else each
            for each in draft.origin.signatures
        )
        draft.origin = replace(draft.origin, signatures=signatures)
        if need.left:
            need.first = 0
        need.edge = need.left  # All of them are kept.
        self.new[source] = (rows.size - rows.step, rows.size)
        need.end = rows.size
        self._keep(source, frames)
        if need.left:
            self.left[source] = self.edges[source] = self.right[source][0]

    def _dims(self, tensor: int, rows: int) -> list[int]:
        dims = list(shape(self.draft, tensor))
        dims[self.facts.rows[tensor].axis] = rows
        return dims

    def _keep(self, tensor: int, fresh: int) -> None:
        """Put together the rows that are needed: those at the beginning, the old ones, the new ones; keep them."""
        rows, need = self.facts.rows[tensor], self.needs[tensor]
        start, end = self.new[tensor]
        prefix = need.is_whole and rows.left > 0
        old = start - need.first
        if old <= 0 and not prefix:
            self.right[tensor] = fresh, start
            return
        first = 0 if prefix else need.first
        parts = [self._cut(self.edges[tensor], rows, 0, (0, rows.left))] if prefix else []
        self.right[tensor] = (self._ring(tensor, parts, old, fresh, end - first) if old > 0 else -1), first
        if old <= 0:
            self.right[tensor] = self._joined(tensor, [*parts, fresh], end - first), first

    def _ring(self, tensor: int, before: Sequence[int], old: int, fresh: int, size: int) -> int:
        """Return a tensor of ``size`` rows: those before, the old ones, and the fresh ones.

        The old ones of the next invocation begin ``step`` rows behind those of this one.
        """
        draft, rows, like = self.draft, self.facts.rows[tensor], self.draft.tensors[tensor]
        keep = self._kept(tensor)
        dims = self._dims(tensor, old)
        next_old = sum(shape(draft, each)[rows.axis] for each in before) + rows.step
        new = shape(draft, fresh)[rows.axis]
        if keep is Keep.AGAIN or (keep is Keep.WHOLE and tensor in draft.outputs):
            keep = Keep.OLD  # An output is no variable.
        self.rings[tensor] = Ring(size if keep is Keep.WHOLE else old, int(np.prod(dims)) // old, keep)
        if keep is Keep.WHOLE:
            ring = draft.add_tensor(
                self._dims(tensor, size), like.type, quantization=like.quantization, is_variable=True
            )
            taken, held = self._slice(ring, rows.axis, (next_old, next_old + old))
            joined = draft.operator("CONCATENATION", (*before, held, fresh), (ring,), options={"axis": rows.axis})
            self.emitted += [taken, joined]
            return ring
        ring, handle = self._state(tensor, old)
        whole = self._joined(tensor, [*before, ring, fresh], size)
        # Where all of them are new ones, the tensor that is put together need not be alive for that.
        source, first = (fresh, next_old - (size - new)) if next_old >= size - new else (whole, next_old)
        taken, held = self._slice(source, rows.axis, (first, first + old))
        if keep is Keep.RESOURCE:
            self.emitted += [taken, draft.operator("ASSIGN_VARIABLE", (handle, held), ())]
        else:
            self.emitted.append(replace(taken, outputs=(ring,)))
        return whole

    def _slice(self, tensor: int, axis: int, wanted: Range) -> tuple[Operator, int]:
        """Return a SLICE of rows, and its output; its constants are the same for many, since -1 is all up to the end.

        Source: tensorflow/lite/micro/kernels/slice.cc @ 90b983c.
        """
        draft, dims = self.draft, list(shape(self.draft, tensor))
        begin, sizes = [0] * len(dims), [-1] * len(dims)
        begin[axis] = wanted[0]
        if wanted[1] < dims[axis]:
            sizes[axis] = wanted[1] - wanted[0]
        dims[axis] = wanted[1] - wanted[0]
        output = draft.add_like(tensor, dims)
        operands = (tensor, add_integers(draft, begin), add_integers(draft, sizes))
        return draft.operator("SLICE", operands, (output,)), output

    def _joined(self, tensor: int, parts: Sequence[int], size: int) -> int:
        whole = self.draft.add_like(tensor, self._dims(tensor, size))
        axis = self.facts.rows[tensor].axis
        self.emitted.append(self.draft.operator("CONCATENATION", parts, (whole,), options={"axis": axis}))
        return whole

    def _cut(self, tensor: int, rows: MovingRows, first: int, wanted: Range) -> int:
        """Return some rows of a tensor that begins with row ``first``."""
        start, end = wanted[0] - first, wanted[1] - first
        if (start, end) == (0, shape(self.draft, tensor)[rows.axis]):
            return tensor
        if (tensor, start, end) not in self.cuts:
            taken, self.cuts[tensor, start, end] = self._slice(tensor, rows.axis, (start, end))
            self.emitted.append(taken)
        return self.cuts[tensor, start, end]

    def _reading(self, number: int, wanted: Range) -> _Reading:
        """Return what an operator reads for rows of its output."""
        draft, operator, rule = self.draft, self.draft.operators[number], self.facts.rules[number]
        field = rule.receptive_field(wanted)
        # A row that is made of padding only reads the row beside it.
        first, end = min(max(0, field[0]), rule.size - 1), max(min(rule.size, field[1]), 1)
        if isinstance(rule, WindowRule) and field[0] < rule.size and field[1] > 0:
            padding = first - field[0], field[1] - end
            across = _padding_across(draft, operator, self._axis(number))
            if not any((*padding, *across)):
                return _Reading((first, end), wanted, is_valid=True)
            own = rule.window.output(end - first)
            if rule.window.is_same and own == (wanted[1] - wanted[0], padding[0]):
                return _Reading((first, end), wanted)
            if self.plan.is_padded and draft.name(operator) in CONVOLUTIONS:
                return _Reading((first, end), wanted, padding, is_valid=True)
        reach = range(2 * (rule.window.extent if isinstance(rule, WindowRule) else 4) + 1)
        for before, behind in sorted(product(reach, reach), key=sum):
            read = max(0, first - before), min(rule.size, end + behind)
            written = rule.written(*read)
            if written is not None and _is_right(rule, read, written, wanted):
                return _Reading(read, written)
        raise NotRunnable(f"#{number} {draft.name(operator)} cannot run on rows {wanted[0]} to {wanted[1] - 1} alone")

    def _axis(self, number: int) -> int:
        """Return the axis of an operator's inputs along which the rows lie."""
        return self.facts.rows[self.facts.rules[number].activations[0]].axis

    def _applied(self, number: int, wanted: Range, *, is_left: bool) -> int:
        """Run an operator for rows of its output, on the rows of its inputs that are there; return these rows."""
        draft, operator, rule = self.draft, self.draft.operators[number], self.facts.rules[number]
        axis, reading = self._axis(number), self._reading(number, wanted)
        cut: dict[int, int] = {}
        for tensor in rule.activations:
            source, first = (self.left[tensor], 0) if is_left else self.right[tensor]
            if is_left and tensor == self.facts.source:
                first = self.right[tensor][1]
            cut[tensor] = self._cut(source, self.facts.rows[tensor], first, reading.rows)
        options = dict(operator.options)
        inputs = [cut.get(tensor, tensor) for tensor in operator.input_tensors]
        inputs = rule.operands(draft, inputs, axis, reading.rows, reading.written)
        if reading.padding is not None:
            inputs[0] = self._padded(inputs[0], operator, axis, reading.padding)
        if reading.is_valid:
            options["padding"] = PADDING_VALID
        output = operator.output_tensors[0]
        size = reading.written[1] - reading.written[0]
        made = draft.add_like(output, self._dims(output, size))
        if draft.name(operator) == "RESHAPE":
            options["new_shape"] = shape(draft, made)
            inputs = [*inputs[:1], *([add_integers(draft, shape(draft, made))] if len(inputs) > 1 else [])]
        self.emitted.append(replace(operator, inputs=tuple(inputs), outputs=(made,), options=options))
        return self._cut(made, self.facts.rows[output], reading.written[0], wanted)

    def _padded(self, tensor: int, operator: Operator, axis: int, padding: Range) -> int:
        """Return rows with padding on all sides that the operator pads."""
        draft = self.draft
        widths = np.zeros((4, 2), "<i4")
        widths[axis], widths[3 - axis] = padding, _padding_across(draft, operator, axis)
        dims = [size + int(more) for size, more in zip(shape(draft, tensor), widths.sum(axis=1), strict=True)]
        made = draft.add_like(tensor, dims)
        constant = draft.add_tensor((4, 2), TensorType.INT32, data=widths.tobytes())
        self.emitted.append(draft.operator("PAD", (tensor, constant), (made,)))
        return made


def _padding_across(draft: Draft, operator: Operator, axis: int) -> Range:
    """Return the padding of a windowed operator along the other axis of its image."""
    across = 3 - axis
    assert is_image(draft, operator.input_tensors[0]), "windows move on images"
    size, walk = shape(draft, operator.input_tensors[0])[across], window(draft, operator, across)
    outputs, before = walk.output(size)
    return before, max(0, (outputs - 1) * walk.stride + walk.extent - size - before) if walk.is_same else 0


def _is_right(rule: Rule, read: Range, written: Range, wanted: Range) -> bool:
    """Return whether a run on some rows makes those that are wanted, each of what it is made of in the whole."""
    is_covered = written[0] <= wanted[0] and wanted[1] <= written[1]
    from_start = read[0] == 0 or rule.first_right(read[0]) <= wanted[0]
    return is_covered and from_start and (read[1] == rule.size or rule.end_right(read[1]) >= wanted[1])
