"""Every command that a shipped file names begins with a verb that there is."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tflm_sim.cli.verbs import VERBS

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (".github", "benchmarks", "docs", "firmware_stub", "notebooks", "tests", "tflm_sim", "tools")
HISTORY = {"CHANGELOG.md"}
"""Says what was, in the words of then."""
OURSELVES = {"test_named_verbs.py", "test_things.py", "test_check_project.py", "test_verbs.py", "test_options.py"}
"""Tests that name verbs that are none."""

COMMAND = re.compile(r"tflm-sim\s+(?!tflm-sim)([a-z][a-z-]*)(?![\w./-])")  # what goes on is a file's name
CALL = re.compile(r'(?<![\w.])main\(\s*\[\s*"([a-z][a-z-]*)"|"-m",\s*"tflm_sim",\s*"([a-z][a-z-]*)"')
PROSE = {"itself", "on", "compares", "does", "baseline", "gap"}
"""With what else a sentence goes on behind "tflm-sim"; "tflm-sim baseline" is the title of a schema, "tflm-sim gap" the
verb of the extension that CONTRIBUTING writes."""

GONE = {"bisect", "compare", "eon", "monitor", "replay-on", "review", "run"}
"""Verbs that became options of others, by names that mean nothing else here."""


@cache
def texts() -> dict[str, str]:
    """Return the text files of the repository by their paths."""
    found = {}
    files = [*ROOT.iterdir(), *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")))]
    for path in files:
        if path.is_file() and "__pycache__" not in path.parts and path.name not in HISTORY | OURSELVES:
            try:
                found[str(path.relative_to(ROOT))] = path.read_text("utf-8")
            except UnicodeDecodeError:
                continue
    return found


def test_a_command_begins_with_a_verb() -> None:
    found = [(path, word) for path, text in texts().items() for word in COMMAND.findall(text)]
    assert len(found) > 500
    assert [(path, word) for path, word in found if word not in VERBS and word not in PROSE] == []


def test_a_call_of_the_command_line_begins_with_a_verb() -> None:
    found = [
        (path, word)
        for path, text in texts().items()
        if "from tflm_sim.cli import" in text or '"tflm_sim"' in text
        for words in CALL.findall(text)
        for word in words
        if word
    ]
    assert len(found) > 200
    assert [(path, word) for path, word in found if word not in VERBS] == []


def test_no_page_or_message_names_a_verb_that_is_gone() -> None:
    gone = "|".join(sorted(GONE))
    pages = {path: text for path, text in texts().items() if path.endswith(".md")}
    messages = {path: text for path, text in texts().items() if re.fullmatch(r"tflm_sim/.*\.py", path)}
    assert {
        path: found for path, text in pages.items() if (found := re.findall(f"`((?:{gone})(?: (?!= )[^`]*)?)`", text))
    } == {}  # nor a key of the project's file: run = true
    assert {
        path: found
        for path, text in messages.items()
        if (found := re.findall(rf"(?<![(\[])'((?:{gone})(?: [^']*)?)'", text))
    } == {}  # not answer['run'], nor the extra of install_command('run')
