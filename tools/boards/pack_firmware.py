"""Assemble the board library as an ecosystem installs it: one self-contained folder, or a .zip of it.

    python tools boards pack_firmware arduino tflm_sim_report.zip
    python tools boards pack_firmware esp_idf components/tflm_sim_report --url https://example.org/tflm_sim

The sources are those of the tree; nothing is kept twice. A folder must be new or empty; a .zip is replaced, and has the
same bytes each time.
"""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path, PurePosixPath

import frame

import tflm_sim

ROOT = Path(__file__).resolve().parents[2]
STUB = ROOT / "firmware_stub"
PLANNER = ROOT / "tflm_sim" / "planners" / "native"
NAME = "tflm_sim_report"
URL = "https://pypi.org/project/tflm-sim/"

_HEADERS = (
    *sorted((STUB / "include").glob("*.h")),
    PLANNER / "tflm_plan.h",
    PLANNER / "tflm_workspace.h",
    STUB / "ports/common/replay_app.h",
    ROOT / "tflm_sim/extensions/banks/bank_planner.hpp",
)
_SOURCES = (*sorted((STUB / "src").glob("*.c")), PLANNER / "tflm_plan.c")
_PORT = (STUB / "ports/common/replay_port.c", STUB / "ports/common/replay_port.h")
_SKETCHES: tuple[tuple[str, Path], ...] = (
    ("examples/report/report.ino", STUB / "packages/arduino/examples/report/report.ino"),
    ("examples/replay/replay.ino", STUB / "ports/arduino/replay/replay.ino"),
    ("examples/replay/replay_sizes.h", STUB / "packages/arduino/examples/replay/replay_sizes.h"),
    ("examples/replay/replay_port.c", _PORT[0]),
    ("examples/replay/replay_port.h", _PORT[1]),
)
# Form: where headers lie, what lies beside the library's sources in src, and the files with places of their own.
FORMS: dict[str, tuple[str, tuple[Path, ...], tuple[tuple[str, Path], ...]]] = {
    "arduino": ("src", (), _SKETCHES),
    "platformio": ("src", (), _SKETCHES),
    "esp_idf": (
        "include",
        _PORT[:1],
        (
            ("include/replay_port.h", _PORT[1]),
            ("examples/replay/main/replay_task.c", STUB / "ports/esp_idf/replay_task.c"),
            ("examples/replay/main/replay_task.h", STUB / "ports/esp_idf/replay_task.h"),
        ),
    ),
    "zephyr": (
        "include",
        (_PORT[0], STUB / "ports/zephyr/replay_uart.c"),
        (("include/replay_port.h", _PORT[1]), ("zephyr/Kconfig", STUB / "ports/zephyr/Kconfig")),
    ),
    "pico": (
        "include",
        _PORT[:1],
        (("include/replay_port.h", _PORT[1]), ("examples/replay/main.c", STUB / "ports/pico/main.c")),
    ),
}


def package(form: str, version: str = tflm_sim.__version__, url: str = URL) -> dict[str, bytes]:
    """Return the files of a form by their path in the package; ``version`` is MAJOR.MINOR.PATCH."""
    if re.fullmatch(r"\d+\.\d+\.\d+", version) is None:
        raise ValueError(f"{version} is no release: every ecosystem wants MAJOR.MINOR.PATCH")
    if re.fullmatch(r"https?://[^\s\"'\\#]+", url) is None:
        raise ValueError(f"{url!r} is no http or https address")
    headers, beside, placed = FORMS[form]
    template = STUB / "packages" / form
    places = {"LICENSE": ROOT / "LICENSE", "README.md": STUB / "packages/README.md"}
    places |= {f"{headers}/{path.name}": path for path in _HEADERS}
    places |= {f"src/{path.name}": path for path in (*_SOURCES, *beside)}
    places |= {path.relative_to(template).as_posix(): path for path in template.rglob("*") if path.is_file()}
    places |= dict(placed)
    values = {b"@VERSION@": version.encode(), b"@URL@": url.encode()}
    return {name: _filled(places[name].read_bytes(), values) for name in sorted(places)}


def write(files: dict[str, bytes], out: Path) -> None:
    """Write a package: a .zip with one folder in it, or a folder."""
    if out.suffix == ".zip":
        out.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                member = zipfile.ZipInfo(str(PurePosixPath(NAME, name)), (1980, 1, 1, 0, 0, 0))
                member.external_attr = 0o644 << 16
                archive.writestr(member, data, zipfile.ZIP_DEFLATED)
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"{out} is there already and not an empty folder")
    for name, data in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _filled(text: bytes, values: dict[bytes, bytes]) -> bytes:
    for mark, value in values.items():
        text = text.replace(mark, value)
    return text


def main(arguments: list[str] | None = None) -> int:
    """Pack one form."""
    parser = frame.parser(__doc__)
    parser.add_argument("form", choices=FORMS)
    parser.add_argument("out", type=Path, metavar="OUT", help="a folder, or a file that ends in .zip")
    parser.add_argument("--url", default=URL, help="the project's address in the metadata (default: %(default)s)")
    args = parser.parse_args(arguments)
    try:
        files = package(args.form, url=args.url)
        write(files, args.out)
    except (OSError, ValueError) as error:
        print(f"pack_firmware.py: {error}", file=sys.stderr)
        return 2
    print(f"{args.out}: {NAME} {tflm_sim.__version__} for {args.form}, {len(files)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
