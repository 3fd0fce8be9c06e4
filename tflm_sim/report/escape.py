"""Names from strangers, made harmless for terminals and logs."""

from __future__ import annotations

import unicodedata

# Control, format (right-to-left marks, zero width), surrogate, private use, unassigned; line and paragraph separators.
_HOSTILE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def printable(text: str, limit: int = 60) -> str:
    """Return ``text`` on one line: hostile characters as escapes, at most ``limit`` characters (the end is kept)."""
    shown = "".join(
        _escape(character) if unicodedata.category(character) in _HOSTILE else character for character in text[-limit:]
    )
    return shown if len(text) <= limit and len(shown) <= limit else f"…{shown[len(shown) - limit + 1 :]}"


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
