"""Compare the rows of ``targets/changes.py`` with a checkout of TFLM: does each name the commit that it means?

    python tools upstream changes CHECKOUT        the rows that are not so there, exit code 1

The number of a row counts the first-parent commits up to its commit, and its day is that commit's. An operator arrived
with the first commit whose MicroMutableOpResolver registers it, where it also has a reference kernel. The download
script of a row's commit names its CMSIS-NN, and no earlier one does. The last operator of a schema is the largest of
its enum. Rows that are newer than the checkout, and those of other repositories, are left out. Of the newest
MicroMutableOpResolver, each operator has a row, and its method the name that ``ops/resolver.py`` gives it.

CHECKOUT is a clone of tensorflow/tflite-micro, with or without a work tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import frame
from upstream.places import Checkout

from tflm_sim.model.schema import BUILTIN_OPERATORS
from tflm_sim.ops.resolver import CUSTOM_METHODS, resolver_method
from tflm_sim.targets.changes import (
    BEFORE_UPSTREAM,
    CHANGES,
    CMSIS_NN_PINS,
    LAST_OPERATORS,
    OPERATORS_SINCE,
    REFERENCE_FAMILIES,
    UPSTREAM,
)

RESOLVER = "tensorflow/lite/micro/micro_mutable_op_resolver.h"
SCHEMA = "tensorflow/lite/schema/schema_generated.h"
KERNELS = ":(glob)tensorflow/lite/micro/kernels/*.cc"
DOWNLOADS = "tensorflow/lite/micro/tools/make/ext_libs/"
_METHOD = re.compile(
    r'TfLiteStatus (Add\w+)\([^{]*\{[^}]*?\bAdd(?:Builtin|Custom)\(\s*(?:BuiltinOperator_(\w+)|"([^"]+)")'
)


def first_with(checkout: Checkout, paths: tuple[str, ...], wanted: str, kernel: str = "") -> str:
    """Return the first first-parent commit in which one of some files has what a pattern finds, "" where none has it.

    Args:
        checkout: The clone.
        paths: The files.
        wanted: The pattern.
        kernel: What a file of the reference kernels must have there, too; Xtensa had an LSTM of its own before.
    """
    for _, commit in sorted({version for path in paths for version in checkout.versions(path)}):
        if any(re.search(wanted, checkout.text(commit, path)) for path in paths) and (
            not kernel or checkout.run("log", "-1", "--format=%h", f"-S{kernel}", commit, "--", KERNELS)
        ):
            return commit
    return ""


def without_rows(resolver: str) -> Iterator[str]:
    """Yield a line for each operator of a resolver that no row names, and for each whose method is called otherwise.

    Args:
        resolver: The text of MicroMutableOpResolver's header.
    """
    known = set(" ".join(REFERENCE_FAMILIES.values()).split())
    for method, builtin, custom in _METHOD.findall(resolver):
        op, ours = builtin or custom, resolver_method(builtin) if builtin else CUSTOM_METHODS.get(custom, "nothing")
        if op not in known:
            yield f"{method}() of MicroMutableOpResolver registers {op}, which no row of _ARRIVALS names"
        if method != ours:
            yield f"{method}() of MicroMutableOpResolver registers {op}; ops/resolver.py says {ours}"


def wrong(checkout: Checkout) -> Iterator[str]:
    """Yield a line for each row that is not so in a checkout."""
    yield from without_rows(checkout.text("HEAD", RESOLVER))
    newest = checkout.position("HEAD")
    upstream = {
        name: change
        for name, change in CHANGES.items()
        if change.tree == UPSTREAM and BEFORE_UPSTREAM < change.position <= newest
    }
    for name, change in upstream.items():
        seconds = int(checkout.run("log", "-1", "--format=%ct", change.commit))
        number, day = checkout.position(change.commit), f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"
        if (number, day) != (change.position, change.date):
            yield f"{name}: {change.commit} is number {number} of {day}, not {change.position} of {change.date}"
    scripts = tuple(f"{DOWNLOADS}{name}_download.sh" for name in ("cmsis", "cmsis_nn"))
    brought = [
        *((f"cmsis_nn_{pin}", scripts, pin, "", pin) for pin in CMSIS_NN_PINS),
        *(
            (f"schema_{op}", (SCHEMA,), rf"BuiltinOperator_MAX = BuiltinOperator_{op}\b", "", op)
            for op in LAST_OPERATORS
        ),
        *(
            (
                since,
                (RESOLVER,),
                rf'BuiltinOperator_{op}\b|"{op}"',
                f"Register_{op}" if op in BUILTIN_OPERATORS else "",
                op,
            )
            for op, since in OPERATORS_SINCE.items()
        ),
    ]
    for name, paths, wanted, kernel, what in brought:
        if name in upstream:
            first = first_with(checkout, paths, wanted, kernel)
            if not first.startswith(upstream[name].commit):
                yield f"{name}: {what} came with {first[:9] or 'no commit'}, not with {upstream[name].commit}"


def main() -> int:
    """Print what is wrong."""
    parser = frame.parser(__doc__)
    parser.add_argument("checkout", metavar="CHECKOUT")
    found = [*wrong(Checkout(parser.parse_args().checkout))]
    print("\n".join(found) or f"all rows of {UPSTREAM} are so")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
