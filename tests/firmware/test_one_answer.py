"""One judgement: each question has the same answer from every verb, in text, JSON, exit code, file, pytest and Python.

The table: a row is a kind of input with an answer that somebody acts on (yes, no, if, cannot tell), and the ways in
which it can be asked. The programs are compiled here; the model is the sample ``sine``.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import tflm_sim
from tflm_sim.checks.doubts import EXIT_CODES, Answer, fits_of
from tflm_sim.cli import main, parsed
from tflm_sim.extensions.mcp.tools import offered
from tflm_sim.extensions.page.bridge import OpenModels
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType
from tflm_sim.samples import sample_path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "extensions" / "eon"))
import model_program
import set_up_forms
from eon_text import SMALL, eon_text

RUNTIME = "90b983c2b"
SAMPLE = "sample:sine"
SINE = sample_path("sine").read_bytes()
WORDS: Mapping[Answer, str] = {"yes": "yes: ", "no": "no", "if": "yes, if ", "cannot tell": "cannot be told: "}
"""How the line with an answer begins."""
MARKS: Mapping[Answer, str] = {"yes": "✅", "no": "❌", "if": "❓", "cannot tell": "❓"}
"""What the comment on a pull request has for it."""

MADE = "MicroInterpreter it(GetModel(g_model), resolver, {}); chosen = it.AllocateTensors();"
PLANNER = (
    "struct Own : MicroMemoryPlanner { int GetOffsetForBuffer(int, int *) override { return chosen; } }; "
    "static Own planner; "
)
TWO = "alignas(16) static uint8_t stays[1000], rest[100]; "
OWN = "MicroAllocator::Create(pool, SIZE, &planner)"


def arena(size: int) -> str:
    """Return C++ that has an arena of so many bytes."""
    return f"alignas(16) static uint8_t pool[{size}]; enum {{ SIZE = {size} }}; "


@dataclass(frozen=True)
class Row:
    """A question: whether a model works in an arena.

    Attributes:
        kind: What the person has.
        answer: What is true.
        limit: Bytes of the arena.
        file: Writes what the person has into a folder; returns its name there.
        named: Settings, as ``tflm-sim.toml`` has them.
        program: The C++ of the linked program that it is about.
        stray: Of a program that is executed: a statement of its Invoke().
        place: Of one that is executed: where its arena is, in C++.
    """

    kind: str
    answer: Answer
    limit: int
    file: Callable[[Path], str] = lambda folder: written(folder, "m.tflite", SINE)
    named: Mapping[str, str | bool] = field(default_factory=lambda: {"target": "cortex-m4", "kernels": "reference"})
    program: str = ""
    stray: str = ""
    place: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.answer}".replace(" ", "-")


def written(folder: Path, name: str, data: bytes) -> str:
    (folder / name).write_bytes(data)
    return name


def c_array(folder: Path) -> str:
    text = f"alignas(16) const unsigned char g_model[] = {{{', '.join(map(str, SINE))}}};\n"
    return written(folder, "model.h", text.encode())


def archive(folder: Path) -> str:
    with zipfile.ZipFile(folder / "export.zip", "w") as file:
        file.writestr("trained.tflite", SINE)
    return "export.zip"


def another(folder: Path) -> str:
    """Another model than the program's: one weight differs."""
    at = next(one.address for one in tflm_sim.load(SINE).buffers if one.data)
    return written(folder, "m.tflite", SINE[:at] + bytes([SINE[at] ^ 1]) + SINE[at + 1 :])


def never_invokes(folder: Path) -> str:
    """MIRROR_PAD of int16, which Prepare takes and Eval does not know."""
    builder = ModelBuilder()
    tensor, result = (builder.tensor((4, 4), TensorType.INT16, scale=0.5) for _ in range(2))
    paddings = builder.tensor((2, 2), TensorType.INT32, data=bytes(16))
    builder.operator("MIRROR_PAD", [tensor, paddings], [result])
    return written(folder, "mirror.tflite", builder.build(inputs=[tensor], outputs=[result]))


