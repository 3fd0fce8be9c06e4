"""What the verbs answer with ``--bank``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tflm_sim.answers.offline_plan import has_offline_plan, with_planned_variables
from tflm_sim.answers.planned_problem import drawn_buffers
from tflm_sim.checks.doubts import first_words
from tflm_sim.checks.verdict import Verdict, baseline_key
from tflm_sim.cli.options import assumed, configuration, header, simulated
from tflm_sim.cli.terminal import say, say_json, say_verdict, show
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import UsageError
from tflm_sim.extensions.banks.aim import BankAim
from tflm_sim.extensions.banks.bank import RamBank, parse_banks
from tflm_sim.extensions.banks.curve import curve
from tflm_sim.extensions.banks.document import BanksDocument, StockFacts, banks_document, stock_facts
from tflm_sim.extensions.banks.header import write_header
from tflm_sim.extensions.banks.picture import write_banks_svg
from tflm_sim.extensions.banks.placement import BankQuestion, BestPlacement
from tflm_sim.extensions.banks.text import banks_lines, stock_lines
from tflm_sim.files import replacing, replacing_bytes
from tflm_sim.model.inputs import expand
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.planners.deadline import Deadline
from tflm_sim.report.circumstances import target_line
from tflm_sim.report.verdict_text import verdict_document
from tflm_sim.targets.boards import board


def banks_of(args: argparse.Namespace) -> tuple[RamBank, ...]:
    """Return the banks of ``--bank``, of ``--board``'s where one has no size."""
    return parse_banks(args.banks, board(args.board) if args.board else None)


def aim(args: argparse.Namespace) -> BankAim:
    """Return what ``shrink`` is to make smaller.

    Raises:
        UsageError: Several boards, whose banks differ.
    """
    boards = args.board or []
    if len(boards) > 1:
        raise UsageError("--bank goes with one --board, whose banks it names")
    named = [f"--{name} {each}" for name in ("target", "board") for each in getattr(args, name) or ()]
    banks = parse_banks(args.banks, board(boards[0]) if boards else None)
    return BankAim(banks, options=" ".join((*named, *(f"--bank {text}" for text in args.banks))))


def parts(args: argparse.Namespace, model: Model, config: Configuration) -> Mapping[str, object]:
    """Return the part of a document for ``size`` and ``report``."""
    roomy = simulated(model, config)
    if roomy.failure is not None:
        return {}
    return {"banks": stock_facts(BankQuestion(roomy), banks_of(args))}


def answer(verb: str, args: argparse.Namespace) -> int | None:
    """Carry out the verbs whose own answer is another."""
    if verb == "plan":
        return _plan(args)
    if verb == "check":
        return _check(args)
    if verb == "report" and args.output is not None and args.output.lower().endswith(".svg"):
        return _picture(args)
    return None


def _question(args: argparse.Namespace, name: str, *, replace_plan: bool = False) -> BankQuestion:
    return BankQuestion(simulated(load(name), configuration(args)), replace_plan=replace_plan)


def _plan(args: argparse.Namespace) -> int:
    """Print the best plan, and write it as a picture and as a planner where that is asked for."""
    if args.source.lower().endswith(".csv"):
        raise UsageError("--bank needs a model: a problem does not say what is loaded and stored")
    banks, deadline = banks_of(args), Deadline(args.time_limit)
    question = _question(args, args.source, replace_plan=args.replace_plan)
    if args.write is not None:
        planned = replace(with_planned_variables(question.roomy), path=args.write)
        question = BankQuestion(simulated(planned, question.roomy.configuration))
    placed = question.place(banks, time_limit=deadline.share(2).seconds_left if args.curve else args.time_limit)
    points = curve(question, banks, time_limit=deadline.seconds_left) if args.curve else None
    config = question.roomy.configuration
    document = banks_document(question, placed, banks, curve=points, assumed=assumed(args, config))
    if not args.json:
        say(*header(args, config))
    show(document, banks_lines, as_json=args.json)
    if args.picture is not None and placed.best is not None:
        _draw(args.picture, question, document)
    if args.write is not None and placed.best is not None:
        with replacing_bytes(args.write) as file:
            file.write(question.own.model.source)
    if args.output is not None and placed.best is not None:
        with replacing(args.output) as file:
            write_header(file, question, document)
    return 0 if placed.best is not None else 1 if placed.is_decided else 3


