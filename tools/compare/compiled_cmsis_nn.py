"""CMSIS-NN's buffer-size functions of any commit, compiled for this machine from a checkout, through ctypes.

:class:`CompiledCmsisNn` answers as the binding in the executorch wheel does, whose names it takes over. The size
functions read numbers alone, so a host's compiler gives what a microcontroller's does; the macros of an instruction set
come after the headers, whose intrinsics no host has.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from tflm_sim.ops.cmsis_nn.dims import Isa, Tile

_MACROS: dict[Isa, tuple[str, ...]] = {"scalar": (), "dsp": ("ARM_MATH_DSP",), "mve": ("ARM_MATH_DSP", "ARM_MATH_MVEI")}
_MACRO = r"#define (?:[^\n]*\\\n)*[^\n]*"
_SIZE = r"(?:__STATIC_INLINE )?int32_t\s+arm_\w+_get_buffer_size\w*\([^;{]*\)\s*\{.*?^\}"
_FUNCTION = re.compile(f"^{_MACRO}|^{_SIZE}", re.MULTILINE | re.DOTALL)
_HEADERS = ("stdint.h", "stdbool.h", "arm_nnfunctions.h", "arm_nnsupportfunctions.h")
_FOREIGN_HEADERS = {
    "cmsis_compiler.h": """#define __STATIC_INLINE static inline
#define __STATIC_FORCEINLINE static inline
#define __RESTRICT
#define __ASM __asm__
""",
    "arm_math_types.h": """#include <stdint.h>
