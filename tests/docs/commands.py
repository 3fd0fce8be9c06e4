"""The commands of the pages, and a folder in which they run."""

from __future__ import annotations

import contextlib
import re
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import NamedTuple
from zipfile import ZipFile

from tflm_sim.samples import SAMPLES, sample_path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

for place in ("firmware", "unit/extensions/eon"):
    sys.path.insert(0, str(ROOT / "tests" / place))
import elf_program  # noqa: E402
import eon_text  # noqa: E402
import model_program  # noqa: E402


class Command(NamedTuple):
    """A command, and the page that has it."""

    page: str
    text: str


def commands() -> list[Command]:
    """Return the commands of all pages: lines of blocks, and code in sentences; those behind a pipe by themselves."""
    found = {Command(str(page.relative_to(ROOT)), text) for page in PAGES for text in _of_page(page.read_text("utf-8"))}
    return sorted(found)


def _of_page(text: str) -> Iterator[str]:
    blocks = re.compile(r"^ *```[^\n]*\n(.*?)^ *```|(?:^    [^\n]*\n)+", re.DOTALL | re.MULTILINE)
    for block in blocks.finditer(text):
        for line in re.sub(r"\\\n\s*", "", block[0]).splitlines():
            command = re.match(r"\s*(?:\$ (?:.* && )?(?:\S*/)?)?(tflm-sim .*)", line)
            if command is not None:
                yield _alone(command[1])
    for span in re.findall(r"`([^`]+)`", blocks.sub("", text)):
        command = re.match(r"(?:.* )?(tflm-sim .*)", " ".join(span.replace("\\|", "|").split()))
        if command is not None and ("| " in span or span.startswith("tflm-sim")):
            yield _alone(command[1])


def _alone(command: str) -> str:
    """Return a command without what it is piped into, where its output goes, and the comment behind it."""
    return re.split(r" \| | > | && |\s+# ", command)[0].strip()


STANDS_FOR = {
    "MODEL": "model.tflite",
    "MODEL...": "model.tflite",
    "MODELS": "models/",
    "SMALL.tflite": "small.tflite",
    "OLD.tflite": "model.tflite",
    "NEW.tflite": "small.tflite",
    "/m/model.tflite": "model.tflite",
    "before.json": "release.json",
    "after.json": "release.json",
    "T": "cortex-m4",
    "A": "cortex-m4",
    "B": "esp32",
    "...": "model.tflite",
    "libraries NAME": "MicroTFLite",
    "targets NAME": "esp32-s3",
    "--target ...": "esp32-s3",
    "--library NAME": "chirale",
    "--preserve NAME": "1",
    "--tensor NAME": "1",
}
"""What stands in a command for something of the reader's own; with the word before it where that decides."""


def words_of(command: str, served: Served) -> list[str]:
    """Return a command's words with the reader's own things in them."""
    words = shlex.split(command)
    for index, word in enumerate(words):
        if index and f"{words[index - 1]} {word}" in STANDS_FOR:
            words[index] = STANDS_FOR[f"{words[index - 1]} {word}"]
        elif word == "https://...":
            words[index] = served.model
        elif word in ("PORT", "/dev/ttyUSB0") or word.startswith("socket://"):
            words[index] = served.trace if "--swo" in words else served.log
        elif word.endswith(".elf") and {"--executed", "--run"} & {*words}:
            words[index] = "executed/app.elf"
        else:
            words[index] = STANDS_FOR.get(word, word)
    return [*words, "--exit-on-report"] if words[1:3] == ["board", "listen"] else words


class Served(NamedTuple):
    """Addresses of the web and of two boards: one that writes a log, and one that traces it."""

    model: str
    log: str
    trace: str


@contextmanager
def serving(log: bytes) -> Iterator[Served]:
    """Serve a model and the boards for a while."""

    class Site(BaseHTTPRequestHandler):
        """Has one file under every name."""

        def do_GET(self) -> None:
            """Send it."""
            self.send_response(200)
            self.end_headers()
            self.wfile.write(sample_path("sine").read_bytes())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with (
        ThreadingHTTPServer(("127.0.0.1", 0), Site) as site,
        _board(log) as plain,
        _board(bytes(10) + b"\x80" + b"".join(bytes((1, byte)) for byte in log)) as traced,
    ):
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield Served(f"http://127.0.0.1:{site.server_address[1]}/m.tflite", plain, traced)
        site.shutdown()


