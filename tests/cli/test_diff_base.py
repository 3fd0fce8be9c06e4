"""``diff --base``: a pull request's comment, a recorded event and a server that answers as GitHub's and GitLab's."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.cli import main
from tflm_sim.errors import UsageError
from tflm_sim.extensions.ci import cli_diff as module
from tflm_sim.extensions.ci.forge import COMMENT_MARK
from tflm_sim.extensions.ci.project_text import Review
from tflm_sim.samples import sample_path

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[2]
FILE = '[[firmware]]\nname = "doorbell"\ntarget = "cortex-m4"\nkernels = "reference"\nlimit = "20KiB"\n'


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose model grows from 1,072 to 22,784 bytes, with a second one that is new."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "tflm-sim.toml").write_text(f'models = ["*.tflite"]\n{FILE}', "utf-8")
    (folder / "kws.tflite").write_bytes(sample_path("sine").read_bytes())
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "before")
    (folder / "kws.tflite").write_bytes(sample_path("keyword_spotter").read_bytes())
    (folder / "new.tflite").write_bytes(sample_path("sine").read_bytes())
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "CI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(folder)
    return folder


TABLE = """\
### ❌ Tensor arenas: no: 1 of 2 does not fit, or grew; not named, so assumed: library

|  | model | firmware | before | after | change | limit |
| --- | --- | --- | ---: | ---: | ---: | ---: |
| ❌ | `kws.tflite` | `doorbell` | 1,072 B | 22,784 B | +21,712 B | 20,480 B |
| ✅ | `new.tflite` | `doorbell` | - | 1,072 B | new | 20,480 B |

**`kws.tflite` on `doorbell`**

