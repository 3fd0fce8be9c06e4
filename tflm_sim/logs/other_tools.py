"""Reads what other tools around TFLM print about the arena: mcufit-bench, mlonmcu, Edge Impulse, MLTK, Arm's
evaluation kit; and what a device prints when it starts.

Sources: avionicharshit-byte/mcufit-bench main.cc; tum-ei-eda/mlonmcu flow/tflm; Edge Impulse inferencing SDK;
SiliconLabs/mltk core/profile_model (its parser of device logs); ESP32 boot ROM; Zephyr kernel/banner.c.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal

from tflm_sim.logs.log_events import ArenaConfigured, ArenaUsed, BenchmarkRecord, Damaged, LayerProfile, LogEvent, Reset
from tflm_sim.logs.prefixes import TextLine

_USED = (
    ("mlonmcu", re.compile(r"# Arena Usage: (\d{1,10})(?!\d)")),
    ("mlonmcu", re.compile(r"Arena Usage after model invocation: (\d{1,10}) bytes")),
    ("edge-impulse", re.compile(r"TFLite arena used bytes: (\d{1,10})(?!\d)", re.IGNORECASE)),
    ("ml-embedded-evaluation-kit", re.compile(r"tensor arena\) size used: (\d{1,10})(?!\d)")),
    ("arena_used_bytes", re.compile(r"arena_used_bytes(?:\(\))?\s*[:=]\s*(\d{1,10})(?!\d)")),
    ("arena_used_bytes", re.compile(r"(?<!TFLite )arena used(?: bytes)?\s*[:=]\s*(\d{1,10})(?!\d)", re.IGNORECASE)),
)
_CONFIGURED = re.compile(
    r"(?:\b(?:k?tensor_?arena_?size|arena[_ ]size|tensor (?:area|arena))\s*[:=]|\barena=|Allocating Tensor Arena \()\s*"
    r"(\d{1,10})(?!\d)",
    re.IGNORECASE,
)
_MLTK_MEMORY = re.compile(r"Tensor runtime memory: (\d{1,10}(?:\.\d{1,10})?)([kM]?)")
_MLTK_LAYER = re.compile(r"^\s*Op(\d{1,10})-(\S+)")
_MLTK_METRIC = re.compile(r"^\s*(\d{1,15}(?:\.\d{1,10})?)([kMG]?) (OPs|MACs|CPU cycles|Accelerator cycles|ms)\b")
_MLTK_SCALE = {"": 1, "k": 1000, "M": 1000**2, "G": 1000**3}
_RECORD = re.compile(r"MCUFIT_(RESULT|LAYER) (.*)$")
_RECORD_FIELDS = {
    "RESULT": ("schema", "model", "model_sha256", "target", "kernels", "arena_used_bytes"),
    "LAYER": ("model", "target", "op", "us_per_inference"),
}
_RECORD_SCHEMA = 1
_MAX_METRICS = 64
_MAX_BYTES = 1 << 40
_RESETS = (
    re.compile(r"^rst:0x[0-9a-f]+ \([A-Z0-9_]+\)"),
    re.compile(r"^ESP-ROM:\S+"),
    re.compile(r"^ets [A-Z][a-z]{2} +\d+ \d{4} "),
    re.compile(r"\*\*\* Booting Zephyr OS"),
)


class VendorReader:
    """Read single lines, and the MLTK layer that is open (mutable)."""

    __slots__ = ("_layer", "_metrics")

    def __init__(self) -> None:
        self._layer: tuple[int, int, str] | None = None
        self._metrics: list[tuple[str, int, int]] = []

    def feed(self, line: TextLine) -> list[LogEvent] | None:
        """Return the events that ``line`` completes, or None when it belongs to something else."""
        if any(pattern.search(line.text) for pattern in _RESETS):
            return [*self.flush(), Reset(line.number, line.text)]
        if (layer := _MLTK_LAYER.match(line.text)) is not None:
            done = self.flush()
            self._layer = line.number, int(layer[1]), layer[2]
            return done
        if self._layer is not None and (metric := _MLTK_METRIC.match(line.text)) is not None:
            name, unit = ("us", "k") if metric[3] == "ms" else (metric[3], metric[2])
            self._metrics.append((name, *_interval(metric[1], unit)))
            return self.flush() if len(self._metrics) >= _MAX_METRICS else []
        return _read_arena(line)

    def flush(self) -> list[LogEvent]:
        if self._layer is None:
            return []
        layer = LayerProfile(*self._layer, tuple(self._metrics))
        self._layer = None
        self._metrics = []
        return [layer]


def _read_arena(line: TextLine) -> list[LogEvent] | None:
    for dialect, pattern in _USED:
        if (match := pattern.search(line.text)) is not None and _is_whole(line, match):
            return [ArenaUsed(line.number, int(match[1]), int(match[1]), dialect)]
    if (memory := _MLTK_MEMORY.search(line.text)) is not None and _is_whole(line, memory):
        return [ArenaUsed(line.number, *_interval(memory[1], memory[2]), "mltk")]
    if (size := _CONFIGURED.search(line.text)) is not None and _is_whole(line, size):
        return [ArenaConfigured(line.number, int(size[1]), "arena_size")]
    return None


def _is_whole(line: TextLine, match: re.Match[str]) -> bool:
    """A number at the end of a line that was cut may have lost digits."""
    return line.ended or match.end() < len(line.text)


def _interval(figure: str, unit: str) -> tuple[int, int]:
    """The whole numbers that print as ``figure``: 12.3k is 12250 to 12349."""
    scale = _MLTK_SCALE[unit]
    value = Decimal(figure) * scale
    if "." not in figure or scale == 1:
        return int(value), int(value)
    step = Decimal(scale).scaleb(Decimal(figure).as_tuple().exponent)  # type: ignore[arg-type]
    return int(value - step / 2), int(value + step / 2) - 1


def read_record(line: TextLine) -> LogEvent | None:
    """Read an mcufit record; one that is not whole is damage, because a cut number looks like a number."""
    if (record := _RECORD.search(line.text)) is None:
        return None
    kind, text = record[1], record[2]
    try:
        values, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return Damaged(line.number, line.text, f"MCUFIT_{kind} is not whole JSON")
    if not isinstance(values, dict) or not set(_RECORD_FIELDS[kind]) <= values.keys():
        return Damaged(line.number, line.text, f"MCUFIT_{kind} lacks fields")
    if any(isinstance(value, dict | list) for value in values.values()):
        return Damaged(line.number, line.text, f"MCUFIT_{kind} has nested fields")
    if values.get("schema", _RECORD_SCHEMA) != _RECORD_SCHEMA:
        return Damaged(line.number, line.text, f"MCUFIT_{kind} has schema {values['schema']}, we read 1")
    used = values.get("arena_used_bytes", 0)
    if type(used) is not int or not 0 <= used < _MAX_BYTES:
        return Damaged(line.number, line.text, f"MCUFIT_{kind} has no size that an arena can have")
    return BenchmarkRecord(line.number, kind.lower(), tuple(sorted(values.items())))
