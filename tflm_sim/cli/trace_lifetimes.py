"""``tflm-sim trace --lifetimes``, ``--preserve``: when tensors are alive, what it costs to keep one; and the sanitizer.

``report --tensor`` answers about one tensor.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from tflm_sim.checks.lifetime_answers import Lifetimes, Preservation, cost_of_preserving
from tflm_sim.checks.sanitizer import findings_until_failure, sanitize
from tflm_sim.cli.options import SETTINGS, asked_about, assumed, refuse_besides, simulated
from tflm_sim.cli.terminal import say, say_json
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import SimulatedFailure
from tflm_sim.escape import printable
from tflm_sim.invocation.findings import Finding
from tflm_sim.report import lifetime_text


def say_lifetimes(args: argparse.Namespace) -> int:
    """Print when the largest buffers are alive, or what it costs to keep those that are named."""
    refuse_besides(args, "lifetimes", "model", "preserve", "preserve_all", "json", "executed", "into", *SETTINGS)
    model, config, about = asked_about(args)
    found = Lifetimes(simulated(model, config))
    costs = _costs(args, found, config)
    if args.json:
        say_json(lifetime_text.lifetimes_document(found, costs=costs, assumed=assumed(args, config)))
        return 0
    say(*about)
    for what, cost in costs.items():
        say(lifetime_text.preservation_line(what, cost))
    if not costs:
        say(*lifetime_text.overview_lines(found))
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


def run_sanitizer(args: argparse.Namespace) -> int:
    """Run the sanitizer; the exit code is 1 where a byte is overwritten."""
    refuse_besides(args, "invoke", "model", "executed", "into", *SETTINGS)
    model, config, about = asked_about(args)
    say(*about)
    try:
        findings = sanitize(model, config, invocations=args.invoke)
    except SimulatedFailure:
        _say_findings(findings_until_failure(model, config))
        raise
    _say_findings(findings)
    problem = simulated(model, config).invoke_problem
    if problem is not None:
        say(str(problem))
        return SimulatedFailure.exit_code
    if findings:
        return 1
    say(f"nothing wrong in AllocateTensors() and {args.invoke} invocation{'s' * (args.invoke != 1)}")
    return 0


def _say_findings(findings: Iterable[Finding]) -> None:
    say(*(printable(str(finding), 400) for finding in findings))
