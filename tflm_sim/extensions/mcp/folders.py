"""The folders in which an assistant may read, and those in which it may write."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tflm_sim.errors import UsageError

SAMPLE = "sample:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """What was named at the server's start.

    Attributes:
        readable: Real paths of folders; a path that is not absolute begins in the first.
        writable: Real paths of folders.
    """

    readable: tuple[Path, ...]
    writable: tuple[Path, ...]

    @classmethod
    def named(cls, readable: list[str], writable: list[str]) -> Folders:
        """Return the folders of these paths; where files are written, they can be read too.

        Raises:
            UsageError: One of them is not a folder.
        """
        for path in [*readable, *writable]:
            if not os.path.isdir(path):
                raise UsageError(f"'{path}' is not a folder")
        written = [Path(path).resolve() for path in writable]
        return cls(readable=(*(Path(path).resolve() for path in readable), *written), writable=tuple(written))

    def model(self, text: str) -> str:
        """Return what the command line takes for this model.

        Raises:
            UsageError: It is neither a sample nor a file in one of the folders.
        """
        return text if text.startswith(SAMPLE) else self.file(text)

    def file(self, text: str) -> str:
        """Return the real path of a file that may be read.

        Raises:
            UsageError: It is not a file in one of the folders; a link that leads out of them is none.
        """
        path = self._inside(text, self.readable, "read")
        if not os.path.isfile(path):
            raise UsageError(f"'{text}' is not a file")
        return str(path)

    def output(self, text: str) -> str:
        """Return the real path of a file that may be written.

        Raises:
            UsageError: It is not in one of the folders in which files may be written.
        """
        path = self._inside(text, self.writable, "written")
        if not os.path.isdir(path.parent):
            raise UsageError(f"'{text}': its folder is not there")
        return str(path)

    def _inside(self, text: str, folders: tuple[Path, ...], done: str) -> Path:
        """Return the real path, which is in one of these folders.

        Links are followed first, so the verb gets a path without links: one that is put there later leads it nowhere.
        """
        try:
            path = (self.readable[0] / text).resolve()
        except (OSError, ValueError, RuntimeError) as error:  # a NUL in it; links that lead to themselves
            raise UsageError(f"'{text}' is not a path: {error}") from error
        if not any(path.is_relative_to(folder) for folder in folders):
            raise UsageError(f"'{text}' may not be {done}: it is not in {', '.join(map(str, folders))}")
        return path
