"""The answer of ``shrink()``: what became of a model, as a value and as its document says it.

Nothing here needs numpy, which the rest of the room does: whoever prints an answer only needs its shape.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from tflm_sim.answers.smallest_arena import SplitArenaSizes
from tflm_sim.document_fields import HIDDEN, INLINE, named
from tflm_sim.document_types import Count
from tflm_sim.model.types import Model


@dataclass(frozen=True, slots=True)
class Sizes:
    """A model on a target, in bytes.

    Attributes:
        arena: The smallest arena; of both together where there are two.
        multiple_of_16: The smallest that is a multiple of 16: the one for the firmware.
        head: Of the plan.
        tail: Of persistent memory.
        split: Where there are two arenas, what each needs.
    """

    arena: Count = field(metadata=named("smallest_arena_bytes"))
    multiple_of_16: Count = field(metadata=named("smallest_arena_multiple_of_16"))
    head: Count = field(metadata=named("head_bytes"))
    tail: Count = field(metadata=named("tail_bytes"))
    split: SplitArenaSizes | None = field(default=None, metadata=named("smallest_split_arenas_bytes"))


@dataclass(frozen=True, slots=True)
class Gain:
    """What a target gains.

    Attributes:
        case: What tells it from others of its name, which a linked program leaves possible; "" where there are none.
        percent: Of its arena, to two digits.
    """

    target: str
    case: str
    before: Sizes
    after: Sizes
    percent: float

    @property
    def where(self) -> str:
        """On which target, and in how many arenas, for people."""
        return f"{'in two arenas ' if self.before.split else ''}on {self.target}"

    @property
    def in_words(self) -> str:
        """Both arenas, for people."""
        return f"{self.before.arena:,} B -> {self.after.arena:,} B {self.where}"


@dataclass(frozen=True, slots=True)
class AimGain:
    """What was to become smaller in the place of the arena, on one target.

    Attributes:
        before, after: In words.
        has_gained: Whether it became smaller.
        figures: Bytes before and after, by what they are; null where there is no figure.
        command: What to type next, with ``FILE`` for the file that was written.
    """

    target: str
    before: str
    after: str
    has_gained: bool
    figures: dict[str, tuple[int | None, int | None]]
    command: str


@dataclass(frozen=True, slots=True)
class Cost:
    """What a model costs beside its arena: multiply-accumulates, bytes of the file, operators that run."""

    macs: Count
    file_bytes: Count
    operators: Count


@dataclass(frozen=True, slots=True)
class Bound:
    """What no rewriting of ours goes below.

    Attributes:
        head: Bytes that are alive at once whatever is split.
        operator: Whose inputs, outputs and scratch they are: "#31 SOFTMAX", or "the inputs".
        tail: Bytes that the operators keep in the tail where none of them is split, which only adds to it.
    """

    head: Count = field(metadata=named("head_bytes"))
    operator: str
    tail: Count = field(metadata=named("tail_bytes"))

    @property
    def arena(self) -> int:
        """Bytes below which no rewriting of ours brings the arena.

        The tail is that of an arena that ends at a multiple of 16; where it ends elsewhere, gaps may be 15 bytes fewer.
        """
        return self.head + self.tail - 15


@dataclass(frozen=True, slots=True)
class Edit:
    """What a pass changed at one place, and why the outputs stay the same.

    Attributes:
        where: The operator or tensor that was edited.
        what: A sentence without its subject: "is the same bytes under another name".
        facts: Numbers behind it: row maps, channel shares, the order of reads and writes.
    """

    IS_OPEN: ClassVar = True
    where: str
    what: str
    facts: dict[str, Any] = field(default_factory=dict, metadata=INLINE)


@dataclass(frozen=True, slots=True)
class Kept:
    """A pass that was kept.

    Attributes:
        name: The pass.
        arenas: The smallest arena on each target behind it, in bytes.
        macs: Multiply-accumulates behind it.
        edits: What it changed.
        model: The model behind it.
    """

    name: str = field(metadata=named("pass"))
    arenas: tuple[Count, ...] = field(metadata=named("smallest_arena_bytes"))
    macs: Count
    edits: tuple[Edit, ...]
    model: Model = field(repr=False, compare=False, metadata=HIDDEN)


@dataclass(frozen=True, slots=True)
class Rejected:
    """A pass that was tried and not kept, and why.

    Attributes:
        arenas: The smallest arena on each target with it, in bytes; null where it has none.
    """

    name: str = field(metadata=named("pass"))
    reason: str
    arenas: tuple[Count, ...] | None = field(default=None, metadata=named("smallest_arena_bytes"))


@dataclass(frozen=True, slots=True)
class Proof:
    """What the real TFLM said.

    Attributes:
        runs: Invocations of each of the two, all outputs compared byte by byte.
        distinct: How many different outputs the original gave.
        arena: Bytes of the arena that the result ran in: its smallest, as predicted.
        fails_below: Whether the result fails with 16 bytes less.
    """

    runs: Count
    distinct: Count = field(metadata=named("distinct_outputs"))
    arena: Count = field(metadata=named("arena_bytes"))
    fails_below: bool = field(metadata=named("fails_with_16_less"))


@dataclass(frozen=True, slots=True)
class ProgramProof:
    """What the user's own program said, executed with each of the two models.

    A copy of the original with damaged weights ran, too, and gave other outputs.

    Attributes:
        program: The program.
        runs: Invocations of each of the two, all outputs compared byte by byte.
        distinct: How many different outputs the original gave.
        arena_before: The smallest arena of the program with the original, as executed; null where none was found.
        arena: With the result.
    """

    program: str
    runs: Count
    distinct: Count = field(metadata=named("distinct_outputs"))
    arena_before: Count | None = field(metadata=named("arena_before_bytes"))
    arena: Count | None = field(metadata=named("arena_bytes"))


@dataclass(frozen=True, slots=True)
class ElementNumbers:
    """What the elements of an input or output are.

    Attributes:
        type: "float32", "int8", ...
        scale: Of integers: what a step is worth; null for floating point.
        zero_point: The integer that stands for 0; null for floating point.
    """

    type: str
    scale: float | None
    zero_point: int | None


@dataclass(frozen=True, slots=True)
class Conversion:
    """An input or output that the firmware converts since ``--int8-io`` took the operator out that did.

    Attributes:
        what: "input" or "output".
        index: Its place among them, from 0.
        name: Its name in the model.
        before: What its elements were.
        after: What they are.
        function: The name of the function that the lines define.
        c: Lines of C: before to after for an input, after to before for an output, an element a call.
        python: The same in Python with numpy as ``np``, an array a call. These are what a proof runs.
    """

    what: str
    index: Count
    name: str
    before: ElementNumbers
    after: ElementNumbers
    function: str
    c: tuple[str, ...]
    python: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What became of a model.

    Attributes:
        data: The file to write: the original's bytes where nothing gained.
        model: The same, parsed.
        origin: The model as it was.
        gains: Before and after, a target each.
        before, after: What both cost.
        extra_operators: What the firmware's resolver must register in addition.
        bound: What no rewriting of ours goes below, on the first target.
        steps: The passes that were kept, in order.
        rejected: What was tried in vain, and why.
        left_alone: What was not touched, and why, a sentence each.
        simulations: How many models were simulated.
        verified: What was checked on the two files by a method that knows none of the passes, in a sentence.
        proof: What the real TFLM said; null unless asked for.
        program_proof: What the user's own program said; null unless asked for.
        conversions: What the firmware computes at the inputs and outputs that ``--int8-io`` changed.
        with_int8_io: The smallest arena on each target that ``--int8-io`` would give, in bytes, as the search found it;
            null where it was asked for, or gives nothing more.
        stopped: Why the search ended before all was tried, a sentence; empty where it ended by itself.
        aims: What was to become smaller in the place of the arena, a target each; empty where that was the arena.
    """

    data: bytes = field(metadata=HIDDEN)
    model: Model = field(metadata=HIDDEN)
    origin: Model = field(metadata=HIDDEN)
    gains: tuple[Gain, ...] = field(metadata=named("targets"))
    before: Cost
    after: Cost
    extra_operators: tuple[str, ...]
    bound: Bound
    steps: tuple[Kept, ...]
    rejected: tuple[Rejected, ...]
    left_alone: tuple[str, ...]
    simulations: Count
    verified: str = ""
    proof: Proof | None = None
    program_proof: ProgramProof | None = None
    conversions: tuple[Conversion, ...] = ()
    with_int8_io: tuple[Count, ...] | None = field(default=None, metadata=named("with_int8_io_bytes"))
    stopped: str = ""
    aims: tuple[AimGain, ...] = ()

    def __repr__(self) -> str:
        arenas = ", ".join(f"{row.before.arena:,} B -> {row.after.arena:,} B on {row.target}" for row in self.gains[:2])
        return f"<Shrunk: {arenas}{', ...' * (len(self.gains) > 2)}; {len(self.steps)} passes kept>"

    @property
    def has_gained(self) -> bool:
        """Whether any target needs less, or what was aimed at became smaller."""
        if self.aims:
            return any(aim.has_gained for aim in self.aims)
        return any(gain.after.arena < gain.before.arena for gain in self.gains)

    @property
    def macs_in_words(self) -> str:
        """What it costs in multiply-accumulates, for people."""
        if self.after.macs == self.before.macs:
            return "no additional MACs"
        return f"{100 * (self.after.macs - self.before.macs) / max(1, self.before.macs):+.1f} % MACs"

    def fits(self, goal: int) -> bool:
        """Return whether ``goal`` bytes are enough on every target."""
        return all(gain.after.arena <= goal for gain in self.gains)
