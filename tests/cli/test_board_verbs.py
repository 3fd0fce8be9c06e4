"""``tflm-sim explain`` and ``board listen``, ``read``, ``replay``, ``ports``: outputs and exit codes."""

from __future__ import annotations

import io
import json
import socket
import subprocess
import sys
import threading
from pathlib import Path
from unittest.mock import Mock

import pytest

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.cli import main
from tflm_sim.cli.options import load_custom_ops
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import UsageError
from tflm_sim.extensions.board import cli_replay
from tflm_sim.extensions.board.link_events import Hello
from tflm_sim.extensions.board.replay import Mismatch, ReplayOutcome, ReplayScript
from tflm_sim.extensions.board.transport import SerialPort, open_port
from tflm_sim.model.load import load
from tflm_sim.recorded import CATEGORIES
from tflm_sim.targets.presets import preset

LOGS = Path(__file__).parents[1] / "unit" / "logs" / "recorded"


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(argv)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def simulated(*, arena_size: int = 1 << 20, interpreter: str = "plain") -> Simulation:
    config = Configuration(preset("cortex-m4"), interpreter)
    return simulate(load("sample:sine"), config, arena_size=arena_size)


def recording_log(simulation: Simulation) -> str:
    """What a RecordingMicroInterpreter prints for a simulation."""
    mark = "[RecordingMicroAllocator]"
    rows = [("total", simulation.arena_used_bytes), ("head", simulation.head_bytes), ("tail", simulation.tail_bytes)]
    lines = [f"{mark} Arena allocation {name} {size} bytes" for name, size in rows]
    for category, recorded in zip(CATEGORIES, simulation.recorded.values(), strict=False):
        if recorded.used:
            lines.append(
                f"{mark} '{category.recording_title}' used {recorded.used} bytes with alignment overhead "
                f"(requested {recorded.requested} bytes for {recorded.count} {category.recording_unit})"
            )
    return "\r\n".join(lines) + "\r\n"


# explain


def test_a_log_is_explained_with_the_least_arena(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "explain", str(LOGS / "esp32s3_idf_reboot_loop.log"))
    assert code == 1
    assert out.startswith("line 5 (2 times): the head (memory plan or scratch-request table) does not fit")
    assert "65,536 B (64.0 KiB) given, at least 108,380 B (105.8 KiB) needed" in out  # 65536 + 42844


def test_a_pasted_line_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    line = "Failed to resize buffer. Requested: 19440, available 11876, missing: 7564"
    code, out, _ = run(capsys, "explain", line, "--arena-size", "26080")
    assert code == 1
    assert "26,080 B (25.5 KiB) given, at least 33,644 B (32.9 KiB) needed" in out


@pytest.mark.parametrize("arena_size", [100, 500, 700, 900])
def test_with_the_model_the_log_of_a_small_arena_gives_the_place_and_the_smallest_arena(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arena_size: int
) -> None:
    simulation = simulated(arena_size=arena_size)
    (tmp_path / "boot.log").write_text("\r\n".join([*simulation.log, "AllocateTensors() failed"]) + "\r\n")
    code, out, _ = run(capsys, "explain", str(tmp_path / "boot.log"), "--model", "sample:sine", "--json")
    assert code == 1
    (failure,) = json.loads(out)["failures"]
    exact = failure["exact"]
    assert exact["contradiction"] == ""
    assert simulate_log(exact["arena_size"]) == simulation.log
    assert exact["smallest"]["size"] == smallest_arena(load("sample:sine"), preset("cortex-m4")).size


def simulate_log(arena_size: int) -> tuple[str, ...]:
    return simulated(arena_size=arena_size).log


def test_a_log_of_another_model_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    line = "Failed to resize buffer. Requested: 19440, available 11876, missing: 7564"
    code, out, _ = run(capsys, "explain", line, "--model", "sample:sine")
    assert code == 1
    assert "but       " in out
    assert "another model, kernel library version, interpreter or TFLM version" in out or "does not fail" in out


def test_standard_input_is_read() -> None:
    text = b"Didn't find op for builtin opcode 'SOFTMAX'\n"
    done = subprocess.run(
        [sys.executable, "-m", "tflm_sim", "explain", "-"], input=text, capture_output=True, check=False
    )
    assert done.returncode == 1
    assert b"Add SOFTMAX to the op resolver" in done.stdout


def test_a_log_without_tflm_and_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "explain", "hello world of wifi")
    assert (code, out.splitlines()[0].partition(",")[0]) == (3, "nothing of TensorFlow Lite Micro is in this log")
    code, _, err = run(capsys, "explain", "nope.log")
    assert (code, err) == (2, "tflm-sim explain: there is no file 'nope.log'; put a line of a log in quotes\n")


# replay: a recorded run


def test_a_log_without_a_report_says_so_and_proves_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("wifi up\n")
    code, out, _ = run(capsys, "board", "read", str(tmp_path / "run.log"))
    assert code == 3
    assert out.splitlines() == ["wifi up", "tflm-sim| no report and no failure of TensorFlow Lite Micro is in this log"]
    (tmp_path / "run.log").write_text("AllocateTensors() failed\n")
    assert run(capsys, "board", "read", str(tmp_path / "run.log"))[0] == 0


