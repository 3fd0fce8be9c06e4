"""The static site: the page's own files, this package as an archive, and Pyodide, all served from one origin.

Pyodide itself is no part of this package: its npm archive has its core, of which five files are taken. ``shrink`` needs
numpy, whose wheel is a file of Pyodide's whole release; a page without it says so. Both are read from files, or fetched
with ``--allow-download``, and must have the hashes that stand here and in Pyodide's lock file. The content security
policy allows this origin's files, WebAssembly, and the report page's own script and style by their hashes; nothing
else, and no other origin.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tflm_sim
from tflm_sim.errors import TflmSimError, UsageError
from tflm_sim.extensions.page.words import WORDS
from tflm_sim.model.download import download
from tflm_sim.planners.native import BROWSER_LIBRARY
from tflm_sim.report.page import embedded_json, page_hashes

PYODIDE_VERSION = "0.29.5"
PYODIDE_FILES = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
PYODIDE_ADDRESS = f"https://registry.npmjs.org/pyodide/-/pyodide-{PYODIDE_VERSION}.tgz"
PYODIDE_SHA256 = "6749b10ee515a1458ecea36d860c8ce2a48366e85b3f92d749ad1840e4aff181"
RELEASE_ADDRESS = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE_VERSION}/full/"
"""Where the files of the whole release are, numpy's wheel among them."""

CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".zip": "application/zip",
    ".whl": "application/zip",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}

_SITE = Path(__file__).with_name("site")
_PACKAGE = Path(tflm_sim.__file__).parent
_LEFT_OUT = (
    "__main__.py",
    "cli",
    "keras.py",
    "extensions/banks",
    "extensions/board",
    "extensions/ci/keras.py",
    "extensions/ci/pytest_plugin",
    "extensions/firmware/emulation",
    "extensions/header",
    "extensions/mcp",
    "extensions/page/cli.py",
    "extensions/page/planners.py",
    "extensions/page/site",
    "extensions/page/site.py",
    "extensions/page/words.py",
    "extensions/project",
)
"""What the page does not run."""
_LEFT_OUT_SUFFIXES = (".so", ".pyd", ".c", ".h", ".pyc")


def content_security_policy() -> str:
    """Return the policy of the page, one line."""
    style, script = page_hashes()
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' 'wasm-unsafe-eval' '{script}'",
            "worker-src 'self'",
            "connect-src 'self'",
            f"style-src 'self' '{style}'",
            "img-src 'self' data:",
            "manifest-src 'self'",
            "frame-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def package_archive(planners: bytes | None = None) -> bytes:
    """Return of this package what the page runs, as a zip archive, the same bytes for the same files.

    Args:
        planners: The planners' C for the browser, as ``compiled_planners`` gives it; without it they run in Python.
    """
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(_PACKAGE.rglob("*")):
            inside = path.relative_to(_PACKAGE)
            is_left_out = path.suffix in _LEFT_OUT_SUFFIXES or any(map(inside.is_relative_to, _LEFT_OUT))
            if path.is_file() and not is_left_out:
                _add(archive, path, path.read_bytes())
        if planners is not None:
            _add(archive, _PACKAGE / "planners" / "native" / BROWSER_LIBRARY, planners)
    return file.getvalue()


def _add(archive: zipfile.ZipFile, path: Path, data: bytes) -> None:
    entry = zipfile.ZipInfo(f"tflm_sim/{path.relative_to(_PACKAGE).as_posix()}")  # of 1980, the earliest day
    archive.writestr(entry, data, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True, slots=True)
class Pyodide:
    """What the page takes of Pyodide.

    Attributes:
        core: The files of ``PYODIDE_FILES``, by name.
        numpy: The name and the bytes of numpy's wheel, None where the page has to do without.
    """

    core: Mapping[str, bytes]
    numpy: tuple[str, bytes] | None = None

    @property
    def lock(self) -> Mapping[str, Any]:
        """Pyodide's lock file: its ABI, and the name and hash of each of its wheels."""
        document: Mapping[str, Any] = json.loads(self.core["pyodide-lock.json"])
        return document

    @property
    def numpy_address(self) -> str:
        """Where Pyodide's own wheel of numpy is on the web."""
        return f"{RELEASE_ADDRESS}{self.lock['packages']['numpy']['file_name']}"

    def with_numpy(self, path: Path) -> Pyodide:
        """Return the same with numpy's wheel from a file.

        Raises:
            UsageError: It cannot be read, or is not a wheel of numpy for this Pyodide.
        """
        own, info = self.lock["packages"]["numpy"], self.lock["info"]
        python = "cp" + "".join(info["python"].split(".")[:2])
        tags = rf"{python}-{python}-(pyodide|pyemscripten)_{info['abi_version']}_wasm32"
        if not re.fullmatch(rf"numpy-[\w.]+-{tags}\.whl", path.name):
            raise UsageError(
                f"{path} is not a wheel of numpy for Pyodide {PYODIDE_VERSION}, which has {own['file_name']}"
            )
        try:
            data = path.read_bytes()
        except OSError as failure:
            raise UsageError(f"{path}: {failure.strerror}") from failure
        if path.name == own["file_name"] and hashlib.sha256(data).hexdigest() != own["sha256"]:
            raise UsageError(f"{path} is not the wheel of Pyodide {PYODIDE_VERSION}: its SHA-256 differs")
        return replace(self, numpy=(path.name, data))


