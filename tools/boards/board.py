"""Build the replay firmware, start it on an emulated board or as a process, print its port, and stop it.

python tools boards board mps2-an386            a Cortex-M4 under QEMU on a TCP port; Ctrl-C stops it
python tools boards board mps2-an385            a Cortex-M3
python tools boards board posix                 a process on a pseudo terminal
tflm-sim board replay PORT model.tflite         in another terminal
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import frame

ROOT = Path(__file__).resolve().parents[2]
FIRMWARE = ROOT / "firmware_stub"
BUILD = FIRMWARE / "build"
_ARM = ["make", "arm-none-eabi-gcc", "qemu-system-arm"]
# Board: the goal in firmware_stub/Makefile, the programs that it takes, and the emulator's command.
BOARDS: dict[str, tuple[str, list[str], list[str]]] = {
    "mps2-an386": ("mps2-an386", _ARM, ["qemu-system-arm", "-M", "mps2-an386"]),
    "mps2-an385": ("mps2-an385", _ARM, ["qemu-system-arm", "-M", "mps2-an385"]),
    "riscv-virt": (
        "riscv-virt",
        ["make", "riscv64-unknown-elf-gcc", "qemu-system-riscv32"],
        ["qemu-system-riscv32", "-M", "virt", "-bios", "none"],
    ),
    "posix": ("host", ["make", "cc"], []),
}
START_SECONDS = 20.0


class BoardToolError(Exception):
    """The board cannot be built or started; one sentence."""


def missing_tools(board: str) -> list[str]:
    """Return the programs that ``board`` needs and that are not installed."""
    return [name for name in BOARDS[board][1] if shutil.which(name) is None]


def build(board: str, directory: Path = BUILD) -> Path:
    """Build the firmware of ``board`` below ``directory`` and return its file.

    Raises:
        BoardToolError: A program is missing, or the compiler refuses.
    """
    if missing := missing_tools(board):
        raise BoardToolError(f"{board} needs {', '.join(missing)}: install them (tools/test.sh names the packages)")
    goal = BOARDS[board][0]
    done = subprocess.run(
        ["make", "--silent", f"BUILD={directory}", goal], cwd=FIRMWARE, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BoardToolError(f"{board} does not build:\n{done.stderr}")
    return directory / ("replay-posix" if board == "posix" else f"replay-{board}.elf")


@contextmanager
def running(board: str, directory: Path = BUILD) -> Iterator[str]:
    """Build and start ``board``; yield the port that ``tflm-sim`` opens; stop the board in the end."""
    firmware = build(board, directory)
    if board == "posix":
        with _process([str(firmware), "--pty"]) as process:
            assert process.stdout is not None, "it was opened as a pipe"
            yield process.stdout.readline().decode().strip()
        return
    number = _free_port()
    serial = f"tcp:127.0.0.1:{number},server=on,wait=off,nodelay=on"
    options = ["-nographic", "-monitor", "none", "-serial", serial, "-kernel", str(firmware)]
    with _process([*BOARDS[board][2], *options]) as process:
        _wait_for(number, process)
        yield f"socket://127.0.0.1:{number}"


@contextmanager
def _process(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        number: int = server.getsockname()[1]
    return number


def _wait_for(number: int, process: subprocess.Popen[bytes]) -> None:
    """Return once QEMU listens; it accepts one connection at a time, so the trial connection is closed at once."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", number), timeout=1.0).close()
            return
        except OSError:
            time.sleep(0.05)
    raise BoardToolError("QEMU did not start")


def main() -> int:
    """Run a board from the command line."""
    parser = frame.parser(__doc__)
    parser.add_argument("board", choices=BOARDS)
    parser.add_argument("--build", type=Path, default=BUILD, metavar="DIR", help="default: firmware_stub/build")
    args = parser.parse_args()
    try:
        with running(args.board, args.build.resolve()) as port:
            print(port, flush=True)
            while True:
                time.sleep(3600)
    except BoardToolError as error:
        print(f"board: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
