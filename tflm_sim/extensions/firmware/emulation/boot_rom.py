"""Functions of an RP2040's boot ROM and divider that the Pico SDK calls: arithmetic, copies, counts of bits.

    __wrap___aeabi_fmul(a, b)      goes on in the boot ROM        answered here
    __wrap___aeabi_idiv(a, b)      asks the chip's divider        with what they compute

Numbers are those of IEEE 754, single ones rounded once. Source: pico-sdk src/rp2_common: pico_float, pico_double,
pico_divider, pico_mem_ops, pico_bit_ops @ 2.2.0; the arguments are those of Arm's run-time ABI, which it stands for.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable

from tflm_sim.extensions.firmware.emulation.emulator import Emulator, give_back

Answer = Callable[[Emulator], None]
_PREFIX = "__wrap_"
_INFINITE = math.inf


def _divided(a: float, b: float) -> float:
    if b:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(_INFINITE, a) * math.copysign(1.0, b)


def _whole(cut: Callable[[float], int]) -> Callable[[float], float]:
    """Return a function that rounds to whole numbers; its sign stays, and so does what is not finite."""
    return lambda a: math.copysign(cut(a), a) if math.isfinite(a) else a


def _exp(value: float) -> float:
    return 0.0 if value == -_INFINITE else math.exp(value)


def _log(value: float) -> float:
    return -_INFINITE if value == 0 else math.log(value)


def _cut(value: float, low: int, high: int) -> int:
    """Return a number without its fraction, at the nearest end where it lies outside."""
    if math.isnan(value):
        return 0
    return int(min(max(value, low), high)) if math.isinf(value) else min(max(int(value), low), high)


_BINARY: dict[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "rsub": lambda a, b: b - a,
    "mul": operator.mul,
    "div": _divided,
}
_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "cmpeq": operator.eq,
    "cmplt": operator.lt,
    "cmple": operator.le,
    "cmpge": operator.ge,
    "cmpgt": operator.gt,
    "cmpun": lambda a, b: math.isnan(a) or math.isnan(b),
}
_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "trunc": _whole(math.trunc),
    "round": _whole(lambda a: math.floor(abs(a)) + (math.fmod(abs(a), 1) >= 0.5)),
    "sqrt": math.sqrt,
    "exp": _exp,
    "log": _log,
}
_DIVIDED = {"idiv": "i", "idivmod": "i", "uidiv": "I", "uidivmod": "I", "ldivmod": "q", "uldivmod": "Q"}
_FORMATS = {"f": "<f", "d": "<d"}
_INTEGERS = {"i": "<i", "ui": "<I", "l": "<q", "ul": "<Q"}
_RANGES = {
    "i": (-(1 << 31), (1 << 31) - 1), "ui": (0, (1 << 32) - 1),
    "l": (-(1 << 63), (1 << 63) - 1), "ul": (0, (1 << 64) - 1),
}  # fmt: skip


def _arguments(machine: Emulator, formats: str) -> tuple[float, ...]:
    """Return the arguments in the registers: each of a word, or of two."""
    data = b"".join(machine.get(name).to_bytes(4, "little") for name in machine.core.arguments)
    return struct.unpack_from("<" + formats, data)


def _result(machine: Emulator, form: str, *values: float) -> None:
    """Return one value or two from the function, each of one word or two."""
    try:
        data = struct.pack(form, *values)
    except OverflowError:
        data = struct.pack(form, *(math.copysign(_INFINITE, value) for value in values))
    for name, at in zip(machine.core.arguments, range(0, len(data), 4), strict=False):
        machine.set(name, int.from_bytes(data[at : at + 4], "little"))
    give_back(machine, int.from_bytes(data[:4], "little"))


def _binary(kind: str, compute: Callable[[float, float], float]) -> Answer:
    return lambda machine: _result(machine, _FORMATS[kind], compute(*_arguments(machine, 2 * kind)))


def _compared(kind: str, compute: Callable[[float, float], bool]) -> Answer:
    return lambda machine: give_back(machine, int(compute(*_arguments(machine, 2 * kind))))


def _to_integer(kind: str, integer: str) -> Answer:
    form, (low, high) = _INTEGERS[integer], _RANGES[integer]
    return lambda machine: _result(machine, form, _cut(_arguments(machine, kind)[0], low, high))


def _from_integer(integer: str, kind: str) -> Answer:
    return lambda machine: _result(machine, _FORMATS[kind], float(*_arguments(machine, _INTEGERS[integer][1:])))


def _between(kind: str, other: str) -> Answer:
    return lambda machine: _result(machine, _FORMATS[other], *_arguments(machine, kind))


def _quotient(form: str) -> Answer:
    def divide(machine: Emulator) -> None:
        a, b = (int(value) for value in _arguments(machine, 2 * form))
        quotient = (abs(a) // abs(b) if (a < 0) == (b < 0) else -(abs(a) // abs(b))) if b else 0
        _result(machine, f"<2{form}", quotient, a - quotient * b)

    return divide


def _unary(kind: str, compute: Callable[[float], float]) -> Answer:
    def answer(machine: Emulator) -> None:
        (value,) = _arguments(machine, kind)
        try:
            result = float(compute(value))
        except (ValueError, OverflowError):
            result = math.nan if value < 0 else _INFINITE
        _result(machine, _FORMATS[kind], result)

    return answer


def _copied(machine: Emulator) -> None:
    to, source, size = (machine.get(name) for name in machine.core.arguments[:3])
    machine.write(to, machine.read(source, size))
    give_back(machine, to)


def _set(machine: Emulator) -> None:
    to, value, size = (machine.get(name) for name in machine.core.arguments[:3])
    machine.write(to, bytes([value & 0xFF]) * size)
    give_back(machine, to)


def _set_by_abi(machine: Emulator) -> None:
    """Answer __aeabi_memset(), whose size comes before the value."""
    to, size, value = (machine.get(name) for name in machine.core.arguments[:3])
    machine.write(to, bytes([value & 0xFF]) * size)
    give_back(machine, to)


def _counted(count: Callable[[int], int]) -> Answer:
    return lambda machine: give_back(machine, count(machine.get(machine.core.arguments[0])))


def _answers() -> dict[str, Answer]:
    found: dict[str, Answer] = {"memcpy": _copied, "memset": _set}
    for width in ("", "4", "8"):
        found |= {f"__aeabi_memcpy{width}": _copied, f"__aeabi_memset{width}": _set_by_abi}
    found |= {
        "__popcountsi2": _counted(int.bit_count),
        "__clzsi2": _counted(lambda value: 32 - value.bit_length()),
        "__ctzsi2": _counted(lambda value: (value & -value).bit_length() - 1 if value else 32),
    }
    found |= {f"__aeabi_{name}": _quotient(form) for name, form in _DIVIDED.items()}
    for kind, suffix in (("f", "f"), ("d", "")):
        found |= {name + suffix: _unary(kind, compute) for name, compute in _FUNCTIONS.items()}
        found |= {f"__aeabi_{kind}{name}": _binary(kind, compute) for name, compute in _BINARY.items()}
        found |= {f"__aeabi_{kind}{name}": _compared(kind, compute) for name, compute in _COMPARED.items()}
        found |= {f"__aeabi_{kind}2{name}z": _to_integer(kind, name) for name in _INTEGERS}
        found |= {f"__aeabi_{name}2{kind}": _from_integer(name, kind) for name in _INTEGERS}
    return found | {"__aeabi_f2d": _between("f", "d"), "__aeabi_d2f": _between("d", "f")}


_ANSWERS = {_PREFIX + name: answer for name, answer in _answers().items()}


def rom_answer(name: str) -> Answer | None:
    """Return what stands for a function of the SDK that goes on in the ROM, None for one that does not."""
    return _ANSWERS.get(name)
