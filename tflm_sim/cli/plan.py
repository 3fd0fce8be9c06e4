"""``tflm-sim plan``: planners compared on a model's head, or on a problem from a file."""

from __future__ import annotations

import argparse
import io
import sys
from dataclasses import dataclass

from tflm_sim.answers.head_problem import head_problem
from tflm_sim.answers.offline_plan import ArenaSaving, arena_saving, has_offline_plan, with_plan, without_offline_plan
from tflm_sim.answers.planned_problem import drawn_buffers
from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.cli.options import (
    Subparsers,
    add_configuration,
    add_verb,
    answer_of_an_extension,
    assumed,
    configuration,
    header,
    svg_file,
    typed,
)
from tflm_sim.cli.terminal import StatusLine, say, show
from tflm_sim.errors import ModelError, UsageError
from tflm_sim.files import parse_problem, read, replacing, replacing_bytes
from tflm_sim.limits import MAX_PROBLEM_BYTES
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.numbers import seconds
from tflm_sim.planners import native
from tflm_sim.planners.buffers import Plan
from tflm_sim.planners.by_name import DEFAULT_PLANNERS, EXACT, PLANNERS
from tflm_sim.planners.compare import Comparison, Outcome, compare
from tflm_sim.planners.deadline import Deadline
from tflm_sim.planners.exact import Progress
from tflm_sim.planners.greedy import greedy_requirements, plan
from tflm_sim.planners.plan_svg import write_plan_svg
from tflm_sim.planners.print_plan import memory_plan_lines
from tflm_sim.planners.problem import Problem, read_csv, write_csv
from tflm_sim.registry import planners
from tflm_sim.report.planner_comparison import PlanDocument, plan_document, plan_lines

ABOUT = """
Use it if 'size' reports gaps in the head. --write puts a better plan into the
model, and the firmware does not change.
"""
EXAMPLES = """
tflm-sim plan model.tflite --target esp32-s3
tflm-sim plan model.tflite --optimal --time-limit 60s --picture plan.svg
tflm-sim plan problem.csv --planner greedy --planner hill_climb --json
tflm-sim plan model.tflite --planner exact --csv > solution.csv
tflm-sim plan model.tflite --optimal --write planned.tflite
tflm-sim plan model.tflite --bank dtcm=48KiB --bank sram=256KiB -o banks.h
"""
ALL_PLANNERS = PLANNERS | {row.name: row for row in planners()}
"""The core's planners, and those of extensions behind them."""
EXITS = {
    1: "no planner has a valid plan, --write would not make the arena smaller, or the banks are too small",
    4: "AllocateTensors() fails in an arena of any size",
}


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "plan", EXAMPLES, about=ABOUT, exits=EXITS)
    parser.add_argument(
        "source",
        metavar="MODEL|PROBLEM.csv",
        help="a .tflite file, sample:NAME, or id,lower,upper,size[,alignment][,offset] lines",
    )
    chosen = parser.add_mutually_exclusive_group()
    names = tuple(ALL_PLANNERS)
    chosen.add_argument(
        "--planner", dest="planners", action="append", metavar="NAME", choices=names, help=", ".join(names)
    )
    chosen.add_argument("--all", action="store_true", help="run all planners")
    parser.add_argument(
        "--optimal", action="store_true", help="also search for the smallest plan, and prove that it is"
    )
    parser.add_argument(
        "--time-limit",
        type=typed(seconds),
        default=60.0,
        metavar="T",
        help="the most time for the whole command: 60s, 500ms, 2m (default: 60s)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON document")
    form.add_argument("--csv", action="store_true", help="print the buffers with the offsets of the best plan as CSV")
    form.add_argument("--print-memory-plan", action="store_true", help="print what TFLM's PrintMemoryPlan() prints")
    parser.add_argument("--picture", type=svg_file, metavar="OUT.svg", help="draw the best plan")
    parser.add_argument(
        "--write",
        metavar="OUT.tflite",
        help="write the model with the best plan in its metadata, if the arena is then smaller; with --bank, so that "
        "TFLM asks the planner for its variables, too",
    )
    parser.add_argument("--replace-plan", action="store_true", help="replace the plan that the model already has")
    add_configuration(parser, leave_out=("planner", "own_planner"))


