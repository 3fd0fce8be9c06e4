"""Pictures as one self-contained HTML page: no network, no dependency, nothing from the model is ever markup or code.

The page is a template with styles and scripts from ``page_parts/``; the document goes in as JSON. A content security
policy with the hashes of both makes the browser refuse any other script or style, and every request.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from pathlib import Path, PurePath
from typing import TextIO

from tflm_sim.checks.program_need import Ram
from tflm_sim.escape import json_text, printable
from tflm_sim.provenance import made_by
from tflm_sim.report.board_rows import BoardFit
from tflm_sim.report.page_text import page_texts
from tflm_sim.report.picture import Picture
from tflm_sim.report.picture_document import picture_document
from tflm_sim.units import format_size

_PARTS = Path(__file__).with_name("page_parts")
# What could end the script element that holds the JSON, or a line of a script.
_JSON_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def write_page(
    file: TextIO, pictures: Sequence[Picture], boards: Sequence[BoardFit] = (), *, room: Ram | None = None
) -> None:
    """Write the page of one picture, or of two to be compared.

    Args:
        file: Where to.
        pictures: What it shows.
        boards: The model on other boards.
        room: The RAM that the arena shares with the rest of the firmware.
    """
    assert pictures, "a page shows at least one picture"
    style, script = _style(), _script()
    parts = {
        "@MAKER@": f"tflm_sim {made_by()}",
        "@TITLE@": escape(f"{_model_name(pictures[0])}: memory arena"),
        "@SUMMARY@": escape("\n".join(map(_summary, pictures))),
        "@STYLE_HASH@": _hash(style),
        "@SCRIPT_HASH@": _hash(script),
        "@STYLE@": style,
        "@SCRIPT@": script,
        "@DATA@": embedded_json(
            {**picture_document(pictures, boards), "page": page_texts(pictures, boards, room=room)}
        ),
    }
    rest = (_PARTS / "page.html").read_text("utf-8")
    while rest:
        text, marker, rest = _next_marker(rest, parts)
        file.write(text)
        file.write(parts.get(marker, ""))


def page_hashes() -> tuple[str, str]:
    """Return the hashes of the page's style and script, as a content security policy names them."""
    return _hash(_style()), _hash(_script())


def embedded_json(document: object) -> str:
    """Return JSON that can stand inside a ``<script>`` element."""
    return json_text(document).translate(_JSON_ESCAPES)


def _next_marker(text: str, parts: dict[str, str]) -> tuple[str, str, str]:
    """Split at the first marker, so that nothing inserted is ever looked at for markers."""
    found = [(text.index(marker), marker) for marker in parts if marker in text]
    if not found:
        return text, "", ""
    position, marker = min(found)
    return text[:position], marker, text[position + len(marker) :]


def _style() -> str:
    return (_PARTS / "page.css").read_text("utf-8")


def _script() -> str:
    sources = [path.read_text("utf-8") for path in sorted(_PARTS.glob("*.js"))]
    return '"use strict";\n(() => {\n' + "\n".join(sources) + "})();\n"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _model_name(picture: Picture) -> str:
    return printable(PurePath(picture.size.model.path or "model").name)


def _summary(picture: Picture) -> str:
    size = picture.size.answer.smallest_arena_multiple_of_16
    answer = f"fails: {printable(picture.failure, 200)}" if picture.failure else f"head {picture.head_bytes:,} B"
    smallest = f"smallest arena (multiple of 16): {format_size(size)}; " if size is not None else ""
    return f"{_model_name(picture)} on {printable(picture.title, 200)}: {smallest}{answer}"
