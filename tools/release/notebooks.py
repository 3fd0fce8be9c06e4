"""Execute the notebooks and write them as pages, with their pictures, for the site.

python tools release notebooks site/notebooks

The page of NAME.ipynb is NAME.ipynb/index.html, so that a link to the notebook in the repository leads there.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import frame

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
SECONDS = 600
"""For one cell."""


def write_page(path: Path, out: Path) -> None:
    """Execute a notebook from a clean kernel in its own folder and write its page."""
    # Not everybody has them, and none has types.
    nbclient, nbconvert, nbformat = (import_module(name) for name in ("nbclient", "nbconvert", "nbformat"))
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(NOTEBOOKS), "name": path.stem}}
    nbclient.NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources=resources).execute()
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook, resources={"metadata": {"name": path.stem}})
    folder = out / path.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(page, "utf-8")


def main() -> int:
    """Write all of them, or those that are named."""
    parser = frame.parser(__doc__)
    parser.add_argument("out", type=Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME", help="without .ipynb; default: all")
    args = parser.parse_args()
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        if not args.names or path.stem in args.names:
            print(path.name, flush=True)
            write_page(path, args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
