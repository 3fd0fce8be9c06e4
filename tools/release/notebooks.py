"""Execute the notebooks and write them as pages, with their pictures, for the site; or keep their outputs in them.

python tools release notebooks site/notebooks
python tools release notebooks --keep [NAME ...]  writes what they print and draw into the files of the repository

The page of NAME.ipynb is NAME.ipynb/index.html, so that a link to the notebook in the repository leads there.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import frame

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
SECONDS = 600
"""For one cell."""


def executed(path: Path) -> Any:
    """Return a notebook with its outputs, from a clean kernel in its own folder."""
    # Not everybody has them, and none has types.
    nbclient, nbformat = (import_module(name) for name in ("nbclient", "nbformat"))
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(NOTEBOOKS), "name": path.stem}}
    # How much of what a cell prints comes at a time, chance decides: all of it is one piece.
    options = {"timeout": SECONDS, "kernel_name": "python3", "coalesce_streams": True}
    nbclient.NotebookClient(notebook, resources=resources, **options).execute()
    return notebook


def keep(path: Path) -> None:
    """Write what a notebook prints and draws into its file; what differs from one machine to another is left out."""
    notebook = executed(path)
    notebook.metadata = {key: value for key, value in notebook.metadata.items() if key != "language_info"}
    for cell in notebook.cells:
        cell.metadata = {}
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
    path.write_text(f"{text}\n", "utf-8")


def write_page(path: Path, out: Path) -> None:
    """Execute a notebook and write its page."""
    nbconvert, notebook = import_module("nbconvert"), executed(path)
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook, resources={"metadata": {"name": path.stem}})
    folder = out / path.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(page, "utf-8")


def main() -> int:
    """Write all of them, or those that are named."""
    parser = frame.parser(__doc__)
    parser.add_argument("--keep", action="store_true", help="write the outputs into the notebooks instead")
    parser.add_argument("given", nargs="*", metavar="FOLDER|NAME", help="NAME is without .ipynb; default: all")
    args = parser.parse_args()
    if not args.keep and not args.given:
        parser.error("name a FOLDER, or --keep")
    names = args.given if args.keep else args.given[1:]
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        if not names or path.stem in names:
            print(path.name, flush=True)
            keep(path) if args.keep else write_page(path, Path(args.given[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
