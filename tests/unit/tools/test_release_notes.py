"""A release is made of a tag: version, changelog and workflow have to agree."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from release import notes

import tflm_sim

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[3]
TEXT = "# Changes\n\n## 0.3.0 (2026-12-01)\n\n- New.\n\n## 0.2.0 (unreleased)\n\n- Old.\n\n## 0.1.0\n\n- First.\n"


def test_a_versions_part_of_the_changelog_ends_at_the_next() -> None:
    assert notes.section(TEXT, "0.3.0") == "- New."
    assert notes.section(TEXT, "0.1.0") == "- First."


def test_what_is_unreleased_or_missing_has_no_notes() -> None:
    assert notes.section(TEXT, "0.2.0") is None
    assert notes.section(TEXT, "0.4.0") is None


def test_a_tag_of_another_version_ends_the_release(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["notes", "v9.9.9"])
    assert notes.main() == 1
    assert capsys.readouterr().err == f"the tag is v9.9.9, the package's version {tflm_sim.__version__}\n"


def test_the_workflow_publishes_wheels_notes_and_an_image_without_a_secret() -> None:
    text = (ROOT / ".github/workflows/wheels.yml").read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert "secrets." not in text
    assert set(jobs["publish"]["needs"]) == {"wheel", "source"}
    steps = "\n".join(step.get("run", "") for step in jobs["publish"]["steps"])
    assert 'python tools release notes "$GITHUB_REF_NAME" > notes.md' in steps
    assert "--notes-file notes.md" in steps
    assert jobs["image"]["needs"] == ["publish"]
    assert jobs["image"]["permissions"] == {"contents": "read", "packages": "write"}


def test_the_image_holds_the_package_and_starts_the_program() -> None:
    lines = (ROOT / "Containerfile").read_text("utf-8").splitlines()
    assert lines[-1] == 'ENTRYPOINT ["tflm-sim"]'
    assert "USER 65534" in lines
