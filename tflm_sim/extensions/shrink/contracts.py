"""What kernels promise about the order of their reads and writes, row by row, each with where it was read.

A plan may let an output share bytes with an input only where a row here says so:

* a *copy* writes each output byte once, with its final value. Where that byte is there already, nothing changes;
* *in place*: output element i is written after input element i was read for the last time, and depends on no other
  element of that input. The output then starts where the input starts, with elements of the same size or smaller ones;
* *overlap*: pixel by pixel in ascending order; all reads for output element i come before it is written. The output
  then lies below the input, as far as ``plan_check`` proves that no byte is written that is still to be read;
* *part*: of the tensor that is cut, or written into in place, no byte beyond the rows that are named is touched;
* *choice*: along an axis where the window has one tap, a dilation of 2 is the same window, and makes the library choose
  another kernel, which gives the same bytes;
* *no bias*: without a bias the kernel computes what it computes with one of zeros;
* *dense*: of a pointwise convolution with a scale for each channel, FULLY_CONNECTED computes the same bytes.

A library, version or instruction set that is in no row has no such contract, and its operators get bytes of their own.

Read in tensorflow/lite/micro/kernels and tensorflow/lite/kernels/internal/reference @ 90b983c, CMSIS-NN and ESP-NN at
the versions of their rows. What is said of CMSIS-NN's convolutions was also run on emulated cores: whole models with
4ab83cc (``tools/compare/emulated_shrink.py``), and 165 layers with each version, plain C on a Cortex-M3, DSP on an M4,
MVE on an M55, each output as far on its input as the row allows; likewise 166 layers with the C of each ESP-NN. The
P4's kernels of 1.2.0, 1.2.3 and 1.2.6 ran on a PC with an interpreter of their vector instructions: 3,421 convolutions
with each, 3,675 depthwise ones and 6,047 pools with 1.2.3, all the same; with one byte more of overlap 1,276 or more,
606 and 1,000 of them differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tflm_sim.device.configuration import Configuration
from tflm_sim.extensions.shrink.kernel_use import (
    Use,
    is_im2col,
    is_one_block,
    mvp_depthwise_in_order,
    p4_conv_in_order,
    p4_stores_whole_vectors,
    s3_conv_in_order,
    s3_depthwise_copies,
    use_of,
)
from tflm_sim.graph.eval_tensor import TYPE_SIZES
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import CONVOLUTIONS, WINDOWED
from tflm_sim.model.types import Model, Operator, TensorType
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.targets.kernel_library import KernelLibrary

COPY, IN_PLACE, OVERLAP, PART, CHOICE = "copy", "in place", "overlap", "part", "choice"
NO_BIAS, DENSE = "no bias", "dense"
SINCE = {NO_BIAS: "conv_without_bias", DENSE: "fc_per_channel"}
"""The change of TFLM from which on a promise holds. FULLY_CONNECTED looks whether it has a third input since 28034b021,
which is older."""
_ALL = ("reference", "cmsis_nn", "esp_nn")


@dataclass(frozen=True, slots=True)
class Contract:
    """A promise.

    Attributes:
        operators: Who gives it.
        kind: ``COPY``, ``IN_PLACE``, ``OVERLAP``, ``PART``, ``CHOICE``, ``NO_BIAS`` or ``DENSE``.
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

    def covers(self, use: Use, kind: str, library: KernelLibrary) -> bool:
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


_READ_CMSIS_NN = (
    "4ab83cc", "6d9d61d", "e096196", "v7.0.0", "22080c6", "f2cb41c", "95f293d", "01dee38", "15dbe7c", "8492d82",
    "6cc31fb", "72e1ebf", "2a999a2", "bfc54ed", "ca47625", "58f1770", "dc64e48", "d071e9f", "e98ee09",
)  # fmt: skip
"""Versions of CMSIS-NN whose convolutions were read and run: October 2022 to June 2026. What changed in between: the
windows are copied one by one or padded to four bytes, groups came, and images that are larger than they are; the order
of reads and writes did not. Edge Impulse's SDK has a copy of e98ee09."""

_READ_ESP_NN = (
    "1.3.1", "1.3.0", "1.2.9", "1.2.8", "1.2.7", "1.2.6", "1.2.5", "1.2.4", "1.2.3", "1.2.2", "1.2.1", "1.2.0",
    "1.1.2", "1.1.1", "1.1.0",
)  # fmt: skip
"""Versions of ESP-NN that have the texts that were read of the C of all chips, and of ADD and MUL on the ESP32-S3."""

