"""A small builder of .tflite models, for samples and tests.

    b = ModelBuilder()
    x = b.tensor((1, 8, 8, 4), INT8, scale=0.5)
    w = b.tensor((8, 3, 3, 4), INT8, data=[...], scale=[0.1] * 8, quantized_dimension=0)
    y = b.tensor((1, 8, 8, 8), INT8, scale=0.5)
    b.operator("CONV_2D", [x, w], [y], options={"padding": "SAME", "stride_w": 1, "stride_h": 1})
    data = b.build(inputs=[x], outputs=[y])

Tensors, subgraphs and buffers are named by their index, as in the file. Nothing checks that the graph makes sense:
tests build broken ones on purpose.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence

from tflm_sim.errors import UsageError, expect, whole_number
from tflm_sim.model import types
from tflm_sim.model.build_values import Data, affine_quantization, complete_options, encode_data, whole_numbers
from tflm_sim.model.encode import encode
from tflm_sim.model.schema import BUILTIN_OPERATORS, builtin_operator_code, options_of_operator


class SubgraphBuilder:
    """One subgraph that is being built (mutable).

    Attributes:
        index: Its index in the model.
        inputs: Tensor indices of the subgraph's inputs.
        outputs: Tensor indices of the subgraph's outputs.
    """

    def __init__(self, model: ModelBuilder, name: str, index: int) -> None:
        self.index = index
        self.inputs: Sequence[int] | None = ()
        self.outputs: Sequence[int] | None = ()
        self._model = model
        self._name = name
        self._tensors: list[types.Tensor] = []
        self._operators: list[types.Operator] = []

    def tensor(
        self,
        shape: Sequence[int] | None,
        type: int,
        *,
        data: Data | None = None,
        scale: float | Sequence[float] | None = None,
        zero_point: int | Sequence[int] | None = None,
        quantized_dimension: int = 0,
        name: str = "",
        is_variable: bool = False,
        shape_signature: Sequence[int] | None = None,
        buffer: int | None = None,
    ) -> int:
        """Add a tensor and return its index.

        Args:
            shape: Dimensions in TFLite order; () writes an empty vector, None writes none.
            type: A ``TensorType``.
            data: Constant data, stored in a buffer of its own.
            scale: One scale, one per channel, or None for a tensor without quantization.
            zero_point: Likewise; zero for every scale when left out.
            quantized_dimension: The axis of the channels.
            name, is_variable, shape_signature: As in :class:`Tensor`.
            buffer: A buffer of ``ModelBuilder.buffer`` instead of ``data``; tensors may share it.
        """
        if buffer is None:
            buffer = 0 if data is None else self._model.buffer(data, type)
        self._tensors.append(
            types.Tensor(
                name=expect(name, str, "name as a text"),
                shape=None if shape is None else whole_numbers(shape, "shape"),
                type=whole_number(type, "type", -128, 127),
                buffer=buffer,
                shape_signature=None if shape_signature is None else whole_numbers(shape_signature, "shape_signature"),
                is_variable=expect(is_variable, bool, "is_variable as a truth value"),
                quantization=affine_quantization(scale, zero_point, quantized_dimension),
            )
        )
        return len(self._tensors) - 1

    def operator(
        self,
        op: str,
        inputs: Sequence[int] | None,
        outputs: Sequence[int] | None,
        *,
        options: Mapping[str, types.OptionValue] | None = None,
        options_type: str | None = None,
        custom_options: bytes | None = None,
        intermediates: Sequence[int] | None = None,
        version: int = 1,
    ) -> int:
        """Add a builtin operator and return its index.

        Args:
            op: "CONV_2D", ...
            inputs, outputs: Tensor indices, -1 for an optional tensor that is absent; None writes no vector.
            options: Fields of the options table; the others have the schema's defaults. Enum values may be names.
            options_type: The options table, when it is not the operator's usual one; "" writes none.
            custom_options: Bytes of the custom options, which TFLM refuses on a builtin operator.
            intermediates, version: As in :class:`Operator` and :class:`OperatorCode`.

        Raises:
            UsageError: The schema has no such operator, or its options have no such field or value.
        """
        if expect(op, str, "the name of an operator") not in BUILTIN_OPERATORS:
            raise UsageError(f"there is no builtin operator '{op}'; custom() adds custom operators")
        table = options_of_operator(op) if options_type is None else options_type
        code = builtin_operator_code(op)
        return self._add(
            types.Operator(
                opcode_index=self._model.operator_code(types.OperatorCode(code, code, None, version)),
                inputs=_indices(inputs),
                outputs=_indices(outputs),
                intermediates=_indices(intermediates),
                options_type=table,
                options=complete_options(table, {} if options is None else options),
                custom_options=None if custom_options is None else memoryview(custom_options),
            )
        )

    def custom(
        self,
        custom_code: str,
        inputs: Sequence[int] | None,
        outputs: Sequence[int] | None,
        *,
        options: bytes | None = None,
        intermediates: Sequence[int] | None = None,
    ) -> int:
        """Add a custom operator with the bytes of its options, and return its index."""
        expect(custom_code, str, "the code of a custom operator")
        if options is not None:
            expect(options, bytes | bytearray | memoryview, "options as bytes")
        code = builtin_operator_code("CUSTOM")
        return self._add(
            types.Operator(
                opcode_index=self._model.operator_code(types.OperatorCode(code, code, custom_code, 1)),
                inputs=_indices(inputs),
                outputs=_indices(outputs),
                intermediates=_indices(intermediates),
                custom_options=None if options is None else memoryview(options),
            )
        )

    def subgraph(self) -> types.Subgraph:
        """Return what has been built so far."""
        return types.Subgraph(
            tensors=tuple(self._tensors),
            operators=tuple(self._operators),
            inputs=_indices(self.inputs),
            outputs=_indices(self.outputs),
            name=self._name,
        )

    def _add(self, operator: types.Operator) -> int:
        self._operators.append(operator)
        return len(self._operators) - 1


class ModelBuilder:
    """A model that is being built (mutable). Its own ``tensor``, ``operator`` and ``custom`` are the main subgraph's.

    Attributes:
        main: Subgraph 0.
    """

    def __init__(self, *, description: str = "", version: int = 3) -> None:
        self._description = description
        self._version = version
        self._codes: dict[types.OperatorCode, int] = {}
        self._buffers: list[types.ConstantData] = [types.ConstantData(None)]
        self._metadata: list[types.Metadata] = []
        self._signatures: list[types.Signature] = []
        self._subgraphs: list[SubgraphBuilder] = []
        self.main = self.add_subgraph("main")
        self.tensor = self.main.tensor
        self.operator = self.main.operator
        self.custom = self.main.custom

    def add_subgraph(self, name: str = "") -> SubgraphBuilder:
        """Add a subgraph; its ``index`` is what control flow operators name."""
        self._subgraphs.append(SubgraphBuilder(self, name, len(self._subgraphs)))
        return self._subgraphs[-1]

    def buffer(self, data: Data | None, type: int = types.TensorType.UINT8) -> int:
        """Add constant data and return its index; None adds a buffer without data."""
        self._buffers.append(types.ConstantData(None if data is None else memoryview(encode_data(data, type))))
        return len(self._buffers) - 1

    def operator_code(self, code: types.OperatorCode) -> int:
        """Return the index of ``code`` in the operator table, which gets a new entry if need be."""
        return self._codes.setdefault(code, len(self._codes))

    def metadata(self, name: str, payload: bytes) -> None:
        """Add a named buffer, such as ``OfflineMemoryAllocation``."""
        self._metadata.append(types.Metadata(name, self.buffer(payload)))

    def signature(
        self, key: str, inputs: Mapping[str, int], outputs: Mapping[str, int], *, subgraph_index: int = 0
    ) -> None:
        """Add a named entry point: tensor indices by name."""
        self._signatures.append(types.Signature(key, tuple(inputs.items()), tuple(outputs.items()), subgraph_index))

    def model(self) -> types.Model:
        """Return what has been built so far."""
        return types.Model(
            version=self._version,
            operator_codes=tuple(self._codes),
            subgraphs=tuple(builder.subgraph() for builder in self._subgraphs),
            buffers=tuple(self._buffers),
            metadata=tuple(self._metadata),
            signatures=tuple(self._signatures),
            description=self._description,
        )

    def build(self, *, inputs: Sequence[int] | None = (), outputs: Sequence[int] | None = ()) -> bytes:
        """Return the .tflite file, with the main subgraph's inputs and outputs."""
        self.main.inputs = inputs
        self.main.outputs = outputs
        return encode(self.model())


def offline_plan(offsets: Sequence[int]) -> bytes:
    """Return ``OfflineMemoryAllocation`` for a model's tensors: -1 for one that the device places, or a constant."""
    return struct.pack(f"<3I{len(offsets)}i", 1, 0, len(offsets), *offsets)


def _indices(values: Iterable[int] | None) -> tuple[int, ...] | None:
    """Return tensor indices as the Model keeps them."""
    return None if values is None else whole_numbers(values, "tensor indices")
