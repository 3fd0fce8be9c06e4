"""Offline plans with shared bytes, and the check that refuses every byte written too early."""

from __future__ import annotations

import struct
from dataclasses import replace

import control_flow_models
import numpy as np
import pytest
import shrinking_models as models

from tflm_sim import parse, shrink, simulate
from tflm_sim.device.configuration import configure
from tflm_sim.errors import UsageError
from tflm_sim.extensions.shrink.contracts import CONTRACTS, COPY, IN_PLACE, OVERLAP, promised, wanted_alignments
from tflm_sim.extensions.shrink.kernel_use import Use
from tflm_sim.extensions.shrink.offline_planner import plan_offline, with_offsets
from tflm_sim.extensions.shrink.overlap import needed_distance, reads_are_safe
from tflm_sim.extensions.shrink.plan_candidates import with_early_views
from tflm_sim.extensions.shrink.plan_check import check_plan
from tflm_sim.extensions.shrink.verify import VerificationFailed, verify
from tflm_sim.model.draft import Draft
from tflm_sim.model.encode import encode
from tflm_sim.model.types import Model, TensorType
from tflm_sim.planners import native
from tflm_sim.targets.kernel_library import KernelLibrary

INT8 = TensorType.INT8
REFERENCE = configure("cortex-m4", kernels="reference")
needs_c = pytest.mark.skipif(not native.available(), reason="the exact planner is C")


def chain() -> Model:
    """Return three 1x1 convolutions of 8x8x16: 1,024 B each."""
    layers = models.Layers()
    x = layers.activation((1, 8, 8, 16))
    a = layers.conv(x, 16, kernel=1)
    b = layers.conv(a, 16, kernel=1)
    return layers.model([x], [layers.conv(b, 16, kernel=1)])


def joined() -> Model:
    """Return two convolutions whose outputs are joined along the rows: a copy that a plan saves."""
    layers = models.Layers()
    x = layers.activation((1, 8, 8, 4))
    return layers.model([x], [layers.concatenation([layers.conv(x, 16), layers.conv(x, 16)], 1)])


def is_kept(model: Model, offsets: dict[int, int]) -> bool:
    """Return whether the plan keeps every byte on the reference kernels."""
    planned = parse(encode(with_offsets(model, offsets)))
    try:
        check_plan(planned, simulate(planned, REFERENCE))
    except VerificationFailed:
        return False
    return True


@needs_c
def test_pieces_are_written_where_concatenation_wants_them() -> None:
    (gain,) = shrink(joined(), REFERENCE, offline_plan=True).gains
    # 256 B in (8 * 8 * 4, until the second convolution), 2,048 B out (16 * 8 * 16); before, the pieces come on top.
    assert gain.before.head == 2048 + 2048
    assert gain.after.head == 2048 + 256


@needs_c
def test_bytes_of_a_wide_tensor_are_free_again_once_a_narrow_one_is_written_in_its_place() -> None:
    layers = models.Layers()
    x = layers.image((1, 12, 12, 3))
    model = layers.model([x], [layers.conv(layers.converted(x, INT8, 0.5, models.POINT), 8)])
    simulation = simulate(model, REFERENCE)
    # 1,728 B of floats and 432 B of what QUANTIZE makes of them, side by side; the convolution writes 1,152 B.
    assert simulation.head_bytes == 1728 + 432
    planned = plan_offline(model, [simulation])
    assert planned is not None
    check_plan(planned, simulate(planned, REFERENCE))
    # In place, and the output goes where floats were: it would lie above all 1,728 B if the group stayed as large.
    assert simulate(planned, REFERENCE).head_bytes == 1728


def rows_of(channels: int) -> Model:
    """Return two convolutions whose outputs are rows of one image."""
    layers = models.Layers()
    x = layers.activation((1, 5, 5, channels))
    return layers.model([x], [layers.concatenation([layers.conv(x, channels), layers.conv(x, channels)], 1)])


@needs_c
def test_on_vectors_a_tensor_lies_at_a_multiple_of_16_in_a_plan() -> None:
    for target, expected in ((REFERENCE, 5 * 5 * 3), ("esp32-s3", 0)):
        model = rows_of(3)
        simulation = simulate(model, target)
        planned = plan_offline(model, [simulation])
        assert planned is not None
        after = simulate(planned, target)
        check_plan(planned, after)
        offsets = sorted(buffer.offset % 16 for buffer in after.buffers if buffer.info.tensor >= 0)
        # The second convolution writes its rows 75 B behind the first: only where addresses may be odd.
        assert offsets[-1] == expected % 16