_READ_MVP = ("4.4.1",)
"""Gecko SDKs whose kernels for the MVP were read."""

_READ_S3 = ("1.3.1", "1.3.0", "1.2.9", "1.2.8", "1.2.7", "1.2.6")
"""Versions of ESP-NN whose convolutions and pools on the ESP32-S3 are the texts of 1.2.6 that were read: 1.3.1 has the
same by the SHA-256 in both components' CHECKSUMS.json (c087617, 52d6de8), but for one line of the depthwise
convolution, which was read, and the assembly for 3x3 behind that, which gets no image under a contract."""

_P4_OWN = ("1.2.7", "1.2.6", "1.2.5", "1.2.4", "1.2.3")
"""Versions of ESP-NN whose kernels for the ESP32-P4 are the texts of 1.2.3 (d45b843) that were read, but for the last
row of a convolution: 1.2.6 has them by the SHA-256 in its CHECKSUMS.json (c087617), and no commit between it and
44e322a, which is later than 1.2.7, has another version of those but of the convolution (which was read there)."""

_P4_PLAIN = ("1.2.2", "1.2.1", "1.2.0", "1.1.2", "1.1.1", "1.1.0")
"""Versions of ESP-NN that have a convolution for the ESP32-P4, and of the rest the C of all chips."""

