"""The exception hierarchy: one class per reason that a caller would handle differently.

The dividing line is :class:`SimulatedFailure`: the *device* would fail, and saying so is an answer. Every other
class means that *we* cannot go on. Each carries its facts as attributes and one sentence that a user can act on.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

EXIT_CODES = {
    0: "yes, or done",
    1: "no",
    2: "an argument is wrong, or an output file cannot be written",
    3: "a file cannot be read, or the answer is unknown",
    4: "TFLM itself would fail",
    5: "the board or its port does not work",
    70: "an error in tflm-sim itself; --debug shows where",
    130: "interrupted",
}
"""What the exit codes of the command line mean. The help of a verb can give a code a more precise meaning."""
UNFORESEEN = 70
"""The exit code of an unexpected error, the same as EX_SOFTWARE in sysexits.h. It is no verdict."""
INTERRUPTED = 130
UNKNOWN = 3
"""The exit code of a verdict that could not be given."""


class TflmSimError(Exception):
    """Base of every error that this package raises on purpose."""

    exit_code = 1


class UsageError(TflmSimError):
    """A bad option, an unknown target, a size that cannot be parsed."""

    exit_code = 2


def not_a(expected: str, given: object) -> UsageError:
    """Return the error for an argument of another type: what was expected, in words, and what was given."""
    is_short = given is None or isinstance(given, str | bytes | float) or (type(given) is int and _is_printable(given))
    shown = repr(given) if is_short else ""
    value = f" ({shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'})" if shown else ""
    return UsageError(f"{expected} was expected, not a value of type '{type(given).__name__}'{value}")


_SHOWN = 40
"""Characters of a value in a message."""
_SHOWN_BITS = 1024
"""Of a whole number in a message; Python refuses to write one of 4,301 digits."""


def _is_printable(number: int) -> bool:
    return number.bit_length() <= _SHOWN_BITS


def _truth(given: Any) -> bool:
    if given not in (True, False):
        raise ValueError
    return bool(given)


_CONVERSIONS: dict[Any, tuple[str, Callable[[Any], Any]]] = {
    int: ("__index__", operator.index),
    float: ("__float__", float),
    bool: ("__bool__", _truth),
}


def expect(given: Any, kinds: Any, expected: str) -> Any:
    """Return an argument; refuse one that is none of ``kinds`` (a class, or several).

    ``int``, ``float`` and ``bool`` stand for everything that can be used as one, such as numpy's numbers, whose sums
    wrap around: Python's own is returned. A truth value is no number; 0 and 1 are truth values.

    Args:
        given: The argument.
        kinds: Its classes.
        expected: In words, what it should be.

    Raises:
        UsageError: It is another.
    """
    method, convert = _CONVERSIONS.get(kinds, ("", None))
    if convert is None:
        if isinstance(given, kinds):
            return given
    elif hasattr(type(given), method) and (kinds is bool or not isinstance(given, bool)):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return convert(given)
    raise not_a(expected, given)


def whole_number(given: Any, what: str, least: int, most: int) -> int:
    """Return an argument that is a whole number as Python's own.

    Args:
        given: The argument.
        what: Its name, for messages.
        least: The smallest that is allowed.
        most: The largest.

    Raises:
        UsageError: It is none, or out of range.
    """
    number: int = expect(given, int, f"{what} as a number")
    if not least <= number <= most:
        shown = f"{number:,}" if _is_printable(number) else f"a number of {number.bit_length():,} bits"
        raise UsageError(f"{what}: {shown} is out of range: {least:,} to {most:,}")
    return number


def each_of(given: Any, kinds: Any, expected: str) -> tuple[Any, ...]:
    """Return the elements of an argument that is several of ``kinds``; refuse any other, as :func:`expect` does."""
    expect(given, Iterable, expected)
    if isinstance(given, str | bytes | bytearray):  # Several letters, which nobody means.
        raise not_a(expected, given)
    try:
        rows = iter(given)
    except TypeError:  # numpy's arrays without dimensions say that they can be iterated.
        raise not_a(expected, given) from None
    return tuple([expect(row, kinds, expected) for row in rows])


class FileError(TflmSimError):
    """A file is not what it claims to be.

    Attributes:
        path: The file, or None for bytes in memory.
        offset: The byte offset in the file where the contradiction was found, or None.
    """

    exit_code = 3

    def __init__(self, message: str, *, offset: int | None = None, path: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.path = path

    def __str__(self) -> str:
        where = "" if self.offset is None else f" (at byte {self.offset})"
        return f"{self.path}: {self.message}{where}" if self.path else f"{self.message}{where}"


class ModelError(FileError):
    """The file is not the model that it claims to be."""


class NoModelError(ModelError):
    """The file contains nothing that looks like a model, so that a directory search may skip it.

    Attributes:
        data: Its bytes, for those who know other kinds of file (a pipe cannot be read again); None where not all of
            them were read.
    """

    def __init__(self, message: str, *, path: str | None = None, data: bytes | None = None) -> None:
        super().__init__(message, path=path)
        self.data = data


class FirmwareError(FileError):
    """The file is not the firmware that it claims to be, or does not say what is asked of it."""


class UnsupportedOpError(ModelError):
    """TFLM has this operator, but the package does not model it for the kernel library in question.

    Attributes:
        op: The operator's name.
        subgraph: Index of its subgraph.
        node: Index of the operator in the subgraph.
    """

    def __init__(self, message: str, *, op: str, subgraph: int, node: int) -> None:
        super().__init__(message)
        self.op = op
        self.subgraph = subgraph
        self.node = node

    def __reduce__(self) -> tuple[object, ...]:
        return _unsupported, (self.message, self.op, self.subgraph, self.node), self.__dict__


def _unsupported(message: str, op: str, subgraph: int, node: int) -> UnsupportedOpError:
    return UnsupportedOpError(message, op=op, subgraph=subgraph, node=node)


class SimulatedFailure(TflmSimError):
    """TFLM itself would fail here.

    Attributes:
        device_message: The text that the device prints for it ("" when it prints nothing).
        status: "error" (AllocateTensors returns kTfLiteError) or "abort" (a DCHECK halts, or a null pointer is used).
        where: The step that fails, where the last event of the simulation does not tell; else "".
    """

    exit_code = 4

    def __init__(self, message: str, *, device_message: str = "", status: str = "error", where: str = "") -> None:
        super().__init__(message)
        self.device_message = device_message
        self.status = status
        self.where = where


class ArenaOverflowError(SimulatedFailure):
    """The arena has no room for an allocation."""


class AllocatorSequenceError(SimulatedFailure):
    """The allocator was called in an order that TFLM refuses."""


class PrepareError(SimulatedFailure):
    """A kernel's Init or Prepare refuses the node, or the interpreter refuses the graph around it."""


class NoPlanInTime(TflmSimError):
    """The time limit that the caller gave ended before the planner had a plan."""


class PlanningError(SimulatedFailure):
    """The memory planner refuses its buffers."""


class BoardError(TflmSimError):
    """Something about the attached board."""

    exit_code = 5


class TransportError(BoardError):
    """The port cannot be opened, read or written."""


class BoardTimeoutError(BoardError):
    """The board did not answer in time."""


class LocalProtocolError(BoardError):
    """We asked our own protocol machine for something that it cannot do now."""


class BoardStatusError(BoardError):
    """The board answered with an error of its own."""
