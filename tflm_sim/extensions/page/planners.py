"""The planners' C as WebAssembly: a library that the browser's Python loads, compiled where clang and wasm-ld are.

Pyodide is made with Emscripten, whose C library it exports; the core needs ten functions of it and no header but
their declarations, so that any clang that knows WebAssembly compiles it. A page without the library plans in Python and
gives the same answers, later.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tflm_sim.errors import UsageError
from tflm_sim.escape import printable
from tflm_sim.planners import native
from tflm_sim.planners.native.shared_library import FUNCTIONS

PROGRAMS = ("clang", "wasm-ld")
_SOURCES = Path(native.__file__).parent
_COMPILE = ("--target=wasm32-unknown-emscripten", "-std=c99", "-O2", "-fPIC", "-fvisibility=hidden", "-ffreestanding")
_LINK = ("-shared", "--experimental-pic", "--allow-undefined", "--strip-all")
_HEADERS = {
    "stdlib.h": """#include <stddef.h>
void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
""",
    "string.h": """#include <stddef.h>
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
""",
    "time.h": """typedef long clock_t;
clock_t clock(void);
#define CLOCKS_PER_SEC 1000000
""",
}
"""What the core uses of Emscripten's C library, on wasm32.

Source: system/lib/libc/musl/include/{stdlib,string,time}.h @ emscripten 4.0.9
"""


def compiled_planners() -> bytes:
    """Return the library.

    Raises:
        UsageError: A program is not installed, or fails.
    """
    if missing := [name for name in PROGRAMS if shutil.which(name) is None]:
        raise UsageError(f"{' and '.join(missing)} not found (Debian: apt install clang lld)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for header, text in _HEADERS.items():
            (folder / header).write_text(text, "utf-8")
        sources = sorted(path for path in _SOURCES.glob("*.c") if path.stem != "_native")  # cffi's own, in a checkout
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(
                pool.map(lambda path: _run("clang", *_COMPILE, f"-I{folder}", "-c", str(path), folder=folder), sources)
            )
        exported = [f"--export={function}" for function in FUNCTIONS]
        objects = [f"{path.stem}.o" for path in sources]
        _run("wasm-ld", *_LINK, *exported, "-o", "planners.wasm", *objects, folder=folder)
        return (folder / "planners.wasm").read_bytes()


def _run(*command: str, folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        said = printable(done.stderr.strip(), 300)
        raise UsageError(f"{command[0]} does not compile the planners for the browser: {said}")