@needs_c
def test_the_check_refuses_a_tensor_that_vectors_would_not_find() -> None:
    model = rows_of(3)
    planned = plan_offline(model, [simulate(model, REFERENCE)])
    assert planned is not None
    with pytest.raises(VerificationFailed, match=r"lies at [0-9,]+ B, no multiple of 16"):
        check_plan(planned, simulate(planned, "esp32-s3"))


@needs_c
def test_a_plan_is_verified_on_every_target() -> None:
    shrunk = shrink(joined(), ["cortex-m4", "x86_64-pip"], offline_plan=True)
    assert shrunk.verified.endswith("keeps every byte that is still to be read")


@needs_c
def test_pixel_by_pixel_an_output_may_lie_just_below_its_input() -> None:
    (gain,) = shrink(chain(), REFERENCE, kernel_order=True).gains
    # A 1x1 convolution reads pixel p when the pixels before it are written: 15 channels of the same pixel are the most
    # that is written before its last read, so 16 B a layer; three layers.
    assert gain.before.head == 2 * 1024
    assert gain.after.head <= 1024 + 3 * 16


@needs_c
def test_the_order_of_a_kernel_is_used_only_when_asked_for() -> None:
    assert shrink(chain(), REFERENCE, offline_plan=True).gains[0].after.head == 2 * 1024


@needs_c
def test_a_library_without_a_contract_gets_no_overlap() -> None:
    # The MVP's own convolutions have none.
    mvp = configure("cortex-m33", library="silabs-gsdk@4.4.1")
    assert shrink(chain(), mvp, kernel_order=True).gains[0].after.head >= 2 * 1024


@needs_c
def test_on_the_p4_a_pointwise_convolution_goes_pixel_by_pixel() -> None:
    # Beside input and output, the scratch of two convolutions: 16 * 16 B of filters and 2 * 8 * 16 + 32 B at most.
    p4 = configure("esp32-p4", kernels="esp_nn@1.2.7")
    assert shrink(chain(), p4, kernel_order=True).gains[0].after.head <= 1024 + 3 * 16 + 16 * 16 + 2 * 8 * 16 + 32


@needs_c
def test_newer_kernels_of_the_p4_whose_order_was_not_read_get_no_overlap() -> None:
    before, after = [
        getattr(shrink(chain(), "esp32-p4", kernel_order=True).gains[0], side) for side in ("before", "after")
    ]
    assert after.head == before.head


@needs_c
def test_with_mve_a_pointwise_convolution_gets_the_kernel_that_goes_four_pixels_at_a_time() -> None:
    # The scratch of arm_convolve_s8 with MVE: 4 windows of 16 channels, copied before four pixels are written.
    assert shrink(chain(), "cortex-m55", kernel_order=True).gains[0].after.head <= 1024 + 3 * 16 + 4 * 16


@needs_c
def test_the_c_of_esp_nn_goes_pixel_by_pixel_without_scratch() -> None:
    assert shrink(chain(), "esp32-c3", kernel_order=True).gains[0].after.head <= 1024 + 3 * 16


@needs_c
def test_on_cmsis_nn_a_pointwise_convolution_gets_the_kernel_that_goes_pixel_by_pixel() -> None:
    shrunk = shrink(chain(), "cortex-m4", kernel_order=True)
    # As on the reference kernels, and the scratch of arm_convolve_s8: 2 windows of 16 channels as int16.
    assert shrunk.gains[0].after.head <= 1024 + 3 * 16 + 2 * 16 * 2
    dilations = [o.options["dilation_w_factor"] for o in shrunk.model.subgraphs[0].operators]
    assert 2 in dilations
    assert shrink(chain(), "cortex-m4", offline_plan=True).gains[0].after.head == 2 * 1024


@needs_c
def test_a_depthwise_convolution_with_scratch_gets_the_kernel_without() -> None:
    layers = models.Layers()
    x = layers.activation((1, 5, 1, 512))
    model = layers.model([x], [layers.depthwise(x, kernel=(5, 1), same=False)])
    before, after = (shrink(model, "cortex-m4", kernel_order=on).gains[0].after.head for on in (False, True))
    # 2,560 B in (5 * 512), 512 B out, and the window as int16.
    assert before == 2560 + 512 + 5120
    assert after <= 2560 + 512


