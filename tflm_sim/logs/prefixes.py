r"""What monitors and log systems put before a message: colours, times, severities, tags.

Prefixes stack (an IDE's clock before ESPHome's tag), so they are stripped until none fits. The forms are in one table,
each with the document that shows it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tflm_sim.logs.lines import RawLine

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-Z\\-_]|\[\d{1,3}(?:;\d{1,3})*m")
_BYTES = re.compile(r"""b(['"])(.*?)(?:\\r|\\n)*\1""")
"""How Python prints a line that it read from a port."""
_QUOTES = str.maketrans("\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}", "''")
"""What GCC puts around a name where the terminal has Unicode -> what it puts there elsewhere."""
_MAX_STACK = 4
_PROGRESS = re.compile(
    r"\s*(?:\[ *\d+%\]|\[\d+/\d+\] (?!FAILED)|(?:Compiling|Archiving|Indexing|Linking|CC|CXX|AR|LD) )"
    r"|-- (?:Performing Test|Check size|Looking for|Could NOT find) |\[Warning\] |.*: warning: "
)
"""How CMake, make, ninja, PlatformIO, Mbed and Zephyr say what they do, and compilers what they only warn of."""


@dataclass(frozen=True, slots=True)
class PrefixForm:
    """One form of prefix: its name, its pattern (groups ``severity`` and ``tag`` where it has them), its source."""

    name: str
    pattern: re.Pattern[str]
    source: str


def _form(name: str, pattern: str, source: str) -> PrefixForm:
    return PrefixForm(name, re.compile(pattern), source)


PREFIX_FORMS = (
    _form("esp-idf", r"(?P<severity>[EWIDV]) \((?:\d+|[\d:.]+)\) (?P<tag>[^:]+): ", "ESP-IDF api-reference/system/log"),
    _form(
        "esphome",
        r"\[?\d\d:\d\d:\d\d(?:\.\d{1,6})?\]"
        r"(?:\[(?P<severity>[EWIDCV]{1,2})\]\[(?P<tag>[^\]]+)\](?:\[[^\]]+\])?:)? ?",
        "esphome components/logger",
    ),
    _form(
        "esphome", r"\[(?P<severity>[EWIDCV]{1,2})\]\[(?P<tag>[^\]]+)\](?:\[[^\]]+\])?: ", "esphome components/logger"
    ),
    _form(
        "ai-on-the-edge",
        r"\[\d+d\d\dh\d\dm\d\ds\] \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S* <(?P<severity>[A-Z]{3})> (?:\[(?P<tag>[^\]]+)\] )?",
        "jomjol/AI-on-the-edge-device ClassLogFile.cpp",
    ),
    _form("zephyr", r"\[[\d:.,]+\] <(?P<severity>dbg|inf|wrn|err)> (?P<tag>[^:]+): ", "Zephyr services/logging"),
    _form("zephyr-minimal", r"(?P<severity>[EWID]): ", "Zephyr CONFIG_LOG_MODE_MINIMAL"),
    _form("arduino-ide", r"\d\d:\d\d:\d\d\.\d{3} (?:->|>) ", "Arduino IDE serial monitor; PlatformIO filter 'time'"),
    _form(
        "host-clock",
        r"\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,6})?Z?\]? ",
        "arduino-cli monitor --timestamp; esp-idf-monitor --timestamps; pytest-embedded",
    ),
    _form(
        "defmt", r"\d+\.\d{3,6} (?P<severity>TRACE|DEBUG|INFO|WARN|ERROR) +", "probe-rs / defmt-print default format"
    ),
    _form("edge-impulse", r"(?:\[SER\] |(?P<severity>ERR|DEBUG): )", "Edge Impulse inferencing SDK and CLI"),
    _form("mlek", r"(?P<severity>TRACE|DEBUG|INFO|WARN|ERROR|TFLM) - ", "Arm ml-embedded-evaluation-kit log_macros.h"),
    _form(
        "tensorflow",
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}: (?P<severity>[IWEF]) (?P<tag>\S+:\d+)\] ",
        "TensorFlow tsl/platform/default/logging.cc",
    ),
    _form("chre", r"\[TFL_MICRO\] ", "tensorflow/lite/micro/chre/debug_log.cc @ 90b983c"),
)


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of a log, ready to be read.

    Attributes:
        number: 1 for the first non-empty line.
        text: The message: without colours and prefixes, trailing blanks removed.
        ended: False when the line was cut off (end of the recording, or an overlong line).
        forms: Names of the prefix forms that were taken away, outermost first.
        severity: What the innermost prefix that has one says, "" without.
        tag: The innermost prefix's tag, "" without.
    """

    number: int
    text: str
    ended: bool = True
    forms: tuple[str, ...] = ()
    severity: str = ""
    tag: str = ""


def is_progress(text: str) -> bool:
    """Whether a line is one of a build that goes on: what it names, error_reporter.cc for instance, has not failed."""
    return _PROGRESS.match(text) is not None


def log_text(raw: RawLine) -> str:
    """Decode a line, take its colours away and make its quotes plain."""
    return _ANSI.sub("", raw.data.decode("utf-8", "replace")).translate(_QUOTES)


def read_line(raw: RawLine) -> TextLine:
    """Decode a line and take its colours and prefixes away."""
    text = log_text(raw)
    forms: list[str] = []
    severity = tag = ""
    while len(forms) < _MAX_STACK and (found := _first_form(text)):
        name, match = found
        groups = match.groupdict()
        severity, tag = groups.get("severity") or severity, groups.get("tag") or tag
        forms.append(name)
        text = text[match.end() :]
    if (quoted := _BYTES.fullmatch(text.rstrip())) is not None:
        text = quoted[2]
    return TextLine(raw.number, text.rstrip(), raw.ended, tuple(forms), severity, tag)


def _first_form(text: str) -> tuple[str, re.Match[str]] | None:
    for form in PREFIX_FORMS:
        if (match := form.pattern.match(text)) is not None:
            return form.name, match
    return None