- `no: needs 22,784 B (22.2 KiB), 2,304 B more than 20,480 B (20.0 KiB)`
"""


def test_before_and_after_stand_in_a_table_with_the_reason_and_a_picture(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "--base", "HEAD"]) == 1
    text = capsys.readouterr().out
    assert text.startswith(TABLE)
    moved = re.findall(r"^- (\+[\d,]+ B, .*)$", text, re.MULTILINE)
    assert len(moved) == 2
    assert "<summary>The arena, operator by operator</summary>\n\n```text\nkws.tflite: arena of 22,784 B" in text
    assert "- `doorbell`: `for cortex-m4: TFLM of 2026-08-20 (90b983c2b), reference`" in text
    assert git(repository, "worktree", "list").count("\n") == 0, "the other commit's files are gone"


def test_without_a_base_there_is_one_column(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "--markdown", "summary.md"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "nothing to compare with: give --base COMMIT; CI's environment names no pull request\n"
    lines = (repository / "summary.md").read_text("utf-8").splitlines()
    assert lines[2] == "|  | model | firmware | needs | limit |"
    assert lines[5] == "| ✅ | `new.tflite` | `doorbell` | 1,072 B | 20,480 B |"


def test_a_firmware_that_changed_is_compared_with_what_it_was(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "kws.tflite").write_bytes(sample_path("sine").read_bytes())
    path = repository / "tflm-sim.toml"
    path.write_text(path.read_text("utf-8").replace('"reference"', '"cmsis_nn"'), "utf-8")
    assert main(["diff", "--base", "HEAD"]) == 0
    text = capsys.readouterr().out
    assert "| ✅ | `kws.tflite` | `doorbell` | 1,072 B | 1,168 B | +96 B | 20,480 B |" in text
    assert "- `target.kernels.name: reference -> cmsis_nn`" in text


def test_a_model_that_is_gone_is_a_row_and_one_that_cannot_be_read_is_counted(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "kws.tflite").rename(repository / "other.tflite")
    (repository / "new.tflite").write_bytes(b"\x1c\0\0\0TFL3" + bytes(10))
    assert main(["diff", "--base", "HEAD"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("### ❌ Tensor arenas: no: 1 of 2 does not fit, or grew; 1 cannot be told; not named")
    assert "| ✅ | `kws.tflite` | `doorbell` | 1,072 B | - | gone | - |" in lines


def test_a_file_of_before_that_is_broken_is_not_used(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = (repository / "tflm-sim.toml").read_text("utf-8")
    (repository / "tflm-sim.toml").write_text("models = [", "utf-8")
    git(repository, "commit", "-q", "-m", "broken", "tflm-sim.toml")
    (repository / "tflm-sim.toml").write_text(good, "utf-8")
    assert main(["diff", "--base", "HEAD"]) == 1
    printed = capsys.readouterr()
    assert printed.out.startswith(TABLE)
    assert printed.err.startswith("the tflm-sim.toml of before is not used: Invalid value")


def test_the_first_three_rows_that_grew_or_are_not_good_have_a_picture_of_the_arena_they_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows: list[tuple[int, object, int | None]] = [
        (0, "m", None), (0, "m", 0), (0, "m", -16), (3, "m", None), (1, None, 16), (1, "other", 16), (0, "m", 1),
        (1, "m", None), (1, "m", -16), (0, "m", 16),
    ]  # fmt: skip
    reviews = [Review(SimpleNamespace(judged=row), difference=row[2]) for row in rows]  # type: ignore[arg-type]
    where = SimpleNamespace(planner="greedy", own_planner=False)
    figures = {"m": 16, "other": 32}

    def verdict(row: Any) -> Any:
        return SimpleNamespace(exit_code=row[0], model=row[1], figures=None, needed=16), where

    def picture(model: str, configuration: object, title: str) -> Any:
        return SimpleNamespace(
            size=SimpleNamespace(answer=SimpleNamespace(smallest_arena_multiple_of_16=figures[model]))
        )

    monkeypatch.setattr(module, "deciding", verdict)
    monkeypatch.setattr(module, "growth", lambda difference: difference)
    monkeypatch.setattr(module, "take_picture", picture)
    monkeypatch.setattr(module, "map_lines", lambda picture, width: [picture])
    assert [index for index, row in enumerate(module._with_pictures(reviews)) if row.picture] == [6, 7, 8]


def test_without_the_file_one_sentence_says_what_is_missing(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "tflm-sim.toml").unlink()
    assert main(["diff", "--base", "HEAD"]) == 2
    assert capsys.readouterr().err == (
        "tflm-sim diff: there is no tflm-sim.toml in this folder, which names the models and what they are held to\n"
    )


def test_strangers_names_stay_in_their_cells(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "a`|<b>```\n.tflite").write_bytes(sample_path("sine").read_bytes())
    assert main(["diff", "--base", "HEAD"]) == 1
    row = next(line for line in capsys.readouterr().out.splitlines() if "<b>" in line)
    assert row == "| ✅ | `a\\x60\\x7c<b>\\x60\\x60\\x60\\x0a.tflite` | `doorbell` | - | 1,072 B | new | 20,480 B |"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("", "give one model with two settings, or two models, or --base COMMIT"),
        ("--lite", "give one model with two settings, or two models, or --base COMMIT"),
        ("--json", "give one model with two settings, or two models, or --base COMMIT"),
        ("kws.tflite --base HEAD", "--base compares the models that tflm-sim.toml names; remove kws.tflite"),
        ("kws.tflite --markdown a.md", "--markdown compares the models that tflm-sim.toml names; remove kws.tflite"),
        ("--base HEAD --target esp32", "--base does not go with --target; remove one of them"),
        ("--between 2021-08-10 --and 2021-08-12", "give one model with two settings, or two models, or --base COMMIT"),
        ("--base HEAD --between 2021-08-10 --and 2021-08-12", "--base does not go with --between; remove one of them"),
        ("--base HEAD --lite", "--base does not go with --lite; remove one of them"),
        ("--base HEAD --json", "--base does not go with --json; remove one of them"),
    ],
)
def test_what_is_compared_is_named_or_is_in_the_file(
    words: str, sentence: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", *words.split()]) == 2
    assert capsys.readouterr().err == f"tflm-sim diff: {sentence}\n"


@pytest.mark.parametrize("commit", ["nothing", "--upload-pack=touch x"])
def test_a_base_that_is_none_is_one_sentence(commit: str, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", f"--base={commit}"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    if commit == "nothing":
        assert "nothing is no commit of this repository, nor can it be fetched from 'origin'" in said
    assert not (repository / "x").exists()


class Forge:
    """Answers as the API of GitHub and of GitLab does, and keeps the comments."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.asked: list[tuple[str, str]] = []
        self.tokens: set[str | None] = set()
        self.may_write = True

    def answer(self, method: str, path: str, body: str | None) -> tuple[int, Any]:
        """Return the status and the document for a request."""
        plain, _, query = path.partition("?")
        if plain.endswith("/user"):
            return 200, {"username": "sizes"}
        if method == "GET":
            page = int(dict(pair.split("=") for pair in query.split("&"))["page"])
            return 200, self.comments[(page - 1) * 100 : page * 100]
        if not self.may_write:
            return 403, {"message": "Resource not accessible by integration"}
        if method == "POST":
            author = {"type": "Bot", "username": "sizes"}
            self.comments.append({"id": 900 + len(self.comments), "user": author, "body": body})
            return 201, self.comments[-1]
        row = next(row for row in self.comments if plain.endswith(f"/{row['id']}"))
        row["body"] = body
        return 200, row


