"""Models on the web: fetched where somebody says so, and nowhere else."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from email.message import Message
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.error import URLError
from urllib.request import Request

import pytest

from tflm_sim import sample_path
from tflm_sim.cli import main
from tflm_sim.errors import ModelError, UsageError
from tflm_sim.model import download as web
from tflm_sim.model.load import load

asked: list[str] = []


class Site(BaseHTTPRequestHandler):
    """One model, one page, and a way from the one to the other."""

    def do_GET(self) -> None:
        """Answer."""
        asked.append(self.path)
        sine = sample_path("sine").read_bytes()
        arrays = "".join(f"const char {name}[] = {{{', '.join(map(str, sine))}}};" for name in ("g_one", "g_two"))
        known = {"/sine.tflite": sine, "/page": b"<!DOCTYPE html><p>sign in</p>", "/m.cc?raw=1": arrays.encode()}
        self.send_response(302 if self.path == "/moved" else 200 if self.path in known else 404)
        if self.path == "/moved":
            self.send_header("Location", "/sine.tflite")
        self.end_headers()
        self.wfile.write(known.get(self.path, b""))

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv(web.ALLOWED, raising=False)
    asked.clear()
    with HTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_nothing_is_fetched_unless_somebody_says_so(site: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", f"{site}/sine.tflite"]) == 2
    assert "nothing is fetched from the web unless --allow-download" in capsys.readouterr().err
    with pytest.raises(UsageError):
        load(f"{site}/sine.tflite")
    assert asked == []


def test_the_option_allows_it_for_this_one_command(site: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "--allow-download", f"{site}/moved", "--target", "cortex-m4"]) == 0
    size = capsys.readouterr().out.split("multiple of 16")[0]
    assert main(["size", "sample:sine", "--target", "cortex-m4"]) == 0
    assert size.splitlines()[2:] == capsys.readouterr().out.split("multiple of 16")[0].splitlines()[2:]
    assert asked == ["/moved", "/sine.tflite"]
    assert main(["size", f"{site}/sine.tflite"]) == 2


def test_one_of_several_models_is_picked_as_in_a_local_file(
    site: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(web.ALLOWED, "1")
    address = f"{site}/m.cc?raw=1"
    assert load(f"{address}:g_two").path == f"{address}:g_two"
    with pytest.raises(ModelError, match=f"it holds 2 models; name one of {re.escape(address)}:g_one, "):
        load(address)
    with pytest.raises(ModelError, match="there is no such model in it"):
        load(f"{address}:g_three")
    assert main(["size", address]) == 0
    shown = capsys.readouterr().out
    assert ("m.cc?raw=1:g_one" in shown, "m.cc?raw=1:g_two" in shown) == (True, True)
    assert asked == ["/m.cc?raw=1"]


def test_a_page_and_a_missing_file_are_a_sentence(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(web.ALLOWED, "1")
    with pytest.raises(ModelError, match="it looks like a web page"):
        load(f"{site}/page")
    with pytest.raises(ModelError, match="it cannot be fetched: HTTP Error 404"):
        load(f"{site}/nope.tflite")
    with pytest.raises(ModelError, match="it cannot be fetched"):
        load("http://127.0.0.1:1/m.tflite")


def test_a_larger_file_is_refused(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(web.ALLOWED, "1")
    monkeypatch.setattr(web, "LARGEST", 100)
    with pytest.raises(ModelError, match="more than 100 bytes"):
        load(f"{site}/sine.tflite")


def test_https_never_leads_to_http() -> None:
    (handler,) = (each for each in web._opener().handlers if type(each).__name__ == "Careful")
    arguments = (Request("https://a/m"), None, 302, "Found", Message())
    assert handler.redirect_request(*arguments, "https://b/m").full_url == "https://b/m"  # type: ignore[attr-defined]
    with pytest.raises(URLError, match="which is not https"):
        handler.redirect_request(*arguments, "http://b/m")  # type: ignore[attr-defined]
