"""``tflm-sim completion``: shell completion scripts."""

from __future__ import annotations

import argparse

from tflm_sim.cli.options import Subparsers, add_verb
from tflm_sim.cli.terminal import say_document
from tflm_sim.cli.verbs import verbs
from tflm_sim.errors import UsageError
from tflm_sim.extras import install_command
from tflm_sim.registry import HIDDEN

ABOUT = """
Use it once, so that the Tab key completes commands and options.
"""
EXAMPLES = """
tflm-sim completion bash > ~/.local/share/bash-completion/completions/tflm-sim
tflm-sim completion zsh > ~/.zfunc/_tflm-sim
"""


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "completion", EXAMPLES, about=ABOUT)
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def run(args: argparse.Namespace) -> int:
    try:
        import shtab
    except ImportError:
        raise UsageError(f"completion scripts need shtab: {install_command('cli')}") from None
    from tflm_sim.cli import build_parser

    listed = (name for name, verb in verbs(of_others=True).items() if verb.group != HIDDEN)
    say_document(shtab.complete(build_parser(*listed, of_others=True), shell=args.shell) + "\n")
    return 0
