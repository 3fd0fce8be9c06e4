"""Each page, and the help of each verb, answers what somebody asks who was not there.

``questions/PAGE.txt`` has a page's questions, each with the words of the page that answer it, an indented line for each
piece of them; ``questions/help/VERB.txt`` those for ``tflm-sim VERB --help``. A line with ``#`` says who asks.
"""

from pathlib import Path

import pytest

from tflm_sim.cli import build_parser
from tflm_sim.cli.verbs import VERBS

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = Path(__file__).parent / "questions"
PAGES = {
    "README": ROOT / "README.md",
    "CONTRIBUTING": ROOT / "CONTRIBUTING.md",
    "SECURITY": ROOT / "SECURITY.md",
    "firmware_stub/README": ROOT / "firmware_stub/README.md",
    "firmware_stub/PROTOCOL": ROOT / "firmware_stub/PROTOCOL.md",
    **{str(path.relative_to(ROOT / "docs").with_suffix("")): path for path in (ROOT / "docs").rglob("*.md")},
}


def answers(name: str) -> list[tuple[str, list[str]]]:
    """Return the questions of a file, each with the quotes under it, whose white space does not count."""
    found: list[tuple[str, list[str]]] = []
    for line in (QUESTIONS / f"{name}.txt").read_text("utf-8").splitlines():
        if line.startswith(" "):
            found[-1][1].append(" ".join(line.split()))
        elif line and not line.startswith("#"):
            found.append((line, []))
    return found


def check(name: str, text: str, least: int) -> None:
    """Fail unless a file has so many different questions, and the text their answers."""
    asked, text = answers(name), " ".join(text.split())
    assert len({question for question, _ in asked if question.endswith("?")}) == len(asked) >= least
    assert [f"{question} {quote}" for question, quotes in asked for quote in quotes or ["-"] if quote not in text] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_answers_twenty_questions_or_more(page: str) -> None:
    check(page, PAGES[page].read_text("utf-8"), 20)


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_answers_five_questions_or_more(
    verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit):
        build_parser(verb).parse_args([verb, "--help"])
    check(f"help/{verb}", capsys.readouterr().out, 5)


def test_every_file_of_questions_is_of_a_page_or_a_verb_and_its_quotes_are_no_single_words() -> None:
    names = {str(path.relative_to(QUESTIONS).with_suffix("")) for path in QUESTIONS.rglob("*.txt")}
    assert names == {*PAGES, *(f"help/{verb}" for verb in VERBS)}
    quotes = {quote for name in names for _, pieces in answers(name) for quote in pieces}
    assert {quote for quote in quotes if len(quote) < 15} == set()
