"""The table of verbs: the core's, in the order of ``--help``, and those of the extensions behind them."""

from __future__ import annotations

from collections.abc import Mapping

from tflm_sim import registry
from tflm_sim.registry import BETTER, HIDDEN, MORE, PROGRAMS, SIZES, Verb

CORE = {
    "size": Verb("tflm_sim.cli.size", "print the smallest arena for a model, and what each byte is used for", SIZES),
    "check": Verb("tflm_sim.cli.check", "tell whether models work in an arena of a given size", SIZES),
    "diff": Verb("tflm_sim.cli.diff", "say what changed between two models, targets or versions of TFLM", SIZES),
    "report": Verb("tflm_sim.cli.report", "draw where every byte of the arena is, over time", SIZES),
    "trace": Verb("tflm_sim.cli.trace", "print what AllocateTensors() allocates, or when each tensor is alive", SIZES),
    "list": Verb("tflm_sim.cli.lists", "list the targets, libraries, boards or operators that can be named", SIZES),
    "explain": Verb("tflm_sim.cli.explain", "say what a firmware's log means, and which arena it needs", PROGRAMS),
    "plan": Verb("tflm_sim.cli.plan", "compare memory planners on a model or on a list of buffers", BETTER),
    "bug-report": Verb("tflm_sim.cli.bug_report", "print what a bug report needs, without a model's weights", HIDDEN),
    "completion": Verb("tflm_sim.cli.completion", "print a completion script for your shell", HIDDEN),
}
VERBS = CORE | registry.verbs()
"""The verbs of the core and of our own extensions, by name."""


def verbs(*, of_others: bool = False) -> Mapping[str, Verb]:
    """Return the verbs by name; with ``of_others`` also those of other people's extensions."""
    return VERBS | registry.verbs(of_others=True) | CORE if of_others else VERBS


def listing(known: Mapping[str, Verb], *, width: int) -> str:
    """Return the list of verbs for ``--help``: below each heading a line for each verb, or more than fit ``width``."""
    from textwrap import fill

    margin = 4 + max(len(name) for name, verb in known.items() if verb.group != HIDDEN)
    groups: dict[str, list[str]] = {title: [] for title in (SIZES, PROGRAMS, BETTER, MORE)}
    for name, verb in known.items():
        row = fill(f"  {name:<{margin - 2}}{verb.summary}", width, subsequent_indent=" " * margin)
        groups.setdefault(verb.group, []).append(row)
    groups.pop(HIDDEN, None)
    return "\n\n".join("\n".join([f"{title}:", *rows]) for title, rows in groups.items() if rows)
