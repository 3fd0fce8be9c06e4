"""Compare our CMSIS-NN buffer sizes with CMSIS-NN's own functions, over random layers of every kind.

    python tools compare cmsis_nn                      20,000 layers a function
    python tools compare cmsis_nn --cases 1000 --seed 7
    python tools compare cmsis_nn --checkout CLONE CLONE5
                                                          every version that TFLM ever fetched, compiled from clones of
                                                          ARM-software/CMSIS-NN and CMSIS_5
    python tools compare cmsis_nn --checkout CLONE --version 4ab83cc
                                                          one row of BUFFER_SIZES

CMSIS-NN's functions come from the binding inside the executorch wheel, which imports without torch
(``pip install --no-deps executorch``). It was built from ad95bdf (2026-04-08) or later, whose sizes are those of
4ab83cc; what an older version answers otherwise must be what the named commit upstream changed. Exit code 1 when
anything differs that no name explains.
"""

from __future__ import annotations

import importlib.util
import random
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import frame
from compare.compiled_cmsis_nn import CompiledCmsisNn

from tflm_sim.ops.cmsis_nn.buffer_sizes import BUFFER_SIZES, BufferSizes
from tflm_sim.ops.cmsis_nn.dims import ConvParams, Dims, DwConvParams, Isa, Tile, TransposeConvParams
from tflm_sim.targets.changes import CMSIS_NN_PINS

NEWEST, BEFORE = "4ab83cc", "v7.0.0"
TYPES = {"A8W8": "s8", "A8W4": "s4", "A16W8": "s16"}


def load_binding() -> ModuleType | None:
    """Return CMSIS-NN's binding; None where the executorch wheel is not installed."""
    spec = importlib.util.find_spec("executorch")
    for root in spec.submodule_search_locations or () if spec else ():
        for library in Path(root).glob("backends/cortex_m/library/_cmsis_nn/cmsis_nn.*"):
            found = importlib.util.spec_from_file_location("cmsis_nn", library)
            if found and found.loader:
                module = importlib.util.module_from_spec(found)
                found.loader.exec_module(module)
                return module
    return None


class Layer:
    """A random layer: any shape, padding, stride, dilation and group count, sensible or not."""

    def __init__(self, rng: random.Random) -> None:
        def side(high: int) -> int:
            return rng.choice((1, 1, 2, 3, rng.randint(1, high)))

        self.isa: Isa = rng.choice(("scalar", "dsp", "mve"))
        channels = rng.choice((1, 2, 3, 4, 8, 16, 17, 24, rng.randint(1, 300)))
        outputs = rng.choice((channels, 1, 4, rng.randint(1, 300)))
        kernel = (side(11), side(11))
        self.input = Dims(rng.choice((1, 1, 1, 2)), side(64), side(64), channels)
        self.output = Dims(self.input.n, side(64), side(64), outputs)
        self.filter = Dims(outputs, *kernel, rng.choice((channels, channels, 1, 2)))
        self.depthwise_filter = Dims(1, *kernel, outputs)
        self.padding = Tile(rng.choice((0, 0, 1, rng.randint(0, 5))), rng.choice((0, 0, 1, rng.randint(0, 5))))
        self.stride = Tile(rng.randint(1, 4), rng.randint(1, 4))
        self.dilation = Tile(rng.choice((1, 1, 2)), rng.choice((1, 1, 2)))
        self.multiplier = rng.choice((1, 1, 2))
        self.type = rng.choice(list(TYPES))

    @property
    def conv(self) -> ConvParams:
        """The parameters of a convolution."""
        return ConvParams(self.stride, self.padding, self.dilation)

    @property
    def depthwise(self) -> DwConvParams:
        """The parameters of a depthwise convolution."""
        return DwConvParams(self.multiplier, self.stride, self.padding, self.dilation)

    @property
    def window(self) -> tuple[Tile, Tile, Tile]:
        """Padding, stride and dilation, as the binding takes them."""
        return self.padding, self.stride, self.dilation

    @property
    def type8(self) -> str:
        """The type, for functions without one for 4-bit weights."""
        return "A8W8" if self.type == "A8W4" else self.type


