"""How much stack a function takes, and how many instructions.

The function runs on a stack of its own, painted beforehand: what is not painted any more was used. It does not notice,
since it takes no argument from the stack; and where the program's own stack ends does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tflm_sim.extensions.firmware.emulation.emulator import Emulator
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.seen import InvokeSeen, ObservedOperator
from tflm_sim.extensions.firmware.emulation.stores import Stores

STACK = 1 << 18
"""Bytes of the stack that is lent: more is not measured."""
_PAINT = b"\xa5"
_ROOM = 256
"""Bytes above the stack pointer that belong to the caller."""

CallWhenReturned = Callable[[Callable[[], None]], None]


class Measuring:
    """Measures calls of functions, at whose entries the machine stands.

    Attributes:
        is_running: Whether an Invoke() is being measured.
    """

    def __init__(self, machine: Emulator, when_returned: CallWhenReturned, stores: Stores) -> None:
        self.is_running = False
        self._machine = machine
        self._stores = stores
        self._when_returned = when_returned
        self._base: int | None = None
        self._invocation: InvokeSeen | None = None
        self._inner: list[int] = []

    def stack(self, act: Callable[[int | None], None]) -> None:
        """Have the function run on a painted stack, and ``act`` called with the bytes that it used of it.

        Its stores are watched meanwhile. With windows of registers neither is done: not each call writes to the stack.
        """
        if self._machine.core.is_windowed:
            self._when_returned(partial(act, None))
            return
        if self._base is None:
            self._base = self._machine.spare(STACK)
        self._machine.write(self._base, _PAINT * STACK)
        own = self._machine.get("sp")
        lent = self._base + STACK - _ROOM + own % 16
        self._machine.set("sp", lent)
        self._stores.begin(Span(self._base, self._base + STACK), own)
        self._when_returned(partial(self._returned, self._base, own, lent, act))

    def _returned(self, base: int, own: int, lent: int, act: Callable[[int | None], None]) -> None:
        stack = self._machine.read(base, lent - base)
        self._machine.set("sp", own)
        act(len(stack) - _painted(stack))

    def invoke(self) -> InvokeSeen:
        self.is_running = True
        self._invocation = invocation = InvokeSeen(pointer=self._machine.get("sp"))
        self.stack(partial(self._invoked, invocation, self._machine.count()))
        return invocation

    def _invoked(self, invocation: InvokeSeen, before: int | None, stack: int | None) -> None:
        after = self._machine.count()
        self.is_running, invocation.stack = False, stack
        invocation.stores = self._stores.take()
        invocation.status = self._machine.get(self._machine.core.arguments[0]) & 0xFF
        if before is not None and after is not None:
            invocation.instructions = after - before

    def cut(self, ending: str, *, has_crashed: bool) -> None:
        """Record why an Invoke() that is being measured did not return, and what it stored until then."""
        if self.is_running and self._invocation is not None:
            self._invocation.ending, self._invocation.has_crashed = ending, has_crashed
            self._invocation.stores = self._stores.take()

    def operator(self, operator: ObservedOperator) -> None:
        """Count the instructions of an operator's Eval."""
        before = self._machine.count()
        if self._invocation is not None and self.is_running and before is not None:
            self._inner.append(0)
            outer = self._stores.are_for(operator)
            self._when_returned(partial(self._evaluated, self._invocation, operator, before, outer))

    def _evaluated(
        self, invocation: InvokeSeen, operator: ObservedOperator, before: int, outer: ObservedOperator | None
    ) -> None:
        after = self._machine.count()
        self._stores.are_for(outer)
        assert after is not None, "what was counted at the entry is counted at the end"
        inner = self._inner.pop()
        invocation.by_operator.append((operator, after - before - inner))
        if self._inner:
            self._inner[-1] += after - before


def _painted(stack: bytes) -> int:
    """Return how many bytes at the start still have the paint: long stretches are compared at once."""
    low, high = 0, len(stack)
    while low < high:
        middle = (low + high + 1) // 2
        if stack.startswith(_PAINT * (middle - low), low):
            low = middle
        else:
            high = middle - 1
    return low
