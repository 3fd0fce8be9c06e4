"""Describe the optional C extension ``tflm_sim.planners.native._native`` to cffi (named in ``setup.py``).

The header is the only declaration: cffi reads what stands between its preprocessor lines. The extension is optional:
where there is no C compiler the installation succeeds without it.
"""

from __future__ import annotations

from pathlib import Path
from sysconfig import get_platform

from cffi import FFI

HERE = Path("tflm_sim/planners/native")
HEADERS = ("tflm_plan.h", "hill_climb.h", "shared_objects.h", "exact_types.h", "exact.h", "first_fit.h")
SOURCES = (
    "exact.c",
    "exact_block.c",
    "exact_build.c",
    "exact_canonical.c",
    "exact_improve.c",
    "exact_orders.c",
    "exact_packing.c",
    "exact_packing_groups.c",
    "exact_problem.c",
    "exact_search.c",
    "exact_search_wide.c",
    "exact_split.c",
    "exact_stack.c",
    "exact_strategy.c",
    "exact_ways.c",
    "first_fit.c",
    "hill_climb.c",
    "min_cost_flow.c",
    "pq_tree.c",
    "tflm_plan.c",
)
CALLBACKS = """
extern "Python" int on_exact_progress(void *context, const tflm_exact_status_t *status);
extern "Python" int on_plan_is_over(void *context);
"""


def declarations(header: str) -> str:
    """Return the text of a header without its preprocessor lines."""
    return "\n".join(line for line in header.splitlines() if not line.startswith("#"))


ffibuilder = FFI()
for name in HEADERS:
    ffibuilder.cdef(declarations((HERE / name).read_text(encoding="utf-8")))
ffibuilder.cdef(CALLBACKS)
ffibuilder.set_source(
    "tflm_sim.planners.native._native",
    "\n".join(f'#include "{name}"' for name in HEADERS),
    sources=[str(HERE / name) for name in SOURCES],
    include_dirs=[str(HERE)],
    depends=[str(path) for path in HERE.glob("*.h")],
    # MSVC takes C89 with extensions otherwise, which has no "restrict".
    extra_compile_args=["/std:c11"] if get_platform().startswith("win") else [],
    optional=True,
)

if __name__ == "__main__":
    ffibuilder.compile(verbose=True)