@pytest.fixture
def forge() -> Iterator[tuple[Forge, str]]:
    kept = Forge()

    class Handler(BaseHTTPRequestHandler):
        """Passes requests on."""

        def _any(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            kept.asked.append((self.command, self.path.partition("?")[0]))
            kept.tokens.add(self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN"))
            status, document = kept.answer(self.command, self.path, json.loads(data)["body"] if data else None)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(document).encode())

        do_GET = do_POST = do_PATCH = do_PUT = _any

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield kept, f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def github(repository: Path, api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the environment that GitHub's runner has for a pull request; the event has what a recorded one has of it."""
    event = repository.parent / "event.json"
    document = {
        "action": "synchronize",
        "number": 7,
        "pull_request": {
            "number": 7,
            "base": {"ref": "main", "sha": git(repository, "rev-parse", "HEAD")},
            "head": {"ref": "larger", "sha": "0" * 40, "repo": {"fork": False}},
        },
        "repository": {"full_name": "someone/doorbell"},
    }
    event.write_text(json.dumps(document), "utf-8")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(event))
    monkeypatch.setenv("GITHUB_API_URL", api)
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/doorbell")
    monkeypatch.setenv("GITHUB_TOKEN", "secret")


def test_a_pull_request_has_one_comment_that_is_kept_up_to_date(
    repository: Path, forge: tuple[Forge, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, api = forge
    stranger = {"id": 3, "user": {"type": "User", "login": "x"}, "body": f"{COMMENT_MARK}\nall is well"}
    kept.comments = [{"id": n, "user": {"type": "Bot"}, "body": "hello"} for n in range(100)] + [stranger]
    github(repository, api, monkeypatch)
    said = []
    for model in ("keyword_spotter", "keyword_spotter", "sine"):
        (repository / "kws.tflite").write_bytes(sample_path(model).read_bytes())
        assert main(["diff", "--comment"]) == (0 if model == "sine" else 1)
        said.append(capsys.readouterr().err)
    assert said == ["the comment is written\n", "the comment is up to date\n", "the comment is brought up to date\n"]
    assert len(kept.comments) == 102
    assert stranger["body"] == f"{COMMENT_MARK}\nall is well"
    assert kept.comments[-1]["body"].startswith(
        f"{COMMENT_MARK}\n### ✅ Tensor arenas: yes: all 2 fit; not named, so assumed: library\n"
    )
    assert {path for _, path in kept.asked} == {
        "/repos/someone/doorbell/issues/7/comments",
        "/repos/someone/doorbell/issues/comments/1001",
    }
    assert kept.tokens == {"Bearer secret"}


def test_a_merge_request_of_gitlab_has_it_too(
    repository: Path, forge: tuple[Forge, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, api = forge
    for name, value in {
        "CI_MERGE_REQUEST_IID": "5",
        "CI_PROJECT_ID": "77",
        "CI_API_V4_URL": f"{api}/api/v4",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": git(repository, "rev-parse", "HEAD"),
        "TFLM_SIM_TOKEN": "secret",
    }.items():
        monkeypatch.setenv(name, value)
    kept.comments = [{"id": 1, "author": {"username": "x"}, "body": f"{COMMENT_MARK}\nall is well"}]
    assert main(["diff", "--comment"]) == 1
    kept.comments[-1]["author"] = kept.comments[-1].pop("user")
    (repository / "kws.tflite").write_bytes(sample_path("sine").read_bytes())
    assert main(["diff", "--comment"]) == 0
    assert [row["body"].splitlines()[1] for row in kept.comments] == [
        "all is well",
        "### ✅ Tensor arenas: yes: all 2 fit; not named, so assumed: library",
    ]
    assert kept.asked[-1] == ("PUT", "/api/v4/projects/77/merge_requests/5/notes/901")
    assert kept.tokens == {"secret"}


def test_a_fork_may_not_write_and_has_the_summary(
    repository: Path, forge: tuple[Forge, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, api = forge
    kept.may_write = False
    github(repository, api, monkeypatch)
    assert main(["diff", "--comment", "--markdown", "summary.md"]) == 1
    assert (repository / "summary.md").read_text("utf-8").startswith(TABLE)
    said = capsys.readouterr().err
    assert said.startswith(f"no comment: POST {api}/repos/someone/doorbell/issues/7/comments is answered with 403")


def test_the_step_of_the_action_writes_the_summary_and_the_comment(
    repository: Path, forge: tuple[Forge, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, api = forge
    github(repository, api, monkeypatch)
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    step = next(row for row in action["runs"]["steps"] if row["name"] == "Compare")
    assert step["if"] == "inputs.models == ''"
    assert action["inputs"]["token"]["default"] == "${{ github.token }}"
    program = repository.parent / "bin" / "tflm-sim"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tflm_sim "$@"\n', "utf-8")
    program.chmod(0o755)
    environment = {
        **os.environ,
        "COMMENT": action["inputs"]["comment"]["default"],
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "GITHUB_STEP_SUMMARY": str(repository.parent / "summary.md"),
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "the comment is written\n")
    assert (repository.parent / "summary.md").read_text("utf-8").startswith(TABLE)
    assert kept.comments[0]["body"].startswith(f"{COMMENT_MARK}\n{TABLE}")


@pytest.mark.parametrize(
    ("words", "said", "sentence"),
    [
        (("fetch", "origin"), "a\nfatal: b\n", "git fetch: fatal: b"),
        (("-c", "core.hooksPath=/dev/null", "worktree", "add"), " \n", "git worktree: it fails"),
    ],
)
def test_what_git_says_last_is_why_it_failed(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str, sentence: str
) -> None:
    failed = SimpleNamespace(returncode=1, stderr=said)
    monkeypatch.setattr(module.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(UsageError, match=f"^{sentence}$"):
        module._git(*words)