@dataclass(frozen=True, slots=True)
class Function:
    """A buffer-size function: how we answer for a version, and how CMSIS-NN does.

    Attributes:
        ours: Of a version's functions and a layer, bytes.
        theirs: Of the binding, the instruction set as it names it, and a layer, bytes.
        needs: What a version has to have of CMSIS-NN's for the comparison, by the layer.
        change: The commit after ``BEFORE`` that changed it, "" for none.
        is_changed: Whether that commit can change the answer for a layer.
    """

    ours: Callable[[BufferSizes, Layer], int]
    theirs: Callable[[Any, Any, Layer], int]
    needs: Callable[[Layer], str]
    change: str = ""
    is_changed: Callable[[Layer], bool] = lambda layer: False


def _of(sizes: BufferSizes, name: str, type_name: str) -> Callable[..., int]:
    function: Callable[..., int] = getattr(sizes, f"arm_{name}_{TYPES[type_name]}_get_buffer_size")
    return function


FUNCTIONS: dict[str, Function] = {
    "convolve": Function(
        lambda sizes, it: _of(sizes, "convolve_wrapper", it.type)(it.isa, it.conv, it.input, it.filter, it.output),
        lambda nn, isa, it: nn.convolve_wrapper_buffer_size(
            isa, getattr(nn.DataType, it.type), it.input, it.filter, it.output, *it.window
        ),
        change="c01c0a1 (2026-03-06): groups were overlooked; 4-bit weights on MVE asked for what int8 does",
        is_changed=lambda it: it.filter.c != it.input.c or (it.type, it.isa) == ("A8W4", "mve"),
        needs=lambda it: f"arm_convolve_wrapper_{TYPES[it.type]}_get_buffer_size",
    ),
    "depthwise_conv": Function(
        lambda sizes, it: _of(sizes, "depthwise_conv_wrapper", it.type)(
            it.isa, it.depthwise, it.input, it.depthwise_filter, it.output
        ),
        lambda nn, isa, it: nn.depthwise_conv_wrapper_buffer_size(
            isa, getattr(nn.DataType, it.type), it.input, it.depthwise_filter, it.output, *it.window, it.multiplier
        ),
        needs=lambda it: f"arm_depthwise_conv_wrapper_{TYPES[it.type]}_get_buffer_size",
    ),
    "transpose_conv": Function(
        lambda sizes, it: sizes.arm_transpose_conv_s8_get_buffer_size(
            it.isa, TransposeConvParams(it.stride), it.input, it.filter, it.output
        ),
        lambda nn, isa, it: nn.transpose_conv_buffer_size(
            isa, nn.DataType.A8W8, it.input, it.filter, it.output, *it.window
        ),
        needs=lambda it: "arm_transpose_conv_s8_get_buffer_size",
    ),
    "transpose_conv_reverse_conv": Function(
        lambda sizes, it: sizes.arm_transpose_conv_s8_get_reverse_conv_buffer_size(
            TransposeConvParams(it.stride), it.input, it.filter
        ),
        lambda nn, isa, it: nn.transpose_conv_reverse_conv_buffer_size(
            isa, nn.DataType.A8W8, it.input, it.filter, it.padding, it.stride
        ),
        needs=lambda it: "arm_transpose_conv_s8_get_reverse_conv_buffer_size",
    ),
    "fully_connected": Function(
        lambda sizes, it: _of(sizes, "fully_connected", it.type8)(it.isa, it.filter),
        lambda nn, isa, it: nn.fully_connected_buffer_size(isa, getattr(nn.DataType, it.type8), it.filter),
        needs=lambda it: f"arm_fully_connected_{TYPES[it.type8]}_get_buffer_size",
    ),
    "avgpool": Function(
        lambda sizes, it: _of(sizes, "avgpool", it.type8)(it.isa, it.output.w, it.output.c),
        lambda nn, isa, it: nn.avgpool_buffer_size(isa, getattr(nn.DataType, it.type8), it.output.w, it.output.c),
        needs=lambda it: f"arm_avgpool_{TYPES[it.type8]}_get_buffer_size",
    ),
    "svdf": Function(
        lambda sizes, it: sizes.arm_svdf_s8_get_buffer_size(it.isa, it.filter),
        lambda nn, isa, it: nn.svdf_buffer_size(isa, nn.DataType.A8W8, it.filter),
        needs=lambda it: "arm_svdf_s8_get_buffer_size",
    ),
}


