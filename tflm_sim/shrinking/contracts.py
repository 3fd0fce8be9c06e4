"""What kernels promise about the order of their reads and writes, row by row, each with where it was read.

A plan may let an output share bytes with an input only where a row here says so:

* a *copy* writes each output byte once, with its final value. Where that byte is there already, nothing changes;
* *in place*: output element i is written after input element i was read for the last time, and depends on no other
  element of that input. The output then starts where the input starts;
* *diagonal*: pixel by pixel in ascending order; all reads for output element i come before it is written. The output
  then lies below the input, as far as ``plan_check`` proves that no byte is written that is still to be read.

A library that is not in a row has no such contract, and its operators get bytes of their own.

Read in tensorflow/lite/micro/kernels and tensorflow/lite/kernels/internal/reference @ 90b983c, CMSIS-NN @ 4ab83cc.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tflm_sim.model.types import TensorType
from tflm_sim.targets.kernel_library import KernelLibrary

COPY, IN_PLACE, DIAGONAL = "copy", "in place", "diagonal"
_ALL = ("reference", "cmsis_nn", "esp_nn")


@dataclass(frozen=True, slots=True)
class Contract:
    """A promise.

    Attributes:
        operators: Who gives it.
        kind: ``COPY``, ``IN_PLACE`` or ``DIAGONAL``.
        libraries: Of whose kernels.
        variants: Of which instruction sets; () for any.
        types: Of which element types; () for any.
        source: Where the loop stands.
    """

    operators: tuple[str, ...]
    kind: str
    libraries: tuple[str, ...]
    source: str
    variants: tuple[str, ...] = ()
    types: tuple[int, ...] = ()

    def holds(self, operator: str, kind: str, library: KernelLibrary, type_number: int) -> bool:
        """Return whether the promise is about this operator with this library."""
        return (
            operator in self.operators
            and kind == self.kind
            and library.name in self.libraries
            and (not self.variants or library.variant in self.variants)
            and (not self.types or type_number in self.types)
        )


CONTRACTS = (
    Contract(("RESHAPE", "SQUEEZE", "EXPAND_DIMS"), COPY, _ALL, "reshape_common.cc, squeeze.cc: memcpy unless equal"),
    Contract(("CONCATENATION",), COPY, _ALL, "concatenation.cc, reference/concatenation.h: memcpy(p, p) of each input"),
    Contract(("SLICE",), COPY, _ALL, "reference/slice.h: one write an element, in order"),
    Contract(("STRIDED_SLICE",), COPY, _ALL, "strided_slice_logic.h, reference/strided_slice.h: one write an element"),
    Contract(("SPLIT", "SPLIT_V"), COPY, _ALL, "split.cc, split_v.cc: one write an element"),
    Contract(("PACK", "UNPACK"), COPY, _ALL, "pack.cc, unpack.cc: one write an element"),
    Contract(("PAD", "PADV2"), COPY, ("reference", "esp_nn"), "reference/pad.h: one write an element, in order"),
    Contract(
        (
            "RELU", "RELU6", "LOGISTIC", "TANH", "HARD_SWISH", "LEAKY_RELU", "ELU", "ABS", "NEG", "SQRT", "RSQRT",
            "SQUARE", "EXP", "LOG", "SIN", "COS", "FLOOR", "CEIL", "ROUND", "LOGICAL_NOT", "QUANTIZE", "DEQUANTIZE",
        ),
        IN_PLACE,
        ("reference", "cmsis_nn"),
        "activations.cc, logistic.cc, elementwise.cc, requantize.h, ...: output[i] = f(input[i]), ascending",
    ),
    Contract(
        ("RELU", "RELU6", "TANH", "LEAKY_RELU", "ELU", "ABS", "SQRT", "RSQRT", "FLOOR", "CEIL", "ROUND", "QUANTIZE"),
        IN_PLACE,
        ("esp_nn",),
        "as reference: ESP-NN has no kernel of its own for these",
    ),
    Contract(
        ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "DIV", "PRELU"),
        IN_PLACE,
        ("reference",),
        "reference/add.h, mul.h, ...: output[i] after input1[i] and input2[i], ascending, broadcast or not",
    ),
    Contract(
        ("ADD", "MUL"),
        IN_PLACE,
        ("cmsis_nn",),
        "arm_elementwise_add_s8.c, arm_elementwise_mul_s8.c: up to 4 (16 with MVE) elements are read, then written",
        types=(TensorType.INT8,),
    ),
    Contract(("SUB", "SQUARED_DIFFERENCE", "DIV", "PRELU"), IN_PLACE, ("cmsis_nn", "esp_nn"), "as reference"),
    Contract(
        ("SOFTMAX",),
        IN_PLACE,
        ("reference",),
        "reference/softmax.h: maximum and sum of a row first, then output[c] after input[c]",
    ),
    Contract(
        ("CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D"),
        DIAGONAL,
        ("reference",),
        "reference/integer_ops/conv.h, depthwise_conv.h, pooling.h: batch, row, column, channel ascending, one write "
        "an element after all of its reads; channels of a depthwise convolution are multiplier by multiplier",
        types=(TensorType.INT8,),
    ),
)  # fmt: skip
"""Every promise. What is missing was not read, or does not hold: CMSIS-NN's 1x1 convolution walks channels outside."""


def promised(operator: str, kind: str, libraries: Iterable[KernelLibrary], type_number: int) -> bool:
    """Return whether the kernels of all libraries promise it."""
    return all(any(row.holds(operator, kind, library, type_number) for row in CONTRACTS) for library in libraries)
