"""Write docs/pictures/terminal.svg: what the first commands of the README print, as a picture of a terminal.

python tools release terminal
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

import frame

OUT = Path(__file__).resolve().parents[2] / "docs" / "pictures" / "terminal.svg"
COLUMNS = 112
COMMANDS = (
    ("size sample:mobilenet_v1_025 --target cortex-m4", 7),
    ("check sample:mobilenet_v1_025 --target cortex-m4 --limit 64KiB", 3),
    ("compare sample:mobilenet_v1_025 --boards nano33ble,microbit-v2,nicla-sense-me", 8),
)
"""What is typed after ``tflm-sim``, and how many lines of the answer are shown."""


def shown(command: str, lines: int) -> list[str]:
    """Return the first lines of what a command prints."""
    words = [sys.executable, "-m", "tflm_sim", *command.split()]
    said = subprocess.run(words, capture_output=True, text=True, check=False, env={"COLUMNS": str(COLUMNS)}).stdout
    return said.splitlines()[:lines]


def main() -> int:
    """Write it."""
    frame.parser(__doc__).parse_args()
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    for command, count in COMMANDS:
        console.print(Text(f"$ tflm-sim {command}", style="bold"))
        for line in shown(command, count):
            verdict = re.match(r"(yes|no):", line)
            style = {"yes": "green", "no": "red"}[verdict[1]] if verdict else ""
            console.print(Text(line, style=style), soft_wrap=True)
        console.print()
    svg = console.export_svg(title="tflm-sim", unique_id="tflm-sim")
    # The fonts are the reader's own: nothing is fetched.
    OUT.write_text(re.sub(r"@font-face \{.*?\}\s*|<!--.*?-->", "", svg, flags=re.DOTALL), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