def test_an_overlap_that_is_too_deep_is_refused() -> None:
    model = chain()
    x, a, b, y = 0, 3, 6, 9
    assert is_kept(model, {x: 48, a: 32, b: 16, y: 0})
    for moved in (x, a, b):
        offsets = {x: 48, a: 32, b: 16, y: 0}
        for tensor in (x, a, b):
            if tensor <= moved:
                offsets[tensor] -= 16
        assert not is_kept(model, offsets), f"tensor {moved} lies as low as what is made of it"


@needs_c
def test_steps_are_as_wide_as_elements() -> None:
    layers = models.Layers(type=models.INT16)
    x = layers.activation((1, 8, 8, 16))
    model = layers.model([x], [layers.conv(layers.conv(x, 16, kernel=1), 16, kernel=1)])
    # 2,048 B a tensor (8 * 8 * 16 * 2); 15 elements a step, 32 B in steps of 16.
    (gain,) = shrink(model, REFERENCE, kernel_order=True).gains
    assert gain.before.head == 2 * 2048
    assert gain.after.head == 2048 + 2 * 32


def test_smaller_elements_may_be_written_where_larger_ones_were_read_but_not_the_other_way_round() -> None:
    b = models.ModelBuilder()
    x, y, z = (b.tensor((1, 64), kind, scale=0.5) for kind in (TensorType.FLOAT32, INT8, TensorType.FLOAT32))
    b.operator("QUANTIZE", [x], [y])
    b.operator("DEQUANTIZE", [y], [z])
    model = parse(b.build(inputs=[x], outputs=[z]))
    assert is_kept(model, {x: 0, y: 0, z: 256})
    assert not is_kept(model, {x: 0, y: 16, z: 256})
    assert not is_kept(model, {x: 256, y: 0, z: 0})


def test_two_files_alone_are_enough_to_refuse_an_unsafe_plan() -> None:
    model = chain()
    x, a, b, y = 0, 3, 6, 9
    safe, deep = ({x: 3 * step, a: 2 * step, b: step, y: 0} for step in (1024, 16))
    assert verify(model, parse(encode(with_offsets(model, safe)))).has_plan
    planned = parse(encode(with_offsets(model, deep)))
    assert verify(model, planned, [REFERENCE]).has_plan
    with pytest.raises(VerificationFailed, match="no contract of cmsis_nn"):
        verify(model, planned)


def test_a_plan_that_writes_over_what_is_still_to_be_read_is_refused() -> None:
    layers = models.Layers()
    x = layers.activation((1, 8, 8, 4))
    a = layers.conv(x, 4)
    model = layers.model([x], [layers.add(a, layers.conv(a, 4))])
    b, y = a + 3, a + 4
    assert is_kept(model, {x: 0, a: 256, b: 512, y: 0})
    assert not is_kept(model, {x: 0, a: 256, b: 256, y: 0})
    assert not is_kept(model, {x: 0, a: 256, b: 272, y: 0})
    assert not is_kept(model, {x: 0, a: 256, b: 512, y: 504})


@pytest.mark.parametrize("kernel", [1, 2, 3, 5])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("same", [False, True])
def test_the_distance_in_closed_form_is_the_one_that_tap_by_tap_counting_finds(
    kernel: int, stride: int, same: bool
) -> None:
    for make in ("conv", "depthwise", "pool"):
        layers = models.Layers()
        x = layers.activation((1, 7, 9, 6))
        if make == "conv":
            y = layers.conv(x, 5, kernel=kernel, stride=stride, same=same)
        elif make == "depthwise":
            y = layers.depthwise(x, kernel=(kernel, kernel), stride=stride, same=same)
        else:
            y = layers.pool(x)
        model = layers.model([x], [y])
        draft = Draft(model)
        distance = needed_distance(draft, draft.operators[0])
        assert distance is not None
        name = draft.name(draft.operators[0])
        assert reads_are_safe(draft.tensors, draft.operators[0], name, distance)
        assert distance == 0 or not reads_are_safe(draft.tensors, draft.operators[0], name, distance - 1)


@needs_c
@pytest.mark.parametrize("last", ["RELU", "CONV_2D"])
def test_an_output_of_the_model_is_not_written_over_by_the_last_operator(last: str) -> None:
    layers = models.Layers()
    x = layers.activation((1, 16, 16, 2))
    a = layers.conv(x, 16)
    b = layers.elementwise("RELU", a) if last == "RELU" else layers.conv(a, 16, kernel=1)
    simulation = simulate(layers.model([x], [b, a]), REFERENCE)
    planned = plan_offline(simulation.model, [simulation], kernel_order=True)
    assert planned is not None
    check_plan(planned, simulate(planned, REFERENCE))


