"""``EonSource``: the model that a source of the EON compiler declares, and the room that it has at run time.

    tensorData[]        type, place in the arena or constant, dimensions, bytes, quantization    EonTensor
    tflNodes[]          inputs, outputs, builtin data; nodeData[] until 2023                     EonOperator
    used_ops[]          the operator of each node
    in_tensor_indices   inputs and outputs; sources until 2022 call them inTensorIndices

What it does not say: names, which tensors are variables, descriptions, signatures, metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from tflm_sim.errors import ModelError
from tflm_sim.extensions.eon import is_eon_source
from tflm_sim.extensions.eon.initializers import Declaration, Initializer, declarations, find, named
from tflm_sim.extensions.eon.parameters import options_of
from tflm_sim.limits import MAX_SOURCE_BYTES
from tflm_sim.model.element_types import CONSTANT_NAMES, STRUCT_CODES
from tflm_sim.model.preprocess import preprocessed
from tflm_sim.model.schema import BUILTIN_OPERATORS
from tflm_sim.model.types import OptionValue, TensorType

_COMPILER = {"__GNUC__": "12", "__cplusplus": "201703L"}
_ARENA_SIZE = re.compile(r"\bkTensorArenaSize\s*+=\s*+(\d{1,12}+)(?:\s*+\*\s*+(\d{1,6}+))?+\s*+;")
_TYPE_OF_ALL = re.compile(r"\b(?:tensor->|tflTensors\[i\]\.)type = (\w++);")
_DAY = re.compile(r"// Generated on: (\d\d)\.(\d\d)\.(\d{4})\b")
_COUNT = r"\b{}\s*+=\s*+(\d{{1,12}}+)\s*+;"
_TYPES = {name: number for number, name in CONSTANT_NAMES.items()}
_C_TYPES = {
    "float": TensorType.FLOAT32,
    "double": TensorType.FLOAT64,
    "bool": TensorType.BOOL,
    **{f"{sign}int{bits}_t": TensorType[f"{sign}INT{bits}".upper()] for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
_CUSTOM = {"ETHOSU": "ethos-u", "TreeEnsembleClassifier": "TreeEnsembleClassifier"}
"""Custom operators that have a kernel in Edge Impulse's SDK, by what a source calls them: their name in a model."""
_PLACE = re.compile(r"tensor_arena\s*+\+\s*+(\d{1,12}+)")


@dataclass(frozen=True, slots=True)
class EonTensor:
    """A row of ``tensorData``.

    Attributes:
        type: A ``TensorType``.
        shape: Its dimensions.
        size: Bytes, as stated.
        offset: From the arena's start; None for a constant.
        data: The constant's bytes; None in the arena.
        scale: Of its affine quantization; None without one.
        zero_point: Likewise.
        quantized_dimension: The axis of the channels.
    """

    type: int
    shape: tuple[int, ...]
    size: int
    offset: int | None
    data: bytes | None
    scale: tuple[float, ...] | None
    zero_point: tuple[int, ...]
    quantized_dimension: int


@dataclass(frozen=True, slots=True)
class EonOperator:
    """A node: its operator, tensor indices (-1: absent) and options as in a .tflite file, of a custom one as bytes."""

    op: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Mapping[str, OptionValue]
    custom_options: bytes | None = None


@dataclass(frozen=True, slots=True)
class EonSubgraph:
    """The tensors and operators of one subgraph, which count from 0."""

    tensors: tuple[EonTensor, ...]
    operators: tuple[EonOperator, ...]


