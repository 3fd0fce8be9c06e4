"""Models on shared storage, here in fsspec's own memory."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import fsspec
import pytest

from tflm_sim.errors import ModelError, UsageError
from tflm_sim.extensions.sweep import urls
from tflm_sim.extensions.sweep.urls import expand_url, is_url, read_url
from tflm_sim.files import FIRST_READ_BYTES, MIN_READ_BYTES
from tflm_sim.samples import sample_path

SINE = sample_path("sine").read_bytes()


@pytest.fixture
def stored() -> Any:
    system = fsspec.filesystem("memory")
    for name in ("b.tflite", "a.TFLITE", "notes.txt", "deep/c.tflite"):
        system.pipe(f"/zoo/{name}", SINE)
    yield system
    system.rm("/zoo", recursive=True)


def test_what_has_a_scheme_is_a_url() -> None:
    assert (is_url("memory://zoo/a"), is_url("C:/zoo/a"), is_url("zoo/a")) == (True, False, False)


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("memory://zoo/", ["/a.TFLITE", "/b.tflite", "/deep/c.tflite"]),
        ("memory://zoo/*", ["/a.TFLITE", "/b.tflite"]),
        ("memory://zoo/?.tflite", ["/b.tflite"]),
        ("memory://zoo/[ab].tflite", ["/b.tflite"]),
    ],
)
def test_a_folder_and_a_pattern_are_their_models_in_order(stored: Any, url: str, found: list[str]) -> None:
    assert [name.removeprefix("memory:///zoo").removeprefix("memory://zoo") for name in expand_url(url)] == found


@pytest.mark.parametrize(
    "url",
    ["memory://zoo/b.tflite", "memory://zoo/none*", "http://example.org/*.tflite", "nobody://zoo/*", "x::ftp://a/*"],
)
def test_what_names_one_or_cannot_be_listed_stays_as_it_is(stored: Any, url: str) -> None:
    assert list(expand_url(url)) == [url]


def test_a_model_is_read_and_an_archive_only_where_it_has_one(stored: Any) -> None:
    assert read_url("memory://zoo/b.tflite") == SINE
    for count in (1, 2):
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w") as archive:
            for number in range(count):
                archive.writestr(f"{number}.tflite", SINE)
        stored.pipe(f"/zoo/{count}.zip", written.getvalue())
    assert read_url("memory://zoo/1.zip") == SINE
    with pytest.raises(ModelError, match=r"^memory://zoo/2\.zip: it contains 2 models$"):
        read_url("memory://zoo/2.zip")
    with pytest.raises(ModelError, match=r"^memory://zoo/none: No such file or directory$"):
        read_url("memory://zoo/none")
    with pytest.raises(ModelError, match=r"^nobody://zoo/none: Protocol not known: nobody$"):
        read_url("nobody://zoo/none")
    for url in ("simplecache::http://a/b", "FTP://a/b"):
        with pytest.raises(UsageError, match="models are not fetched by FTP, nor from the web through another file"):
            read_url(url)


@pytest.mark.parametrize(
    "size",
    [
        1,
        FIRST_READ_BYTES,
        FIRST_READ_BYTES + 1,
        FIRST_READ_BYTES + MIN_READ_BYTES,
        FIRST_READ_BYTES + MIN_READ_BYTES + 1,
    ],
)
def test_a_file_is_read_whole_up_to_the_byte_that_is_allowed(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    monkeypatch.setattr(
        urls, "most_bytes", lambda url, beginning: size if beginning == data[:size][:FIRST_READ_BYTES] else 0
    )
    assert urls._whole(io.BytesIO(data[:size]), "u") == data[:size]
    monkeypatch.setattr(urls, "most_bytes", lambda *_: size - 1)
    with pytest.raises(ModelError, match=f"^u: it has more than {size - 1:,} bytes$"):
        urls._whole(io.BytesIO(data[:size]), "u")
