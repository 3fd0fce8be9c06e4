"""What an answer is valid for: the target with its TFLM and its kernels, and which of these the user did not name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tflm_sim.device.configuration import Configuration
from tflm_sim.targets.kernel_library import UNRELEASED, newer_than_default, versions_of
from tflm_sim.targets.presets import has_default_kernels
from tflm_sim.targets.runtime import REFERENCE_SNAPSHOT
from tflm_sim.targets.target import Target


def target_line(target: Target, assumed: Sequence[str] = ()) -> str:
    """Return the target, which options were not named, the day and name of its TFLM, and its kernels."""
    return f"for {with_assumed(target.name, assumed)}: {target.runtime}, {target.kernel_library}"


def target_lines(target: Target, assumed: Sequence[str]) -> list[str]:
    """Return the same in lines of a terminal: what was not named stands in the first one."""
    if not assumed:
        return [target_line(target)]
    return [f"for {with_assumed(target.name, assumed)}", f"{target.runtime}, {target.kernel_library}"]


def with_assumed(name: str, assumed: Sequence[str] | None) -> str:
    """Return a target's name, and behind it which options were not named."""
    return f"{name} ({assumed_text(assumed)})" if assumed else name


def sentence_with_assumed(sentence: str, assumed: Sequence[str] | None) -> str:
    """Return a verdict or a result, and behind it which options were not named."""
    return f"{sentence}; {assumed_text(assumed)}" if assumed else sentence


def targets_line(targets: Iterable[Target]) -> str:
    """Return every TFLM and every kernel library that several targets have."""
    found = tuple(targets)
    *others, last = dict.fromkeys(str(target.runtime) for target in found)
    runtimes = f"{', '.join(others)} and {last}" if others else last
    kernels = ", ".join(dict.fromkeys(str(target.kernel_library) for target in found))
    return f"for {runtimes}, with the kernels of each target: {kernels}"


def assumed_text(assumed: Sequence[str]) -> str:
    """Return which options were not named."""
    return f"not named, so assumed: {', '.join(assumed)}"


def unnamed(
    configuration: Configuration, *, target: object, library: str | None, runtime: object, kernels: str | None
) -> tuple[str, ...]:
    """Return which of "target", "library" and "kernels" an answer depends on though nobody named them.

    Args:
        configuration: What the answer is for.
        target, library, runtime, kernels: What is named, None for nothing; a library names its target and mostly its
            kernels, a version of TFLM the library.
    """
    named = configuration.target
    has_kernels = kernels or (library and not open_kernels(configuration, library=library, kernels=kernels))
    is_open = {
        "target": not (target or library),
        "library": not (library or runtime) and named.runtime.snapshot == REFERENCE_SNAPSHOT,
        "kernels": not has_kernels and has_default_kernels(named.name),
    }
    return tuple(name for name, is_so in is_open.items() if is_so)


def open_kernels(configuration: Configuration, *, library: str | None, kernels: str | None) -> list[str]:
    """Return a line where the version of the kernels is a guess: newer ones exist, and nothing names one of them."""
    from tflm_sim.targets.libraries import find_library  # A long table, needed only where a library is named.

    target = configuration.target
    taken = target.kernel_library
    found = find_library(library, machine=target.name) if library else None
    is_open = has_default_kernels(target.name) if found is None else bool(found.kernels_range)
    if taken.version == UNRELEASED:
        return [f"{taken.name} {UNRELEASED} is newer than 1.3.1; which release has these texts is not known"]
    newer = newer_than_default(taken.name, taken.variant) if is_open and not kernels else ""
    if not newer:
        return []
    asks = "" if found is None else f"{found.label} asks for {taken.name} {found.kernels_range}; "
    others = versions_of(taken.name, taken.variant)
    older = others[others.index(taken.version) + 1 :]
    return [
        f"{asks}{taken.name} {taken.version} is taken by default (newer: {newer}); "
        f"another is named so: `kernels={taken.name}@{(older or others)[0]}`"
    ]
