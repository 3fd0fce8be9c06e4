"""What the modules of an extension must have, by what ``registry.Extension`` names them for."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

from tflm_sim.arena.events import Event
from tflm_sim.checks.doubts import Answer, Doubt
from tflm_sim.checks.program_need import BankNeed, ProgramNeed
from tflm_sim.device.configuration import Configuration
from tflm_sim.logs.crashes import CodePlace
from tflm_sim.model.types import Model
from tflm_sim.report.document import SizeDocument
from tflm_sim.report.picture import Picture
from tflm_sim.targets.target import Target


class VerbModule(Protocol):
    """The module of a verb."""

    def register(self, subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
        """Add the verb's parser, by ``cli.options.add_verb``."""

    def run(self, args: argparse.Namespace) -> int:
        """Carry out the verb and return its exit code."""


class Additions(Protocol):
    """What a module adds to verbs of the core. Each function is called with the verb's name."""

    def add_options(self, verb: str, parser: argparse.ArgumentParser) -> None:
        """Add options to the verb's parser."""

    def answer(self, verb: str, args: argparse.Namespace) -> int | None:
        """Carry out the verb and return its exit code, where these options or arguments ask for it; else None."""

    def parts(
        self, verb: str, args: argparse.Namespace, model: Model, configuration: Configuration
    ) -> Mapping[str, object]:
        """Return the parts of the document that the options ask for, by key."""


@runtime_checkable
class Aim(Protocol):
    """Something else than the size of one arena that a rewriting of a model is to make smaller."""

    @property
    def command(self) -> str:
        """What to type for the file that comes out, with ``FILE`` in its place."""

    def cost(self, model: Model, configuration: Configuration) -> int:
        """Return what is to become smaller.

        Raises:
            UsageError: The question has no meaning there.
            SimulatedFailure: AllocateTensors() fails in any arena.
        """

    def said(self, cost: int) -> str:
        """Return a cost in words."""

    def figures(self, model: Model, configuration: Configuration) -> dict[str, int | None]:
        """Return what people want to know before and after, bytes by what they are; None where there is no figure."""


class SourceKind(Protocol):
    """A kind of file that a verb takes in the place of a model."""

    WORDS: str
    """What such a file is, for a sentence: "what Edge Impulse's EON compiler makes"."""

    MADE_BY: str
    """What makes such files: "the EON compiler"."""

    def recognises(self, data: bytes) -> bool:
        """Tell whether a file is of this kind, by its bytes."""

    def answer(self, verb: str, args: argparse.Namespace, label: str, data: bytes) -> int | None:
        """Carry out a verb on it and return the exit code; None where the verb has no answer for it."""


class ProjectKind(Protocol):
    """Projects whose sources ``check`` reads."""

    def words_of(self, path: str) -> str:
        """Return what a folder or a file is, "an Arduino sketch"; "" where it is no project that can be read here."""


class ProgramFigures(Protocol):
    """What a program did with a model."""

    @property
    def model(self) -> Model:
        """The model."""

    @property
    def configuration(self) -> Configuration:
        """Of those that the program leaves possible, the one whose simulation comes nearest."""

    @property
    def exact(self) -> Configuration | None:
        """The configuration whose simulation asks for the very same, so that all its answers are the program's.

        It has the program's own kernels as they were seen. None where there is no such simulation.
        """

    @property
    def arena_size(self) -> int:
        """Bytes of the program's own arena; of what stays, where there are two."""

    @property
    def smallest(self) -> int | None:
        """Bytes of the smallest arena, of both where there are two; None where no size is enough."""

    @property
    def multiple_of_16(self) -> int | None:
        """As ``smallest``, of arenas whose sizes are multiples of 16."""

    @property
    def banks(self) -> tuple[BankNeed, ...]:
        """What each bank must have, where the planner is that of banks.h; no size is tried then."""

    @property
    def parts(self) -> Mapping[str, object]:
        """The parts of a document that say how that was measured."""

    @property
    def fits(self) -> bool:
        """Whether AllocateTensors() succeeds in the program's own arena."""

    @property
    def answer(self) -> Answer:
        """Whether the model works in some arena, its Invoke() too."""

    @property
    def works(self) -> bool | None:
        """Whether the model works in the first of the sizes that were to be tried, its Invoke() too.

        None where that was not found.
        """

    @property
    def reason(self) -> str:
        """Why no size is enough, or why it does not work although one is; "" where it works."""

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """What is taken for granted of where the first of the sizes that were to be tried lies."""

    @property
    def log(self) -> tuple[str, ...]:
        """What the program prints in its own arena."""

    @property
    def log_below(self) -> tuple[str, ...]:
        """What it prints with one byte less than the smallest arena."""

    def document(self) -> SizeDocument:
        """Return the document of ``size`` with these figures."""

    def pictures(self) -> tuple[Picture, ...]:
        """Return what happened in the arena; of several banks a picture each."""

    def lines(self, *, has_ledger: bool = True) -> list[str]:
        """Return the figures as text; ``has_ledger``: with a list of what every byte is used for."""

    def events(self) -> Iterator[Event]:
        """Yield what happened in the program's own arena."""


