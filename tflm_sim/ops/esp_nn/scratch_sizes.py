"""One table entry per ESP-NN version and implementation: its scratch-size functions.

The copy in Edge Impulse's SDK has the sizes of 1.1.0, but for its oldest, in which a convolution's padded input counts
twice on the S3 (3fc7065, 380fe7a).

``opt`` is what the ESP32, S2, C3 and C6 run, ``ansi`` what CONFIG_NN_ANSI_C chooses on any chip. Versions between the
rows are those of the row before: 1.1.1 and 1.1.2 ask for what 1.1.0 does, 1.2.2 for what 1.2.1 does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tflm_sim.ops.esp_nn import conv_sizes, depthwise_sizes
from tflm_sim.ops.esp_nn.dims import Implementation, Layer, Size, in_c
from tflm_sim.targets.kernel_library import EDGE_IMPULSE_2023
from tflm_sim.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class ScratchSizes:
    """The scratch-size functions that a build calls; each returns bytes, 0 for no buffer."""

    esp_nn_get_conv_scratch_size: Size
    esp_nn_get_depthwise_conv_scratch_size: Size
    esp_nn_get_softmax_scratch_size: Callable[[int, int], int]


def _in_place(layer: Layer) -> int:
    """Return 0: plain C works in place."""
    return 0


_conv = partial(in_c, keeps_extent=True)
_depthwise = partial(in_c, keeps_extent=False)

_OPT = ScratchSizes(_in_place, _in_place, depthwise_sizes.softmax_row)
_ANSI = replace(_OPT, esp_nn_get_softmax_scratch_size=depthwise_sizes.softmax_in_place)
_P4_1_1_0 = replace(_OPT, esp_nn_get_conv_scratch_size=_conv(conv_sizes.before_1_2_1))
_P4_1_2_3 = replace(_OPT, esp_nn_get_conv_scratch_size=_conv(conv_sizes.esp32p4_1_2_3))
_S3_1_1_0 = replace(
    _P4_1_1_0, esp_nn_get_depthwise_conv_scratch_size=_depthwise(partial(depthwise_sizes.before_1_2_1, gap=16))
)
_S3_EDGE_IMPULSE_2023 = replace(
    _S3_1_1_0, esp_nn_get_conv_scratch_size=_conv(partial(conv_sizes.before_1_2_1, padded_inputs=2))
)
_S3_1_2_0 = replace(
    _P4_1_1_0, esp_nn_get_depthwise_conv_scratch_size=_depthwise(partial(depthwise_sizes.before_1_2_1, gap=32))
)
_S3_1_2_1 = replace(
    _OPT,
    esp_nn_get_conv_scratch_size=_conv(partial(conv_sizes.esp32s3, margin=32)),
    esp_nn_get_depthwise_conv_scratch_size=_depthwise(depthwise_sizes.esp32s3_1_2_1),
)
_S3_1_2_3 = replace(_S3_1_2_1, esp_nn_get_conv_scratch_size=_conv(partial(conv_sizes.esp32s3, margin=64)))


def _chips(esp32s3: ScratchSizes, esp32p4: ScratchSizes) -> dict[Implementation, ScratchSizes]:
    """Return a version's row: the plain C implementations never changed."""
    return {"ansi": _ANSI, "opt": _OPT, "esp32s3": esp32s3, "esp32p4": esp32p4}


SCRATCH_SIZES: dict[str, dict[Implementation, ScratchSizes]] = {
    "1.2.3": _chips(_S3_1_2_3, _P4_1_2_3),
    "1.2.2": _chips(_S3_1_2_1, _P4_1_1_0),
    "1.2.1": _chips(_S3_1_2_1, _P4_1_1_0),
    "1.2.0": _chips(_S3_1_2_0, _P4_1_1_0),
    "1.1.2": _chips(_S3_1_1_0, _P4_1_1_0),
    "1.1.1": _chips(_S3_1_1_0, _P4_1_1_0),
    "1.1.0": _chips(_S3_1_1_0, _P4_1_1_0),
    EDGE_IMPULSE_2023: _chips(_S3_EDGE_IMPULSE_2023, _OPT),
}
