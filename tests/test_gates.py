"""One gate per kind of input: who reads numbers, who writes names into files, who follows the paths of a document.

A module that does it beside the gate is found in its syntax tree, by what it calls.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.errors import UsageError
from tflm_sim.escape import code_span, csv_cell, csv_text, escaped, one_line, unescaped
from tflm_sim.numbers import as_whole, multiple, seconds, share_of, whole
from tflm_sim.sizes import parse_size

PACKAGE = Path(__file__).parents[1] / "tflm_sim"
NUMBERS = {"int", "float", "complex", "Decimal", "Fraction"}
OF_PEOPLE = (
    "cli/**/*.py",
    "checks/lifetime_answers.py",
    "extensions/*/additions.py",
    "extensions/*/cli*.py",
    "extensions/ci/**/*.py",
    "extensions/mcp/*.py",
    "names.py",
    "planners/problem.py",
)
"""The modules whose text comes from options, names, project files, the environment and forges."""


def modules() -> Iterator[Path]:
    for pattern in OF_PEOPLE:
        found = sorted(PACKAGE.glob(pattern))
        assert found, pattern
        yield from found


def readings(tree: ast.AST) -> Iterator[int]:
    """Yield the lines in which text may become a number beside the gate."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) != "isinstance":
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            for name in (node.func, *given):
                if isinstance(name, ast.Name) and name.id in NUMBERS:
                    yield node.lineno


