"""Models on the web: fetched where somebody says so, and nowhere else."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Iterator
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import URLError
from urllib.request import Request

import pytest

from tflm_sim import sample_path
from tflm_sim.cli import main
from tflm_sim.errors import ModelError, UsageError
from tflm_sim.model import download as web
from tflm_sim.model import fetch
from tflm_sim.model.load import load

asked: list[str] = []
MOVED = {"/moved": "/sine.tflite", "/ftp": "ftp://127.0.0.1/m.tflite", "/file": "file:///etc/hosts"}


class Site(BaseHTTPRequestHandler):
    """One model, one page, and a way from the one to the other."""

    def do_GET(self) -> None:
        """Answer."""
        asked.append(self.path)
        sine = sample_path("sine").read_bytes()
        arrays = "".join(f"const char {name}[] = {{{', '.join(map(str, sine))}}};" for name in ("g_one", "g_two"))
        known = {"/sine.tflite": sine, "/page": b"<!DOCTYPE html><p>sign in</p>", "/m.cc?raw=1": arrays.encode()}
        known |= {"/short": sine, "/endless": sine}
        self.send_response(302 if self.path in MOVED else 200 if self.path in known else 404)
        if self.path in MOVED:
            self.send_header("Location", MOVED[self.path])
        if self.path == "/short":
            self.send_header("Content-Length", str(len(sine) + 1))
        self.end_headers()
        with contextlib.suppress(OSError):  # who waits no longer
            self.wfile.write(known.get(self.path, b""))
            while self.path == "/endless":
                self.wfile.write(b"x")
                time.sleep(0.01)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv(web.ALLOWED, raising=False)
    asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_nothing_is_fetched_unless_somebody_says_so(site: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", f"{site}/sine.tflite"]) == 2
    assert "nothing is downloaded from the web without --allow-download" in capsys.readouterr().err
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
    with pytest.raises(ModelError, match=f"it contains 2 models; name one of {re.escape(address)}:g_one, "):
        load(address)
    with pytest.raises(ModelError, match="it contains no such model"):
        load(f"{address}:g_three")
    assert main(["size", address]) == 0
    shown = capsys.readouterr().out
    assert ("m.cc?raw=1:g_one" in shown, "m.cc?raw=1:g_two" in shown) == (True, True)
    assert set(asked) == {"/m.cc?raw=1"}


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
    monkeypatch.setattr(fetch, "MAX_DOWNLOAD_BYTES", 100)
    with pytest.raises(ModelError, match="more than 100 bytes"):
        load(f"{site}/sine.tflite")


def test_an_answer_that_ends_early_is_no_model(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(web.ALLOWED, "1")
    with pytest.raises(ModelError, match=r"it cannot be fetched: it ends after 2,\d\d\d of 2,\d\d\d bytes"):
        load(f"{site}/short")


def test_an_answer_without_end_ends_after_the_whole_time(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(web.ALLOWED, "1")
    monkeypatch.setattr(fetch, "DOWNLOAD_SECONDS", 0.5)
    with pytest.raises(ModelError, match=r"it cannot be fetched: it takes longer than 0\.5 s"):
        load(f"{site}/endless")


@pytest.mark.parametrize("kind", ["ftp", "file"])
def test_nothing_but_the_web_is_led_to(kind: str, site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(web.ALLOWED, "1")
    with pytest.raises(ModelError, match=f"it cannot be fetched: .*{kind}"):
        load(f"{site}/{kind}")


def followed(before: str, after: str) -> str:
    request = fetch.SafeRedirects().redirect_request(Request(before), None, 302, "Found", Message(), after)
    assert request is not None
    return request.full_url


def test_https_never_leads_to_http() -> None:
    assert followed("https://8.8.8.8/m", "https://1.1.1.1/m") == "https://1.1.1.1/m"
    with pytest.raises(URLError, match="which is not https"):
        followed("https://8.8.8.8/m", "http://1.1.1.1/m")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::1]", "10.0.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "[fe80::1]"]
)
def test_the_web_never_leads_into_this_machine_or_its_network(host: str) -> None:
    assert followed("http://8.8.8.8/m", "https://1.1.1.1/m") == "https://1.1.1.1/m"
    assert followed(f"http://{host}/a", f"http://{host}/b") == f"http://{host}/b"
    with pytest.raises(URLError, match="inside of this machine or its network"):
        followed("http://8.8.8.8/m", f"http://{host}/m")
