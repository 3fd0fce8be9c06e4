"""``KernelChecks``: TF_LITE_ENSURE and its kin, with the texts that they print, for the kernels of TFLM and of LiteRT.

Both runtimes check with the same macros and print the same sentences; only the place before a sentence differs, and
how its line is found. A check that passes costs the call of its method. Where a text for the right side is left out,
it is the number or the type's constant that stands there.

Source: TF_LITE_ENSURE* in tensorflow/lite/core/c/common.h @ 90b983c; tflite/core/c/common.h
@ google-ai-edge/LiteRT f67457790.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from tflm_sim.model.element_types import CONSTANT_NAMES, type_name, type_number
from tflm_sim.units import float32, int32


class _Tensor(Protocol):
    """What the checks ask a tensor of either runtime."""

    @property
    def type(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def zero_point(self) -> int: ...
    @property
    def is_quantized(self) -> bool: ...


class KernelChecks:
    """The checks of a kernel. A subclass for each runtime says in which source line a check is and what is raised.

    ``number`` tells checks with the same text apart, in one function of TFLM or one file of LiteRT: 1 is the first.
    """

    __slots__ = ()
    node: Any
    type_name = staticmethod(type_name)

    def _refuse(self, text: str, says: str, sides: tuple[str, str], number: int) -> None:
        """Fail at a check. The runtime prints ``text`` and ``says``, and before them the check's source line.

        ``sides`` are the source texts of the two compared values, by which the line is found; for a condition the
        second is "".
        """
        raise NotImplementedError

    def _is_64_bit(self) -> bool:
        return True

    # -- the macros -------------------------------------------------------------------------------------------------

    def ensure(self, condition: bool, text: str, number: int = 1) -> None:
        """TF_LITE_ENSURE."""
        if not condition:
            self._refuse(text, " was not true.", (text, ""), number)

    def ensure_eq(self, a: int, b: int, a_text: str, b_text: str = "", number: int = 1) -> None:
        """TF_LITE_ENSURE_EQ, which prints both with ``%d``."""
        if a != b:
            self.refuse(a_text, b_text or str(b), f"{int32(a)} != {int32(b)}", number)

    def ensure_types_eq(self, a: int, b: int, a_text: str, b_text: str = "", number: int = 1) -> None:
        """TF_LITE_ENSURE_TYPES_EQ."""
        if a != b:
            names = f"{self.type_name(a)} != {self.type_name(b)}"
            self.refuse(a_text, b_text or CONSTANT_NAMES.get(b, "kTfLiteNoType"), names, number)

    def ensure_c_types_eq(self, a: int, b: int, a_text: str, b_text: str = "", number: int = 1) -> None:
        """TF_LITE_ENSURE_EQ of two ``TensorType``s: the device prints the ``TfLiteType`` numbers."""
        if a != b:
            b_text = b_text or CONSTANT_NAMES.get(b, "kTfLiteNoType")
            self.ensure_eq(type_number(a), type_number(b), a_text, b_text, number)

    def ensure_count_eq(self, count: int, expected: int, a_text: str, b_text: str) -> None:
        """TF_LITE_ENSURE_EQ(context, NumElements(...), expected): ``NumElements`` is 64 bits wide, the format ``%d``.

        On a 32-bit target the second number printed is therefore the upper half of ``count`` and not ``expected``.
        """
        if count != expected:
            self.refuse(a_text, b_text, f"{int32(count)} != {expected if self._is_64_bit() else int32(count >> 32)}")

    def ensure_double_eq(self, a: float, b: float, a_text: str, b_text: str) -> None:
        """TF_LITE_ENSURE_EQ of two ``double``, which the device prints with ``%d``.

        With 32-bit pointers the two ``%d`` show the lower and the upper half of ``a``. In 64-bit builds a double
        travels in a floating-point register and the device prints two numbers that happen to lie on its stack: "?"
        stands for them.
        """
        if a != b:
            low, high = ("?", "?") if self._is_64_bit() else struct.unpack("<ii", struct.pack("<d", a))
            self.refuse(a_text, b_text, f"{low} != {high}")

    def ensure_near(
        self, a: float, b: float, a_text: str, b_text: str, shown: Callable[[float], str] = "{:f}".format
    ) -> None:
        """TF_LITE_ENSURE_NEAR within a thousandth of ``b``; NaN passes, as it does upstream."""
        if float32(abs(a - b)) > float32(0.001) * b:
            self._refuse(f"{a_text} not near {b_text}", f" ({shown(a)} != {shown(b)})", (a_text, b_text), 1)

    def refuse(self, a_text: str, b_text: str, values: str, number: int = 1) -> None:
        """Fail at a TF_LITE_ENSURE_EQ that prints ``values``."""
        self._refuse(f"{a_text} != {b_text}", f" ({values})", (a_text, b_text), number)

    # -- checks that many kernels have ------------------------------------------------------------------------------

    def counts(self, inputs: int, outputs: int = 1, number: int = 1) -> None:
        """``TF_LITE_ENSURE_EQ`` of NumInputs and of NumOutputs."""
        if len(self.node.inputs) != inputs:
            self.ensure_eq(len(self.node.inputs), inputs, "NumInputs(node)", number=number)
        if len(self.node.outputs) != outputs:
            self.ensure_eq(len(self.node.outputs), outputs, "NumOutputs(node)", number=number)

    def same_type(self, a: _Tensor, b: _Tensor, a_name: str = "input", b_name: str = "output", number: int = 1) -> None:
        """``TF_LITE_ENSURE_TYPES_EQ`` of two tensors."""
        if a.type != b.type:
            self.ensure_types_eq(a.type, b.type, f"{a_name}->type", f"{b_name}->type", number)

    def same_c_type(self, a: _Tensor, b: _Tensor, a_name: str = "input", b_name: str = "output") -> None:
        """``TF_LITE_ENSURE_EQ`` of two tensors' types."""
        if a.type != b.type:
            self.ensure_c_types_eq(a.type, b.type, f"{a_name}->type", f"{b_name}->type")

    def is_type(self, tensor: _Tensor, type_: int, name: str, number: int = 1) -> None:
        """``TF_LITE_ENSURE_TYPES_EQ`` with a constant."""
        if tensor.type != type_:
            self.ensure_types_eq(tensor.type, type_, f"{name}->type", number=number)

    def is_c_type(self, tensor: _Tensor, type_: int, name: str, number: int = 1) -> None:
        """``TF_LITE_ENSURE_EQ`` of a type with a constant."""
        if tensor.type != type_:
            self.ensure_c_types_eq(tensor.type, type_, f"{name}->type", number=number)

    def one_of(self, type_: int, types: Iterable[int], name: str, number: int = 1) -> None:
        """``TF_LITE_ENSURE`` of a chain of comparisons with each of ``types``."""
        if type_ not in types:
            self.ensure(False, " || ".join(f"{name} == {CONSTANT_NAMES[one]}" for one in types), number)

    def rank(self, tensor: _Tensor, rank: int, name: str, number: int = 1) -> None:
        """``TF_LITE_ENSURE_EQ`` of a tensor's NumDimensions."""
        if len(tensor.shape) != rank:
            self.ensure_eq(len(tensor.shape), rank, f"NumDimensions({name})", number=number)

    def dims_size(self, rank: int, **tensors: _Tensor) -> None:
        """``TF_LITE_ENSURE_EQ(context, <name>->dims->size, <rank>)`` of each tensor."""
        for name, tensor in tensors.items():
            if len(tensor.shape) != rank:
                self.ensure_eq(len(tensor.shape), rank, f"{name}->dims->size")

    def zero_points(self, *, number: int = 1, **tensors: _Tensor) -> None:
        """``TF_LITE_ENSURE_EQ(context, <name>->params.zero_point, 0)`` of each tensor."""
        for name, tensor in tensors.items():
            if tensor.zero_point != 0:
                self.ensure_eq(tensor.zero_point, 0, f"{name}->params.zero_point", number=number)

    def affine(self, tensor: _Tensor, name: str, number: int = 1) -> None:
        """``TF_LITE_ENSURE_EQ(context, <name>->quantization.type, kTfLiteAffineQuantization)``."""
        if not tensor.is_quantized:
            self.ensure_eq(0, 1, f"{name}->quantization.type", "kTfLiteAffineQuantization", number)

    def not_quantized(self, tensor: _Tensor, name: str) -> None:
        """``TF_LITE_ENSURE_EQ(context, <name>->quantization.type, kTfLiteNoQuantization)``."""
        if tensor.is_quantized:
            self.ensure_eq(1, 0, f"{name}->quantization.type", "kTfLiteNoQuantization")