@contextmanager
def _board(data: bytes) -> Iterator[str]:
    """Let everybody who connects have some bytes, again and again; pyserial drops what comes as it connects."""

    class Board(BaseRequestHandler):
        """Writes until the other side is gone."""

        def handle(self) -> None:
            """Write."""
            with contextlib.suppress(OSError):
                time.sleep(1)  # Who connects must have dropped what came so far, else it begins within a frame.
                while True:
                    self.request.sendall(data)
                    time.sleep(0.1)

    with ThreadingTCPServer(("127.0.0.1", 0), Board) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"socket://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def furnish(folder: Path) -> None:
    """Put what the pages speak of into a folder: models, programs, logs, a problem and a sweep's results."""
    for name, sample in (
        ("model", "residual"),
        ("small", "residual"),
        ("next_model", "sine"),
        ("another", "sine"),
        ("keyword_spotter", "keyword_spotter"),
        ("person_detect", "mobilenet_v1_025"),
        ("hello_world_float", "sine"),
        ("okay_nabu", "streaming"),
        ("vad", "streaming"),
    ):
        (folder / f"{name}.tflite").write_bytes(sample_path(sample).read_bytes())
    for name in ("models", "zoo"):
        (folder / name).mkdir()
        for sample in SAMPLES:
            (folder / name / f"{sample}.tflite").write_bytes(sample_path(sample).read_bytes())
    board = (ROOT / "docs/board.md").read_text("utf-8")
    log = "\n".join(re.findall(r"^    (\$TSIM,.*)$", board, re.MULTILINE))
    failure = "Failed to resize buffer. Requested: 55296, available 55056, missing: 240\n"
    (folder / "boot.log").write_text(failure, "utf-8")
    with ZipFile(folder / "export.zip", "w") as export:
        export.write(sample_path("sine"), "tflite-model/trained.tflite")
    source = eon_text.eon_text(eon_text.SMALL)
    (folder / "tflite_learn_5_compiled.cpp").write_text(source, "utf-8")
    with ZipFile(folder / "eon_export.zip", "w") as export:
        export.writestr("tflite-model/tflite_learn_5_compiled.cpp", source)
    for name in ("run.log", "hello.log"):
        (folder / name).write_text(f"{log}\n", "utf-8")
    planners = (ROOT / "docs/planners.md").read_text("utf-8")
    (folder / "problem.csv").write_text(re.findall(r"```\n(id,lower.*?)```", planners, re.DOTALL)[0], "utf-8")
    custom = (ROOT / "docs/custom_operators.md").read_text("utf-8")
    (folder / "my_filter.py").write_text(
        re.findall(r"```python title=\"my_filter.py\"\n(.*?)```", custom, re.DOTALL)[0], "utf-8"
    )
    testing = (ROOT / "docs/testing_with_pytest.md").read_text("utf-8")
    project = re.findall(r"```toml title=\"tflm-sim.toml\"\n(.*?)```", testing, re.DOTALL)[0]
    (folder / "tflm-sim.toml").write_text(project, "utf-8")
    _program(folder)
    repository(folder)
    for name, words in (
        ("release.json", "size okay_nabu.tflite --target esp32-s3 --json"),
        ("last_week.csv", "sweep models/ --targets cortex-m4,esp32-s3 -o last_week.csv"),
        ("sizes.csv", "sweep models/ --targets cortex-m4,esp32-s3 -o sizes.csv"),
    ):
        command = [sys.executable, "-m", "tflm_sim", *words.split()]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        if words.endswith("--json"):
            (folder / name).write_text(done.stdout, "utf-8")


def repository(folder: Path) -> None:
    """Make a folder a git repository with what is in it on the branch main."""
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), (*who, "commit", "-q", "-m", "all")):
        subprocess.run(["git", *words], cwd=folder, check=True)


def _program(folder: Path) -> None:
    """Build a firmware with the structs of TFLM, a model and an arena."""
    rows = elf_program.all_structs()
    named = [name for name in rows if "." not in name and "::" not in name]
    source = elf_program.source_of(elf_program.in_order(rows, named)) + elf_program.model_source("g_model", "sine")
    source += "namespace { alignas(16) __attribute__((used)) unsigned char tensor_arena[65536]; }\n"
    source += "namespace tflite { void Register_FULLY_CONNECTED() {} }\nint main() { return 0; }\n"
    work = folder / "build"
    work.mkdir()
    program = elf_program.build(
        work, "arm-none-eabi-g++ -mcpu=cortex-m4 -mthumb", {"main.cc": source}, "-g"
    ).read_bytes()
    (work / "zephyr").mkdir()
    for name in ("build/app.elf", "build/zephyr/zephyr.elf", "app.elf", "old.elf", "new.elf"):
        (folder / name).write_bytes(program)
    model_program.built(folder / "executed", sample_path("sine").read_bytes(), ((1, 1), (1, 1)))