CONTRACTS = (
    Contract(("RESHAPE", "SQUEEZE", "EXPAND_DIMS"), COPY, _ALL, "reshape_common.cc, squeeze.cc: memcpy unless equal"),
    Contract(("CONCATENATION",), COPY, _ALL, "concatenation.cc, reference/concatenation.h: memcpy(p, p) of each input"),
    Contract(("SLICE",), COPY, _ALL, "reference/slice.h: one write an element, in order"),
    Contract(("STRIDED_SLICE",), COPY, _ALL, "strided_slice_logic.h, reference/strided_slice.h: one write an element"),
    Contract(("SPLIT", "SPLIT_V"), COPY, _ALL, "split.cc, split_v.cc: one write an element"),
    Contract(("PACK", "UNPACK"), COPY, _ALL, "pack.cc, unpack.cc: one write an element"),
    Contract(("PAD", "PADV2"), COPY, ("reference", "esp_nn"), "reference/pad.h: one write an element, in order"),
    Contract(
        ("DYNAMIC_UPDATE_SLICE",),
        IN_PLACE,
        _ALL,
        "dynamic_update_slice.cc: at equal addresses nothing but the rows of the update is written",
    ),
    Contract(
        ("SLICE", "DYNAMIC_UPDATE_SLICE"),
        PART,
        _ALL,
        "reference/slice.h: no element is read but those that are written; dynamic_update_slice.cc: the same",
    ),
    Contract(
        (
            "RELU", "RELU6", "LOGISTIC", "TANH", "HARD_SWISH", "LEAKY_RELU", "ELU", "ABS", "NEG", "SQRT", "RSQRT",
            "SQUARE", "EXP", "LOG", "SIN", "COS", "FLOOR", "CEIL", "ROUND", "LOGICAL_NOT", "QUANTIZE", "DEQUANTIZE",
        ),
        IN_PLACE,
        _ALL,
        "activations.cc, logistic.cc, elementwise.cc, requantize.h, ...: output[i] = f(input[i]), ascending; ESP-NN's "
        "own kernels for some of these are not called by kernels/esp_nn until esp-tflite-micro 1.4.0",
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
        ("ADD", "MUL"),
        IN_PLACE,
        ("esp_nn",),
        "esp_nn_add_ansi.c, esp_nn_mul_ansi.c: output[i] after input1[i] and input2[i], ascending; "
        "esp_nn_add_s8_esp32s3.S, esp_nn_mul_s8_esp32s3.S: eight of both are loaded, then eight are stored, the rest "
        "one by one; one text from 1.1.0 to 1.3.1; what broadcasts goes to the reference kernels",
        variants=("opt", "ansi", "esp32s3"),
        types=(TensorType.INT8,),
        versions=_READ_ESP_NN,
    ),
    Contract(
        ("ADD", "MUL"),
        IN_PLACE,
        ("esp_nn",),
        "include/esp_nn_esp32p4.h: until 1.2.2 the C of the row above; esp_nn_add_s8_esp32p4.c, "
        "esp_nn_mul_s8_esp32p4.c: two or four of both are read, then two or four are stored, the rest one by one",
        variants=("esp32p4",),
        types=(TensorType.INT8,),
        versions=(*_P4_OWN, *_P4_PLAIN),
    ),
    Contract(
        ("ADD", "MUL"),
        IN_PLACE,
        ("mvp",),
        "sl_mvp_ml_add.c, sl_mvp_ml_mul.c @ SiliconLabs/gecko_sdk 911f6cdef: two elements are read, and what is stored "
        "there is made of them; the clamp then goes over the output alone; read, not run",
        types=(TensorType.INT8,),
        versions=_READ_MVP,
    ),
    Contract(
        ("DEPTHWISE_CONV_2D",),
        OVERLAP,
        ("mvp",),
        "sli_mvp_ml_depthwise_conv2d_opt.c @ SiliconLabs/gecko_sdk 911f6cdef: a program for each pixel, which loads "
        "the window of one channel or two, and then stores these; read, not run",
        types=(TensorType.INT8,),
        versions=_READ_MVP,
        chosen=mvp_depthwise_in_order,
    ),
    Contract(
        ("ADD", "MUL", "MAXIMUM", "MINIMUM", "SOFTMAX"),
        IN_PLACE,
        ("cmsis_nn", "esp_nn"),
        "kernels/cmsis_nn/add.cc, mul.cc, maximum_minimum.cc, softmax.cc, kernels/esp_nn/add.cc, mul.cc, softmax.cc: "
        "floating point goes to the reference kernels",
        types=(TensorType.FLOAT32,),
    ),
    Contract(("SUB", "SQUARED_DIFFERENCE", "DIV", "PRELU"), IN_PLACE, ("cmsis_nn", "esp_nn"), "as reference"),
    Contract(("MAXIMUM", "MINIMUM"), IN_PLACE, ("esp_nn",), "as reference"),
    Contract(
        ("SOFTMAX",),
        IN_PLACE,
        ("reference",),
        "reference/softmax.h: maximum and sum of a row first, then output[c] after input[c]",
    ),
    Contract(
        ("CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D"),
        OVERLAP,
        ("reference",),
        "reference/conv.h, depthwiseconv_float.h, pooling.h, integer_ops/conv.h, depthwise_conv.h, pooling.h: batch, "
        "row, column, channel ascending, one write an element after all of its reads; channels of a depthwise "
        "convolution are multiplier by multiplier",
        types=(TensorType.INT8, TensorType.INT16, TensorType.FLOAT32),
    ),
    Contract(
        ("DEPTHWISE_CONV_2D",),
        OVERLAP,
        ("cmsis_nn",),
        "arm_depthwise_conv_3x3_s8.c: four channels of a pixel are read, then written; arm_depthwise_conv_s8_opt.c "
        "(DSP): a pixel's window is copied, then its channels are written; arm_depthwise_conv_s8.c: one by one",
        variants=("scalar", "dsp"),
        types=(TensorType.INT8,),
        versions=_READ_CMSIS_NN,
    ),
    Contract(
        ("CONV_2D",),
        OVERLAP,
        ("cmsis_nn",),
        "arm_convolve_s8.c: the windows of two pixels (of four with MVE) are copied, then the pixels are written",
        types=(TensorType.INT8,),
        versions=_READ_CMSIS_NN,
        chosen=is_im2col,
    ),
    Contract(
        ("DEPTHWISE_CONV_2D",),
        OVERLAP,
        ("cmsis_nn",),
        "arm_depthwise_conv_s8_opt.c (MVE): the windows of four pixels are copied, then they are written; "
        "arm_depthwise_conv_s8.c: one by one",
        variants=("mve",),
        types=(TensorType.INT8,),
        versions=_READ_CMSIS_NN,
        chosen=is_one_block,
    ),
    Contract(
        ("CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D"),
        OVERLAP,
        ("esp_nn",),
        "esp_nn_conv_opt.c, esp_nn_conv_ansi.c, esp_nn_depthwise_conv_opt.c, ..._ansi.c, esp_nn_max_pool_ansi.c, "
        "esp_nn_avg_pool_ansi.c: pixel by pixel, at most four channels are read, then written; a dilation goes to the "
        "reference kernels",
        variants=("opt", "ansi"),
        types=(TensorType.INT8,),
        versions=_READ_ESP_NN,
    ),
    Contract(
        ("DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D"),
        OVERLAP,
        ("esp_nn",),
        "include/esp_nn_esp32p4.h @ v1.1.0, v1.1.1, v1.1.2, v1.2.0, 79d59ae, def4d7a: these are the C of the row above",
        variants=("esp32p4",),
        types=(TensorType.INT8,),
        versions=_P4_PLAIN,
    ),
    Contract(
        ("CONV_2D",),
        OVERLAP,
        ("esp_nn",),
        "esp_nn_conv_esp32p4.c: a pixel or its window is loaded anew for each byte, or copied before its bytes are "
        "written, 16 pixels at a time where they have fewer channels; until 1.1.1 padding behind is read from what "
        "lies there",
        variants=("esp32p4",),
        types=(TensorType.INT8,),
        versions=(*_P4_OWN, *_P4_PLAIN[:4]),
        chosen=p4_conv_in_order,
    ),
    Contract(
        ("DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D"),
        OVERLAP,
        ("esp_nn",),
        "esp_nn_depthwise_conv_esp32p4.c, esp_nn_avg_pool_s8_esp32p4.c: of a pixel 16 channels of the window are "
        "summed, then stored, the rest one by one; multipliers and fewer than 8 channels go to the plain C",
        variants=("esp32p4",),
        types=(TensorType.INT8,),
        versions=_P4_OWN,
    ),
    Contract(
        ("MAX_POOL_2D",),
        OVERLAP,
        ("esp_nn",),
        "esp_nn_max_pool_s8_esp32p4.c: of a pixel 16 channels of the window are loaded, then stored, the rest one by "
        "one",
        variants=("esp32p4",),
        types=(TensorType.INT8,),
        versions=_P4_OWN,
        chosen=p4_stores_whole_vectors,
    ),
    Contract(
        ("CONV_2D",),
        OVERLAP,
        ("esp_nn",),
        "esp_nn_conv_esp32s3.c and its assembly: windows, eight pixels or the padded image are copied to the scratch "
        "buffer before a pixel is written, or a window is loaded anew for each byte; read, not run",
        variants=("esp32s3",),
        types=(TensorType.INT8,),
        versions=("1.2.3", *_READ_S3),
        chosen=s3_conv_in_order,
    ),
    Contract(
        ("DEPTHWISE_CONV_2D",),
        OVERLAP,
        ("esp_nn",),
        "esp_nn_depthwise_conv_s8_esp32s3.c: the padded image, or the rows that an output row reads, are copied to the "
        "scratch buffer, from which the assembly reads; read, not run",
        variants=("esp32s3",),
        types=(TensorType.INT8,),
        versions=("1.2.3", "1.2.2", "1.2.1", *_READ_S3),
        chosen=s3_depthwise_copies,
    ),
    Contract(
        ("AVERAGE_POOL_2D", "MAX_POOL_2D"),
        OVERLAP,
        ("esp_nn",),
        "esp_nn_avg_pool_s8_esp32s3.S, esp_nn_max_pool_s8_esp32s3.S: of a pixel 8 or 4 channels of the window are "
        "loaded, then stored; other channels go to the plain C; read, not run",
        variants=("esp32s3",),
        types=(TensorType.INT8,),
        versions=("1.2.3", "1.2.2", "1.2.1", *_READ_S3),
    ),
    Contract(
        ("CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D"),
        OVERLAP,
        ("cmsis_nn", "esp_nn"),
        "kernels/cmsis_nn/conv.cc, depthwise_conv.cc, pooling.cc, esp_nn/...: floats go to the reference kernels",
        types=(TensorType.FLOAT32,),
    ),
    Contract(
        ("CONV_2D", "DEPTHWISE_CONV_2D"),
        CHOICE,
        ("cmsis_nn",),
        "arm_convolve_wrapper_s8.c, arm_depthwise_conv_wrapper_s8.c: dilation leads to arm_convolve_s8 and "
        "arm_depthwise_conv_s8, whose integer sums and rounding are the others'",
        types=(TensorType.INT8,),
        versions=_READ_CMSIS_NN,
    ),
    Contract(
        ("CONV_2D", "DEPTHWISE_CONV_2D"),
        CHOICE,
        ("reference",),
        "reference/integer_ops/conv.h, depthwise_conv.h: one kernel for every dilation",
        types=(TensorType.INT8,),
    ),
    Contract(
        ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"),
        NO_BIAS,
        ("reference",),
        "kernels/conv.cc, depthwise_conv.cc, fully_connected.cc: no third input, a null pointer; reference/conv.h, "
        "depthwiseconv_float.h, fully_connected.h, integer_ops/...: it is asked for, and nothing, or 0.0, is added",
        types=(TensorType.INT8, TensorType.FLOAT32),
    ),
    Contract(
        ("CONV_2D",),
        DENSE,
        ("reference",),
        "reference/integer_ops/conv.h, fully_connected.h FullyConnectedPerChannel, kernels/fully_connected_common.cc: "
        "pixel by pixel, channel by channel the same sum, multiplier, rounding and clamp",
        types=(TensorType.INT8,),
    ),
)  # fmt: skip
"""Every promise. What is missing was not read, or does not hold: CMSIS-NN's 1x1 convolution walks channels outside and
overwrites its input, its maximum pool writes a pixel while it still reads it, and on MVE its depthwise convolution goes
over the image once for each block of channels. So does on the ESP32-S3 the assembly of ESP-NN's depthwise convolutions
that reads the image itself, 16 channels at a time. The MVP's convolutions and pools go over the image once for each
channel of the output, or two."""

