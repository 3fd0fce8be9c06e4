"""What the MVP takes: CONV_2D, AVERAGE_POOL_2D, MAX_POOL_2D, TRANSPOSE_CONV and FULLY_CONNECTED of int8.

Built without SL_MVP_OPTIMIZE_SPEED, as the SDK's configuration has it. Before Invoke the kernels know neither where
their data lies nor, in the arena's zeros, whether there is a bias: they answer as for aligned data without one.

Source: platform/compute/nn/mvp/src/sl_mvp_ml_{conv2d,pooling,transpose_conv2d,fully_connected}.c and
platform/compute/driver/mvp/src/sl_mvp_util.c @ SiliconLabs/gecko_sdk 911f6cdef (4.4.1).
"""

from __future__ import annotations

from collections.abc import Callable

from tflm_sim.ops.mvp.program import MAX_COUNT, MAX_STRIDE, MvpLayer, MvpProgram, Positions, Walk, walks

_PRECISE_SUM = 512
"""Averages of more elements are summed with a correction, which takes more instructions."""
_PRIMES = 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31


def takes_conv(layer: MvpLayer) -> bool:
    """``sli_mvp_ml_conv2d_s8_is_supported``: wide rows are cut to pieces, whatever these need."""
    rows, columns = layer.rows, layer.columns
    is_wide = max(columns.image * layer.in_channels, columns.result * layer.out_channels) > MAX_STRIDE
    if is_wide and rows.image == rows.window == rows.result == 1:
        return True
    if not layer.has_its_padding or layer.dilation != (1, 1):
        return False
    return all(
        _conv_program(layer, across, down, walk, batch)
        for across in columns.spans()
        for down in rows.spans()
        for walk in walks(layer, across, down, is_single=across.positions <= 1)
        for batch in range(min(layer.batches, 2))
    )


