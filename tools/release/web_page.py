"""Write docs/pictures/serve.png: the page of ``serve`` with three models and a board.

python tools release web_page
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path

import frame
from release import chromium

from tflm_sim.extensions.page.cli import make_server
from tflm_sim.extensions.page.planners import compiled_planners
from tflm_sim.extensions.page.site import PYODIDE_VERSION, read_pyodide, site_files
from tflm_sim.samples import sample_path

ROOT = Path(__file__).resolve().parents[2]
PYODIDE = ROOT / ".venv" / f"pyodide-{PYODIDE_VERSION}.tgz"
MODELS = ("residual", "streaming", "mobilenet_v1_025")
READY = "return document.documentElement.dataset.ready"
ANSWERED = "return document.getElementById('status').textContent.endsWith('answered.')"
SETTINGS = "#board=nicla-sense-me&target=cortex-m4"


def main() -> int:
    """Take it."""
    frame.parser(__doc__).parse_args()
    absent = [*chromium.missing(), *([] if PYODIDE.exists() else [str(PYODIDE)])]
    if absent:
        print(f"not installed: {', '.join(absent)}; tools/test.sh brings them", file=sys.stderr)
        return 1
    server = make_server(site_files(read_pyodide(PYODIDE), compiled_planners()), 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        driver = chromium.start(Path(folder))
        try:
            chromium.emulate(driver, width=1100, height=940, theme="light")
            driver.get(f"http://127.0.0.1:{server.server_address[1]}/{SETTINGS}")
            while not driver.execute_script(READY):
                time.sleep(0.1)
            files = "\n".join(str(sample_path(name)) for name in MODELS)
            driver.find_element("id", "files").send_keys(files)
            while not driver.execute_script(ANSWERED):
                time.sleep(0.1)
            driver.save_screenshot(str(ROOT / "docs" / "pictures" / "serve.png"))
        finally:
            driver.quit()
            server.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
