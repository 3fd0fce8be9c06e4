"""``execute``: run a user's program in an emulator's process, and return the measurements."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tflm_sim.child_python import child_python
from tflm_sim.documents import from_json
from tflm_sim.errors import FirmwareError, UsageError, each_of, expect
from tflm_sim.extensions.firmware.emulation.execution import TIMEOUT_S, Execution
from tflm_sim.extensions.firmware.reading.image import Image, load_image
from tflm_sim.model.load import ModelLike, load

_WALL_TIME_FACTOR = 10
"""How many times as long it may take where other programs want the processor, too."""


def execute(
    elf: str | os.PathLike[str] | Image,
    *,
    model: ModelLike | None = None,
    invokes: int = 0,
    emulator: str = "",
    timeout: int = TIMEOUT_S,
    sizes: Iterable[int] = (),
    into: int = 0,
) -> Execution:
    """Execute a linked program up to the end of its AllocateTensors(), with arenas of many sizes.

    The program runs in an emulator, in a process of its own: Cortex-M0 to M33 and RISC-V of 32 bits in Unicorn
    (``pip install 'tflm_sim[run]'``), Cortex-M7 with doubles and M55 in the user's QEMU, an ESP32 in Espressif's.
    It reaches nothing outside: its semihosting may print and end.

    Args:
        elf: The ELF file; or what was read from it, for a pipe, which can be read only once.
        model: Put in the place of the program's own model, which keeps its arenas, operators and kernels; what
            :func:`tflm_sim.load` takes. None for its own.
        invokes: How many calls of Invoke() after each AllocateTensors() are run and measured; the others are not run,
            and the program is told that they succeeded. With ``model`` they are called for it.
        emulator: "unicorn" or "qemu"; "" for the first that is installed and has the program's core.
        timeout: Seconds of the host's processor after which it is given up; an Invoke() after half of them.
        into: The number of the interpreter that gets ``model``, from 1 on, in the order of their first
            AllocateTensors(); 0 for each, where all have one model.
        sizes: Sizes of each arena that are tried besides, bytes; see :attr:`ExecutedArena.tried`.

    Raises:
        FirmwareError: The file cannot be read or executed, nothing of TFLM was reached in it, or the model cannot be
            put in the place of its own.
        ModelError: The model cannot be read.
        UsageError: No emulator is installed.
    """
    settings = {"timeout": timeout, "invokes": invokes, "emulator": emulator}
    settings |= {"interpreter": into, "sizes": each_of(sizes, int, "sizes in bytes")}
    return from_json(Execution, _answer(elf, settings, {"model": _encoded(model), "runs": None}))


def compute_outputs(
    elf: str | os.PathLike[str],
    model: ModelLike,
    runs: Iterable[Sequence[bytes]],
    *,
    emulator: str = "",
    timeout: int = TIMEOUT_S,
    into: int = 0,
) -> list[tuple[bytes, ...]]:
    """Return what a program's kernels compute with a model: the bytes of the outputs of each run, in order.

    The runs follow one AllocateTensors(), so that a state goes on from one to the next.

    Args:
        elf: As for :func:`execute`.
        model: Put in the place of the program's model.
        runs: The bytes of each input, in order, of each run.
        emulator: As there.
        timeout: As there.
        into: As there.

    Raises:
        FirmwareError, ModelError, UsageError: As there, or the program does not run the model.
    """
    encoded = [[b64encode(each).decode() for each in inputs] for inputs in runs]
    settings = {"timeout": timeout, "invokes": 0, "emulator": emulator, "interpreter": into}
    answer = _answer(elf, settings, {"model": _encoded(model), "runs": encoded})
    return [tuple(map(b64decode, outputs)) for outputs in answer["outputs"]]


def _encoded(model: ModelLike | None) -> str | None:
    return None if model is None else b64encode(load(model).source).decode()


def _answer(elf: str | os.PathLike[str] | Image, settings: dict[str, Any], given: dict[str, Any]) -> Any:
    expect(elf, (str, os.PathLike, Image), "the path of an ELF file")
    if os.name != "posix":
        raise UsageError("a program is executed on Linux or macOS only, where a process can be given limits")
    image = elf if isinstance(elf, Image) else load_image(elf)
    if image.elf is None:
        raise FirmwareError(
            f"a file of format {image.format} cannot be executed here: name the ELF file", path=image.path
        )
    with _file_of(image.path, image.elf.data) as file:
        return _worker_answer(image.path or file, [file, json.dumps(settings | {"file": image.path})], settings, given)


@contextlib.contextmanager
def _file_of(path: str | None, data: memoryview) -> Iterator[str]:
    """Yield the path of a program's file: a temporary one for what cannot be read again."""
    if path is not None and os.path.isfile(path):
        yield path
        return
    with tempfile.NamedTemporaryFile(suffix=".elf") as file:
        file.write(data)
        file.flush()
        yield file.name


def _worker_answer(path: str, arguments: list[str], settings: dict[str, Any], given: dict[str, Any]) -> Any:
    timeout = settings["timeout"]
    lifeline, held = os.pipe()
    command = [*child_python("tflm_sim.extensions.firmware.emulation.worker"), *arguments, str(lifeline)]
    pipe = subprocess.PIPE
    worker = subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, pass_fds=[lifeline]
    )
    os.close(lifeline)
    try:
        output, errors = worker.communicate(json.dumps(given).encode(), timeout=_WALL_TIME_FACTOR * timeout)
    except subprocess.TimeoutExpired:
        raise FirmwareError(f"the emulator was stopped after {_WALL_TIME_FACTOR * timeout} s", path=path) from None
    finally:
        os.close(held)
        _end(worker)
    if worker.returncode == -signal.SIGXCPU:
        raise FirmwareError(
            f"the emulator was stopped after {timeout} s of the processor (a larger `timeout=` gives it more)",
            path=path,
        )
    line = output.decode("utf-8", "replace").strip().rpartition("\n")[2]
    if not line.startswith("{"):
        last = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise FirmwareError(f"the emulator failed on it: {last or f'signal {-worker.returncode}'}", path=path)
    answer = json.loads(line)
    if "usage" in answer:
        raise UsageError(answer["usage"])
    if "problem" in answer:
        raise FirmwareError(answer["problem"], path=path, offset=answer["offset"])
    return answer


def _end(worker: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
