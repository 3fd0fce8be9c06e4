"""One table entry per ESP-NN version and implementation: its scratch-size functions.

The copy in Edge Impulse's SDK has the sizes of 1.1.0, but for its oldest two, for convolutions on the S3: until August
2023 they are older (4c96547, f351785), until March 2024 the padded input counts twice (3fc7065, 380fe7a).

``opt`` is what the ESP32, S2, C3 and C6 run, ``ansi`` what CONFIG_NN_ANSI_C chooses on any chip. Where a version has no
entry for an implementation, its size functions are not at hand.

What says which text a release has, beside the history of espressif/esp-nn up to 1.2.3: CHECKSUMS.json of the published
components 1.2.4 (4bbdf68), 1.2.6 (c087617) and 1.3.1 (52d6de8), which list every file's SHA-256. 1.2.4 has the size
functions of 1.2.3. In 1.2.6 a convolution on the S3 is the one of them all that differs, and 1.3.1 has it too; its
depthwise convolution is that of 1.2.6 but for the line of d8866fa, which 1.3.0 is. On the P4 the files have other names
from 1.3.0 on. Those of 1.3.1 are the texts of 1.2.3 but for loops, a last row and comments: convolutions and depthwise
convolutions by their SHA-256, softmax as b98c336 has it, before 1.3.0. Releases between two of the same text have it as
well; 1.2.5 lies between two texts on the S3.

Later texts are known by commit: for each function the newest at that commit or before, 25cae54 and fa9f698 the newest
that were read at all. No published checksum says which release has them. At 2dcd2ac MEAN on the S3 has a size function
as well, 4 bytes a channel (include/esp_nn.h, src/common/esp_nn_mean_s8_esp32s3.c); no esp-tflite-micro that was read
has a kernel that calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from tflm_sim.errors import TflmSimError
from tflm_sim.ops.esp_nn import conv_sizes, depthwise_sizes
from tflm_sim.ops.esp_nn.dims import Implementation, Layer, Size, in_c
from tflm_sim.targets.kernel_library import EDGE_IMPULSE_2022, EDGE_IMPULSE_2023, KernelLibrary


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
_S3_EDGE_IMPULSE_2022 = replace(_S3_1_1_0, esp_nn_get_conv_scratch_size=_conv(conv_sizes.before_1_1_0))
_S3_1_2_0 = replace(
    _P4_1_1_0, esp_nn_get_depthwise_conv_scratch_size=_depthwise(partial(depthwise_sizes.before_1_2_1, gap=32))
)
_S3_1_2_1 = replace(
    _OPT,
    esp_nn_get_conv_scratch_size=_conv(partial(conv_sizes.esp32s3_1_2_1, margin=32)),
    esp_nn_get_depthwise_conv_scratch_size=_depthwise(partial(depthwise_sizes.esp32s3_1_2_1, any_padding=True)),
)
_S3_1_2_3 = replace(_S3_1_2_1, esp_nn_get_conv_scratch_size=_conv(partial(conv_sizes.esp32s3_1_2_1, margin=64)))
_S3_1_2_6 = replace(_S3_1_2_1, esp_nn_get_conv_scratch_size=_conv(conv_sizes.esp32s3_1_2_6))
_S3_1_3_0 = replace(
    _S3_1_2_6,
    esp_nn_get_depthwise_conv_scratch_size=_depthwise(partial(depthwise_sizes.esp32s3_1_2_1, any_padding=False)),
)
_S3_4982F25 = replace(_S3_1_3_0, esp_nn_get_conv_scratch_size=_conv(conv_sizes.esp32s3_4982f25))
_S3_1017042 = replace(
    _OPT,
    esp_nn_get_conv_scratch_size=_conv(conv_sizes.esp32s3_1017042),
    esp_nn_get_depthwise_conv_scratch_size=_depthwise(depthwise_sizes.esp32s3_1017042),
)
_S3_25CAE54 = ScratchSizes(
    _conv(conv_sizes.esp32s3_25cae54), _depthwise(depthwise_sizes.esp32s3_25cae54), depthwise_sizes.softmax_tables
)
_P4_2C222C5 = replace(_P4_1_2_3, esp_nn_get_depthwise_conv_scratch_size=_depthwise(depthwise_sizes.esp32p4_2c222c5))
_P4_FA9F698 = replace(
    _P4_2C222C5,
    esp_nn_get_conv_scratch_size=_conv(conv_sizes.esp32p4_fa9f698),
    esp_nn_get_softmax_scratch_size=depthwise_sizes.softmax_tables,
)


def _chips(
    esp32s3: ScratchSizes | None = None, esp32p4: ScratchSizes | None = None
) -> dict[Implementation, ScratchSizes]:
    """Return a version's row: the plain C implementations never changed."""
    row: dict[Implementation, ScratchSizes] = {"ansi": _ANSI, "opt": _OPT}
    if esp32s3 is not None:
        row["esp32s3"] = esp32s3
    if esp32p4 is not None:
        row["esp32p4"] = esp32p4
    return row


SCRATCH_SIZES: dict[str, dict[Implementation, ScratchSizes]] = {
    "25cae54": {"esp32s3": _S3_25CAE54},
    "fa9f698": {"esp32p4": _P4_FA9F698},
    "1017042": {"esp32s3": _S3_1017042},
    "2c222c5": {"esp32p4": _P4_2C222C5},
    "4982f25": {"esp32s3": _S3_4982F25},
    **dict.fromkeys(("1.3.1", "1.3.0"), _chips(_S3_1_3_0, _P4_1_2_3)),
    **dict.fromkeys(("1.2.9", "1.2.8", "1.2.7", "1.2.6"), _chips(_S3_1_2_6, _P4_1_2_3)),
    "1.2.5": _chips(esp32p4=_P4_1_2_3),
    **dict.fromkeys(("1.2.4", "1.2.3"), _chips(_S3_1_2_3, _P4_1_2_3)),
    **dict.fromkeys(("1.2.2", "1.2.1"), _chips(_S3_1_2_1, _P4_1_1_0)),
    "1.2.0": _chips(_S3_1_2_0, _P4_1_1_0),
    **dict.fromkeys(("1.1.2", "1.1.1", "1.1.0"), _chips(_S3_1_1_0, _P4_1_1_0)),
    EDGE_IMPULSE_2023: _chips(_S3_EDGE_IMPULSE_2023, _OPT),
    EDGE_IMPULSE_2022: _chips(_S3_EDGE_IMPULSE_2022, _OPT),
}


def scratch_sizes(library: KernelLibrary) -> ScratchSizes:
    """Return the functions of the linked ESP-NN."""
    sizes = SCRATCH_SIZES.get(library.version, {}).get(cast("Implementation", library.variant))
    if sizes is None:
        raise TflmSimError(f"SCRATCH_SIZES of ops/esp_nn/scratch_sizes.py has no row of {library}")
    return sizes
