"""What an answer is valid for: the target with its TFLM and its kernels, and which of these the user did not name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tflm_sim.device.configuration import Configuration
from tflm_sim.targets.kernel_library import is_release, versions_of
from tflm_sim.targets.presets import has_default_kernels
from tflm_sim.targets.reference import REFERENCE_SNAPSHOT
from tflm_sim.targets.target import Target


def target_line(target: Target, assumed: Sequence[str] = ()) -> str:
    """Return the target, which options were not named, the day and name of its TFLM, and its kernels."""
    return f"for {with_assumed(target.name, assumed, target)}: {target.runtime}, {target.kernel_library}"


def target_lines(target: Target, assumed: Sequence[str]) -> list[str]:
    """Return the same in lines of a terminal: what was not named stands in the first one."""
    if not assumed:
        return [target_line(target)]
    return [f"for {with_assumed(target.name, assumed, target)}", f"{target.runtime}, {target.kernel_library}"]


def with_assumed(name: str, assumed: Sequence[str] | None, target: Target | None = None) -> str:
    """Return a target's name, and behind it what :func:`assumed_text` says of it."""
    is_open = target is not None and any(each.removeprefix("--") == "kernels" for each in assumed or ())
    return f"{name} ({assumed_text(assumed, [target] if target and is_open else [])})" if assumed else name


def sentence_with_assumed(sentence: str, assumed: Sequence[str] | None, open_targets: Iterable[Target] = ()) -> str:
    """Return a verdict or a result, and behind it what :func:`assumed_text` says."""
    text = assumed_text(assumed or (), open_targets)
    return f"{sentence}; {text}" if text else sentence


def targets_line(targets: Iterable[Target]) -> str:
    """Return every TFLM and every kernel library that several targets have."""
    found = tuple(targets)
    *others, last = dict.fromkeys(str(target.runtime) for target in found)
    runtimes = f"{', '.join(others)} and {last}" if others else last
    kernels = ", ".join(dict.fromkeys(str(target.kernel_library) for target in found))
    return f"for {runtimes}, with the kernels of each target: {kernels}"


def assumed_text(assumed: Sequence[str], open_targets: Iterable[Target] = ()) -> str:
    """Return which options were not named, and which newer kernels may change the answer; "" for none of both.

    Args:
        assumed: The options.
        open_targets: The targets whose version of the kernels nobody named.
    """
    names = f"not named, so assumed: {', '.join(assumed)}" if assumed else ""
    newer = dict.fromkeys(
        f"{each.kernel_library.name} {each.newer_kernels}" for each in open_targets if each.newer_kernels
    )
    return "; ".join(filter(None, (names, f"with {' or '.join(newer)} it may need more or less" if newer else "")))


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
    if not is_release(taken):
        return [f"{taken.name} {taken.version} is newer than 1.3.1; which release has these texts is not known"]
    if not is_open or kernels or not target.newer_kernels:
        return []
    asks = "" if found is None else f"{found.label} asks for {taken.name} {found.kernels_range}; "
    others = versions_of(taken.name, taken.variant)
    place = others.index(taken.version)
    text = f"; the newest that is modelled: `kernels={taken.name}@{others[0]}`" if place else ""
    return [
        f"{asks}{taken.name} {taken.version} is taken by default (newer: {target.newer_kernels}); "
        f"another is named so: `kernels={taken.name}@{others[place + 1]}`{text}"
    ]
