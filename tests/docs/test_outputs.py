"""What a page shows below a command about a sample is what the command prints; ``...`` stands for what is left out."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from commands import PAGES, ROOT

from tflm_sim.cli import main
from tflm_sim.planners import native
from tflm_sim.samples import SAMPLES, sample_path

BLOCK = re.compile(r"^```[^\n]*\n(.*?)^```|((?:^(?:    [^\n]*)?\n)+)", re.DOTALL | re.MULTILINE)
SAMPLE = re.compile(rf"sample:|\b(?:{'|'.join(SAMPLES)})\.tflite")
TIMES = re.compile(r" *[\d.,]+ (?:us|ms|s)\b(?: \([\d,]+ a second\))?")
"""How long something took."""
RUNS = re.compile(r"[\d,]+ (runs|distinct outputs)\b")
"""How often the real TFLM ran within a proof's time."""


def shown() -> list[tuple[str, str, list[str]]]:
    """Return page, command and lines of each block that begins with a command about a sample, and shows its answer."""
    found = []
    for page in PAGES:
        for fenced, indented in BLOCK.findall(page.read_text("utf-8")):
            text = (fenced or re.sub(r"^    ", "", indented, flags=re.MULTILINE)).strip("\n").replace("\\\n", " ")
            first, _, rest = text.partition("\n")
            command = re.fullmatch(r"(?:\$ )?tflm-sim (.*)", first)
            if command and SAMPLE.search(first) and rest.strip() and "tflm-sim " not in rest.splitlines()[0]:
                found.append((str(page.relative_to(ROOT)), command[1], rest.splitlines()))
    return found


def comparable(line: str) -> str:
    """Return a line without what differs from run to run, in single spaces."""
    return " ".join(RUNS.sub(r"N \1", TIMES.sub(" TIME", line)).split())


SHOWN = shown()


def test_pages_show_answers() -> None:
    assert {page for page, _, _ in SHOWN} >= {"docs/lite.md", "docs/streaming.md", "docs/sweeps.md", "docs/board.md"}


@pytest.mark.slow
@pytest.mark.skipif(not native.available(), reason="the pages show what the planners in C give")
@pytest.mark.parametrize(
    ("page", "command", "lines"), SHOWN, ids=[f"{page}: {command[:50]}" for page, command, _ in SHOWN]
)
def test_a_page_shows_what_its_command_prints(
    page: str,
    command: str,
    lines: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.log").write_text("\n".join(line for line in lines if not line.startswith("tflm-sim|")), "utf-8")
    for name in SAMPLES:
        Path(f"{name}.tflite").write_bytes(sample_path(name).read_bytes())
    main(shlex.split(command))
    printed = [comparable(line) for line in capsys.readouterr().out.splitlines()]
    place = 0
    for line in map(comparable, lines):
        if line not in ("", "..."):
            start = line.removesuffix("...").rstrip()
            matches = [row for row in range(place, len(printed)) if printed[row].startswith(start)]
            assert matches, f"{line!r} is not among {printed[place:]}"
            place = matches[0] + 1