def read_pyodide(source: Path) -> Pyodide:
    """Return Pyodide from a file.

    Args:
        source: What ``npm pack pyodide@VERSION`` wrote, or Pyodide's whole release, which has numpy too; the archive,
            or a folder with its files.

    Raises:
        UsageError: Some file is not there, or the version is another one.
    """
    try:
        archive = None if source.is_dir() else source.read_bytes()
    except OSError as failure:
        raise UsageError(f"{source}: {failure.strerror}") from failure
    if archive is None:
        return _pyodide(
            str(source), {each.name: each.read_bytes() for each in source.iterdir() if _is_taken(each.name)}
        )
    return _pyodide(str(source), _of_archive(str(source), archive))


def fetch_pyodide() -> Pyodide:
    """Return Pyodide from the web; without numpy where its wheel cannot be fetched.

    Raises:
        UsageError: Nobody allowed it, or Pyodide cannot be fetched.
    """
    pyodide = _pyodide(PYODIDE_ADDRESS, _of_archive(PYODIDE_ADDRESS, _fetched(PYODIDE_ADDRESS, PYODIDE_SHA256)))
    own = pyodide.lock["packages"]["numpy"]
    try:
        data = _fetched(pyodide.numpy_address, own["sha256"])
    except UsageError:
        return pyodide
    return replace(pyodide, numpy=(own["file_name"], data))


def _fetched(address: str, sha256: str) -> bytes:
    try:
        data = download(address)
    except TflmSimError as failure:
        raise UsageError(str(failure)) from failure
    if hashlib.sha256(data).hexdigest() != sha256:
        raise UsageError(f"{address} gives another file than it should: its SHA-256 differs")
    return data


def _pyodide(source: str, read: Mapping[str, bytes]) -> Pyodide:
    """Return Pyodide from files by name; its own wheel of numpy is taken where it is among them."""
    missing = [name for name in (*PYODIDE_FILES, "package.json") if name not in read]
    if missing:
        raise UsageError(f"{source} has no {', '.join(missing)}: it is not what 'npm pack pyodide' gives")
    version = json.loads(read["package.json"])["version"]
    if version != PYODIDE_VERSION:
        raise UsageError(f"{source} is Pyodide {version}; the page is made for {PYODIDE_VERSION}")
    pyodide = Pyodide({name: read[name] for name in PYODIDE_FILES})
    wheel = str(pyodide.lock["packages"]["numpy"]["file_name"])
    return replace(pyodide, numpy=(wheel, read[wheel])) if wheel in read else pyodide


def _is_taken(name: str) -> bool:
    return name in (*PYODIDE_FILES, "package.json") or (name.startswith("numpy-") and name.endswith(".whl"))


def _of_archive(source: str, data: bytes) -> dict[str, bytes]:
    read = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                folder, _, name = member.name.partition("/")
                if member.isfile() and folder in ("package", "pyodide") and _is_taken(name):
                    file = archive.extractfile(member)
                    assert file is not None, "it is a file"
                    read[name] = file.read()
    except (OSError, EOFError, tarfile.TarError) as failure:
        raise UsageError(f"{source}: {failure}") from failure
    return read


def site_files(pyodide: Pyodide, planners: bytes | None = None) -> dict[str, bytes]:
    """Return the whole site: path below its root -> bytes; with numpy the page can also shrink models.

    With the planners' C (``compiled_planners``) it plans in C, else in Python.

    The service worker gets the list of the files and a hash of all of them, by which it tells one release from another.
    """
    files = {path.name: path.read_bytes() for path in sorted(_SITE.iterdir()) if path.name != "sw.js"}
    files["index.html"] = files["index.html"].replace(b"@POLICY@", content_security_policy().encode())
    files["index.html"] = files["index.html"].replace(b"@WORDS@", embedded_json(WORDS).encode())
    files["tflm_sim.zip"] = package_archive(planners)
    files |= {f"pyodide/{name}": data for name, data in pyodide.core.items()}
    wheel = None
    if pyodide.numpy is not None:
        name, data = pyodide.numpy
        files[f"pyodide/{name}"], wheel = data, f"./pyodide/{name}"
    files["worker.js"] = files["worker.js"].replace(b'"@NUMPY@"', json.dumps(wheel).encode())
    release = hashlib.sha256(b"".join(hashlib.sha256(data).digest() for data in files.values())).hexdigest()[:16]
    worker = (_SITE / "sw.js").read_bytes()
    listed = json.dumps({"release": release, "files": sorted(files)}).encode()
    files["sw.js"] = worker.replace(b'"@MANIFEST@"', listed)
    return files
