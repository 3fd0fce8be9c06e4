"""``tflm-sim serve``: the page that sizes models in the browser, on this machine alone."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from socket import SHUT_RDWR, socket
from time import monotonic
from typing import Any

from tflm_sim.cli.options import Subparsers, add_verb, typed
from tflm_sim.cli.terminal import say
from tflm_sim.errors import UsageError
from tflm_sim.extensions.page import site
from tflm_sim.extensions.page.planners import compiled_planners
from tflm_sim.files import replacing_bytes
from tflm_sim.numbers import whole

ABOUT = """
Users of the page install nothing, and their models stay in their browser.
"""
EXAMPLES = f"""
tflm-sim serve --allow-download
tflm-sim serve --allow-download --write site/
npm pack pyodide@{site.PYODIDE_VERSION}
tflm-sim serve --pyodide pyodide-{site.PYODIDE_VERSION}.tgz
"""

IDLE_SECONDS = 30
"""How long a client may say nothing; each has a thread."""
REQUEST_SECONDS = 120
"""How long a client may take for one request, however often it says something."""


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "serve", EXAMPLES, about=ABOUT)
    parser.add_argument(
        "--pyodide",
        metavar="FILE",
        help=f"what 'npm pack pyodide@{site.PYODIDE_VERSION}' wrote, or Pyodide's whole release; without it, and with "
        "--allow-download, Pyodide and numpy are fetched from npm and Pyodide's own server",
    )
    parser.add_argument("--numpy", metavar="WHEEL", help="numpy's wheel for this Pyodide; the page needs it for Shrink")
    parser.add_argument(
        "--port",
        type=typed(whole, least=0, most=65535),
        default=8000,
        metavar="N",
        help="the port on 127.0.0.1 (default: 8000; 0: any free port)",
    )
    parser.add_argument("--write", metavar="FOLDER", help="write the files for a web server into this folder instead")


def run(args: argparse.Namespace) -> int:
    source = args.pyodide or "npm, about 14 MB, and numpy from Pyodide's own server"
    say(
        f"preparing the page: Pyodide {site.PYODIDE_VERSION} from {source}; this package; its planners", file=sys.stderr
    )
    files = site.site_files(_pyodide(args), _planners())
    if args.write is not None:
        for name, data in files.items():
            path = Path(args.write) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing_bytes(path) as file:
                file.write(data)
        say(f"{len(files)} files, {sum(map(len, files.values())):,} B in {args.write}; serve them with this header:")
        say(f"Content-Security-Policy: {site.content_security_policy()}")
        return 0
    try:
        server = make_server(files, args.port)
    except (OSError, OverflowError) as failure:
        raise UsageError(f"--port {args.port}: {failure}") from failure
    say(f"http://127.0.0.1:{server.server_address[1]}/ until Ctrl-C; only this machine can reach it")
    with server:
        server.serve_forever()
    return 0


def _pyodide(args: argparse.Namespace) -> site.Pyodide:
    """Return Pyodide as the options say, and print what the page will lack."""
    pyodide = site.fetch_pyodide() if args.pyodide is None else site.read_pyodide(Path(args.pyodide))
    if args.numpy is not None:
        pyodide = pyodide.with_numpy(Path(args.numpy))
    if pyodide.numpy is None:
        say(f"without numpy, so the page cannot shrink models; --numpy takes {pyodide.numpy_address}", file=sys.stderr)
    return pyodide


def _planners() -> bytes | None:
    """Return the planners' C code for the browser; None, with a message, where it cannot be compiled."""
    try:
        return compiled_planners()
    except UsageError as failure:
        say(f"the page plans in Python, not in C: {failure}", file=sys.stderr)
        return None


def make_server(files: dict[str, bytes], port: int) -> ThreadingHTTPServer:
    """Return a server of these files on 127.0.0.1; a port of 0 is any free one."""

    class Handler(BaseHTTPRequestHandler):
        """Answers GET and HEAD from memory."""

        protocol_version = "HTTP/1.1"
        timeout = IDLE_SECONDS
        policy = site.content_security_policy()

        def do_GET(self) -> None:
            data = self._head()
            if data is not None:
                self.wfile.write(data)

        def do_HEAD(self) -> None:
            """Send a file's headers."""
            self._head()

        def _head(self) -> bytes | None:
            name = self.path.partition("?")[0].lstrip("/") or "index.html"
            data, port = files.get(name), server.server_address[1]
            # A page elsewhere whose name was pointed at this machine asks under that name.
            is_ours = self.headers.get("Host") in {f"{host}:{port}" for host in ("127.0.0.1", "localhost")}
            if not is_ours:
                data = None
            self.send_response(421 if not is_ours else 404 if data is None else 200)
            self.send_header("Content-Type", site.CONTENT_TYPES.get(PurePosixPath(name).suffix, "text/plain"))
            self.send_header("Content-Length", str(len(data or b"")))
            self.send_header("Content-Security-Policy", self.policy)
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Referrer-Policy", "no-referrer")
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
            self.send_header("Cache-Control", "no-cache")
            self.end_headers()
            server.asked[self.connection] = monotonic()
            return data

        def log_message(self, *_: object) -> None:
            """Keep the terminal quiet."""

    class Server(ThreadingHTTPServer):
        """Says nothing of a client that goes away in the middle of an answer, and ends one that takes too long."""

        request_queue_size = 128

        def __init__(self, *arguments: Any) -> None:
            self.asked: dict[socket, float] = {}
            super().__init__(*arguments)

        def process_request(self, request: Any, client_address: Any) -> None:
            """Serve a client in a thread of its own."""
            self.asked[request] = monotonic()
            super().process_request(request, client_address)

        def shutdown_request(self, request: Any) -> None:
            """Close a client's connection."""
            self.asked.pop(request, None)
            super().shutdown_request(request)

        def service_actions(self) -> None:
            """Hang up on clients whose request takes too long: twice a second, and without a thread for each."""
            for request, since in list(self.asked.items()):
                if monotonic() - since > REQUEST_SECONDS:
                    with suppress(OSError):
                        request.shutdown(SHUT_RDWR)

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Print what went wrong, unless the other side left or takes nothing."""
            if not isinstance(sys.exception(), ConnectionError | TimeoutError):
                super().handle_error(request, client_address)

    server = Server(("127.0.0.1", port), Handler)
    return server
