"""``__repr__`` of dataclasses with large fields, for a Python prompt: one short line."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

_SHOWN = 60
"""Characters of a field's value."""


def short_repr(self: Any) -> str:
    """Return a dataclass's value as one short line: a long field is shown as its type and number of elements."""
    shown = ", ".join(f"{field.name}={_brief(getattr(self, field.name))}" for field in fields(self) if field.repr)
    return f"{type(self).__qualname__}({shown})"


def _brief(value: Any) -> str:
    kind = type(value).__name__
    if isinstance(value, str | bytes | tuple | list | dict) and len(value) > _SHOWN:
        return f"<{kind} of {len(value):,}>"
    text = repr(value)
    if len(text) <= _SHOWN and "\n" not in text:
        return text
    return f"<{kind} of {len(value):,}>" if hasattr(value, "__len__") else f"<{kind}>"