FILLED = f"{{}}int main() {{{{ fill(); {MADE.format('pool, SIZE').replace('{', '{{').replace('}', '}}')} }}}}"
OWN_PLANNER = f"{PLANNER}{arena(1984)}int main() {{ fill(); {MADE.format(OWN)} }}"
TWO_ARENAS = (
    "alignas(16) static uint8_t stays[672], rest[{0}]; int main() {{ fill(); "
    + MADE.format("MicroAllocator::Create(stays, 672, rest, {0})")
    + " }}"
)
IN_PROGRAM = {"firmware": "app.elf", "runtime": RUNTIME}
EXECUTED = {"firmware": "own.elf", "run": True}

ROWS = [
    # 1,072 B: TFLM of 2026-08-20 on a Cortex-M4 with reference kernels.
    Row("model", "yes", 1072),
    Row("model", "no", 1056),
    Row("model that never invokes", "no", 65536, never_invokes),
    Row("C array", "yes", 1072, c_array),
    Row("C array", "no", 1056, c_array),
    Row("archive", "yes", 1072, archive),
    Row("archive", "no", 1056, archive),
    Row("program", "yes", 1072, named=IN_PROGRAM, program=FILLED.format(arena(1072))),
    Row("program", "no", 1056, named=IN_PROGRAM, program=FILLED.format(arena(1056))),
    Row("program with its own planner", "if", 1984, named=IN_PROGRAM, program=OWN_PLANNER),
    Row("program without the operator", "no", 1984, named=IN_PROGRAM,
        program=f"{arena(1984)}int main() {{ {MADE.format('pool, SIZE')} }}"),
    # 672 B for what stays, and 560 B for the rest.
    Row("program with two arenas", "yes", 1232, named=IN_PROGRAM, program=TWO_ARENAS.format(560)),
    Row("program with two arenas", "no", 1216, named=IN_PROGRAM, program=TWO_ARENAS.format(544)),
    # From 2023 on sine needs 1,056 to 1,072 B; which TFLM it is, the file does not say.
    Row("program of any TFLM", "cannot tell", 1056, named={"firmware": "app.elf"},
        program=FILLED.format(arena(1056))),
    # 164 B: what the program's own kernels ask for, see test_executed.py; its arena has the limit.
    Row("executed program", "yes", 164, named=EXECUTED),
    Row("executed program", "no", 163, named=EXECUTED),
    Row("executed program that stops", "no", 164, named=EXECUTED, stray='asm("udf #0")'),
    # What Invoke() does with another model's inputs proves nothing.
    Row("executed program that stops with another model in it", "cannot tell", 164, another, EXECUTED,
        stray='asm("udf #0")'),
    # An execution does not see for what the program has an array: whether anything else uses it, too.
    Row("executed program in the middle of another array", "if", 164, named=EXECUTED, place="samples + 4096"),
    Row("executed program that stores out of bounds", "no", 164, named=EXECUTED, stray="outputs[0]->data[999] = 1"),
]  # fmt: skip


def prepared(row: Row, folder: Path) -> str:
    """Write what a row is about into a folder; return the model's name."""
    if row.program:
        set_up_forms.program(folder, row.program)  # app.elf
    if row.named.get("run"):
        more = "alignas(16) uint8_t samples[9000] = {1};" if row.place else ""
        built = model_program.built(
            folder / "own", SINE, ((1, 1), (1, 1)), arena=row.limit, stray=row.stray, more=more, place=row.place
        )
        shutil.copy(built, folder / "own.elf")
    return row.file(folder)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, str]]:
    """By row: a folder with what the person has, and the model's name there."""
    made = {}
    for row in ROWS:
        folder = tmp_path_factory.mktemp("row")
        made[str(row)] = (folder, prepared(row, folder))
    return made


@pytest.fixture
def model(request: pytest.FixtureRequest, row: Row, folders: dict[str, tuple[Path, str]]) -> str:
    """Go to a row's folder; return the model's name there."""
    folder, name = folders[str(row)]
    request.getfixturevalue("monkeypatch").chdir(folder)
    return name


def options_of(row: Row) -> list[str]:
    given = [["--executed"] if key == "run" else [f"--{key}", str(value)] for key, value in row.named.items()]
    return [word for words in given for word in words]


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(list(arguments))
    return code, capsys.readouterr().out


