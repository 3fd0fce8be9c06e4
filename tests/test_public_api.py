"""The public API: every name is there, editors and type checkers see the same names, and README's example runs."""

from __future__ import annotations

import ast
import inspect
import json
import math
import pickle
import pydoc
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from decimal import Decimal
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import tflm_sim
from tflm_sim.planners.by_name import PLANNERS

ROOT = Path(__file__).resolve().parent.parent


def test_every_public_name_resolves() -> None:
    assert [name for name in tflm_sim.__all__ if getattr(tflm_sim, name) is None] == []


def test_completion_offers_every_public_name_and_no_helper() -> None:
    assert {name for name in dir(tflm_sim) if not name.startswith("__")} == {*tflm_sim.__all__} - {"__version__"}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'abacus'"):
        tflm_sim.abacus  # noqa: B018


def test_the_stub_file_is_the_table_of_lazy_names() -> None:
    tree = ast.parse((ROOT / "tflm_sim/__init__.pyi").read_text("utf-8"))
    stub = {
        alias.asname: f"{node.module}:{alias.name}"
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    homes = {name: home if ":" in home else f"{home}:{name}" for name, home in tflm_sim._HOMES.items()}
    assert stub == homes
    offered = next(node.value for node in tree.body if isinstance(node, ast.Assign))
    assert ast.literal_eval(offered) == tflm_sim.__all__


def python(code: str) -> str:
    """Return what a fresh Python prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_help_shows_the_api() -> None:
    shown = python("import pydoc, tflm_sim; print(pydoc.plain(pydoc.render_doc(tflm_sim)))")
    for name in ("class Simulation", "shrink(", "load(", "draw_arena("):
        assert name in shown


def test_without_numpy_help_still_works_and_shrink_says_what_it_needs() -> None:
    hidden = "import sys, importlib.machinery as m; f = m.PathFinder.find_spec; "
    hidden += "m.PathFinder.find_spec = lambda n, *a: None if n == 'numpy' else f(n, *a); "
    shown = python(
        f"{hidden}import pydoc, tflm_sim\n"
        "print('smallest_arena(' in pydoc.render_doc(tflm_sim), 'shrink' in dir(tflm_sim))\n"
        "try:\n    tflm_sim.shrink\nexcept ImportError as error:\n    print(error)"
    )
    assert shown.startswith("True False\ntflm_sim.shrink needs numpy: ")
    assert shown.endswith("/python -m pip install 'numpy>=1.26'\n")


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_use_public_names_alone(path: Path) -> None:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    code = "".join("".join(cell["source"]) + "\n" for cell in cells if cell["cell_type"] == "code")
    assert re.findall(r"(?:from|import) tflm_sim\.\S+", code) == []


def test_the_example_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.tflite").write_bytes(tflm_sim.sample_path("sine").read_bytes())
    monkeypatch.chdir(tmp_path)
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert example is not None
    exec(compile(example[1], "README.md", "exec"), {})


SINE, M4 = tflm_sim.sample_path("sine"), "cortex-m4"
OWN = tflm_sim.OpModel("OWN")
FORMS: dict[str, Callable[[], Any]] = {
    "text": lambda: str(SINE),
    "Path": lambda: SINE,
    "bytes": SINE.read_bytes,
    "bytearray": lambda: bytearray(SINE.read_bytes()),
    "memoryview": lambda: memoryview(SINE.read_bytes()),
    "Model": lambda: tflm_sim.load(SINE),
    "sample": lambda: "sample:sine",
}
# For the sample "sine": 740 bytes of tail, 32 of head; 3 operators, 10 tensors of which 4 are planned.
OF_A_MODEL: dict[str, tuple[Callable[[Any], object], object]] = {
    "arena_objective": (lambda model: tflm_sim.arena_objective(M4)(model), 1168.0),
    "check": (lambda model: tflm_sim.check(model, M4, limit="2KiB").answer, "yes"),
    "encode": (lambda model: len(tflm_sim.encode(model)), 2136),
    "head_problem": (lambda model: len(tflm_sim.head_problem(model, M4).buffers), 4),
    "invoke": (lambda model: tflm_sim.invoke(model, M4, count=2).operators, 6),
    "lifetimes": (lambda model: len(tflm_sim.lifetimes(model, M4).buffers), 10),
    "lite_allocated": (lambda model: tflm_sim.lite_allocated(model).status, "ok"),
    "lite_summaries": (lambda model: [row.arena_bytes for row in tflm_sim.lite_summaries(model)], [144]),
    "load": (lambda model: len(tflm_sim.load(model).source), 2136),
    "replay_script": (lambda model: tflm_sim.replay_script(model, M4).arena_size, 1168),
    "sanitize": (lambda model: tflm_sim.sanitize(model, M4), ()),
    "shrink": (lambda model: tflm_sim.shrink(model, M4).gains[0].after.arena, 1156),
    "simulate": (lambda model: tflm_sim.simulate(model, M4, arena_size="4KiB").arena_size, 4096),
    "smallest_arena": (lambda model: tflm_sim.smallest_arena(model, M4).size, 1156),
    "Sizer": (lambda model: tflm_sim.Sizer().smallest_arena(model, M4).size, 1156),
    "sweep": (lambda model: list(tflm_sim.sweep(model, M4, jobs=1)["smallest_arena"]), [1156]),
    "take_picture": (lambda model: tflm_sim.take_picture(model, M4).arena_bytes, 1168),
    "verify": (lambda model: tflm_sim.verify(model, model, M4).operators, 3),
    "with_offline_plan": (lambda model: len(tflm_sim.with_offline_plan(model, M4, "greedy").source), 2376),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", OF_A_MODEL)
def test_a_model_is_a_path_bytes_a_model_or_a_sample(name: str, form: str) -> None:
    answer, expected = OF_A_MODEL[name]
    assert answer(FORMS[form]()) == expected


def test_several_models_on_one_arena_are_any_of_them() -> None:
    several = [form() for name, form in FORMS.items() if name != "memoryview"]
    # The head is shared; 6 tails of 740 bytes less the allocator's own objects, which there are once.
    assert tflm_sim.smallest_arena(several[:2], M4).size == 1780
    assert tflm_sim.simulate(several, M4).status == "ok"
    assert list(tflm_sim.sweep(several, M4, jobs=1)["smallest_arena"]) == [1156] * 6


A_MODEL = "a model (a path, the bytes of a .tflite file, a Model or 'sample:NAME')"
A_PICTURE = "a picture (take_picture(model, target) returns one)"
EXPECTED = {
    "arena_objective": "a target (the name of a preset, a Target or a Configuration)",
    "compare_planners": "a problem (head_problem(model, target) returns one) or a list of buffers",
    "double_batch": "a subgraph of an allocated model (double_batch is what 'shapes' of lite_allocated() takes)",
    "draw_arena": A_PICTURE,
    "draw_live_bytes": A_PICTURE,
    "draw_planners": "a problem (head_problem(model, target) returns one)",
    "draw_tail": A_PICTURE,
    "draw_two_sets": "bytes by name, as a dictionary,",
    "execute": "the path of an ELF file",
    "measure": "the path of an ELF file",
    "lite_pictures": "the name of the model",
    "open_port": "the name of a port",
    "parse": "the bytes of a .tflite file (load() takes a path)",
    "preset": "the name of a target",
    "run_script": "a script (replay_script() makes one)",
    "sample_path": "the name of a sample",
    "shrunk_lines": "a result of shrink()",
    "stream": A_MODEL,
    "streamed_lines": "a result of stream()",
    "trace_line": "an event (of simulate(...).events)",
    **dict.fromkeys(OF_A_MODEL.keys() - {"arena_objective", "Sizer"}, A_MODEL),
}
"""What each public function says that it expected for its first argument."""
FURTHER = {"limit": "64KiB", "step": 1, "target": M4, "targets": M4, "planner_name": "greedy", "result": SINE}


def public_functions() -> set[str]:
    return {name for name in tflm_sim.__all__ if inspect.isfunction(getattr(tflm_sim, name))}


def test_every_public_function_says_what_it_expects() -> None:
    assert public_functions() == EXPECTED.keys()


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_what_is_no_such_argument_is_refused_in_a_sentence(name: str) -> None:
    function = getattr(tflm_sim, name)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    further = [
        FURTHER.get(row.name)
        for row in parameters
        if row.kind == row.POSITIONAL_OR_KEYWORD and row.default is row.empty
    ]
    named = {
        row.name: FURTHER[row.name] for row in parameters if row.kind == row.KEYWORD_ONLY and row.default is row.empty
    }
    with pytest.raises(tflm_sim.UsageError) as refused:
        function(42, *further, **named)
    assert str(refused.value) == f"{EXPECTED[name]} was expected, not a value of type 'int' (42)"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: tflm_sim.smallest_arena("x.tflite", M4), "x.tflite: No such file or directory"),
        (lambda: tflm_sim.smallest_arena(b"", M4), "0 bytes are too few for a flatbuffer (at byte 0)"),
        (
            lambda: tflm_sim.smallest_arena([], M4),
            "at least one model is needed (a path, the bytes of a .tflite file, a Model or 'sample:NAME'); "
            "there are none",
        ),
        (
            lambda: tflm_sim.smallest_arena(SINE, 5),  # type: ignore[arg-type]
            "a target (the name of a preset, a Target or a Configuration) was expected, not a value of type 'int' (5)",
        ),
        (lambda: tflm_sim.verify(SINE, SINE, []), "at least one target is needed; there are none"),
        (lambda: tflm_sim.head_problem(SINE), "a model needs a target: give one, or a Simulation instead of the model"),
        (
            lambda: tflm_sim.head_problem(tflm_sim.simulate(SINE, M4), M4),
            "a Simulation already has a target and settings; give them only with a model",
        ),
        (
            lambda: tflm_sim.draw_planners(tflm_sim.head_problem(SINE, M4), None),  # type: ignore[arg-type]
            "a comparison (compare_planners(problem) returns one) was expected, not a value of type 'NoneType' (None)",
        ),
    ],
)
def test_a_call_without_an_answer_says_why(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises((tflm_sim.UsageError, tflm_sim.ModelError)) as refused:
        call()
    assert str(refused.value) == sentence


SIZES: dict[str, Callable[[Any], object]] = {
    "arena_size": lambda size: tflm_sim.simulate(SINE, M4, arena_size=size),
    "non_persistent_arena_size": lambda size: tflm_sim.simulate(SINE, M4, non_persistent_arena_size=size),
    "variable_arena": lambda size: tflm_sim.simulate(SINE, M4, variable_arena=size),
    "goal": lambda size: tflm_sim.shrink(SINE, M4, goal=size),
    "max_flash": lambda size: tflm_sim.shrink(SINE, M4, max_flash=size),
    "limit": lambda size: tflm_sim.sweep(SINE, M4, limit=size, jobs=1),
}


@pytest.mark.parametrize("name", SIZES)
def test_a_size_is_a_number_of_bytes_or_text_with_a_unit(name: str) -> None:
    for size in (4096, "4096", "4KiB", "4K"):
        SIZES[name](size)
    for given, sentence in (
        ("4KB", "'4KB' is ambiguous: KB can mean 1000 or 1024; write KiB (1024)"),
        (1.5, f"{name} in bytes (65536) or as text ('64KiB') was expected, not a value of type 'float' (1.5)"),
        (-1, f"{name} of -1 bytes: the size must not be negative"),
    ):
        with pytest.raises(tflm_sim.UsageError) as refused:
            SIZES[name](given)
        assert str(refused.value) == sentence


# A further argument of another type -> what was expected; ``object()`` has no value to show.
FURTHER_ARGUMENTS: dict[str, tuple[Callable[[Any], object], str]] = {
    "kernels": (lambda given: tflm_sim.preset(M4, kernels=given), "the name of a kernel library"),
    "runtime": (lambda given: tflm_sim.preset(M4, runtime=given), "the name of a version of TFLM"),
    "arena_address": (lambda given: tflm_sim.simulate(SINE, M4, arena_address=given), "arena_address as a number"),
    "resource_variables": (
        lambda given: tflm_sim.simulate(SINE, M4, resource_variables=given),
        "resource_variables as a number",
    ),
    "board": (lambda given: tflm_sim.smallest_arena(SINE, board=given), "the name of a board"),
    "library": (lambda given: tflm_sim.smallest_arena(SINE, M4, library=given), "the name of a library"),
    "firmware": (lambda given: tflm_sim.smallest_arena(SINE, firmware=given), "the path of a program"),
    "planner": (lambda given: tflm_sim.smallest_arena(SINE, M4, planner=given), "the name of a planner"),
    "own_planner": (lambda given: tflm_sim.smallest_arena(SINE, M4, own_planner=given), "own_planner as a truth value"),
    "offline_plan": (lambda given: tflm_sim.shrink(SINE, M4, offline_plan=given), "offline_plan as a truth value"),
    "target": (lambda given: tflm_sim.Configuration(given), "a Target"),
    "size of a buffer": (lambda given: tflm_sim.Buffer(given, 0, 1), "a buffer's size as a number"),
    "kernels of LiteRT": (lambda given: tflm_sim.LiteSettings(given), "the name of a set of kernels"),
    "custom_ops": (lambda given: tflm_sim.simulate(SINE, M4, custom_ops=given), "custom_ops as several OpModel"),
    "one of custom_ops": (
        lambda given: tflm_sim.simulate(SINE, M4, custom_ops=[given]),
        "custom_ops as several OpModel",
    ),
    "preserved": (lambda given: tflm_sim.simulate(SINE, M4, preserved=given), "preserved as pairs (subgraph, tensor)"),
    "observers": (
        lambda given: tflm_sim.smallest_arena(SINE, M4, observers=[given]),
        "observers that can be called with an event",
    ),
    "assumed": (lambda given: tflm_sim.take_picture(SINE, M4, assumed=given), "assumed as names of options"),
    "count": (lambda given: tflm_sim.invoke(SINE, M4, count=given), "how many times as a number"),
    "offsets": (lambda given: tflm_sim.invoke(SINE, M4, offsets=given), "the offsets of a plan in bytes"),
    "names": (lambda given: tflm_sim.compare_planners([], names=given), "the names of planners"),
    "planners": (lambda given: tflm_sim.compare_planners([], planners=given), "planners by name, as a dictionary,"),
    "planner_name": (lambda given: tflm_sim.with_offline_plan(SINE, M4, given), "the name of a planner"),
    "time_limit": (lambda given: tflm_sim.compare_planners([], time_limit=given), "a time limit in seconds"),
    "time_limit of shrink": (lambda given: tflm_sim.shrink(SINE, M4, time_limit=given), "a time limit in seconds"),
    "max_macs": (lambda given: tflm_sim.shrink(SINE, M4, max_macs=given), "max_macs as a number (1.35)"),
    "operators": (lambda given: tflm_sim.shrink(SINE, M4, operators=given), "the names of operators"),
    "progress": (
        lambda given: tflm_sim.shrink(SINE, M4, progress=given),
        "progress that can be called with a line of text",
    ),
    "width": (lambda given: tflm_sim.draw_two_sets({}, {}, width=given), "a size in inches"),
    "sizes": (lambda given: tflm_sim.execute("a.elf", sizes=given), "sizes in bytes"),
    "settings": (lambda given: tflm_sim.lite_allocated(SINE, given), "settings as LiteSettings"),
    "title": (lambda given: tflm_sim.head_problem(SINE, M4, title=given), "title as a text"),
    "title of a picture": (lambda given: tflm_sim.take_picture(SINE, M4, title=given), "title as a text"),
    "shrunk_by": (lambda given: tflm_sim.take_picture(SINE, M4, shrunk_by=given), "shrunk_by as a text"),
    "strict": (lambda given: tflm_sim.load(SINE, strict=given), "strict as a truth value"),
    "path of what is parsed": (lambda given: tflm_sim.parse(b"", path=given), "path as a text"),
    "replace_plan": (
        lambda given: tflm_sim.with_offline_plan(SINE, M4, "greedy", replace_plan=given),
        "replace_plan as a truth value",
    ),
    "int8_io": (lambda given: tflm_sim.verify(SINE, SINE, int8_io=given), "int8_io as a truth value"),
    "release": (lambda given: tflm_sim.LiteSettings(release=given), "a release of LiteRT"),
    "simulation": (lambda given: tflm_sim.Lifetimes(given), "a simulation"),
    "client": (lambda given: tflm_sim.sweep(SINE, M4, given), "client as a dask.distributed.Client"),
    "op_model": (lambda given: tflm_sim.KernelProbe(given, [], []), "op_model as an OpModel"),
    "inputs": (lambda given: tflm_sim.KernelProbe(OWN, [given], []), "inputs as several TensorSpec or None"),
    "outputs": (lambda given: tflm_sim.KernelProbe(OWN, [], [given]), "outputs as several TensorSpec"),
    "most_prepares": (lambda given: tflm_sim.Sizer(most_prepares=given), "most_prepares as a number"),
    "arena_size of a kernel": (
        lambda given: tflm_sim.KernelProbe(OWN, [], [], arena_size=given),
        "arena_size as a number",
    ),
    "target of a kernel": (lambda given: tflm_sim.KernelProbe(OWN, [], [], target=given), "a Target"),
    "shapes": (lambda given: tflm_sim.lite_allocated(SINE, shapes=given), "shapes as pairs (tensor, shape)"),
    "run": (lambda given: tflm_sim.check(SINE, M4, limit=4096, run=given), "run as a truth value"),
    "target of a check": (
        lambda given: tflm_sim.check(SINE, given, limit=4096),
        "a target (the name of a preset, a Target or a Configuration)",
    ),
    "aim": (lambda given: tflm_sim.shrink(SINE, M4, aim=given), "aim as a BankAim"),
    "aim of a stream": (lambda given: tflm_sim.stream(SINE, 1, aim=given), "aim as a text"),
    "force_float": (lambda given: tflm_sim.stream(SINE, 1, force_float=given), "force_float as a truth value"),
    "ask": (
        lambda given: tflm_sim.run_script(tflm_sim.replay_script(SINE, M4), given),
        "ask that can be called with a command",
    ),
    "targets of a sweep": (lambda given: tflm_sim.sweep(SINE, given), "the names of targets or boards"),
}


@pytest.mark.parametrize("name", FURTHER_ARGUMENTS)
def test_a_further_argument_of_another_type_is_refused_in_a_sentence(name: str) -> None:
    call, expected = FURTHER_ARGUMENTS[name]
    with pytest.raises(tflm_sim.UsageError) as refused:
        call(object())
    assert str(refused.value) == f"{expected} was expected, not a value of type 'object'"


@pytest.mark.parametrize("given", ["SLICE", "", b"SLICE"])
def test_a_text_is_not_several(given: Any) -> None:
    for call in (
        lambda: tflm_sim.shrink(SINE, M4, operators=given),
        lambda: tflm_sim.simulate(SINE, M4, own_requests=given),
        lambda: tflm_sim.take_picture(SINE, M4, assumed=given),
    ):
        with pytest.raises(tflm_sim.UsageError, match="was expected, not a value of type"):
            call()


# An argument that is a number -> how it is given, the smallest and the largest that has a meaning.
_BITS_63 = 2**63 - 1
TARGET = tflm_sim.preset(M4)
NUMBERS: dict[str, tuple[Callable[[Any], object], int, int]] = {
    "arena_address": (lambda given: tflm_sim.smallest_arena(SINE, M4, arena_address=given), 0, 15),
    "resource_variables": (lambda given: tflm_sim.Configuration(TARGET, resource_variables=given), 0, _BITS_63),
    "one of own_requests": (lambda given: tflm_sim.Configuration(TARGET, own_requests=(given,)), 0, _BITS_63),
    "threads": (lambda given: tflm_sim.LiteSettings(threads=given), 1, 2**31 - 1),
    "while_iterations": (lambda given: tflm_sim.invoke(SINE, M4, while_iterations=given), 0, _BITS_63),
    "a buffer's size": (lambda given: tflm_sim.Buffer(given, 0, 1), 0, 2**63),
    "a buffer's lower": (lambda given: tflm_sim.Buffer(0, given, 2**63), -(2**63), 2**63 - 1),
    "a buffer's upper": (lambda given: tflm_sim.Buffer(0, -(2**63), given), 1 - 2**63, 2**63),
    "a buffer's alignment": (lambda given: tflm_sim.Buffer(0, 0, 1, given), 1, 2**63),
    "a buffer's offset": (lambda given: tflm_sim.Buffer(0, 0, 1, 1, given), 0, 2**63),
    "prove_runs": (lambda given: tflm_sim.shrink(SINE, M4, prove_runs=given), 0, 2**31 - 1),
    "into": (lambda given: tflm_sim.shrink(SINE, M4, into=given), 0, 2**31 - 1),
    "axis": (lambda given: tflm_sim.verify(SINE, SINE, axis=given), 0, 2**31 - 1),
    "processes": (lambda given: tflm_sim.sweep(SINE, M4, jobs=given).size, 1, 2),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_a_whole_one_with_a_meaning_or_refused_in_a_sentence(name: str) -> None:
    call, least, most = NUMBERS[name]
    call(least)
    call(most)
    for given in (
        least - 1,
        2**63 + 1,
        2**64 + 16,
        10**5000,
        -(10**5000),
        True,
        1.5,
        math.nan,
        math.inf,
        "1",
        b"1",
        [],
    ):
        with pytest.raises(tflm_sim.UsageError) as refused:
            call(given)
        assert len(str(refused.value)) < 200


def test_the_mobile_runtime_has_the_kernels_that_are_named_or_none() -> None:
    with pytest.raises(tflm_sim.UsageError, match="unknown set of kernels 'optimised'; did you mean optimized"):
        tflm_sim.LiteSettings("optimised")


def test_a_kernel_of_ones_own_asks_for_whole_bytes() -> None:
    numpy = pytest.importorskip("numpy")

    def size(given: Any) -> int:
        def prepare(node: tflm_sim.Node) -> tflm_sim.Steps[None]:
            yield tflm_sim.Persistent(given, "table")

        return tflm_sim.smallest_arena(SINE, M4, custom_ops=[tflm_sim.OpModel("FULLY_CONNECTED", prepare=prepare)]).size

    assert size(numpy.int8(100)) == size(100)
    for given in (True, 1.5, "1"):
        with pytest.raises(tflm_sim.UsageError, match=r"^the bytes of a Persistent was expected"):
            size(given)


def test_numbers_of_numpy_are_numbers_that_do_not_wrap_around() -> None:
    numpy = pytest.importorskip("numpy")
    buffers = [tflm_sim.Buffer(numpy.int8(100), numpy.uint8(0), numpy.int64(2)), tflm_sim.Buffer(16, 0, 3)]
    outcomes = tflm_sim.compare_planners([*buffers, *buffers], names=list(PLANNERS), time_limit=60).outcomes
    assert {each.planner: each.plan and each.plan.peak for each in outcomes} == dict.fromkeys(PLANNERS, 232)
    own = tflm_sim.smallest_arena(SINE, M4, own_requests=[numpy.int8(100)]).size
    assert own == tflm_sim.smallest_arena(SINE, M4, own_requests=[100]).size
    assert tflm_sim.smallest_arena(SINE, M4, own_planner=numpy.bool_(True)) == tflm_sim.smallest_arena(
        SINE, M4, own_planner=True
    )
    for given in (numpy.array([4096]), numpy.float32(4096), numpy.bool_(True)):
        with pytest.raises(tflm_sim.UsageError, match=r"^arena_size in bytes"):
            tflm_sim.simulate(SINE, M4, arena_size=given)
    assert tflm_sim.invoke(SINE, M4, count=numpy.int64(2), offsets=numpy.array([0, 16, 0, 16])).count == 2


def test_a_size_or_a_time_may_be_any_number_that_is_a_float() -> None:
    figure = tflm_sim.draw_two_sets({"a": 1}, {"a": 2}, width=Fraction(5), height=Decimal(3))
    assert tuple(figure.get_size_inches()) == (5, 3)
    assert tflm_sim.compare_planners(SINE, M4, names="greedy", time_limit=Decimal(60)).lower_bound == 32


def test_no_models_and_no_targets_are_several() -> None:
    numpy = pytest.importorskip("numpy")
    for given, what in (((numpy.array(5), M4), "a model"), ((SINE, numpy.array(5)), "a target")):
        with pytest.raises(tflm_sim.UsageError, match=f"^{what} .* was expected, not a value of type 'ndarray'$"):
            tflm_sim.shrink(*given)
    with pytest.raises(tflm_sim.UsageError, match=r"a model .* was expected, not a value of type 'ndarray'$"):
        tflm_sim.simulate(numpy.array(5), M4)


@pytest.mark.parametrize("shapes", [[(0,)], [(0, (1, 16), 2)], [(0.5, (1,))], [(0, (1.5,))], [(0, 4)], "ab", [b"ab"]])
def test_shapes_for_the_mobile_runtime_are_pairs(shapes: Any) -> None:
    with pytest.raises(tflm_sim.UsageError, match=r"^(shapes as pairs \(tensor, shape\)|a dimension as a number) was"):
        tflm_sim.lite_allocated(SINE, shapes=shapes)


def test_the_mobile_runtime_gets_shapes_of_numpy() -> None:
    numpy = pytest.importorskip("numpy")
    shape, tensor = numpy.array([2, 1], dtype=numpy.int8), tflm_sim.load(SINE).subgraphs[0].inputs[0]
    twice = tflm_sim.lite_allocated(SINE, shapes=[(numpy.int64(tensor), shape)])
    assert [row.arena_bytes for row in tflm_sim.lite_summaries(twice)] == [
        row.arena_bytes for row in tflm_sim.lite_summaries(tflm_sim.lite_allocated(SINE, shapes=tflm_sim.double_batch))
    ]


def test_a_name_that_no_file_has_is_no_program() -> None:
    with pytest.raises(tflm_sim.TflmSimError, match="cannot be read"):
        tflm_sim.measure("a\0b")


@pytest.mark.parametrize("width", [0, -1, float("nan"), 2**70])
def test_a_figure_has_a_size(width: float) -> None:
    with pytest.raises(tflm_sim.UsageError) as refused:
        tflm_sim.draw_two_sets({}, {}, width=width)
    assert str(refused.value) == f"a figure is more than 0 and at most 1000 inches wide and high, not {width}"


def test_a_sweep_has_settings_that_can_be_sent() -> None:
    with pytest.raises(tflm_sim.UsageError) as refused:
        tflm_sim.sweep(SINE, M4, runtime=int)
    expected = "the settings of a sweep must be JSON values: Object of type type is not JSON serializable"
    assert str(refused.value) == expected


def test_shrink_names_its_options_where_one_is_unknown() -> None:
    with pytest.raises(TypeError, match="shrink\\(\\) has no option 'fast'; use one of: offline_plan, kernel_order"):
        tflm_sim.shrink(SINE, M4, fast=True)  # type: ignore[call-arg]


def test_planners_are_compared_on_what_head_problem_returns() -> None:
    comparison = tflm_sim.compare_planners(tflm_sim.head_problem(SINE, M4))
    assert [row.planner for row in comparison.outcomes] == ["greedy", "gpu_greedy_by_size", "vela_greedy", "hill_climb"]
    assert comparison.lower_bound == 32
    assert [row.planner for row in tflm_sim.compare_planners(SINE, M4, names="greedy").outcomes] == ["greedy"]
    assert tflm_sim.compare_planners(SINE, "cortex-m4").lower_bound == 32
    with pytest.raises(tflm_sim.UsageError, match="planners are named by `names=`"):
        tflm_sim.compare_planners(tflm_sim.head_problem(SINE, M4), "greedy")


def test_the_help_of_every_public_function_is_a_screen() -> None:
    for name in tflm_sim.__all__:
        found = getattr(tflm_sim, name)
        if inspect.isfunction(found):
            lines = pydoc.plain(pydoc.render_doc(found)).splitlines()
            shown = sum(-(-max(len(line), 1) // 80) for line in lines)
            assert shown <= 48, name


def _simulation() -> tflm_sim.Simulation:
    return tflm_sim.simulate("sample:keyword_spotter", M4)


def _execution() -> tflm_sim.Execution:
    return tflm_sim.Execution(
        file="a.elf",
        core="cortex-m4",
        emulator="unicorn",
        start="main",
        is_guessed=False,
        ending="",
        output="x\n",
        arenas=(),
    )


# What a result says after it was pickled and unpickled: of "keyword_spotter" 16,000 bytes of head, 6,812 of tail.
RESULTS: dict[str, tuple[Callable[[], Any], Callable[[Any], object], object]] = {
    "ArenaObjective": (lambda: tflm_sim.arena_objective(M4), lambda found: found(SINE), 1168.0),
    "Comparison": (
        lambda: tflm_sim.compare_planners(tflm_sim.head_problem(SINE, M4)),
        lambda found: found.best.plan.peak,
        32,
    ),
    "Execution": (_execution, lambda found: found.exit_code, 3),
    "Invocation": (lambda: tflm_sim.invoke(_simulation()), lambda found: found.operators, 13),
    "Lifetimes": (lambda: tflm_sim.lifetimes(SINE, M4), lambda found: found.find("output").size, 1),
    "LiteAnswer": (
        lambda: tflm_sim.lite_allocated(SINE, shapes=tflm_sim.double_batch),
        lambda found: [row.arena_bytes for row in tflm_sim.lite_summaries(found)],
        [160],
    ),
    "LiteSummary": (lambda: tflm_sim.lite_summaries(SINE)[0], lambda found: found.arena_bytes, 144),
    "Model": (lambda: tflm_sim.load(SINE), lambda found: len(found.source), 2136),
    "Picture": (lambda: tflm_sim.take_picture(SINE, M4), lambda found: found.arena_bytes, 1168),
    "Problem": (lambda: tflm_sim.head_problem(_simulation()), lambda found: len(found.buffers), 16),
    "ReplayOutcome": (lambda: tflm_sim.ReplayOutcome((), 3, 16, 32, 48, 0, 0), lambda found: found.mark, 48),
    "ReplayScript": (lambda: tflm_sim.replay_script(SINE, M4), lambda found: found.mark, 1168),
    "Shrunk": (lambda: tflm_sim.shrink("sample:residual", M4), lambda found: found.gains[0].after.arena, 43408),
    "Simulation": (_simulation, lambda found: (found.head_bytes, found.smallest.size), (16000, 22824)),
    "Sizing": (
        lambda: tflm_sim.Sizer().sizing(SINE, M4),
        lambda found: (found.smallest.size, found.tail_bytes),
        (1156, 740),
    ),
    "SmallestArena": (lambda: tflm_sim.smallest_arena(SINE, M4), lambda found: found.size, 1156),
    "Streamed": (
        lambda: tflm_sim.stream("sample:keyword_spotter", 2, axis=1, aim="macs"),
        lambda found: (found.gains[0].after.arena, found.after.macs),
        (52576, 1105408),
    ),
    "Target": (lambda: _simulation().configuration.target, lambda found: found.sizeof("TfLiteEvalTensor"), 12),
    "Verdict": (
        lambda: tflm_sim.check(SINE, M4, limit=1000),
        lambda found: (found.answer, found.needed, found.exit_code),
        ("no", 1168, 1),
    ),
    "Verified": (lambda: tflm_sim.verify(SINE, SINE), lambda found: found.operators, 3),
}
NOT_PICKLED = {"SerialPort"}
"""An open port stays where it is."""


def returned_classes() -> dict[str, type]:
    """Return the project's classes that annotations of public functions name as what they return."""
    found = {}
    for name in public_functions():
        function = getattr(tflm_sim, name)
        for word in re.findall(r"\w+", inspect.signature(function).return_annotation):
            kind = function.__globals__.get(word)
            if inspect.isclass(kind) and kind.__module__.startswith("tflm_sim."):
                found[word] = kind
    return found


def test_every_class_that_a_public_function_returns_is_public() -> None:
    public = {getattr(tflm_sim, name): name for name in tflm_sim.__all__}
    returned = {public.get(kind, f"{word} is not public") for word, kind in returned_classes().items()}
    assert returned | {"Execution", "Sizing"} == (RESULTS.keys() | NOT_PICKLED | {"Finding", "MeasuredProgram"})


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_can_be_pickled_and_has_a_repr_of_one_line(name: str) -> None:
    make, asked, expected = RESULTS[name]
    result = make()
    assert type(result) is getattr(tflm_sim, name)
    for found in (result, pickle.loads(pickle.dumps(result))):
        assert asked(found) == expected
        assert "\n" not in repr(found)
        assert len(repr(found)) <= 250


@pytest.mark.parametrize("settings", [{}, {"arena_size": 2000}, {"split_arenas": True}])
def test_a_simulation_is_the_same_after_pickling(settings: dict[str, Any]) -> None:
    simulation = tflm_sim.simulate("sample:streaming", M4, **settings)
    again = pickle.loads(pickle.dumps(simulation))
    assert again.events == simulation.events
    assert (again.status, again.arena_size, again.split) == (simulation.status, simulation.arena_size, simulation.split)


def test_a_pool_of_processes_returns_a_simulation() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(tflm_sim.simulate, "sample:sine", M4).result(60).smallest.size == 1156


def test_an_unsupported_operator_comes_back_from_a_pool_whole() -> None:
    error = tflm_sim.UnsupportedOpError("no model of it", op="FOO", subgraph=0, node=3)
    error.path = "a.tflite"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.op, again.subgraph, again.node) == ("a.tflite: no model of it", "FOO", 0, 3)


def test_every_public_name_is_documented() -> None:
    page = (ROOT / "docs/reference/api.md").read_text("utf-8").splitlines()
    homes = {
        name: home.replace(":", ".") if ":" in home else f"{home}.{name}" for name, home in tflm_sim._HOMES.items()
    }
    absent = [name for name, home in homes.items() if f"::: {home}" not in page]
    assert [name for name in absent if not homes[name].startswith("tflm_sim.errors.")] == []
