"""What is read of a stranger's file: the figures, in bytes and seconds."""

from __future__ import annotations

from tflm_sim import limits

MIB = 1024 * 1024


def test_a_model_is_as_large_as_a_flatbuffer_can_be() -> None:
    assert limits.MAX_MODEL_BYTES == 2_147_483_647  # the greatest int32


def test_the_limits_are_these() -> None:
    assert (limits.MAX_SOURCE_BYTES, limits.MAX_ARCHIVE_BYTES, limits.MAX_UNPACKED_BYTES) == (
        128 * MIB,
        512 * MIB,
        512 * MIB,
    )
    assert (limits.MAX_DOWNLOAD_BYTES, limits.DOWNLOAD_SECONDS, limits.SILENCE_SECONDS) == (512 * MIB, 600, 60)
    assert (limits.MAX_FIRMWARE_BYTES, limits.MAX_INFLATED_BYTES) == (256 * MIB, 128 * MIB)
    assert (limits.MAX_DOCUMENT_BYTES, limits.MAX_ROW_BYTES, limits.MAX_ARCHIVE_MEMBERS) == (1024 * MIB, MIB, 100_000)
