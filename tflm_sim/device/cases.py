"""How the targets that are possible for a linked program differ."""

from __future__ import annotations

from collections.abc import Sequence

from tflm_sim.device.configuration import Configuration


def words_of(configuration: Configuration) -> dict[str, str]:
    """Return in words how the targets differ that are possible for a program."""
    target = configuration.target
    return {
        "TFLM": f"TFLM {target.runtime.snapshot}",
        "enums": "short enums" if target.abi.short_enums else "int enums",
        "kernels": f"kernels optimized for {target.runtime.optimize_kernels_for}",
        "interpreter": f"{configuration.interpreter} interpreter",
    }


def cases_of(configurations: Sequence[Configuration]) -> list[str]:
    """Return in which way each configuration differs from the others, "" where it does not."""
    words = [words_of(configuration) for configuration in configurations]
    open_ones = [name for name in words[0] if len({one[name] for one in words}) > 1]
    return [", ".join(one[name] for name in open_ones) for one in words]


def range_of(cases: Sequence[str]) -> str:
    """Return cases that are alike, the newest first, in a few words: the oldest to the newest."""
    parts = zip(cases[-1].split(", "), cases[0].split(", "), strict=True)
    return ", ".join(oldest if oldest == newest else f"{oldest} to {newest}" for oldest, newest in parts)
