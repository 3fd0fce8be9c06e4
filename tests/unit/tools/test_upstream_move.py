"""``tools upstream move`` beside servers of its own: what is newer is found, told once, and brought up to date."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import yaml
from upstream import move
from upstream.checkout_move import Head, head_of, with_reference
from upstream.upstreams import UPSTREAMS, Unreachable, Upstream, ask, is_moved, version_key
from upstream.wheel_move import REFERENCE, release_of, with_wheel

from tflm_sim.targets.reference import LAST_COUNTED, REFERENCE_SNAPSHOT, WHEEL_SNAPSHOT

ROOT = Path(__file__).resolve().parents[3]
KNOWN = {upstream.name: upstream.known for upstream in UPSTREAMS}
ESP_NN, CMSIS_NN, ESPHOME, CHIRALE = (
    "espressif/esp-nn",
    "ARM-software/CMSIS-NN",
    "esphome",
    "spaziochirale/Chirale_TensorFlowLite",
)


class Servers(ThreadingHTTPServer):
    """PyPI, the registry of components and GitHub's issues (mutable): what they publish, and what they were told."""

    components: dict[str, list[str]]
    packages: dict[str, list[str]]
    issues: list[dict[str, Any]]
    tokens: set[str | None]


class Handler(BaseHTTPRequestHandler):
    server: Servers

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path.startswith("/api/components/"):
            versions = self.server.components.get(path.removeprefix("/api/components/"))
            self.answer({"versions": [{"version": one} for one in versions]} if versions else None)
        elif path.startswith("/simple/"):
            name = path.split("/")[2]
            files = "".join(f'<a href="/{name}-{one}-py3-none-any.whl">x</a>' for one in self.server.packages[name])
            self.answer(f"<!DOCTYPE html><html><body>{files}</body></html>")
        else:
            assert self.path == "/repos/someone/tflm_sim/issues?state=open&labels=upstream%20moved"
            self.answer(self.server.issues)

    def do_POST(self) -> None:
        self.server.issues.append({"number": 41, **self.told()})
        self.answer(self.server.issues[-1])

    def do_PATCH(self) -> None:
        assert self.path == "/repos/someone/tflm_sim/issues/41"
        self.server.issues[0] |= self.told()
        self.answer(self.server.issues[0])

    def told(self) -> dict[str, Any]:
        self.server.tokens.add(self.headers["Authorization"])
        content: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return content

    def answer(self, document: object) -> None:
        text = document if isinstance(document, str) else json.dumps(document)
        self.send_response(404 if document is None else 200)
        self.send_header("Content-Type", "text/html" if isinstance(document, str) else "application/json")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def committed(folder: Path, *tags: str) -> str:
    """Make a repository of one commit, and return it."""
    folder.mkdir(parents=True)
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (
        ["init", "-q"],
        [*identity, "commit", "-qm", "one", "--allow-empty"],
        *(["tag", tag] for tag in tags),
    ):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    return subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Servers]:
    """Servers that publish what is known, and nothing else."""
    server = Servers(("127.0.0.1", 0), Handler)
    server.components = {ESP_NN: ["1.0.0", KNOWN[ESP_NN], "1.4.2"]}
    server.packages = {ESPHOME: [KNOWN[ESPHOME], "2024.7.3"]}
    server.issues, server.tokens = [], set()
    committed(tmp_path / CMSIS_NN, "v6.0.0", KNOWN[CMSIS_NN])
    address = f"http://127.0.0.1:{server.server_port}"
    for name, value in {
        "PIP_INDEX_URL": f"{address}/simple",
        "PIP_EXTRA_INDEX_URL": "",
        "PIP_FIND_LINKS": "",
        "PIP_CONFIG_FILE": "/dev/null",
        "IDF_COMPONENT_REGISTRY_URL": address,
        "TFLM_SIM_GIT_SERVER": str(tmp_path),
        "GITHUB_API_URL": address,
        "GITHUB_REPOSITORY": "someone/tflm_sim",
        "GITHUB_TOKEN": "secret",
    }.items():
        monkeypatch.setenv(name, value)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def looked(*names: str) -> int:
    return move.main(["--issue", *(word for name in names for word in ("--only", name))])


