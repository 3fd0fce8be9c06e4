"""Record the first commands of the README at a terminal, as a picture that moves: docs/pictures/terminal.svg.

python tools release terminal

The commands run in a pseudo-terminal; the picture shows what they print, when they print it. Waiting is cut to
LONGEST_WAIT seconds, and long answers to their first and last lines, with a line that says how many are left out. Who
asks for no motion, and a program that does not know CSS animations, gets the last moment: all that was typed and said.
"""

from __future__ import annotations

import html
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import frame

from tflm_sim.samples import sample_path
from tflm_sim.targets.reference import REFERENCE_DAY

OUT = Path(__file__).resolve().parents[2] / "docs" / "pictures" / "terminal.svg"
COLUMNS = 98


class Command(NamedTuple):
    """What is typed, and how many lines of its answer are shown, from the first one and up to the last one."""

    typed: str
    first: int
    last: int = 0


COMMANDS = (
    Command("tflm-sim size model.tflite --target cortex-m4", 7),
    Command("tflm-sim check model.tflite --target cortex-m4 --limit 64KiB", 3),
    Command("tflm-sim shrink model.tflite --target cortex-m4 -o small.tflite --prove 20", 3, 4),
    Command("tflm-sim check small.tflite --target cortex-m4 --limit 64KiB", 2),
)
FULL = 1.2
"""Seconds at the beginning in which the whole recording is seen, as whoever opens the page has not waited for it."""
KEYS_A_SECOND = 90
LONGEST_WAIT = 0.25
TO_READ = 0.7
"""Seconds before the next command is typed."""
AT_THE_END = 2.0
LONGEST = 12.0
"""Seconds that the whole recording may take."""
SHORTEST = 0.2
"""Seconds that a line of progress must have stood to be shown."""

CHARACTER, LINE, MARGIN, BAR = 8.4, 20, 14, 32
WIDTH = round(COLUMNS * CHARACTER) + 2 * MARGIN
COLOURS = {"31": "no", "32": "yes"}


class Shown(NamedTuple):
    """A line of the picture: row, text with escape sequences, the second it comes and that it goes (None: it stays).

    A command is typed from ``begin`` on.
    """

    row: int
    text: str
    begin: float
    end: float | None = None
    is_typed: bool = False