def _picture(args: argparse.Namespace) -> int:
    """Draw the best plan, bank by bank."""
    banks = banks_of(args)
    question = _question(args, args.model, replace_plan=True)
    document = banks_document(question, question.place(banks, time_limit=30), banks)
    _draw(args.output, question, document)
    return 0


def _draw(path: str, question: BankQuestion, document: BanksDocument) -> None:
    if document.plan is None:
        raise UsageError(f"{path}: there is no plan to draw")
    with replacing(path) as file:
        write_banks_svg(file, document, drawn_buffers(question.own.model, question.infos))


def _check(args: argparse.Namespace) -> int:
    """Judge whether models fit into banks: with TFLM's own ``Create``, or with a plan if the firmware has a planner."""
    banks, codes = banks_of(args), []
    names = list(expand(args.models))
    if not names:
        raise UsageError("no model is given, and --bank is for models that are named")
    config = configuration(args)
    for name in names:
        verdict = _verdict(name, config, banks, has_planner=args.own_planner)
        codes.append(verdict.exit_code)
        if args.json:
            say_json(verdict_document([(verdict, config)], assumed=assumed(args, config)), indent=None)
        else:
            said = first_words(verdict.works)
            say_verdict(f"{f'{name}: ' if len(names) > 1 else ''}{said}: {verdict.reason}")
            say(*(stock_lines(facts) if isinstance(facts := verdict.parts.get("banks"), StockFacts) else []))
    if not args.json:
        say(target_line(config.target))
    return 1 if 1 in codes else max(codes)


def _verdict(name: str, config: Configuration, banks: Sequence[RamBank], *, has_planner: bool) -> Verdict:
    model = load(name)
    key = f"{baseline_key(name, config)} in {', '.join(f'{bank.name} of {bank.size}' for bank in banks)}"
    roomy = simulated(model, config)
    if roomy.failure is not None or roomy.smallest is None:
        reason = f"AllocateTensors() fails in an arena of any size: {roomy.failure}"
        return Verdict(name, key, None, None, False, None, reason, roomy.log, model=model)
    question = BankQuestion(roomy, replace_plan=True)
    stock = stock_facts(question, banks)
    needed, smallest = roomy.smallest.multiple_of_16, roomy.smallest.size
    problem = roomy.invoke_problem
    if problem is not None:
        return Verdict(name, key, needed, None, False, None, str(problem), problem.log, model=model)
    works: bool | None = stock.better is not None
    if stock.better is not None:
        way = stock.ways[stock.better]
        reason = "; ".join(f"{use.bank} holds {use.needed:,} B" for use in way.uses if use.needed)
    else:
        placed = question.place(banks, time_limit=30)
        command = f"plan --bank ... {'--replace-plan ' * has_offline_plan(model)}-o banks.h"
        works, reason = _with_planner(placed, banks, command, has_planner=has_planner)
    return Verdict(name, key, needed, None, works, None, reason, model=model, smallest=smallest, parts={"banks": stock})


def _with_planner(
    placed: BestPlacement, banks: Sequence[RamBank], command: str, *, has_planner: bool
) -> tuple[bool | None, str]:
    """Return whether a plan fits where TFLM's own ``Create`` does not, and a sentence."""
    if placed.best is None:
        return (False, "no plan fits into these banks") if placed.is_decided else (None, "no plan was found in time")
    uses = zip(banks, placed.best.uses, strict=True)
    held = "; ".join(f"{bank.name} holds {use.needed:,} B" for bank, use in uses if use.needed)
    if has_planner:
        return True, f"with the firmware's own planner (banks.h) {held}"
    return (False, f"TFLM's own Create does not; with the planner that '{command}' writes it does: {held}")