def test_where_all_is_known_nothing_is_told(servers: Servers, capsys: pytest.CaptureFixture[str]) -> None:
    assert looked(ESP_NN, CMSIS_NN, ESPHOME) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[:3]] == ["known"] * 3
    assert lines[-1] == "0 of 3 moved or given; a person has 0 things to decide"
    assert servers.issues == []


def test_what_moved_is_one_issue_that_is_kept_up_to_date(
    servers: Servers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    servers.components[ESP_NN].append("1.10.0")
    servers.packages[ESPHOME].append("2099.1.0")
    said = []
    for _ in range(2):
        assert looked(ESP_NN, CMSIS_NN, ESPHOME) == 1
        said.append(capsys.readouterr().out.splitlines()[-1])
    subprocess.run(["git", "-C", str(tmp_path / CMSIS_NN), "tag", "v99.0.0"], check=True)
    assert looked(ESP_NN, CMSIS_NN, ESPHOME) == 1
    said.append(capsys.readouterr().out.splitlines()[-1])
    assert said == ["opened issue 41", "issue 41 says so already", "brought issue 41 up to date"]
    (issue,) = servers.issues
    assert issue["labels"] == ["upstream moved"]
    assert issue["title"] == "Upstream moved: ARM-software/CMSIS-NN, esphome, espressif/esp-nn"
    assert f"1. {ESP_NN} 1.10.0 after {KNOWN[ESP_NN]}: compare the SHA-256" in issue["body"]
    assert f"{ESPHOME} 2099.1.0 after {KNOWN[ESPHOME]}: python tools upstream library_pins --write" in issue["body"]
    assert re.search(rf"^{CMSIS_NN} +v7.0.0 +v99.0.0 +moved$", issue["body"], re.MULTILINE)
    assert servers.tokens == {"Bearer secret"}


def test_another_commit_of_a_fork_is_a_move(
    servers: Servers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit = committed(tmp_path / CHIRALE)
    assert looked(CHIRALE) == 1
    assert f"to decide 1: {CHIRALE} {commit} after {KNOWN[CHIRALE]}" in capsys.readouterr().out
    assert servers.issues[0]["title"] == f"Upstream moved: {CHIRALE}"


def test_what_is_given_is_looked_at_as_what_is_published(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    committed(tmp_path / "clone", KNOWN[CMSIS_NN], "24.02")
    commit = committed(tmp_path / "fork")
    given = [f"--given={CMSIS_NN}={tmp_path}/clone", f"--given={CHIRALE}={tmp_path}/fork"]
    assert move.main(["--only", CMSIS_NN, "--only", CHIRALE, *given]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(maxsplit=2)[-1].split() for line in lines[:2]] == [
        [KNOWN[CMSIS_NN], "given,", "known"],
        [commit, "given,", "moved"],
    ]
    assert move.main(["--only", CMSIS_NN, "--given", f"{CMSIS_NN}={tmp_path}"]) == 3
    assert "not reached: fatal: " in capsys.readouterr().out


def test_an_upstream_that_cannot_be_asked_is_named(servers: Servers, capsys: pytest.CaptureFixture[str]) -> None:
    servers.components.clear()
    assert looked(ESP_NN, "Seeed-Studio/SSCMA-Micro", CMSIS_NN) == 3
    out = capsys.readouterr().out
    assert "not reached: HTTPError: HTTP Error 404" in out
    assert f"not reached: {ESP_NN}, Seeed-Studio/SSCMA-Micro" in out.splitlines()
    assert servers.issues == []


def test_versions_are_in_order_and_a_commit_is_known_by_its_first_digits() -> None:
    order = ["0.dev20261008201341", "0.dev20261023182759", "1.2.0-rc1", "1.2.0", "1.2.0~1", "v1.3", "1.10.0"]
    assert sorted({*order}, key=version_key) == order
    fork = Upstream("a/fork", "46da2f9", lambda: "", "")
    assert [is_moved(fork, newest) for newest in ("46da2f9" + 33 * "0", "46da2f8" + 33 * "0")] == [False, True]
    release = Upstream("a", "1.5.0", lambda: "", "")
    assert [is_moved(release, newest) for newest in ("1.5.0", "1.4.9", "1.5.0~1", "2.0.0-rc1")] == [
        False,
        False,
        True,
        True,
    ]


def test_a_wheel_is_known_by_its_name_and_the_commit_in_its_metadata(tmp_path: Path) -> None:
    path = tmp_path / "tflite_micro-0.dev20270203040506-cp311-cp311-manylinux_2_28_x86_64.whl"
    with ZipFile(path, "w") as archive:
        archive.writestr("tflite_micro.dist-info/METADATA", "This package is built from commit\n[abcdef0](https://x)\n")
    release = release_of(path)
    assert (release.version, release.commit, release.day) == ("20270203040506", "abcdef0", "2027-02-03")
    text = with_wheel(REFERENCE.read_text("utf-8"), release)
    assert with_wheel(text, release) == text
    values: dict[str, Any] = {}
    exec(text, values)
    assert values["WHEEL_SNAPSHOT"] == "abcdef0"
    assert values["WHEELS"].split()[-2:] == ["8f6596d@20261023182759", "abcdef0@20270203040506"]
    with pytest.raises(ValueError, match="is no wheel of tflite-micro"):
        release_of(tmp_path)


def test_the_reference_commit_moves_with_its_day_and_count_and_counted_wheels_go() -> None:
    source = REFERENCE.read_text("utf-8")
    values: dict[str, Any] = {}
    exec(with_reference(source, Head("123456789", "2027-01-02", 2100), {"13cd6c1", "1881137"}), values)
    assert (values["REFERENCE_SNAPSHOT"], values["REFERENCE_DAY"], values["LAST_COUNTED"]) == (
        "123456789",
        "2027-01-02",
        2100,
    )
    gone = next(row for row in source.split('"""') if "13cd6c1@" in row).split()
    assert set(gone) - set(values["WHEELS"].split()) == {"13cd6c1@20260824231141", "1881137@20261012203412"}
    exec(with_reference(source, Head("123456789", "2027-01-02", 2100), {row[:7] for row in gone}), values)
    assert values["WHEEL_SNAPSHOT"] == "123456789"


def test_the_tables_say_what_the_reference_is() -> None:
    assert (REFERENCE_SNAPSHOT, LAST_COUNTED, WHEEL_SNAPSHOT) == ("90b983c2b", 1928, "8f6596d")
    assert KNOWN["tflite-micro"] == "0.dev20261023182759"
    assert (KNOWN[ESP_NN], KNOWN["espressif/esp-tflite-micro"]) == ("1.5.0", "1.4.3")
    assert KNOWN["edgeimpulse/inferencing-sdk-cpp"] == "1.93.20"


def test_a_fork_is_not_taken_for_upstream(tmp_path: Path) -> None:
    path = tmp_path / "clone" / "tensorflow/lite/micro/kernels/esp_nn"
    path.mkdir(parents=True)
    (path / "conv.cc").write_text("")
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", "-C", str(tmp_path / "clone"), *command], check=True)
    with pytest.raises(ValueError, match="is a clone of esp-tflite-micro"):
        head_of(str(tmp_path / "clone"))


def test_what_is_given_has_to_be_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert move.main(["--given", "tflite-micro=nowhere.whl"]) == 3
    assert "--given tflite-micro=nowhere.whl: NAME=PATH" in capsys.readouterr().err


def test_only_an_upstream_of_the_list_can_be_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    assert move.main(["--only", "tflite_micro"]) == 3
    assert "--only tflite_micro: one of tflite-micro, tensorflow/tflite-micro, " in capsys.readouterr().err


def test_a_workflow_looks_each_week_and_may_write_issues() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/upstream.yml").read_text("utf-8"))
    assert workflow[True]["schedule"] == [{"cron": "41 5 * * 1"}]
    assert workflow["permissions"] == {"contents": "read", "issues": "write"}
    commands = [step["run"] for step in workflow["jobs"]["look"]["steps"] if "run" in step]
    assert commands[-1] == ".venv/bin/python tools upstream move --issue || [ $? -eq 1 ]"


def test_unreachable_is_one_sentence() -> None:
    def fails() -> str:
        raise KeyError("versions")

    with pytest.raises(Unreachable, match=r"^KeyError: 'versions'$"):
        ask(Upstream("a", "1", fails, ""))
