"""What stands on the core, and what each extension adds to it. The core asks here, and imports no extension itself.

Our own extensions are rows of :data:`OWN`: texts, so that asking costs no import, and so that it works from a zip or
after the folder was moved. An extension whose folder is gone is not there, and the core answers without it. Other
people's are entry points of the group ``tflm_sim.extensions``, each an :class:`Extension`; they are looked for only
where a verb, an option, a kind of file or a part of a document is unknown otherwise, or for ``--help``. What has a name
of ours already is ours.

    core's verb ---> verbs()      which verbs are there?         ---> VerbModule: its parser, and its answer
                     additions()  what is added to this verb?    ---> Additions: options, and who answers instead
                     parts()      what is this key of a document ---> its type, and its lines as text
                     sources()    who can read this file?        ---> SourceKind
                     programs()   who can measure this program?  ---> Programs
                     project()    what project is this?          ---> ProjectKind

What these modules must have is typed in ``extension_points.py``. A text "a.b:NAME" is the attribute NAME of the module
``a.b``, "a.b" the module; both are below the extension's own folder, or for other people's extensions whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from tflm_sim.errors import UsageError

ENTRY_POINTS = "tflm_sim.extensions"
SIZES, PROGRAMS, BETTER, MORE = "size a model", "a program, a board, a log", "a better model", "more"
"""The headings of the list of verbs; what extensions have besides comes behind them."""
HIDDEN = ""
"""In the place of a heading: the verb is not in the list."""


class Verb(NamedTuple):
    """A verb of the command line.

    Attributes:
        module: Its module (``extension_points.VerbModule``).
        summary: What it does, in a line: for the list of verbs, and the first line of its help.
        group: The heading in the list of verbs under which it stands; ``HIDDEN`` for none.
    """

    module: str
    summary: str
    group: str


class DocumentPart(NamedTuple):
    """A key of the core's documents that an extension fills.

    Attributes:
        documents: The names of the document classes that can have it.
        type: The type of its value, as a text like all others here; "str" for text.
        lines: A function that returns the value as lines for people; "" where the key is not shown as text.
        about: What the key says; the description in the JSON Schema.
    """

    documents: tuple[str, ...]
    type: str
    lines: str
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """What one extension adds.

    Attributes:
        name: Its name; of our own, the folder below ``tflm_sim/extensions``.
        verbs: Its verbs, by name.
        additions: Verbs of the core -> the module with :class:`Additions` for them.
        parts: Keys of documents. Those of other people are in no published schema, and are left out where a document
            is read.
        sources: A module with a :class:`SourceKind`, "" for none.
        programs: A module with :class:`Programs`, "" for none.
        projects: A module with :class:`ProjectKind`, "" for none.
        planners: A module with ``PLANNERS``, further rows for ``plan``, "" for none.
        names: Module -> the public names that it defines; "BoardSession=Session" is called Session there.
        modules: Modules that are public as a whole, by the name after ``tflm_sim``.
    """

    name: str
    verbs: Mapping[str, Verb] = field(default_factory=dict)
    additions: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, DocumentPart] = field(default_factory=dict)
    sources: str = ""
    programs: str = ""
    projects: str = ""
    planners: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)


OWN: tuple[Extension, ...] = (
    Extension(
        name="firmware",
        verbs={
            "firmware": Verb(
                "cli", "tell whether the models in a linked program (ELF) fit: read it, or execute it", PROGRAMS
            )
        },
        programs="programs",
        parts={
            "program": DocumentPart(
                ("SizeDocument", "ArenaDocument", "Verdict", "SideFacts"),
                "program_facts:ProgramFacts",
                "program_facts:program_lines",
                "With --firmware: what the program's file says, and what the answer takes for granted.",
            ),
            "executed": DocumentPart(
                ("SizeDocument", "Verdict", "SideFacts"),
                "executed_facts:ExecutedFacts",
                "executed_text:facts_lines",
                "With --executed: how the figures were measured. Where the simulation asks for something else, even "
                "with the program's own kernels as seen, what was not seen is empty: buffers, peak, binding, recorded.",
            ),
        },
        names={
            "emulation.execute": "execute",
            "emulation.execution": "ExecutedAllocation ExecutedArena ExecutedEvent ExecutedInvoke ExecutedOperator "
            "ExecutedStore Execution",
            "programs": "MeasuredProgram measure=measure_program",
        },
    ),
    Extension(
        name="shrink",
        verbs={
            "shrink": Verb(
                "cli", "rewrite a model so that TFLM needs a smaller arena and the outputs stay the same", BETTER
            )
        },
        additions={"size": "additions", "report": "additions"},
        parts={
            "advice": DocumentPart(
                ("SizeDocument",),
                "str",
                "additions:advice_lines",
                "What ``shrink`` would give, in a line; with --advise.",
            )
        },
        names={
            "shrink": "shrink",
            "shrunk": "Shrunk",
            "stream": "NotStreamed stream",
            "stream_text": "streamed_lines",
            "streamed": "Streamed",
            "text": "shrunk_lines",
            "verify": "VerificationFailed Verified verify",
        },
    ),
    Extension(
        name="lite",
        verbs={"lite": Verb("cli", "print what the mobile runtime (LiteRT) allocates for a model", MORE)},
        additions={"diff": "additions"},
        planners="planning",
        names={
            "answer": "LiteAnswer=Answer LiteSettings double_batch lite_allocated=allocated",
            "planned_picture": "lite_pictures",
            "summary": "LiteSummary=Summary lite_summaries=summaries",
        },
    ),
    Extension(
        name="sweep",
        verbs={"sweep": Verb("cli", "size many models for many targets, and write a table", BETTER)},
        names={"objective": "ArenaObjective arena_objective", "sweep": "sweep"},
    ),
    Extension(
        name="board",
        verbs={"board": Verb("cli", "compare a board with the simulation: listen, read, replay, ports", PROGRAMS)},
        names={
            "device_replay": "replay_script",
            "replay": "ReplayOutcome ReplayScript ReplayStep run_script",
            "session": "BoardSession=Session",
            "transport": "SerialPort open_port",
        },
    ),
    Extension(name="eon", additions={"size": "additions"}, sources="source_kind"),
    Extension(
        name="banks",
        additions=dict.fromkeys(("size", "check", "report", "plan", "shrink"), "additions"),
        names={"aim": "BankAim"},
        parts={
            "banks": DocumentPart(
                ("SizeDocument", "Verdict"),
                "document:StockFacts",
                "text:stock_lines",
                "With --bank: what TFLM's own Create does with these banks of RAM.",
            )
        },
    ),
    Extension(
        name="project",  # before "ci", for which a check without a limit is one of the project file
        additions={"check": "additions", "size": "additions"},
        parts={
            "project": DocumentPart(
                ("Verdict",),
                "facts:ProjectFacts",
                "facts:project_lines",
                "Of a project's folder: what its sources say, and what to change.",
            )
        },
        projects="project_kind",
    ),
    Extension(name="ci", additions={"check": "additions", "diff": "additions"}, modules={"keras": "keras"}),
    Extension(
        name="header",
        additions={"size": "additions"},
        parts={
            "header": DocumentPart(
                ("SizeDocument",), "str", "additions:header_lines", "The C++ header that was written; with --header."
            ),
            "resolver": DocumentPart(
                ("SizeDocument",),
                "facts:ResolverFacts",
                "additions:resolver_lines",
                "What the firmware's resolver must register; with --resolver.",
            ),
        },
    ),
    Extension(name="mcp", verbs={"mcp": Verb("cli", "answer coding assistants (Model Context Protocol)", MORE)}),
    Extension(name="page", verbs={"serve": Verb("cli", "serve the web page that sizes models in the browser", MORE)}),
)
"""Our own extensions; their modules are below ``tflm_sim.extensions.NAME``."""


@cache
def extensions(*, of_others: bool = False) -> tuple[Extension, ...]:
    """Return the extensions that are there: our own, and with ``of_others`` those of other people too."""
    has_own = find_spec("tflm_sim.extensions") is not None
    own = tuple(one for one in OWN if has_own and find_spec(f"tflm_sim.extensions.{one.name}") is not None)
    return own + others() if of_others else own


@cache
def others() -> tuple[Extension, ...]:
    """Return the extensions of other people.

    Raises:
        UsageError: One of them cannot be imported.
    """
    from importlib.metadata import entry_points

    found = []
    for point in entry_points(group=ENTRY_POINTS):
        try:
            found.append(point.load())
        except Exception as error:
            package = point.dist.name if point.dist else point.value
            raise UsageError(
                f"the extension '{point.name}' of {package} cannot be loaded: {type(error).__name__}: {error}"
            ) from error
    return tuple(found)


def imported(extension: Extension, text: str) -> Any:
    """Return the module or attribute that a text of an extension names."""
    module, _, attribute = text.partition(":")
    found = import_module(_whole(extension, module))
    return getattr(found, attribute) if attribute else found


def _whole(extension: Extension, module: str) -> str:
    is_own = any(extension is one for one in OWN)
    return f"tflm_sim.extensions.{extension.name}.{module}" if is_own else module


def verbs(*, of_others: bool = False) -> dict[str, Verb]:
    """Return the verbs of all extensions, with the whole names of their modules."""
    found: dict[str, Verb] = {}
    for one in extensions(of_others=of_others):
        for name, verb in one.verbs.items():
            found.setdefault(name, verb._replace(module=_whole(one, verb.module)))
    return found


def additions(verb: str, *, of_others: bool = False) -> list[Any]:
    """Return what is added to a verb, as modules with ``Additions``."""
    return [imported(one, one.additions[verb]) for one in extensions(of_others=of_others) if verb in one.additions]


def sources() -> Iterator[Any]:
    """Yield the kinds of file that are taken in the place of a model, as modules with ``SourceKind``: ours first."""
    for found in (extensions, others):
        yield from (imported(one, one.sources) for one in found() if one.sources)


def project(path: str) -> str:
    """Return which kind of project a folder or a file is, as an extension says it; "" where it is none."""
    kinds = (imported(one, one.projects) for one in extensions() if one.projects)
    return next((words for kind in kinds if (words := kind.words_of(path))), "")


def has_programs() -> bool:
    """Tell whether an extension reads and measures linked programs."""
    return any(one.programs for one in extensions())


def programs() -> Any:
    """Return who reads and measures linked programs, a module with ``Programs``; None where no extension does."""
    found: Sequence[Any] = [imported(one, one.programs) for one in extensions() if one.programs]
    return found[0] if found else None


def planners() -> list[Any]:
    """Return the planners that extensions add, as rows of ``planners.by_name``."""
    return [row for one in extensions() if one.planners for row in imported(one, one.planners).PLANNERS]


@cache
def parts(document: str, *, of_others: bool = False) -> dict[str, tuple[Extension, DocumentPart]]:
    """Return the parts that a class of documents can have, by key."""
    found: dict[str, tuple[Extension, DocumentPart]] = {}
    for one in extensions(of_others=of_others):
        for key, part in one.parts.items():
            if document in part.documents:
                found.setdefault(key, (one, part))
    return found


def part_type(document: str, key: str) -> Any:
    """Return the type of a part of our own extensions."""
    extension, part = parts(document)[key]
    return str if part.type == "str" else imported(extension, part.type)


def part_lines(document: str, values: Mapping[str, object]) -> list[str]:
    known = parts(document)
    if not values.keys() <= known.keys():
        known = parts(document, of_others=True)
    return [
        line
        for key, value in values.items()
        for extension, part in [known[key]]
        if part.lines
        for line in imported(extension, part.lines)(value)
    ]


def homes(package: str, names: Mapping[str, str]) -> dict[str, str]:
    """Return where public names are defined: "module", or "module:attribute" for one that is called otherwise there.

    Args:
        package: The package of the modules.
        names: Module -> the names that it defines; "BoardSession=Session" is called Session there.
    """
    rows = ((module, name.partition("=")) for module, several in names.items() for name in several.split())
    return {public: f"{package}.{module}" + (f":{own}" if own else "") for module, (public, _, own) in rows}


def public_names() -> dict[str, str]:
    """Return where the public names of our extensions are defined, as :func:`homes` does."""
    found: dict[str, str] = {}
    for one in OWN:
        found |= homes(f"tflm_sim.extensions.{one.name}", one.names)
    return found


def public_module(name: str) -> Any:
    """Return a module that is public as a whole.

    Raises:
        ImportError: No extension has it.
    """
    for one in extensions():
        if name in one.modules:
            return imported(one, one.modules[name])
    raise ImportError(f"tflm_sim.{name} is of an extension that is not installed", name=f"tflm_sim.{name}")
