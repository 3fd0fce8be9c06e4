"""One table entry per ESP-NN version and implementation: its scratch-size functions.

``opt`` is what the ESP32, S2, C3 and C6 run, ``ansi`` what CONFIG_NN_ANSI_C chooses on any chip. Versions between the
rows are those of the row before: 1.1.1 and 1.1.2 ask for what 1.1.0 does, 1.2.2 for what 1.2.1 does.
"""

from __future__ import annotations

from collections.abc import Callable

from tflm_sim.ops.esp_nn import conv_sizes, depthwise_sizes
from tflm_sim.ops.esp_nn.dims import ConvParams, DataDims, Implementation
from tflm_sim.values import dataclass, replace

ConvSize = Callable[[DataDims, DataDims, DataDims, ConvParams], int]


@dataclass(frozen=True, slots=True)
class ScratchSizes:
    """The scratch-size functions that a build calls; each returns bytes, 0 for no buffer."""

    esp_nn_get_conv_scratch_size: ConvSize
    esp_nn_get_depthwise_conv_scratch_size: ConvSize
    esp_nn_get_softmax_scratch_size: Callable[[int, int], int]


_OPT = ScratchSizes(
    conv_sizes.esp_nn_get_conv_scratch_size_opt,
    depthwise_sizes.esp_nn_get_depthwise_conv_scratch_size_opt,
    depthwise_sizes.esp_nn_get_softmax_scratch_size_opt,
)
_ANSI = replace(_OPT, esp_nn_get_softmax_scratch_size=depthwise_sizes.esp_nn_get_softmax_scratch_size_ansi)
_P4_1_1_0 = replace(_OPT, esp_nn_get_conv_scratch_size=conv_sizes.conv_scratch_size_1_1_0)
_P4_1_2_3 = replace(_OPT, esp_nn_get_conv_scratch_size=conv_sizes.conv_scratch_size_esp32p4_1_2_3)
_S3_1_1_0 = replace(
    _P4_1_1_0, esp_nn_get_depthwise_conv_scratch_size=depthwise_sizes.depthwise_scratch_size_esp32s3_1_1_0
)
_S3_1_2_0 = replace(
    _S3_1_1_0, esp_nn_get_depthwise_conv_scratch_size=depthwise_sizes.depthwise_scratch_size_esp32s3_1_2_0
)
_S3_1_2_1 = replace(
    _OPT,
    esp_nn_get_conv_scratch_size=conv_sizes.conv_scratch_size_esp32s3_1_2_1,
    esp_nn_get_depthwise_conv_scratch_size=depthwise_sizes.depthwise_scratch_size_esp32s3_1_2_1,
)
_S3_1_2_3 = replace(_S3_1_2_1, esp_nn_get_conv_scratch_size=conv_sizes.conv_scratch_size_esp32s3_1_2_3)


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
}