_ON_MVP = CONVOLUTIONS | {"ADD", "AVERAGE_POOL_2D", "FULLY_CONNECTED", "MAX_POOL_2D", "MUL", "TRANSPOSE_CONV"}
"""Operators of which the MVP has kernels.

Source: util/third_party/tensorflow_extra/siliconlabs @ SiliconLabs/gecko_sdk 911f6cdef.
"""

_WORD = 4
"""Bytes. A core of 32 bits loads an int64_t as two words, one of 64 bits at any address."""
_VECTORS = ("esp32s3", "esp32p4")
_ON_VECTORS = WINDOWED | {"ADD", "MUL", "FULLY_CONNECTED", "SOFTMAX"}
_PAIR = 2


def wanted_alignments(model: Model, subgraph: int, libraries: Sequence[KernelLibrary]) -> dict[int, int]:
    """Return the bytes at whose multiples tensors must lie, by tensor, where that is more than 1.

    A processor may want an element at a multiple of its size. The vector instructions of the ESP32-S3 and P4 leave out
    the lower four bits of an address, and the MVP's kernels refuse odd addresses where they take two bytes at a time.
    TFLM's own plans have every tensor at a multiple of 16; an offline plan need not.
    """
    names, tensors = Draft(model), model.subgraphs[subgraph].tensors
    found = {index: size for index, tensor in enumerate(tensors) if (size := TYPE_SIZES.get(tensor.type, 1)) > 1}
    for operators, alignment in {_aligned(library) for library in libraries}:
        for operator in model.subgraphs[subgraph].operators:
            if names.name(operator) in operators:
                for tensor in (*operator.input_tensors, *operator.output_tensors):
                    found[tensor] = max(alignment, found.get(tensor, 1))
    return found


