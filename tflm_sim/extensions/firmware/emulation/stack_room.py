"""How much stack a program has: what its linker script, or the task's own array, reserves.

    __StackTop, __StackLimit       CMSIS, Arduino, Nordic        one below the other
    _estack, _Min_Stack_Size       STM32                         an end, and a size
    z_main_stack                   Zephyr, FreeRTOS, threads     an array that holds the stack pointer

Source: CMSIS_6 RTE/Device/ARMCM4/gcc_linker_script.ld @ 7f62ddc8; pico-sdk
src/rp2_common/pico_standard_link/memmap_default.ld @ 1ac90374; STM32CubeIDE's STM32*_FLASH.ld.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tflm_sim.document_types import Count

_PAIRS = (
    ("__StackTop", "__StackBottom"),
    ("__StackTop", "__StackLimit"),
    ("_estack", "_sstack"),
    ("__stack_end__", "__stack_start__"),
    ("__stack_end", "__stack_start"),
    ("__stack_top", "__stack_bottom"),
    ("_stack_top", "_stack_bottom"),
    ("__stack", "__stack_limit"),
)
"""(one behind the last byte, the first byte). The Pico SDK's __StackLimit is the heap's: __StackBottom comes first."""
_SIZES = (
    "_Min_Stack_Size", "__stack_size", "__stack_size__", "__STACK_SIZE", "_stack_size", "_STACK_SIZE", "STACK_SIZE",
    "Stack_Size", "__Stack_Size", "__MIN_STACK_SIZE__",
)  # fmt: skip
_SECTIONS = (".stack", ".stack_dummy", ".main_stack")
_MAX_STACK_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class StackRoom:
    """The stack on which a function is called.

    Attributes:
        reserved_by: What says so: symbols, a section, or the array that it is.
        reserved: Bytes.
        callers: Bytes of it that are in use where the function is called; null where the function was started directly.
    """

    reserved_by: str
    reserved: Count
    callers: Count | None

    def exceeded_by(self, used: int) -> int:
        """Return how many bytes ``used``, of the function itself, are too many; 0 or less where there is room."""
        return (self.callers or 0) + used - self.reserved


def reserved_stack(
    symbols: Mapping[str, int], sections: Iterable[tuple[str, int]], top: int | None
) -> tuple[str, int] | None:
    """Return (what says so, bytes) of the stack that a linker script reserves; None where nothing does.

    Args:
        symbols: Values by name.
        sections: (name, bytes).
        top: Where the stack pointer starts, None where that is not known; a pair that ends elsewhere does not count.
    """
    said = [*_between(symbols, top), *((name, symbols.get(name, 0)) for name in _SIZES)]
    sound = [(words, size) for words, size in said if 0 < size <= _MAX_STACK_BYTES]
    return next(iter(sound + [(name, size) for name, size in sections if name in _SECTIONS and size]), None)


def _between(symbols: Mapping[str, int], top: int | None) -> Iterator[tuple[str, int]]:
    """Yield what lies between the symbols of a pair; ``top`` as in :func:`reserved_stack`."""
    for upper, lower in _PAIRS:
        if upper in symbols and lower in symbols and top in (None, symbols[upper]):
            yield f"{upper} - {lower}", symbols[upper] - symbols[lower]
