"""The memory strategies of the TFLite GPU delegate: tensors to shared objects, or to offsets in one block.

Source: tflite/delegates/gpu/common/memory_management @ google-ai-edge/LiteRT f67457790
"""

from tflm_sim.planners.gpu.records import BHWC, ObjectsAssignment, OffsetsAssignment, TensorUsageRecord, UInt2, UInt3
from tflm_sim.planners.gpu.strategies import (
    MemoryStrategy,
    assign_objects_to_tensors,
    assign_offsets_to_tensors,
    objects_to_offsets,
    plan,
)

__all__ = [
    "BHWC",
    "MemoryStrategy",
    "ObjectsAssignment",
    "OffsetsAssignment",
    "TensorUsageRecord",
    "UInt2",
    "UInt3",
    "assign_objects_to_tensors",
    "assign_offsets_to_tensors",
    "objects_to_offsets",
    "plan",
]