DSP = KernelLibrary("cmsis_nn", "4ab83cc", "dsp")
MVE = replace(DSP, variant="mve")
ESP = KernelLibrary("esp_nn", "1.2.3", "esp32s3")
ESP_1_2_0 = replace(ESP, version="1.2.0")
ESP_1_3_1 = replace(ESP, version="1.3.1")


@pytest.mark.parametrize(
    ("use", "library", "expected"),
    [
        (Use("DEPTHWISE_CONV_2D", (9, 9), (1, 8, 8, 4), (1, 3, 3, 4)), DSP, True),
        (Use("DEPTHWISE_CONV_2D", (9, 9), (1, 8, 8, 4), (1, 3, 3, 4)), replace(DSP, variant="scalar"), True),
        (Use("DEPTHWISE_CONV_2D", (9, 9), (1, 8, 8, 4), (1, 3, 3, 4)), MVE, True),
        (Use("DEPTHWISE_CONV_2D", (9, 9), (1, 8, 8, 124), (1, 3, 3, 124)), MVE, True),
        (Use("DEPTHWISE_CONV_2D", (9, 9), (1, 8, 8, 125), (1, 3, 3, 125)), MVE, False),  # a second block of channels
        (Use("DEPTHWISE_CONV_2D", (9, 9), (1, 8, 8, 125), (1, 1, 1, 125), (2, 2)), MVE, True),  # all channels at once
        (Use("DEPTHWISE_CONV_2D", (9, 9), (1, 8, 8, 1), (1, 3, 3, 8)), MVE, False),  # may run as a convolution
        (Use("CONV_2D", (9, 9), (1, 8, 8, 4), (6, 3, 3, 4)), MVE, True),
        (Use("CONV_2D", (9, 9), (1, 8, 8, 4), (6, 1, 1, 4)), MVE, False),
        (Use("DEPTHWISE_CONV_2D", (9, 9), (1, 8, 8, 4), (1, 3, 3, 4)), replace(DSP, version="e98ee09"), True),
        (Use("DEPTHWISE_CONV_2D", (9, 9), (1, 8, 8, 4), (1, 3, 3, 4)), replace(DSP, version="6a18a74"), False),
        (Use("DEPTHWISE_CONV_2D", (9, 17), (1, 8, 8, 4), (1, 3, 3, 4)), DSP, False),  # 4-bit weights
        (Use("DEPTHWISE_CONV_2D", (7, 9), (1, 8, 8, 4), (1, 3, 3, 4)), DSP, False),  # 16-bit activations
        # On the ESP32-S3 depthwise convolutions of what is copied before: padded images (a window of 3 over 8 gives 8),
        # not what assembly reads itself; convolutions, but pointwise ones of channels that are no multiple of 8.
        (Use("DEPTHWISE_CONV_2D", (9, 9), (1, 8, 8, 16), (1, 3, 3, 16), output=(1, 8, 8, 16)), ESP, True),
        (Use("DEPTHWISE_CONV_2D", (9, 9), (1, 8, 8, 16), (1, 3, 3, 16), output=(1, 6, 6, 16)), ESP, False),
        (Use("DEPTHWISE_CONV_2D", (9, 9), (1, 8, 8, 8), (1, 3, 3, 8), output=(1, 6, 6, 8)), ESP, True),
        (Use("DEPTHWISE_CONV_2D", (9, 9), (1, 8, 8, 8), (1, 3, 3, 8), output=(1, 6, 6, 8)), ESP_1_2_0, False),
        (Use("CONV_2D", (9, 9), (1, 8, 8, 16), (6, 3, 3, 16), output=(1, 8, 8, 6)), ESP, True),
        (Use("CONV_2D", (9, 9), (1, 8, 8, 16), (6, 3, 3, 16), output=(1, 6, 6, 6)), ESP, True),
        (Use("CONV_2D", (9, 9), (1, 8, 8, 4), (6, 3, 3, 4), output=(1, 6, 6, 6)), ESP, True),
        (Use("CONV_2D", (9, 9), (1, 8, 8, 16), (6, 1, 1, 16), output=(1, 8, 8, 6)), ESP, True),
        (Use("CONV_2D", (9, 9), (1, 8, 8, 12), (6, 1, 1, 12), output=(1, 8, 8, 6)), ESP, False),
        (Use("CONV_2D", (9, 9), (1, 8, 8, 12), (6, 1, 1, 12), (1, 1), (2, 2), (1, 4, 4, 6)), ESP, True),
        (Use("CONV_2D", (9, 9), (1, 8, 8, 12), (6, 1, 1, 4), output=(1, 8, 8, 6)), ESP, True),  # groups: plain C
        (Use("CONV_2D", (9, 9), (1, 8, 8, 16), (6, 1, 1, 16), output=(1, 8, 8, 6)), ESP_1_3_1, True),
        (
            Use("CONV_2D", (9, 9), (1, 8, 8, 16), (6, 1, 1, 16), output=(1, 8, 8, 6)),
            replace(ESP, version="1.2.2"),
            False,
        ),
        (Use("DEPTHWISE_CONV_2D", (9, 9), (1, 8, 8, 16), (1, 3, 3, 16), output=(1, 8, 8, 16)), ESP_1_3_1, True),
        (Use("DEPTHWISE_CONV_2D", (9, 9), (1, 8, 8, 16), (1, 3, 3, 16), output=(1, 6, 6, 16)), ESP_1_3_1, False),
        (Use("MAX_POOL_2D", (9, 9), (1, 8, 8, 16), output=(1, 4, 4, 16)), ESP_1_3_1, True),
        (Use("CONV_2D", (9, 9), (1, 8, 8, 16), (6, 3, 3, 16), output=(1, 8, 8, 6)), ESP_1_2_0, False),
        (Use("MAX_POOL_2D", (9, 9), (1, 8, 8, 16), output=(1, 4, 4, 16)), ESP, True),
        (Use("MAX_POOL_2D", (9, 9), (1, 8, 8, 16), output=(1, 4, 4, 16)), ESP_1_2_0, False),
        (Use("CONV_2D", (9, 9), (1, 8, 8, 4), (6, 1, 1, 4)), replace(ESP, variant="opt"), True),
        (Use("MAX_POOL_2D", (9, 9), (1, 8, 8, 4)), replace(ESP, variant="ansi"), True),
        (Use("CONV_2D", (7, 9), (1, 8, 8, 4), (6, 1, 1, 4)), replace(ESP, variant="opt"), False),  # 16 bits
        (Use("MAX_POOL_2D", (9, 9), (1, 8, 8, 4)), replace(ESP_1_2_0, variant="esp32p4"), True),
        (Use("DEPTHWISE_CONV_2D", (9, 9), (1, 8, 8, 4), (1, 3, 3, 4)), replace(ESP_1_2_0, variant="esp32p4"), True),
        (Use("CONV_2D", (0, 0), (1, 8, 8, 4), (6, 1, 1, 4)), ESP, True),  # floats: the reference kernel
        (Use("CONV_2D", (9, 9), (1, 8, 8, 4), (6, 3, 3, 4)), DSP, True),
        (Use("CONV_2D", (9, 9), (1, 8, 8, 4), (6, 1, 1, 4)), DSP, False),  # the fast path: channels outside
        (Use("CONV_2D", (9, 9), (1, 8, 8, 4), (6, 1, 1, 4), (2, 2)), DSP, True),
        (Use("CONV_2D", (9, 9), (1, 1, 8, 4), (6, 1, 3, 4)), DSP, False),  # one row: as the fast path
        (Use("CONV_2D", (9, 9), (1, 8, 8, 4), (6, 3, 3, 2)), DSP, False),  # groups: one after the other
        (Use("MAX_POOL_2D", (9, 9), (1, 8, 8, 4)), DSP, False),
        (Use("CONV_2D", (9, 9), (1, 8, 8, 4), (6, 1, 1, 4)), KernelLibrary("reference"), True),
        (Use("CONV_2D", (7, 9), (1, 8, 8, 4), (6, 1, 1, 4)), KernelLibrary("reference"), True),  # 16 bits
        (Use("CONV_2D", (0, 0), (1, 8, 8, 4), (6, 1, 1, 4)), KernelLibrary("reference"), True),  # float
        (Use("CONV_2D", (3, 3), (1, 8, 8, 4), (6, 1, 1, 4)), KernelLibrary("reference"), False),  # uint8
    ],
)
def test_the_order_of_a_kernel_is_a_fact_of_library_version_and_instruction_set(
    use: Use, library: KernelLibrary, expected: bool
) -> None:
    assert promised(use, OVERLAP, [library]) is expected


