"""Checks and readings of a node that many reference kernels share: options, counts, null pointers, constants.

A place is written as in ``roles.py``. Where upstream reads past the end of something, or through a null pointer, what
follows depends on the bytes that happen to lie there; the model stops with an abort that names the read.

Source: tensorflow/lite/core/api/flatbuffer_conversions.cc, tensorflow/lite/kernels/kernel_util.h @ 90b983c.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from tflm_sim.graph.eval_tensor import type_number
from tflm_sim.model.types import OptionValue
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.requests import KernelTensor
from tflm_sim.ops.roles import abort, ensure_eq, fail, full_place

MAX_OPTION_DIMS = 8
"""How many values the dims array in the builtin data of RESHAPE and of SQUEEZE holds."""


def option(node: Node, table: str, name: str) -> OptionValue:
    """Return a field of the builtin options, None unless they are a ``table`` that has it (``builtin_options_as_``)."""
    operator = node.operator
    return operator.options.get(name) if operator.options_type == table else None


def int_option(node: Node, table: str, name: str) -> int:
    """Return an integer field of the builtin options; 0, as the zeroed builtin data has, without a ``table``."""
    return int(value) if isinstance(value := option(node, table, name), int) else 0


def float_option(node: Node, table: str, name: str) -> float:
    """Return a float field of the builtin options; 0.0, as the zeroed builtin data has, without a ``table``."""
    return float(value) if isinstance(value := option(node, table, name), (int, float)) else 0.0


def dims_option(node: Node, table: str, name: str) -> tuple[int, ...]:
    """Return an option that is a vector of integers; () without one."""
    values = option(node, table, name)
    return tuple(int(value) for value in values) if isinstance(values, tuple) else ()


def convertible_types(table: str, *names: str) -> Callable[[Node], None]:
    """Return a parser that refuses a type option that ``ConvertTensorType`` does not know."""

    def parse(node: Node) -> None:
        for name in names:
            number = int_option(node, table, name)
            if not type_number(number):
                raise fail(f"Unsupported data type {number} in tensor\n")

    return parse


def bounded_dims(table: str, name: str, operation: str) -> Callable[[Node], None]:
    """Return a parser that refuses a dims option with more values than its array holds."""

    def parse(node: Node) -> None:
        if len(dims_option(node, table, name)) > MAX_OPTION_DIMS:
            raise fail(f"Found too many dimensions in the input array of operation '{operation}'.\n")

    return parse


def ensure_counts(node: Node, file: str, line: int, *, inputs: int, outputs: int = 1) -> None:
    """``TF_LITE_ENSURE_EQ`` of NumInputs at ``line`` and of NumOutputs on the next line."""
    ensure_eq(len(node.inputs), inputs, f"{file}:{line}", "NumInputs(node)", str(inputs))
    ensure_eq(len(node.outputs), outputs, f"{file}:{line + 1}", "NumOutputs(node)", str(outputs))


def require_op_data(node: Node, place: str, name: str = "node->user_data") -> None:
    """Abort when Init got no memory."""
    if node.user_data is None:
        raise abort(place, f"{name} != nullptr")


def require(tensor: KernelTensor | None, place: str, name: str) -> KernelTensor:
    """Return ``tensor``; abort where upstream reads through a null pointer."""
    if tensor is None:
        raise abort(place, f"{name} != nullptr")
    return tensor


def constant_values(tensor: KernelTensor, count: int, place: str, *, name: str, code: str = "i") -> tuple[int, ...]:
    """Return the first ``count`` integers of a constant tensor; abort when its data is shorter.

    Args:
        tensor: The tensor.
        count: How many values upstream reads.
        place: Where it reads them.
        name: Upstream's name of the tensor.
        code: The ``struct`` letter of the type that upstream reads, whatever the tensor's type is.
    """
    layout = f"<{count}{code}"
    data = tensor.data or b""
    if len(data) < struct.calcsize(layout):
        raise abort(place, f"{name} has data for {count} values of {struct.calcsize('<' + code)} bytes")
    return struct.unpack_from(layout, data)


def ensure_double_eq(node: Node, a: float, b: float, place: str, *, texts: tuple[str, str]) -> None:
    """``TF_LITE_ENSURE_EQ`` of two ``double``, which the device prints with ``%d``.

    With 32-bit pointers the two ``%d`` show the lower and the upper half of ``a``. In 64-bit builds a double travels in
    a floating-point register and the device prints two numbers that happen to lie on its stack: "?" stands for them.
    """
    if a != b:
        low, high = struct.unpack("<ii", struct.pack("<d", a))
        shown = f"{low} != {high}" if node.target.abi.pointer_size == 4 else "? != ?"
        raise fail(f"{full_place(place)} {texts[0]} != {texts[1]} ({shown})")