def _compare(args: argparse.Namespace, problem: Problem, seconds: float | None) -> Comparison:
    with StatusLine("exact", delay=0) as line:

        def tell(progress: Progress) -> None:
            line.show(
                f"best {progress.peak:,}, lower bound {progress.lower_bound:,}, "
                f"distance {progress.peak - progress.lower_bound:,}, {progress.nodes:,} nodes, "
                f"{progress.seconds:.0f} s (Ctrl-C keeps the best plan)"
            )

        watched = tell if line.is_on else None
        return compare(problem.buffers, _planners(args), planners=ALL_PLANNERS, time_limit=seconds, on_progress=watched)


def _show(args: argparse.Namespace, question: _Question, document: PlanDocument) -> None:
    if question.simulation is not None and not args.json:
        say(*header(args, question.simulation.configuration))
    show(document, plan_lines, as_json=args.json)


def run(args: argparse.Namespace) -> int:
    """Carry out the verb; the exit code is 1 where no planner has a valid plan, or --write nothing to gain."""
    if (code := answer_of_an_extension("plan", args)) is not None:
        return code
    deadline = Deadline(args.time_limit)
    question = _question(args)
    problem = question.problem
    if args.print_memory_plan:
        say(*memory_plan_lines(greedy_requirements(problem.buffers), plan(problem.buffers).offsets))
        return 0
    comparison = _compare(args, problem, deadline.seconds_left)
    best = comparison.best
    if args.picture is not None and best is not None:
        _draw(args.picture, question, comparison, best)
    planned, saving = _in_the_arena(question, comparison.best_plan)
    if args.csv:
        write_csv(sys.stdout, problem, comparison.best_plan)
    else:
        simulated = question.simulation
        unnamed = None if simulated is None else assumed(args, simulated.configuration)
        _show(args, question, plan_document(problem, comparison, saving, assumed=unnamed))
    if args.write is not None and not _write(args.write, planned, saving):
        return 1
    return 0 if best is not None else 1


@dataclass(frozen=True, slots=True)
class _Question:
    """The problem to plan, and the model that it comes from, if any."""

    problem: Problem
    original: Model | None = None
    simulation: Simulation | None = None


def _in_the_arena(question: _Question, best: Plan | None) -> tuple[Model | None, ArenaSaving | None]:
    if best is None or question.simulation is None:
        return None, None
    assert question.original is not None, "what was simulated is a model"
    planned = with_plan(question.simulation.model, question.simulation, best)
    return planned, arena_saving(question.original, planned, question.simulation.configuration)


def _write(path: str, planned: Model | None, saving: ArenaSaving | None) -> bool:
    """Write the model if its arena gets smaller; print on stderr whether it does."""
    if saving is None or saving.saved <= 0:
        say("nothing written: no plan makes the arena smaller", file=sys.stderr)
        return False
    assert planned is not None, "a saving is that of a planned model"
    with replacing_bytes(path) as file:
        file.write(bytes(planned.source))
    say(f"{path}: smallest arena {saving.arena_after:,} bytes, {saving.saved:,} less", file=sys.stderr)
    return True


def _question(args: argparse.Namespace) -> _Question:
    if args.source.lower().endswith(".csv"):
        if args.write is not None:
            raise UsageError("--write needs a model, and this file is a problem")
        return _Question(_read_problem(args))
    original = load(args.source)
    if args.write is not None and has_offline_plan(original) and not args.replace_plan:
        raise UsageError(f"{args.source} already has an offline plan; add --replace-plan to replace it")
    model = without_offline_plan(original) if args.replace_plan else original
    simulation = simulate(model, configuration(args))
    return _Question(head_problem(simulation, title=args.source), original, simulation)


def _read_problem(args: argparse.Namespace) -> Problem:
    data = read(args.source, most=MAX_PROBLEM_BYTES, error=ModelError)
    try:
        return read_csv(io.StringIO(data.decode("utf-8-sig"), newline=""), path=args.source)
    except UnicodeDecodeError as error:
        raise ModelError(parse_problem(error), path=args.source) from None


def _planners(args: argparse.Namespace) -> tuple[str, ...]:
    if args.all:
        return tuple(name for name in ALL_PLANNERS if name != EXACT or native.available() or args.optimal)
    names = tuple(dict.fromkeys(args.planners or DEFAULT_PLANNERS))
    return names + (EXACT,) * (args.optimal and EXACT not in names)


def _draw(path: str, question: _Question, comparison: Comparison, best: Outcome) -> None:
    assert best.plan is not None, "the best outcome has a plan"
    planned = question.simulation
    drawn = None if planned is None else drawn_buffers(planned.model, [row.info for row in planned.buffers])
    with replacing(path) as file:
        write_plan_svg(
            file, question.problem, best.plan, planner=best.planner, lower_bound=comparison.lower_bound, drawn=drawn
        )
