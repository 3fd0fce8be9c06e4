"""Print the folder with the CMake module: ``find_package(tflm_sim PATHS ...)`` takes it."""

from __future__ import annotations

from pathlib import Path

if __name__ == "__main__":
    print(Path(__file__).with_name("cmake").as_posix())
