"""``Draft``: a model whose main subgraph is being rewritten.

    draft = Draft(model)
    half = draft.add_tensor((1, 4, 8, 8), TensorType.INT8, quantization=...)
    draft.operators[3:5] = [draft.operator("SLICE", (x, begin, size), (half,)), ...]
    smaller = draft.model()          # what nothing names any more is gone
    data = encode(smaller)

Tensors keep their index while the draft lives; ``model()`` leaves out what no operator, input, output or signature
names, and numbers the rest again. Other subgraphs stay as they are, unless nothing runs them any more; operators can be
moved to a new one (``outline``).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from tflm_sim.errors import ModelError
from tflm_sim.model import types
from tflm_sim.model.build_values import complete_options
from tflm_sim.model.schema import BUILTIN_OPERATORS, builtin_operator_code, options_of_operator
from tflm_sim.model.unkept import refuse_unkept

# Options that name a subgraph by its index.
SUBGRAPH_OPTIONS = (
    "then_subgraph_index",
    "else_subgraph_index",
    "init_subgraph_index",
    "cond_subgraph_index",
    "body_subgraph_index",
)
_NO_DATA = types.ConstantData(None)


def refuse_unwritable(model: types.Model) -> None:
    """Refuse a model that contains more than a :class:`Model` keeps.

    Raises:
        ModelError: A tensor is sparse or has quantization details; data lies outside of the flatbuffer; compressed
            tensors are named by index in a metadata buffer; the file has no subgraph, or a field that a Model has not.
    """
    if not model.subgraphs:
        raise ModelError("the file has no subgraph")
    for index, buffer in enumerate(model.buffers):
        if buffer.external is not None:
            raise ModelError(f"buffer {index} lies outside of the flatbuffer, which cannot be rewritten")
    for number, subgraph in enumerate(model.subgraphs):
        for index, tensor in enumerate(subgraph.tensors):
            _refuse_tensor(model, tensor, f"tensor {index} of subgraph {number}")
        for index, operator in enumerate(subgraph.operators):
            if operator.opcode_index >= len(model.operator_codes):
                raise ModelError(f"operator {index} of subgraph {number} names an operator code that is not there")
    _refuse_metadata(model)
    refuse_unkept(model.source)


def _refuse_metadata(model: types.Model) -> None:
    if any(metadata.name == "COMPRESSION_METADATA" for metadata in model.metadata):
        raise ModelError("compressed tensors are named by index in COMPRESSION_METADATA, which cannot be rewritten")
    for index in (*(model.metadata_buffers or ()), *(metadata.buffer for metadata in model.metadata)):
        if not 0 <= index < len(model.buffers):
            raise ModelError(f"the metadata names buffer {index}, which is not there")


def _refuse_tensor(model: types.Model, tensor: types.Tensor, where: str) -> None:
    if tensor.has_sparsity:
        raise ModelError(f"{where} is sparse, which cannot be rewritten", offset=tensor.offset)
    if tensor.quantization is not None and tensor.quantization.details_type:
        raise ModelError(f"{where} has quantization details, which cannot be rewritten", offset=tensor.offset)
    if tensor.buffer >= len(model.buffers):
        raise ModelError(f"{where} names buffer {tensor.buffer}, which is not there", offset=tensor.offset)


class Draft:
    """A model whose main subgraph is being rewritten (mutable).

    Attributes:
        origin: The model from which the draft was made.
        tensors: The tensors of the main subgraph.
        operators: The operators of the main subgraph, in execution order.
        inputs, outputs: Tensor indices of the main subgraph.
        metadata: Named buffers.
    """

    def __init__(self, model: types.Model) -> None:
        main = model.subgraphs[0]
        self.origin = model
        self.tensors: list[types.Tensor] = list(main.tensors)
        self.operators: list[types.Operator] = list(main.operators)
        self.inputs = main.input_tensors
        self.outputs = main.output_tensors
        self.metadata: list[types.Metadata] = list(model.metadata)
        self._buffers: list[types.ConstantData] = list(model.buffers)
        self._codes: list[types.OperatorCode] = list(model.operator_codes)
        self._outlined: list[types.Subgraph] = []

    def name(self, operator: types.Operator) -> str:
        """Return "CONV_2D", ..., or "CUSTOM" for every custom operator."""
        code = self._codes[operator.opcode_index].builtin_code
        return BUILTIN_OPERATORS[code] if 0 <= code < len(BUILTIN_OPERATORS) else f"operator code {code}"

    def code(self, operator: types.Operator) -> types.OperatorCode:
        """Return the entry of the operator table that an operator names."""
        return self._codes[operator.opcode_index]

    def data(self, tensor: int) -> memoryview | None:
        """Return a tensor's constant bytes, None when it has none or is absent."""
        return None if tensor < 0 else self.data_of(self.tensors[tensor])

    def data_of(self, tensor: types.Tensor) -> memoryview | None:
        """Return the constant bytes of a tensor of any subgraph, None when it has none.

        Those of a variable tensor in the file are not read: TFLM gives it a place of its own and resets that.

        Source: tensorflow/lite/micro/micro_allocator.cc AllocateVariables @ 90b983c.
        """
        data = None if tensor.is_variable else self._buffers[tensor.buffer].data
        return data if data is not None and len(data) else None

    def is_constant(self, tensor: int) -> bool:
        """Return whether a tensor has constant bytes."""
        return self.data(tensor) is not None

    def is_activation(self, tensor: int) -> bool:
        """Return whether a tensor index names a computed tensor: neither constant nor absent."""
        return tensor >= 0 and not self.is_constant(tensor)

    def readers(self, tensor: int) -> list[int]:
        """Return the operators that read a tensor, in execution order."""
        return [index for index, operator in enumerate(self.operators) if tensor in operator.input_tensors]

    def sole_reader(self, tensor: int) -> int | None:
        """Return the only operator that reads a tensor; None where others do, or it is an output of the model."""
        readers = self.readers(tensor)
        return readers[0] if len(readers) == 1 and tensor not in self.outputs else None

    def writers(self, tensor: int) -> list[int]:
        """Return the operators that write a tensor, in execution order."""
        return [index for index, operator in enumerate(self.operators) if tensor in operator.output_tensors]

    def add_tensor(
        self,
        shape: Sequence[int],
        type: int,
        *,
        quantization: types.Quantization | None = None,
        data: bytes | None = None,
        is_variable: bool = False,
        name: str = "",
    ) -> int:
        """Add a tensor, with constant data of its own if any, and return its index."""
        buffer = 0
        if data is not None:
            self._buffers.append(types.ConstantData(memoryview(data)))
            buffer = len(self._buffers) - 1
        self.tensors.append(
            types.Tensor(name, tuple(shape), type, buffer, is_variable=is_variable, quantization=quantization)
        )
        return len(self.tensors) - 1

    def add_like(self, tensor: int, shape: Sequence[int]) -> int:
        """Add an activation with another tensor's type and quantization, and return its index."""
        like = self.tensors[tensor]
        return self.add_tensor(shape, like.type, quantization=like.quantization)

    def operator(
        self,
        name: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        *,
        options: Mapping[str, types.OptionValue] | None = None,
        version: int = 1,
    ) -> types.Operator:
        """Return a builtin operator for this draft; the operator table gets an entry if need be."""
        builtin = builtin_operator_code(name)
        index = next(
            (i for i, code in enumerate(self._codes) if code.builtin_code == builtin and code.custom_code is None), None
        )
        if index is None:
            index = len(self._codes)
            self._codes.append(types.OperatorCode(builtin, builtin, None, version))
        table = options_of_operator(name)
        return types.Operator(
            opcode_index=index,
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            options_type=table,
            options=complete_options(table, options or {}),
        )

    def drop(self, operators: Container[int]) -> None:
        self.operators = [operator for index, operator in enumerate(self.operators) if index not in operators]

    @property
    def nested(self) -> list[types.Subgraph]:
        """Every subgraph by its index in the draft; the main one as it was at the start."""
        return [*self.origin.subgraphs, *self._outlined]

    def outline(self, operators: Sequence[types.Operator], inputs: Sequence[int], outputs: Sequence[int]) -> int:
        """Move operators of this draft to a new subgraph, and return its index in the draft.

        The tensors are copied without their names; constants keep their bytes.
        """
        named = {tensor for operator in operators for tensor in operator.named_tensors}
        numbers = {old: new for new, old in enumerate(sorted(named.union(inputs, outputs)))}
        moved = tuple(_renumbered(operator, numbers) for operator in operators)
        self._outlined.append(
            types.Subgraph(
                tuple(replace(self.tensors[old], name="") for old in numbers),
                moved,
                tuple(numbers[tensor] for tensor in inputs),
                tuple(numbers[tensor] for tensor in outputs),
            )
        )
        return len(self.nested) - 1

    def set_metadata(self, name: str, payload: bytes | None) -> None:
        """Replace a metadata entry; None removes it."""
        self.metadata = [entry for entry in self.metadata if entry.name != name]
        if payload is not None:
            self._buffers.append(types.ConstantData(memoryview(payload)))
            self.metadata.append(types.Metadata(name, len(self._buffers) - 1))

    def consumers(self) -> dict[int, list[int]]:
        """Return the operators that read each tensor, by tensor index, each operator once."""
        found: dict[int, list[int]] = {}
        for index, operator in enumerate(self.operators):
            for tensor in dict.fromkeys(operator.input_tensors):
                found.setdefault(tensor, []).append(index)
        return found

    def producers(self) -> dict[int, int]:
        """Return the last operator that writes each tensor, by tensor index."""
        return {tensor: index for index, operator in enumerate(self.operators) for tensor in operator.output_tensors}

    def model(self) -> types.Model:
        """Return the model, without what nothing refers to any more. Positions in the file have no meaning in it."""
        subgraphs, kept = self._subgraphs()
        main, numbers = self._main(kept)
        subgraphs = [replace(main, name=subgraphs[0].name), *subgraphs[1:]]
        signatures = tuple(
            replace(
                signature,
                subgraph_index=kept[signature.subgraph_index],
                inputs=tuple((name, numbers[tensor]) for name, tensor in signature.inputs),
                outputs=tuple((name, numbers[tensor]) for name, tensor in signature.outputs),
            )
            if signature.subgraph_index == 0
            else replace(signature, subgraph_index=kept[signature.subgraph_index])
            for signature in self.origin.signatures
        )
        draft = replace(
            self.origin,
            subgraphs=tuple(subgraphs),
            operator_codes=tuple(self._codes),
            buffers=tuple(self._buffers),
            metadata=tuple(self.metadata),
            signatures=signatures,
        )
        return _without_unnamed(draft)

    def _running_subgraphs(self) -> set[int]:
        """Return the main subgraph, those that signatures name, and all that are run from there."""
        found, queue = set[int](), [0, *(signature.subgraph_index for signature in self.origin.signatures)]
        while queue:
            index = queue.pop()
            found.add(index)
            operators = self.operators if index == 0 else self.nested[index].operators
            queue += [named for operator in operators for named in _named_subgraphs(operator) if named not in found]
        return found

    def _subgraphs(self) -> tuple[list[types.Subgraph], dict[int, int]]:
        """Return the subgraphs that something runs or a signature names, and their new index by old index."""
        named_before = {
            named for subgraph in self.origin.subgraphs for o in subgraph.operators for named in _named_subgraphs(o)
        }
        # A subgraph that nothing ran in the original model belongs to the file's interface, and stays.
        wanted = self._running_subgraphs() | set(range(len(self.origin.subgraphs))) - named_before
        kept = {old: new for new, old in enumerate(sorted(wanted))}
        nested = self.nested
        subgraphs = [nested[old] for old in kept]
        renumbered = [
            replace(subgraph, operators=tuple(_with_subgraphs(operator, kept) for operator in subgraph.operators))
            for subgraph in subgraphs
        ]
        return renumbered, kept

    def _named_tensors(self) -> set[int]:
        named = {*self.inputs, *self.outputs}
        for operator in self.operators:
            named.update((*operator.named_tensors, *operator.intermediate_tensors))
        for signature in self.origin.signatures:
            if signature.subgraph_index == 0:
                named.update(tensor for _, tensor in (*signature.inputs, *signature.outputs))
        return {tensor for tensor in named if tensor >= 0}

    def _main(self, kept: Mapping[int, int]) -> tuple[types.Subgraph, dict[int, int]]:
        """Return the main subgraph with the tensors that are named, and their new index by old index."""
        numbers = {old: new for new, old in enumerate(sorted(self._named_tensors()))}

        origin = self.origin.subgraphs[0]
        main = replace(
            origin,
            tensors=tuple(self.tensors[old] for old in numbers),
            operators=tuple(_renumbered(_with_subgraphs(operator, kept), numbers) for operator in self.operators),
            inputs=_numbered(self.inputs, numbers) if origin.inputs is not None else None,
            outputs=_numbered(self.outputs, numbers) if origin.outputs is not None else None,
        )
        return main, numbers


