"""A release is made of a tag: version, changelog, recipe and workflow have to agree."""

from __future__ import annotations

import hashlib
import io
import sys
import tarfile
from pathlib import Path

import pytest
from release import conda, tagged

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[3]
TEXT = "# Changes\n\n## 0.3.0 (2026-12-01)\n\n- New.\n\n## 0.2.0 (unreleased)\n\n- Old.\n\n## 0.1.0\n\n- First.\n"


def test_a_versions_part_of_the_changelog_ends_at_the_next() -> None:
    assert tagged.section(TEXT, "0.3.0") == "- New."
    assert tagged.section(TEXT, "0.1.0") == "- First."


@pytest.mark.parametrize(("tag", "version"), [("v0.3.0", "0.3.0"), ("v1.0.0rc2", "1.0.0rc2"), ("0.3.0", None)])
def test_the_tag_says_the_version(tag: str, version: str | None) -> None:
    assert tagged.version_of(tag) == version


def test_a_tag_that_names_no_version_ends_the_release(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tagged", "v9.9.9\nx"])
    assert tagged.main() == 1
    assert capsys.readouterr().err == "'v9.9.9\\nx' names no version; v0.3.0 or v0.3.0rc1 would\n"


def test_the_tree_becomes_the_release_of_its_tag(tmp_path: Path) -> None:
    pytest.importorskip("towncrier")
    for name in ("pyproject.toml", "CHANGELOG.md", "CITATION.cff", "tflm_sim/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "newsfragments").mkdir()
    (tmp_path / "newsfragments/+sizes.change.md").write_text("Structs of 2027 are smaller.")
    unreleased = "\n## 9.9.9 (unreleased)\n\n- Said before.\n\n## 0.3.0"
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text(changelog.read_text("utf-8").replace("\n## 0.3.0", unreleased, 1), "utf-8")
    tagged.set_version(tmp_path, "9.9.9")
    notes = tagged.write_changelog(tmp_path, "9.9.9")
    assert '\n__version__ = "9.9.9"\n' in (tmp_path / "tflm_sim/__init__.py").read_text("utf-8")
    for commit, day in (("f" * 40, "2030-01-01"), ("a" * 40, "2030-01-02")):
        tagged.set_citation(tmp_path, commit, day)
    citation = yaml.safe_load((tmp_path / "CITATION.cff").read_text("utf-8"))
    assert [str(citation[key]) for key in ("version", "date-released", "commit")] == ["9.9.9", "2030-01-02", "a" * 40]
    assert notes.index("- Structs of 2027 are smaller.") < notes.index("- Said before.")
    assert changelog.read_text("utf-8").count("## 9.9.9 (") == 1
    assert tagged.write_changelog(tmp_path, "9.9.9") == notes, "without news it stays as it is"


def test_the_recipe_is_of_the_distribution_and_of_what_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "tflm_sim-0.3.0.tar.gz"
    told = (ROOT / "pyproject.toml").read_bytes()
    with tarfile.open(path, "w:gz") as archive:
        entry = tarfile.TarInfo("tflm_sim-0.3.0/pyproject.toml")
        entry.size = len(told)
        archive.addfile(entry, io.BytesIO(told))
    made = conda.recipe(path)
    assert made["context"] == {"version": "0.3.0"}
    assert made["source"]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert made["requirements"]["host"] == ["python >=3.11", "pip", "setuptools >=77", "cffi >=1.16"]
    assert made["requirements"]["run"] == ["python >=3.11", "cffi >=1.16"]


def test_one_workflow_makes_all_of_the_tag_and_publishes_it_without_a_secret() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert "secrets." not in text
    assert set(jobs) == {"tests", "source", "wheel", "image", "pictures", "publish", "site", "changelog"}
    assert jobs["tests"]["uses"] == "./.github/workflows/nightly.yml"
    assert set(jobs["publish"]["needs"]) == {"tests", "source", "wheel", "image"}
    assert jobs["site"]["needs"] == jobs["changelog"]["needs"] == "publish"
    steps = "\n".join(step.get("run", "") for step in jobs["source"]["steps"])
    assert 'python tools release tagged "$TAG" > made/notes.md' in steps
    assert "python tools release conda dist/*.tar.gz" in steps
    attested = [name for name, job in jobs.items() if "attest-build-provenance" in str(job)]
    assert attested == ["image", "publish"]
    assert all(jobs[name]["permissions"]["attestations"] == "write" for name in attested)


def test_nothing_is_published_where_there_is_no_tag() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
    assert jobs["publish"]["if"] == "github.ref_type == 'tag'"
    pushing = [step for step in jobs["image"]["steps"] if "push" in str(step.get("id")) or "attest" in str(step)]
    assert [step["if"] for step in pushing] == ["github.ref_type == 'tag'"] * 2


def test_the_image_holds_the_package_and_starts_the_program() -> None:
    lines = (ROOT / "Containerfile").read_text("utf-8").splitlines()
    assert lines[-1] == 'ENTRYPOINT ["tflm-sim"]'
    assert "USER 65534" in lines
