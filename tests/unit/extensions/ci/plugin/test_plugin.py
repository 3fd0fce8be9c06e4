"""The pytest plugin, by pytester: marker, fixture, assertions, baselines, xdist, summary."""

from __future__ import annotations

import json
import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

import tflm_sim.extensions.ci.pytest_plugin.checker
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType

pytest_plugins = ["pytester"]

# The runs inside load nothing else, which is quicker.
PLUGIN = ("-p", "tflm_sim.extensions.ci.pytest_plugin", "-p", "no:cacheprovider")
SINE = "sample:sine on cortex-m4 (reference, plain, greedy)"
MARK = '@pytest.mark.arena(model="sample:{model}", target="cortex-m4", kernels="reference"{more})\n'


@pytest.fixture(autouse=True)
def _no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess(*PLUGIN, *arguments)


def write(pytester: pytest.Pytester, *bodies: str, model: str = "sine", more: str = "") -> None:
    """Write one test per body, all about one sample."""
    tests = [
        f"{MARK.format(model=model, more=more)}def test_{i}(arena):\n    {body}\n" for i, body in enumerate(bodies)
    ]
    pytester.makepyfile("import pytest\n\n" + "\n".join(tests))


def test_the_questions(pytester: pytest.Pytester) -> None:
    write(
        pytester,
        "assert arena.size() == 1072",
        "assert arena.simulate().status == 'ok' and arena.simulate('1000').status == 'error'",
        "assert arena.lifetimes().find('input').home == 'head'",
        "arena.assert_sound()",
    )
    run(pytester).assert_outcomes(passed=4)


@pytest.mark.parametrize(
    ("target", "assumed"), [('target="cortex-m4", ', "assumed: library"), ("", "assumed: target, library")]
)
def test_what_nobody_named_is_said_above_the_table(pytester: pytest.Pytester, target: str, assumed: str) -> None:
    mark = f'@pytest.mark.arena(model="sample:sine", {target}kernels="reference")'
    pytester.makepyfile(f"import pytest\n\n{mark}\ndef test_it(arena):\n    arena.size()\n")
    run(pytester).stdout.fnmatch_lines([f"for cortex-m4 (not named, so {assumed}): *"])


@pytest.mark.parametrize(("target", "size"), [("", 55200), ('target="nano33ble-chirale", ', 55200)])
def test_a_library_is_named_as_on_the_command_line(pytester: pytest.Pytester, target: str, size: int) -> None:
    mark = f'@pytest.mark.arena(model="sample:residual", {target}library="chirale")'
    pytester.makepyfile(f"import pytest\n\n{mark}\ndef test_it(arena):\n    assert arena.size() == {size}\n")
    result = run(pytester)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["for nano33ble-chirale: TFLM of 2023-01-13 (chirale-2.0.0), cmsis_nn@e98ee09 (dsp)"])


