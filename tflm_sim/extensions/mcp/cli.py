"""``tflm-sim mcp``: the server for coding assistants."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from tflm_sim.cli.options import Subparsers, add_verb, typed
from tflm_sim.errors import UsageError
from tflm_sim.numbers import seconds

ABOUT = """
An assistant that writes firmware cannot see what the device would say. With this
server it can: it asks for sizes, verdicts and what a log means, as you do. It reads
only in the folders that you name. Start it from the assistant's settings.
"""
EXAMPLES = """
tflm-sim mcp models/
tflm-sim mcp . --write build/ --time-limit 60s
tflm-sim mcp . --allow-run
"""


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = add_verb(subparsers, "mcp", EXAMPLES, about=ABOUT)
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="a folder in which files may be read")
    parser.add_argument(
        "--write", action="append", default=[], metavar="FOLDER", help="a folder in which files may be written, too"
    )
    parser.add_argument(
        "--allow-run", action="store_true", help="allow that linked programs are executed, in an emulator"
    )
    parser.add_argument(
        "--time-limit",
        type=typed(seconds),
        default=120.0,
        metavar="T",
        help="end a question after this time (default: 2m)",
    )


def run(args: argparse.Namespace) -> int:
    """Carry out the verb.

    Raises:
        UsageError: The SDK is not installed, or a folder is none.
    """
    from tflm_sim.extensions.mcp.folders import Folders

    folders = Folders.named(args.folders, args.write)
    if find_spec("mcp") is None:
        raise UsageError("the server needs the package mcp: pip install 'tflm_sim[mcp]'")
    from tflm_sim.extensions.mcp.server import Permissions, serve

    serve(Permissions(folders=folders, executes=args.allow_run, time_limit=args.time_limit))
    return 0