def test_text_of_people_becomes_a_number_only_in_the_gate() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in modules()
        for line in readings(ast.parse(path.read_text("utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize("source", ["int(text)", "map(float, texts)", "add('--n', type=int)", "Decimal(text)"])
def test_a_reading_beside_the_gate_is_found(source: str) -> None:
    assert list(readings(ast.parse(source))) == [1]


@pytest.mark.parametrize("read", [whole, seconds, multiple, parse_size])
@pytest.mark.parametrize(
    "text", ["9" * 5000, "nan", "inf", "٣", "²", "1_0_", "", " ", "-", "0x", "1e5", "1" * 19 + "s"]
)
def test_what_is_no_number_is_one_sentence(read: object, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(text)  # type: ignore[operator]
    assert len(str(caught.value)) < 200


def test_what_is_a_number() -> None:
    assert (as_whole("-7"), as_whole("²"), as_whole("1.0")) == (-7, None, None)
    assert (whole(" 12 "), whole("0", least=0, most=3)) == (12, 0)
    assert (share_of("+10%"), share_of("10%"), multiple("+25%"), multiple("1.5")) == (0.1, None, 1.25, 1.5)
    with pytest.raises(UsageError, match=r"^4 is out of range: 0 to 3$"):
        whole("4", least=0, most=3)


BETWEEN_OUR_PROCESSES = {
    "answers/rows.py",
    "extensions/ci/forge.py",
    "extensions/firmware/emulation/execute.py",
    "extensions/firmware/emulation/qemu_monitor.py",
    "extensions/firmware/emulation/worker.py",
    "extensions/mcp/server.py",
    "extensions/page/site.py",
    "extensions/shrink/prove.py",
    "extensions/shrink/wheel_worker.py",
}
"""Modules whose JSON no person and no log ever sees: a protocol, a key, a file of the page."""


def calls(path: Path) -> set[str]:
    return {
        ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)
    }


def test_json_is_written_by_the_escaper() -> None:
    found = {
        str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if calls(path) & {"json.dump", "json.dumps"}
    }
    assert found - {"escape.py"} == BETWEEN_OUR_PROCESSES


def test_whoever_writes_csv_writes_the_escapers_cells() -> None:
    found = [path for path in PACKAGE.rglob("*.py") if calls(path) & {"csv.writer", "csv.DictWriter"}]
    assert len(found) == 2
    assert all("csv_cell" in calls(path) for path in found)


def test_a_name_in_markdown_is_a_code_span() -> None:
    found = [path for path in PACKAGE.rglob("*.py") if "### {" in path.read_text("utf-8")]
    assert {str(path.relative_to(PACKAGE)) for path in found} == {
        "extensions/ci/project_text.py",
        "report/verdict_text.py",
    }
    assert all("code_span" in calls(path) for path in found)


@given(
    st.text(
        st.sampled_from(["\\", "x", "5", "c", "1", "b", "\x1b", "\n", "|", "`", "'", "=", ":", "\ud800", "u", "#", "["])
    )
)
def test_two_names_are_never_alike_in_a_table(text: str) -> None:
    assert unescaped(escaped(text, also="`|")) == text
    assert csv_text(csv_cell(text)) == text
    assert one_line(csv_cell(text)) == csv_cell(text)
    assert not csv_cell(text).startswith(("=", "+", "-", "@"))
    assert code_span(text).count("`") == 2


NAMES_OF_OUR_OWN = {
    "extensions/ci/cli_diff.py": {"tree / prefix"},  # what git says of the work tree
    "extensions/ci/pytest_plugin/__init__.py": {  # what a test and the command line say
        "item.path.parent / name",
        "item.config.rootpath / name",
        "Path(item.config.invocation_params.dir, path)",
        "Path(item.config.rootpath, item.config.getoption('arena_baseline'))",
    },
    "extensions/firmware/emulation/backends.py": {"folder / chip.rom"},  # a table's
    "extensions/header/platformio.py": {"root / model", "folder / header"},  # options of a build, which executes more
    "extensions/mcp/folders.py": {"self.readable[0] / text"},  # a gate of its own: what the server was allowed
    "extensions/mcp/pages.py": {  # names of a table
        "files('tflm_sim.extensions.mcp').joinpath('pages', name)",
        "Path(__file__).parents[3] / 'docs' / name",
    },
    "extensions/mcp/tools.py": {"files('tflm_sim').joinpath('schemas', f'{tool.schema}.json')"},
    "extensions/page/cli.py": {"Path(args.write) / name"},
    "extensions/project/answer.py": {"os.path.join(folder, file)"},  # found by walking the folder
    "extensions/shrink/prove.py": {"Path(folder) / name"},
    "extensions/sweep/results.py": {  # beside the file that the option names
        "real.with_name(f'.{real.name}.lock')",
        "path.with_name(f'.{path.name}.part')",
        "self._path.with_name(f'.{self._path.name}.new')",
    },
    "files.py": {  # the gate; a temporary file
        "os.path.join(folder, name)",
        "os.path.join(folder, f'.{name[:64]}.{os.urandom(8).hex()}.tmp')",
    },
    "provenance.py": {  # git's own files of the clone in which this package lies
        "root / git.read_text('utf-8').partition(': ')[2].strip()",
        "git / common.read_text('utf-8').strip()",
        "folder / reference",
    },
    "samples/__init__.py": {"Path(__file__).with_name(f'{name}.tflite')"},
    "schemas/generate.py": {"Path(__file__).with_name(f'{name}.json')"},
}
"""Paths that are joined beside the gate, by module, and whose the name is."""
A_PATH = re.compile(r"(?i)path|folder|root|tree|here|git|parent|files\(|dir|readable|tmp")
ON_THE_DISK = re.compile(r"\b(?:os\.walk|listdir|scandir|iterdir|r?glob)\(")


def names_on_the_disk(tree: ast.AST) -> set[str]:
    """Return the variables that go over what a folder holds, or over a constant, or over such a variable."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.comprehension)]
    names: set[str] = set()
    for _ in loops:
        for loop in loops:
            over = {node.id for node in ast.walk(loop.iter) if isinstance(node, ast.Name)}
            if over & names or any(map(str.isupper, over)) or ON_THE_DISK.search(ast.unparse(loop.iter)):
                names |= {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    return names


def joined(tree: ast.AST) -> Iterator[str]:
    """Yield the paths that are made of a name which is neither written there, a constant, nor told by the disk."""
    told = names_on_the_disk(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(_, "join"), [_, *names]) if ast.unparse(node.func).endswith("path.join"):
                pass
            case ast.Call(ast.Attribute(_, "joinpath" | "with_name" | "with_segments"), names):
                pass
            case ast.Call(ast.Name("Path" | "PurePath"), [_, *names]):
                pass
            case ast.BinOp(left, ast.Div(), right) if A_PATH.search(ast.unparse(left)):
                names = [right]
            case _:
                continue
        if any(
            not isinstance(name, ast.Constant)
            and not (isinstance(name, ast.Name) and (name.id.isupper() or name.id in told))
            for name in names
        ):
            yield ast.unparse(node)


def test_a_documents_path_is_joined_only_in_the_gate() -> None:
    found = {
        str(path.relative_to(PACKAGE)): names
        for path in PACKAGE.rglob("*.py")
        if (names := set(joined(ast.parse(path.read_text("utf-8")))))
    }
    assert found == NAMES_OF_OUR_OWN


@pytest.mark.parametrize(
    "source",
    [
        "os.path.join(folder, document['model'])",
        "path.join(folder, 'models', name)",
        "folder.joinpath(row.path)",
        "Path(folder, name)",
        "path.with_name(text)",
        "self.folder / row['model']",
        "project.path.parent / f'{name}.json'",
        "[os.path.join(folder, one) for one in document['models']]",
    ],
)
def test_a_path_joined_beside_the_gate_is_found(source: str) -> None:
    assert list(joined(ast.parse(source))) == [source.strip("[").split(" for ")[0]]


@pytest.mark.parametrize(
    "source",
    ["[os.path.join(folder, one) for one in os.listdir(folder)]", "folder / PROJECT_FILE", "100 * part / whole"],
)
def test_what_no_document_names_is_not_found(source: str) -> None:
    assert list(joined(ast.parse(source))) == []