def _aligned(library: KernelLibrary) -> tuple[frozenset[str], int]:
    """Return the operators whose kernels take several bytes at a time, and at multiples of how many bytes."""
    if library.name == "esp_nn" and library.variant in _VECTORS:
        return _ON_VECTORS, BUFFER_ALIGNMENT
    return (_ON_MVP, _PAIR) if library.name == "mvp" else (frozenset(), 1)


def wanted_scratch_alignment(library: KernelLibrary) -> int:
    """Return the bytes at whose multiples scratch buffers must lie: of words, or of vectors."""
    return max(_WORD, _aligned(library)[1])


def promised(use: Use, kind: str, libraries: Iterable[KernelLibrary]) -> bool:
    linked = [_linked(use, library) for library in libraries]
    return all(any(row.covers(use, kind, library) for row in CONTRACTS) for library in linked)


def _linked(use: Use, library: KernelLibrary) -> KernelLibrary:
    """Return the library that has the operator's kernel: what the MVP has none for is CMSIS-NN's, or TFLM's own."""
    if library.name == "mvp" and use.name not in _ON_MVP:
        return KernelLibrary("cmsis_nn", library.cmsis_nn, library.variant)
    return library


def promises(draft: Draft, operator: Operator, kind: str, libraries: Iterable[KernelLibrary]) -> bool:
    """Return whether the kernels of all libraries promise it of an operator of a draft, which has an output."""
    name = draft.name(operator)
    return bool(operator.output_tensors) and promised(use_of(name, operator, draft.tensors), kind, libraries)


def promised_since(use: Use, kind: str, configurations: Iterable[Configuration]) -> bool:
    """Return whether the kernels of all targets promise it, and their TFLM is not older than that (``SINCE``)."""
    targets = [configuration.target for configuration in configurations]
    is_new = all(target.runtime.has(SINCE[kind]) for target in targets)
    return is_new and promised(use, kind, [target.kernel_library for target in targets])
