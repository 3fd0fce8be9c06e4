"""Print the conda recipe of a source distribution, in the form that rattler-build and conda-forge read.

python tools release conda dist/tflm_sim-0.3.0.tar.gz > recipe.yaml
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import frame

ADDRESS = "https://pypi.org/packages/source/t/tflm_sim/"


def recipe(sdist: Path) -> dict[str, Any]:
    """Return the recipe; version, dependencies and licence are those of the distribution.

    Source: schema.json @ prefix-dev/recipe-format
    """
    found = re.fullmatch(r"tflm_sim-(.+)\.tar\.gz", sdist.name)
    assert found is not None, f"{sdist.name} is no source distribution of this package"
    with tarfile.open(sdist) as archive:
        member = archive.extractfile(f"tflm_sim-{found[1]}/pyproject.toml")
        assert member is not None, "it is a file"
        told = tomllib.loads(member.read().decode())
    project = told["project"]
    needs, build = (
        [re.split(r"\s*;", row)[0] for row in rows]
        for rows in (project["dependencies"], told["build-system"]["requires"])
    )
    python = f"python {project['requires-python']}"
    return {
        "schema_version": 1,
        "context": {"version": found[1]},
        "package": {"name": "tflm_sim", "version": "${{ version }}"},
        "source": {
            "url": f"{ADDRESS}tflm_sim-${{{{ version }}}}.tar.gz",
            "sha256": hashlib.sha256(sdist.read_bytes()).hexdigest(),
        },
        "build": {"number": 0, "script": "${{ PYTHON }} -m pip install . -vv --no-deps --no-build-isolation"},
        "requirements": {
            "build": ["${{ compiler('c') }}", "${{ stdlib('c') }}"],
            "host": [python, "pip", *map(spaced, build)],
            "run": [python, *map(spaced, needs)],
        },
        "tests": [
            {"python": {"imports": ["tflm_sim"], "pip_check": True}},
            {"script": ["tflm-sim --version", "tflm-sim size sample:mobilenet_v1_025 --target cortex-m4"]},
        ],
        "about": {"summary": project["description"], "license": project["license"], "license_file": "LICENSE"},
    }


def spaced(requirement: str) -> str:
    """Return a requirement as conda writes it: a blank between name and versions."""
    return re.sub(r"^([\w.-]+)\s*(?=[<>=!~])", r"\1 ", requirement)


def main() -> int:
    """Print it; JSON is YAML."""
    parser = frame.parser(__doc__)
    parser.add_argument("sdist", type=Path)
    print(json.dumps(recipe(parser.parse_args().sdist), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