def test_a_recorded_report_that_agrees_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("boot\r\n" + recording_log(simulated(interpreter="recording")) + "done\r\n")
    code, out, _ = run(capsys, "board", "read", str(tmp_path / "run.log"), "--model", "sample:sine")
    assert code == 0
    assert out.splitlines()[:3] == [
        "tflm-sim| for cortex-m4 (not named, so assumed: --target, --library, --kernels)",
        "tflm-sim| TFLM of 2026-08-20 (90b983c2b), cmsis_nn@4ab83cc (dsp)",
        "boot",
    ]
    assert "tflm-sim|   equal: all 24 figures" in out  # total, head, tail and seven categories of three


def test_a_recorded_report_that_differs_names_the_category(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    simulation = simulated(interpreter="recording")
    count = simulation.recorded["kTfLiteEvalTensorData"].count
    text = recording_log(simulation).replace(f"for {count} allocations", f"for {count + 1} allocations", 1)
    (tmp_path / "run.log").write_text(text)
    code, out, _ = run(capsys, "board", "read", str(tmp_path / "run.log"), "--model", "sample:sine", "--quiet")
    assert code == 1
    assert f"kTfLiteEvalTensorData count: device {count + 1}, simulation {count} (-1)" in out


def test_a_damaged_report_is_not_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = recording_log(simulated(interpreter="recording")).replace("Arena allocation head", "Arena alloc", 1)
    (tmp_path / "run.log").write_text(text)
    code, out, _ = run(capsys, "board", "read", str(tmp_path / "run.log"), "--model", "sample:sine", "--quiet")
    assert code == 1
    assert "not compared: the report is damaged" in out


def test_a_record_of_another_model_is_refused_by_its_hash(capsys: pytest.CaptureFixture[str]) -> None:
    log = str(LOGS / "esp32_mcufit_idf.log")
    code, out, _ = run(capsys, "board", "read", log, "--model", "sample:sine", "--target", "esp32", "--quiet")
    assert code == 1
    assert out.count("not compared: it is about another model: SHA-256") == 4


def test_a_report_that_comes_twice_is_counted_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(recording_log(simulated(interpreter="recording")) * 2)
    _, out, _ = run(capsys, "board", "read", str(tmp_path / "run.log"), "--quiet")
    assert "the same as the report at line 1, 2 times by now" in out


def test_a_file_that_cannot_be_read_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "board", "read", "nope.log")
    assert (code, err) == (2, "tflm-sim board: nope.log cannot be read: No such file or directory\n")


# monitor


