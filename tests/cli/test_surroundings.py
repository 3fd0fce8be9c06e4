"""What surrounds the command line: closed pipes, full disks, hostile names, options that contradict each other."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.cli.verbs import VERBS
from tflm_sim.samples import sample_path

COMMANDS = [
    ["size", "sample:sine"],
    ["size", "sample:sine", "--jsonl"],
    ["trace", "sample:sine"],
    ["--version"],
    ["--help"],
    ["size", "--help"],
]


def tool(*argv: str, variables: Mapping[str, str] = {}, **streams: object) -> subprocess.CompletedProcess[str]:
    code = "import sys; from tflm_sim.cli import main; sys.exit(main())"
    # PYTHONUNBUFFERED hides what a buffer's last flush does.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [sys.executable, "-c", code, *argv],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**environment, "PYTHONPATH": str(Path(__file__).parents[2]), **variables},
        **streams,
    )


@pytest.mark.parametrize("argv", COMMANDS, ids=" ".join)
def test_a_pipe_that_nobody_reads_is_the_end_and_no_error(argv: list[str]) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    result = tool(*argv, stdout=write_end)
    os.close(write_end)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("argv", COMMANDS, ids=" ".join)
def test_a_full_disk_is_one_sentence(argv: list[str]) -> None:
    with open("/dev/full", "w") as full:
        result = tool(*argv, stdout=full)
    assert (result.returncode, result.stderr) == (2, "tflm-sim: output: No space left on device\n")


def test_without_stdout_there_is_still_an_exit_code() -> None:
    code = "import sys; from tflm_sim.cli import main; sys.exit(main())"
    argv = [sys.executable, "-c", code, "check", "sample:sine", "--limit", "200"]
    closed = ["sh", "-c", 'exec "$@" >&-', "sh", *argv]
    result = subprocess.run(closed, stderr=subprocess.PIPE, check=False)
    assert (result.returncode, result.stderr) == (1, b"")


def test_a_hostile_file_name_cannot_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "no\x1b[31mthere\n"]) == 3
    assert capsys.readouterr().err == "tflm-sim size: no\\x1b[31mthere\\x0a: No such file or directory\n"


@pytest.mark.parametrize("name", ["empty", "directory", "absent"])
def test_what_is_no_model_is_one_sentence(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "directory").mkdir()
    assert main(["size", str(tmp_path / name)]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"tflm-sim size: {tmp_path / name}: ")
    assert len(captured.err.splitlines()) == 1


@pytest.mark.parametrize("size", ["3GiB", "2GiB", "-1", "1.5", "", "1KB", "0x", "1e3"])
def test_a_size_that_is_none(size: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "sample:sine", f"--arena-size={size}"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_an_arena_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "sample:sine", "--arena-size", "0"]) == 1
    assert capsys.readouterr().out.splitlines()[0].startswith("no, 1,156 B are missing: 0 B is too small, ")


def test_jsonl_takes_no_arena_size(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "sample:sine", "--jsonl", "--arena-size", "100"]) == 2
    assert "--json" in capsys.readouterr().err


def test_check_never_speaks_of_less_than_nothing_to_spare(capsys: pytest.CaptureFixture[str]) -> None:
    reference = ["--target", "cortex-m4", "--kernels", "reference"]
    assert (
        main(["check", "sample:sine", "--limit", "1068", *reference]) == 0
    )  # the smallest arena, not a multiple of 16
    lines = capsys.readouterr().out.splitlines()
    assert (
        lines[0] == "yes: 1,068 B work, though the smallest multiple of 16 is 1,072 B; not named, so assumed: --library"
    )
    assert lines[1].startswith("for cortex-m4: ")


def test_what_the_terminal_cannot_encode_is_an_escape(tmp_path: Path) -> None:
    model = tmp_path / "模型.tflite"
    model.write_bytes(sample_path("sine").read_bytes())
    (tmp_path / "boot.log").write_text("温度\nAllocateTensors() failed\n", "utf-8")
    for encoding in ("ascii", "cp1252"):
        log = str(tmp_path / "boot.log")
        for argv in (["size", "--map", str(model)], ["size", str(model)], ["board", "read", log]):
            result = tool(*argv, variables={"PYTHONIOENCODING": encoding}, stdout=subprocess.PIPE)
            assert (result.returncode, result.stderr) == (0, "")
            assert "\\u6a21\\u578b" in result.stdout or "--map" in argv or "\\u6e29" in result.stdout


def test_the_bar_is_of_letters_that_a_pipe_on_windows_takes() -> None:
    argv = ["size", "sample:mobilenet_v1_025", "--target", "cortex-m4"]
    shown = {
        encoding: tool(*argv, variables={"PYTHONIOENCODING": encoding}, stdout=subprocess.PIPE).stdout
        for encoding in ("cp1252", "utf-8")
    }
    assert f"head {22 * '#'} 55,296 B  tail {10 * '#'} 26,980 B\n" in shown["cp1252"]
    assert shown["utf-8"] == shown["cp1252"].replace("#" * 22, "█" * 22).replace("l " + "#" * 10, "l " + "█" * 10)


def test_an_unforeseen_error_is_a_sentence_and_a_code_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tflm_sim.cli.check.judge", lambda *_, **__: 1 // 0)
    argv = ["check", "sample:sine", "--limit", "1K"]
    assert main(argv) == 70
    sentence = "an error in tflm-sim itself (ZeroDivisionError: integer division or modulo by zero)"
    assert capsys.readouterr().err == f"tflm-sim check: {sentence}; --debug shows where it comes from\n"
    assert main([*argv, "--debug"]) == 70
    assert capsys.readouterr().err.startswith("Traceback")


@pytest.mark.parametrize("verb", VERBS)
def test_every_help_says_its_exit_codes(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    text = capsys.readouterr().out
    assert "exit codes:" in text
    assert "  70   an error in tflm-sim itself" in text


def test_a_hostile_argument_cannot_forge_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "sample:sine", "--x\n::error::\x1b[31m"]) == 2
    said = "tflm-sim size: unknown option --x\\x0a::error::\\x1b[31m; see 'tflm-sim size --help'"
    assert capsys.readouterr().err.splitlines() == [said]


def test_verbs_print_through_the_terminals_functions_alone() -> None:
    folder = Path(__file__).parents[2] / "tflm_sim" / "cli"
    for path in sorted(folder.rglob("*.py")):
        if path.name in ("__init__.py", "terminal.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            assert not (isinstance(node, ast.Call) and ast.unparse(node.func) == "print"), f"{path.name} prints itself"
