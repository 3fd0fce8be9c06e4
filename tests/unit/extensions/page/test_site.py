"""The site's files, and where Pyodide and its numpy come from."""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.errors import UsageError
from tflm_sim.extensions.page import site
from tflm_sim.extensions.page.site import (
    PYODIDE_FILES,
    PYODIDE_VERSION,
    Pyodide,
    fetch_pyodide,
    package_archive,
    read_pyodide,
    site_files,
)
from tflm_sim.model.download import ALLOWED
from tflm_sim.planners.native import BROWSER_LIBRARY

OWN = "numpy-2.2.5-cp313-cp313-pyemscripten_2025_0_wasm32.whl"
LOCK = {
    "info": {"abi_version": "2025_0", "python": "3.13.2"},
    "packages": {"numpy": {"file_name": OWN, "sha256": hashlib.sha256(b"a wheel").hexdigest()}},
}


def archive(version: str = PYODIDE_VERSION, folder: str = "package", **others: bytes) -> bytes:
    """Return an archive as npm packs it, of Pyodide's files, each with its own name in it."""
    files = {name: name.encode() for name in PYODIDE_FILES} | {"pyodide-lock.json": json.dumps(LOCK).encode()}
    files |= {"package.json": json.dumps({"version": version}).encode(), **others}
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return written.getvalue()


@pytest.fixture
def pyodide(tmp_path: Path) -> Pyodide:
    (tmp_path / "pyodide.tgz").write_bytes(archive())
    return read_pyodide(tmp_path / "pyodide.tgz")


def test_what_npm_packs_is_the_core_without_numpy(pyodide: Pyodide) -> None:
    assert (set(pyodide.core), pyodide.numpy) == (set(PYODIDE_FILES), None)
    assert b"const NUMPY = null;" in site_files(pyodide)["worker.js"]


@pytest.mark.parametrize("is_folder", [False, True])
def test_the_whole_release_has_numpy(tmp_path: Path, is_folder: bool) -> None:
    path = tmp_path / "release.tar.gz"
    path.write_bytes(archive(folder="pyodide", **{OWN: b"a wheel"}))
    if is_folder:
        subprocess.run(["tar", "xf", path, "-C", tmp_path], check=True)
        path = tmp_path / "pyodide"
    found = read_pyodide(path)
    assert found.numpy == (OWN, b"a wheel")
    files = site_files(found)
    assert files[f"pyodide/{OWN}"] == b"a wheel"
    assert f'const NUMPY = "./pyodide/{OWN}";'.encode() in files["worker.js"]


def test_a_wheel_of_the_same_abi_is_taken_and_any_other_refused(tmp_path: Path, pyodide: Pyodide) -> None:
    for name in (
        "numpy-2.2.5-cp313-cp313-pyodide_2025_0_wasm32.whl",
        "numpy-2.4.6-cp314-cp314-pyemscripten_2026_0_wasm32.whl",
    ):
        (tmp_path / name).write_bytes(b"another wheel")
    (tmp_path / OWN).write_bytes(b"damaged")
    taken, refused = sorted(tmp_path.glob("numpy-*py*2025_0*"))[1], next(tmp_path.glob("*2026_0*"))
    assert taken.name == "numpy-2.2.5-cp313-cp313-pyodide_2025_0_wasm32.whl"
    assert pyodide.with_numpy(taken).numpy == (taken.name, b"another wheel")
    with pytest.raises(UsageError, match=f"is not a wheel of numpy for Pyodide {PYODIDE_VERSION}, which has {OWN}"):
        pyodide.with_numpy(refused)
    with pytest.raises(UsageError, match="its SHA-256 differs"):
        pyodide.with_numpy(tmp_path / OWN)


def test_another_release_and_a_file_of_another_kind_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pyodide.tgz"
    for data, words in (
        (archive("314.0.7"), f"is Pyodide 314.0.7; the page is made for {PYODIDE_VERSION}"),
        (archive(folder="elsewhere"), "it is not what 'npm pack pyodide' gives"),
        (b"<!DOCTYPE html>", "pyodide.tgz: "),
    ):
        path.write_bytes(data)
        with pytest.raises(UsageError, match=words):
            read_pyodide(path)
    with pytest.raises(UsageError, match="No such file"):
        read_pyodide(tmp_path / "absent.tgz")