P4 = replace(ESP, variant="esp32p4")


@pytest.mark.parametrize("version", ["1.2.7", "1.2.3", "1.2.2", "1.1.2", "1.1.1"])
@pytest.mark.parametrize(
    ("image", "window", "stride", "output", "expected"),
    [
        ((1, 8, 8, 12), (6, 1, 1, 12), (1, 1), (1, 8, 8, 6), True),
        ((1, 8, 8, 16), (6, 3, 3, 16), (1, 1), (1, 6, 6, 6), True),
        ((1, 8, 8, 16), (6, 3, 3, 16), (1, 1), (1, 8, 8, 6), True),
        ((1, 8, 8, 1), (6, 3, 3, 1), (1, 1), (1, 6, 6, 6), True),
        # 3 * 3 * 1 bytes in a padded window: a copy beyond the scratch buffer from 1.2.3 on; 4 * 4 * 1 are a vector.
        ((1, 8, 8, 1), (6, 3, 3, 1), (1, 1), (1, 8, 8, 6), False),
        ((1, 8, 8, 1), (6, 4, 4, 1), (1, 1), (1, 8, 8, 6), True),
        # 3 * 2 + 3 - 8 = 1 row behind the image, none before it: as of windows of three rows.
        ((1, 8, 8, 16), (6, 3, 3, 16), (2, 2), (1, 4, 4, 6), True),
        ((1, 8, 8, 16), (6, 2, 2, 16), (1, 1), (1, 8, 8, 6), False),
        ((1, 8, 8, 16), (6, 1, 2, 16), (1, 1), (1, 8, 8, 6), True),  # a column behind the image
        ((1, 8, 8, 16), (6, 3, 3, 8), (1, 1), (1, 6, 6, 6), False),  # groups
    ],
)
def test_convolutions_of_the_p4_go_pixel_by_pixel_where_they_read_the_image_alone(
    version: str,
    image: tuple[int, ...],
    window: tuple[int, ...],
    stride: tuple[int, int],
    output: tuple[int, ...],
    expected: bool,
) -> None:
    use = Use("CONV_2D", (9, 9), image, window, (1, 1), stride, output)
    assert promised(use, OVERLAP, [replace(P4, version=version)]) is (expected and version != "1.1.1")


