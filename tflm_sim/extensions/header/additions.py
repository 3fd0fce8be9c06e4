"""``--header`` and ``--resolver`` of ``size``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tflm_sim.cli.options import refuse_besides
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import UsageError
from tflm_sim.escape import printable
from tflm_sim.files import replacing_bytes
from tflm_sim.model.types import Model

if TYPE_CHECKING:
    from tflm_sim.extensions.header.facts import ResolverFacts

_WITHOUT = ("jsonl", "map", "arena_size", "executed", "split_arenas", "boards", "targets")
"""Options that answer something else than which arena the model needs."""


def add_options(verb: str, parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--header", metavar="FILE.h", help="also write a C++ header with the size and the operators")
    parser.add_argument("--resolver", action="store_true", help="also print what the resolver must register")


def answer(verb: str, args: argparse.Namespace) -> int | None:
    """Refuse the options where there is no smallest arena; the verb itself answers."""
    for option in ("header", "resolver"):
        if getattr(args, option):
            refuse_besides(args, option, others=_WITHOUT)
    if args.header and len(args.models) > 1:
        raise UsageError("--header takes one model")
    return None


def parts(verb: str, args: argparse.Namespace, model: Model, configuration: Configuration) -> Mapping[str, object]:
    """Write the header, and return what the resolver must register."""
    found: dict[str, object] = {}
    if args.header:
        from tflm_sim.extensions.header.header import header

        text = header(model, configuration, args.models[0])
        with replacing_bytes(args.header) as file:
            file.write(text.encode())
        found["header"] = args.header
    if args.resolver:
        from tflm_sim.extensions.header.facts import resolver_facts

        found["resolver"] = resolver_facts(model)
    return found


def header_lines(path: str) -> list[str]:
    return [f"written: {printable(path, 4096)}"]


def resolver_lines(resolver: ResolverFacts) -> list[str]:
    """Return the lines of C++ that register the operators."""
    return [
        f"tflite::MicroMutableOpResolver<{resolver.count}> resolver;",
        *(f"resolver.{method}();" for method in resolver.methods),
        *(f'resolver.AddCustom("{printable(name)}", ...);  // your own kernel' for name in resolver.own),
    ]