def recorded(command: str, folder: Path) -> Iterator[tuple[float, bytes]]:
    """Run a command in a pseudo-terminal and yield what it prints, with the seconds since it began."""
    ours, theirs = pty.openpty()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    # Of the day of its TFLM, so that no picture says how old that was when it was taken.
    day = str(int(datetime.fromisoformat(REFERENCE_DAY).replace(tzinfo=UTC).timestamp()))
    environment = {"COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "LANG": "C.UTF-8", "PATH": path}
    environment["SOURCE_DATE_EPOCH"] = day
    begin = time.monotonic()
    with subprocess.Popen(["/bin/sh", "-c", command], cwd=folder, env=environment, stdout=theirs, stderr=theirs):
        os.close(theirs)
        while piece := _read(ours):
            yield time.monotonic() - begin, piece
    os.close(ours)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux, when the last program has left the terminal.
        return b""


def lines_of(pieces: Sequence[tuple[float, bytes]]) -> list[list[tuple[float, str]]]:
    """Return for each line of the screen what stood in it, one after another, each with the moment it came.

    Waits are cut. A carriage return begins the line anew.
    """
    lines: list[list[tuple[float, str]]] = [[(0.0, "")]]
    now = before = 0.0
    for at, piece in pieces:
        now += min(at - before, LONGEST_WAIT)
        before = at
        for part in re.findall(r"\r\n|\r|[^\r\n]+", piece.decode()):
            if part == "\r\n":
                lines.append([(now, "")])
            elif part == "\r":
                lines[-1].append((now, ""))
            else:
                lines[-1][-1] = now, lines[-1][-1][1] + part
    return lines[:-1]


def session(folder: Path) -> tuple[list[Shown], float]:
    """Return all lines of a recording of the commands, and the seconds that it takes."""
    shown: list[Shown] = []
    now, row = FULL + 0.3, 0
    for command in COMMANDS:
        shown.append(Shown(row, f"$ {command.typed}", now, is_typed=True))
        now += len(command.typed) / KEYS_A_SECOND + 0.3
        lines = lines_of(list(recorded(command.typed, folder)))
        # How old the TFLM is that was taken differs from day to day; it stands at the end.
        old = next((at for at, versions in enumerate(lines) if " was taken, as nothing" in versions[-1][1]), len(lines))
        lines = lines[:old]
        while not lines[-1][-1][1]:
            lines.pop()
        row += 1
        hidden = range(command.first, len(lines) - command.last)
        for index, versions in enumerate(lines):
            moments = [now + at for at, _ in versions]
            for (_, text), begin, end in zip(versions[:-1], moments, moments[1:], strict=False):
                if text.strip() and end - begin >= SHORTEST:
                    shown.append(Shown(row, text.rstrip(), begin, end))
            if index == command.first:
                shown.append(Shown(row, f"\x1b[2m    ... {len(hidden)} lines more ...\x1b[0m", moments[-1]))
                row += bool(command.last)
            if index not in hidden:
                shown.append(Shown(row, versions[-1][1], moments[-1]))
                row += 1
        now = moments[-1] + TO_READ
        row += 1 + bool(hidden and not command.last)
    return shown, now - TO_READ + AT_THE_END


def svg(shown: Sequence[Shown], seconds: float) -> str:
    """Return the recording as a picture; every animation begins anew after so many seconds."""
    rows = 1 + max(line.row for line in shown)
    height = BAR + rows * LINE + MARGIN
    styles, texts = [], []
    for number, line in enumerate(shown):
        styles.append(f"@keyframes k{number}{{{_moments(line, seconds)}}}#l{number}{{animation-name:k{number}}}")
        content, length = _text(line)
        if line.is_typed:
            width = (length - 2) * CHARACTER
            begin, end = (100 * at / seconds for at in (line.begin, line.begin + (length - 2) / KEYS_A_SECOND))
            styles.append(
                f"@keyframes t{number}{{0%{{opacity:0}}{100 * FULL / seconds:.2f}%{{opacity:1}}"
                f"{begin:.2f}%{{opacity:1;transform:none;"
                f"animation-timing-function:steps({length - 2})}}"
                f"{end:.2f}%{{opacity:1;transform:translateX({width:.1f}px)}}{end + 0.01:.2f}%,to{{opacity:0}}}}"
                f"#t{number}{{animation-name:t{number}}}"
            )
            top = line.row * LINE
            content += (
                f'<g class="cover" id="t{number}"><rect x="{2 * CHARACTER}" y="{top}" width="{WIDTH}" height="{LINE}" '
                f'fill="#1b1d23"/><rect x="{2 * CHARACTER}" y="{top + 2}" width="{CHARACTER}" height="16"/></g>'
            )
        name = ' class="gone"' if line.end else ""
        texts.append(f'<g{name} id="l{number}">{content}</g>')
    style = f"""
text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d5d8dd }}
.typed {{ font-weight: bold }} .no {{ fill: #ff7b72; font-weight: bold }} .yes {{ fill: #7ee787; font-weight: bold }}
.soft {{ fill: #9aa0a8 }} .gone, .cover {{ opacity: 0 }} .cover rect + rect {{ fill: #d5d8dd }}
@media (prefers-reduced-motion: no-preference) {{
g {{ animation-duration: {seconds:.1f}s; animation-timing-function: step-end; animation-iteration-count: infinite }}
{chr(10).join(styles)}
}}
"""
    dots = "".join(
        f'<circle cx="{20 + 18 * index}" cy="16" r="5.5" fill="{colour}"/>'
        for index, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">\n'
        f"<title>A terminal: the size of a model, too large for 64 KiB, rewritten, and small enough</title>"
        f'\n<style>{style}</style>\n<rect width="{WIDTH}" height="{height}" rx="8" fill="#1b1d23"/>{dots}\n'
        f'<svg id="screen" x="{MARGIN}" y="{BAR}" width="{WIDTH - 2 * MARGIN}" height="{rows * LINE}">\n'
        + "\n".join(texts)
        + "\n</svg>\n</svg>\n"
    )


def _moments(line: Shown, seconds: float) -> str:
    """Return the key frames of a line: of the full frame, not there, there, and, if it goes, not there."""
    full = f"0%{{opacity:{0 if line.end else 1}}}{100 * FULL / seconds:.2f}%{{opacity:0}}"
    begin = f"{full}{100 * line.begin / seconds:.2f}%{{opacity:1}}"
    return begin + ("to{opacity:1}" if line.end is None else f"{100 * line.end / seconds:.2f}%,to{{opacity:0}}")


def _text(line: Shown) -> tuple[str, int]:
    """Return a line as an element, and its length in characters."""
    spans, style, length = "", "", 0
    for codes, text in re.findall(r"\x1b\[([\d;]*)m|([^\x1b]+)", line.text):
        if not text:
            style = (
                "soft" if codes == "2" else next((COLOURS[code] for code in codes.split(";") if code in COLOURS), "")
            )
            continue
        length += len(text)
        words = html.escape(text).replace(" ", "\N{NO-BREAK SPACE}")
        spans += f'<tspan class="{style}">{words}</tspan>' if style else words
    if not length:
        return "", 0
    name = ' class="typed"' if line.is_typed else ""
    y, width = line.row * LINE + 15, f"{length * CHARACTER:.1f}"
    return f'<text{name} y="{y}" textLength="{width}" lengthAdjust="spacingAndGlyphs">{spans}</text>', length


def main() -> int:
    """Write it."""
    frame.parser(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(sample_path("mobilenet_v1_025"), Path(folder, "model.tflite"))
        shown, seconds = session(Path(folder))
    if seconds > LONGEST:
        print(f"the recording takes {seconds:.1f} s, more than {LONGEST} s", file=sys.stderr)
        return 1
    OUT.write_text(svg(shown, seconds), "utf-8")
    print(f"{OUT}: {seconds:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