def test_what_is_fetched_has_the_hashes_that_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    served = {site.PYODIDE_ADDRESS: archive(), site.RELEASE_ADDRESS + OWN: b"a wheel"}

    def download(address: str) -> bytes:
        if address not in served:
            raise UsageError("it cannot be fetched")
        return served[address]

    monkeypatch.setattr(site, "download", download)
    with pytest.raises(UsageError, match="gives another file than it should"):
        fetch_pyodide()
    monkeypatch.setattr(site, "PYODIDE_SHA256", hashlib.sha256(served[site.PYODIDE_ADDRESS]).hexdigest())
    assert fetch_pyodide().numpy == (OWN, b"a wheel")
    served[site.RELEASE_ADDRESS + OWN] = b"something else"
    assert fetch_pyodide().numpy is None
    del served[site.RELEASE_ADDRESS + OWN]
    assert fetch_pyodide().numpy is None


def test_nothing_is_fetched_unless_somebody_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(ALLOWED, raising=False)
    assert main(["serve", "--port", "0"]) == 2
    assert "nothing is downloaded from the web without --allow-download" in capsys.readouterr().err


@pytest.mark.slow
def test_a_site_without_numpy_says_where_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyodide.tgz").write_bytes(archive())
    assert main(["serve", "--pyodide", str(tmp_path / "pyodide.tgz"), "--write", str(tmp_path / "site")]) == 0
    assert f"the page cannot shrink models; --numpy takes https://cdn.jsdelivr.net/pyodide/v{PYODIDE_VERSION}/full/" \
        f"{OWN}" in capsys.readouterr().err  # fmt: skip


def test_the_archive_of_the_package_has_its_python_and_no_folders_or_machine_code() -> None:
    with zipfile.ZipFile(io.BytesIO(package_archive())) as packed:
        names = packed.namelist()
        assert {entry.date_time for entry in packed.infolist()} == {(1980, 1, 1, 0, 0, 0)}  # zip knows no earlier one
    assert {"tflm_sim/__init__.py", "tflm_sim/ops/places.txt", "tflm_sim/extensions/page/bridge.py"} <= set(names)
    assert [name for name in names if name.endswith(("/", ".so", ".pyc", ".c"))] == []
    assert [name for name in names if "__pycache__" in name] == []
    assert not [
        name for name in names if name.startswith(("tflm_sim/cli/", "tflm_sim/extensions/page/site", "tflm_sim/keras"))
    ]
    assert not any(name.endswith(BROWSER_LIBRARY) for name in names)
    with zipfile.ZipFile(io.BytesIO(package_archive(b"the planners"))) as packed:
        assert packed.namelist() == [*names, f"tflm_sim/planners/native/{BROWSER_LIBRARY}"]
        assert packed.read(packed.namelist()[-1]) == b"the planners"


def test_of_an_archive_only_files_of_its_folder_with_the_names_of_pyodide_are_read() -> None:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as tar:
        for name, kind in (
            ("package/pyodide.mjs", tarfile.REGTYPE),
            ("pyodide/numpy-1.whl", tarfile.REGTYPE),
            ("pyodide/numpy-1.txt", tarfile.REGTYPE),
            ("pyodide/scipy-1.whl", tarfile.REGTYPE),
            ("package/package.json", tarfile.SYMTYPE),
            ("package/pyodide-lock.json", tarfile.DIRTYPE),
            ("elsewhere/pyodide.asm.js", tarfile.REGTYPE),
        ):
            entry = tarfile.TarInfo(name)
            entry.type = kind
            tar.addfile(entry)
    assert site._of_archive("p", written.getvalue()).keys() == {"pyodide.mjs", "numpy-1.whl"}


def test_a_release_is_known_by_16_digits_that_change_with_a_file(pyodide: Pyodide) -> None:
    def release(files: dict[str, bytes]) -> str:
        (digits,) = re.findall(rb'"release": "(\w+)"', files["sw.js"])
        return str(digits.decode())

    with_numpy = site_files(replace(pyodide, numpy=("n.whl", b"")))
    assert re.fullmatch("[0-9a-f]{16}", release(with_numpy))
    assert release(with_numpy) != release(site_files(pyodide))
    (listed,) = re.findall(rb'"files": (\[.*?\])', with_numpy["sw.js"])
    assert json.loads(listed) == sorted(with_numpy.keys() - {"sw.js"})
