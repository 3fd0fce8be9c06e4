"""The shapes and parameters that ESP-NN's scratch-size functions read.

Source: include/esp_nn_defs.h @ espressif/esp-nn 1.2.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from tflm_sim.ops.reference.window import Extent
from tflm_sim.ops.roles import undefined
from tflm_sim.units import align_up, int32

if TYPE_CHECKING:
    from typing import Literal, TypeAlias

Implementation: TypeAlias = 'Literal["ansi", "opt", "esp32s3", "esp32p4"]'
"""What the chip and CONFIG_NN_ANSI_C choose: plain C, generic optimised C, or one chip's vector unit."""


class DataDims(NamedTuple):
    """``data_dims_t``: an image or a window, with its channels."""

    height: int
    width: int
    channels: int

    @property
    def area(self) -> int:
        """Elements of a channel."""
        return self.height * self.width

    @property
    def size(self) -> int:
        """Elements of all channels."""
        return self.area * self.channels

    def widened(self, multiple: int) -> DataDims:
        """Return it with the channels rounded up."""
        return self._replace(channels=align_up(self.channels, multiple))


class Layer(NamedTuple):
    """A convolution: input, filter and output, and what ``conv_params_t`` and ``dw_conv_params_t`` say of geometry."""

    image: DataDims
    window: DataDims
    result: DataDims
    stride: Extent
    padding: Extent
    ch_mult: int = 0

    @property
    def is_padded(self) -> bool:
        return self.padding != (0, 0)

    @property
    def is_narrow(self) -> bool:
        """Whether ``uint16_t`` holds all of it."""
        numbers = *self.image, *self.window, *self.result, *self.stride, *self.padding, self.ch_mult
        return min(numbers) >= 0 and max(numbers) <= 0xFFFF

    @property
    def sums(self) -> int:
        """Bytes of an int32 per output channel."""
        return 4 * self.result.channels

    def padded(self) -> DataDims:
        """Return the input with padding on all sides."""
        height, width, channels = self.image
        return DataDims(height + 2 * self.padding.h, width + 2 * self.padding.w, channels)

    def beyond(self) -> Extent:
        """Return how far windows reach beyond the bottom and the right edge; negative where they end before it."""
        rows = self.result.height * self.stride.h + self.window.height - 1 - self.image.height
        return Extent(rows, self.result.width * self.stride.w + self.window.width - 1 - self.image.width)

    def with_far_padding(self) -> DataDims:
        """Return the input with what windows read beyond its bottom and right edge."""
        rows, columns = self.beyond()
        return DataDims(self.image.height + max(0, rows), self.image.width + max(0, columns), self.image.channels)

    def with_read_padding(self) -> DataDims:
        """Return the input with its padding on the left and above, and what the output's windows read beyond it."""
        height, width = (max(self.image[side] + self.padding[side], self._read(side)) for side in (0, 1))
        return DataDims(height, width, self.image.channels)

    def _read(self, side: int) -> int:
        """Return how far the last window reaches, from the padding's beginning; ``side`` is 0 for rows."""
        return (self.result[side] - 1) * self.stride[side] + self.window[side]


Size = Callable[[Layer], int]
"""The bytes of scratch that a layer takes."""


def _narrowed(layer: Layer, *, keeps_extent: bool) -> Layer:
    image, window, result = (DataDims(*_narrow(dims)) for dims in layer[:3])
    if keeps_extent:
        result = layer.result._replace(channels=result.channels)
    stride, padding = Extent(*_narrow(layer.stride)), Extent(*_narrow(layer.padding))
    return Layer(image, window, result, stride, padding, layer.ch_mult & 0xFFFF)


def _narrow(values: Iterable[int]) -> tuple[int, ...]:
    return tuple(value & 0xFFFF for value in values)


def in_c(size: Size, *, keeps_extent: bool) -> Size:
    """Return the size as C computes it, in 32 bits from dimensions read into ``uint16_t``.

    Convolutions alone divide, by the width of the window and by a stride.

    Args:
        size: The size.
        keeps_extent: Whether the output's extent is read in full, as the functions of convolutions do.
    """

    def computed(layer: Layer) -> int:
        try:
            return int32(size(layer if layer.is_narrow else _narrowed(layer, keeps_extent=keeps_extent)))
        except ZeroDivisionError:
            raise undefined("esp_nn/conv.cc", "esp_nn_get_conv_scratch_size() divides by 0") from None

    return computed
