"""Readers for what TFLM firmware prints: feed bytes in any chunks, get events."""

from tflm_sim.board.dialects.events import (
    AllocationReport,
    ArenaConfigured,
    ArenaUsed,
    BenchmarkRecord,
    CategoryUse,
    Damaged,
    LayerProfile,
    LogEvent,
    Message,
    PlanBuffer,
    PlanDialect,
    PlanReport,
    PlanRow,
    ProfiledOp,
    Reset,
    TensorChecksum,
    TicksTable,
)
from tflm_sim.board.dialects.parser import LogParser, parse_log

__all__ = [
    "AllocationReport",
    "ArenaConfigured",
    "ArenaUsed",
    "BenchmarkRecord",
    "CategoryUse",
    "Damaged",
    "LayerProfile",
    "LogEvent",
    "LogParser",
    "Message",
    "PlanBuffer",
    "PlanDialect",
    "PlanReport",
    "PlanRow",
    "ProfiledOp",
    "Reset",
    "TensorChecksum",
    "TicksTable",
    "parse_log",
]