def test_the_monitor_compares_live_and_records(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = recording_log(simulated(interpreter="recording")).encode()
    is_open = threading.Event()  # pyserial drops what arrives while it opens the port.

    def opened(name: str, *, baud: int) -> SerialPort:
        port = open_port(name, baud=baud)
        is_open.set()
        return port

    monkeypatch.setattr("tflm_sim.extensions.board.cli_listen.open_port", opened)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def speak() -> None:
            peer, _ = server.accept()
            is_open.wait(60)
            for start in range(0, len(text), 7):
                peer.sendall(text[start : start + 7])
            peer.close()

        speaker = threading.Thread(target=speak)
        speaker.start()
        port = f"socket://127.0.0.1:{server.getsockname()[1]}"
        record = tmp_path / "run.log"
        code, out, err = run(
            capsys, "board", "listen", port, "--model", "sample:sine", "--record", str(record), "--once"
        )
        speaker.join()
    assert code == 5
    assert "the connection is lost" in err
    assert "equal: all 24 figures" in out
    assert record.read_bytes() == text


def test_a_recording_is_never_overwritten(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("precious")
    code, _, err = run(capsys, "board", "listen", "loop://", "--record", str(tmp_path / "run.log"))
    assert code == 2
    assert err.endswith("run.log exists; name another file to record to\n")


def test_a_port_that_is_not_there_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "board", "listen", "/dev/nope")
    assert (code, err) == (
        5,
        "tflm-sim board: /dev/nope: there is no such port; 'tflm-sim board ports' lists the ones there are\n",
    )


# replay and ports


def test_a_port_without_the_firmware_is_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tflm_sim.extensions.board.session.ATTEMPTS", 1)
    code, _, err = run(capsys, "board", "replay", "loop://", "sample:sine")
    assert code == 5
    assert "no answer: is the replay firmware on the board" in err


def test_the_board_replays_the_configuration_that_the_command_line_names(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """--custom-ops and --variable-arena move bytes: the script must be that of the whole configuration."""
    own = tmp_path / "own.py"
    own.write_text(
        "from tflm_sim import OpModel, Persistent\n"
        "def init(node):\n    yield Persistent(800, 'own')\n"
        "OWN = OpModel('FULLY_CONNECTED', init=init)\n"
    )
    scripts: list[ReplayScript] = []

    def collect(script: ReplayScript, ask: object) -> ReplayOutcome:
        scripts.append(script)
        return ReplayOutcome((), 0, 0, 0, 0, 0, -1)

    monkeypatch.setattr("tflm_sim.extensions.board.cli_replay.open_port", lambda *_, **__: io.BytesIO())
    monkeypatch.setattr("tflm_sim.extensions.board.cli_replay.Session", Mock())
    monkeypatch.setattr("tflm_sim.extensions.board.cli_replay._check_room", Mock())
    monkeypatch.setattr("tflm_sim.extensions.board.cli_replay._say", Mock())
    monkeypatch.setattr("tflm_sim.extensions.board.cli_replay.run_script", collect)
    run(capsys, "board", "replay", "loop://", "sample:sine", "--custom-ops", str(own))
    run(capsys, "board", "replay", "loop://", "sample:streaming", "--variable-arena", "1024")
    sine, streaming = (load(f"sample:{name}") for name in ("sine", "streaming"))
    kernels = load_custom_ops(str(own))
    assert scripts[0].arena_size == smallest_arena(sine, "cortex-m4", custom_ops=kernels).multiple_of_16
    assert scripts[0].arena_size > 3 * 800  # three layers
    assert scripts[1].arena_size == smallest_arena(streaming, "cortex-m4", variable_arena=1024).multiple_of_16


def test_a_board_replays_what_fills_all_of_its_room_and_plans_as_many_buffers_as_it_can() -> None:
    hello = Hello(1, -1, "x", 1072, 5)
    cli_replay._check_room(hello, ReplayScript((), 0, 0, 0, 1072, 5))
    with pytest.raises(UsageError, match="x has 1,072 B for an arena of 1,073 B"):
        cli_replay._check_room(hello, ReplayScript((), 0, 0, 0, 1073, 5))
    with pytest.raises(UsageError, match="x plans up to 5 buffers, the model has 6"):
        cli_replay._check_room(hello, ReplayScript((), 0, 0, 0, 1072, 6))


def test_what_a_board_did_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    told = Hello(1, 0, "app", 1024, 4), ReplayScript((), 0, 0, 0, 1024, 4)
    cli_replay._say(*told, ReplayOutcome((), 7, 1200, 3400, 4500, 0, -1))
    assert capsys.readouterr().out.splitlines() == [
        "app: 7 of 0 steps in an arena of 1,024 B",
        "head 1,200, tail 3,400, high-water mark 4,500 bytes",
        "memory check: every byte kept its pattern while its allocation was alive",
        "device and simulation agree on every offset and figure",
    ]
    mismatches = tuple(Mismatch(index, "head", "5", "6") for index in (-1, 3))
    cli_replay._say(*told, ReplayOutcome(mismatches, 7, 1200, 3400, 4500, 1500, 16))
    printed = capsys.readouterr()
    assert printed.out.splitlines()[2:] == ["memory check: 1,500 bytes were overwritten while in use, the first at 16"]
    assert printed.err.splitlines() == [f"{where}: head: simulation 5, device 6" for where in ("at the end", "step 3")]


def test_board_alone_names_its_four_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["board"]) == 2
    assert "required: COMMAND" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["board", "--help"])
    said = capsys.readouterr().out
    for command in ("listen", "read", "replay", "ports"):
        assert f"\n    {command} " in said
        assert f"\n  tflm-sim board {command}" in said


def test_ports_are_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "board", "ports", "--json")
    assert code == (0 if json.loads(out) else 1)


def test_replay_says_everything_as_json_lines(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(recording_log(simulated(interpreter="recording")) + "AllocateTensors() failed\n")
    code, out, _ = run(capsys, "board", "read", str(tmp_path / "run.log"), "--model", "sample:sine", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert all(row["schema_version"] == 1 for row in rows if row["event"] != "Status")
    (report,) = [row for row in rows if row["event"] == "AllocationReport"]
    assert report["comparison"]["is_equal"] is True
    assert [row["what"] for row in rows if row["event"] == "Diagnosis"] == ["AllocateTensors failed"]


def test_a_torn_report_makes_the_exit_code_non_zero(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from tflm_sim.extensions.board.framing import encode_frame

    begin = encode_frame(0, "begin", {"v": 1, "r": 1, "arena": 1072, "skew": 0})
    (tmp_path / "run.log").write_bytes(begin)
    code, out, _ = run(capsys, "board", "read", str(tmp_path / "run.log"))
    assert code == 3
    assert "report 1 is torn and dropped: the log ends" in out


def test_a_log_that_powershell_wrote_is_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = "boot\r\nFailed to resize buffer. Requested: 33488, available 20472, missing: 13016\r\n"
    (tmp_path / "run.log").write_bytes(text.encode("utf-16"))
    for verb in (["board", "read"], ["explain"]):
        assert "13,016 B (12.7 KiB) missing" in run(capsys, *verb, str(tmp_path / "run.log"))[1]


def test_why_figures_differ_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    used = simulate(load("sample:keyword_spotter"), "esp32-s3").arena_used_bytes
    (tmp_path / "run.log").write_text(f"arena_used_bytes() = {used}\n")
    code, out, _ = run(capsys, "board", "read", str(tmp_path / "run.log"), "--model", "sample:keyword_spotter")
    assert code == 1
    assert "why: equal with --target esp32-s3: all 1 figures" in out
