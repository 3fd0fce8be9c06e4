"""What the tail is used for, as an observer: every persistent byte, by what it is and by operator.

TFLM's own report does not name all of the tail; here the groups add up to all of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.arena.events import LogLine, OpEvent, Persist, ScratchRequest
from tflm_sim.arena.state import ArenaState


@dataclass(slots=True)
class TailBytes:
    """Tail bytes of one group or operator (mutable while counting): padding included in ``used``."""

    requested: int = 0
    used: int = 0
    count: int = 0

    def add(self, event: Persist) -> None:
        """Count one allocation."""
        self.requested += event.size
        self.used += event.used
        self.count += 1


class TailLedger(ArenaState):
    """Adds up persistent allocations and keeps the log and the scratch labels; an observer.

    Attributes:
        groups: Bytes by group, such as "eval tensors".
        labels: Bytes by (group, label): the parts of each group.
        ops: Bytes by (subgraph, operator, name).
        log: The device's lines.
        scratch_labels: What each scratch buffer is for, by index.
    """

    def __init__(self) -> None:
        self.groups: dict[str, TailBytes] = {}
        self.labels: dict[tuple[str, str], TailBytes] = {}
        self.ops: dict[tuple[int, int, str], TailBytes] = {}
        self.log: list[str] = []
        self.scratch_labels: list[str] = []
        super().__init__(
            {
                Persist: self._persisted,
                LogLine: lambda event: self.log.append(event.text),
                ScratchRequest: lambda event: self.scratch_labels.append(event.label),
            }
        )

    def __repr__(self) -> str:
        return f"<TailLedger of {sum(holding.used for holding in self.groups.values()):,} B>"

    def _persisted(self, event: Persist) -> None:
        group = self.stage.group
        self.groups.setdefault(group, TailBytes()).add(event)
        self.labels.setdefault((group, event.label), TailBytes()).add(event)
        if isinstance(op := self.place, OpEvent):
            self.ops.setdefault((op.subgraph, op.op, op.name), TailBytes()).add(event)
