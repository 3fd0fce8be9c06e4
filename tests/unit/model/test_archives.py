"""Archives are unpacked as far as they say before that they hold, and a damaged one is a sentence."""

from __future__ import annotations

import contextlib
import io
import random
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.errors import ModelError
from tflm_sim.model import archives
from tflm_sim.model.archives import members, names


def archive(*rows: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as out:
        for name, data in rows:
            out.writestr(name, data)
    return file.getvalue()


def test_members_are_counted_together_before_one_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    data = archive(("a.tflite", bytes(600)), ("b.tflite", bytes(600)), ("c.txt", bytes(9000)))
    monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", 1200)
    assert [(name, len(inside)) for name, inside in members(data, {".tflite"})] == [
        ("a.tflite", 600),
        ("b.tflite", 600),
    ]
    monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", 1199)
    with pytest.raises(ModelError, match="the archive would be 1,200 bytes unpacked; at most 1,199 are read"):
        list(members(data, {".tflite"}))


def test_an_archive_of_too_many_members_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_ARCHIVE_MEMBERS", 2)
    data = archive(("a", b""), ("b", b""), ("c", b""))
    for read in (lambda: names(data), lambda: list(members(data, {".h"}))):
        with pytest.raises(ModelError, match="the archive has 3 members; at most 2 are read"):
            read()


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_damaged_member_is_a_sentence(method: int) -> None:
    data = bytearray(archive(("a.tflite", random.Random(0).randbytes(2000)), method=method))
    data[100:1500] = bytes(1400)
    with pytest.raises(ModelError, match="the archive cannot be read: "):
        list(members(bytes(data), {".tflite"}))


def test_a_name_that_is_not_utf_8_is_a_sentence() -> None:
    data = archive(("é.tflite", b"x")).replace("é".encode(), b"\xff\xfe")
    with pytest.raises(ModelError, match="the archive cannot be read: 'utf-8' codec can't decode"):
        names(data)


WHOLE = archive(("a.tflite", b"abc" * 50), ("b/c.h", b"x" * 10), method=zipfile.ZIP_LZMA)


@given(
    st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), max_size=6), st.integers(30, len(WHOLE))
)
def test_any_damage_is_members_or_a_sentence(changes: list[tuple[int, int]], size: int) -> None:
    data = bytearray(WHOLE)
    for at, value in changes:
        data[at] = value
    with contextlib.suppress(ModelError):
        assert all(len(inside) <= 1 << 20 for _, inside in members(bytes(data[:size]), {".tflite", ".h"}))