class Programs(Protocol):
    """Who can read and measure linked programs."""

    def is_program(self, path: str) -> bool:
        """Tell whether a file is a linked program."""

    def possible_targets(self, path: str, **named: str | None) -> tuple[Target, ...]:
        """Return the targets for which a program may have been built, the likeliest first.

        Args:
            path: The program.
            named: Facts that it may not contain: target, kernels, runtime, library, interpreter.

        Raises:
            UsageError: A fact that the file does not contain has to be named.
            FirmwareError: The file cannot be used.
        """

    def need(
        self,
        path: str,
        model: Model,
        configurations: Sequence[Configuration],
        *,
        limit: int | None = None,
        address: int | None = None,
        into: int = 0,
        settled: frozenset[str] = frozenset(),
        command: str = "",
        **named: str | None,
    ) -> ProgramNeed:
        """Return what a model needs in a program in the place of one of its own, as its file says.

        Args:
            path: The program.
            model: The model.
            configurations: Its set-up on each target that is possible, the likeliest first.
            limit: Bytes of the arena that is asked about, of both where there are two; None where only the need is.
            address: Where the arena starts, modulo 16; None for where the program has it.
            into: The number of the interpreter that gets the model, from 1 on, in the order of the calls in the code
                that make them; 0 for any.
            settled: Settings that the user named: "planner", "resource_variables".
            command: What executes the program with this model, which may settle a doubt.
            named: As for :meth:`possible_targets`.

        Raises:
            UsageError: A fact that the file does not contain has to be named.
            FirmwareError: The file cannot be used.
        """

    def measure(
        self,
        path: str,
        model: Model | None,
        possible: Sequence[Configuration],
        sizes: Sequence[int] = (),
        *,
        into: int = 0,
    ) -> ProgramFigures:
        """Execute a program with a model in the place of its own.

        Args:
            path: The program.
            model: The model; None for the program's own.
            possible: The configurations that its file leaves possible, the likeliest first.
            sizes: Sizes of the arena that are tried, whatever is needed; bytes.
            into: The number of the one that gets the model, from 1 on; 0 for each.

        Raises:
            FirmwareError: It cannot be executed, or does not come as far as AllocateTensors().
        """

    def seen(self, path: str, model: Model | None) -> list[str]:
        """Execute a program, and return what it did, a sentence each: results, stack, stores out of bounds.

        Args:
            path: The program.
            model: The model in the place of its own; None for its own.

        Raises:
            FirmwareError: It cannot be executed.
        """

    def outputs(
        self, path: str, model: Model | bytes, runs: Iterable[Sequence[bytes]], *, into: int = 0
    ) -> list[tuple[bytes, ...]]:
        """Execute a program with a model on the inputs of some runs, and return the outputs of each.

        Raises:
            FirmwareError: The program does not run the model.
        """

    def places(self, path: str, addresses: Sequence[int]) -> tuple[CodePlace, ...]:
        """Return what lies at addresses of code: function, file and line, as far as the program tells.

        Raises:
            FirmwareError: The file cannot be used.
        """

    def smallest_arena(self, path: str, model: Model, *, into: int = 0) -> int | None:
        """Return the bytes of the smallest arena in which a program works with a model, None where none was found."""