def test_other_kernels_of_the_p4_are_plain_c_or_take_16_channels_of_a_pixel() -> None:
    for version in ("1.2.7", "1.2.3", "1.2.2", "1.1.0"):
        library = replace(P4, version=version)
        assert promised(Use("ADD", (9, 9)), IN_PLACE, [library])
        assert promised(Use("MUL", (9, 9)), IN_PLACE, [library])
        assert promised(Use("DEPTHWISE_CONV_2D", (9, 9), (1, 8, 8, 24), (1, 3, 3, 24)), OVERLAP, [library])
        assert promised(Use("AVERAGE_POOL_2D", (9, 9), (1, 8, 8, 24)), OVERLAP, [library])
        assert promised(Use("MAX_POOL_2D", (9, 9), (1, 8, 8, 32)), OVERLAP, [library])
        # The second pixel of 24 channels begins at 24, which is no multiple of 16.
        assert promised(Use("MAX_POOL_2D", (9, 9), (1, 8, 8, 24)), OVERLAP, [library]) is (version < "1.2.3")
    assert not promised(Use("ADD", (7, 7)), IN_PLACE, [P4])  # int16


def test_what_the_mvp_has_no_kernel_for_is_cmsis_nn_or_tflm_itself() -> None:
    mvp = KernelLibrary("mvp", "4.4.1", "dsp")
    assert promised(Use("ADD", (9, 9)), IN_PLACE, [mvp])
    assert not promised(Use("ADD", (7, 7)), IN_PLACE, [mvp])  # int16
    assert promised(Use("RELU", (9, 9)), IN_PLACE, [mvp])
    assert promised(Use("RESHAPE", (9, 9)), COPY, [mvp])
    assert not promised(Use("CONV_2D", (9, 9), (1, 8, 8, 4), (6, 3, 3, 4)), OVERLAP, [mvp])


