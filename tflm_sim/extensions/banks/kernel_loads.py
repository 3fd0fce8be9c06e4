"""What each kernel loads and stores, by library: rows of formulas, read off the kernels' loops.

A row counts elements of tensors, scratch buffers and what the kernel keeps in the tail. It returns False for types and
shapes that it does not know; the operator is then counted by element, and named.

Source: tensorflow/lite/micro/kernels and tensorflow/lite/kernels/internal/reference @ 90b983c; Source/ of CMSIS-NN @
4ab83cc, built for cores with DSP instructions, or for MVE by GCC. ``python tools compare bank_loads`` compares each
with what an emulated Cortex-M4 or Cortex-M55 loads and stores.
"""

from __future__ import annotations

from collections.abc import Callable
from math import fmod, prod

from tflm_sim.extensions.banks.operation import TAIL, Operation, Windows, element, windows
from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.model.types import TensorType
from tflm_sim.targets.kernel_library import KernelLibrary
from tflm_sim.units import align_up

INT8, INT16, FLOAT = TensorType.INT8, TensorType.INT16, TensorType.FLOAT32
_REVERSED_ABOVE = 16
"""Channels of an input above which CMSIS-NN takes a TRANSPOSE_CONV with strides of 1 and 2 for a convolution."""
_QUANTIZER = 8
"""Bytes of an output channel's multiplier and shift."""


def by_element(op: Operation) -> bool:
    """Load each input once, store each output once, and each scratch buffer both ways; always counts."""
    for tensor in op.inputs:
        op.load(tensor, tensor.flat_size, element(tensor))
    for tensor in op.outputs:
        op.store(tensor, tensor.flat_size, element(tensor))
    for number, size in enumerate(op.scratch):
        op.store(f"scratch{number}", size)
        op.load(f"scratch{number}", size)
    return True


def _is(op: Operation, *types: int) -> bool:
    """Return whether the first input and the first output have one of some types."""
    return bool(op.inputs and op.outputs) and op.inputs[0].type in types and op.outputs[0].type in types


def _unpacked(op: Operation, kernel: EvalTensor) -> None:
    """A filter of 4 bits is unpacked into the first scratch buffer before."""
    if kernel.type == TensorType.INT4:
        op.store("scratch0", kernel.flat_size)


# -- the reference kernels --------------------------------------------------------------------------------------------


def _conv(op: Operation) -> bool:
    image, kernel = op.input(0), op.input(1)
    if image is None or kernel is None or len(image.shape) != 4 or not _is(op, INT8, INT16, FLOAT):
        return False
    output = op.outputs[0]
    channels, height, width, depth = kernel.shape
    moved = windows(op, image, (height, width), output)
    op.load(image, moved.taps * channels * depth, element(image))
    _unpacked(op, kernel)
    if kernel.type == TensorType.INT4:
        op.load("scratch0", moved.taps * channels * depth)
    return _each_output(op, output, is_quantized=image.type != FLOAT)


def _each_output(op: Operation, output: EvalTensor, *, is_quantized: bool) -> bool:
    """Count the store of each output, and the loads of its channel's quantizer."""
    op.store(output, output.flat_size, element(output))
    if is_quantized:
        op.load(TAIL, output.flat_size, _QUANTIZER)
    return True


def _depthwise_conv(op: Operation) -> bool:
    image, kernel = op.input(0), op.input(1)
    if image is None or kernel is None or len(image.shape) != 4 or not _is(op, INT8, INT16, FLOAT):
        return False
    output = op.outputs[0]
    moved = windows(op, image, kernel.shape[1:3], output)
    op.load(image, moved.taps * output.shape[3], element(image))
    _unpacked(op, kernel)
    if kernel.type == TensorType.INT4:
        op.load("scratch0", moved.taps * output.shape[3])
    return _each_output(op, output, is_quantized=image.type != FLOAT)


def _transpose_conv(op: Operation) -> bool:
    kernel, image = op.input(1), op.input(2)
    if image is None or kernel is None or len(image.shape) != 4 or image.type not in (INT8, INT16, FLOAT):
        return False
    output = op.outputs[0]
    size = 8 if image.type == INT16 else 4  # Of a sum.
    # Each input element goes to all outputs under the window: count its taps on the output.
    moved = windows(op, output, kernel.shape[1:3], image)
    products = moved.taps * image.shape[3] * output.shape[3]
    op.load(image, products, element(image))
    into: EvalTensor | str = output if image.type == FLOAT else "scratch0"
    op.store(into, output.flat_size, size)
    op.load(into, products, size)
    op.store(into, products, size)
    if image.type == FLOAT:
        return True
    op.load("scratch0", output.flat_size, size)
    return _each_output(op, output, is_quantized=True)


