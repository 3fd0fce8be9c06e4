"""What the mobile runtime says, as lines: a stranger's model makes neither many nor long ones."""

from __future__ import annotations

from tflm_sim.extensions.lite.text import report_lines


def test_a_cut_message_is_whole_however_long_its_bytes_are_when_escaped() -> None:
    assert report_lines(["\x1b" * 501]) == ["\\x1b" * 500 + "…"]  # 4 characters each
