"""The command line: ``tflm-sim VERB ...``. One module per verb; arguments in, exit code out.

A verb module has ``register(subparsers)``, which adds its parser and sets ``run``; ``main`` imports only the module of
the verb that was asked for, and is the only place that catches errors.

Exit codes: 0 yes, 1 no, 2 usage, 3 the file, or inconclusive, 4 TFLM itself would fail, 5 the board.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from tflm_sim.cli.verbs import VERBS
from tflm_sim.errors import TflmSimError, UsageError

LONGEST_ERROR = 2000
"""Characters; of a longer error the end is printed."""


def build_parser(verb: str | None = None) -> argparse.ArgumentParser:
    """Return the parser with one verb, or with all of them when ``verb`` is None or not one."""
    parser = argparse.ArgumentParser(
        prog="tflm-sim",
        description="The arena that TensorFlow Lite Micro needs, to the byte, for the named target, and why.",
        epilog="examples:\n  tflm-sim size model.tflite --target cortex-m4\n"
        "  tflm-sim check model.tflite --target esp32 --limit 64KiB\n  tflm-sim VERB --help",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and which planner core is used")
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name in (verb,) if verb in VERBS else VERBS:
        import_module(f"tflm_sim.cli.{VERBS[name]}").register(subparsers)
    return parser


class _Version(argparse.Action):
    """Prints the version; the planner core is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        from tflm_sim import __version__
        from tflm_sim.planners import native

        core = "C" if native.available() else "Python (no C compiler was there at installation)"
        print(f"tflm-sim {__version__}\nplanner core: {core}")
        parser.exit()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        argv: The arguments after the program's name; by default the process's own.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    verb = next((word for word in arguments if not word.startswith("-")), None)
    try:
        args = build_parser(verb).parse_args(arguments)
        code: int = args.run(args)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except TflmSimError as error:
        print(f"tflm-sim {verb}: {_one_line(str(error))}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        _silence_stdout()
        return 0
    except OSError as error:
        _silence_stdout()
        reason = f"{error.filename or 'output'}: {error.strerror or error}"
        print(f"tflm-sim: {_one_line(reason)}", file=sys.stderr)
        return UsageError.exit_code
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130


def _one_line(text: str) -> str:
    """Return an error without the control characters of file names and models."""
    from tflm_sim.report.escape import printable

    return printable(text, LONGEST_ERROR)


def _silence_stdout() -> None:
    """Let what is still to be written go nowhere: nobody reads it, or there is no room."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