def test_a_model_that_never_invokes_fits_nowhere(pytester: pytest.Pytester) -> None:
    builder = ModelBuilder()
    tensor, result = (builder.tensor((4, 4), TensorType.INT16, scale=0.5) for _ in range(2))
    paddings = builder.tensor((2, 2), TensorType.INT32, data=bytes(16))
    builder.operator("MIRROR_PAD", [tensor, paddings], [result])
    (pytester.path / "mirror.tflite").write_bytes(builder.build(inputs=[tensor], outputs=[result]))
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.arena(model="mirror.tflite", limit="64KiB")
        def test_by_limit(): pass
        @pytest.mark.arena(model="mirror.tflite")
        def test_by_assertion(arena): arena.assert_fits("64KiB")
        """
    )
    result = run(pytester)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*mirror.tflite allocates, but Invoke() fails: #0 MIRROR_PAD: INT16 is not supported"])


def test_the_limit_of_the_marker_is_checked_without_the_fixture(pytester: pytest.Pytester) -> None:
    mark = MARK.format(model="sine", more=', limit="{limit}"')
    pytester.makepyfile(
        "import pytest\n\n" + mark.format(limit="1072") + "def test_fits(): pass\n\n"
        + mark.format(limit="1056") + "def test_does_not(): pass\n"
    )  # fmt: skip
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([
        "*no: sample:sine does not fit on cortex-m4: it needs 1,072 B, 16 B more than 1,056 B*",
        "*the device prints: Too many buffers (max is 3)*",
        "*does not fit in a byte less: *bytes of planner tables for 4 buffers*",
        "*head 32 B, fullest at *",
        "*tensor 0*##..*",
    ])  # fmt: skip


def test_what_is_alive(pytester: pytest.Pytester) -> None:
    write(pytester, "arena.assert_alive('input', during=0)", "arena.assert_alive('input', during='FULLY_CONNECTED')")
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([
        "*tensor 0 * is not alive during FULLY_CONNECTED #1: it lives from the inputs to FULLY_CONNECTED #0; by then "
        "its bytes belong to tensor * *",
        "*tensor 0 *##..*",
        "*^ FULLY_CONNECTED #1",
    ])  # fmt: skip


def test_who_reuses_memory(pytester: pytest.Pytester) -> None:
    write(pytester, "arena.assert_reuses(1, 7)", "arena.assert_reuses('input', 'output')", model="keyword_spotter")
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*tensor 0 (features) and tensor 34 (probabilities) have no byte in common:*"])


def test_constants_are_not_said_to_be_alive_together(pytester: pytest.Pytester) -> None:
    """Two constants have no byte of the arena in common because they have none there."""
    write(pytester, "arena.assert_reuses(2, 3)", model="keyword_spotter")
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*tensor 2 * is a constant in flash, which takes no byte of the arena*"])
    assert "alive at the same time" not in result.stdout.str()


def test_neighbours_that_meet_in_one_operator_are_alive_together(pytester: pytest.Pytester) -> None:
    """Both ends of an operator are needed while it runs, though one dies there and the other begins."""
    pytester.makepyfile(
        """
        import pytest
        from tflm_sim.model.build import ModelBuilder
        from tflm_sim.model.load import parse
        from tflm_sim.model.types import TensorType

        builder = ModelBuilder()
        a, b, c = (builder.tensor((1, 16), TensorType.INT8, scale=0.5, name=name) for name in "abc")
        builder.operator("RELU", [a], [b])
        builder.operator("RELU", [b], [c])

        @pytest.mark.arena(model=parse(builder.build(inputs=[a], outputs=[c])))
        def test_pair(arena):
            arena.assert_reuses("a", "b")
        """
    )
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*tensor 0 (a) and tensor 1 (b) have no byte in common:*", "*they are alive at the same time*"]
    )


def test_what_persists(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from tflm_sim.model.build import ModelBuilder
        from tflm_sim.model.load import parse
        from tflm_sim.model.types import TensorType

        def model():
            builder = ModelBuilder()
            a, b = (builder.tensor((1, 16), TensorType.INT8, scale=0.5, name=name) for name in "ab")
            state = builder.tensor((1, 16), TensorType.INT8, scale=0.5, name="state", is_variable=True)
            builder.operator("ADD", [a, state], [b])
            return parse(builder.build(inputs=[a], outputs=[b]))

        @pytest.mark.arena(model=model())
        def test_state(arena):
            arena.assert_persistent("state")

        @pytest.mark.arena(model=model())
        def test_input(arena):
            arena.assert_persistent("a")
        """
    )
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*tensor 0 (a) does not persist: still there after Invoke()*"])


def test_growth_against_a_baseline(pytester: pytest.Pytester) -> None:
    write(pytester, "arena.assert_no_growth('sizes.json')")
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*sizes.json has no size for {SINE}: run pytest with --arena-update-baseline once*"])
    run(pytester, "--arena-update-baseline").assert_outcomes(passed=1)
    path = pytester.path / "sizes.json"
    assert json.loads(path.read_text()) == {"schema_version": 1, "sizes": {SINE: 1072}}
    run(pytester).assert_outcomes(passed=1)
    path.write_text(json.dumps({"schema_version": 1, "sizes": {SINE: 1056}}))
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*sample:sine needs 16 B more than before: 1,056 -> 1,072 B (sizes.json)*"])


