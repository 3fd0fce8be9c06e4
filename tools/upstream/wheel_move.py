"""What moved in a pip wheel of TFLM: its structs, operators, checks, and what models need in it."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from upstream.printed_checks import Wheel
from upstream.wheel_runs import RunningWheel, difference
from upstream.wheel_structs import Allocations, against_ours, allocations, between, ours

from tflm_sim.answers.simulation import simulate
from tflm_sim.errors import TflmSimError
from tflm_sim.model.load import parse
from tflm_sim.model.schema import builtin_operator_name
from tflm_sim.targets.presets import preset

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests" / "golden" / "sample" / "models"
ORACLE = ROOT / "tests" / "oracle"
REFERENCE = ROOT / "tflm_sim" / "targets" / "reference.py"
_VERSION = re.compile(r"tflite_micro-0\.dev(\d{14})-")
_COMMIT = re.compile(r"built from commit\s+\[(\w+)\]")
_BYTES = re.compile(r"\): [+-][\d,]+ B: ")
"""What ``difference`` begins with where a model needs other bytes, behind its operators."""
_SHOWN = 12
"""How many models, and checks, are printed."""


class Release(NamedTuple):
    """A wheel: its file, its version without "0.dev", and the commit that its METADATA names."""

    path: Path
    version: str
    commit: str

    @property
    def day(self) -> str:
        """When its commit was committed, UTC."""
        return f"{self.version[:4]}-{self.version[4:6]}-{self.version[6:8]}"

    def __str__(self) -> str:
        return f"0.dev{self.version} ({self.commit} of {self.day})"


def release_of(path: Path) -> Release:
    """Return what a file ``tflite_micro-0.dev*.whl`` is.

    Raises:
        ValueError: It is none.
    """
    version = _VERSION.match(path.name)
    if version is None or not path.is_file():
        raise ValueError(f"{path} is no wheel of tflite-micro")
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        commit = _COMMIT.search(archive.read(name).decode())
    if commit is None:
        raise ValueError(f"the METADATA of {path.name} names no commit")
    datetime.strptime(f"{version[1]}+0000", "%Y%m%d%H%M%S%z").astimezone(UTC)
    return Release(path, version[1], commit[1])


def download(version: str, folder: Path, name: str = "tflite-micro") -> Path:
    """Return the wheel of a version, "0.dev20261023182759", got with pip; it need not fit this Python."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps")
    options = ("--only-binary", ":all:", "--ignore-requires-python", "--dest", str(folder))
    subprocess.run([*pip, *options, f"{name}=={version}"], check=True, stderr=subprocess.DEVNULL)
    return next(folder.glob(f"{name.replace('-', '_')}-{version}-*.whl"))


def run_tool(name: str, *arguments: str | Path) -> None:
    """Run a writer of a table in a process of its own, which reads the tables as they are now."""
    subprocess.run([sys.executable, "tools", "upstream", name, *map(str, arguments)], cwd=ROOT, check=True)


