"""The frame of the command line: its list of verbs, what it says of an argument that it does not know, extensions."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.cli.verbs import VERBS

ROOT = Path(__file__).parents[2]


def tool(*argv: str, path: str = "", code: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, with another folder for imports, and code that runs behind it."""
    program = f"import sys\nfrom tflm_sim.cli import main\ntry:\n    sys.exit(main())\nfinally:\n    {code or 'pass'}"
    return subprocess.run(
        [sys.executable, "-c", program, *argv],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{path}", "COLUMNS": "80"},
    )


def test_the_list_of_verbs_has_a_line_for_each_below_its_heading(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    listing = capsys.readouterr().out.split("arena that TensorFlow Lite Micro needs.\n\n")[1].split("positional")[0]
    headings = [line for line in listing.splitlines() if line and not line.startswith(" ")]
    assert headings == ["size a model:", "a program, a board, a log:", "a better model:", "more:"]
    names = [line.split()[0] for line in listing.splitlines() if line.startswith("  ") and line[2] != " "]
    assert sorted(names) == sorted({*VERBS} - {"bug-report", "completion"})
    assert names[:2] == ["size", "check"]


@pytest.mark.parametrize("verb", [*VERBS, "board listen", "board replay", "list libraries"])
def test_a_help_is_no_wider_than_the_terminal_and_its_commands_can_be_pasted(
    verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = {}
    for width in (80, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        with pytest.raises(SystemExit, match="0"):
            main([*verb.split(), "--help", "all"])
        text = capsys.readouterr().out
        lines = [
            line for line in text.splitlines() if not line.lstrip().startswith('"')
        ]  # a message stays in one piece
        assert max(map(len, lines)) <= width
        pasted = re.sub(r"\\\n\s+", "", text.split("examples:\n")[1] if "examples:" in text else "")
        shown[width] = re.findall(r"^  tflm-sim .*", pasted, re.MULTILINE)
    assert shown[80] == shown[200]


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_help_and_the_version_of_the_whole_import_no_verb(option: str) -> None:
    done = tool(option, code="print(sorted(sys.modules), file=sys.stderr)")
    modules = ast.literal_eval(done.stderr)
    assert done.stdout
    assert {verb.module for verb in VERBS.values()} & {*modules} == set()
    assert [name for name in modules if name.startswith("tflm_sim.extensions.")] == []


@pytest.mark.parametrize(("words", "sentence"), [
    ("", "tflm-sim: no verb is given; see 'tflm-sim --help'"),
    ("chekc m --limit 1", "tflm-sim chekc: unknown verb 'chekc'; did you mean check?"),
    ("tell me", "tflm-sim tell: unknown verb 'tell'; see 'tflm-sim --help'"),
    ("--loud", "tflm-sim: unknown option --loud; see 'tflm-sim --help'"),
    ("size m --taget=esp32", "tflm-sim size: unknown option --taget; did you mean --target?"),
    ("size m --quietly", "tflm-sim size: unknown option --quietly; see 'tflm-sim size --help'"),
    ("size m --verbos", "tflm-sim size: unknown option --verbos; see 'tflm-sim size --help'"),
    ("--vesion", "tflm-sim: unknown option --vesion; did you mean --version?"),
    ("size m -q", "tflm-sim size: unknown option -q; see 'tflm-sim size --help'"),
    ("explain a b", "tflm-sim explain: 'b' is one argument too many; see 'tflm-sim explain --help'"),
    ("size", "tflm-sim size: no model is given; only with --firmware APP.elf --executed can it be left out"),
    ("size --bord pico", "tflm-sim size: unknown option --bord; did you mean --board?"),
    ("size m --limit 64KiB", "tflm-sim size: unknown option --limit; did you mean --arena-size?"),
    ("check m --arena-size=64KiB", "tflm-sim check: unknown option --arena-size; did you mean --limit?"),
    ("firmware app.elf --executed", "tflm-sim firmware: unknown option --executed; did you mean --run?"),
    ("size m --board pico --board pico2",
     "tflm-sim size: --board is given twice, and 'tflm-sim size' takes one; for several: --boards A,B; see 'tflm-sim "
     "size --help'"),
    ("size m --board", "tflm-sim size: argument --board: expected one argument; see 'tflm-sim size --help'"),
])  # fmt: skip
def test_an_argument_that_is_not_understood_is_a_line_with_the_nearest_name(
    words: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"{sentence}\n")


MINE = '''
"""An extension in one file: a verb, an option of size, and a part of its document."""

from tflm_sim.cli.options import add_verb
from tflm_sim.cli.terminal import say
from tflm_sim.registry import DocumentPart, Extension, Verb

EXTENSION = Extension(
    name="mine",
    verbs={"greet": Verb("mine", "say hello", "of mine"), "size": Verb("nowhere", "take size over", "of mine")},
    additions={"size": "mine"},
    parts={"flash": DocumentPart(("SizeDocument",), "str", "mine:flash_lines", "What the model takes of the flash.")},
)


def register(subparsers):
    parser = add_verb(subparsers, "greet", "tflm-sim greet world", about="Use it in the morning.")
    parser.add_argument("whom")


def run(args):
    say(f"hello {args.whom}")
    return 0


def add_options(verb, parser):
    parser.add_argument("--flash", action="store_true", help="say also what the model takes of the flash")


def answer(verb, args):
    return None


def parts(verb, args, model, configuration):
    return {"flash": f"{len(model.source):,} B"} if args.flash else {}


def flash_lines(flash):
    return [f"in flash: {flash}"]
'''


def installing(folder: Path, module: str, text: str) -> str:
    """Return the folder, for imports, with an extension of somebody else in one module, as pip installs it."""
    (folder / f"{module}.py").write_text(text, "utf-8")
    facts = folder / f"{module}-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", "utf-8")
    (facts / "entry_points.txt").write_text(f"[tflm_sim.extensions]\n{module} = {module}:EXTENSION\n", "utf-8")
    return str(folder)


@pytest.fixture
def installed(tmp_path: Path) -> str:
    return installing(tmp_path, "mine", MINE)


def test_the_extension_that_contributing_shows_runs(tmp_path: Path) -> None:
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    block = contributing.split("in one file `tflm_gap.py`:\n\n")[1].split("\n\nand in its `pyproject.toml`")[0]
    path = installing(tmp_path, "tflm_gap", textwrap.dedent(block))
    assert tool("gap", "sample:sine", "--target", "cortex-m4", path=path).stdout == "0 B\n"
    assert "print the bytes of the head that the plan leaves unused" in tool("--help", path=path).stdout


def test_an_extension_of_somebody_else_adds_a_verb_an_option_and_a_part_of_a_document(installed: str) -> None:
    assert tool("greet", "world", path=installed).stdout == "hello world\n"
    assert tool("greet", "world").returncode == 2
    told = tool("size", "sample:sine", "--flash", path=installed)
    assert (told.returncode, told.stdout.splitlines()[-1]) == (0, "in flash: 2,136 B"), told.stderr
    document = json.loads(tool("size", "sample:sine", "--flash", "--json", path=installed).stdout)
    assert document["flash"] == "2,136 B"
    assert "flash" not in json.loads(tool("size", "sample:sine", "--json", path=installed).stdout)


def test_an_extension_of_somebody_else_stands_in_the_help_and_takes_nothing_of_ours(installed: str) -> None:
    listing = tool("--help", path=installed).stdout
    assert listing.split("\nof mine:\n")[1].splitlines()[0].split() == ["greet", "say", "hello"]
    assert "take size over" not in listing
    assert "--flash" in tool("size", "--help", path=installed).stdout
    assert tool("greet", "--help", path=installed).stdout.splitlines()[2:4] == ["Say hello.", ""]


def test_an_extension_of_somebody_else_is_asked_only_where_something_is_unknown(installed: str) -> None:
    code = "print('mine' in sys.modules)"
    assert tool("size", "sample:sine", "--json", path=installed, code=code).stdout.endswith("\nFalse\n")
    assert tool("size", "sample:sine", "--flash", path=installed, code=code).stdout.endswith("\nTrue\n")


def test_an_extension_that_cannot_be_loaded_is_named(installed: str) -> None:
    Path(installed, "mine.py").write_text("1 / 0", "utf-8")
    done = tool("greet", "world", path=installed)
    sentence = "the extension 'mine' of mine cannot be loaded: ZeroDivisionError: division by zero"
    assert (done.returncode, done.stderr) == (2, f"tflm-sim greet: {sentence}\n")
    assert tool("size", "sample:sine", path=installed).returncode == 0
