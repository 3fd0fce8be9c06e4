"""The command line: ``tflm-sim VERB ...``. One module per verb; arguments in, exit code out.

``verbs.py`` is the table of verbs. A verb's module has ``register(subparsers)``, which adds its parser, and
``run(args)``, which returns the exit code. ``main`` imports only the module of the verb that was asked for, and no verb
for the help and the version of the whole. It is the only place that catches errors; an argument that is not understood
is one too.

Everything is printed by ``terminal.say`` and ``terminal.say_json``, which make what strangers wrote harmless. The exit
codes are ``errors.EXIT_CODES``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, NoReturn

from tflm_sim import registry
from tflm_sim.cli.default_age import say_age
from tflm_sim.cli.outputs import refuse_overwriting
from tflm_sim.cli.pipes import readable_again
from tflm_sim.cli.streams import discard
from tflm_sim.cli.terminal import HelpText, say, terminal_width
from tflm_sim.cli.verbs import listing, verbs
from tflm_sim.errors import EXIT_CODES, INTERRUPTED, UNFORESEEN, UNKNOWN, TflmSimError, UsageError
from tflm_sim.escape import printable
from tflm_sim.model.download import downloads
from tflm_sim.names import command_line, meant, unknown

MAX_ERROR_CHARACTERS = 2000
"""Characters; of a longer error the end is printed."""
_HELP = ("-h", "--help")
_SAME_ELSEWHERE = {"--limit": "--arena-size", "--arena-size": "--limit", "--executed": "--run", "--run": "--executed"}
"""What an option of one verb is called by another."""


class Once(argparse._StoreAction):
    """Stores the value of an option; a second one would silently take the place of the first."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """Store the value.

        Raises:
            UsageError: The option has one already.
        """
        assert isinstance(parser, Parser), "all verbs have this parser"
        if option is not None and self.dest in parser.given:
            several = f"; for several: {option}s A,B" if f"{option}s" in parser._option_string_actions else ""
            raise UsageError(f"{option} is given twice, and '{parser.prog}' takes one{several}")
        parser.given.add(self.dest)
        super().__call__(parser, namespace, values, option)


class Parser(argparse.ArgumentParser):
    """A parser that raises what it does not understand (mutable: the options of the line that it reads)."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings | {"allow_abbrev": False})
        self.given: set[str] = set()
        for name in (None, "store"):
            self.register("action", name, Once)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[argparse.Namespace, list[str]]:  # type: ignore[override]
        """Read a command line."""
        self.given.clear()
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Refuse a word that is none of an option's, with the nearest one."""
        if action.choices is not None and action.option_strings and value not in action.choices:
            raise unknown(f"value of {action.option_strings[0]}", str(value), map(str, action.choices))
        super()._check_value(action, value)

    def options(self) -> Iterator[str]:
        """Yield the options, as they are typed, with those of commands below this one."""
        yield from self._option_string_actions
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                for command in action.choices.values():
                    yield from command.options()


