import json
from types import SimpleNamespace

import jsonschema
import pytest

from tflm_sim import load, preset, sample_path, simulate
from tflm_sim.cli import main
from tflm_sim.cli import plan as module
from tflm_sim.planners import native
from tflm_sim.samples import SAMPLES
from tflm_sim.schemas.generate import published

needs_native = pytest.mark.skipif(not native.available(), reason="the exact planner is in C")

# 4 and 4 alive together, then 5: greedy needs 9, as much as is alive at time 1.
PROBLEM = "id,lower,upper,size\na,0,2,4\nb,1,3,5\nc,2,4,4\n"


@pytest.fixture
def problem(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(PROBLEM)
    return str(path)


def test_a_list_of_four_gigabytes_is_refused_before_it_is_read(tmp_path, capsys):
    path = tmp_path / "zeros.csv"
    with path.open("wb") as file:
        file.truncate(1 << 32)
    assert main(["plan", str(path)]) == 3
    assert f"{path} cannot be read: it has more than 16,777,216 bytes" in capsys.readouterr().err


def test_the_default_planners_are_in_the_table(problem, capsys):
    assert main(["plan", problem]) == 0
    rows = capsys.readouterr().out.splitlines()[3:]
    assert [row.split()[:3] for row in rows] == [
        ["greedy", "9", "0"],
        ["gpu_greedy_by_size", "9", "0"],
        ["vela_greedy", "9", "0"],
        ["hill_climb", "9", "0"],
    ]


@needs_native
def test_optimal_adds_the_exact_planner(problem, capsys):
    assert main(["plan", problem, "--planner", "linear", "--optimal", "--time-limit", "10s", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [(row["planner"], row["peak_bytes"], row["proved_optimal"]) for row in document["planners"]] == [
        ("linear", 13, False),
        ("exact", 9, True),
    ]


def test_the_json_fits_its_schema(problem, capsys):
    assert main(["plan", problem, "--all", "--json"]) == 0
    jsonschema.validate(json.loads(capsys.readouterr().out), published("plan"))


def test_all_are_every_planner_of_the_table(problem, capsys):
    assert main(["plan", problem, "--all", "--time-limit", "5s", "--json"]) == 0
    names = [row["planner"] for row in json.loads(capsys.readouterr().out)["planners"]]
    assert names[:2] == ["greedy", "linear"]
    assert names[8:13] == ["gpu_mincostflow", "vela_greedy", "hill_climb", "hill_climb_tvm", "best_of"]
    assert names[13:] == [*["exact"] * native.available(), "tflite_arena_on_tflm_head"]


def test_the_arena_of_tflite_is_a_planner(problem, capsys):
    # b (5) is placed first, a and c rest on it: 5 + 4.
    assert main(["plan", problem, "--planner", "tflite_arena_on_tflm_head", "--csv"]) == 0
    assert capsys.readouterr().out == "id,lower,upper,size,offset\na,0,2,4,5\nb,1,3,5,0\nc,2,4,4,5\n"


def test_sizes_with_inclusive_lifetimes_are_read(tmp_path, capsys):
    path = tmp_path / "p.csv"
    path.write_text("\ufeffsize,first,last\n4,0,1\n5,1,2\n4,2,3\n", encoding="utf-8")
    assert main(["plan", str(path), "--planner", "greedy", "--csv"]) == 0
    assert capsys.readouterr().out == "id,lower,upper,size,offset\n0,0,2,4,5\n1,1,3,5,0\n2,2,4,4,5\n"


def test_a_planner_without_a_plan_has_dashes_under_its_numbers(tmp_path, capsys):
    path = tmp_path / "p.csv"
    path.write_text("id,lower,upper,size,offset\na,0,2,4096,16\n")
    assert main(["plan", str(path), "--planner", "greedy", "--planner", "vela_greedy"]) == 0
    assert capsys.readouterr().out.splitlines()[4].startswith(f"vela_greedy  {'-':>10}  {'-':>21}  -  ")


def test_csv_gives_the_best_plan_as_minimalloc_writes_solutions(problem, capsys):
    assert main(["plan", problem, "--planner", "linear", "--planner", "greedy", "--csv"]) == 0
    assert capsys.readouterr().out == "id,lower,upper,size,offset\na,0,2,4,5\nb,1,3,5,0\nc,2,4,4,5\n"


def test_the_memory_plan_is_printed_as_the_device_prints_it(problem, capsys):
    assert main(["plan", problem, "--print-memory-plan"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "0 (id=0): size=4, offset=5, first_used=0 last_used=1"
    assert lines[3] == f"   0: .....0000{'.' * 71} (1k)"


def test_the_picture_is_an_svg(problem, tmp_path, capsys):
    path = tmp_path / "plan.svg"
    assert main(["plan", problem, "--picture", str(path)]) == 0
    assert path.read_text().startswith("<svg ")


@pytest.mark.parametrize("name", SAMPLES)
def test_plan_and_size_agree_on_the_head(name, capsys):
    assert main(["plan", f"sample:{name}", "--planner", "greedy", "--json"]) == 0
    (greedy,) = json.loads(capsys.readouterr().out)["planners"]
    simulation = simulate(load(sample_path(name)), preset("cortex-m4"))
    assert greedy["peak_bytes"] == simulation.head_bytes
    assert greedy["offsets"] == [buffer.offset for buffer in simulation.buffers]


def test_buffers_that_collide_at_fixed_offsets_exit_with_1(tmp_path, capsys):
    path = tmp_path / "p.csv"
    path.write_text("id,lower,upper,size,offset\na,0,2,4,0\nb,1,3,5,2\n")
    assert main(["plan", str(path)]) == 1
    assert "buffers 0 and 1 are alive together and share bytes 2 to 3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["missing.csv"], 3, "missing.csv cannot be read: No such file"),
        (["missing.tflite"], 3, "missing.tflite"),
        (["{problem}", "--time-limit", "soon"], 2, "'soon' is not a time; write 60s, 500ms or 2m"),
        (["{problem}", "--planner", "magic"], 2, "unknown value of --planner 'magic'; use one of: greedy, "),
        (["{problem}", "--picture", "/no/such/directory/p.svg"], 2, "cannot be written"),
        (["{problem}", "--picture", "p.PNG"], 2, "argument --picture: 'p.PNG': the picture is an SVG; name it .svg"),
    ],
)
def test_errors(arguments, code, message, problem, capsys):
    arguments = [argument.format(problem=problem) for argument in arguments]
    try:
        result = main(["plan", *arguments])
    except SystemExit as exit_:
        result = exit_.code
    assert result == code
    assert message in capsys.readouterr().err


@needs_native
def test_a_written_plan_is_what_the_device_then_uses(chain, tmp_path, capsys):
    """Greedy places 6400 at 0, the next at 6400 and 1600 above both: 14400. The 1600 between them needs 12800."""
    source, out = tmp_path / "chain.tflite", tmp_path / "planned.tflite"
    source.write_bytes(bytes(chain(6400, 1600, 6400, 6400).source))
    assert main(["plan", str(source), "--target", "cortex-m4", "--optimal", "--write", str(out), "--json"]) == 0
    arena = json.loads(capsys.readouterr().out)["arena"]
    planned = load(str(out))
    assert simulate(planned, "cortex-m4").head_bytes == arena["head_after_bytes"] == 12_800
    assert arena["head_before_bytes"] == 14_400
    assert simulate(planned, "cortex-m4").smallest.size == arena["smallest_after_bytes"]
    assert arena["saved_bytes"] == arena["smallest_before_bytes"] - arena["smallest_after_bytes"] > 0


@needs_native
def test_a_plan_is_replaced_only_when_asked(chain, tmp_path, capsys):
    source, out, again = (tmp_path / name for name in ("chain.tflite", "planned.tflite", "again.tflite"))
    source.write_bytes(bytes(chain(6400, 1600, 6400, 6400).source))
    assert main(["plan", str(source), "--optimal", "--write", str(out)]) == 0
    assert main(["plan", str(out), "--optimal", "--write", str(again)]) == 2
    assert "--replace-plan" in capsys.readouterr().err
    assert main(["plan", str(out), "--optimal", "--replace-plan", "--write", str(again)]) == 1
    assert "nothing written" in capsys.readouterr().err
    assert not again.exists()


def test_writing_needs_a_model(problem, capsys):
    assert main(["plan", problem, "--write", "out.tflite"]) == 2
    assert "--write needs a model" in capsys.readouterr().err


def test_a_plan_that_saves_nothing_is_not_written(tmp_path, capsys):
    out = tmp_path / "planned.tflite"
    assert main(["plan", "sample:sine", "--planner", "linear", "--write", str(out)]) == 1
    assert capsys.readouterr().err == "nothing written: no plan makes the arena smaller\n"
    assert not out.exists()


def test_a_list_of_buffers_and_a_model_without_a_plan_have_no_arena_to_save(problem, capsys):
    assert main(["plan", problem, "--planner", "greedy", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["arena"] is None
    assert module._in_the_arena(module._Question(None, "m", "s"), None) == (None, None)


@pytest.mark.parametrize("has_c", [True, False])
def test_the_exact_planner_is_asked_where_it_can_be_or_is_asked_for(has_c, monkeypatch):
    monkeypatch.setattr(module.native, "available", lambda: has_c)

    def names(**given):
        return module._planners(SimpleNamespace(**{"all": False, "planners": None, "optimal": False, **given}))

    assert ("exact" in names(all=True)) is has_c
    assert "exact" in names(all=True, optimal=True)
    assert names(planners=["exact", "greedy", "exact"], optimal=True) == ("exact", "greedy")
    assert names(planners=["greedy"], optimal=True) == ("greedy", "exact")
    assert names() == module.DEFAULT_PLANNERS
