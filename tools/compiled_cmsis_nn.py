"""CMSIS-NN's buffer-size functions of any commit, compiled for this machine from a checkout, through ctypes.

:class:`CompiledCmsisNn` answers as the binding in the executorch wheel does, whose names it takes over. The size
functions read numbers alone, so a host's compiler gives what a microcontroller's does; the macros of an instruction set
come after the headers, whose intrinsics no host has.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from tflm_sim.ops.cmsis_nn.dims import Dims, Isa, Tile

_MACROS: dict[Isa, tuple[str, ...]] = {
    "scalar": (),
    "dsp": ("ARM_MATH_DSP",),
    "mve": ("ARM_MATH_DSP", "ARM_MATH_MVEI"),
}
_MACRO = r"#define (?:[^\n]*\\\n)*[^\n]*"
_SIZE = r"(?:__STATIC_INLINE )?int32_t\s+arm_\w+_get_buffer_size\w*\([^;{]*\)\s*\{.*?^\}"
_FUNCTION = re.compile(f"^{_MACRO}|^{_SIZE}", re.MULTILINE | re.DOTALL)
_HEADERS = ("stdint.h", "stdbool.h", "arm_nnfunctions.h", "arm_nnsupportfunctions.h")
_CMSIS_COMPILER = """#define __STATIC_INLINE static inline
#define __STATIC_FORCEINLINE static inline
#define __RESTRICT
#define __ASM __asm__
"""
"""Stands for CMSIS-Core's header, which versions until 2022 include."""


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
        checkout: A clone of ARM-software/CMSIS-NN, or its git directory.
        commit: The commit.
        folder: Where sources and libraries are put.
    """

    Backend = _Backend
    DataType = _DataType

    def __init__(self, checkout: str, commit: str, folder: Path) -> None:
        sources = folder / commit
        sources.mkdir()
        archive = subprocess.run(
            ["git", "-C", checkout, "archive", commit, "Include", "Source"], check=True, capture_output=True
        )
        subprocess.run(["tar", "x", "-C", str(sources)], input=archive.stdout, check=True)
        self._libraries = {_Backend(isa): _compiled(sources, isa) for isa in _MACROS}
        headers = (sources / "Include" / "arm_nnfunctions.h").read_text("utf-8")
        self._has_old_transpose = "arm_transpose_conv_s8_get_reverse_conv_buffer_size" not in headers

    def has(self, function: str) -> bool:
        """Return whether this commit has a function."""
        return hasattr(self._libraries[_Backend.SCALAR], function)

    def _call(self, backend: _Backend, function: str, *arguments: Sequence[int] | int) -> int:
        """Return what a C function answers to structs of int32 by address, and to plain numbers."""
        passed = [
            argument if isinstance(argument, int) else (ctypes.c_int32 * len(argument))(*argument)
            for argument in arguments
        ]
        return int(getattr(self._libraries[backend], function)(*passed))

    def convolve_wrapper_buffer_size(
        self,
        backend: _Backend,
        type_: _DataType,
        image: Dims,
        kernel: Dims,
        output: Dims,
        padding: Tile,
        stride: Tile,
        dilation: Tile,
    ) -> int:
        """``arm_convolve_wrapper_*_get_buffer_size``."""
        params = (0, 0, *_c(stride), *_c(padding), *_c(dilation), -128, 127)
        name = f"arm_convolve_wrapper_{type_.value}_get_buffer_size"
        return self._call(backend, name, params, image, kernel, output)

    def depthwise_conv_wrapper_buffer_size(
        self,
        backend: _Backend,
        type_: _DataType,
        image: Dims,
        kernel: Dims,
        output: Dims,
        padding: Tile,
        stride: Tile,
        dilation: Tile,
        multiplier: int,
    ) -> int:
        """``arm_depthwise_conv_wrapper_*_get_buffer_size``."""
        params = (0, 0, multiplier, *_c(stride), *_c(padding), *_c(dilation), -128, 127)
        name = f"arm_depthwise_conv_wrapper_{type_.value}_get_buffer_size"
        return self._call(backend, name, params, image, kernel, output)

    def transpose_conv_buffer_size(
        self,
        backend: _Backend,
        type_: _DataType,
        image: Dims,
        kernel: Dims,
        output: Dims,
        padding: Tile,
        stride: Tile,
        dilation: Tile,
    ) -> int:
        """``arm_transpose_conv_s8_get_buffer_size``, which took no parameters at first."""
        params = () if self._has_old_transpose else (_transpose(padding, stride),)
        return self._call(backend, "arm_transpose_conv_s8_get_buffer_size", *params, image, kernel, output)

    def transpose_conv_reverse_conv_buffer_size(
        self, backend: _Backend, type_: _DataType, image: Dims, kernel: Dims, padding: Tile, stride: Tile
    ) -> int:
        """``arm_transpose_conv_s8_get_reverse_conv_buffer_size``."""
        name = "arm_transpose_conv_s8_get_reverse_conv_buffer_size"
        return self._call(backend, name, _transpose(padding, stride), image, kernel)

    def fully_connected_buffer_size(self, backend: _Backend, type_: _DataType, kernel: Dims) -> int:
        """``arm_fully_connected_*_get_buffer_size``."""
        return self._call(backend, f"arm_fully_connected_{type_.value}_get_buffer_size", kernel)

    def avgpool_buffer_size(self, backend: _Backend, type_: _DataType, width: int, channels: int) -> int:
        """``arm_avgpool_*_get_buffer_size``."""
        return self._call(backend, f"arm_avgpool_{type_.value}_get_buffer_size", width, channels)

    def svdf_buffer_size(self, backend: _Backend, type_: _DataType, kernel: Dims) -> int:
        """``arm_svdf_s8_get_buffer_size``."""
        return self._call(backend, "arm_svdf_s8_get_buffer_size", kernel)


def _c(tile: Tile) -> tuple[int, int]:
    """``cmsis_nn_tile``: the width first."""
    return tile.w, tile.h


def _transpose(padding: Tile, stride: Tile) -> tuple[int, ...]:
    """``cmsis_nn_transpose_conv_params``."""
    return (0, 0, *_c(stride), *_c(padding), 0, 0, 1, 1, -128, 127)


def _compiled(sources: Path, isa: Isa) -> ctypes.CDLL:
    """Compile the size functions and macros, cut out of the files that they share with kernels, for an ISA."""
    functions = [
        function.group()
        for path in sorted(sources.rglob("Source/**/*.c"))
        if not path.stem.endswith(("_f16", "_f32"))
        for function in _FUNCTION.finditer(path.read_text("utf-8"))
    ]
    (sources / "cmsis_compiler.h").write_text(_CMSIS_COMPILER, encoding="utf-8")
    lines = [f'#include "{name}"' for name in _HEADERS]
    lines += [f"#define {macro} 1" for macro in _MACROS[isa]]
    unit, library = sources / f"{isa}.c", sources / f"{isa}.so"
    unit.write_text("\n".join([*lines, *functions, ""]), encoding="utf-8")
    include = ["-I", str(sources), "-I", str(sources / "Include")]
    subprocess.run(["gcc", "-w", "-shared", "-fPIC", "-O1", *include, str(unit), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))