def tool_output(name: str, *arguments: str | Path) -> list[str]:
    """Return the lines that a tool prints which says by exit code 1 that something differs.

    Raises:
        ValueError: It cannot do its work.
    """
    command = [sys.executable, "tools", "upstream", name, *map(str, arguments)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode > 1:
        raise ValueError(f"{name}: {run.stderr.strip()[-500:]}")
    return run.stdout.splitlines()


def built_models(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the committed sample, then every model that ``tests/oracle`` compares with the installed wheel."""
    for path in sorted(SAMPLE.glob("*.tflite.gz")):
        yield path.name.removesuffix(".tflite.gz"), gzip.decompress(path.read_bytes())
    files = [str(path) for path in sorted(ORACLE.glob("test_*.py")) if "same_as_wheel" in path.read_text("utf-8")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--keep-models", str(folder), *files]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode > 1:  # 1: tests fail, as they may where the tables are half moved; their models are there.
        raise ValueError(f"the models of tests/oracle cannot be built: {run.stdout[-2000:]}")
    for path in sorted(folder.iterdir()):
        yield path.name, path.read_bytes()


def answers(release: Release, models: Iterator[tuple[str, bytes]], runtime: str | None) -> tuple[list[str], int]:
    """Return a line for each model that the wheel answers otherwise than our simulation, and how many were asked.

    Args:
        release: The wheel.
        models: Their names, and the files.
        runtime: The TFLM that is simulated, as for ``--runtime``; None for the newest wheel that is known.
    """
    target = preset("x86_64-pip", runtime=runtime)
    lines, asked = [], 0
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(release.path).extractall(folder)
        wheel = RunningWheel(Path(folder))
        for name, data in models:
            real = wheel.run(data)
            asked += 1
            try:
                model = parse(data)
                text = difference(simulate(model, target, arena_size=1 << 20, interpreter="recording"), real)
            except TflmSimError as error:
                lines.append(f"{name}: {real.status} in the wheel; {error}")
                continue
            if text:
                codes = {code.custom_code or builtin_operator_name(code.builtin_code) for code in model.operator_codes}
                lines.append(f"{name} ({' '.join(sorted(codes))}): {text}")
        wheel.close()
    return lines, asked


def compared(new: Release, old: Release | None, folder: Path, runtime: str | None) -> Iterator[tuple[str, str]]:
    """Yield (line, what a person has to decide or "") of everything that moved in a wheel.

    Args:
        new: The wheel.
        old: The one before, which is known; None to leave out what only two wheels say.
        folder: Where models may be written.
        runtime: The TFLM of ours that it is compared with.
    """
    code = Wheel(new.path)
    found = allocations(code)
    lines, count = against_ours(found, ours(runtime))
    yield f"structs: {count} compared with targets/struct_tables, {len(lines)} of another size", ""
    for line in lines:
        yield (f"  {line}", f"a struct: {line}; its members there, under a change of targets/changes.py")
    if old:
        before = Wheel(old.path)
        yield from _between(code, before, found, len(lines))
    lines, asked = answers(new, built_models(folder), runtime)
    lines.sort(key=lambda line: _BYTES.search(line) is None)
    need = sum(_BYTES.search(line) is not None for line in lines)
    yield f"answers: {asked - len(lines)} of {asked} models as simulated, {need} need other bytes", ""
    for line in lines[:_SHOWN]:
        yield f"  {line}", ""
    if lines:
        yield (
            f"  {len(lines)} models differ",
            f"{len(lines)} models that the wheel answers otherwise, {need} of them in bytes: what changed?",
        )


def _between(
    code: Wheel, before: Wheel, found: dict[str, Allocations], known_structs: int
) -> Iterator[tuple[str, str]]:
    for line in between(allocations(before), found):
        yield f"  {line}", "" if known_structs else f"a struct: {line}"
    names, old_names = code.names(), before.names()
    for sign, some in (("new", names - old_names), ("gone", old_names - names)):
        operators = sorted(name.removeprefix("Register_") for name in some if name.startswith("Register_"))
        if operators:
            text = f"operators: {', '.join(operators)} {sign}"
            yield text, f"{text}; the rows of a new one are those of CONTRIBUTING, An operator"
    checks, old_checks = ({(one.file, one.text) for one in each.checks()} for each in (code, before))
    yield f"checks: {len(checks - old_checks)} texts are new, {len(old_checks - checks)} gone, {len(checks)} in all", ""
    for sign, texts in (("+", checks - old_checks), ("-", old_checks - checks)):
        yield from ((f"  {sign} {file}: {text}", "") for file, text in sorted(texts)[:_SHOWN])
    if checks != old_checks:
        decision = "texts of checks: rows in targets/changes.py where a kernel asks otherwise (k.has)"
        yield f"  {len(checks ^ old_checks)} differ", decision


def with_wheel(source: str, release: Release) -> str:
    """Return the text of ``targets/reference.py`` with a wheel behind the others."""
    row = f"{release.commit[:7]}@{release.version}"
    match = re.search(r'WHEELS = """\n(.*?)"""', source, re.DOTALL)
    assert match is not None, "reference.py has the table WHEELS"
    rows = match[1].split()
    if row in rows:
        return source
    rows = sorted([*rows, row], key=lambda each: each.partition("@")[2])
    text = "\n".join(" ".join(rows[first : first + 5]) for first in range(0, len(rows), 5))
    return f"{source[: match.start(1)]}{text}\n{source[match.end(1) :]}"


def write(new: Release, base: Path) -> Iterator[str]:
    """Add a wheel to ``targets/reference.py`` and its checks' lines to ``ops/places.txt``; yield what was done.

    Args:
        new: The wheel.
        base: That of the newest counted commit.
    """
    REFERENCE.write_text(with_wheel(REFERENCE.read_text("utf-8"), new), encoding="utf-8")
    yield f"wrote {REFERENCE.relative_to(ROOT)}: {new.commit}@{new.version}"
    run_tool("wheel_places", base, new.path, "--write")
    yield "wrote tflm_sim/ops/places.txt"
