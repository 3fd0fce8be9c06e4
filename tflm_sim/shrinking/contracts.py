"""What kernels promise about the order of their reads and writes, row by row, each with where it was read.

A plan may let an output share bytes with an input only where a row here says so:

* a *copy* writes each output byte once, with its final value. Where that byte is there already, nothing changes;
* *in place*: output element i is written after input element i was read for the last time, and depends on no other
  element of that input. The output then starts where the input starts, with elements of the same size or smaller ones;
* *diagonal*: pixel by pixel in ascending order; all reads for output element i come before it is written. The output
  then lies below the input, as far as ``plan_check`` proves that no byte is written that is still to be read;
* *choice*: along an axis where the window has one tap, a dilation of 2 is the same window, and makes the library choose
  another kernel, which gives the same bytes.

A library, version or instruction set that is in no row has no such contract, and its operators get bytes of their own.

Read in tensorflow/lite/micro/kernels and tensorflow/lite/kernels/internal/reference @ 90b983c, CMSIS-NN @ 4ab83cc. What
is said of CMSIS-NN's convolutions was also run on emulated cores: ``tools/compare/emulated_shrink.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tflm_sim.model.operator_facts import CONVOLUTIONS
from tflm_sim.model.types import Operator, Tensor, TensorType
from tflm_sim.targets.kernel_library import KernelLibrary
from tflm_sim.values import dataclass

COPY, IN_PLACE, DIAGONAL, CHOICE = "copy", "in place", "diagonal", "choice"
_ALL = ("reference", "cmsis_nn", "esp_nn")


@dataclass(frozen=True, slots=True)
class Use:
    """An operator as far as it decides which kernel runs.

    Attributes:
        name: "CONV_2D", ...
        types: Element types of output and filter (the output's again where there is no filter).
        image, filter: Shapes of the first two inputs, () for one that is not there.
        dilation: Rows, columns.
    """

    name: str
    types: tuple[int, int]
    image: tuple[int, ...] = ()
    filter: tuple[int, ...] = ()
    dilation: tuple[int, int] = (1, 1)


def use_of(name: str, operator: Operator, tensors: Sequence[Tensor]) -> Use:
    """Return an operator of a subgraph as kernels see it; it has an output."""
    named = [tensors[index] if index >= 0 else None for index in operator.input_tensors[:2]]
    image, filters = (*named, None, None)[:2]
    output = tensors[operator.output_tensors[0]].type
    down, across = (operator.options.get(f"dilation_{side}_factor", 1) for side in ("h", "w"))
    return Use(
        name,
        (output, filters.type if filters is not None and name in CONVOLUTIONS else output),
        (image and image.shape) or (),
        (filters and filters.shape) or (),
        (int(str(down)), int(str(across))),
    )


def _is_im2col(use: Use) -> bool:
    """Return whether CMSIS-NN's wrapper chooses arm_convolve_s8: neither pointwise, nor one row, nor groups.

    Source: Include/arm_nnsupportfunctions.h arm_nn_is_convolve_1x1, arm_nn_is_convolve_1_x_n @ CMSIS-NN 4ab83cc.
    """
    if len(use.image) != 4 or len(use.filter) != 4:
        return False
    is_pointwise = use.filter[1:3] == (1, 1) and use.dilation == (1, 1)
    is_row = use.image[1] == 1 and use.filter[1] == 1
    return not is_pointwise and not is_row and use.image[3] == use.filter[3]


@dataclass(frozen=True, slots=True)
class Contract:
    """A promise.

    Attributes:
        operators: Who gives it.
        kind: ``COPY``, ``IN_PLACE`` or ``DIAGONAL``.
        libraries: Of whose kernels.
        variants: Of which instruction sets; () for any.
        types: Of which element types; () for any.
        versions: Of which versions; () for any.
        chosen: Whether the library chooses the kernel that gives it; None for any.
        source: Where the loop stands.
    """

    operators: tuple[str, ...]
    kind: str
    libraries: tuple[str, ...]
    source: str
    variants: tuple[str, ...] = ()
    types: tuple[int, ...] = ()
    versions: tuple[str, ...] = ()
    chosen: Callable[[Use], bool] | None = None

    def holds(self, use: Use, kind: str, library: KernelLibrary) -> bool:
        """Return whether the promise is about this operator with this library."""
        return (
            use.name in self.operators
            and kind == self.kind
            and library.name in self.libraries
            and (not self.variants or library.variant in self.variants)
            and (not self.versions or library.version in self.versions)
            and (not self.types or set(use.types) <= set(self.types))
            and (self.chosen is None or self.chosen(use))
        )


_READ = ("4ab83cc", "v7.0.0")
"""Versions of CMSIS-NN whose convolutions were read; these files differ between them in a pragma only."""

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
    Contract(
        ("ADD", "MUL", "MAXIMUM", "MINIMUM", "SOFTMAX"),
        IN_PLACE,
        ("cmsis_nn",),
        "kernels/cmsis_nn/add.cc, mul.cc, maximum_minimum.cc, softmax.cc: floating point goes to the reference kernels",
        types=(TensorType.FLOAT32,),
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
        "reference/conv.h, depthwiseconv_float.h, pooling.h, integer_ops/conv.h, depthwise_conv.h, pooling.h: batch, "
        "row, column, channel ascending, one write an element after all of its reads; channels of a depthwise "
        "convolution are multiplier by multiplier",
        types=(TensorType.INT8, TensorType.INT16, TensorType.FLOAT32),
    ),
    Contract(
        ("DEPTHWISE_CONV_2D",),
        DIAGONAL,
        ("cmsis_nn",),
        "arm_depthwise_conv_3x3_s8.c: four channels of a pixel are read, then written; arm_depthwise_conv_s8_opt.c "
        "(DSP): a pixel's window is copied, then its channels are written; arm_depthwise_conv_s8.c: one by one",
        variants=("scalar", "dsp"),
        types=(TensorType.INT8,),
        versions=_READ,
    ),
    Contract(
        ("CONV_2D",),
        DIAGONAL,
        ("cmsis_nn",),
        "arm_convolve_s8.c: the windows of two pixels are copied, then the pixels are written",
        variants=("scalar", "dsp"),
        types=(TensorType.INT8,),
        versions=_READ,
        chosen=_is_im2col,
    ),
    Contract(
        ("CONV_2D", "DEPTHWISE_CONV_2D"),
        CHOICE,
        ("cmsis_nn",),
        "arm_convolve_wrapper_s8.c, arm_depthwise_conv_wrapper_s8.c: dilation leads to arm_convolve_s8 and "
        "arm_depthwise_conv_s8, whose integer sums and rounding are the others'",
        types=(TensorType.INT8,),
        versions=_READ,
    ),
    Contract(
        ("CONV_2D", "DEPTHWISE_CONV_2D"),
        CHOICE,
        ("reference",),
        "reference/integer_ops/conv.h, depthwise_conv.h: one kernel for every dilation",
        types=(TensorType.INT8,),
    ),
)  # fmt: skip
"""Every promise. What is missing was not read, or does not hold: CMSIS-NN's 1x1 convolution walks channels outside and
overwrites its input, its maximum pool writes a pixel while it still reads it, and on MVE its depthwise convolution goes
over the image once for each block of channels."""


def promised(use: Use, kind: str, libraries: Iterable[KernelLibrary]) -> bool:
    """Return whether the kernels of all libraries promise it."""
    return all(any(row.holds(use, kind, library) for row in CONTRACTS) for library in libraries)
