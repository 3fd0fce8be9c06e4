"""The replay firmware on emulated boards and as a process: device and simulation agree, and disturbances are told."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from boards import board

from tflm_sim.cli import main
from tflm_sim.errors import BoardError
from tflm_sim.extensions.board.monitor import Monitor
from tflm_sim.extensions.board.session import Session
from tflm_sim.extensions.board.transport import open_port
from tflm_sim.logs.arena_report import ArenaReport

MODELS = {
    "posix": ("sample:sine", "sample:keyword_spotter", "sample:residual", "sample:streaming"),
    "mps2-an386": ("sample:keyword_spotter",),
    "mps2-an385": ("sample:sine",),
    "riscv-virt": ("sample:sine",),
}


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("firmware")


@contextmanager
def running(name: str, build: Path) -> Iterator[str]:
    if missing := board.missing_tools(name):
        pytest.skip(f"{', '.join(missing)} not installed")
    with board.running(name, build) as port:
        yield port


@pytest.mark.parametrize("name", MODELS)
def test_device_and_simulation_agree_on_every_offset_and_the_high_water_mark(
    name: str, build: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(name, build) as port:
        for model in MODELS[name]:
            target = "riscv32" if name == "riscv-virt" else "cortex-m4"
            code = main(["board", "replay", port, model, "--target", target])
            out = capsys.readouterr().out
            assert code == 0, out
            assert out.startswith(f"for {target} (not named, so assumed: --library")
            assert out.splitlines()[2].startswith(f"replay/{name}: ")
            assert "memory check: every byte kept its pattern" in out
            assert out.endswith("device and simulation agree on every offset and figure\n")


def test_an_arena_that_the_device_cannot_give_is_refused_before_anything_is_sent(
    build: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running("posix", build) as port:
        code = main(["board", "replay", port, "sample:sine", "--arena-size", "64MiB"])
        assert code == 2
        assert "for an arena of 67,108,864 B" in capsys.readouterr().err


def test_a_wrong_simulation_is_found_out(
    build: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host predicts with another planner constant: the device's mark must differ, and the verb must say so."""
    monkeypatch.setattr("tflm_sim.extensions.board.device_replay.PER_BUFFER_SIZE", 64)
    with running("posix", build) as port:
        code = main(["board", "replay", port, "sample:sine", "--arena-size", "4KiB"])
    captured = capsys.readouterr()
    assert code == 1
    assert "at the end: mark: simulation" in captured.err


def test_a_board_that_goes_away_in_the_middle_is_one_sentence(build: Path) -> None:
    with running("posix", build) as name, open_port(name) as port:
        session = Session(port)
        session.hello()
        session.ask("open", v=1, size=64, skew=0)
    with pytest.raises(BoardError):
        session.ask("tail", s=1, a=1, i=1)


def test_a_report_says_the_interpreter_stack_heap_reset_and_a_failure(tmp_path: Path) -> None:
    """On a Cortex-M4: one call uses 3,000 of 16,384 bytes of stack, one malloc 1,000 of 8,192 bytes of heap."""
    if missing := board.missing_tools("mps2-an386"):
        pytest.skip(f"{', '.join(missing)} not installed")
    elf = tmp_path / "report-mps2.elf"
    subprocess.run(["make", "-s", f"BUILD={tmp_path}", str(elf)], cwd=board.FIRMWARE, check=True)
    command = ["qemu-system-arm", "-M", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "stdio"]
    said = b""
    with subprocess.Popen([*command, "-kernel", str(elf)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as device:
        assert device.stdout is not None
        while said.count(b",end,") < 2 and (line := device.stdout.readline()):
            said += line
        device.terminate()
    monitor = Monitor()
    events = [*monitor.feed(said), *monitor.close()]
    works, fails = (event for event in events if isinstance(event, ArenaReport))
    assert dict(works.info) == {"interpreter": "wake word", "reset": "power on"}
    numbers = dict(works.numbers)
    assert 16_384 - 3_000 - 600 < numbers["stack_free"] < 16_384 - 3_000
    assert 8_192 - 1_000 - 100 < numbers["heap_least"] < 8_192 - 1_000
    assert (works.total, works.head, works.tail, works.failure) == (1_500, 1_000, 500, None)
    assert (fails.failure, fails.arena_size, fails.total) == (1, 2_048, None)
    assert dict(fails.info) == {"interpreter": "person detection"}