def assert_same(capsys: pytest.CaptureFixture[str], answer: Answer, *words: str, begin: str | None = None) -> None:
    """Ask twice, for text and for JSON: the line that begins with the answer, the fields and the exit codes.

    Of a project's folder the line above says what it is.
    """
    begin = WORDS[answer] if begin is None else begin
    code, text = said(capsys, *words)
    assert (code, any(line.startswith(begin) for line in text.splitlines()[:2])) == (EXIT_CODES[answer], True), text
    code, text = said(capsys, *words, "--json")
    document = json.loads(text)
    assert (code, document["answer"]) == (EXIT_CODES[answer], answer)
    assert document.get("fits", fits_of(answer)) is fits_of(answer)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_check_and_size(row: Row, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert_same(capsys, row.answer, "check", model, *options_of(row), "--limit", str(row.limit))
    assert_same(capsys, row.answer, "size", model, *options_of(row), "--arena-size", str(row.limit))


@pytest.mark.parametrize("row", [row for row in ROWS if row.program], ids=str)
def test_firmware_and_the_page(row: Row, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The program's own arena has the size that the others are asked about."""
    named = [word for word in options_of(row) if word not in ("--firmware", "app.elf")]
    assert_same(capsys, row.answer, "firmware", "app.elf", *named)
    first = main(["firmware", "app.elf", *named]) and capsys.readouterr().out.splitlines()[0]
    models = OpenModels()
    models.add("app.elf", Path("app.elf").read_bytes())
    [found] = json.loads(models.firmware(0, json.dumps({"library": row.named.get("runtime", "")})))
    assert found["answer"] == row.answer
    assert found["verdicts"][0].startswith(WORDS[row.answer])
    assert not first or found["verdicts"][0] == first


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_python(row: Row, model: str) -> None:
    found = tflm_sim.check(model, limit=row.limit, **row.named)  # type: ignore[arg-type]
    assert (found.answer, found.fits, found.exit_code) == (row.answer, fits_of(row.answer), EXIT_CODES[row.answer])


READ = [row for row in ROWS if not row.named.get("run")]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_report_and_shrink(row: Row, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A picture of what does not run has TFLM's own exit code, 4; where it hangs on a doubt, 3."""
    is_run = bool(row.named.get("run"))
    sized = ["--arena-size", str(row.limit), "-o", "picture.json"]
    assert main(["report", model, *options_of(row), *sized]) == code_of_figures(row)
    assert not is_run or f"\n{WORDS[row.answer]}" in capsys.readouterr().err
    size = json.loads(Path("picture.json").read_text("utf-8"))["pictures"][0]["size"]
    assert size.get("program", {}).get("answer") == (row.answer if row.program else None)
    capsys.readouterr()
    if is_run or row.kind in ("program with its own planner", "program without the operator"):
        asked = ("shrink", model, *options_of(row), "--goal", str(row.limit), "--time-limit", "1s")
        code, text = said(capsys, *asked, "--json")
        if row.stray and row.answer == "no":  # As a model that never invokes.
            assert (code, text) == (4, "")
            return
        document = json.loads(text)
        assert (code, document["answer"]) == (EXIT_CODES[row.answer], row.answer)
        assert document["goal_met"] is fits_of(row.answer)
        assert is_run or document["program"]["answer"] == row.answer
        code, text = said(capsys, *asked)
        first = text.splitlines()[0]
        assert (code, first.split(" B: ")[1].startswith(WORDS[row.answer])) == (EXIT_CODES[row.answer], True), first


@pytest.mark.parametrize("row", [row for row in ROWS if row.named.get("run") and row.answer != "cannot tell"], ids=str)
def test_firmware_run(row: Row, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(capsys, "firmware", "own.elf", "--run", "--json")
    assert (code, json.loads(text)["answer"]) == (EXIT_CODES[row.answer], row.answer)


def code_of_figures(row: Row) -> int:
    return 4 if row.answer == "no" else EXIT_CODES[row.answer]


@pytest.mark.parametrize("row", [row for row in ROWS if row.named.get("run") and row.limit == 164], ids=str)
def test_figures_of_an_executed_program_say_whether_it_works(
    row: Row, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether 163 B are too small, or where they lie, nobody asks here: the figure is the smallest arena."""
    begin = {"no": "it does not work: ", "cannot tell": "whether it works cannot be told: "}.get(row.answer)
    code, text = said(capsys, "size", model, *options_of(row))
    assert (code, begin is None or f"\n{begin}Invoke() " in text) == (0 if row.place else code_of_figures(row), True)
    code, text = said(capsys, "diff", model, model, *options_of(row))
    assert (code, begin is None or f"\nafter: {begin}Invoke() " in text) == (0, True)
    assert re.search(r"\b164 +164 +0 +smallest arena\n", text)


@pytest.mark.parametrize("row", [row for row in READ if row.answer in ("if", "cannot tell")], ids=str)
def test_what_settles_it_asks_the_same(row: Row, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The last line is a command that can be typed as it stands."""
    asked = [("check", "limit"), ("size", "arena_size"), ("report", "arena_size")]
    if row.answer == "if":  # What shrink makes of the model has room enough with every TFLM.
        asked.append(("shrink", "goal"))
    for verb, size in asked:
        more = {"report": ["-o", "p.json"], "shrink": ["--time-limit", "1s"]}.get(verb, [])
        main([verb, model, *options_of(row), f"--{size.replace('_', '-')}", str(row.limit), *more])
        [command] = re.findall(r"^this settles it: tflm-sim (.*)$", "".join(capsys.readouterr()), re.MULTILINE)
        found = parsed(shlex.split(command))
        assert (found.verb, found.model if verb in ("report", "shrink") else found.models) == (
            verb, model if verb in ("report", "shrink") else [model],
        )  # fmt: skip
        assert (found.executed, getattr(found, size)) == (True, str(row.limit))
        assert {name: getattr(found, name) for name in row.named} == row.named
    main(["firmware", "app.elf", *options_of(row)[2:]])
    assert "this settles it: tflm-sim firmware app.elf --run\n" in capsys.readouterr().out


@pytest.mark.parametrize("row", [row for row in READ if row.program], ids=str)
def test_diff(row: Row, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A side that no arena helps is refused; of the others each figure hangs on the doubts."""
    code, text = said(capsys, "diff", model, model, *options_of(row))
    assert code == (3 if row.kind == "program without the operator" else 0)
    assert ("all of this, if its own planner (Own) " in text) == (row.answer == "if")


@pytest.mark.parametrize("row", READ, ids=str)
def test_assistants(row: Row, model: str) -> None:
    server = pytest.importorskip("tflm_sim.extensions.mcp.server")
    folder = str(Path.cwd())
    allowed = server.Permissions(folders=server.Folders.named([folder], []), executes=False, time_limit=600)
    (tool,) = (each for each in offered(executes=False, writes=False) if each.name == "check")
    found = server.answer(tool, {"model": model, **row.named, "limit": str(row.limit)}, allowed)
    assert (found["exit_code"], found["answer"]["answer"]) == (EXIT_CODES[row.answer], row.answer)


def test_the_project_file_pytest_and_the_comment(
    folders: dict[str, tuple[Path, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All rows are one project: a firmware each in tflm-sim.toml, and a test with the marker each."""
    tables, tests = [], ["import pytest"]
    for number, row in enumerate(ROWS):
        folder, name = folders[str(row)]
        shutil.copytree(folder, tmp_path / f"row{number}")
        named = {key: f"row{number}/{value}" if key == "firmware" else value for key, value in row.named.items()}
        settings = "\n".join(f"{key} = {json.dumps(value)}" for key, value in {**named, "limit": row.limit}.items())
        tables.append(f"[[firmware]]\nname = '{row}'\nmodels = ['row{number}/{name}']\n{settings}\n")
        words = ", ".join(f"{key}={value!r}" for key, value in {**named, "limit": row.limit}.items())
        tests.append(f"@pytest.mark.arena('row{number}/{name}', {words})\ndef test_{number}(): pass\n")
    (tmp_path / "tflm-sim.toml").write_text("\n".join(tables), "utf-8")
    (tmp_path / "test_rows.py").write_text("\n".join(tests), "utf-8")
    monkeypatch.chdir(tmp_path)
    answers = {str(row): row.answer for row in ROWS}
    assert main(["check", "--json"]) == 1
    documents = map(json.loads, capsys.readouterr().out.splitlines())
    found = {one["firmware"]: (one["answer"], one["fits"]) for one in documents}
    assert found == {label: (answer, fits_of(answer)) for label, answer in answers.items()}
    assert main(["diff", "--markdown", "comment.md"]) == 1
    marks = re.findall(r"^\| (\S+) \| `[^`]*` \| `([^`]*)` \|", Path("comment.md").read_text("utf-8"), re.MULTILINE)
    assert {label: mark for mark, label in marks} == {label: MARKS[answer] for label, answer in answers.items()}
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junit-xml=said.xml"]
    subprocess.run([*run, "tflm-sim.toml", "test_rows.py"], capture_output=True, check=False)
    said = {one.get("name"): one.find("failure") for one in ElementTree.parse("said.xml").iter("testcase")}
    assert len(said) == 2 * len(ROWS)
    for number, row in enumerate(ROWS):
        of_file = next(text for name, text in said.items() if f"row{number}/" in str(name))
        for failure in (of_file, said[f"test_{number}"]):
            assert (failure is None) == (row.answer == "yes"), (row, failure)
            assert failure is None or re.search(rf"^{WORDS[row.answer]}", failure.text or "", re.MULTILINE), (
                row, failure.text,
            )  # fmt: skip


def large(folder: Path) -> str:
    return written(folder, "large.tflite", sample_path("mobilenet_v1_025").read_bytes())


@pytest.mark.parametrize(
    ("file", "board", "answer"),
    [
        (large, "nicla-sense-me", "no"),  # 82,288 B of 65,536 B
        (large, "nano33ble", "cannot tell"),
        (never_invokes, "nano33ble", "no"),
    ],
)
def test_a_board_alone(
    file: Callable[[Path], str],
    board: str,
    answer: Answer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    name = file(tmp_path)
    assert_same(capsys, answer, "check", name, "--board", board, "--target", "cortex-m4")
    code, text = said(capsys, "size", name, "--boards", board, "--json")
    assert (code, json.loads(text)["rows"][0]["fits"]) == (EXIT_CODES[answer], fits_of(answer))
    assert main(["sweep", name, "--boards", board, "-o", "rows.jsonl"]) == 0
    assert json.loads(Path("rows.jsonl").read_text("utf-8"))["fits"] is fits_of(answer)
    models = OpenModels()
    models.add(name, Path(name).read_bytes())
    [shown] = json.loads(models.size(0, json.dumps({"board": board})))
    [table] = json.loads(models.compare(0))
    row = [cells[0] for cells in table["rows"]].index(board)
    tone = "no" if answer == "no" else "open"
    assert (shown["answer"], shown["tone"], table["tones"][row]) == (answer, tone, tone)


SKETCH = """#include <Chirale_TensorFlowLite.h>
{defined}
alignas(16) uint8_t tensor_arena[kTensorArenaSize];
void setup() {{
  model = tflite::GetModel(g_model);
  static tflite::MicroMutableOpResolver<1> resolver;
  resolver.AddFullyConnected();
  static tflite::MicroInterpreter interpreter(model, resolver, tensor_arena, kTensorArenaSize);
}}
"""
OPEN = """#if CONFIG_SMALL
constexpr int kTensorArenaSize = 1024;
#else
constexpr int kTensorArenaSize = 4096;
#endif"""
REFUSED = b"Failed to resize buffer. Requested: 25344, available 6480, missing: 18864\n"


def sketch(size: int | str, *models: str) -> Callable[[Path], str]:
    """Return what writes an Arduino sketch, which needs 1,152 B on a Cortex-M4; ``size``: its arena's, or the lines."""
    defined = f"constexpr int kTensorArenaSize = {size};" if isinstance(size, int) else size

    def write(folder: Path) -> str:
        (folder / "sine").mkdir()
        written(folder / "sine", "sine.ino", SKETCH.format(defined=defined).encode())
        for model in models:
            shutil.copy(folder / c_array(folder), folder / "sine" / model)
        return "sine"

    return write


def eon(size: int) -> Callable[[Path], str]:
    return lambda folder: written(folder, "eon.cpp", eon_text(replace(SMALL, arena_size=size)).encode())


def log(text: bytes) -> Callable[[Path], str]:
    return lambda folder: written(folder, "boot.log", text)


@pytest.mark.parametrize(
    ("verb", "file", "answer", "options"),
    [
        ("check", sketch(2000, "model.h"), "yes", ("--board", "nano33ble")),
        ("check", sketch(1136, "model.h"), "no", ("--board", "nano33ble")),
        ("check", sketch(OPEN, "model.h"), "if", ("--board", "nano33ble")),
        ("check", sketch(2000), "cannot tell", ("--board", "nano33ble")),
        ("check", c_array, "cannot tell", ("--board", "nano33ble", "--target", "cortex-m4")),
        ("explain", log(b"[RecordingMicroAllocator] Arena allocation total 1144 bytes\n"), "yes", ()),
        ("explain", log(REFUSED), "no", ()),
        ("explain", log(b"hello\n"), "cannot tell", ()),
        ("size", eon(512), "yes", ("--target", "cortex-m4")),
    ],
)
def test_other_kinds(
    verb: str,
    file: Callable[[Path], str],
    answer: Answer,
    options: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("tree_sitter_cpp")
    monkeypatch.chdir(tmp_path)
    name = file(tmp_path)
    assert_same(capsys, answer, verb, name, *options, begin="" if verb == "explain" else WORDS[answer])


def test_the_figure_is_the_same_in_every_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a program with two arenas each verb says both figures, and what they are together."""
    source = f"{TWO}int main() {{ fill(); {MADE.format('MicroAllocator::Create(stays, 1000, rest, 100)')} }}"
    program = str(set_up_forms.program(tmp_path, source))
    named = ("--firmware", program, "--runtime", RUNTIME)
    figures = []
    for arguments in (("size", SAMPLE, *named, "--json"), ("check", SAMPLE, *named, "--limit", "9000", "--json")):
        facts = json.loads(said(capsys, *arguments)[1])["program"]
        figures.append((facts["smallest_split_arenas"], facts["smallest_arena"]))
    small = str(tmp_path / "small.tflite")
    shrunk = json.loads(said(capsys, "shrink", SAMPLE, *named, "-o", small, "--json")[1])
    [target] = shrunk["targets"]
    before = target["before"]
    figures.append((before["smallest_split_arenas_bytes"], before["smallest_arena_bytes"]))
    facts = json.loads(said(capsys, "size", small, *named, "--json")[1])["program"]
    assert target["after"]["smallest_split_arenas_bytes"] == facts["smallest_split_arenas"]
    assert (facts["smallest_split_arenas"], facts["smallest_arena"]) == (
        {"persistent": 640, "non_persistent": 512},
        1152,
    )
    for goal, code in (("1152", 0), ("1151", 1)):  # Of both together, as check's limit.
        assert said(capsys, "shrink", SAMPLE, *named, "--goal", goal)[0] == code
        assert said(capsys, "check", small, *named, "--limit", goal)[0] == code
    row = json.loads(said(capsys, "firmware", program, "--runtime", RUNTIME, "--json")[1])["verdicts"][0]
    figures.append((row["smallest_split_arenas"], row["smallest_arena"]))
    expected = tflm_sim.simulate(SAMPLE, "cortex-m4", kernels="reference", runtime=RUNTIME, split_arenas=True).split
    assert expected is not None
    both = {"persistent": expected.persistent, "non_persistent": expected.non_persistent}
    assert figures == [(both, expected.persistent + expected.non_persistent)] * 4


@pytest.mark.parametrize(("limit", "code"), [(1000, 1), (1600, 0)])
def test_a_limit_is_for_both_arenas_also_where_one_of_them_has_that_size(
    limit: int, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two = TWO.replace("rest[100]", "rest[600]")
    source = f"{two}int main() {{ fill(); {MADE.format('MicroAllocator::Create(stays, 1000, rest, 600)')} }}"
    named = ("--firmware", str(set_up_forms.program(tmp_path, source)), "--runtime", RUNTIME)
    assert said(capsys, "check", SAMPLE, *named, "--limit", str(limit))[0] == code


def test_shrink_carries_what_a_figure_hangs_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = str(set_up_forms.program(tmp_path, OWN_PLANNER))
    _, text = said(capsys, "shrink", SAMPLE, "--firmware", program, "--time-limit", "1s", "--json")
    facts = json.loads(text)["program"]
    assert facts["answer"] == "if"
    assert "its own planner (Own) plans no more than TFLM's linear one" in facts["doubts"][0]["text"]
    first = said(capsys, "shrink", SAMPLE, "--firmware", program, "--time-limit", "1s")[1].splitlines()[0]
    assert ", if its own planner (Own) " in first
