"""Arguments that several verbs share, and functions that turn them into values."""

from __future__ import annotations

import argparse
import os.path
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.checks.doubts import EXIT_CODES as VERDICT_CODES
from tflm_sim.checks.doubts import Answer
from tflm_sim.checks.program_need import ProgramNeed
from tflm_sim.cli.outputs import as_typed
from tflm_sim.cli.terminal import COLOR_CHOICES, Help, HelpText, ProgressLine, elapsing, folded, say
from tflm_sim.cli.verbs import VERBS, verbs
from tflm_sim.device.configuration import INTERPRETERS, NAMING, PLANNER_NAMES, Configuration, configure
from tflm_sim.device.configuration import possible_configurations as configurations_of
from tflm_sim.errors import EXIT_CODES, FirmwareError, SimulatedFailure, UsageError
from tflm_sim.extension_points import ProgramFigures, Programs
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.names import asking
from tflm_sim.numbers import whole
from tflm_sim.ops.op_model import OpModel
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.registry import has_programs, part_lines, programs
from tflm_sim.report.circumstances import open_kernels, target_lines, unnamed
from tflm_sim.report.program_text import need_line
from tflm_sim.sizes import parse_size
from tflm_sim.targets.runtime import OPTIMIZATIONS
from tflm_sim.targets.target import Target

TARGET = "cortex-m4"
TENSOR_HELP = "a name, an index, SUBGRAPH:INDEX, input, output, input:1"
MODELS_HELP = "a .tflite file, a C source, a .zip, a folder, a pattern, - (standard input), or sample:NAME"
PAIRED = (
    "target",
    "board",
    "firmware",
    "kernels",
    "runtime",
    "library",
    "optimize_kernels_for",
    "interpreter",
    "planner",
    "resource_variables",
    "variable_arena",
    "arena_address",
)
"""What can differ between two firmwares."""
SETTINGS = (*PAIRED, "ethos_u", "own_planner", "custom_ops")
"""The names of all that :func:`add_configuration` adds."""

_DEFAULTS = (f"the library's, or {TARGET}", "the library's or target's", "the library's, or the newest")
_ALWAYS_LISTED = (0, 2, 3, 70, 130)
T = TypeVar("T")
Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def typed(read: Callable[..., T], **bounds: int) -> Callable[[str], T]:
    """Return the type of an option whose text ``read`` reads; it may raise UsageError."""

    def convert(text: str) -> T:
        try:
            return read(text, **bounds)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return convert


def svg_file(text: str) -> str:
    """Return the name of a file to draw into, unless it names another kind of picture."""
    if text.lower().endswith((".png", ".jpg", ".jpeg", ".pdf")):
        raise argparse.ArgumentTypeError(f"'{text}': the picture is an SVG; name it .svg")
    return text


