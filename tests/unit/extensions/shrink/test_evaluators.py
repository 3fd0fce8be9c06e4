"""What ``verify`` takes an output element to be made of: the inputs that the kernel's own loops read, and no others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from tflm_sim.extensions.shrink.evaluators import EVALUATORS
from tflm_sim.extensions.shrink.symbolic import Call, Hashes, bits_hash, symbols
from tflm_sim.model.types import Operator, Quantization, Tensor, TensorType

INT8, FLOAT32, INT32 = TensorType.INT8, TensorType.FLOAT32, TensorType.INT32
SAME, VALID = 0, 1
Shape = tuple[int, ...]


class Bench:
    """An operator of int8 or float inputs: arrays are constants, shapes are tensors of which nothing is known."""

    def __init__(
        self, name: str, inputs: Sequence[Any], outputs: Sequence[Shape], kind: TensorType = INT8, **options: Any
    ) -> None:
        self.name, self.kind = name, kind
        self.values: list[Any] = []
        self.numbers: list[Any] = []
        self.tensors: list[Tensor | None] = []
        for index, one in enumerate(inputs):
            constant = isinstance(one, np.ndarray)
            is_number = constant and one.dtype == np.int32
            shape = one.shape if constant else one
            self.tensors.append(None if one is None else self.tensor(shape, INT32 if is_number else kind))
            self.numbers.append(one if constant else None)
            bits = one.astype(np.float32).view(np.uint32) if constant and kind is FLOAT32 and not is_number else one
            masked = (
                bits.astype(np.int64) & (0xFF if kind is INT8 and not is_number else 0xFFFFFFFF) if constant else None
            )
            self.values.append(None if one is None else bits_hash(masked) if constant else symbols(str(index), shape))
        self.outputs = [self.tensor(shape, kind) for shape in outputs]
        self.operator = Operator(0, tuple(range(len(inputs))), (), options=options)

    @staticmethod
    def tensor(shape: Shape, kind: TensorType) -> Tensor:
        return Tensor("", shape, kind, 0, quantization=Quantization((0.5,), (0,)) if kind is INT8 else None)

    def made(self, values: list[Any] | None = None) -> Any:
        """Return the first output's hashes, None where the evaluator knows nothing of the call."""
        call = Call(self.name, self.operator, self.tensors, self.outputs, values or self.values, self.numbers)
        found = EVALUATORS[self.name](call)
        return None if found is None else found[0]

    def reads(self, index: int = 0) -> dict[Shape, set[Shape]]:
        """Return the elements of an input that each output element changes with."""
        before, found = self.made(), dict[Shape, set[Shape]]()
        assert before is not None
        for place in np.ndindex(self.values[index].shape):
            values = [None if value is None else value.copy() for value in self.values]
            values[index][place] ^= np.uint64(0xABCDEF)
            for output in zip(*np.nonzero(self.made(values) != before), strict=True):
                found.setdefault(tuple(map(int, output)), set()).add(place)
        return found


def window(output: int, size: int, kernel: int, stride: int, dilation: int, before: int) -> Iterator[tuple[int, int]]:
    """Yield (tap, element) of what an output reads along an axis."""
    for tap in range(kernel):
        at = output * stride + tap * dilation - before
        if 0 <= at < size:
            yield tap, at


# size, kernel, stride, dilation, padding; then, by padding.h: outputs and what is padded before.
GEOMETRIES = [
    (5, 3, 1, 1, SAME, 5, 1),
    (5, 3, 2, 1, SAME, 3, 1),
    (6, 3, 2, 1, SAME, 3, 0),  # (3 - 1) * 2 + 3 - 6 = 1, its half is 0
    (6, 2, 1, 1, SAME, 6, 0),
    (5, 4, 1, 1, SAME, 5, 1),
    (7, 3, 1, 2, SAME, 7, 2),
    (5, 3, 1, 1, VALID, 3, 0),
    (6, 3, 2, 1, VALID, 2, 0),
    (7, 3, 2, 1, VALID, 3, 0),
    (7, 3, 1, 2, VALID, 3, 0),
    (4, 1, 3, 1, SAME, 2, 0),
    (2, 5, 1, 1, SAME, 2, 2),  # the window is larger than the image
]
Geometry = tuple[int, int, int, int, int, int, int]


def spatial(rows: Geometry, columns: Geometry) -> dict[str, int]:
    return {
        "padding": rows[4], "stride_h": rows[2], "stride_w": columns[2],
        "dilation_h_factor": rows[3], "dilation_w_factor": columns[3],
    }  # fmt: skip