def _numbered(tensors: tuple[int, ...] | None, numbers: Mapping[int, int]) -> tuple[int, ...] | None:
    return None if tensors is None else tuple(numbers.get(tensor, tensor) for tensor in tensors)


def _renumbered(operator: types.Operator, numbers: Mapping[int, int]) -> types.Operator:
    return replace(
        operator,
        inputs=_numbered(operator.inputs, numbers),
        outputs=_numbered(operator.outputs, numbers),
        intermediates=_numbered(operator.intermediates, numbers),
    )


def _named_subgraphs(operator: types.Operator) -> list[int]:
    values = (operator.options.get(option) for option in SUBGRAPH_OPTIONS)
    return [value for value in values if isinstance(value, int) and value >= 0]


def _with_subgraphs(operator: types.Operator, kept: Mapping[int, int]) -> types.Operator:
    if not _named_subgraphs(operator):
        return operator
    options = {
        name: kept.get(value, value) if name in SUBGRAPH_OPTIONS and isinstance(value, int) else value
        for name, value in operator.options.items()
    }
    return replace(operator, options=options)


class _KeptBuffers:
    """The buffers of a new file (mutable): those that are used, equal ones once; the first one is empty."""

    def __init__(self, old: Sequence[types.ConstantData]) -> None:
        self.buffers: list[types.ConstantData] = [_NO_DATA]
        self._old = old
        self._numbers: dict[int, int] = {} if old else {0: 0}
        self._by_content: dict[bytes, int] = {b"": 0}

    def number(self, old: int) -> int:
        """Return the new index of a buffer."""
        if old not in self._numbers:
            buffer = self._old[old]
            content = b"" if buffer.data is None else bytes(buffer.data)
            if content not in self._by_content:
                self._by_content[content] = len(self.buffers)
                self.buffers.append(replace(buffer, address=0))
            self._numbers[old] = self._by_content[content]
        return self._numbers[old]


def _without_unnamed(model: types.Model) -> types.Model:
    """Return the model without buffers and operator codes that nothing names; equal buffers become one."""
    kept = _KeptBuffers(model.buffers)
    number = kept.number
    used = sorted({operator.opcode_index for subgraph in model.subgraphs for operator in subgraph.operators})
    codes = {old: new for new, old in enumerate(used)}
    subgraphs = tuple(
        replace(
            subgraph,
            tensors=tuple(replace(tensor, buffer=number(tensor.buffer)) for tensor in subgraph.tensors),
            operators=tuple(replace(o, opcode_index=codes[o.opcode_index]) for o in subgraph.operators),
        )
        for subgraph in model.subgraphs
    )
    metadata = tuple(replace(entry, buffer=number(entry.buffer)) for entry in model.metadata)
    named = None if model.metadata_buffers is None else tuple(map(number, model.metadata_buffers))
    return replace(
        model,
        subgraphs=subgraphs,
        metadata=metadata,
        metadata_buffers=named,
        buffers=tuple(kept.buffers),
        operator_codes=tuple(model.operator_codes[old] for old in used),
    )
