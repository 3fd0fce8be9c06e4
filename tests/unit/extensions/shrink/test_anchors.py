"""The networks that are built for comparisons are those of the papers."""

from __future__ import annotations

import anchors

from tflm_sim.graph.multiplications import total_multiplications


def test_mobilenet_v2_has_the_multiplications_of_its_table() -> None:
    # tensorflow/models, mobilenet README: 59, 30 and 20 million for 0.35 at 224, 160 and 128 pixels.
    for side, millions in ((224, 59), (160, 30), (128, 20)):
        assert total_multiplications(anchors.mobilenet_v2(side, 0.35)) // 1_000_000 == millions
    # google/CFU-Playground, model_mobilenetv2_160_035.tflite: two classes.
    assert total_multiplications(anchors.mobilenet_v2(160, 0.35, classes=2)) == 29_597_360


def test_channels_are_rounded_to_multiples_of_eight_not_below_nine_tenths() -> None:
    # 32 * 0.35 = 11.2 is nearer to 8, which is below 10.08.
    assert [anchors.rounded(channels * 0.35) for channels in (16, 24, 32, 64, 96, 160, 320)] == [
        8,
        8,
        16,
        24,
        32,
        56,
        112,
    ]


def test_mcunet_has_the_multiplications_of_its_paper() -> None:
    # mit-han-lab/mcunet, README: mcunet-in0 has 6.4 million, at 48 pixels.
    assert round(total_multiplications(anchors.mcunet_10fps()) / 1e6, 1) == 6.4
