"""Our own frames among the text of a log: one a line, found, checked, or named as damaged.

    $TSIM,<seq>,<type>,{<fields>}*<crc32>
     `------------ body ----------'

The payload never contains "$" or "*", so a frame that another task cut into does not hide the one after it.
``firmware_stub/PROTOCOL.md`` states every byte.

Invariant: a frame that is returned is byte for byte one that was sent (up to CRC-32), wherever it stands in its line.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from tflm_sim.errors import LocalProtocolError
from tflm_sim.logs.lines import RawLine

SCHEMA = 1
FRAME_MAX = 240
SEQUENCE_MODULUS = 65536

MARK = b"$TSIM,"
_FRAME = re.compile(rb"\$(TSIM,(0|[1-9]\d{0,4}),([a-z_]{1,12}),(\{[\x20-\x23\x25-\x29\x2b-\x7e]*\}))\*([0-9a-f]{8})")
_END = re.compile(rb"\}\*[0-9a-f]{8}")

FieldValue = int | str


@dataclass(frozen=True, slots=True)
class Frame:
    """A whole frame.

    Attributes:
        line: Number of the line that it stands in.
        sequence: The sender's count of frames, modulo 65536.
        type: What it is.
        fields: Its fields, in order: integers and texts only.
        crc: CRC-32 of the body.
    """

    line: int
    sequence: int
    type: str
    fields: tuple[tuple[str, FieldValue], ...]
    crc: int

    def number(self, name: str) -> int:
        """Return the field ``name``, which the schema promises to be an integer."""
        value = dict(self.fields)[name]
        assert isinstance(value, int), "the schema was checked when the frame was read"
        return value

    def optional_number(self, name: str) -> int | None:
        """Return the field ``name``, or None where it is missing or a text."""
        value = dict(self.fields).get(name)
        return value if isinstance(value, int) else None

    def text(self, name: str) -> str:
        """Return the field ``name``, which the schema promises to be a text."""
        value = dict(self.fields)[name]
        assert isinstance(value, str), "the schema was checked when the frame was read"
        return value


@dataclass(frozen=True, slots=True)
class BadFrame:
    """Something that was a frame once. Dropped, and named."""

    line: int
    reason: str
    data: bytes


def split_line(line: RawLine) -> tuple[list[Frame | BadFrame], bytes]:
    """Return the frames in a line, whole and damaged, in order, and the line without the whole ones."""
    found: list[Frame | BadFrame] = []
    rest: list[bytes] = []
    start, position = 0, line.data.find(MARK)
    if position < 0:
        lost = _has_lost_its_start(line.data)
        return [BadFrame(line.number, "the frame has no start", line.data)] if lost else [], line.data
    while position >= 0:
        match = _FRAME.match(line.data, position)
        frame = _torn(line, position) if match is None else _checked(line.number, match)
        found.append(frame)
        if match is not None and isinstance(frame, Frame):
            rest.append(line.data[start:position])
            start = match.end()
        position = line.data.find(MARK, position + len(MARK) if match is None else match.end())
    return found, b"".join([*rest, line.data[start:]])


def _has_lost_its_start(data: bytes) -> bool:
    """Whether fields and a CRC are there, with neither "$" nor "*" between them."""
    start = 0
    for end in _END.finditer(data):
        mark = max(data.rfind(b"$", start, end.start()), data.rfind(b"*", start, end.start()))
        if data.find(b'{"', max(mark, start), end.start()) >= 0:
            return True
        start = end.end()
    return False


def _torn(line: RawLine, position: int) -> BadFrame:
    following = line.data.find(MARK, position + len(MARK))
    return BadFrame(line.number, "the frame is torn", line.data[position : following if following >= 0 else None])


def _checked(line: int, match: re.Match[bytes]) -> Frame | BadFrame:
    body, sequence, kind, payload, digits = match.groups()
    crc = zlib.crc32(body)
    if crc != int(digits, 16):
        return BadFrame(line, f"the CRC is {crc:08x}, not {digits.decode()}", match[0])
    if len(match[0]) > FRAME_MAX or int(sequence) >= SEQUENCE_MODULUS:
        return BadFrame(line, "the frame is out of bounds", match[0])
    try:
        fields = json.loads(payload)
    except ValueError:
        return BadFrame(line, "the fields are not JSON", match[0])
    if not all(type(value) in (int, str) for value in fields.values()):
        return BadFrame(line, "a field is neither an integer nor a text", match[0])
    return Frame(line, int(sequence), kind.decode(), tuple(fields.items()), crc)


def encode_frame(sequence: int, kind: str, fields: Mapping[str, FieldValue]) -> bytes:
    """Return a frame as it goes over the wire, with the LF before and the CR LF after it.

    Raises:
        LocalProtocolError: It would be longer than ``FRAME_MAX`` bytes.
    """
    items = ",".join(f'"{key}":{value if isinstance(value, int) else _quote(value)}' for key, value in fields.items())
    body = f"TSIM,{sequence},{kind},{{{items}}}".encode("ascii")
    frame = b"$%s*%08x" % (body, zlib.crc32(body))
    if len(frame) > FRAME_MAX:
        raise LocalProtocolError(f"a frame of {len(frame)} bytes: at most {FRAME_MAX} fit in a line")
    return b"\n" + frame + b"\r\n"


def _quote(text: str) -> str:
    """Quote a text as the firmware does: every byte of its UTF-8 that is not plain ASCII as \\u00XX."""
    plain = (
        chr(byte) if 0x20 <= byte <= 0x7E and chr(byte) not in '"\\$*' else f"\\u00{byte:02x}" for byte in text.encode()
    )
    return f'"{"".join(plain)}"'


def text_of(field: str) -> str:
    """Return the text that the firmware meant: its bytes, which ``\\u00XX`` carried one by one, as UTF-8."""
    return field.encode("latin-1", "replace").decode("utf-8", "replace")
