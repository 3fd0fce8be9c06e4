"""``Configuration``: a target and how its firmware sets TFLM up; ``configure()`` makes one of what a user writes.

Whoever sizes anything asks here, by the same names: verbs, project files, pytest's marker, the page, Python's callers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

from tflm_sim.errors import UsageError, each_of, expect, not_a, whole_number
from tflm_sim.names import meant
from tflm_sim.ops.op_model import OpModel
from tflm_sim.registry import programs
from tflm_sim.sizes import MAX_SIZE, as_size
from tflm_sim.targets.boards import Board, board
from tflm_sim.targets.changes import TENSORFLOW_OF_2020, UPSTREAM
from tflm_sim.targets.presets import at_runtime, library_target, preset
from tflm_sim.targets.runtime import OPTIMIZATIONS, Runtime
from tflm_sim.targets.target import Target

INTERPRETERS = ("plain", "recording")
PLANNER_NAMES = ("greedy", "linear")


def _requests(given: Any) -> tuple[int, ...]:
    rows = each_of(given, object, "own_requests in bytes")
    return tuple([whole_number(row, "one of own_requests", 0, MAX_SIZE) for row in rows])


def _preserved(given: Any) -> frozenset[tuple[int, int]]:
    expected = "preserved as pairs (subgraph, tensor)"
    pairs = each_of(given, tuple, expected)
    if any(len(pair) != 2 for pair in pairs):
        raise UsageError(f"{expected} was expected, not tuples of another length")
    return frozenset([(expect(place, int, expected), expect(index, int, expected)) for place, index in pairs])


def _truth(name: str) -> tuple[type, Callable[[Any], Any]]:
    return bool, lambda given: expect(given, bool, f"{name} as a truth value")


_FIELDS: dict[str, tuple[type, Callable[[Any], Any]]] = {
    "interpreter": (str, lambda given: expect(given, str, "the name of an interpreter")),
    "planner": (str, lambda given: expect(given, str, "the name of a planner")),
    "resource_variables": (int, lambda given: whole_number(given, "resource_variables", 0, MAX_SIZE)),
    "split_arenas": _truth("split_arenas"),
    "custom_ops": (tuple, lambda given: each_of(given, OpModel, "custom_ops as several OpModel")),
    "variable_arena": (int, lambda given: as_size(given, "variable_arena")),
    "own_planner": _truth("own_planner"),
    "has_own_arena_allocator": _truth("has_own_arena_allocator"),
    "own_requests": (tuple, _requests),
    "preserved": (frozenset, _preserved),
}
"""The type of a field, and what makes it of what Python's callers give."""

_NO_OWN_PLANNER = "only MicroAllocator::Create with one arena takes a planner of the firmware's own"


@dataclass(frozen=True, slots=True)
class Configuration:
    """A target, and how its firmware sets TFLM up.

    Attributes:
        target: The target.
        interpreter: "plain" or "recording" (whose allocator objects are larger); by default the target's.
        planner: "greedy", or "linear" (``preserve_all_tensors``).
        resource_variables: Room in ``MicroResourceVariables``; None for one per VAR_HANDLE name, and no table at
            all for a model without VAR_HANDLE.
        split_arenas: Whether persistent and non-persistent memory are two arenas.
        custom_ops: Users' own kernels, by the name of the custom operator; the name of a builtin operator replaces the
            library's kernel.
        variable_arena: Bytes of a second arena with an allocator of its own, in which the firmware creates the
            table of resource variables; None where the table is in the model's arena.
        own_planner: Whether the firmware creates the memory planner and passes it to ``MicroAllocator::Create``;
            then it is not in the arena.
        has_own_arena_allocator: Whether the firmware creates the SingleArenaBufferAllocator, too, which is then not in
            the arena either.
        own_requests: Bytes of each AllocatePersistentBuffer() that the firmware calls on the allocator itself, before
            it makes an interpreter.
        preserved: Tensors, (subgraph, tensor), whose lifetime is extended to the end of Invoke(), to see what that
            would cost. TFLM itself has no such setting for single tensors.

    Raises:
        UsageError: A value is not valid, or TFLM has no such combination.
    """

    target: Target
    interpreter: str = ""
    planner: str = "greedy"
    resource_variables: int | None = None
    split_arenas: bool = False
    custom_ops: tuple[OpModel, ...] = ()
    variable_arena: int | None = None
    own_planner: bool = False
    has_own_arena_allocator: bool = False
    own_requests: tuple[int, ...] = ()
    preserved: frozenset[tuple[int, int]] = frozenset()

    def __repr__(self) -> str:
        return f"<Configuration of {self.target.name}, {self.interpreter}, {self.planner}>"

    def _refuse_for_recording(self) -> None:
        if self.planner == "linear":
            raise UsageError(
                "RecordingMicroAllocator::Create always creates a GreedyMemoryPlanner; use interpreter plain"
            )
        if self.own_planner:
            raise UsageError(_NO_OWN_PLANNER)
        if self.split_arenas:
            raise UsageError("RecordingMicroAllocator::Create takes one arena; use interpreter plain")

    def __post_init__(self) -> None:
        if not isinstance(self.target, Target):
            raise not_a("a Target", self.target)
        for name, (kind, convert) in _FIELDS.items():
            given = getattr(self, name)
            is_sound = given is None or (type(given) is kind and (kind in (bool, str) or not given))
            if not is_sound:  # Most are, and each call counts where many models are sized.
                object.__setattr__(self, name, convert(given))
        if self.target.runtime.position(UPSTREAM) == TENSORFLOW_OF_2020:
            raise UsageError(
                f"{self.target.runtime.snapshot} is modelled for sources of the EON compiler; its interpreter of "
                "mid-2020 is not, and the nearest is edge-impulse@2021-08-31"
            )
        if not self.interpreter:
            object.__setattr__(self, "interpreter", self.target.interpreter)
        if self.interpreter not in INTERPRETERS:
            raise UsageError(f"interpreter '{self.interpreter}' is not one of {', '.join(INTERPRETERS)}")
        if self.planner not in PLANNER_NAMES:
            raise UsageError(f"planner '{self.planner}' is not one of {', '.join(PLANNER_NAMES)}")
        if self.interpreter == "recording":
            self._refuse_for_recording()
        if self.own_planner and self.split_arenas:
            raise UsageError(_NO_OWN_PLANNER)
        if self.has_own_arena_allocator and not self.own_planner:
            raise UsageError("MicroAllocator::Create with a SingleArenaBufferAllocator takes a planner, too")