def _conv_program(layer: MvpLayer, across: Positions, down: Positions, walk: Walk, batch: int) -> bool:
    """Return whether the program for a part of the result fits; of the batch it matters whether it is even."""
    rows, columns, channels = layer.rows, layer.columns, layer.in_channels
    row, window_row = columns.image * channels, columns.window * channels
    taken = across.taken * channels
    top = batch * rows.image + (down.first + walk.offset) * rows.stride - rows.pad + down.start
    left = across.first * columns.stride - columns.pad + across.start
    first = (top * columns.image + left) * channels
    first_weight = (down.start * columns.window + across.start) * channels
    numbers = first, taken, row, walk.vector_stride, first_weight, window_row, rows.window * window_row
    pairs = not any(number % 2 for number in numbers)
    half = 2 if pairs else 1
    program = MvpProgram()
    program.array((walk.vectors, walk.in_rows, taken // half), (walk.vector_stride // half, row // half, 1))
    strides = (rows.window * window_row // half, window_row // half, 1)
    program.array((layer.out_channels, down.taken, taken // half), strides)
    program.vector(layer.out_channels)
    program.array(
        (walk.rounds * (walk.repeats + 1), across.positions, layer.out_channels),
        (walk.out_stride, layer.out_channels, 1),
    )
    program.loop(layer.out_channels, across.positions, walk.rounds, down.taken, taken // half)
    program.compute(6 if pairs else 5)
    if walk.repeats > 0:
        program.loop(walk.repeats)
        program.compute()
    walk.pass_over_rows(program, slots=3 if pairs else 2)
    return program.fits


def takes_max_pool(layer: MvpLayer) -> bool:
    """``sli_mvp_ml_max_pooling_s8_is_supported``."""
    return layer.has_its_padding and _pools(layer, lambda _: 3, goes_down=True)


def takes_average_pool(layer: MvpLayer, *, clips: bool) -> bool:
    """``sli_mvp_ml_average_pooling_s8_is_supported``; ``clips``: the activation leaves out some of int8's values."""
    if not layer.has_its_padding:
        return False
    if _takes_each_average(layer):
        return True
    step = layer.columns.stride * layer.in_channels
    goes_down = layer.rows.stride * layer.columns.image * layer.in_channels <= MAX_STRIDE
    return step <= MAX_STRIDE and _pools(
        layer, lambda taken: (7 if taken > _PRECISE_SUM else 3) + clips, goes_down=goes_down
    )


def _takes_each_average(layer: MvpLayer) -> bool:
    """Return whether there can be a program for each element of the result."""
    rows, columns, half = layer.rows, layer.columns, _half(layer.in_channels)
    depth = layer.in_channels // half
    program = MvpProgram()
    for height, width in ((rows.image, columns.image), (rows.result, columns.result)):
        program.array((depth, height, width), (1, width * layer.in_channels // half, depth))
    program.loop(depth)
    for axis in (rows, columns):
        program.fits &= all(1 <= axis.taken(at) <= MAX_COUNT for at in range(axis.result))
    return program.fits


def _half(channels: int) -> int:
    """Return how many channels are computed at a time."""
    return 2 if channels % 2 == 0 else 1


def _pools(layer: MvpLayer, instructions: Callable[[int], int], *, goes_down: bool) -> bool:
    """Return whether the programs of a pooling fit.

    Args:
        layer: The pooling.
        instructions: How many instructions a window of so many elements takes.
        goes_down: Whether one column of the result is one program.
    """
    return all(
        _pool_program(layer, across, down, walk, instructions(across.taken * down.taken))
        for across in layer.columns.spans()
        for down in layer.rows.spans()
        for walk in walks(layer, across, down, is_single=goes_down and across.positions <= 1)
    )


def _pool_program(layer: MvpLayer, across: Positions, down: Positions, walk: Walk, instructions: int) -> bool:
    depth, half = layer.in_channels, _half(layer.in_channels)
    row = layer.columns.image * depth
    program = MvpProgram()
    program.array((walk.vectors, walk.in_rows, across.taken), (walk.vector_stride // half, row // half, depth // half))
    program.array((walk.rounds * (walk.repeats + 1), across.positions), (walk.out_stride // half, depth // half))
    program.loop(across.positions, walk.rounds, down.taken, across.taken)
    program.compute(instructions)
    if walk.repeats > 0:
        program.loop(walk.repeats, 1)
        program.compute()
    walk.pass_over_rows(program, slots=2)
    return program.fits


def takes_transpose_conv(layer: MvpLayer) -> bool:
    """``sli_mvp_ml_transpose_conv2d_s8_is_supported``; ``layer``'s windows move over the result."""
    if not layer.has_its_padding:
        return False
    rows, columns = layer.rows, layer.columns
    program = MvpProgram()
    for height, width, depth in (
        (rows.image, columns.image, layer.in_channels),
        (rows.window, columns.window, layer.in_channels),
        (rows.result, columns.result, layer.out_channels),
    ):
        program.array((depth, height, width), (1, width * depth, depth))
    program.loop(layer.in_channels)
    for axis in (rows, columns):
        spread = axis._replace(image=axis.result)
        program.fits &= all(1 <= spread.taken(at) <= MAX_COUNT for at in range(axis.image))
        program.fits &= 1 <= axis.result <= MAX_COUNT
    return program.fits


def takes_fully_connected(batches: int, depth: int, units: int, bias_length: int) -> bool:
    """``sli_mvp_ml_fully_connected_s8_is_supported``: [batches, depth] to [batches, units].

    More than 1,024 products, or 2,048 where pairs are computed, are cut to two loops, whatever else there is.
    """
    half = _half(depth)
    if depth > MAX_COUNT * half:
        return max(_two_factors(depth // half)) <= MAX_COUNT
    return 1 <= batches <= MAX_COUNT and 1 <= units <= MAX_COUNT and depth >= 1 and bias_length <= MAX_COUNT


def _two_factors(number: int) -> tuple[int, int]:
    """Return two factors, of which small primes moved from the second to the first until both are short enough."""
    first, second = 1, number
    while max(first, second) > MAX_COUNT:
        prime = next((prime for prime in _PRIMES if second % prime == 0), None)
        if prime is None:
            break
        first, second = first * prime, second // prime
    return first, second
