"""The categories of TFLM's allocation report and what each printer calls them.

The keys are the enumerators of ``RecordedAllocationType`` in snake case, without the leading ``k``.
Source: recording_micro_allocator.{h,cc}, tools/benchmarking/metrics.cc @ 90b983c.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Category:
    """One row: the key, the index in the enum, the two titles and the unit that the recording report counts."""

    key: str
    index: int
    recording_title: str
    recording_unit: str
    benchmark_title: str


CATEGORIES = (
    Category("TFLITE_EVAL_TENSOR_DATA", 0, "TfLiteEvalTensor data", "allocations", "Eval tensor data"),
    Category("PERSISTENT_TFLITE_TENSOR_DATA", 1, "Persistent TfLiteTensor data", "tensors", "Persistent tensor data"),
    Category(
        "PERSISTENT_TFLITE_TENSOR_QUANTIZATION_DATA",
        2,
        "Persistent TfLiteTensor quantization data",
        "allocations",
        "Persistent quantization data",
    ),
    Category("PERSISTENT_BUFFER_DATA", 3, "Persistent buffer data", "allocations", "Persistent buffer data"),
    Category(
        "TFLITE_TENSOR_VARIABLE_BUFFER_DATA",
        4,
        "TfLiteTensor variable buffer data",
        "allocations",
        "Tensor variable buffer data",
    ),
    Category(
        "NODE_AND_REGISTRATION_ARRAY",
        5,
        "NodeAndRegistration struct",
        "NodeAndRegistration structs",
        "Node and registration array",
    ),
    Category("OP_DATA", 6, "Operator runtime data", "OpData structs", "Operation data"),
    Category("COMPRESSION_DATA", 7, "Persistent compression data", "allocations", "Compression data"),
)

# The 2020 report, before eval tensors: its array of TfLiteTensor structs was the one tensor array that there was.
OLD_TITLES = {
    "TfLiteTensor struct": "TFLITE_TENSOR_STRUCT",
    "TfLiteTensor quantization data": "TFLITE_TENSOR_QUANTIZATION_DATA",
}

BY_RECORDING_TITLE = {row.recording_title: row.key for row in CATEGORIES} | OLD_TITLES
BY_BENCHMARK_TITLE = {row.benchmark_title: row for row in CATEGORIES}
UNITS = {row.recording_title: (row.recording_unit,) for row in CATEGORIES} | dict.fromkeys(
    OLD_TITLES, ("tensors", "allocations")
)
KEYS = tuple(row.key for row in CATEGORIES)