def planner_words(name: str, is_own: bool) -> str:
    """Return which planner it is: "greedy planner", "own linear planner" where the firmware makes it itself."""
    return f"own {name} planner" if is_own else f"{name} planner"


class Settings(TypedDict, total=False):
    """The keyword settings of :func:`configure`. None, or omitting one, means the default of the target or of TFLM.

    Those that are options too, or keys of ``tflm-sim.toml``, have the same names there: ``--own-planner`` is
    ``own_planner``. What is not described here is a field of :class:`Configuration`.

    Attributes:
        board: A board, in the place of a target or beside one that it runs: by its name here, or what Arduino's IDE
            (full name, FQBN), PlatformIO or Zephyr call it.
        firmware: A linked program (ELF), of which the target is read.
        library: Whose TFLM and kernels: by its name here, or that of a package registry, a repository, a header
            ("ArduTFLite.h"), with an optional @VERSION.
        runtime: The version of TFLM: a day ("2023-06-15"), a commit, or LIBRARY@VERSION.
        kernels: The kernel library, with an optional @VERSION.
        optimize_kernels_for: OPTIMIZE_KERNELS_FOR of upstream's Makefile, for CMSIS-NN with MVE: "speed" or "size".
        arena_address: The arena's address modulo 16.
        ethos_u: Whether the firmware links the Ethos-U driver.
    """

    board: str | None
    firmware: str | os.PathLike[str] | None
    kernels: str | None
    library: str | None
    arena_address: int | None
    ethos_u: bool | None
    runtime: str | None
    optimize_kernels_for: str | None
    interpreter: str | None
    planner: str | None
    resource_variables: int | None
    split_arenas: bool
    custom_ops: Iterable[OpModel]
    variable_arena: int | str | None
    own_planner: bool
    has_own_arena_allocator: bool
    own_requests: Iterable[int]
    preserved: Iterable[tuple[int, int]]


Where = str | Target | Configuration
"""What a model runs on: the name of a preset (case does not matter), a target, or a whole configuration."""

_TARGET_EXPECTED = "a target (the name of a preset, a Target or a Configuration)"
NAMING = ("board", "firmware", "library", "runtime", "kernels")
"""Settings that say which target it is."""
_TARGET_SETTINGS = ("arena_address", "ethos_u")


def configure(where: Where | None = None, **settings: Unpack[Settings]) -> Configuration:
    """Return the configuration of a target with keyword settings, which override those of a given configuration.

    Args:
        where: The target; None where a board, a library or a program names it.
        settings: See :class:`Settings`; of a program that several targets fit, the likeliest is taken.

    Raises:
        UsageError: An unknown target or kernel library, or a setting that has no meaning.
        FirmwareError: The program cannot be used.
        TypeError: There is no such setting.
    """
    return possible_configurations(where, **settings)[0]