@pytest.mark.parametrize(
    ("image", "window", "output", "expected"),
    [
        ((1, 24, 24, 16), (1, 3, 3, 16), (1, 24, 24, 16), True),  # 24 * 24 = 4 * 3 * 3 * 16 pixels
        ((1, 25, 24, 16), (1, 3, 3, 16), (1, 25, 24, 16), False),
        ((1, 24, 23, 89), (1, 3, 3, 89), (1, 24, 23, 89), True),  # 23 * 89 = 2,047 bytes a row
        ((1, 24, 16, 128), (1, 3, 3, 128), (1, 24, 16, 128), False),
        ((1, 8, 8, 16), (1, 3, 3, 32), (1, 8, 8, 32), False),  # a multiplier of 2
    ],
)
def test_the_mvp_has_a_program_for_each_pixel_of_small_depthwise_convolutions(
    image: tuple[int, ...], window: tuple[int, ...], output: tuple[int, ...], expected: bool
) -> None:
    use = Use("DEPTHWISE_CONV_2D", (9, 9), image, window, output=output)
    assert promised(use, OVERLAP, [KernelLibrary("mvp", "4.4.1", "dsp")]) is expected


def test_the_mvp_wants_even_addresses() -> None:
    layers = models.Layers()
    x = layers.activation((1, 4, 4, 3))
    model = layers.model([x], [layers.elementwise("RELU", layers.conv(x, 3))])
    image, filters, bias, output, last = range(5)
    assert [model.subgraphs[0].tensors[each].type for each in (image, filters, bias)] == [9, 9, 2]
    wanted = wanted_alignments(model, 0, [KernelLibrary("mvp", "4.4.1", "dsp")])
    assert wanted == {image: 2, filters: 2, bias: 4, output: 2}
    assert last not in wanted


@pytest.mark.parametrize(("target", "wanted"), [("cortex-m4", 4), ("esp32-s3", 16)])
def test_a_scratch_buffer_where_its_kernel_cannot_read_it_is_refused(target: str, wanted: int) -> None:
    model = models.Layers()
    x = model.activation((1, 8, 8, 4))
    y = model.conv(x, 4)
    conv = model.model([x], [y])
    for start, offset in ((256, 512), (264, 520), (260, 516), (258, 514)):
        planned = parse(encode(with_offsets(conv, {x: 0, y: start})))
        simulation = simulate(planned, target)
        (scratch,) = (each for each in simulation.buffers if each.info.tensor < 0)
        assert scratch.offset == offset  # TFLM places it behind the output, wherever that ends.
        if offset % wanted:
            with pytest.raises(VerificationFailed, match=f"of .*lies at .*no multiple of {wanted}"):
                check_plan(planned, simulation)
        else:
            check_plan(planned, simulation)


@needs_c
def test_where_tflm_would_place_something_off_a_multiple_of_16_another_plan_is_made() -> None:
    # A READ_VARIABLE of 88 bytes is a piece of what is joined; behind it lie the tensors of an IF.
    model = control_flow_models.random_control_flow(3003106)
    shrunk = shrink(model, "esp32-s3", offline_plan=True, kernel_order=True)
    assert [each for each in shrunk.rejected if "refused" in each.reason] == []
    assert "offline plan" in [step.name for step in shrunk.steps]
    offsets = [each.offset for each in simulate(shrunk.model, "esp32-s3").buffers if each.info.offline_offset == -1]
    assert [offset for offset in offsets if offset % 16] == []


def test_every_promise_says_where_it_was_read_and_holds_only_with_all_libraries() -> None:
    assert promised(Use("ADD", (9, 9)), IN_PLACE, [DSP])
    assert promised(Use("ADD", (9, 9)), IN_PLACE, [DSP, ESP])
    assert not promised(Use("ADD", (7, 7)), IN_PLACE, [ESP])  # 16 bits
    assert promised(Use("PAD", (9, 9)), COPY, [ESP])
    assert not promised(Use("PAD", (9, 9)), COPY, [DSP, ESP])
    assert all(row.source for row in CONTRACTS)


def test_a_plan_and_preserve_all_tensors_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="preserve_all_tensors"):
        shrink(chain(), replace(REFERENCE, planner="linear"), offline_plan=True)


