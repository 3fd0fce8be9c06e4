"""What is read of a stranger's file: the figures, in bytes and seconds."""

from __future__ import annotations

from tflm_sim import limits

MIB = 1024 * 1024


def test_a_model_is_as_large_as_a_flatbuffer_can_be() -> None:
    assert limits.LARGEST_MODEL == 2_147_483_647  # the greatest int32


def test_the_limits_are_these() -> None:
    assert (limits.LARGEST_SOURCE, limits.LARGEST_ARCHIVE, limits.MOST_UNPACKED) == (128 * MIB, 512 * MIB, 512 * MIB)
    assert (limits.LARGEST_DOWNLOAD, limits.DOWNLOAD_SECONDS, limits.SILENCE_SECONDS) == (512 * MIB, 600, 60)
    assert (limits.LARGEST_FIRMWARE, limits.MOST_INFLATED) == (256 * MIB, 128 * MIB)
    assert (limits.LARGEST_DOCUMENT, limits.LONGEST_ROW, limits.MOST_MEMBERS) == (1024 * MIB, MIB, 100_000)