def test_fail_on_increase_remembers_the_last_good_size(pytester: pytest.Pytester) -> None:
    write(pytester, "pass")
    path = pytester.path / "arena_baseline.json"
    run(pytester, "--arena-fail-on-increase").assert_outcomes(passed=1)
    assert json.loads(path.read_text())["sizes"] == {SINE: 1072}
    path.write_text(json.dumps({"schema_version": 1, "sizes": {SINE: 1056, "another": 5}}))
    result = run(pytester, "--arena-fail-on-increase")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*1,072*+16*failed*sample:sine on cortex-m4*"])
    assert json.loads(path.read_text())["sizes"] == {SINE: 1056, "another": 5}
    path.write_text(json.dumps({"schema_version": 1, "sizes": {SINE: 2000, "another": 5}}))
    run(pytester, "--arena-fail-on-increase").assert_outcomes(passed=1)
    assert json.loads(path.read_text())["sizes"] == {SINE: 1072, "another": 5}


def test_a_failed_test_remembers_nothing(pytester: pytest.Pytester) -> None:
    write(pytester, "assert False")
    run(pytester, "--arena-fail-on-increase").assert_outcomes(failed=1)
    assert not (pytester.path / "arena_baseline.json").exists()


@pytest.mark.slow
def test_workers_of_xdist_share_one_baseline(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    names = ("sine", "keyword_spotter", "residual", "streaming")
    pytester.makepyfile(
        "import pytest\n\n"
        + "\n".join(MARK.format(model=name, more="") + f"def test_{name}(arena): pass\n" for name in names)
    )
    result = pytester.runpytest_subprocess(*PLUGIN, "-p", "xdist.plugin", "-n", "2", "--arena-fail-on-increase")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*arena sizes*", "*22,784*keyword_spotter*"])
    sizes = json.loads((pytester.path / "arena_baseline.json").read_text())["sizes"]
    assert [key.split()[0] for key in sizes] == [f"sample:{name}" for name in sorted(names)]
    assert [path.name for path in pytester.path.glob("arena_baseline*")] == ["arena_baseline.json"]


def test_the_summary_names_every_model(pytester: pytest.Pytester) -> None:
    write(pytester, "pass", more=", limit=2048")
    result = run(pytester)
    result.stdout.fnmatch_lines([
        "*arena sizes*",
        "needs*limit*change*outcome*model",
        f"1,072*2,048*-*passed*{SINE}",
    ])  # fmt: skip


def test_without_a_marker_there_is_no_summary(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_plain(): pass")
    result = run(pytester)
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*arena sizes*")


def test_a_fixture_without_a_marker_is_an_error(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_plain(arena): pass")
    result = run(pytester)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*uses the arena fixture without @pytest.mark.arena(model=...)*"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "arena_marker() missing 1 required positional argument: 'model'"),
        ("model='sample:sine', plan='linear'", "there is no setting 'plan'"),
        ("model='nope.tflite'", "nope.tflite: No such file or directory"),
        ("model='sample:sine', target='cortx-m4'", "unknown target 'cortx-m4'; did you mean cortex-m4"),
        ("model='sample:sine', limit='64KB'", "'64KB' is ambiguous"),
    ],
)
def test_a_wrong_marker_is_named_without_a_traceback(pytester: pytest.Pytester, arguments: str, message: str) -> None:
    pytester.makepyfile(f"import pytest\n@pytest.mark.arena({arguments})\ndef test_it(): pass\n")
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"the marker of *::test_it: *{message}*"])
    result.stdout.no_fnmatch_line("*Error")
    result.stdout.no_fnmatch_line("During handling of *")


