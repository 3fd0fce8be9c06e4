"""A server that is no forge: whatever it answers with, the comment is one sentence, and soon."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tflm_sim.extensions.ci import forge
from tflm_sim.extensions.ci.forge import COMMENT_MARK, ForgeError, PullRequest

OURS = {"id": 7, "user": {"type": "Bot"}, "body": f"{COMMENT_MARK}\nold"}
BODIES = {
    "no JSON": b"<html>",
    "a number of 5,000 digits": b"9" * 5000,
    "nested": b"[" * 100_000,
    "an object": b"{}",
    "a text": b'"x"',
    "null": b"null",
    "texts": b'["a"]',
    "no number": b'[{"id": "../../user"}]',
    "an infinite number": b'[{"id": 1e999}]',
    "not a number": b'[{"id": true}]',
    "too long": b"[" + b" " * 200_000 + b"]",
    "not UTF-8": b'["\xff"]',
    "shorter than it says": None,
}


class Server(ThreadingHTTPServer):
    body: bytes | None = b""
    asked: list[str]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append(f"{self.command} {self.path}")
        body = self.server.body if self.command == "GET" or self.server.body is None else b"{}"
        self.send_response(200)
        self.send_header("Content-Length", str(100 if body is None else len(body)))
        self.end_headers()
        self.wfile.write(body or b"[")

    do_GET = do_POST = do_PATCH = answer

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as made:
        made.asked = []
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


def request_at(server: Server) -> PullRequest:
    api = f"http://127.0.0.1:{server.server_port}"
    return PullRequest(f"{api}/comments", f"{api}/comment", "PATCH", {}, "", "")


@pytest.mark.parametrize("name", BODIES)
def test_an_answer_that_is_none_is_one_sentence(name: str, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forge, "MAX_DOCUMENT_BYTES", 200_000)
    server.body = BODIES[name]
    with pytest.raises(ForgeError) as caught:
        request_at(server).comment("new")
    assert len(str(caught.value)) < 500
    assert server.asked == ["GET /comments?per_page=100&page=1"]


@pytest.mark.parametrize("author", [None, "bot", 7, ["Bot"], {"type": ["Bot"]}, {"type": "User"}])
def test_a_comment_of_nobody_known_is_not_ours(author: object, server: Server) -> None:
    server.body = json.dumps([{**OURS, "user": author}]).encode()
    assert request_at(server).comment("new") == "written"


def test_our_comment_is_found_by_its_number(server: Server) -> None:
    server.body = json.dumps([{"id": 3}, OURS]).encode()
    assert request_at(server).comment("new") == "brought up to date"
    assert server.asked[1] == "PATCH /comment/7"


def test_an_answer_in_drops_has_an_end(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.body = b"[" + b" " * (1 << 20) + b"]"
    monkeypatch.setattr(forge, "_PIECE_BYTES", 1)
    monkeypatch.setattr(forge, "_TIMEOUT_S", 0.05)
    with pytest.raises(ForgeError, match=r"fails: the answer does not end|timed out"):
        request_at(server).comment("new")
