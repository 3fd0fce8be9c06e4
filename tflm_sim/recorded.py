"""``RecordedAllocationType``: TFLM's categories of persistent memory, and what each of its printers calls them.

Source: recording_micro_allocator.{h,cc}, tools/benchmarking/metrics.cc @ 90b983c.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class RecordedAllocationType(StrEnum):
    """Upstream's enum in its order, with upstream's names as values.

    Attributes:
        recording_title: The category's name in the report of ``RecordingMicroAllocator``.
        recording_unit: The unit in which that report counts the category's allocations.
        benchmark_title: The category's name in the table of the generic benchmark.
    """

    recording_title: str
    recording_unit: str
    benchmark_title: str

    def __new__(cls, name: str, recording_title: str, recording_unit: str, benchmark_title: str) -> Self:
        kind = str.__new__(cls, name)
        kind._value_ = name
        kind.recording_title, kind.recording_unit = recording_title, recording_unit
        kind.benchmark_title = benchmark_title
        return kind

    # fmt: off
    TFLITE_EVAL_TENSOR_DATA = (
        "kTfLiteEvalTensorData", "TfLiteEvalTensor data", "allocations", "Eval tensor data")
    PERSISTENT_TFLITE_TENSOR_DATA = (
        "kPersistentTfLiteTensorData", "Persistent TfLiteTensor data", "tensors", "Persistent tensor data")
    PERSISTENT_TFLITE_TENSOR_QUANTIZATION_DATA = (
        "kPersistentTfLiteTensorQuantizationData", "Persistent TfLiteTensor quantization data", "allocations",
        "Persistent quantization data")
    PERSISTENT_BUFFER_DATA = (
        "kPersistentBufferData", "Persistent buffer data", "allocations", "Persistent buffer data")
    TFLITE_TENSOR_VARIABLE_BUFFER_DATA = (
        "kTfLiteTensorVariableBufferData", "TfLiteTensor variable buffer data", "allocations",
        "Tensor variable buffer data")
    NODE_AND_REGISTRATION_ARRAY = (
        "kNodeAndRegistrationArray", "NodeAndRegistration struct", "NodeAndRegistration structs",
        "Node and registration array")
    OP_DATA = "kOpData", "Operator runtime data", "OpData structs", "Operation data"
    COMPRESSION_DATA = "kCompressionData", "Persistent compression data", "allocations", "Compression data"
    # fmt: on


CATEGORIES = tuple(RecordedAllocationType)
