"""``tflm-sim.toml``: what ``check`` without arguments, pytest and the pre-commit hook hold models to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.samples import sample_path

pytest_plugins = ["pytester"]
FILE = """
models = ["models/*.tflite"]

[[firmware]]
name = "doorbell"
target = "cortex-m4"
kernels = "reference"
limit = "20KiB"

[[firmware]]
board = "nano33ble"
ram_free = "180KiB"
models = ["models/sine.tflite"]
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "models").mkdir()
    for name in ("sine", "keyword_spotter"):
        (tmp_path / "models" / f"{name}.tflite").write_bytes(sample_path(name).read_bytes())
    (tmp_path / "tflm-sim.toml").write_text(FILE, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_check_without_arguments_judges_every_model_on_every_firmware(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check"]) == 1
    lines = capsys.readouterr().out.splitlines()
    # The keyword spotter needs 22,784 B on a Cortex-M4 with reference kernels, and 20 KiB are 20,480 B.
    assert lines[:5] == [
        "no: 1 of 3 does not fit, or grew; not named, so assumed: library (doorbell)",
        "fits  needs   limit    grew  model                          firmware",
        "no    22,784   20,480  -     models/keyword_spotter.tflite  doorbell",
        "yes    1,072   20,480  -     models/sine.tflite             doorbell",
        "yes    1,168  184,320  -     models/sine.tflite             nano33ble",
    ]
    assert lines[5].startswith("models/keyword_spotter.tflite on doorbell: no: needs 22,784 B")


def test_named_models_are_checked_alone_as_the_pre_commit_hook_names_those_that_changed(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "other.tflite").write_bytes(sample_path("sine").read_bytes())
    assert main(["check", "./models/sine.tflite", "other.tflite"]) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines()[0] == "yes: all 2 fit; not named, so assumed: library (doorbell)"
    assert printed.err == "other.tflite: tflm-sim.toml does not name it, so nothing is checked\n"
    assert main(["check", "typo.tflite"]) == 2
    assert "typo.tflite: there is no such file, and tflm-sim.toml does not name it" in capsys.readouterr().err


def test_json_names_the_firmware(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--json"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["firmware"], row["smallest_arena_multiple_of_16"], row["fits"]) for row in rows] == [
        ("doorbell", 22784, False),
        ("doorbell", 1072, True),
        ("nano33ble", 1168, True),
    ]
    assert rows[0]["assumed"] == ["--library"]


def test_a_baseline_is_written_and_held(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = repository / "tflm-sim.toml"
    path.write_text(f'baseline = "sizes.json"\n{FILE.replace("20KiB", "30KiB")}', "utf-8")
    assert main(["check"]) == 3
    assert "sizes.json has no size for models/sine.tflite on cortex-m4" in capsys.readouterr().out
    assert main(["check", "--update-baseline"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("yes: all 3 fit")
    assert " sizes are written\n" in said
    assert "  1,072 B: models/sine.tflite on cortex-m4 (reference, plain, greedy)\n" in said
    assert main(["check"]) == 0
    sizes = json.loads((repository / "sizes.json").read_text("utf-8"))
    key = "models/sine.tflite on cortex-m4 (reference, plain, greedy)"
    assert sizes["sizes"][key] == 1072
    sizes["sizes"][key] = 1000
    (repository / "sizes.json").write_text(json.dumps(sizes), "utf-8")
    capsys.readouterr()
    assert main(["check"]) == 1
    assert "yes    1,072   30,720   +72  models/sine.tflite             doorbell" in capsys.readouterr().out


def test_a_file_that_is_no_model_is_a_row_and_the_others_are_still_judged(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "models" / "keyword_spotter.tflite").write_bytes(b"no model")
    assert main(["check"]) == 3
    assert capsys.readouterr().out.startswith(
        "1 of 3 cannot be told; the others fit; not named, so assumed: library (doorbell)\n"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it has no [[firmware]]; add one with a limit or a board"),
        ("firmware = 3", "it has no [[firmware]]; add one with a limit or a board"),
        (
            "[[firmware]]\nlimit = '1K'",
            "firmware 'cortex-m4' has no models; name them there, or once for all firmwares",
        ),
        ("models = ['a']\n[[firmware]]\nname = 'x'", "firmware 'x' needs a limit or a board"),
        ("models = 'a'\n[[firmware]]\nlimit = '1K'", "models: 'a' is no list"),
        ("models = ['a']\n[[firmware]]\nlibrery = 'x'", "[[firmware]] number 1 says 'librery'; did you mean library?"),
        ("models = ['a']\n[[firmware]]\nlimits = '1'", "firmware: limits: '1' is no object"),
        ("models = ['a']\n[[firmware]]\nlimit = '1K'\nrun = true", "firmware 'cortex-m4': run needs firmware, the pro"),
        ("models = ['a']\n[[firmware]]\nlimit = '1KiB'\nfirmware = 'app.elf'", "firmware 'app.elf': app.elf: there is"),
        ("model = ['a']\n[[firmware]]\nlimit = '1K'", "the file says 'model'; did you mean models?"),
        (
            "models = ['a']\n[[firmware]]\nlimit = 64",
            "firmware 'cortex-m4': --limit 64: no TFLM works in so few bytes; did you mean --limit 64KiB?",
        ),
        ("models = ['a']\n[[firmware]]\nlimit = true", "firmware: limit: "),
        (
            "models = ['m/one.tflite']\n[[firmware]]\nlimit = '1K'\nlimits = {'one.tflite' = '2K'}",
            "firmware 'cortex-m4': unknown model in limits 'one.tflite'; did you mean m/one.tflite?",
        ),
        ("models = ['a']\n[[firmware]]\nlimit = 'x'", "firmware 'cortex-m4': 'x' is not a size"),
        (
            "models = ['a']\n[[firmware]]\nlimit = '1K'\ntarget = 'z80'",
            "firmware 'z80': unknown target 'z80'; use one of: ",
        ),
        ("models = ['a']\n" + "[[firmware]]\nlimit = '1K'\n" * 2, "two firmwares are called 'cortex-m4'; give"),
        ("models = ", "Invalid value (at end of document)"),
    ],
)
def test_what_the_file_cannot_say_is_one_sentence(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tflm-sim.toml").write_text(text, "utf-8")
    assert main(["check"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"tflm-sim check: tflm-sim.toml: {message}")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["m.tflite"], "give --limit or --board, or write a tflm-sim.toml in this folder"),
        (["m.tflite", "--target", "esp32"], "--target needs --limit or --board; without them, set it in tflm-sim.toml"),
        (["--limit", "1"], "no model is given, and --limit and --board are for models that are named"),
    ],
)
def test_what_is_missing_without_the_file_is_said(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["check", *arguments]) == 2
    assert capsys.readouterr().err == f"tflm-sim check: {message}\n"


def test_pytest_has_a_test_for_each_model_on_each_firmware(
    repository: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    path = str(repository / "tflm-sim.toml")
    result = pytester.runpytest_inprocess(
        "-p", "tflm_sim.extensions.ci.pytest_plugin", "-p", "no:cacheprovider", "-v", path
    )
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*models/keyword_spotter::tflite on doorbell FAILED*",
            "*models/sine::tflite on nano33ble PASSED*",
            "no: needs 22,784 B (22.2 KiB), 2,304 B more than 20,480 B (20.0 KiB)",
            "22,784 * 20,480 *failed*models/keyword_spotter.tflite on cortex-m4 (reference, plain, greedy)",
        ]
    )


def test_pytest_says_what_is_wrong_with_the_file(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (pytester.path / "tflm-sim.toml").write_text("models = 3", "utf-8")
    result = pytester.runpytest_inprocess("-p", "tflm_sim.extensions.ci.pytest_plugin", "-p", "no:cacheprovider")
    result.stdout.fnmatch_lines(["*tflm-sim.toml: it has no ?[[]firmware]]; add one with a limit or a board"])
    assert result.ret == 2


def test_a_model_has_a_limit_of_its_own_or_that_of_its_firmware(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = '[[firmware]]\nkernels = "reference"\nlimits = {"models/sine.tflite" = "1072"}\n'
    path = repository / "tflm-sim.toml"
    path.write_text('models = ["models/*.tflite"]\n' + own + 'limit = "30KiB"\n', "utf-8")
    assert main(["check"]) == 0
    text = capsys.readouterr().out
    rows = [line.split()[:3] for line in text.splitlines()]
    assert ["yes", "1,072", "1,072"] in rows
    assert ["yes", "22,784", "30,720"] in rows
    path.write_text('models = ["models/*.tflite"]\n' + own, "utf-8")
    assert main(["check"]) == 2
    assert "models/keyword_spotter.tflite has no limit; add a line 'limit = " in capsys.readouterr().err


def test_kernels_of_the_own_firmware_are_described_in_a_python_file(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As ``--custom-ops``: its fully connected layer takes 1,000 B more in each layer than TFLM's."""
    (repository / "kernels.py").write_text(
        "from tflm_sim import OpModel, Persistent\n"
        "def prepare(node):\n    yield Persistent(1000)\n"
        'OWN = OpModel("FULLY_CONNECTED", prepare=prepare)\n',
        "utf-8",
    )
    text = 'models = ["models/sine.tflite"]\n[[firmware]]\nlimit = "64KiB"\ncustom_ops = ["kernels.py"]\n'
    (repository / "tflm-sim.toml").write_text(text, "utf-8")
    assert main(["check", "--json"]) == 0
    inside = json.loads(capsys.readouterr().out)
    options = ["--limit", "64KiB", "--custom-ops", "kernels.py", "--json"]
    assert main(["check", "models/sine.tflite", *options]) == 0
    outside = json.loads(capsys.readouterr().out)
    assert inside["custom_ops"] == outside["custom_ops"] == ["FULLY_CONNECTED"]
    assert inside["smallest_arena_bytes"] == outside["smallest_arena_bytes"] > 3000


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('baseline = "../x.json"\nmodels = ["*.tflite"]', "../x.json"),
        ('models = ["/etc/*"]', "/etc/*"),
        ('models = ["../*"]', "../*"),
        ('models = ["elsewhere"]', "elsewhere"),
    ],
)
def test_a_file_elsewhere_is_neither_written_nor_named(
    text: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, other = tmp_path / "project", tmp_path / "other"
    for made in (folder, other):
        made.mkdir()
    (other / "secret.tflite").write_bytes(sample_path("sine").read_bytes())
    (folder / "elsewhere").symlink_to(other)
    (folder / "a.tflite").write_bytes(sample_path("sine").read_bytes())
    (folder / "tflm-sim.toml").write_text(f'{text}\n[[firmware]]\nlimit = "64KiB"\n', "utf-8")
    monkeypatch.chdir(folder)
    assert main(["check", "--update-baseline"] if "baseline" in text else ["check"]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert f"'{named}' is not in the folder of the file that names it" in captured.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "project"]