def pairs() -> Iterator[tuple[Geometry, Geometry]]:
    """Yield each geometry along rows beside another one of its padding along columns."""
    for padding in (SAME, VALID):
        ours = [one for one in GEOMETRIES if one[4] == padding]
        yield from zip(ours, ours[1:] + ours[:1], strict=True)


def read_windows(
    rows: Geometry, columns: Geometry, counts: Callable[[int, int], bool] = lambda _row, _column: True
) -> dict[tuple[int, int], set[tuple[int, int]]]:
    """Return the pixels that each output pixel reads, through the taps that count."""
    return {
        (y, x): {
            (at, across)
            for row, at in window(y, rows[0], rows[1], rows[2], rows[3], rows[6])
            for column, across in window(x, columns[0], columns[1], columns[2], columns[3], columns[6])
            if counts(row, column)
        }
        for y in range(rows[5])
        for x in range(columns[5])
    }


def weights(*shape: int, kind: TensorType = INT8) -> Any:
    """Return weights of which none is zero, and no two are equal where there are fewer than 250."""
    count = int(np.prod(shape))
    numbers = (np.arange(count) % 250 + 1).reshape(shape)
    return numbers.astype(np.float32) if kind is FLOAT32 else numbers.astype(np.uint8).view(np.int8)


def bias(channels: int) -> Any:
    return np.arange(10, 10 + channels, dtype=np.int32)


@pytest.mark.parametrize(("rows", "columns", "kind"), [*((*pair, INT8) for pair in pairs()), (*next(pairs()), FLOAT32)])
def test_a_convolution_reads_its_windows_in_the_channels_of_its_group(
    rows: Geometry, columns: Geometry, kind: TensorType
) -> None:
    image, kernel, result = (1, rows[0], columns[0], 4), (4, rows[1], columns[1], 2), (1, rows[5], columns[5], 4)
    bench = Bench("CONV_2D", [image, weights(*kernel, kind=kind), None], [result], kind, **spatial(rows, columns))
    windows = read_windows(rows, columns)
    assert bench.reads() == {
        (0, y, x, channel): {(0, *pixel, deep) for pixel in pixels for deep in ((0, 1) if channel < 2 else (2, 3))}
        for (y, x), pixels in windows.items()
        for channel in range(4)
        if pixels
    }


@pytest.mark.parametrize("kind", [INT8, FLOAT32])
def test_each_channel_of_a_convolution_has_weights_and_a_bias_of_its_own(kind: TensorType) -> None:
    bench = Bench(
        "CONV_2D", [(1, 4, 4, 2), weights(3, 3, 3, 2, kind=kind), bias(3)], [(1, 2, 2, 3)], kind, padding=VALID
    )
    places = [(0, y, x, channel) for y in (0, 1) for x in (0, 1) for channel in range(3)]
    own = {place: {(place[3], *tap) for tap in np.ndindex(3, 3, 2)} for place in places}
    assert bench.reads(1) == own
    assert bench.reads(2) == {place: {(place[3],)} for place in places}


