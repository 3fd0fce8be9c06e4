"""The static site: the page's own files, this package as an archive, and Pyodide's core, all served from one origin.

Pyodide itself is no part of this package: ``npm pack pyodide@VERSION`` gives its archive, from which five files are
taken. ``shrink`` needs numpy, whose wheel for Pyodide is a file of Pyodide's own release; its hash stands in Pyodide's
lock file, and a page without it says so. The content security policy allows this origin's files, WebAssembly, and the
report page's own script and style by their hashes; nothing else, and no other origin.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import tflm_sim
from tflm_sim.errors import UsageError
from tflm_sim.report.page import page_hashes

PYODIDE_VERSION = "314.0.7"
PYODIDE_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")

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
_LEFT_OUT = (".so", ".pyd", ".c", ".h", ".pyc")
_EARLIEST = (1980, 1, 1, 0, 0, 0)


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


def package_archive() -> bytes:
    """Return this package as a zip archive, the same bytes for the same files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(_PACKAGE.rglob("*")):
            inside = path.relative_to(_PACKAGE)
            is_of_the_page = inside.parts[0] == "web" and inside.name not in ("__init__.py", "bridge.py")
            if path.is_dir() or path.suffix in _LEFT_OUT or "__pycache__" in inside.parts or is_of_the_page:
                continue
            entry = zipfile.ZipInfo(f"tflm_sim/{inside.as_posix()}", _EARLIEST)
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return file.getvalue()


def pyodide_files(source: Path) -> dict[str, bytes]:
    """Return Pyodide's core.

    Args:
        source: The archive that ``npm pack pyodide@VERSION`` writes, or a folder with its files.

    Raises:
        UsageError: Some file is not there, or the version is another one.
    """
    read = _of_folder(source) if source.is_dir() else _of_archive(source)
    missing = [name for name in (*PYODIDE_FILES, "package.json") if name not in read]
    if missing:
        raise UsageError(f"{source} has no {', '.join(missing)}: it is not what 'npm pack pyodide' gives")
    version = json.loads(read.pop("package.json"))["version"]
    if version != PYODIDE_VERSION:
        raise UsageError(f"{source} is Pyodide {version}; the page is made for {PYODIDE_VERSION}")
    return read


def _of_folder(folder: Path) -> dict[str, bytes]:
    names = [name for name in (*PYODIDE_FILES, "package.json") if (folder / name).is_file()]
    return {name: (folder / name).read_bytes() for name in names}


def _of_archive(path: Path) -> dict[str, bytes]:
    try:
        with tarfile.open(path) as archive:
            members = {name: f"package/{name}" for name in (*PYODIDE_FILES, "package.json")}
            there = set(archive.getnames())
            files = {name: archive.extractfile(inside) for name, inside in members.items() if inside in there}
            return {name: file.read() for name, file in files.items() if file is not None}
    except (OSError, tarfile.TarError) as failure:
        raise UsageError(f"{path}: {failure}") from failure


def numpy_wheel(pyodide: Mapping[str, bytes], path: Path) -> tuple[str, bytes]:
    """Return the name and the bytes of numpy's wheel, which must be the one that Pyodide's lock file names.

    Raises:
        UsageError: It cannot be read, or is another file.
    """
    entry = json.loads(pyodide["pyodide-lock.json"])["packages"]["numpy"]
    try:
        data = path.read_bytes()
    except OSError as failure:
        raise UsageError(f"{path}: {failure.strerror}") from failure
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        raise UsageError(f"{path} is not the {entry['file_name']} of Pyodide {PYODIDE_VERSION}: its SHA-256 differs")
    return entry["file_name"], data


def site_files(pyodide: Mapping[str, bytes], numpy: tuple[str, bytes] | None = None) -> dict[str, bytes]:
    """Return the whole site: path below its root -> bytes; with ``numpy`` the page can also shrink models.

    The service worker gets the list of the files and a hash of all of them, by which it tells one release from another.
    """
    files = {path.name: path.read_bytes() for path in sorted(_SITE.iterdir()) if path.name != "sw.js"}
    files["index.html"] = files["index.html"].replace(b"@POLICY@", content_security_policy().encode())
    files["tflm_sim.zip"] = package_archive()
    files |= {f"pyodide/{name}": pyodide[name] for name in PYODIDE_FILES}
    if numpy is not None:
        files[f"pyodide/{numpy[0]}"] = numpy[1]
    wheel = json.dumps(None if numpy is None else f"./pyodide/{numpy[0]}").encode()
    files["worker.js"] = files["worker.js"].replace(b'"@NUMPY@"', wheel)
    release = hashlib.sha256(b"".join(hashlib.sha256(data).digest() for data in files.values())).hexdigest()[:16]
    worker = (_SITE / "sw.js").read_bytes()
    listed = json.dumps({"release": release, "files": sorted(files)}).encode()
    files["sw.js"] = worker.replace(b'"@MANIFEST@"', listed)
    return files