def add_verb(
    subparsers: Subparsers,
    name: str,
    examples: str,
    *,
    about: str,
    exits: Mapping[int, str] | None = None,
    summary: str = "",
) -> argparse.ArgumentParser:
    """Add a verb's parser, or that of a command below a verb.

    Args:
        subparsers: The object to which it is added.
        name: The verb.
        examples: Commands, one per line, at the top of the verb's help.
        about: When to use the verb; lines of up to 80 characters, below the summary.
        exits: Exit codes with another meaning than in ``EXIT_CODES``. The help lists 1 and 4 only if they are here.
        summary: What a command below a verb does, in one line; that of a verb is in the table of verbs.
    """
    summary = summary or (VERBS.get(name) or verbs(of_others=True)[name]).summary
    meanings = {code: text for code, text in EXIT_CODES.items() if code in _ALWAYS_LISTED} | dict(exits or {})
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=summary,
        description="\n".join(
            [
                f"{summary[0].upper()}{summary[1:]}.\n\n{about.strip()}",
                "",
                "examples:",
                *(f"  {line.strip()}" for line in examples.strip().splitlines()),
            ]
        ),
        epilog="\n".join(["exit codes:", *(f"  {code:<4} {meanings[code]}" for code in sorted(meanings))]),
        formatter_class=HelpText,
        add_help=False,
    )
    parser.add_argument(
        "-h", "--help", action=Help, nargs="?", metavar="all", help="show this help, or every option, and exit"
    )
    for option in ("--debug", "--allow-download"):
        parser.add_argument(option, action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    return parser


def answer_of_an_extension(verb: str, args: argparse.Namespace) -> int | None:
    """Let an extension carry out a verb of the core, where what was given is its own; return its exit code."""
    return next((code for each in args.additions if (code := each.answer(verb, args)) is not None), None)


def parts_of_extensions(verb: str, args: argparse.Namespace, model: Model, config: Configuration) -> dict[str, object]:
    """Return what the options of extensions ask for beside a verb's own answer, by key of the document."""
    return {key: value for each in args.additions for key, value in each.parts(verb, args, model, config).items()}


def add_configuration(
    parser: argparse.ArgumentParser,
    *,
    leave_out: Collection[str] = (),
    is_pair: bool = False,
    several: Collection[str] = (),
    title: str = "firmware",
) -> None:
    """Add the options that say what is sized for: target, board, library, kernels, planner and so on.

    Args:
        parser: The verb's.
        leave_out: Those that the verb does not have, or adds itself.
        is_pair: Whether an option may be given twice, for two firmwares that are compared; see :func:`pair`.
        several: Those that may be given several times.
        title: The heading in the verb's help.
    """
    group = parser.add_argument_group(title + (" (given twice: before, after)" if is_pair else ""))
    of_a_file = "firmware" in leave_out and "board" in leave_out
    defaults = dict(zip(("target", "kernels", "runtime"), ("the file's",) * 3 if of_a_file else _DEFAULTS, strict=True))
    for name, row in _OPTIONS.items():
        how = dict(row)
        if name in leave_out or (name == "firmware" and not has_programs()):
            if parser.get_default(name) is None:  # The verb has no such option of its own.
                is_flag = how.get("action") == "store_true"
                parser.set_defaults(**{name: how.get("default", False if is_flag else None)})
            continue
        if "action" not in how:
            how["action"] = "append" if name in several or (is_pair and name in PAIRED) else "store"
        how["help"] = how["help"].format(**defaults)
        action = group.add_argument(f"--{name.replace('_', '-')}", **how)
        if name not in _ASKED_FIRST:
            folded(action)


_ASKED_FIRST = ("target", "board", "library", "firmware")
"""What most people name; the rest is listed by ``--help all``."""

_OPTIONS: dict[str, dict[str, Any]] = {
    "target": {"metavar": "T", "help": "the processor (default: {target}); 'tflm-sim list targets' lists them"},
    "board": {
        "metavar": "B",
        "help": "use this board's target, unless --target is given: a name of 'tflm-sim list boards', or its name in "
        "Arduino's IDE, PlatformIO or Zephyr",
    },
    "firmware": {"metavar": "APP.elf", "help": "read the target from a linked program"},
    "kernels": {
        "metavar": "LIB",
        "help": "the kernel library: reference, cmsis_nn or esp_nn, with an optional @VERSION (default: {kernels})",
    },
    "runtime": {
        "metavar": "R",
        "help": "the version of TFLM: a day (2023-06-15), a commit, or LIBRARY@VERSION (default: {runtime})",
    },
    "library": {
        "metavar": "L[@V]",
        "help": "use the TFLM and kernels of this library: a name of 'tflm-sim list libraries', its name in a package "
        "registry, its repository, or a header (ArduTFLite.h)",
    },
    "optimize_kernels_for": {
        "choices": OPTIMIZATIONS,
        "help": "OPTIMIZE_KERNELS_FOR of upstream's Makefile, for CMSIS-NN with MVE (default: speed)",
    },
    "ethos_u": {"action": "store_true", "help": "the firmware links the Ethos-U driver"},
    "interpreter": {
        "choices": INTERPRETERS,
        "help": "the kind of MicroInterpreter (default: the target's, usually plain)",
    },
    "planner": {
        "choices": PLANNER_NAMES,
        "help": "the memory planner (default: greedy); linear is the one of preserve_all_tensors",
    },
    "own_planner": {
        "action": "store_true",
        "help": "the firmware passes its own planner object to MicroAllocator::Create, so it is not in the arena",
    },
    "resource_variables": {
        "type": typed(whole),
        "metavar": "N",
        "help": "the number of resource variables that the firmware reserves (default: as many as the model has)",
    },
    "variable_arena": {
        "metavar": "N",
        "help": "the firmware creates the table of resource variables in a separate arena of N bytes (ESPHome: 1024)",
    },
    "arena_address": {
        "type": typed(whole),
        "choices": range(BUFFER_ALIGNMENT),
        "metavar": "0..15",
        "help": "the arena's address modulo 16 (default: 0, aligned; on a heap it can be 4, 8 or 12)",
    },
    "custom_ops": {
        "action": "append",
        "default": [],
        "metavar": "FILE.py",
        "help": "a Python file that describes your own kernels (OpModel)",
    },
}
"""What is sized for, as options; their names are the settings of Python and of the project file."""


def add_forms(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    """Add ``--map``, ``--json``, ``--jsonl``, of which one may be given, and ``--color``; return the first three."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--map", action="store_true", help="draw the arena as text, with one line for each operator")
    form.add_argument("--json", action="store_true", help="print one JSON document")
    form.add_argument(
        "--jsonl",
        action="store_true",
        help="print one JSON document per model and line, and continue after a model that cannot be read",
    )
    parser.add_argument(
        "--color",
        choices=COLOR_CHOICES,
        default="auto",
        help="when --map uses colours (default: on a terminal, unless NO_COLOR is set)",
    )
    return form


def add_executed(parser: argparse._ActionsContainer) -> None:
    """Add ``--executed``, which needs ``--firmware``, where an extension executes programs."""
    if not has_programs():
        parser.set_defaults(executed=False, into=0)
        return
    parser.add_argument(
        "--executed",
        action="store_true",
        help="with --firmware: execute the program with this model, or with its own where none is named, and measure "
        "instead of simulating",
    )
    add_interpreter(parser, "--firmware")


def add_beside(parser: argparse._ActionsContainer) -> None:
    """Add ``--beside``, which needs ``--board``."""
    parser.add_argument(
        "--beside",
        metavar="WHAT",
        help="with --board: what else is in its RAM: core (nothing), ble, wifi or ble,wifi; 'tflm-sim list boards B' "
        "has the figures",
    )


def add_split_arenas(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--split-arenas", action="store_true", help="use two arenas: one for persistent memory, one for everything else"
    )


def add_interpreter(parser: argparse._ActionsContainer, what: str) -> None:
    """Add ``--into``, which goes with the option ``what``."""
    parser.add_argument(
        "--into",
        type=typed(whole),
        default=0,
        metavar="N",
        help=f"with {what}: the interpreter that gets the model, in the order of the calls in the code that make them, "
        "or as 'firmware --run' numbers them where it is executed (default: all)",
    )


_OF_THE_FRAME = ("verb", "debug", "allow_download")


def refuse_besides(args: argparse.Namespace, option: str, *allowed: str, others: Iterable[str] | None = None) -> None:
    """Refuse an option that was given and does not go with another one.

    Args:
        args: The options.
        option: The name in ``args`` of that other one.
        allowed: The names in ``args`` of what goes with it.
        others: The names of what does not; None for all that is not allowed.

    Raises:
        UsageError: It names both.
    """
    names = vars(args) if others is None else others
    if other := first_given(args, (name for name in names if name not in (option, *allowed, *_OF_THE_FRAME))):
        raise UsageError(f"{as_typed(args, option)} does not go with {other}; remove one of them")


def first_given(args: argparse.Namespace, names: Iterable[str]) -> str | None:
    """Return the first of some options that was given, as it is typed; None where none was.

    Args:
        args: The options.
        names: Their names in ``args``; those that the verb does not have are not given.
    """
    default = args.parser.get_default
    return next(
        (as_typed(args, name) for name in names if getattr(args, name, None) not in (None, default(name))), None
    )


def program_reader() -> Programs:
    """Return who reads and measures linked programs.

    Raises:
        UsageError: No extension does.
    """
    found: Programs | None = programs()
    if found is None:
        raise UsageError("--firmware needs the extension 'firmware', which is not installed")
    return found


def program_need(
    args: argparse.Namespace, name: str, model: Model, possible: Sequence[Configuration], limit: int | None = None
) -> ProgramNeed:
    """Return what a model needs in the program of ``--firmware``, as its file says.

    Args:
        args: The options.
        name: The model, as the user named it.
        model: It.
        possible: The configurations that the file leaves possible, the likeliest first.
        limit: Bytes of the arena that is asked about; None where only the need is.
    """
    named = {"planner": args.planner, "resource_variables": args.resource_variables}
    return program_reader().need(
        args.firmware,
        model,
        possible,
        limit=limit,
        address=args.arena_address,
        into=args.into,
        settled=frozenset(setting for setting, value in named.items() if value is not None),
        command=_executing(args, name),
        **_named_of_program(args),
    )


def configured(args: argparse.Namespace, name: str, model: Model) -> tuple[Configuration, ProgramNeed | None]:
    """Return the configuration of the options for a model, and what a program of ``--firmware`` says it needs.

    Raises:
        FirmwareError: The program's file does not say what has to be simulated.
    """
    if not args.firmware:
        return configuration(args), None
    need = program_need(args, name, model, possible_configurations(args), arena_size(args))
    if need.simulation is None:
        raise FirmwareError(need.reason, path=args.firmware)
    return need.configuration, need


def program_parts(need: ProgramNeed | None) -> Mapping[str, object]:
    """Return what a program's file says as parts of a document; none without a program."""
    return {} if need is None else need.parts


def program_header(need: ProgramNeed | None) -> list[str]:
    """Return what the figures of a program hang on, as the first lines; none where they hang on nothing."""
    first = None if need is None else need_line(need)
    return [] if first is None else [first]


_OF_A_SIZE = ("limit", "arena_size", "goal")


def _executing(args: argparse.Namespace, name: str) -> str:
    """Return the command that asks the same of the program itself."""
    verb = args.verb if args.verb in ("check", "report", "shrink") else "size"
    given = ("firmware", *_OF_A_SIZE, *OF_PROGRAM, *(["output"] if verb == "report" else []))
    settings = {option: getattr(args, option, None) for option in given}
    return asking(verb, name, {**settings, "into": args.into or None, "executed": True})


def shrinking(named: Mapping[str, object], name: str | None, goal: int | None) -> str:
    """Return the command that looks for a rewriting of a model that needs at most ``goal`` bytes.

    Args:
        named: What the model runs on, by the names of the options; anything else is left out.
        name: The model's file; None where it has none.
        goal: None for as few bytes as there can be.
    """
    given = {option: named.get(option) for option in (*SETTINGS, "split_arenas")}
    own = {"into": named.get("into") or None, "executed": named.get("executed"), "goal": goal}
    return asking("shrink", name, given | own)


OF_PROGRAM = ("target", "kernels", "runtime", "library", "interpreter")
"""Options for what a program's file may not say."""


def _named_of_program(args: argparse.Namespace) -> dict[str, str | None]:
    target, *rest = (getattr(args, name, None) for name in OF_PROGRAM)
    return dict(zip(("named", *OF_PROGRAM[1:]), (target, *rest), strict=True))


def measured(
    args: argparse.Namespace, model: Model | None, possible: Sequence[Configuration], sizes: Sequence[int] = ()
) -> ProgramFigures:
    """Return what was measured in the program of ``--firmware`` with a model, None for the program's own."""
    with elapsing(f"executing {os.path.basename(args.firmware)}"):
        return program_reader().measure(args.firmware, model, possible, sizes, into=args.into)


def exactly_measured(
    args: argparse.Namespace, model: Model | None, sizes: Sequence[int] = (), *, may_be_in_banks: bool = False
) -> tuple[ProgramFigures, Configuration]:
    """Return what was measured in the program, and the configuration whose simulation asks for the very same.

    Args:
        args: The options.
        model: The model; None for the program's own.
        sizes: Sizes of the arena that are tried, whatever is needed; bytes.
        may_be_in_banks: Whether its tensors may lie in several banks, which no simulation has; the configuration is
            then the nearest.

    Raises:
        FirmwareError: No simulation does, so that only what was measured is known.
    """
    found = measured(args, model, possible_configurations(args), sizes)
    if found.banks and may_be_in_banks:
        return found, found.configuration
    if found.banks:
        raise FirmwareError(
            "its tensors lie in several banks of RAM, by its banks.h, and no simulation has these; "
            f"{args.verb} without further options shows what was measured",
            path=args.firmware,
        )
    if found.exact is None:
        raise FirmwareError(
            "it asks its allocator for something else than any simulation, so that this is not known of it; "
            f"{args.verb} without further options shows what was measured",
            path=args.firmware,
        )
    return found, found.exact


def asked_about(args: argparse.Namespace) -> tuple[Model, Configuration, list[str]]:
    """Return the model of the options, what it runs on, and the first lines of what is said of it."""
    model = None if args.model is None else load(args.model)
    if is_executed(args):
        found, config = exactly_measured(args, model)
        return found.model, config, part_lines("SizeDocument", found.parts)
    assert model is not None, "without a program that is executed, one was named"
    config, need = configured(args, args.model, model)
    return model, config, [*program_header(need), *header(args, config)]


def named_models(args: argparse.Namespace, given: Sequence[str]) -> Sequence[str | None]:
    """Return the models that were named; with ``--executed`` None for the program's own, where none was.

    A program among the models is then the one of ``--firmware``.

    Raises:
        UsageError: There is no model.
    """
    if args.executed and not args.firmware:
        linked = [name for name in given if program_reader().is_program(name)]
        if len(linked) == 1:
            args.firmware, given = linked[0], [name for name in given if name != linked[0]]
    if not given and not (args.executed and args.firmware):
        raise UsageError("no model is given; only with --firmware APP.elf --executed can it be left out")
    return given or (None,)


def is_executed(args: argparse.Namespace, *others: str) -> bool:
    """Return whether the figures are to be measured by executing the program.

    Args:
        args: The options.
        others: The names in ``args`` of options that exclude ``--executed``.

    Raises:
        UsageError: ``--executed`` or ``--into`` without a program, or ``--executed`` with one of ``others``.
    """
    if args.into < 0 or (args.into and not args.firmware):
        raise UsageError("--into N needs --firmware APP.elf, and N starts at 1")
    if not args.executed:
        return False
    if not args.firmware:
        raise UsageError("--executed needs --firmware APP.elf, the program to execute")
    refuse_besides(args, "executed", others=others)
    return True


def _likeliest(possible: tuple[Configuration, ...]) -> Configuration:
    """Return the first configuration, and print a note where there are others."""
    chosen, *others = possible
    if others:
        target = chosen.target
        newest = f"{target.runtime.snapshot}, {target.abi.name}, {target.interpreter}"
        say(f"{target.name}: {newest} is assumed; the file fits {len(others) + 1} targets", file=sys.stderr)
    return chosen


def settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of :func:`add_configuration` that were given, but for the target, as settings of Python."""
    names = (*(name for name in SETTINGS if name not in ("target", "custom_ops")), "split_arenas")
    given = {name: getattr(args, name, None) for name in names}
    found = {name: value for name, value in given.items() if value is not None and value is not False}
    if paths := getattr(args, "custom_ops", None):
        found["custom_ops"] = tuple(row for path in paths for row in load_custom_ops(path))
    return found


def configuration(args: argparse.Namespace, *, chosen: Target | None = None) -> Configuration:
    """Return the configuration of :func:`add_configuration`'s options; with ``--firmware``, of the likeliest target.

    Args:
        args: The options.
        chosen: The target, where the verb has determined it already.

    Raises:
        UsageError: An unknown target or kernel library, or a file without custom operators.
        FirmwareError: The file of ``--firmware`` cannot be used.
    """
    if chosen is not None:
        rest = {name: value for name, value in settings(args).items() if name not in NAMING}
        return configure(chosen, **rest)
    return _likeliest(possible_configurations(args))


def possible_configurations(args: argparse.Namespace) -> tuple[Configuration, ...]:
    """Return the configurations of the options: with ``--firmware`` one for each possible target, else one."""
    named = settings(args)
    is_named = any(name in named for name in ("board", "firmware", "library"))
    return configurations_of(args.target or (None if is_named else TARGET), **named)


def assumed(args: argparse.Namespace, config: Configuration) -> tuple[str, ...]:
    """Return the verb's options on which the answer depends and which were not given."""
    if args.firmware:
        return ()
    missing = unnamed(config, target=args.target or getattr(args, "board", None), **_versions(args))
    return tuple(f"--{name}" for name in missing if hasattr(args, name))


def header(args: argparse.Namespace, config: Configuration) -> list[str]:
    """Return lines that say for which TFLM, library and kernels an answer is valid, and what was not given."""
    return [*target_lines(config.target, assumed(args, config)), *kernels_remark(args, config)]


def kernels_remark(args: argparse.Namespace, config: Configuration) -> list[str]:
    """Return a line where the version of the kernels is a guess."""
    versions = _versions(args)
    return [] if args.firmware else open_kernels(config, library=versions["library"], kernels=versions["kernels"])


def _versions(args: argparse.Namespace) -> dict[str, str | None]:
    return {name: getattr(args, name, None) for name in ("library", "runtime", "kernels")}


def pair(args: argparse.Namespace) -> tuple[argparse.Namespace, argparse.Namespace]:
    """Return the options of the first and of the second firmware; an option that is given once is for both.

    Raises:
        UsageError: An option is given more than twice.
    """
    sides: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for name in PAIRED:
        values = getattr(args, name) or [None]
        if len(values) > 2:
            raise UsageError(
                f"--{name.replace('_', '-')} is given {len(values)} times; give it at most twice, for before and after"
            )
        for side, value in zip(sides, (values[0], values[-1]), strict=True):
            side[name] = value
    before, after = (argparse.Namespace(**{**vars(args), **side}) for side in sides)
    return before, after


def load_custom_ops(path: str) -> tuple[OpModel, ...]:
    """Run a Python file and return every OpModel that is a global there, in order.

    Raises:
        UsageError: There is no such file, it fails, or it defines none.
    """
    import runpy

    if not os.path.isfile(path):
        raise UsageError(f"{path}: no such file of custom operators")
    try:
        names = runpy.run_path(path)
    except (Exception, SystemExit) as error:  # Its exit code would be taken for an answer.
        raise UsageError(f"{path} fails: {type(error).__name__}: {error}") from error
    found = tuple(value for value in names.values() if isinstance(value, OpModel))
    if not found:
        raise UsageError(f"{path} defines no OpModel")
    return found


def arena_size(args: argparse.Namespace) -> int | None:
    given = getattr(args, "arena_size", None)
    return None if given is None else parse_size(given)


def code_of(simulation: Simulation) -> int:
    """Return the exit code of figures of a model: that of TFLM's own failure, where no arena lets it run."""
    works = simulation.failure is None and simulation.invoke_problem is None
    return 0 if works else SimulatedFailure.exit_code


def code_of_answer(answer: Answer) -> int:
    """Return the exit code of figures of a program: of a model that works in no arena, that of TFLM's own failure."""
    return SimulatedFailure.exit_code if answer == "no" else VERDICT_CODES[answer]


def simulated(model: Model, config: Configuration, arena_size: int | None = None) -> Simulation:
    """Return the simulation, by default in a roomy arena; a line on stderr shows how far it is when it takes long."""
    with ProgressLine("simulating", model) as progress:
        return simulate(model, config, arena_size=arena_size, observers=progress.observers)
