"""``tflm-sim lifetimes``: what is alive when, who shares memory, what keeping a tensor costs, and a check of it all."""

from __future__ import annotations

import argparse
import json
import sys

from tflm_sim.allocator.configuration import Configuration
from tflm_sim.allocator.findings import Finding
from tflm_sim.checks.lifetimes import Lifetimes, cost_of_preserving, lifetimes
from tflm_sim.checks.sanitize import sanitize
from tflm_sim.cli.options import Subparsers, add_configuration, add_verb, configuration, load_model
from tflm_sim.report.escape import printable
from tflm_sim.report.lifetimes import (
    buffer_name,
    lifetimes_document,
    overview_lines,
    picture_lines,
    preservation_line,
    tensor_lines,
)

EXAMPLES = """
tflm-sim lifetimes model.tflite
tflm-sim lifetimes model.tflite --tensor input --tensor 5
tflm-sim lifetimes model.tflite --preserve conv1/Relu
tflm-sim lifetimes model.tflite --preserve-all
tflm-sim lifetimes model.tflite --invoke 10
"""
_TENSOR = "a name, an index, SUBGRAPH:INDEX, input, output, input:1"


def register(subparsers: Subparsers) -> None:
    """Add the verb."""
    parser = add_verb(subparsers, "lifetimes", "show what is alive when, and what keeping a tensor costs", EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="a .tflite file, or sample:NAME")
    parser.add_argument(
        "--tensor", action="append", default=[], metavar="X", help=f"who shares memory with X, and when: {_TENSOR}"
    )
    parser.add_argument(
        "--preserve", action="append", default=[], metavar="X", help="what keeping X to the end of Invoke() costs"
    )
    parser.add_argument("--preserve-all", action="store_true", help="what preserve_all_tensors costs")
    parser.add_argument(
        "--invoke", type=int, metavar="N", help="sanitize AllocateTensors(), then invoke N times and check every byte"
    )
    parser.add_argument("--json", action="store_true", help="every buffer as one JSON document")
    add_configuration(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the verb; the exit code is 1 when something is wrong with the plan."""
    config, model = configuration(args), load_model(args.model)
    if args.invoke is not None:
        return _invoke(sanitize(model, config, invocations=args.invoke), args.invoke)
    lives = lifetimes(model, config)
    if args.json:
        json.dump(lifetimes_document(lives), sys.stdout, indent=1)
        print()
        return 0
    for what in args.tensor:
        life = lives.find(what)
        others = [row.other for row in lives.sharing(life)]
        print("\n".join([*tensor_lines(lives, life), "", *picture_lines(lives, [life, *others]), ""]))
    _print_costs(args, lives, config)
    if not args.tensor and not args.preserve and not args.preserve_all:
        print("\n".join(overview_lines(lives)))
    return 0


def _print_costs(args: argparse.Namespace, lives: Lifetimes, config: Configuration) -> None:
    kept = [lives.find(what) for what in args.preserve]
    for life in kept:
        key = (life.buffer.subgraph, life.buffer.index)
        print(preservation_line(buffer_name(life), cost_of_preserving(lives.model, config, [key])))
    if len(kept) > 1:
        keys = [(life.buffer.subgraph, life.buffer.index) for life in kept]
        print(preservation_line("all of them", cost_of_preserving(lives.model, config, keys)))
    if args.preserve_all:
        cost = cost_of_preserving(lives.model, config, None)
        print(preservation_line("every tensor (preserve_all_tensors)", cost))


def _invoke(findings: tuple[Finding, ...], count: int) -> int:
    if not findings:
        print(f"nothing wrong in AllocateTensors() and {count} invocations")
        return 0
    print("\n".join(printable(str(finding), 400) for finding in findings))
    return 1
