"""What stands in each situation of the gallery: its texts and its counts, and that no name lies over another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from release import gallery

pytestmark = pytest.mark.nightly
HEADINGS = ["cortex-m4, cmsis_nn@4ab83cc (dsp) kernels", "esp32-s3, esp_nn@1.3.1 (esp32s3) kernels"]
SAYS = {
    "small": [
        "sine.tflite",
        "1,156 B",
        "1,168 B",
        "the planner's own memory",
        "32 B alive in 2 buffers; operator 1 of 3",
    ],
    "large": ["mobilenet_v1_025.tflite", "82,280 B", "82,288 B", "operator 3 of 31", "no plan can be smaller"],
    "fails": [
        "82,280 B are needed, 20,840 B more than this arena has.",
        "What to do: declare alignas(16) uint8_t tensor_arena[82288], or look what shrink saves:",
        "Failed to resize buffer. Requested: 55296, available 34588, missing: 20708",
    ],
    "never-fits": [
        "AllocateTensors() fails: TFLM has no kernel for 'LSTM'",
        "It stops in registration of operator #0 in subgraph 0; change this operator, or take a library that has ",
        "Didn't find op for builtin opcode 'LSTM'",
    ],
    "vela": [
        "65,616 B",
        "4,192 B alive beside the NPU's scratch; operator 1 of 1",
        "the rest is the NPU's scratch and what Vela laid out",
    ],
    "litert": [
        "both arenas",
        "The arena is fullest in #2 CONV_2D",
        "operator 3 of 31",
        "The XNNPACK delegate, which apps get by default, is left out",
    ],
    "two-arenas": ["smallest persistent arena", "27,008 B", "Two arenas do not compete"],
    "while": ["4,568 B", "4,096 B alive in 4 buffers; operator 3 of 3"],
    "300-operators": [
        "1,024 B alive in 2 buffers; operator 1 of 300",
        "planner: 12040 bytes of planner tables for 301 buffers",
    ],
    "three": [*HEADINGS, "cortex-m55, cmsis_nn@4ab83cc (mve) kernels", "55,008 B", "+47,072", "+32"],
    "phone": ["residual.tflite", "55,000 B", "operator 3 of 16"],
    "a4": [*HEADINGS, "55,000 → 102,076 B", "(+47,076)", "What decides the size"],
}
PANES = {"three": 3, "a4": 2}
WITHOUT_PEAK = {"never-fits"}
WITHOUT_TIGHTEST = {"never-fits", "fails", "litert", "two-arenas"}
WRITTEN = """((app) => {
  const plain = CanvasRenderingContext2D.prototype.fillText, panes = [];
  for (const { canvas } of app.panes) {
    const texts = [];
    CanvasRenderingContext2D.prototype.fillText = function fillText(text, x, y, ...rest) {
      if (this === canvas.base.getContext("2d") && text.trim()) {
        const at = this.getTransform(), width = this.measureText(text).width, ratio = devicePixelRatio;
        if (at.b === 0) {
          const left = { center: x - width / 2, right: x - width }[this.textAlign] ?? x;
          texts.push({ text, left, right: left + width, y, bold: /^(600|bold)/.test(this.font) });
        }
      }
      return plain.call(this, text, x, y, ...rest);
    };
    canvas.draw();
    panes.push(texts);
  }
  CanvasRenderingContext2D.prototype.fillText = plain;
  return panes;
})(tflmSim)"""
"""What each picture writes: texts on a line, from the left to the right, and the middle of the line."""


def overlapping(texts: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the texts that lie over each other; what marks the peak has a ground of its own and lies above names."""
    names = [each for each in texts if not each["bold"]]
    marks = [each for each in texts if each["bold"]]
    return [
        (one["text"], other["text"])
        for rows in (names, marks)
        for at, one in enumerate(rows)
        for other in rows[:at]
        if abs(one["y"] - other["y"]) < 9 and one["left"] < other["right"] - 1 and other["left"] < one["right"] - 1
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", gallery.GALLERY)
def test_each_situation_says_what_it_must_and_no_name_lies_over_another(
    browser: Any, tmp_path: Path, name: str, theme: str
) -> None:
    browser.get_log("browser")
    gallery.show(browser, name, tmp_path, theme)
    try:
        text = browser.execute_script("return document.body.innerText")
        missing = [says for says in SAYS[name] if says not in text]
        assert missing == [], text
        assert "undefined" not in text
        assert "NaN" not in text
        assert len(browser.find_elements("css selector", ".pane")) == PANES.get(name, 1)
        assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
        for button, without in (("to-peak", WITHOUT_PEAK), ("to-tight", WITHOUT_TIGHTEST)):
            assert browser.execute_script("return document.getElementById(arguments[0]).hidden", button) is (
                name in without
            )
        written = browser.execute_script(f"return {WRITTEN}")
        assert all(len(texts) > 8 for texts in written)
        assert [overlapping(texts) for texts in written] == [[] for _ in written]
        chips = browser.find_elements("css selector", "#chips button")
        assert len(chips) == len(
            {row.category for each in gallery.pictures(name)[:1] for row in (*each.residents, *each.blocks)}
        )
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert browser.get_log("browser") == []


def test_there_are_twelve_situations() -> None:
    assert [*gallery.GALLERY] == [*SAYS]
    assert len(SAYS) == 12