def _fully_connected(op: Operation) -> bool:
    source, kernel = op.input(0), op.input(1)
    if source is None or kernel is None or not _is(op, INT8, INT16, FLOAT) or len(kernel.shape) < 2:
        return False
    output = op.outputs[0]
    op.load(source, output.flat_size * kernel.shape[-1], element(source))
    _unpacked(op, kernel)
    if kernel.type == TensorType.INT4:
        op.load("scratch0", output.flat_size * kernel.shape[-1])
    scales = 0 if kernel.affine is None else kernel.affine.scale_count
    return _each_output(op, output, is_quantized=source.type != FLOAT and scales > 1)


def _pool(op: Operation) -> bool:
    image = op.input(0)
    if image is None or len(image.shape) != 4 or not _is(op, INT8, INT16, FLOAT):
        return False
    output = op.outputs[0]
    window = op.number("filter_height"), op.number("filter_width")
    moved = windows(op, image, window, output)
    op.load(image, moved.taps * image.shape[3], element(image))
    return _each_output(op, output, is_quantized=False)


def _softmax(op: Operation) -> bool:
    if not _is(op, INT8, INT16, FLOAT):
        return False
    source, output = op.inputs[0], op.outputs[0]
    count = source.flat_size
    if source.type == INT8:  # The largest, the sum, the quotients.
        op.load(source, 3 * count)
        op.store(output, count, element(output))
        return True
    op.load(source, 2 * count, element(source))
    op.store(output, 2 * count, element(output))
    op.load(output, count if source.type == FLOAT else 2 * count, element(output))
    if source.type == INT16:  # Two neighbours of the table of powers.
        op.load(TAIL, 2 * count, 2)
    return True


def _of_each_output(op: Operation) -> bool:
    """Of operators that broadcast: each output element loads one of each input."""
    output = op.outputs[0]
    for tensor in op.inputs:
        op.load(tensor, output.flat_size, element(tensor))
    return _each_output(op, output, is_quantized=False)


def _resized(op: Operation, neighbours: int) -> bool:
    """Each output is made of so many inputs."""
    op.load(op.inputs[0], op.outputs[0].flat_size * neighbours, element(op.inputs[0]))
    return _each_output(op, op.outputs[0], is_quantized=False)


def _copied_once(op: Operation) -> bool:
    """Of operators that load the elements that they store, and no others."""
    source = op.inputs[1] if op.name == "SPLIT" else op.inputs[0]
    for each in op.outputs:
        op.load(source, each.flat_size, element(each))
        op.store(each, each.flat_size, element(each))
    return True


def _reshape(op: Operation) -> bool:
    """``memcpy`` of the first input."""
    op.load(op.inputs[0], op.outputs[0].flat_size, element(op.outputs[0]))
    op.store(op.outputs[0], op.outputs[0].flat_size, element(op.outputs[0]))
    return True


def _pad(op: Operation) -> bool:
    op.load(op.inputs[0], op.inputs[0].flat_size, element(op.inputs[0]))
    op.store(op.outputs[0], op.outputs[0].flat_size, element(op.outputs[0]))
    return True


def _svdf(op: Operation) -> bool:
    source, feature, time, state = (op.input(position) for position in (0, 1, 2, 4))
    if source is None or feature is None or time is None or state is None or source.type != INT8:
        return False
    output = op.outputs[0]
    batch, filters, memory = source.shape[0], feature.shape[0], time.shape[1]
    size, rank = element(state), op.number("rank", 1)
    moved = batch * filters * memory - 1
    op.load(state, moved, size)
    op.store(state, moved, size)
    op.load(source, batch * filters * feature.shape[1])
    op.load(TAIL, batch * filters * (feature.shape[1] + memory), 4)  # A zero point for each product.
    op.store(state, batch * filters, size)
    op.load(state, batch * filters * memory, size)
    op.store("scratch0", batch * filters * (memory + 1), 4)  # Zero, then every partial sum.
    units = batch * filters // rank
    op.store("scratch1", units, 4)
    op.load("scratch0", batch * filters, 4)
    op.load("scratch1", batch * filters, 4)
    op.store("scratch1", batch * filters, 4)
    op.load("scratch1", units, 4)
    op.store(output, output.flat_size, element(output))
    return True


