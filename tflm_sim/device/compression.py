"""``AllocateCompressedTensorsList``: the lookup tables of compressed tensors (USE_TFLM_COMPRESSION builds).

For each LutTensor: CompressionTensorData, LookupTableData; with the first one of a subgraph also one pointer a tensor.

Source: tensorflow/lite/micro/micro_allocator.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.arena.arena import ArenaAllocator
from tflm_sim.errors import PrepareError
from tflm_sim.graph.eval_tensor import TYPE_SIZES, types_without_size
from tflm_sim.model.compression_metadata import LutTensor, find_compression
from tflm_sim.model.types import Model, Quantization
from tflm_sim.recorded import RecordedAllocationType
from tflm_sim.targets.target import Target

MAX_BIT_WIDTH = 7
"""``LookupTableData::kMaxBitWidth``."""


class CompressedTensorsAllocator:
    """Places the structs of one model (mutable while it does).

    Args:
        model: The model.
        target: Struct sizes.
        arena: Where they go.
    """

    def __init__(self, model: Model, target: Target, arena: ArenaAllocator) -> None:
        self._model = model
        self._target = target
        self._arena = arena

    def allocate(self) -> tuple[frozenset[int], ...]:
        """Return the indices of the compressed tensors, per subgraph.

        Raises:
            PrepareError: TFLM refuses the metadata, or its structs do not fit.
        """
        metadata, lines = find_compression(self._model)
        for line in lines:
            self._arena.log(line)
        found: list[frozenset[int]] = [frozenset()] * len(self._model.subgraphs)
        if metadata is None:
            return tuple(found)
        if metadata.subgraphs is None:
            raise self._refuse("Compression: invalid Subgraph vector")
        if not metadata.subgraphs:
            raise self._refuse("Compression: zero length Subgraph vector")
        for index, lut_tensors in enumerate(metadata.subgraphs):
            if lut_tensors is None:
                raise self._refuse("Compression: invalid LutTensor vector")
            if not lut_tensors:
                raise self._refuse("Compression: zero length LutTensor vector")
            if index >= len(found):
                raise PrepareError(
                    f"compression metadata names subgraph {index}, not one of the model: the device reads other memory",
                    status="abort",
                )
            found[index] = self._subgraph(index, lut_tensors)
        return tuple(found)

    def _subgraph(self, subgraph: int, lut_tensors: tuple[LutTensor, ...]) -> frozenset[int]:
        found: set[int] = set()
        for position, lut_tensor in enumerate(lut_tensors):
            size = self._target.sizeof("CompressionTensorData")
            self._struct(
                "CompressionTensorData",
                f"Compressions: failed to allocate memory for CompressionTensorData, {size} bytes required",
            )
            size = self._target.sizeof("LookupTableData")
            self._struct(
                "LookupTableData", f"Compressions: failed to allocate memory for LookupTableData, {size} bytes required"
            )
            if (message := self._bad_tensor(subgraph, lut_tensor)) is not None:
                self._arena.log(message)
                raise self._refuse(f"Compression: failed to initialize data for LutTensor {position}")
            if not found:
                self._pointers(len(self._model.subgraphs[subgraph].tensors))
            if lut_tensor.tensor in found:
                raise self._refuse(f"Compression: duplicate LutTensor subgraph {subgraph} tensor {lut_tensor.tensor}")
            found.add(lut_tensor.tensor)
        return frozenset(found)

    def _pointers(self, count: int) -> None:
        size = self._target.abi.pointer_size * count
        message = f"Compression: failed to allocate memory for compression tensor list, {size} bytes required"
        self._take(size, self._target.abi.pointer_size, f"CompressionTensorData*[{count}]", message)

    def _struct(self, struct: str, message: str) -> None:
        self._take(self._target.sizeof(struct), self._target.alignof(struct), struct, message)

    def _take(self, size: int, alignment: int, label: str, message: str) -> None:
        category = RecordedAllocationType.COMPRESSION_DATA
        if self._arena.allocate_persistent_buffer(size, alignment, category=category, label=label) is None:
            raise self._refuse(message)

    def _refuse(self, message: str) -> PrepareError:
        self._arena.log(message)
        return PrepareError(message, device_message=message)

    def _bad_tensor(self, subgraph: int, lut_tensor: LutTensor) -> str | None:
        tensors, buffers = self._model.subgraphs[subgraph].tensors, self._model.buffers
        # The index is signed in the file and compared unsigned.
        if not 0 <= lut_tensor.tensor < len(tensors):
            return f"Compression: invalid tensor index {lut_tensor.tensor & 0xFFFFFFFF} in LutTensor"
        if lut_tensor.index_bitwidth > MAX_BIT_WIDTH:
            return f"Compression: invalid bit width {lut_tensor.index_bitwidth} in LutTensor"
        value_buffer = lut_tensor.value_buffer
        if value_buffer >= len(buffers):
            return f"Compression: invalid value_buffer {value_buffer} in LutTensor"
        if buffers[value_buffer].data is None:
            return f"Compression: invalid value table for value_buffer {value_buffer}"
        tensor = tensors[lut_tensor.tensor]
        if tensor.shape is None:
            return "Compression: scalar tensors not supported"
        if tensor.type not in TYPE_SIZES or tensor.type in types_without_size(self._target.runtime):
            return "Compression: failed to get tensor type size"
        return None if tensor.quantization is None else _bad_axis(tensor.quantization, len(tensor.shape))


def _bad_axis(quantization: Quantization, rank: int) -> str | None:
    axis = quantization.quantized_dimension
    if len(quantization.scale) > 1 and axis not in (0, rank - 1):
        return f"Compression: unsupported quantization axis {axis & 0xFFFFFFFF}"
    return None