@dataclass(frozen=True, slots=True)
class Tally:
    """What a comparison found.

    Attributes:
        cases: How many layers.
        differ: Layers for which our newest version does not answer what CMSIS-NN does.
        before: Layers for which the version before answers otherwise, and the commit says why.
        unexplained: Layers for which it answers otherwise, and nothing says why.
    """

    cases: int
    differ: tuple[Layer, ...]
    before: int
    unexplained: tuple[Layer, ...]


def compare(binding: Any, name: str, *, cases: int, seed: int) -> Tally:
    """Compare a function over random layers; every function sees the same ones."""
    function, rng = FUNCTIONS[name], random.Random(seed)
    differ, unexplained, before = [], [], 0
    for _ in range(cases):
        layer = Layer(rng)
        theirs = function.theirs(binding, getattr(binding.Backend, layer.isa.upper()), layer)
        if function.ours(BUFFER_SIZES[NEWEST], layer) != theirs:
            differ.append(layer)
        if function.ours(BUFFER_SIZES[BEFORE], layer) != theirs:
            before += 1
            if not function.is_changed(layer):
                unexplained.append(layer)
    return Tally(cases, tuple(differ), before, tuple(unexplained))


def differing(compiled: CompiledCmsisNn, version: str, name: str, *, cases: int, seed: int) -> tuple[int, list[Layer]]:
    """Return how many layers a version's own function answered, and those for which ours answers otherwise."""
    function, rng = FUNCTIONS[name], random.Random(seed)
    answered, differ = 0, []
    for _ in range(cases):
        layer = Layer(rng)
        if not compiled.has(function.needs(layer)):
            continue
        answered += 1
        theirs = function.theirs(compiled, compiled.Backend(layer.isa), layer)
        if function.ours(BUFFER_SIZES[version], layer) != theirs:
            differ.append(layer)
    return answered, differ


def compare_versions(checkouts: Sequence[str], versions: Iterable[str], *, cases: int, seed: int) -> int:
    """Print a row for each version, compiled from clones; return the exit code."""
    failed = False
    table = frame.Table({"version": "<9", "layers": ">8,", "differ": ">7,"})
    with tempfile.TemporaryDirectory() as folder:
        for version in versions:
            compiled = CompiledCmsisNn(checkouts, version, Path(folder))
            found = [differing(compiled, version, name, cases=cases, seed=seed) for name in FUNCTIONS]
            differ = [layer for _, layers in found for layer in layers]
            table.row(version, sum(count for count, _ in found), len(differ))
            for layer in differ[:3]:
                print(f"    {vars(layer)}")
            failed |= bool(differ)
    return int(failed)


def main(arguments: Sequence[str]) -> int:
    """Print the table and return the exit code."""
    parser = frame.parser(__doc__)
    parser.add_argument("--cases", type=int, default=20_000, metavar="N", help="layers a function (%(default)s)")
    parser.add_argument("--seed", type=int, default=4, metavar="N", help="of the layers (%(default)s)")
    parser.add_argument(
        "--checkout",
        nargs="+",
        metavar="CLONE",
        help="of ARM-software/CMSIS-NN, and of CMSIS_5 for versions before e98ee09: compiled with gcc",
    )
    parser.add_argument("--version", choices=BUFFER_SIZES, metavar="V", help="only that row (all that TFLM fetched)")
    args = parser.parse_args(arguments)
    if args.checkout:
        versions = [args.version] if args.version else CMSIS_NN_PINS
        return compare_versions(args.checkout, versions, cases=args.cases, seed=args.seed)
    binding = load_binding()
    if binding is None:
        print("CMSIS-NN's binding is not here: pip install --no-deps executorch", file=sys.stderr)
        return 2
    both = {f"{NEWEST} differs": ">16,", f"{BEFORE} differs": ">16,"}
    table = frame.Table({"function": "<28", "layers": ">7,", **both, "unexplained": ">11,", "change": "<"})
    failed = False
    for name, function in FUNCTIONS.items():
        tally = compare(binding, name, cases=args.cases, seed=args.seed)
        failed |= bool(tally.differ or tally.unexplained)
        table.row(name, tally.cases, len(tally.differ), tally.before, len(tally.unexplained), function.change)
        for layer in (*tally.differ, *tally.unexplained)[:3]:
            print(f"    {vars(layer)}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