@dataclass(frozen=True, slots=True)
class EonSource:
    """The model and the limits that a source of the EON compiler declares.

    Attributes:
        generated: The day on which it was generated; None where it does not say.
        arena_size: ``kTensorArenaSize``, bytes.
        overflow_limit: ``EI_MAX_OVERFLOW_BUFFER_COUNT``: how many buffers may be on the heap; None until 2022, for no
            limit.
        scratch_limit: ``EI_MAX_SCRATCH_BUFFER_COUNT``: how many scratch buffers all operators may have together; None
            likewise.
        tensor_slots: ``MAX_TFL_TENSOR_COUNT``: how many tensors one Prepare may take; None for no limit.
        eval_slots: ``MAX_TFL_EVAL_COUNT``: how many eval tensors one Invoke may take; None for no limit.
        aligns: Whether operators' buffers are aligned to 16 bytes, as since September 2023.
        has_micro_context: Whether it is written for an SDK whose kernels ask a ``MicroContext``, as since August 2023.
        has_eval_tensors: Whether it is written for an SDK with ``TfLiteEvalTensor``, as since May 2021.
        subgraphs: Subgraph 0 is the model's.
        inputs: Tensor indices in subgraph 0.
        outputs: Likewise.
    """

    generated: date | None
    arena_size: int
    overflow_limit: int | None
    scratch_limit: int | None
    tensor_slots: int | None
    eval_slots: int | None
    aligns: bool
    has_micro_context: bool
    has_eval_tensors: bool
    subgraphs: tuple[EonSubgraph, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @property
    def tensors_end(self) -> int:
        """Bytes from the arena's start to the end of the last tensor."""
        rows = (row for subgraph in self.subgraphs for row in subgraph.tensors if row.offset is not None)
        return max(((row.offset or 0) + row.size for row in rows), default=0)


def read_eon_source(data: bytes, macros: Mapping[str, str] | None = None) -> EonSource:
    """Return what a source of the EON compiler declares.

    Args:
        data: The file.
        macros: The macros that the firmware's build defines, such as ``EI_MAX_OVERFLOW_BUFFER_COUNT``, with their
            values.

    Raises:
        ModelError: The file is not such a source, is not complete, or contains something that is not supported.
    """
    if not is_eon_source(data):
        raise ModelError(
            "this is not a source of Edge Impulse's EON compiler: it has no kTensorArenaSize and used_operators_e"
        )
    if len(data) > MAX_SOURCE_BYTES:
        raise ModelError(f"a source file of {len(data):,} bytes; at most {MAX_SOURCE_BYTES:,} are read")
    whole = data.decode("utf-8", "replace")
    text, known = preprocessed(whole, {**_COMPILER, **(macros or {})})
    reader = _Reader(text, declarations(text))
    size = _ARENA_SIZE.search(text)
    if size is None:
        raise ModelError("the source does not say kTensorArenaSize")
    return EonSource(
        generated=_generated(whole),
        arena_size=int(size[1]) * int(size[2] or 1),
        overflow_limit=_limit(known, "EI_MAX_OVERFLOW_BUFFER_COUNT", whole),
        scratch_limit=_limit(known, "EI_MAX_SCRATCH_BUFFER_COUNT", whole),
        tensor_slots=reader.count("MAX_TFL_TENSOR_COUNT"),
        eval_slots=reader.count("MAX_TFL_EVAL_COUNT"),
        aligns="align_bytes" in text,
        has_micro_context="EonMicroContext" in text,
        has_eval_tensors="TfLiteEvalTensor" in text,
        subgraphs=tuple(reader.subgraphs()),
        inputs=reader.indices("in_tensor_indices", "inTensorIndices"),
        outputs=reader.indices("out_tensor_indices", "outTensorIndices"),
    )


def _generated(whole: str) -> date | None:
    found = _DAY.search(whole)
    try:
        return None if found is None else date(int(found[3]), int(found[2]), int(found[1]))
    except ValueError:
        return None


def _limit(known: Mapping[str, str], name: str, whole: str) -> int | None:
    """Return a limit that a macro says; None where the source has none."""
    value = known.get(name)
    if name not in whole:
        return None
    try:
        return int(value or "", 0)
    except ValueError:
        raise ModelError(f"{name} is '{(value or '')[:60]}', not a number") from None


class _Reader:
    """The declarations of one source, read as tensors and operators."""

    def __init__(self, text: str, known: dict[str, Declaration]) -> None:
        self._text, self._known = text, known
        said = _TYPE_OF_ALL.search(text)
        self._type_of_all = said[1] if said else ""

    def count(self, name: str) -> int | None:
        found = re.search(_COUNT.format(name), self._text)
        return None if found is None else int(found[1])

    def indices(self, *names: str) -> tuple[int, ...]:
        """Return an array of numbers by the first of its names that there is; () where there is none."""
        found = next((self._known[name] for name in names if name in self._known), None)
        return () if found is None else tuple(_ints(found.items, names[0]))

    def subgraphs(self) -> Iterator[EonSubgraph]:
        tensors = [self._tensor(row) for row in find(self._known, "tensorData").items]
        operators = list(self._operators())
        tensor_ends = self.indices("tflTensors_subgraph_index") or (0, len(tensors))
        node_ends = self.indices("tflNodes_subgraph_index") or (0, len(operators))
        if len(tensor_ends) != len(node_ends):
            raise ModelError("the source has another number of subgraphs for tensors than for operators")
        for position in range(len(tensor_ends) - 1):
            rows = tensors[slice(*tensor_ends[position : position + 2])]
            own = operators[slice(*node_ends[position : position + 2])]
            for row in own:
                foreign = [index for index in (*row.inputs, *row.outputs) if not -1 <= index < len(rows)]
                if foreign:
                    raise ModelError(f"{row.op} has a tensor {foreign[0]}, and there are {len(rows)}")
            yield EonSubgraph(tuple(rows), tuple(own))

    def _tensor(self, row: str | Initializer) -> EonTensor:
        if isinstance(row, list) and self._type_of_all:  # what all tensors have in common is no column
            row = [*row[:1], self._type_of_all, *row[1:]]
        if not isinstance(row, list) or len(row) < 5:
            raise ModelError("a row of tensorData is not supported")
        kind, type_name, place, dims, size, *rest = row
        number = _TYPES.get(named(type_name))
        if number is None:
            raise ModelError(f"a tensor of type {named(type_name)[:60] or '?'}, which is not supported")
        bytes_ = _ints([size], "bytes")[0]
        is_constant = named(kind) == "kTfLiteMmapRo"
        offset = _PLACE.search(place) if isinstance(place, str) else None
        scale, zero_point, axis = self._quantization(rest)
        return EonTensor(
            type=number,
            shape=tuple(_ints(self._array(named(dims)), named(dims))),
            size=bytes_,
            offset=None if is_constant else _ints([offset[1]], "tensor_arena")[0] if offset else 0,
            data=self._data(named(place), bytes_) if is_constant else None,
            scale=scale,
            zero_point=zero_point,
            quantized_dimension=axis,
        )

    def _array(self, name: str, scope: str = "") -> Initializer:
        """Return the elements of a ``TfArray``."""
        items = find(self._known, name, scope).items
        if len(items) == 2 and isinstance(items[1], list):
            return items[1]
        if not items or items[0] == "0":
            return []
        raise ModelError(f"{name[:100]} is not an array with a count")

    def _quantization(self, rest: Initializer) -> tuple[tuple[float, ...] | None, tuple[int, ...], int]:
        said = rest[0] if rest and isinstance(rest[0], list) else []
        if not said or named(said[0]) != "kTfLiteAffineQuantization":
            return None, (), 0
        if len(said) < 2:
            raise ModelError("a tensor has an affine quantization without a name")
        name = named(said[1])
        scope = f"{name.partition('::')[0]}::" if "::" in name else ""
        items = find(self._known, name).items
        if len(items) < 2:
            raise ModelError(f"{name[:100]} is no quantization with scales and zero points")
        scales, zeros = (self._array(named(item), scope) for item in items[:2])
        axis = _ints(items[2:3], name)
        return tuple(_floats(scales, name)), tuple(_ints(zeros, name)), axis[0] if axis else 0

    def _data(self, name: str, size: int | None = None) -> bytes:
        declared = find(self._known, name)
        tensor_type = _C_TYPES.get(declared.type)
        if tensor_type is None:
            raise ModelError(f"{name[:100]} has elements of type {declared.type[:60]}, which is not supported")
        is_float = tensor_type in (TensorType.FLOAT32, TensorType.FLOAT64)
        values = _floats(declared.items, name) if is_float else _ints(declared.items, name, bits=65)
        import struct

        try:
            data = struct.pack(f"<{len(values)}{STRUCT_CODES[tensor_type]}", *values)
        except (struct.error, OverflowError):
            raise ModelError(f"{name[:100]} has elements that its type does not hold") from None
        if size is not None and len(data) != size:
            raise ModelError(f"{name[:100]} has {len(data):,} bytes, and tensorData says {size:,}")
        return data

    def _operators(self) -> Iterator[EonOperator]:
        if "nodeData" in self._known:
            for row in find(self._known, "nodeData").items:
                yield self._operator(row, row[3] if len(row) > 3 else "", 2)
            return
        rows = find(self._known, "tflNodes").items
        used = find(self._known, "used_ops").items
        if len(rows) != len(used):
            raise ModelError(f"the source has {len(rows)} nodes and {len(used)} operators for them")
        for row, op in zip(rows, used, strict=True):
            yield self._operator(row, op, None)

    def _operator(self, row: str | Initializer, op: str | Initializer, data_at: int | None) -> EonOperator:
        name = _operator_name(op)
        if not isinstance(row, list) or len(row) < 3:
            raise ModelError(f"the node of {name} is not supported")
        places = [named(item) for item in row]
        inputs, outputs = places[:2]
        data = places[data_at] if data_at is not None else next((one for one in places[2:] if "opdata" in one), "")
        declared = find(self._known, data) if "opdata" in data else None
        is_custom = name in _CUSTOM
        return EonOperator(
            _CUSTOM.get(name, name),
            tuple(_ints(self._array(inputs), inputs)),
            tuple(_ints(self._array(outputs), outputs)),
            {} if is_custom else options_of(name, declared),
            self._data(data) if is_custom and declared else None,
        )


def _operator_name(op: str | Initializer) -> str:
    name = named(op).removeprefix("OP_")
    if name not in BUILTIN_OPERATORS and name not in _CUSTOM:
        raise ModelError(f"the operator {name[:60] or '?'} is not one of TensorFlow Lite's: it is not modelled")
    return name


def _ints(items: Initializer, name: str, *, bits: int = 32) -> list[int]:
    """Return whole numbers that a signed type of so many bits holds."""
    try:
        values = list(map(int, items))  # type: ignore[arg-type]
        if not all(-1 << (bits - 1) <= value < 1 << (bits - 1) for value in values):
            raise ModelError(f"{name[:100]} has elements that its type does not hold")
        return values
    except (ValueError, TypeError):
        raise ModelError(f"{name[:100]} has elements that are not whole numbers") from None


def _floats(items: Initializer, name: str) -> list[float]:
    try:
        return [float(item.rstrip("fF")) for item in items]  # type: ignore[union-attr]
    except (ValueError, AttributeError):
        raise ModelError(f"{name[:100]} has elements that are not numbers") from None