def possible_configurations(where: Where | None = None, **settings: Unpack[Settings]) -> tuple[Configuration, ...]:
    """Return the configurations that what is known leaves possible, the likeliest first: several only for a program.

    Args:
        where: The target; None where a board, a library or a program names it.
        settings: See :class:`Settings`.

    Raises:
        UsageError, FirmwareError, TypeError: As for :func:`configure`.
    """
    if unknown := settings.keys() - Settings.__annotations__.keys():
        known = tuple(Settings.__annotations__)
        hint = meant(min(unknown), known) or f"use one of: {', '.join(known)}"
        raise TypeError(f"there is no setting '{min(unknown)}'; {hint}")
    chosen: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
    if "firmware" in chosen:
        chosen["firmware"] = os.fspath(expect(chosen["firmware"], str | os.PathLike, "the path of a program"))
    named: dict[str, str | None] = {name: chosen.pop(name, None) for name in NAMING}
    on = board(named["board"]) if named["board"] is not None else None
    bases = _bases(where, on, named, chosen.get("interpreter"))
    if on is not None:
        for base in bases:
            check_core(on, base.target)
    return tuple([_with_settings(base, chosen) for base in bases])


def check_core(on: Board, target: Target) -> None:
    """Refuse a target that no core of a board runs.

    Raises:
        UsageError: It is another core's.
    """
    own = preset(on.preset)
    if target.abi != own.abi:
        raise UsageError(
            f"{on.name} runs {own.name} ({own.abi.name}), not {target.name} ({target.abi.name}); "
            "remove `target=` or `board=`"
        )


def _with_settings(base: Configuration, chosen: Mapping[str, Any]) -> Configuration:
    """Return a configuration with converted settings."""
    fields = dict(chosen)
    changes = {name: fields.pop(name) for name in _TARGET_SETTINGS if name in fields}
    if "optimize_kernels_for" in fields:
        changes["runtime"] = _optimized(base.target.runtime, fields.pop("optimize_kernels_for"))
    if changes:
        fields["target"] = replace(base.target, **changes)
    return replace(base, **fields) if fields else base


def _optimized(runtime: Runtime, purpose: str) -> Runtime:
    expect(purpose, str, "what kernels are optimized for")
    if purpose not in OPTIMIZATIONS:
        raise UsageError(f"kernels are optimized for one of {', '.join(OPTIMIZATIONS)}, not for '{purpose}'")
    return replace(runtime, optimize_kernels_for=purpose)


def configure_each(targets: Where | Iterable[Where]) -> list[Configuration]:
    """Return a configuration for each of one or several targets.

    Raises:
        UsageError: As :func:`configure`, or there are none.
    """
    if isinstance(targets, str | Target | Configuration):
        return [configure(targets)]
    found = [configure(each) for each in each_of(targets, object, _TARGET_EXPECTED)]
    if not found:
        raise UsageError("at least one target is needed; there are none")
    return found


def _bases(
    where: Where | None, on: Board | None, named: Mapping[str, str | None], interpreter: str | None
) -> list[Configuration]:
    """Return the configurations before any other setting; ``named`` is :data:`NAMING`, None for what is not named."""
    library, runtime, kernels, firmware = (named[name] for name in ("library", "runtime", "kernels", "firmware"))
    if isinstance(where, str | None):
        if library is not None and runtime is not None:
            raise UsageError("`library=` already selects the version of TFLM; remove `runtime=`")
        if firmware is not None:
            return [Configuration(each) for each in _targets_of_program(firmware, where, named, interpreter)]
        machine = where or (None if on is None else on.preset)
        if library is not None:
            return [Configuration(library_target(library, name=machine, kernels=kernels))]
        if machine is None:
            raise UsageError("no target is named: give a target, a board, a library or a program")
        return [Configuration(preset(machine, kernels=kernels, runtime=runtime))]
    if not isinstance(where, Configuration | Target):
        raise not_a(_TARGET_EXPECTED, where)
    if library is not None or firmware is not None:
        given = f"library='{library}'" if library is not None else f"firmware='{firmware}'"
        raise UsageError(f"{given} says which TFLM is linked; it goes with the name of a target alone")
    if kernels is not None:
        raise UsageError(f"kernels='{kernels}' needs the name of a target; this Target already has its kernels")
    base = where if isinstance(where, Configuration) else Configuration(where)
    return [base if runtime is None else replace(base, target=at_runtime(base.target, runtime))]


def _targets_of_program(
    firmware: str, machine: str | None, named: Mapping[str, str | None], interpreter: str | None
) -> tuple[Target, ...]:
    """Return the targets for which a program may have been built; a UsageError where no extension reads programs."""
    reader = programs()
    if reader is None:
        raise UsageError("`firmware=` needs the extension 'firmware', which is not installed")
    facts = {name: named[name] for name in ("kernels", "runtime", "library")}
    found: tuple[Target, ...] = reader.possible_targets(firmware, named=machine, interpreter=interpreter, **facts)
    return found