@needs_c
def test_variables_are_left_to_the_device() -> None:
    shrunk = shrink(models.state_model(), REFERENCE, offline_plan=True)
    tensors = shrunk.model.subgraphs[0].tensors
    plan = next((entry for entry in shrunk.model.metadata if entry.name == "OfflineMemoryAllocation"), None)
    if plan is not None:
        offsets = struct.unpack_from(f"<{len(tensors)}i", shrunk.model.buffers[plan.buffer].data or b"", 12)
        assert all(offset == -1 for tensor, offset in zip(tensors, offsets, strict=True) if tensor.is_variable)
    assert np.sum([tensor.is_variable for tensor in tensors]) == 1


@needs_c
def test_what_is_made_of_the_first_rows_lies_where_they_were() -> None:
    layers = models.Layers()
    x = layers.activation((1, 16, 8, 16))
    halves = []
    for row in (0, 8):
        half = layers.activation((1, 8, 8, 16))
        layers.b.operator("SLICE", [x, layers.integers((0, row, 0, 0)), layers.integers((1, 8, 8, 16))], [half])
        halves.append(layers.conv(half, 16, kernel=1))
    model = layers.model([x], [layers.concatenation(halves, 1)])
    early = with_early_views(model)
    assert early is not None
    draft = Draft(early)
    names = [draft.name(operator) for operator in draft.operators]
    assert names == ["SLICE", "SLICE", "CONV_2D", "CONV_2D", "CONCATENATION"]
    # 16 * 8 * 16 = 2,048 B, and each half of the output 15 channels, so 16 B, below its half of the input.
    assert shrink(model, REFERENCE, kernel_order=True).gains[0].after.head == 2048 + 16


@needs_c
def test_splits_are_chosen_for_a_plan() -> None:
    layers = models.Layers()
    x = layers.activation((1, 24, 24, 4))
    a = layers.conv(x, 8)
    model = layers.model([x], [layers.conv(layers.add(layers.conv(layers.conv(a, 8), 8), a), 4, stride=2)])
    # A residual block on 24 * 24 * 8 = 4,608 B: two of them are alive at its second convolution, whatever the plan.
    # In tiles that are written where the rows lay that were read, less than two.
    shrunk = shrink(model, REFERENCE, kernel_order=True)
    assert [step.name for step in shrunk.steps] == ["splits", "offline plan"]
    assert shrunk.gains[0].after.head < 2 * 4608


def test_a_plan_beside_operators_without_outputs_is_verified() -> None:
    """CALL_ONCE and ASSIGN_VARIABLE write no tensor; what they read has to be there all the same."""
    model = models.state_model()
    planned = parse(encode(with_offsets(model, {model.subgraphs[0].input_tensors[0]: 0})))
    assert verify(model, planned).has_plan


def state_beside_padding() -> tuple[Model, dict[int, int]]:
    """Return a model that reads a state and pads its input, and a plan that lays the state on the four padded rows."""
    layers = models.Layers()
    x, old, now = (layers.activation((1, 4, columns, 8)) for columns in (4, 8, 8))
    handle = layers.b.tensor((), TensorType.RESOURCE)
    layers.b.operator("VAR_HANDLE", [], [handle], options={"shared_name": "before"})
    layers.b.operator("READ_VARIABLE", [handle], [old])
    padded = layers.pad(x, 4, 0)
    both = layers.concatenation([old, padded], 1)
    layers.b.operator("SLICE", [padded, layers.integers((0, 4, 0, 0)), layers.integers((1, 4, 8, 8))], [now])
    layers.b.operator("ASSIGN_VARIABLE", [handle, now], [])
    return layers.model([x], [layers.depthwise(both, kernel=(12, 1), same=False)]), {old: 0, padded: 0}


def test_a_plan_is_checked_for_every_invocation_not_only_for_the_first() -> None:
    """At the first one the state is at its zero point, as the padding is that it shares bytes with."""
    model, offsets = state_beside_padding()
    planned = with_offsets(model, offsets)
    with pytest.raises(VerificationFailed, match=r"CONCATENATION reads tensor .*, whose bytes were overwritten"):
        check_plan(planned, simulate(planned, REFERENCE))


@needs_c
def test_a_plan_keeps_its_bytes_in_every_invocation_not_only_in_the_first() -> None:
    """A row that a later tile computes from padding is not for that the row that it computes from a state (a graph
    that tools fuzz shrink draws)."""
    shrunk = shrink(models.random_model(45), "cortex-m4", max_macs=1.35, offline_plan=True)
    assert [step.name for step in shrunk.steps] == ["prune", "resource variables"]
    assert [each.reason for each in shrunk.rejected if each.name == "offline plan"] == ["no plan gains"]
