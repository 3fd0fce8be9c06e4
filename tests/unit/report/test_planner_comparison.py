import io
from xml.etree import ElementTree

import pytest

from tflm_sim.answers.offline_plan import ArenaSaving
from tflm_sim.documents import as_json
from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.planners.compare import compare
from tflm_sim.planners.plan_svg import write_plan_svg
from tflm_sim.planners.problem import Problem
from tflm_sim.report.planner_comparison import plan_document, plan_lines

PROBLEM = Problem((Buffer(8, 0, 1, name="a<b"), Buffer(4, 1, 2, name="c")), "p.csv")


def test_the_table_says_distance_and_proof():
    lines = plan_lines(plan_document(PROBLEM, compare(PROBLEM.buffers, ["linear", "greedy"])))
    assert lines[0] == "p.csv: 2 buffers; lower bound 8 B"
    assert [line.split()[:-2] for line in lines[3:5]] == [
        ["linear", "12", "4", "(50.0%)", "no"],
        ["greedy", "8", "0", "yes"],
    ]
    assert len(lines) == 5


def test_without_a_proof_the_distance_is_explained():
    lines = plan_lines(plan_document(PROBLEM, compare(PROBLEM.buffers, ["linear"])))
    assert lines[-1] == "a distance to the lower bound is not bytes to be won: a plan that small need not exist"


def test_a_refusal_stands_below_the_table():
    problem = Problem((Buffer(8, 0, 1, offset=0, name="a"),))
    lines = plan_lines(plan_document(problem, compare(problem.buffers, ["vela_greedy"])))
    assert lines[5] == "vela_greedy: Vela's greedy allocator cannot plan buffers with a fixed offset"


def test_the_document_has_every_offset():
    document = as_json(plan_document(PROBLEM, compare(PROBLEM.buffers, ["linear", "greedy"])))
    assert (document["lower_bound_bytes"], document["best"]) == (8, "greedy")
    linear = document["planners"][0]
    del linear["seconds"]
    assert linear == {
        "planner": "linear",
        "peak_bytes": 12,
        "distance_to_lower_bound_bytes": 4,
        "proved_optimal": False,
        "offsets": [0, 8],
        "findings": [],
        "refusal": None,
    }


def test_the_picture_has_a_rectangle_and_a_title_for_each_buffer():
    file = io.StringIO()
    write_plan_svg(file, PROBLEM, Plan((0, 0), 8), planner="greedy", lower_bound=8)
    root = ElementTree.fromstring(file.getvalue())
    groups = root.findall("{*}g")
    assert [group.find("{*}title").text for group in groups] == [
        "a<b: 8 bytes at 0, times 0 to 0",
        "c: 4 bytes at 0, times 1 to 1",
    ]
    first, second = (group.find("{*}rect").attrib for group in groups)
    assert float(first["width"]) == 2 * float(second["width"])
    assert float(first["y"]) + float(first["height"]) == float(second["y"])


def test_a_tick_that_would_meet_the_peak_is_left_out() -> None:
    file = io.StringIO()
    buffers = (Buffer(1040, 0, 1),)
    write_plan_svg(file, Problem(buffers, "p"), Plan((0,), 1040), planner="greedy", lower_bound=1040)
    root = ElementTree.fromstring(file.getvalue())
    labels = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text") if one.get("y") == "66.0"]
    assert labels == ["0", "200", "400", "600", "800", "1,040"]


def test_the_picture_begins_with_the_first_buffer_and_ends_with_the_last():
    early, late = (
        Problem((Buffer(8, start, start + 1, name="a"), Buffer(8, start + 1, start + 4, name="b")), "p")
        for start in (0, 1000)
    )
    rects = []
    for problem in (early, late):
        file = io.StringIO()
        write_plan_svg(file, problem, Plan((0, 0), 8), planner="greedy", lower_bound=8)
        groups = ElementTree.fromstring(file.getvalue()).findall("{*}g")
        rects.append([group.find("{*}rect").attrib for group in groups])
    assert rects[0] == rects[1]
    last = rects[0][-1]
    assert float(last["y"]) + float(last["height"]) == 600 - 46  # the picture's height, and its margin


@pytest.mark.parametrize(
    ("after", "binding", "verdict"),
    [
        (900, "head", "saves 100 (10.0%) of the arena"),
        (999, "head", "saves 1 (0.1%) of the arena"),
        (1000, "head", "saves nothing of the arena: the head must fit"),
        (1000, "tail", "saves nothing of the arena: the tail must fit"),
        (1001, "temp", "saves nothing of the arena: what is allocated for a while must fit"),
        (1001, "planner", "saves nothing of the arena: the planner's own tables must fit"),
    ],
)
def test_a_plan_in_the_model_saves_a_byte_or_says_what_has_to_fit(after: int, binding: str, verdict: str):
    saving = ArenaSaving(500, 400, 1000, after, binding)
    document = plan_document(PROBLEM, compare(PROBLEM.buffers, ["linear", "greedy"]), saving)
    figures = f"head 500 -> 400, smallest arena 1,000 -> {after:,} bytes"
    assert plan_lines(document)[-2:] == ["", f"greedy in the model's metadata: {figures}; {verdict}"]
    assert as_json(document)["arena"]["saved_bytes"] == 1000 - after


def test_a_buffer_is_used_up_to_its_last_time():
    rows = plan_document(PROBLEM, compare(PROBLEM.buffers, ["linear"])).buffers
    assert [(row.first_time_used, row.last_time_used) for row in rows] == [(0, 0), (1, 1)]