def _mean(op: Operation) -> bool:
    """Sums of 32 bits, loaded and stored for each input element; and an index of it that is counted up in scratch.

    How often the index and the axes are loaded depends on the compiler; 28 bytes an element are those of gcc -Os for
    four dimensions and two axes.
    """
    source, output = op.inputs[0], op.outputs[0]
    if source.type not in (INT8, INT16) or len(op.scratch) < 3:
        return False
    count = source.flat_size
    op.load(source, count, element(source))
    op.store("scratch0", output.flat_size + count, 4)
    op.load("scratch0", output.flat_size + count, 4)
    op.load("scratch1", count, 28)
    op.store("scratch1", count, 4)
    op.load("scratch2", count, 28)
    op.store(output, 2 * output.flat_size, element(output))
    return True


def _lstm_sizes(op: Operation) -> tuple[int, int, int]:
    """Return the elements of an LSTM's output: all, those of the first step, and those of a step of one sequence."""
    count, shape = op.outputs[0].flat_size, op.outputs[0].shape
    return count, count // shape[0 if op.options.get("time_major") else 1], shape[-1]


def _lstm(op: Operation) -> bool:
    """Each gate: two products, of which the last scratch buffer holds the second one, their sum, and its activation.

    Source: tensorflow/lite/micro/kernels/lstm_eval.h @ 90b983c.
    """
    source, hidden, cell = op.input(0), op.input(18), op.input(19)
    if source is None or hidden is None or cell is None or not _is(op, INT8, INT16, FLOAT) or len(op.scratch) != 4:
        return False
    count, _, units = _lstm_sizes(op)
    size = element(cell)
    for gate in ("scratch0", "scratch1", "scratch2", "scratch1"):
        op.load(source, count * source.shape[-1], element(source))
        op.load(hidden, count * units, element(hidden))
        op.store("scratch3", count, size)
        op.load("scratch3", count, size)
        op.store(gate, 3 * count, size)
        op.load(gate, 2 * count, size)
    # Forget gate and cell, input gate and cell gate, their sum, its hyperbolic tangent, output gate.
    clip = op.options.get("cell_clip")
    is_clipped = isinstance(clip, (int, float)) and clip > 0
    op.load(cell, (3 + is_clipped) * count, size)
    op.store(cell, (2 + is_clipped) * count, size)
    op.load("scratch0", 2 * count, size)
    op.store("scratch0", count, size)
    op.load("scratch1", 3 * count, size)
    op.store("scratch1", count, size)
    op.load("scratch2", count, size)
    op.store(hidden, count, element(hidden))
    op.load(hidden, count, element(hidden))
    op.store(op.outputs[0], count, element(op.outputs[0]))
    return True


def _read_variable(op: Operation) -> bool:
    output = op.outputs[0]
    op.load(TAIL, output.flat_size, element(output))
    op.store(output, output.flat_size, element(output))
    return True


def _assign_variable(op: Operation) -> bool:
    source = op.inputs[-1]
    op.load(source, source.flat_size, element(source))
    op.store(TAIL, source.flat_size, element(source))
    return True


def _shape(op: Operation) -> bool:
    return _each_output(op, op.outputs[0], is_quantized=False)


Row = Callable[[Operation], bool]

