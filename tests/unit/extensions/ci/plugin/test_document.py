"""``docs/testing_with_pytest.md``: its test file passes, its failure looks as shown, its action input names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tflm_sim.extensions.ci.pytest_plugin.checker  # noqa: F401  (pytester forgets what is imported inside of a run)
from tflm_sim.samples import sample_path

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[5]
TEXT = (ROOT / "docs" / "testing_with_pytest.md").read_text("utf-8")
PLUGIN = ("-p", "tflm_sim.extensions.ci.pytest_plugin", "-p", "no:cacheprovider")


@pytest.fixture(autouse=True)
def _folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (pytester.path / "keyword_spotter.tflite").write_bytes(sample_path("keyword_spotter").read_bytes())


def test_the_documents_tests_pass(pytester: pytest.Pytester) -> None:
    ((name, code),) = re.findall(r'```python title="(\S+)"\n(.*?)```', TEXT, re.DOTALL)
    (pytester.path / name).write_text(code, "utf-8")
    pytester.runpytest_inprocess(*PLUGIN, "--arena-update-baseline").assert_outcomes(passed=3)
    assert (pytester.path / "arena_sizes.json").exists()
    pytester.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=3)


def test_the_failure_that_it_shows(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.arena(model="keyword_spotter.tflite")
        def test_alive(arena):
            arena.assert_alive("input", during=1)
        """
    )
    shown = re.findall(r"```\n(tensor 0.*?)```", TEXT, re.DOTALL)[0].splitlines()
    first = shown[0].removesuffix("...")
    result = pytester.runpytest_inprocess(*PLUGIN)
    result.stdout.fnmatch_lines([f"*{first}*", *(f"*{glob(line)}" for line in shown[1:])])


def glob(line: str) -> str:
    return line.replace("[", "[[]")


def test_the_inputs_of_the_action_exist() -> None:
    step = next(block for block in TEXT.split("```yaml\n") if block.startswith("- uses: ./tflm_sim\n"))
    used = set(re.findall(r"^    ([\w-]+):", step.split("```")[0], re.MULTILINE))
    assert used == {"models", "target", "limit", "baseline"}
    declared = set(re.findall(r"^  ([\w-]+):$", (ROOT / "action.yml").read_text("utf-8"), re.MULTILINE))
    assert used <= declared
