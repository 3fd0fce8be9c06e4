import os
import shutil
import subprocess
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

MCP = Path("tflm_sim/extensions/mcp")
COMMIT = Path("tflm_sim/commit.txt")


def write_commit(root):
    """Write the commit that is checked out here into a tree; an sdist has it already (tflm_sim/provenance.py)."""
    if COMMIT.exists() or not Path(".git").exists():
        return
    run = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if run.returncode == 0:
        Path(root, COMMIT).write_text(run.stdout, "ascii")


class WithCommit(sdist):
    """An sdist that says of which commit it is."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        write_commit(base_dir)


class WithPages(build_py):
    """Puts the commit into the wheel, and the pages that an assistant can read; a checkout has both elsewhere."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        write_commit(self.build_lib)
        folder = Path(self.build_lib, MCP, "pages")
        folder.mkdir(parents=True, exist_ok=True)
        for line in MCP.joinpath("pages.txt").read_text("utf-8").splitlines():
            if not line.startswith("#"):
                shutil.copy(Path("docs", line.partition(":")[0]), folder)


# TFLM_SIM_PURE=1 builds py3-none-any: for the browser and for machines without a compiler; all of it runs in Python.
READER = Extension(
    "tflm_sim.model._reader",
    ["tflm_sim/model/reader.c"],
    define_macros=[("Py_LIMITED_API", "0x030B0000")],
    py_limited_api=True,
    optional=True,
)
COUNTER = Extension(
    "tflm_sim.extensions.firmware.emulation._counting",
    ["tflm_sim/extensions/firmware/emulation/counting.c"],
    depends=["tflm_sim/extensions/firmware/emulation/noted_stores.h"],
    define_macros=[("Py_LIMITED_API", "0x030B0000")],
    py_limited_api=True,
    optional=True,
)
STORES = Extension(  # No module: QEMU loads it.
    "tflm_sim.extensions.firmware.emulation._qemu_stores",
    ["tflm_sim/extensions/firmware/emulation/qemu_stores.c"],
    depends=["tflm_sim/extensions/firmware/emulation/noted_stores.h"],
    py_limited_api=True,
    optional=True,
)
if os.environ.get("TFLM_SIM_PURE"):
    setup(cmdclass={"build_py": WithPages, "sdist": WithCommit})
else:
    setup(
        cmdclass={"build_py": WithPages, "sdist": WithCommit},
        ext_modules=[READER, COUNTER, STORES],
        cffi_modules=["tflm_sim/planners/native/build_native.py:ffibuilder"],
        options={"bdist_wheel": {"py_limited_api": "cp311"}},
    )