#include "cmsis_compiler.h"
typedef int8_t q7_t; typedef int16_t q15_t; typedef int32_t q31_t; typedef int64_t q63_t;
typedef int arm_status;
#define Q31_MAX ((q31_t)0x7FFFFFFF)
#define Q31_MIN ((q31_t)0x80000000)
""",
    "arm_common_tables.h": "",
}
"""Stand for headers of CMSIS-Core, which versions until 2022 include, and of CMSIS-DSP, until August 2021."""


class _Backend(Enum):
    """The instruction sets, as the binding names them."""

    SCALAR = "scalar"
    DSP = "dsp"
    MVE = "mve"


class _DataType(Enum):
    """The types of data and weights, as the binding names them."""

    A8W8 = "s8"
    A8W4 = "s4"
    A16W8 = "s16"


class CompiledCmsisNn:
    """The size functions of one commit.

    Args:
        checkouts: Clones of ARM-software/CMSIS-NN and CMSIS_5, or their git directories.
        commit: The commit, which one of them has.
        folder: Where sources and libraries are put.
    """

    Backend = _Backend
    DataType = _DataType

    def __init__(self, checkouts: Sequence[str], commit: str, folder: Path) -> None:
        sources = folder / commit
        sources.mkdir()
        checkout, tree = _library(checkouts, commit)
        archive = subprocess.run(
            ["git", "-C", checkout, "archive", tree, "Include", "Source"], check=True, capture_output=True
        )
        subprocess.run(["tar", "x", "-C", str(sources)], input=archive.stdout, check=True)
        self._libraries = {_Backend(isa): _compiled(sources, isa) for isa in _MACROS}
        headers = (sources / "Include" / "arm_nnfunctions.h").read_text("utf-8")
        self._has_old_transpose = "arm_transpose_conv_s8_get_reverse_conv_buffer_size" not in headers

    def has(self, function: str) -> bool:
        """Return whether this commit has a function."""
        return hasattr(self._libraries[_Backend.SCALAR], function)

    def __getattr__(self, name: str) -> Callable[..., int]:
        """Return a function of the binding: it takes the instruction set, the type, and the layer."""
        row = _CALLS.get(name)
        if row is None:
            raise AttributeError(name)

        def call(backend: _Backend, type_: _DataType, *layer: Any) -> int:
            arguments = list(row.arguments(*layer))
            if self._has_old_transpose and name == "transpose_conv_buffer_size":
                del arguments[0]  # It took no parameters at first.
            function = getattr(self._libraries[backend], row.function.format(type_.value))
            return int(function(*(one if isinstance(one, int) else _struct(one) for one in arguments)))

        return call


def _library(checkouts: Sequence[str], commit: str) -> tuple[str, str]:
    """Return the clone that has a commit, and the tree of it in which CMSIS-NN lies."""
    for checkout in checkouts:
        for tree, sources in ((commit, f"{commit}:Source"), (f"{commit}:CMSIS/NN", f"{commit}:CMSIS/NN/Source")):
            found = subprocess.run(["git", "-C", checkout, "cat-file", "-e", sources], check=False, capture_output=True)
            if found.returncode == 0:
                return checkout, tree
    raise LookupError(f"no clone has CMSIS-NN {commit}")


def _c(tile: Tile) -> tuple[int, int]:
    """``cmsis_nn_tile``: the width first."""
    return tile.w, tile.h


def _struct(fields: Sequence[int]) -> ctypes.Array[ctypes.c_int32]:
    """Return a struct of int32, which goes by address."""
    return (ctypes.c_int32 * len(fields))(*fields)


def _conv(padding: Tile, stride: Tile, dilation: Tile, *multiplier: int) -> tuple[int, ...]:
    """``cmsis_nn_conv_params``, or with a multiplier ``cmsis_nn_dw_conv_params``."""
    return (0, 0, *multiplier, *_c(stride), *_c(padding), *_c(dilation), -128, 127)


def _transpose(padding: Tile, stride: Tile) -> tuple[int, ...]:
    """``cmsis_nn_transpose_conv_params``."""
    return (0, 0, *_c(stride), *_c(padding), 0, 0, 1, 1, -128, 127)


@dataclass(frozen=True, slots=True)
class _Call:
    """The C function ("{}": the type), and its arguments for a layer: structs of int32, and plain numbers."""

    function: str
    arguments: Callable[..., tuple[Sequence[int] | int, ...]]


_CALLS: dict[str, _Call] = {
    "convolve_wrapper_buffer_size": _Call(
        "arm_convolve_wrapper_{}_get_buffer_size",
        lambda image, kernel, output, *window: (_conv(*window), image, kernel, output),
    ),
    "depthwise_conv_wrapper_buffer_size": _Call(
        "arm_depthwise_conv_wrapper_{}_get_buffer_size",
        lambda image, kernel, output, *window: (_conv(*window), image, kernel, output),
    ),
    "transpose_conv_buffer_size": _Call(
        "arm_transpose_conv_s8_get_buffer_size",
        lambda image, kernel, output, padding, stride, _: (_transpose(padding, stride), image, kernel, output),
    ),
    "transpose_conv_reverse_conv_buffer_size": _Call(
        "arm_transpose_conv_s8_get_reverse_conv_buffer_size",
        lambda image, kernel, padding, stride: (_transpose(padding, stride), image, kernel),
    ),
    "fully_connected_buffer_size": _Call("arm_fully_connected_{}_get_buffer_size", lambda kernel: (kernel,)),
    "avgpool_buffer_size": _Call("arm_avgpool_{}_get_buffer_size", lambda width, channels: (width, channels)),
    "svdf_buffer_size": _Call("arm_svdf_s8_get_buffer_size", lambda kernel: (kernel,)),
}
"""By the binding's name: it takes the instruction set, the type, and then what the arguments are made from."""


def _compiled(sources: Path, isa: Isa) -> ctypes.CDLL:
    """Compile the size functions and macros, cut out of the files that they share with kernels, for an ISA."""
    functions = [
        function.group()
        for path in sorted(sources.rglob("Source/**/*.c"))
        if not path.stem.endswith(("_f16", "_f32"))
        for function in _FUNCTION.finditer(path.read_text("utf-8"))
    ]
    for name, text in _FOREIGN_HEADERS.items():
        (sources / name).write_text(text, encoding="utf-8")
    lines = [f'#include "{name}"' for name in _HEADERS]
    lines += [f"#define {macro} 1" for macro in _MACROS[isa]]
    unit, library = sources / f"{isa}.c", sources / f"{isa}.so"
    unit.write_text("\n".join([*lines, *functions, ""]), encoding="utf-8")
    include = ["-I", str(sources), "-I", str(sources / "Include")]
    subprocess.run(["gcc", "-w", "-shared", "-fPIC", "-O1", *include, str(unit), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))
