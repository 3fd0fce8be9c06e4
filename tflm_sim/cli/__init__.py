"""The command line: ``tflm-sim VERB ...``. One module per verb; arguments in, exit code out.

A verb module has ``register(subparsers)``, which adds its parser, and ``run(args)``, which returns the exit code.
``main`` imports only the module of the verb that was asked for, and is the only place that catches errors.

Everything is printed by ``terminal.say`` and ``terminal.say_json``, which make what strangers wrote harmless. The exit
codes are ``errors.EXIT_CODES``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from tflm_sim.cli.pipes import readable_again
from tflm_sim.cli.terminal import HelpText, say
from tflm_sim.cli.verbs import VERBS
from tflm_sim.errors import EXIT_CODES, INTERRUPTED, UNFORESEEN, TflmSimError, UsageError
from tflm_sim.escape import one_line, printable
from tflm_sim.model.download import downloads

MAX_ERROR_CHARACTERS = 2000
"""Characters; of a longer error the end is printed."""


class Parser(argparse.ArgumentParser):
    """A parser whose error messages contain no control characters, whatever the arguments are."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message on a line of its own; exit."""
        super().error(one_line(message))


def build_parser(verb: str | None = None) -> argparse.ArgumentParser:
    """Return the parser with one verb, or with all of them when ``verb`` is None or not one."""
    parser = Parser(
        prog="tflm-sim",
        description="Compute, to the byte, the tensor arena that TensorFlow Lite Micro needs.",
        epilog="examples:\n  tflm-sim size model.tflite --target cortex-m4\n"
        "  tflm-sim check model.tflite --target esp32 --limit 64KiB\n  tflm-sim VERB --help\n\nexit codes:\n"
        + "\n".join(f"  {code:<4} {meaning}" for code, meaning in EXIT_CODES.items()),
        formatter_class=HelpText,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and which planner core is used")
    parser.add_argument("--debug", action="store_true", help="show where an error in tflm-sim itself comes from")
    parser.add_argument("--allow-download", action="store_true", help="fetch models whose names are http(s) addresses")
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name in (verb,) if verb in VERBS else VERBS:
        module = import_module(VERBS[name])
        module.register(subparsers)
        subparsers.choices[name].set_defaults(run=module.run)
    return parser


class _Version(argparse.Action):
    """Prints the version; the planner core is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        from tflm_sim import __version__
        from tflm_sim.model.load import left_to_python, native_reader
        from tflm_sim.planners import native
        from tflm_sim.targets.runtime import Runtime

        words = {True: "C", False: "Python (no C compiler was there at installation)"}
        reader = words[native_reader() is not left_to_python]
        models = f"models {Runtime()} unless another is named; 'tflm-sim libraries' lists the others"
        say(
            f"tflm-sim {__version__}",
            models,
            f"planner core: {words[native.available()]}",
            f"reader of models: {reader}",
        )
        parser.exit()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        argv: The arguments after the program's name; by default the process's own.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    verb = next((word for word in arguments if not word.startswith("-")), None)
    _show_what_cannot_be_encoded()
    try:
        code = _answer(verb, arguments)
    except SystemExit as end:  # argparse: help, version, bad arguments
        raise SystemExit(end.code or _flush()) from None
    return code or _flush()


def _answer(verb: str | None, arguments: list[str]) -> int:
    """Run the verb; every error except argparse's own becomes one sentence and an exit code."""
    try:
        args = build_parser(verb).parse_args(arguments)
        with downloads(allowed=args.allow_download), readable_again(args):
            code: int = args.run(args)
        return code
    except TflmSimError as error:
        _complain(verb, str(error))
        return error.exit_code
    except OSError as error:
        return _output_failed(error)
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if "--debug" in arguments:
            import traceback

            print(*(one_line(line) for line in traceback.format_exc().splitlines()), sep="\n", file=sys.stderr)
        else:
            kind = type(error).__name__
            _complain(verb, f"an error in tflm-sim itself ({kind}: {error}); --debug shows where it comes from")
        return UNFORESEEN


def _flush() -> int:
    """Flush stdout and stderr while an error can still be reported; return the exit code."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        return _output_failed(error)
    return 0


def _output_failed(error: OSError) -> int:
    _silence_stdout()
    if isinstance(error, BrokenPipeError):
        return 0
    _complain(None, f"{error.filename or 'output'}: {error.strerror or error}")
    return UsageError.exit_code


def _complain(verb: str | None, text: str) -> None:
    name = "tflm-sim" if verb is None else f"tflm-sim {printable(verb, 20)}"
    say(f"{name}: {printable(text, MAX_ERROR_CHARACTERS)}", file=sys.stderr)


def _show_what_cannot_be_encoded() -> None:
    """Print characters that the terminal's encoding lacks as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def _silence_stdout() -> None:
    """Discard what is still to be written, because the reader is gone or the disk is full."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