def test_the_summary_has_a_row_a_limit_and_shows_the_failure(pytester: pytest.Pytester) -> None:
    write(pytester, "assert False", "pass", "arena.assert_no_growth('sizes.json')")
    result = run(pytester, "--arena-update-baseline")
    result.assert_outcomes(failed=1, passed=2)
    rows = [line.split()[:4] for line in result.outlines if line.endswith(SINE)]
    assert rows == [["1,072", "-", "-", "failed"]]
    assert json.loads((pytester.path / "sizes.json").read_text())["sizes"] == {SINE: 1072}


def test_a_model_beside_the_test(pytester: pytest.Pytester) -> None:
    from tflm_sim.samples import sample_path

    folder = pytester.mkdir("tests")
    (folder / "kws.tflite").write_bytes(Path(sample_path("sine")).read_bytes())
    (folder / "test_kws.py").write_text(
        "import pytest\n@pytest.mark.arena(model='kws.tflite', kernels='reference')\n"
        "def test_kws(arena):\n    assert arena.name == 'tests/kws.tflite'\n"
    )
    run(pytester).assert_outcomes(passed=1)


def test_a_custom_operator_in_the_marker(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from tflm_sim import Node, OpModel, Persistent, Steps
        from tflm_sim.model.build import ModelBuilder
        from tflm_sim.model.load import parse
        from tflm_sim.model.types import TensorType

        def init(node: Node) -> Steps[object]:
            return (yield Persistent(4096, "table"))

        def model():
            builder = ModelBuilder()
            a, b = (builder.tensor((1, 16), TensorType.INT8) for _ in range(2))
            builder.custom("MINE", [a], [b])
            return parse(builder.build(inputs=[a], outputs=[b]))

        @pytest.mark.arena(model=model(), custom_ops=[OpModel("MINE", init=init)], limit="4KiB")
        def test_too_large(arena):
            pass
        """
    )
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*4,100*kernel data*"])


def test_the_marker_is_known(pytester: pytest.Pytester) -> None:
    write(pytester, "pass")
    run(pytester, "--strict-markers").assert_outcomes(passed=1)
    run(pytester, "--markers").stdout.fnmatch_lines(["*@pytest.mark.arena(model*"])


def test_an_installation_brings_the_plugin() -> None:
    project = tomllib.loads((Path(__file__).resolve().parents[5] / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"tflm_sim": "tflm_sim.extensions.ci.pytest_plugin"}


def test_a_name_forges_no_command_of_a_runner(pytester: pytest.Pytester) -> None:
    name = "kws\n::error::forged\x1b[31m##[error].tflite"
    (pytester.path / name).write_bytes(tflm_sim.sample_path("sine").read_bytes())
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.mark.arena(model={name!r}, limit=160)
        def test_small(): pass

        @pytest.mark.arena(model={name!r}, limit="64KiB")
        def test_large(): pass

        @pytest.mark.arena(model={f"absent{name}"!r})
        def test_absent(arena): pass
        """
    )
    result = run(pytester, "--tb=short", "--show-capture=no")
    result.assert_outcomes(passed=1, failed=1, errors=1)
    for line in result.outlines:
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
        assert "\x1b" not in line
    assert any("kws\\x0a::error::forged\\x1b[31m\\x23#[error].tflite does not fit" in line for line in result.outlines)


def test_five_buffers_that_share_bytes_are_drawn(pytester: pytest.Pytester) -> None:
    builder = ModelBuilder()
    tensors = [builder.tensor((1, 16), TensorType.INT8, scale=0.5, name=f"t{index}") for index in range(20)]
    for source, result in pairwise(tensors):
        builder.operator("RELU", [source], [result])
    (pytester.path / "chain.tflite").write_bytes(builder.build(inputs=tensors[:1], outputs=tensors[-1:]))
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.arena(model="chain.tflite")
        def test_persistent(arena): arena.assert_persistent("t0")
        """
    )
    result = run(pytester)
    result.assert_outcomes(failed=1)
    drawn = re.findall(r"^E +tensor \d+ \((t\d+)\)  \[", "\n".join(result.outlines), re.MULTILINE)
    # It lies where every second one does; with it there are five.
    assert drawn == ["t0", "t2", "t4", "t6", "t8"]
