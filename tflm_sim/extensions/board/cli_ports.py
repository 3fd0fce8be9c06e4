"""``tflm-sim board ports``: the serial ports of this machine."""

from __future__ import annotations

import argparse

from tflm_sim.cli.options import Subparsers, add_verb
from tflm_sim.cli.terminal import say, say_json
from tflm_sim.extensions.board.transport import list_ports

ABOUT = """
Use it to find the PORT for 'board listen' and 'board replay'.
"""
EXAMPLES = """
tflm-sim board ports
tflm-sim board ports --json
"""


def register(subparsers: Subparsers) -> None:
    parser = add_verb(
        subparsers, "ports", EXAMPLES, about=ABOUT, exits={1: "there is none"}, summary="list the serial ports"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON list")


def run(args: argparse.Namespace) -> int:
    """Carry out the verb: exit code 0 when there is a port, else 1."""
    ports = list_ports()
    if args.json:
        say_json(ports)
    elif not ports:
        say("no serial ports; socket://HOST:PORT, rfc2217://HOST:PORT and loop:// can be opened without being listed")
    else:
        most = max(len(port.serial_number) for port in ports)
        width = max(len(port.path) for port in ports)
        say(
            *(
                f"{port.path:<{width}}  {port.usb:<9}  {port.serial_number:<{most}}  {port.description}".rstrip()
                for port in ports
            )
        )
    return 0 if ports else 1