def build_parser(*names: str, of_others: bool = False) -> Parser:
    """Return the parser with the verbs of these names; without a name the one for the help and version of the whole.

    Args:
        names: Verbs of ``verbs.verbs``.
        of_others: Take the verbs and options of other people's extensions too.
    """
    known = verbs(of_others=of_others)
    parser = Parser(
        prog="tflm-sim",
        usage="tflm-sim [-h] [--version] [--debug] [--allow-download] VERB ...",
        description="Compute, to the byte, the tensor arena that TensorFlow Lite Micro needs."
        + ("" if names else f"\n\n{listing(known, width=terminal_width())}"),
        epilog="examples:\n  tflm-sim size model.tflite --target cortex-m4\n"
        "  tflm-sim check model.tflite --target esp32 --limit 64KiB\n\nexit codes:\n"
        + "\n".join(f"  {code:<4} {meaning}" for code, meaning in EXIT_CODES.items()),
        formatter_class=HelpText,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and which planner core is used")
    parser.add_argument("--debug", action="store_true", help="show where an error in tflm-sim itself comes from")
    parser.add_argument("--allow-download", action="store_true", help="fetch models whose names are http(s) addresses")
    subparsers = parser.add_subparsers(
        dest="verb", metavar="VERB", prog="tflm-sim", help="one of these; 'tflm-sim VERB --help' says what it takes"
    )
    for name in names:
        module = import_module(known[name].module)
        module.register(subparsers)
        of_verb = subparsers.choices[name]
        added = registry.additions(name, of_others=of_others)
        for addition in added:
            addition.add_options(name, of_verb)
        of_verb.set_defaults(run=module.run, additions=added, parser=of_verb)
    return parser


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the arguments of the command line as its verb understands them.

    Raises:
        UsageError: They are not understood, by other people's extensions neither.
        SystemExit: They ask for the help or the version, which was printed.
    """
    is_help = any(word in _HELP for word in arguments)
    try:
        return _parsed(arguments, of_others=is_help)
    except UsageError:
        if is_help or not registry.others():
            raise
    return _parsed(arguments, of_others=True)


def _parsed(arguments: Sequence[str], *, of_others: bool) -> argparse.Namespace:
    name, known = _verb(arguments), verbs(of_others=of_others)
    if name is not None and name not in known:
        if name == "-":
            raise UsageError("the standard input needs a verb: 'size -' for a model, 'explain -' for a log")
        from tflm_sim.cli.things import PROJECT_FILE  # only on the way out

        if os.path.basename(name) == PROJECT_FILE and os.path.isfile(name):
            there = command_line("cd", os.path.dirname(name))
            raise UsageError(f"'{name}' is a project file, which is checked in its folder: {there}; tflm-sim check")
        if os.path.exists(name):
            raise UsageError(f"'{name}' is neither a verb nor a model, a program, an archive or a log")
        if os.sep in name or os.path.splitext(name)[1]:
            raise UsageError(f"'{name}' is no verb, and there is no such file")
        raise _unknown(f"verb '{name}'", name, known, "tflm-sim --help")
    parser = build_parser(*(() if name is None else (name,)), of_others=of_others)
    try:
        args, left = parser.parse_known_args(arguments)
        if name is not None and not left:
            return args
        problem = "no verb is given"
        if left:
            problem = f"unknown option {left[0]}" if left[0][0] == "-" else f"'{left[0]}' is one argument too many"
    except UsageError as error:
        problem = str(error)
    more = "tflm-sim --help" if name is None else f"tflm-sim {name} --help"
    # A misspelt option is the likeliest cause of anything else that is wrong, such as an option that is missing.
    options = {*parser.options()} - ({"--version"} if name is not None else set())  # It stands where a verb would.
    for word in arguments:
        option = word.partition("=")[0]
        if word.startswith("--") and option not in options:
            same = _SAME_ELSEWHERE.get(option, option)
            raise _unknown(f"option {option}", same if same in options else option, options, more)
    raise UsageError(problem if problem.endswith("?") else f"{problem}; see '{more}'")


def _verb(arguments: Sequence[str]) -> str | None:
    """Return the verb's name; None where there is none, or the help or the version of the whole is asked for."""
    known = ("-", *_HELP, "--version")
    word = next((word for word in arguments if not word.startswith("-") or word in known), None)
    return None if word is None or word in known[1:] else word


def _with_implied_verb(arguments: list[str]) -> list[str]:
    """Return the arguments, with the verb that answers about a file, a folder or a line of a log that stands alone."""
    word = _verb(arguments)
    if word is None or word in verbs():
        return arguments
    from tflm_sim.cli.things import with_verb  # Most name the verb.

    found = with_verb(arguments, word)
    if found is None or word in verbs(of_others=True):
        return arguments
    whole, sentence = found
    say(sentence, file=sys.stderr)
    return whole


def _unknown(what: str, name: str, known: Iterable[str], more: str) -> UsageError:
    """Return the error for a name that is unknown, with the nearest one, or where to see all."""
    hint = meant(name, sorted(known, key=lambda each: (len(each), each)), most=1) or f"see '{more}'"
    return UsageError(f"unknown {what}; {hint}")


class _Version(argparse.Action):
    """Prints the version; the planner core is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        from tflm_sim.model.load import left_to_python, native_reader
        from tflm_sim.planners import native
        from tflm_sim.provenance import made_by
        from tflm_sim.targets.runtime import Runtime

        words = {True: "C", False: "Python (no C compiler was there at installation)"}
        reader = words[native_reader() is not left_to_python]
        models = f"models {Runtime()} unless another is named; 'tflm-sim list libraries' has the others"
        cores = f"planner core: {words[native.available()]}", f"reader of models: {reader}"
        cite = f"to cite it: The tflm_sim developers, tflm_sim {made_by()}; CITATION.cff is for reference managers"
        say(f"tflm-sim {made_by()}", models, *cores, cite)
        parser.exit()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        argv: The arguments after the program's name; by default the process's own.
    """
    _show_what_cannot_be_encoded()
    try:
        code = _answer(list(sys.argv[1:] if argv is None else argv))
    except SystemExit as end:  # argparse: help, version
        raise SystemExit(end.code or _flush()) from None
    flushed = _flush()
    return code or flushed


def _answer(arguments: list[str]) -> int:
    """Run the verb; every error becomes one sentence and an exit code."""
    verb, has_verdict, args = None, False, argparse.Namespace()
    try:
        arguments = _with_implied_verb(arguments)
        verb = _verb(arguments)
        args = parsed(arguments)
        has_verdict = getattr(args, "has_verdict", False)
        refuse_overwriting(args)
        with downloads(allowed=args.allow_download), readable_again(args):
            code: int = args.run(args)
        if sys.stderr is not None:
            say_age(args)
        return code
    except TflmSimError as error:
        from tflm_sim.cli.things import other_kind  # only on the way out

        _complain(verb, other_kind(error, verb) or str(error))
        return error.exit_code
    except OSError as error:
        # A verdict that nobody could read to its end is none: 0 would say "yes".
        return _output_failed(error) or (UNKNOWN if has_verdict else 0)
    except KeyboardInterrupt:
        say("", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if "--debug" in arguments:
            import traceback

            say(*traceback.format_exc().splitlines(), file=sys.stderr, wraps=False)
        elif place := _place_in(getattr(args, "custom_ops", None) or (), error):
            _complain(verb, f"{place}: {type(error).__name__}: {error}")
            return UsageError.exit_code
        else:
            kind = type(error).__name__
            _complain(verb, f"an error in tflm-sim itself ({kind}: {error}); --debug shows where it comes from")
        return UNFORESEEN


def _place_in(files: Sequence[str], error: Exception) -> str:
    """Return the line of the user's own Python in which an error was raised; "" for an error of ours."""
    place, at = "", error.__traceback__
    while at is not None:
        if (file := at.tb_frame.f_code.co_filename) in files:
            place = f"{file}, line {at.tb_lineno}"
        at = at.tb_next
    return place


def _flush() -> int:
    """Flush stdout while an error can still be reported; return the exit code."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        return _output_failed(error)
    return 0


def _output_failed(error: OSError) -> int:
    if sys.stdout is not None:
        discard(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return 0
    _complain(None, f"{error.filename or 'output'}: {error.strerror or error}")
    return UsageError.exit_code


def _complain(verb: str | None, text: str) -> None:
    if sys.stderr is None:
        return
    name = "tflm-sim" if verb is None else f"tflm-sim {printable(verb, 20)}"
    say(f"{name}: {printable(text, MAX_ERROR_CHARACTERS)}", file=sys.stderr)


def _show_what_cannot_be_encoded() -> None:
    """Print characters that the terminal's encoding lacks as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
