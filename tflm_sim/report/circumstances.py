"""For what an answer is found: the target with its TFLM and its kernels, and what of that nobody named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tflm_sim.device.configuration import Configuration
from tflm_sim.targets.presets import has_default_kernels
from tflm_sim.targets.runtime import REFERENCE_SNAPSHOT
from tflm_sim.targets.target import Target


def target_line(target: Target) -> str:
    """Return the target, the day and name of its TFLM, and its kernels."""
    return f"for {target.name}: {target.runtime}, {target.kernel_library}"


def targets_line(targets: Iterable[Target]) -> str:
    """Return every TFLM and every kernel library that several targets have."""
    found = tuple(targets)
    runtimes = " and ".join(dict.fromkeys(str(target.runtime) for target in found))
    kernels = ", ".join(dict.fromkeys(str(target.kernel_library) for target in found))
    return f"for {runtimes}, with the kernels of each target: {kernels}"


def assumed_text(assumed: Sequence[str]) -> str:
    """Return which options were not named, "" where all were."""
    return f"not named, so assumed: {', '.join(assumed)}" if assumed else ""


def unnamed(configuration: Configuration, *, has_target: bool, has_library: bool, has_kernels: bool) -> tuple[str, ...]:
    """Return which of "target", "library" and "kernels" an answer depends on though nobody named them.

    Args:
        configuration: What the answer is for.
        has_target, has_library, has_kernels: Whether each is named, or follows from what is; a version of TFLM names
            the library.
    """
    target = configuration.target
    is_open = {
        "target": not has_target,
        "library": not has_library and target.runtime.snapshot == REFERENCE_SNAPSHOT,
        "kernels": not has_kernels and has_default_kernels(target.name),
    }
    return tuple(name for name, is_so in is_open.items() if is_so)