@pytest.mark.parametrize(("rows", "columns", "kind"), [*((*pair, INT8) for pair in pairs()), (*next(pairs()), FLOAT32)])
def test_a_depthwise_convolution_reads_one_channel(rows: Geometry, columns: Geometry, kind: TensorType) -> None:
    kernel = weights(1, rows[1], columns[1], 4, kind=kind)
    if kind is INT8:
        kernel[0, 0, 0, 1] = 0  # it counts for nothing
    result = (1, rows[5], columns[5], 4)
    options = {**spatial(rows, columns), "depth_multiplier": 2}
    bench = Bench("DEPTHWISE_CONV_2D", [(1, rows[0], columns[0], 2), kernel, bias(4)], [result], kind, **options)
    whole = read_windows(rows, columns)
    cut = read_windows(rows, columns, lambda row, column: kind is FLOAT32 or (row, column) != (0, 0))
    assert bench.reads() == {
        (0, *output, channel): {(0, *pixel, channel // 2) for pixel in pixels}
        for channel in range(4)
        for output, pixels in (cut if channel == 1 else whole).items()
        if pixels
    }
    assert bench.reads(2) == {(0, *output, channel): {(channel,)} for output in whole for channel in range(4)}


@pytest.mark.parametrize(("rows", "columns"), [pair for pair in pairs() if pair[0][3] == pair[1][3] == 1])
@pytest.mark.parametrize("name", ["AVERAGE_POOL_2D", "MAX_POOL_2D"])
def test_a_pool_reads_its_window_in_its_channel(rows: Geometry, columns: Geometry, name: str) -> None:
    options = {**spatial(rows, columns), "filter_height": rows[1], "filter_width": columns[1]}
    bench = Bench(name, [(1, rows[0], columns[0], 2)], [(1, rows[5], columns[5], 2)], **options)
    assert bench.reads() == {
        (0, *output, channel): {(0, *pixel, channel) for pixel in pixels}
        for output, pixels in read_windows(rows, columns).items()
        for channel in (0, 1)
    }


@pytest.mark.parametrize("name", ["CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D"])
@pytest.mark.parametrize(
    ("rows", "outputs"),
    [(row, row[5] + step) for row in GEOMETRIES if row[1] > 1 and row[3] == 1 for step in (-1, 0, 1)],
)
def test_an_output_of_another_size_is_not_known(name: str, rows: Geometry, outputs: int) -> None:
    size, kernel, stride, *_ = rows
    options = {"padding": rows[4], "stride_h": 1, "stride_w": stride, "filter_height": 1, "filter_width": kernel}
    filters = [] if name == "AVERAGE_POOL_2D" else [weights(1, 1, kernel, 1), None]
    bench = Bench(name, [(1, 1, size, 1), *filters], [(1, 1, outputs, 1)], **options)
    assert (bench.made() is not None) is (outputs == rows[5])


def test_zeros_around_a_filter_of_integers_are_not_there() -> None:
    inner = weights(1, 2, 1, 1)
    for before, after in (((0, 1), (2, 0)), ((1, 0), (0, 0))):
        wide = np.pad(inner, ((0, 0), before, after, (0, 0)))
        rows, columns = wide.shape[1:3]
        bench = Bench("CONV_2D", [(1, 6, 6, 1), wide, None], [(1, 7 - rows, 7 - columns, 1)], padding=VALID)
        assert bench.reads() == {
            (0, y, x, 0): {(0, y + before[0], x + after[0], 0), (0, y + before[0] + 1, x + after[0], 0)}
            for y in range(7 - rows)
            for x in range(7 - columns)
        }


def test_a_transposed_convolution_adds_each_pixel_to_a_window_of_outputs() -> None:
    for padding, before, target in ((VALID, 0, (7, 5)), (SAME, 1, (4, 2))):
        # Kernel 3, strides 2 and 1. SAME: (ceil(4 / 2) - 1) * 2 + 3 - 4 = 1, its half is 0; (2 - 1) * 1 + 3 - 2 = 2.
        top, left = (0, before)
        size = (3, 3) if padding == VALID else (2, 2)
        shape = np.array([1, *target, 2], np.int32)
        inputs = [shape, weights(2, 3, 3, 2), (1, *size, 2), bias(2)]
        bench = Bench("TRANSPOSE_CONV", inputs, [(1, *target, 2)], padding=padding, stride_h=2, stride_w=1)
        expected: dict[Shape, set[Shape]] = {}
        for row, column, deep in np.ndindex(*size, 2):
            for i, j, channel in np.ndindex(3, 3, 2):
                y, x = row * 2 - top + i, column - left + j
                if 0 <= y < target[0] and 0 <= x < target[1]:
                    expected.setdefault((0, y, x, channel), set()).add((0, row, column, deep))
        assert bench.reads(2) == expected
        assert {place[3] for found in bench.reads(1).values() for place in found} == {0, 1}
        assert all({one[0] for one in found} == {place[3]} for place, found in bench.reads(1).items())


def test_a_dense_layer_reads_a_row_and_has_weights_for_each_output() -> None:
    bench = Bench("FULLY_CONNECTED", [(2, 3), weights(4, 3), bias(4)], [(2, 4)])
    places = [*np.ndindex(2, 4)]
    assert bench.reads(0) == {place: {(place[0], deep) for deep in range(3)} for place in places}
    assert bench.reads(1) == {place: {(place[1], deep) for deep in range(3)} for place in places}
    assert bench.reads(2) == {place: {(place[1],)} for place in places}
    for shape, result in (((2, 3), (2, 5)), ((3, 3), (2, 4)), ((2, 4), (2, 4)), ((1, 3), (2, 4))):
        assert Bench("FULLY_CONNECTED", [shape, weights(4, 3), None], [result]).made() is None


@pytest.mark.parametrize(
    ("axes", "kept"), [((1, 2), (2, 2)), ((-1,), (2, 3, 2)), ((0, 3), (3, 2)), ((2, 2), (2, 3, 2))]
)
def test_a_mean_reads_along_its_axes(axes: Shape, kept: Shape) -> None:
    bench = Bench("MEAN", [(2, 3, 2, 2), np.array(axes, np.int32)], [kept])
    reduced = {axis % 4 for axis in axes}
    expected: dict[Shape, set[Shape]] = {}
    for place in np.ndindex(2, 3, 2, 2):
        output = tuple(at for axis, at in enumerate(place) if axis not in reduced)
        expected.setdefault(output, set()).add(place)
    assert bench.reads() == expected


def test_softmax_reads_its_row_and_other_operators_their_place() -> None:
    assert Bench("SOFTMAX", [(2, 3)], [(2, 3)]).reads() == {
        place: {(place[0], at) for at in range(3)} for place in np.ndindex(2, 3)
    }
    assert Bench("RELU", [(2, 3)], [(2, 3)]).reads() == {place: {place} for place in np.ndindex(2, 3)}
    add = Bench("ADD", [(2, 3), (3,)], [(2, 3)])
    assert add.reads(0) == {place: {place} for place in np.ndindex(2, 3)}
    assert add.reads(1) == {place: {place[1:]} for place in np.ndindex(2, 3)}
    assert Bench("ADD", [(2, 3), (3,)], [(2, 1)]).made() is None
    assert Bench("ADD", [(3,), (2, 3)], [(2, 3)]).made() is not None


def i32(*values: int) -> Any:
    return np.array(values, np.int32)


def moved(name: str, inputs: list[Any], shape: Shape, **options: Any) -> Any:
    """Return which input elements the outputs are, counted from 0; None where the evaluator does not know."""
    found = Bench(name, inputs, [shape], **options).made()
    if found is None:
        return None
    known = {int(value): at for at, value in enumerate(symbols("0", inputs[0]).ravel())}
    return [known.get(int(value), -1) for value in found.ravel()]


@pytest.mark.parametrize(
    ("name", "operands", "options", "taken"),
    [
        ("SLICE", [i32(1, 0), i32(2, -1)], {}, np.s_[1:3, 0:]),
        ("SLICE", [i32(0, 2), i32(1, 1)], {}, np.s_[0:1, 2:3]),
        ("STRIDED_SLICE", [i32(0, 1), i32(3, 4), i32(2, 1)], {}, np.s_[0:3:2, 1:4]),
        ("STRIDED_SLICE", [i32(-1, -3), i32(-4, -1), i32(-1, 1)], {}, np.s_[::-1, 1:3]),
        ("STRIDED_SLICE", [i32(1, 1), i32(2, 2), i32(1, 1)], {"begin_mask": 1, "end_mask": 2}, np.s_[:2, 1:]),
        ("STRIDED_SLICE", [i32(1, 1), i32(2, 2), i32(1, 1)], {"begin_mask": 2, "end_mask": 1}, np.s_[1:, :2]),
        ("STRIDED_SLICE", [i32(1, -2), i32(9, 9), i32(1, 1)], {"shrink_axis_mask": 2}, np.s_[1:, 2]),
        ("STRIDED_SLICE", [i32(1, 1), i32(0, 3), i32(1, 1)], {"shrink_axis_mask": 1}, np.s_[1, 1:3]),
        ("TRANSPOSE", [i32(1, 0)], {}, None),
    ],
)
def test_what_is_moved_is_the_element_that_numpy_moves(name: str, operands: Any, options: Any, taken: Any) -> None:
    numbers = np.arange(12).reshape(3, 4)
    expected = numbers.T if taken is None else numbers[taken]
    assert moved(name, [(3, 4), *operands], expected.shape, **options) == [*expected.ravel()]


@pytest.mark.parametrize(("first", "count"), [((2, 0), (2, 4)), ((-1, 0), (1, 4)), ((0, 0), (4, 4)), ((0, 3), (1, -2))])
def test_a_slice_that_leaves_its_tensor_is_not_known(first: Shape, count: Shape) -> None:
    assert moved("SLICE", [(3, 4), i32(*first), i32(*count)], tuple(max(0, size) for size in count)) is None


def test_views_pads_and_updates() -> None:
    assert moved("RESHAPE", [(2, 3)], (3, 2)) == [*range(6)]
    assert moved("RESHAPE", [(2, 3)], (3, 3)) is None
    pads = np.array([[1, 0], [0, 2]], np.int32)
    assert moved("PAD", [(2, 2), pads], (3, 4)) == [-1, -1, -1, -1, 0, 1, -1, -1, 2, 3, -1, -1]
    assert moved("PAD", [(2, 2), pads], (3, 5)) is None
    zero = bits_hash(np.array([0], np.uint64))[0]
    assert set(map(int, Bench("PAD", [(1,), np.array([[0, 1]], np.int32)], [(2,)]).made()[1:])) == {int(zero)}
    padded = Bench("PADV2", [(1,), np.array([[0, 1]], np.int32), np.array([7], np.int8)], [(2,)]).made()
    assert padded[1] == bits_hash(np.array([7], np.uint64))[0]
    for at, begin in ((1, 1), (2, 9), (0, -4)):  # brought within the tensor
        update = Bench("DYNAMIC_UPDATE_SLICE", [(4,), (2,), i32(begin)], [(4,)])
        expected = symbols("0", (4,))
        expected[at : at + 2] = symbols("1", (2,))
        assert [*update.made()] == [*expected]
    assert {*Bench("FILL", [i32(2, 2), (1,)], [(2, 2)]).made().ravel()} == {*symbols("1", (1,))}
    assert Bench("FILL", [i32(2, 3), (1,)], [(2, 2)]).made() is None
    assert Bench("FILL", [i32(2, 2), (2,)], [(2, 2)]).made() is None


def test_tensors_are_joined_and_parted_along_their_axis() -> None:
    one, other = symbols("0", (2, 2)), symbols("1", (2, 1))
    joined = Bench("CONCATENATION", [(2, 2), (2, 1)], [(2, 3)], axis=1).made()
    assert (joined == np.concatenate([one, other], axis=1)).all()
    assert Bench("CONCATENATION", [(2, 2), (2, 1)], [(2, 3)], axis=1, fused_activation_function=1).made() is None
    assert Bench("CONCATENATION", [(2, 2), (2, 1)], [(2, 2)], axis=1).made() is None
    packed = Bench("PACK", [(2, 2), (2, 2)], [(2, 2, 2)], axis=1).made()
    assert (packed == np.stack([one, symbols("1", (2, 2))], axis=1)).all()
    whole = symbols("1", (2, 4))
    for name, inputs, sizes in (("SPLIT", [i32(1), (2, 4)], (2, 2)), ("SPLIT_V", [(2, 4), i32(1, 3), i32(1)], (1, 3))):
        bench = Bench(name, inputs, [(2, size) for size in sizes])
        parts = EVALUATORS[name](Call(name, bench.operator, bench.tensors, bench.outputs, bench.values, bench.numbers))
        assert parts is not None
        held = whole if name == "SPLIT" else symbols("0", (2, 4))
        assert [part.tolist() for part in parts] == [held[:, : sizes[0]].tolist(), held[:, sizes[0] :].tolist()]
    bench = Bench("UNPACK", [(2, 3)], [(2,)] * 3, axis=1)
    parts = EVALUATORS["UNPACK"](Call("UNPACK", bench.operator, bench.tensors, bench.outputs, bench.values, [None]))
    assert parts is not None
    assert [part.tolist() for part in parts] == symbols("0", (2, 3)).T.tolist()


@pytest.mark.parametrize("half", [False, True])
def test_the_nearest_pixel(half: bool) -> None:
    expected = [int((at + (0.5 if half else 0)) * 3 / 5) for at in range(5)]  # 3 pixels make 5
    found = moved("RESIZE_NEAREST_NEIGHBOR", [(1, 3, 1, 1), i32(5, 1)], (1, 5, 1, 1), half_pixel_centers=half)
    assert found == expected


@pytest.mark.parametrize("half", [False, True])
def test_a_bilinear_resize_of_floats_reads_the_pixels_around(half: bool) -> None:
    bench = Bench("RESIZE_BILINEAR", [(1, 3, 1, 1), i32(5, 1)], [(1, 5, 1, 1)], FLOAT32, half_pixel_centers=half)
    expected = {}
    for y in range(5):
        at = (y + 0.5) * 0.6 - 0.5 if half else y * 0.6
        low, high = max(int(np.floor(at)), 0), min(int(np.ceil(at)), 2)
        expected[0, y, 0, 0] = {(0, low, 0, 0), (0, high, 0, 0)}
    assert bench.reads() == expected
    for options in ({"align_corners": True}, {}):
        size = i32(5, 1) if options else i32(4, 1)
        assert Bench("RESIZE_BILINEAR", [(1, 3, 1, 1), size], [(1, 5, 1, 1)], **options).made() is None


def test_a_shape_is_its_numbers() -> None:
    bench = Bench("SHAPE", [(2, 3)], [(2,)])
    bench.outputs = [Tensor("", (2,), INT32, 0)]
    made: Hashes = bench.made()
    assert [*made] == [*bits_hash(np.array([2, 3], np.uint64))]
