"""``board listen --live``: who is connected and what was recognised stay on the screen above the log."""

from __future__ import annotations

import io
import sys
import time
from collections import deque
from typing import Any, TextIO, cast

from tflm_sim.cli.terminal import is_shown, say
from tflm_sim.errors import UsageError
from tflm_sim.extensions.board.device_text import OWN_LINE_PREFIX, EventPrinter
from tflm_sim.extras import install_command

_KEPT_LINES = 500
_RECOGNISED_ROWS = 12
_FRAME_ROWS = 8


class LiveView(io.TextIOBase):
    """A screen to which an :class:`EventPrinter` prints (mutable); use it as a context manager.

    Args:
        port: The name of the port, for the title.

    Raises:
        UsageError: stdout is no terminal, or rich is not installed.
    """

    def __init__(self, port: str) -> None:
        if not is_shown():
            raise UsageError("--live needs a terminal; remove --live to print the log line by line")
        self._rich = _rich()
        self._port = port
        self._status = "connected"
        self._started = time.monotonic()
        self._said: deque[str] = deque(maxlen=_KEPT_LINES)
        self._log: deque[str] = deque(maxlen=_KEPT_LINES)
        self._lines = 0
        self._printer: EventPrinter | None = None
        self._console = self._rich.console.Console()
        self._screen = self._rich.live.Live(
            get_renderable=self._render, console=self._console, screen=True, refresh_per_second=8
        )

    def shows(self, printer: EventPrinter) -> EventPrinter:
        """Make a printer print here, and show its counts."""
        self._printer = printer
        printer.out = cast(TextIO, self)
        return printer

    def write(self, text: str) -> int:
        """Add a line without control characters; lines that were wrapped to the terminal's width are joined again."""
        first, *others = text.splitlines()
        line = " ".join([first, *(other.strip() for other in others)])
        if OWN_LINE_PREFIX in line:
            self._said.append(line.replace(OWN_LINE_PREFIX, "", 1))
        else:
            self._lines += 1
            self._log.append(line)
        return len(text)

    def tell(self, status: str) -> None:  # type: ignore[override]
        """Show the state of the connection."""
        self._status = status
        self.write(OWN_LINE_PREFIX + status)

    def __enter__(self) -> LiveView:
        self._screen.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the screen; the recognised reports stay on it."""
        self._screen.stop()
        say(*(f"{OWN_LINE_PREFIX}{line}" for line in self._said), file=sys.stdout)

    def _render(self) -> Any:
        panel, text, group = self._rich.panel.Panel, self._rich.text.Text, self._rich.console.Group
        said = list(self._said)[-_RECOGNISED_ROWS:]
        room = max(3, self._console.height - len(said) - _FRAME_ROWS)
        cut: dict[str, Any] = {"overflow": "ellipsis", "no_wrap": True}
        return group(
            panel(text(self._counts(), **cut), title="tflm-sim board listen"),
            panel(text("\n".join(said) or "nothing recognised yet", **cut), title="recognised"),
            panel(text("\n".join(list(self._log)[-room:]), **cut), title="log"),
        )

    def _counts(self) -> str:
        seconds = int(time.monotonic() - self._started)
        counts = f"{self._port}: {self._status}; {seconds // 60}:{seconds % 60:02}, {self._lines:,} lines"
        if (printer := self._printer) is None:
            return counts
        return (
            f"{counts}; {printer.reports} reports, {printer.differences} different, {printer.torn} torn, "
            f"{printer.failures} failures"
        )


def _rich() -> Any:
    try:
        import rich
        import rich.console
        import rich.live
        import rich.panel
        import rich.text
    except ImportError as error:
        raise UsageError(f"--live needs rich: {install_command('cli')}") from error
    return rich
