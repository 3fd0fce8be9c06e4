"""``tflm-sim lifetimes``: when tensors are alive, which share memory, what it costs to keep one; and the sanitizer."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from tflm_sim.checks.lifetime_answers import Lifetimes, Preservation, cost_of_preserving
from tflm_sim.checks.sanitizer import findings_until_failure, sanitize
from tflm_sim.cli.options import Subparsers, add_configuration, add_verb, assumed, configuration, header, simulated
from tflm_sim.cli.terminal import say, say_json
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import SimulatedFailure, UsageError
from tflm_sim.escape import printable
from tflm_sim.invocation.findings import Finding
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.report import lifetime_text

ABOUT = """
Use it to find out whether a tensor can be read after Invoke(), which tensors
share memory, and whether something is overwritten.
"""
EXAMPLES = """
tflm-sim lifetimes model.tflite
tflm-sim lifetimes model.tflite --tensor input --tensor 5
tflm-sim lifetimes model.tflite --preserve conv1/Relu
tflm-sim lifetimes model.tflite --preserve-all
tflm-sim lifetimes model.tflite --invoke 10
"""
_TENSOR = "a name, an index, SUBGRAPH:INDEX, input, output, input:1"
EXITS = {1: "--invoke: a byte is overwritten", 4: "AllocateTensors() fails in an arena of any size"}


def register(subparsers: Subparsers) -> None:
    summary = "show when each tensor is alive, and what it costs to keep one"
    parser = add_verb(subparsers, "lifetimes", summary, EXAMPLES, about=ABOUT, exits=EXITS)
    parser.add_argument("model", metavar="MODEL", help="a .tflite file, or sample:NAME")
    parser.add_argument(
        "--tensor",
        action="append",
        default=[],
        metavar="X",
        help=f"say which tensors share memory with X, and when: {_TENSOR}",
    )
    parser.add_argument(
        "--preserve",
        action="append",
        default=[],
        metavar="X",
        help="say what it costs to keep X until the end of Invoke()",
    )
    parser.add_argument("--preserve-all", action="store_true", help="say what preserve_all_tensors costs")
    parser.add_argument(
        "--invoke",
        type=int,
        metavar="N",
        help="run AllocateTensors() under the sanitizer, then invoke N times and check every byte",
    )
    parser.add_argument(
        "--json", action="store_true", help="print every buffer and the other answers as one JSON document"
    )
    add_configuration(parser)


def run(args: argparse.Namespace) -> int:
    """Carry out the verb; the exit code is 1 when something is wrong with the plan."""
    config, model = configuration(args), load(args.model)
    if args.invoke is not None:
        return _invoke(args, model, config)
    lives = Lifetimes(simulated(model, config))
    asked = [lives.find(what) for what in args.tensor]
    costs = _costs(args, lives, config)
    if args.json:
        say_json(lifetime_text.lifetimes_document(lives, asked, costs, assumed=assumed(args, config)))
        return 0
    say(*header(args, config))
    for life in asked:
        say(*lifetime_text.tensor_lines(lives, life), "")
    for what, cost in costs.items():
        say(lifetime_text.preservation_line(what, cost))
    if not asked and not costs:
        say(*lifetime_text.overview_lines(lives))
    return 0


def _costs(args: argparse.Namespace, lives: Lifetimes, config: Configuration) -> dict[str, Preservation]:
    kept = [lives.find(what) for what in args.preserve]
    keys = {lifetime_text.buffer_name(life): (life.buffer.subgraph, life.buffer.index) for life in kept}
    costs = {what: cost_of_preserving(lives.model, config, [key]) for what, key in keys.items()}
    if len(keys) > 1:
        costs["all of them"] = cost_of_preserving(lives.model, config, keys.values())
    if args.preserve_all:
        costs["every tensor (preserve_all_tensors)"] = cost_of_preserving(lives.model, config, None)
    return costs


def _invoke(args: argparse.Namespace, model: Model, config: Configuration) -> int:
    if args.tensor or args.preserve or args.preserve_all or args.json:
        raise UsageError("--invoke cannot be combined with --tensor, --preserve, --preserve-all or --json")
    if args.invoke < 1:
        raise UsageError(f"--invoke {args.invoke}: the number of invocations must be 1 or more")
    say(*header(args, config))
    try:
        findings = sanitize(model, config, invocations=args.invoke)
    except SimulatedFailure:
        _say_findings(findings_until_failure(model, config))
        raise
    if not findings:
        say(f"nothing wrong in AllocateTensors() and {args.invoke} invocation{'s' * (args.invoke != 1)}")
        return 0
    _say_findings(findings)
    return 1


def _say_findings(findings: Iterable[Finding]) -> None:
    say(*(printable(str(finding), 400) for finding in findings))
