"""CONTRIBUTING's path through the code is short, and it is the way that a simulation goes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tflm_sim"
SECTION = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Reading the code\n")[2].partition("\n## ")[0]
PATH = re.findall(r"^\d+\. `([\w/]+\.py)`: ", SECTION, re.MULTILINE)
MAX_FILES, MAX_LINES = 25, 4_000


def test_the_path_is_short() -> None:
    assert 10 < len(PATH) <= MAX_FILES
    assert sum(len((PACKAGE / path).read_text("utf-8").splitlines()) for path in PATH) <= MAX_LINES


ENTERED = """
import sys
from pathlib import Path
import tflm_sim

package, entered = Path(tflm_sim.__file__).parent, []

def note(frame, event, _):
    path = Path(frame.f_code.co_filename)
    if event == "call" and path.is_relative_to(package) and not frame.f_code.co_name.startswith("<"):
        entered.append(path.relative_to(package).as_posix())

model, simulate = tflm_sim.load("sample:residual"), tflm_sim.simulate
sys.setprofile(note)
buffers = simulate(model, "cortex-m4").buffers
sys.setprofile(None)
print(*(dict.fromkeys(entered) if buffers else ()))
"""


def test_a_simulation_enters_the_files_of_the_path_in_its_order() -> None:
    # In a process of its own: what was worked out once, such as the layout of a struct, is not entered again.
    done = subprocess.run([sys.executable, "-c", ENTERED], cwd=ROOT, capture_output=True, text=True, check=True)
    assert [path for path in done.stdout.split() if path in PATH] == PATH