_EACH_ONCE = (
    "ABS SIN COS LOG SQRT SQUARE LOGICAL_NOT LOGICAL_AND LOGICAL_OR NEG EXP CEIL FLOOR ROUND RELU RELU6 LOGISTIC TANH "
    "HARD_SWISH LEAKY_RELU ELU QUANTIZE DEQUANTIZE CAST CONCATENATION PACK TRANSPOSE ADD_N"
)
"""Operators that load each input element and store each output element once."""
_REFERENCE: dict[str, Row] = {
    "CONV_2D": _conv,
    "DEPTHWISE_CONV_2D": _depthwise_conv,
    "TRANSPOSE_CONV": _transpose_conv,
    "FULLY_CONNECTED": _fully_connected,
    "AVERAGE_POOL_2D": _pool,
    "MAX_POOL_2D": _pool,
    "SOFTMAX": _softmax,
    "RESHAPE": _reshape,
    "SQUEEZE": _reshape,
    "EXPAND_DIMS": _reshape,
    "PAD": _pad,
    "PADV2": _pad,
    "MEAN": _mean,
    "SVDF": _svdf,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
    "READ_VARIABLE": _read_variable,
    "ASSIGN_VARIABLE": _assign_variable,
    "SHAPE": _shape,
    "RESIZE_BILINEAR": lambda op: _resized(op, 4),
    "RESIZE_NEAREST_NEIGHBOR": lambda op: _resized(op, 1),
    **dict.fromkeys(("STRIDED_SLICE", "SLICE", "SPLIT", "SPLIT_V", "GATHER", "UNPACK"), _copied_once),
    **dict.fromkeys(["ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"], _of_each_output),
    **dict.fromkeys(["EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "PRELU"], _of_each_output),
    **dict.fromkeys(_EACH_ONCE.split(), by_element),
}


# -- CMSIS-NN with DSP instructions -----------------------------------------------------------------------------------


def _fours(count: int) -> int:
    """Return how many passes so many rows take: four in one, what is left one by one."""
    return count // 4 + count % 4


def _pairs(count: int) -> int:
    """Return how many passes over the input so many output channels take, two a pass."""
    return -(-count // 2)


def _cmsis_conv_of_words(op: Operation, *, has_mve: bool) -> bool:
    """arm_convolve_s16: two columns against two channels at a time; with MVE four columns against one."""
    image, kernel = op.input(0), op.input(1)
    if image is None or kernel is None or not _is(op, INT16) or kernel.type != INT8:
        return False if _is(op, INT8, INT16) else _conv(op)
    output = op.outputs[0]
    channels, height, width, depth = kernel.shape
    if depth != image.shape[3]:
        return False
    moved, column = windows(op, image, (height, width), output), height * width * depth
    batch, per_image = output.shape[0], output.shape[1] * output.shape[2]
    op.load(image, moved.taps * depth, 2)
    op.store("scratch0", moved.positions * column, 2)
    of_pairs = (per_image - per_image % 2) * _pairs(channels) + per_image % 2 * channels
    op.load("scratch0", batch * (per_image * channels if has_mve else of_pairs) * column, 2)
    op.store(output, output.flat_size, 2)
    op.load(TAIL, batch * (_fours if has_mve else _pairs)(per_image) * channels, _QUANTIZER)
    return True


def _cmsis_fully_connected_of_words(op: Operation, passes: Callable[[int], int]) -> bool:
    source, kernel = op.input(0), op.input(1)
    if source is None or kernel is None or not _is(op, INT16) or kernel.type != INT8:
        return False if _is(op, INT8, INT16) else _fully_connected(op)
    output = op.outputs[0]
    rows, depth = kernel.shape[-2], kernel.shape[-1]
    op.load(source, output.flat_size // rows * depth * passes(rows), 2)
    op.store(output, output.flat_size, 2)
    return True


def _cmsis_conv(op: Operation) -> bool:
    image, kernel = op.input(0), op.input(1)
    if image is None or kernel is None or not _is(op, INT8) or kernel.type != INT8:
        return _cmsis_conv_of_words(op, has_mve=False)
    output = op.outputs[0]
    channels, height, width, depth = kernel.shape
    moved = windows(op, image, (height, width), output)
    is_whole = depth == image.shape[3]
    if (
        height == width == 1 and moved.padding == (0, 0) and moved.dilation == (1, 1) and is_whole
    ):  # arm_convolve_1x1_s8
        op.load(image, moved.positions * depth * _pairs(channels))
        op.store(output, output.flat_size)
        op.load(TAIL, output.flat_size, _QUANTIZER // 2)
        return True
    # arm_convolve_s8: bytes into columns of 16 bits, two columns against two channels at a time.
    groups = image.shape[3] // depth
    column, per_group = height * width * depth, channels // groups
    columns = moved.positions * groups
    op.load(image, moved.taps * depth * groups)
    op.store("scratch0", columns * column, 3)
    op.load("scratch0", columns * column)
    odd = moved.positions // output.shape[0] % 2 * output.shape[0] * groups
    op.load("scratch0", ((columns - odd) * _pairs(per_group) + odd * per_group) * column, 2)
    op.store(output, output.flat_size)
    op.load(TAIL, output.flat_size, _QUANTIZER)
    return True


def _cmsis_depthwise_conv(op: Operation) -> bool:
    image, kernel = op.input(0), op.input(1)
    if image is None or kernel is None or not _is(op, INT8) or kernel.type != INT8:
        return False if _is(op, INT8, INT16) else _depthwise_conv(op)
    output = op.outputs[0]
    height, width = kernel.shape[1:3]
    moved = windows(op, image, (height, width), output)
    channels, multiple = output.shape[3], output.shape[3] // image.shape[3]
    is_simple = multiple == 1 and image.shape[0] == 1 and moved.dilation == (1, 1)
    is_3x3 = (height, width) == (3, 3) and max(moved.padding) <= 1
    op.load(image, moved.taps * (channels if is_simple or multiple % 4 else channels // 4))
    if is_simple and not is_3x3:  # arm_depthwise_conv_s8_opt: into a column of 16 bits.
        op.store("scratch0", moved.positions * height * width * channels, 2)
        op.load("scratch0", moved.positions * height * width * channels, 2)
    return _each_output(op, output, is_quantized=True)


def _cmsis_fully_connected(op: Operation) -> bool:
    source, kernel = op.input(0), op.input(1)
    if source is None or kernel is None or not _is(op, INT8) or kernel.type != INT8:
        return _cmsis_fully_connected_of_words(op, _pairs)
    output = op.outputs[0]
    rows, depth = kernel.shape[-2], kernel.shape[-1]
    op.load(source, output.flat_size // rows * depth * _pairs(rows))
    scales = 0 if kernel.affine is None else kernel.affine.scale_count
    return _each_output(op, output, is_quantized=scales > 1)


def _cmsis_lstm(op: Operation, *, passes: Callable[[int], int] = _pairs) -> bool:
    """The hidden state is the output, the cell state scratch; both begin anew in each Invoke(), the first one as none.

    Source: Source/LSTMFunctions/arm_lstm_unidirectional_s8.c, Source/NNSupportFunctions/arm_nn_lstm_step_s8.c @ 4ab83cc
    """
    source = op.input(0)
    if source is None or not _is(op, INT8) or len(op.scratch) != 3:
        return False if _is(op, INT8, INT16) else _lstm(op)
    count, first, units = _lstm_sizes(op)
    gate, other, cell = "scratch0", "scratch1", "scratch2"
    output, later = op.outputs[0], count - first
    for into in (gate, gate, other, gate):  # Zeroed, both products added, and the activation.
        op.load(source, count // units * source.shape[-1] * passes(units))
        op.load(output, later * passes(units))
        op.load(TAIL, count + later, 4)
        op.store(into, 3 * count + later, 2)
        op.load(into, 2 * count + later, 2)
    op.load(gate, 3 * count, 2)
    op.load(other, 2 * count, 2)
    op.store(other, count, 2)
    op.load(cell, 3 * count, 2)
    op.store(cell, first + 2 * count, 2)
    op.store(output, count)
    return True


def _cmsis_svdf(op: Operation, *, passes: int | None = None, is_zeroed: bool = True) -> bool:
    source, feature, time, state = (op.input(position) for position in (0, 1, 2, 4))
    if source is None or feature is None or time is None or state is None or not _is(op, INT8):
        return False
    batch, filters, memory = source.shape[0], feature.shape[0], time.shape[1]
    units, moved = batch * filters // op.number("rank", 1), batch * filters * memory - 1
    op.load(source, batch * feature.shape[1] * (_pairs(filters) if passes is None else passes))
    op.load(state, moved + batch * filters * memory, element(state))  # Moved by one, and multiplied.
    op.store(state, moved + batch * filters, element(state))
    op.store("scratch0", (1 + is_zeroed) * batch * filters, 4)  # Zero, then the sum.
    op.load("scratch0", batch * filters, 4)
    op.store("scratch1", units, 4)
    op.load("scratch1", units, 4)
    op.store(op.outputs[0], units)
    return True


def _cmsis_average_pool(op: Operation) -> bool:
    image = op.input(0)
    if image is None or not _is(op, INT8):
        return False if _is(op, INT16) else _pool(op)
    output = op.outputs[0]
    window = op.number("filter_height"), op.number("filter_width")
    moved = windows(op, image, window, output)
    channels = image.shape[3]
    op.load(image, moved.taps * channels)
    if op.scratch:  # Sums of 32 bits: the first is stored, others are added, and all are divided.
        op.store("scratch0", moved.taps * channels, 4)
        op.load("scratch0", moved.taps * channels, 4)
    return _each_output(op, output, is_quantized=False)


def _cmsis_max_pool(op: Operation) -> bool:
    image = op.input(0)
    if image is None or not _is(op, INT8, INT16):
        return _pool(op)
    output, size = op.outputs[0], element(image)
    window = op.number("filter_height"), op.number("filter_width")
    moved = windows(op, image, window, output)
    channels = image.shape[3]
    # The window's first element is copied, others are compared with what the output holds, and all are clamped.
    op.load(image, moved.taps * channels, size)
    op.load(output, moved.taps * channels, size)
    op.store(output, (moved.taps + moved.positions) * channels, size)
    return True


def _cmsis_transpose_conv(op: Operation) -> bool:
    """Of int8: sums of some rows of the output lie in scratch, a row of the input after the other is added to them.

    Not counted is the other way, a convolution of the input with zeros between its elements.
    """
    kernel, image, output = op.input(1), op.input(2), op.outputs[0]
    if image is None or kernel is None or image.type != INT8:
        return _transpose_conv(op)
    channels, height, width, depth = kernel.shape
    moved = windows(op, output, (height, width), image)
    (down, right), above = moved.stride, moved.padding[0]
    if max(moved.stride) <= 2 and depth > _REVERSED_ABOVE:
        return False
    batch, rows, columns = image.shape[:3]
    wide = ((columns - 1) * right + max(width, right)) * channels
    reset, products, written = max(height, down) * wide, 0, 0
    for row in range(rows):
        before = max(0, above - row * down)
        behind = max(0, row * down + height - above - output.shape[1] - 1)
        products += columns * channels * (height - before - behind) * width
        if not before:
            written += down
            reset += down * wide
    written += sum(above <= rows * down + row < above + output.shape[1] for row in range(height - down))
    made = batch * written * output.shape[2] * channels
    op.load(image, batch * products * depth)
    op.load("scratch0", batch * products + made, 4)
    op.store("scratch0", batch * (products + reset), 4)
    op.store(output, made)
    op.load(TAIL, made, _QUANTIZER)
    return True


_CMSIS_DSP: dict[str, Row] = {
    "CONV_2D": _cmsis_conv,
    "DEPTHWISE_CONV_2D": _cmsis_depthwise_conv,
    "FULLY_CONNECTED": _cmsis_fully_connected,
    "AVERAGE_POOL_2D": _cmsis_average_pool,
    "MAX_POOL_2D": _cmsis_max_pool,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _cmsis_lstm,
    "SVDF": _cmsis_svdf,
    "TRANSPOSE_CONV": _cmsis_transpose_conv,
}
# -- CMSIS-NN with MVE ------------------------------------------------------------------------------------------------


def _mve_conv(op: Operation) -> bool:
    image, kernel = op.input(0), op.input(1)
    if image is None or kernel is None or not _is(op, INT8) or kernel.type != INT8:
        return _cmsis_conv_of_words(op, has_mve=True)
    output = op.outputs[0]
    batch, rows, across, _ = output.shape
    channels, height, width, depth = kernel.shape
    moved = windows(op, image, (height, width), output)
    is_whole = depth == image.shape[3]
    if height == width == 1 and moved.padding == (0, 0) and moved.dilation == (1, 1) and is_whole:
        # arm_convolve_1x1_s8, which takes each row of the output by itself, and its fast form.
        passes = _fours(moved.positions) if moved.stride == (1, 1) else batch * rows * _fours(across)
        op.load(image, moved.positions * depth * channels)
    elif image.shape[1] == height == 1 and moved.dilation[1] == 1 and moved.stride[1] * depth % 4 == 0 and is_whole:
        return _mve_conv_of_a_row(op, image, kernel, moved)
    else:  # arm_convolve_s8: four columns against a channel at a time.
        columns = moved.positions * (image.shape[3] // depth)
        passes = batch * _fours(rows * across)
        op.load(image, moved.taps * image.shape[3])
        op.store("scratch0", columns * height * width * depth)
        op.load("scratch0", moved.positions * height * width * depth * channels)
    op.store(output, output.flat_size)
    op.load(TAIL, passes * channels, _QUANTIZER)
    return True


def _mve_conv_of_a_row(op: Operation, image: EvalTensor, kernel: EvalTensor, moved: Windows) -> bool:
    """arm_convolve_1_x_n_s8: windows at the edges by way of the scratch buffer, all others where they lie."""
    output = op.outputs[0]
    batch, across, depth = image.shape[0], output.shape[2], image.shape[3]
    channels, width = kernel.shape[0], kernel.shape[2]
    before, stride, row = moved.padding[1], moved.stride[1], width * depth
    odd = int(fmod((across - 1) * stride + width - image.shape[2], 2))  # As in C, with the sign of the padding.
    left, right = (max(1, (pad + stride - 1) // stride) if pad else 0 for pad in (before, before + odd))
    inside = max(across - left - right, 0)
    if left + inside + right != across:
        return False
    op.load(image, batch * (row + inside * row * channels + row - depth))
    op.store("scratch0", batch * (before * depth + row + row - depth + (right if odd else before) * depth))
    op.load("scratch0", batch * (left + right) * row * channels)
    op.store(output, output.flat_size)
    op.load(TAIL, batch * (_fours(left) + _fours(inside) + _fours(right)) * channels, _QUANTIZER)
    return True


def _mve_depthwise_conv(op: Operation) -> bool:
    image, kernel = op.input(0), op.input(1)
    if image is None or kernel is None or not _is(op, INT8) or kernel.type != INT8:
        return False if _is(op, INT8, INT16) else _depthwise_conv(op)
    output = op.outputs[0]
    channels, size = output.shape[3], prod(kernel.shape[1:3])
    moved = windows(op, image, kernel.shape[1:3], output)
    passes = _fours(moved.positions)
    if image.shape[0] > 1:
        return False
    if image.shape[3] == 1 < channels:  # As CONV_2D, with the filter turned in the scratch buffer; so GCC compiles it.
        beyond = min(size, 16)  # A pass loads 16 elements ahead, the last time past the end of a channel's filter.
        op.load(image, moved.taps)
        op.store("scratch0", (moved.positions + channels) * size)
        op.load("scratch0", moved.positions * size * channels + passes * channels * (size + beyond))
    elif channels == image.shape[3] and moved.dilation == (1, 1):  # arm_depthwise_conv_s8_opt
        op.load(image, moved.taps * channels)
        op.store("scratch0", moved.positions * size * channels)
        op.load("scratch0", moved.positions * size * align_up(channels, 4))
    else:
        return False
    op.store(output, output.flat_size)
    op.load(TAIL, passes * align_up(channels, 4), _QUANTIZER)
    return True


def _mve_fully_connected(op: Operation) -> bool:
    source, kernel = op.input(0), op.input(1)
    if source is None or kernel is None or not _is(op, INT8) or kernel.type != INT8:
        return _cmsis_fully_connected_of_words(op, _fours)
    output = op.outputs[0]
    rows, depth = kernel.shape[-2], kernel.shape[-1]
    op.load(source, output.flat_size // rows * depth * _fours(rows))
    op.load(TAIL, output.flat_size, 4)  # sums of the filter's rows
    scales = 0 if kernel.affine is None else kernel.affine.scale_count
    return _each_output(op, output, is_quantized=scales > 1)


def _mve_svdf(op: Operation) -> bool:
    """As with DSP, but three rows of features in a pass; for states of 8 bits four, and the sums of their weights."""
    source, feature, state = (op.input(position) for position in (0, 1, 4))
    if source is None or feature is None or state is None or not _is(op, INT8):
        return False
    filters = feature.shape[0]
    passes = filters // 3 + filters % 3 if state.type == INT16 else _fours(filters)
    if state.type != INT16:
        op.load(TAIL, source.shape[0] * filters, 4)
    return _cmsis_svdf(op, passes=passes, is_zeroed=state.type != INT16)  # GCC leaves out the zeros of one of both.


_CMSIS_MVE: dict[str, Row] = {
    "ADD": _of_each_output,
    "MUL": _of_each_output,
    "PAD": _pad,
    "PADV2": _pad,
    "SVDF": _mve_svdf,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": lambda op: _cmsis_lstm(op, passes=_fours),
    "CONV_2D": _mve_conv,
    "DEPTHWISE_CONV_2D": _mve_depthwise_conv,
    "FULLY_CONNECTED": _mve_fully_connected,
    "AVERAGE_POOL_2D": _cmsis_average_pool,
    "MAX_POOL_2D": lambda op: not _is(op, INT16) and _cmsis_max_pool(op),
    "SOFTMAX": lambda op: not _is(op, INT16) and _softmax(op),
}

# -- ESP-NN in C ------------------------------------------------------------------------------------------------------


def _esp_depthwise_conv(op: Operation) -> bool:
    """An input element is loaded for four of its outputs at a time; what ESP-NN does not compute, the reference does.

    Source: src/convolution/esp_nn_depthwise_conv_opt.c @ d45b843
    """
    image, kernel = op.input(0), op.input(1)
    if image is None or kernel is None or not _is(op, INT8) or kernel.type != INT8 or len(image.shape) != 4:
        return _depthwise_conv(op)
    output = op.outputs[0]
    moved, multiple = windows(op, image, kernel.shape[1:3], output), output.shape[3] // image.shape[3]
    if multiple == 1 or moved.dilation != (1, 1):
        return _depthwise_conv(op)
    op.load(image, moved.taps * image.shape[3] * _fours(multiple))
    return _each_output(op, output, is_quantized=True)


def _esp_softmax(op: Operation) -> bool:
    """Exponentials are kept in the scratch buffer, but those of elements that are too far below the largest.

    Source: src/softmax/esp_nn_softmax_opt.c @ d45b843
    """
    if op.scratch and _is(op, INT8):
        op.store("scratch0", op.inputs[0].flat_size, 4)
        op.load("scratch0", op.inputs[0].flat_size, 4)
    return _softmax(op)


_ESP_OPT: dict[str, Row] = {"DEPTHWISE_CONV_2D": _esp_depthwise_conv, "SOFTMAX": _esp_softmax}
"""All else of it, and all that is plain C ("ansi"), loads and stores as the reference kernels do.

Source: src/*/*_{ansi,opt}.c @ d45b843 (1.2.3), whose loops have been the same since 131cf06 of May 2022.
"""
_CMSIS_OPERATORS = (
    "ADD AVERAGE_POOL_2D CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED MAX_POOL_2D MAXIMUM MINIMUM MUL PAD PADV2 SOFTMAX "
    "SVDF TRANSPOSE TRANSPOSE_CONV UNIDIRECTIONAL_SEQUENCE_LSTM"
)
_ESP_OPERATORS = "ADD AVERAGE_POOL_2D CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED MAX_POOL_2D MUL SOFTMAX"
"""Operators for which the libraries have kernels of their own; of floats they are TFLM's.

Source: tensorflow/lite/micro/kernels/cmsis_nn @ 90b983c; kernels/esp_nn @ espressif/esp-tflite-micro 1.4.0.
"""


def _of_floats(row: Row) -> Row:
    return lambda op: _is(op, FLOAT) and row(op)


def _beside(operators: str) -> dict[str, Row]:
    """Return the reference kernels' rows, without those of a library whose loops nobody read."""
    return _REFERENCE | {name: _of_floats(_REFERENCE[name]) for name in operators.split()}


def rows_of(library: KernelLibrary) -> dict[str, Row]:
    """Return the rows of a kernel library; none where nothing is known of it."""
    if (library.name, library.variant) == ("cmsis_nn", "dsp"):
        return _REFERENCE | _CMSIS_DSP
    if (library.name, library.variant) == ("cmsis_nn", "mve"):
        return _beside(_CMSIS_OPERATORS) | _CMSIS_MVE
    if (library.name, library.variant) == ("esp_nn", "opt"):
        return _REFERENCE | _ESP_OPT
    if (library.name, library.variant) == ("esp_nn", "ansi"):
        return _REFERENCE
    known = {"reference": "", "cmsis_nn": _CMSIS_OPERATORS, "esp_nn": _ESP_OPERATORS}
    return _beside(known[library.name]) if library.name in known else {}
