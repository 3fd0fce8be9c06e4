"""The table of verbs: the core's, in the order of ``--help``, and those of the extensions behind them."""

from __future__ import annotations

from collections.abc import Mapping

from tflm_sim import registry
from tflm_sim.registry import BETTER, HIDDEN, MORE, PROGRAMS, SIZES, Verb

CORE = {
    "size": Verb("tflm_sim.cli.size", "print the smallest arena for a model, and what each byte is used for", SIZES),
    "check": Verb("tflm_sim.cli.check", "tell whether models work in an arena of a given size", SIZES),
    "diff": Verb("tflm_sim.cli.diff", "say what changed between two models, targets or kernel libraries", SIZES),
    "trace": Verb("tflm_sim.cli.trace", "print every allocation event of AllocateTensors()", SIZES),
    "lifetimes": Verb("tflm_sim.cli.lifetimes", "show when each tensor is alive, and what it costs to keep one", SIZES),
    "compare": Verb("tflm_sim.cli.compare", "size one model for all boards or targets", SIZES),
    "report": Verb("tflm_sim.cli.report", "draw where every byte of the arena is, over time", SIZES),
    "bisect": Verb(
        "tflm_sim.cli.bisect",
        "find the changes of TFLM that moved a model's smallest arena, and by how many bytes",
        SIZES,
    ),
    "targets": Verb("tflm_sim.cli.targets", "list the targets, and what each is verified against", SIZES),
    "libraries": Verb("tflm_sim.cli.libraries", "list the libraries, and the TFLM that each contains", SIZES),
    "boards": Verb("tflm_sim.cli.boards", "list the boards with their memory, target and default kernels", SIZES),
    "ops": Verb(
        "tflm_sim.cli.ops", "list the modelled operators, and the recordings of real TFLM that contain each", SIZES
    ),
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
