"""What ``check`` says about a model, and the baseline of arena sizes that it is compared with."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from tflm_sim.checks.candidates import CandidateNeed
from tflm_sim.checks.doubts import EXIT_CODES, Answer, Doubt, answer_of, fits_of
from tflm_sim.device.configuration import Configuration
from tflm_sim.document_fields import HIDDEN, OPTIONAL, PARTS, named
from tflm_sim.document_types import Count
from tflm_sim.documents import as_json, from_json
from tflm_sim.errors import UsageError
from tflm_sim.escape import json_text, printable
from tflm_sim.files import read_json, replacing
from tflm_sim.model.types import Model
from tflm_sim.targets.boards import Board
from tflm_sim.targets.ram_beside import RamBeside
from tflm_sim.targets.reference import REFERENCE_SNAPSHOT


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer about one model.

    Attributes:
        name: The model's path, from the user.
        key: Its name and configuration in baselines.
        needed: Bytes; null when no size is enough.
        limit: Bytes that there are, null when nobody knows.
        works: Whether it works in ``limit`` bytes if no doubt is right; None when that cannot be told. ``fits`` and
            ``answer`` count the doubts in.
        doubts: What that takes for granted.
        settled_by: The command that executes the program, where that would settle what is open; "" where none does.
        shrunk_by: The command that looks for rewritings that need less; "" to name none.
        before: The baseline's size, null without one.
        reason: Why it does not fit, or what is missing to tell; "" when it fits.
        log: The lines that the device prints in an arena of ``limit`` bytes.
        model: What was judged, None where its file cannot be used.
        board: What it was judged for, None for an arena of a given size.
        smallest: The smallest arena, bytes, of which ``needed`` is the multiple of 16; null when no size is enough.
        missing_baseline: Why the baseline that was named says nothing about it, "" where it does or none was named.
        candidates: With --firmware: what each target needs that the file leaves possible, where they differ.
        ram: With a board and what there is beside the arena: what its software leaves, and the source of each figure.
        parts: What extensions say beside it, by key.
        figures: Of a program that was executed, all that was measured (``extension_points.ProgramFigures``).
    """

    name: str = field(metadata=HIDDEN)
    key: str = field(metadata=HIDDEN)
    needed: Count | None = field(metadata=named("smallest_arena_multiple_of_16"))
    limit: Count | None
    works: bool | None = field(metadata=HIDDEN)
    before: int | None = field(default=None, metadata=named("baseline"))
    reason: str = ""
    log: tuple[str, ...] = ()
    model: Model | None = field(default=None, metadata=HIDDEN)
    board: Board | None = field(default=None, metadata=HIDDEN)
    smallest: Count | None = field(default=None, metadata=named("smallest_arena_bytes"))
    missing_baseline: str = ""
    candidates: tuple[CandidateNeed, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    settled_by: str = ""
    shrunk_by: str = field(default="", metadata=HIDDEN)
    ram: RamBeside | None = field(default=None, metadata=OPTIONAL)
    parts: Mapping[str, Any] = field(default_factory=dict, metadata=PARTS)
    figures: Any = field(default=None, metadata=HIDDEN, compare=False)

    def __repr__(self) -> str:
        sizes = ("none" if size is None else f"{size:,} B" for size in (self.needed, self.limit))
        return f"<Verdict: {self.answer}, needs {' of '.join(sizes)}>"

    @property
    def answer(self) -> Answer:
        """Whether it works, with every doubt about that; the baseline has no say in it."""
        return answer_of(self.works, self.doubts)

    @property
    def fits(self) -> bool | None:
        """The answer as true or false; None where it hangs on a doubt, or cannot be told."""
        return fits_of(self.answer)

    @property
    def growth(self) -> int | None:
        """Bytes more than in the baseline (negative: fewer); None without one."""
        return None if self.needed is None or self.before is None else self.needed - self.before

    @property
    def is_good(self) -> bool:
        """Whether nothing speaks against the model: it may work, and did not grow."""
        return self.answer != "no" and (self.growth or 0) <= 0

    @property
    def exit_code(self) -> int:
        """1 where the model grew, 3 where the baseline does not have it, else that of the answer."""
        return 1 if not self.is_good else 3 if self.missing_baseline else EXIT_CODES[self.answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The arena sizes of a repository's models, to be compared with later ones.

    Attributes:
        sizes: The smallest multiple of 16, bytes, by model and configuration:
            "models/kws.tflite on cortex-m4 (cmsis_nn, plain, greedy)"; a TFLM other than the newest is named, too.
    """

    IS_KEPT: ClassVar = True

    schema_version: Literal[1]
    sizes: dict[str, Count]


def baseline_key(model: str, configuration: Configuration) -> str:
    """Return the name of a model in a configuration; ``model`` is a path or "sample:NAME".

    A path is written with slashes, so that a baseline is the same on every system.
    """
    target = configuration.target
    variables, room = configuration.resource_variables, configuration.variable_arena
    snapshot = target.runtime.snapshot
    settings = (
        *([snapshot] if snapshot != REFERENCE_SNAPSHOT else []),
        *(row.op for row in configuration.custom_ops),
        *(["ethos_u"] if target.ethos_u else []),
        *([f"{variables} resource variables"] if variables is not None else []),
        *([f"variable arena {room}"] if room is not None else []),
        *([f"arena at address {target.arena_address}"] if target.arena_address else []),
        *(["own planner"] if configuration.own_planner else []),
        *(["two arenas"] if configuration.split_arenas else []),
    )
    own = "".join(f", {setting}" for setting in settings)
    model = model.replace(os.sep, "/")
    return (
        f"{model} on {target.name} ({target.kernel_library}, {configuration.interpreter}, {configuration.planner}{own})"
    )


def read_baseline(path: Path) -> dict[str, int]:
    """Return the sizes of a baseline, in bytes; {} when there is no file.

    Raises:
        UsageError: The file is not a baseline.
    """
    if not os.path.exists(path):
        return {}
    try:
        return from_json(Baseline, read_json(path)).sizes
    except ValueError as error:
        raise UsageError(f"{path} is not a baseline of arena sizes: {error}") from error


def update_baseline(path: Path, sizes: Mapping[str, int]) -> None:
    """Set sizes in a baseline and leave the others; the file is replaced as a whole, so that readers never see half.

    Raises:
        UsageError: The file is not a baseline, or it cannot be written.
    """
    merged = {**read_baseline(path), **sizes}
    with replacing(path) as file:
        file.write(json_text(as_json(Baseline(schema_version=1, sizes=dict(sorted(merged.items())))), indent=1) + "\n")


def remember(path: Path, verdicts: Iterable[Verdict]) -> list[str]:
    """Write the sizes of models that work, or may, into a baseline; return lines that say what was written.

    Raises:
        UsageError: The file is not a baseline, or it cannot be written.
    """
    sizes = {each.key: each.needed for each in verdicts if each.needed is not None and each.is_good}
    if not sizes:
        return [f"{path}: nothing is written, since no model works"]
    update_baseline(path, sizes)
    written = "1 size is" if len(sizes) == 1 else f"{len(sizes)} sizes are"
    return [f"{path}: {written} written", *(f"  {size:,} B: {printable(key, 200)}" for key, size in sizes.items())]
