"""``firmware``: what is refused before a program is read."""

from __future__ import annotations

import pytest

from tflm_sim.cli import main


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--run --limit 9KiB", "--run does not go with --limit; remove one of them"),
        ("--run --arena-symbol a", "--run does not go with --arena-symbol; remove one of them"),
        ("--run --arena-address 4", "--run does not go with --arena-address; remove one of them"),
        ("--run --target esp32", "--run does not go with --target; remove one of them"),
        ("--run --library chirale", "--run does not go with --library; remove one of them"),
        ("--invoke 1", "--invoke needs --run, which executes the program"),
        ("--into 1", "--into N needs --model FILE, and N starts at 1"),
        ("--into -1 --model sample:sine", "--into N needs --model FILE, and N starts at 1"),
        ("--emulator qemu", "--emulator needs --run, which executes the program"),
        ("--time-limit 10m", "--time-limit needs --run, which executes the program"),
        ("--run --invoke -1", "--invoke -1: the number must be 0 to 1000"),
        ("--run --invoke 1001", "--invoke 1001: the number must be 0 to 1000"),
        ("--run --time-limit 999ms", "--time-limit must be 1s to 100000s"),
        ("--run --time-limit 100001s", "--time-limit must be 1s to 100000s"),
        ("--run --into -1 --model sample:sine", "--into N needs --model FILE, and N starts at 1"),
        ("--run --into 1", "--into N needs --model FILE, and N starts at 1"),
    ],
)
def test_what_does_not_go_together_is_refused_before_the_file_is_opened(
    options: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["firmware", "there-is-none.elf", *options.split()]) == 2
    assert capsys.readouterr().err == f"tflm-sim firmware: {sentence}\n"


@pytest.mark.parametrize("options", ["", "--run --invoke 1000 --time-limit 100000s --model sample:sine --into 1"])
def test_a_program_that_is_not_there_is_told(options: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["firmware", "there-is-none.elf", *options.split()]) == 3
    assert capsys.readouterr().err == "tflm-sim firmware: there-is-none.elf cannot be read: No such file or directory\n"
