"""One judgement: each question has the same answer from every verb, in text, JSON, exit code, file, pytest and Python.

The programs are compiled here; the model is the sample ``sine``, which needs 1,072 B with TFLM's greedy planner. Each
row is an answer that somebody acts on: yes, no, if, cannot tell.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import tflm_sim
from tflm_sim.checks.doubts import EXIT_CODES, Answer
from tflm_sim.cli import main

sys.path.insert(0, str(Path(__file__).parent))
import set_up_forms

MODEL = "sample:sine"
RUNTIME = "90b983c2b"
MADE = "MicroInterpreter it(GetModel(g_model), resolver, {}); chosen = it.AllocateTensors();"
ARENA = "alignas(16) static uint8_t pool[2000]; "
PLANNER = (
    "struct Own : MicroMemoryPlanner { int GetOffsetForBuffer(int, int *) override { return chosen; } }; "
    "static Own planner; "
)
OWN_PLANNER = f"{PLANNER}{ARENA}int main() {{ fill(); {MADE.format('MicroAllocator::Create(pool, 2000, &planner)')} }}"
TWO = "alignas(16) static uint8_t stays[1000], rest[100]; "


class Question(NamedTuple):
    """A program, the bytes of an arena that are asked about, and the answer."""

    source: str
    limit: int
    answer: Answer
    first_words: str


QUESTIONS = {
    "yes": Question(f"{ARENA}int main() {{ fill(); {MADE.format('pool, 2000')} }}", 1072, "yes", "yes: "),
    "no": Question(f"{ARENA}int main() {{ fill(); {MADE.format('pool, 2000')} }}", 1056, "no", "no: "),
    "an own planner": Question(
        OWN_PLANNER, 1984, "if", "yes, if its own planner (Own) plans no more than TFLM's linear one"
    ),
    "not registered": Question(f"{ARENA}int main() {{ {MADE.format('pool, 2000')} }}", 1984, "no", "no: not regis"),
}
"""By what they are about."""


@pytest.fixture(params=QUESTIONS)
def question(request: pytest.FixtureRequest) -> Question:
    return QUESTIONS[request.param]


@pytest.fixture
def program(question: Question, tmp_path: Path) -> str:
    return str(set_up_forms.program(tmp_path, question.source))


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(list(arguments))
    return code, capsys.readouterr().out


def test_every_verb_has_the_same_answer(question: Question, program: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, limit = EXIT_CODES[question.answer], str(question.limit)
    named = ("--firmware", program, "--runtime", RUNTIME)
    found, text = said(capsys, "check", MODEL, *named, "--limit", limit)
    assert (found, text.startswith(question.first_words)) == (code, True), text
    found, text = said(capsys, "check", MODEL, *named, "--limit", limit, "--json")
    assert (found, json.loads(text)["answer"]) == (code, question.answer)
    found, text = said(capsys, "firmware", program, "--model", MODEL, "--limit", limit, "--runtime", RUNTIME)
    begin, _, why = question.first_words.partition(": ")
    assert (found, text.startswith(begin), why in text) == (code, True, True), text
    found, text = said(capsys, "firmware", program, "--model", MODEL, "--limit", limit, "--runtime", RUNTIME, "--json")
    assert (found, json.loads(text)["verdicts"][0]["answer"]) == (code, question.answer)
    found, text = said(capsys, "size", MODEL, *named, "--arena-size", limit)
    assert (found, text.startswith(question.first_words)) == (code, True), text
    found, text = said(capsys, "size", MODEL, *named, "--arena-size", limit, "--json")
    assert (found, json.loads(text)["program"]["answer"]) == (code, question.answer)


def test_the_project_file_pytest_and_python_have_the_same_answer(
    question: Question,
    program: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = tflm_sim.check(MODEL, limit=question.limit, firmware=program, runtime=RUNTIME)
    assert (found.answer, found.exit_code) == (question.answer, EXIT_CODES[question.answer])
    project = tmp_path / "project"
    project.mkdir()
    shutil.copy(program, project / "app.elf")
    (project / "tflm-sim.toml").write_text(
        f"models = ['{MODEL}']\n[[firmware]]\nname = 'ours'\nfirmware = 'app.elf'\nruntime = '{RUNTIME}'\n"
        f"limit = '{question.limit}'\n",
        "utf-8",
    )
    (project / "test_ours.py").write_text(
        "import pytest\n"
        f"@pytest.mark.arena({MODEL!r}, firmware='app.elf', runtime={RUNTIME!r}, limit={question.limit})\n"
        "def test_it(): pass\n",
        "utf-8",
    )
    monkeypatch.chdir(project)
    code, text = said(capsys, "check", "--json")
    assert (code, json.loads(text)["answer"]) == (EXIT_CODES[question.answer], question.answer)
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tflm-sim.toml", "test_ours.py"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    passed = question.answer == "yes"
    assert ("2 passed" in done.stdout, "2 failed" in done.stdout) == (passed, not passed), done.stdout
    assert passed or done.stdout.count(f"\n{question.first_words}") == 2, done.stdout


def test_the_figure_is_the_same_in_every_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a program with two arenas each verb says both figures, and what they are together."""
    source = f"{TWO}int main() {{ fill(); {MADE.format('MicroAllocator::Create(stays, 1000, rest, 100)')} }}"
    program = str(set_up_forms.program(tmp_path, source))
    named = ("--firmware", program, "--runtime", RUNTIME)
    figures = []
    for arguments in (("size", MODEL, *named, "--json"), ("check", MODEL, *named, "--limit", "9000", "--json")):
        facts = json.loads(said(capsys, *arguments)[1])["program"]
        figures.append((facts["smallest_split_arenas"], facts["smallest_arena"]))
    row = json.loads(said(capsys, "firmware", program, "--runtime", RUNTIME, "--json")[1])["verdicts"][0]
    figures.append((row["smallest_split_arenas"], row["smallest_arena"]))
    expected = tflm_sim.simulate(MODEL, "cortex-m4", kernels="reference", runtime=RUNTIME, is_split=True).split
    assert expected is not None
    both = {"persistent": expected.persistent, "non_persistent": expected.non_persistent}
    assert figures == [(both, expected.persistent + expected.non_persistent)] * 3


def test_shrink_carries_what_a_figure_hangs_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = str(set_up_forms.program(tmp_path, OWN_PLANNER))
    _, text = said(capsys, "shrink", MODEL, "--firmware", program, "--time-limit", "1s", "--json")
    facts = json.loads(text)["program"]
    assert facts["answer"] == "if"
    assert "its own planner (Own) plans no more than TFLM's linear one" in facts["doubts"][0]["text"]
    first = said(capsys, "shrink", MODEL, "--firmware", program, "--time-limit", "1s")[1].splitlines()[0]
    assert ", if its own planner (Own) " in first
