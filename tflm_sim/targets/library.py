"""A library that people link: the TFLM in a version of it, what that runs on, and which kernels it brings."""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.errors import UsageError
from tflm_sim.targets.changes import BEFORE_UPSTREAM, TENSORFLOW_OF_2020
from tflm_sim.targets.history import find_commit
from tflm_sim.targets.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Library:
    """A version of a library.

    Attributes:
        name: What people call it.
        version: Its release.
        commits: The first and the last commit of upstream whose files it holds; "" and "" where that is not known, or,
            of a modelled one, where it holds what tensorflow/tensorflow held before upstream began.
        target: The preset that it runs on, unless another is named; "" where it is not modelled.
        kernels: The kernels that it links: "reference", or a library as for ``--kernels``.
        esp_kernels: The kernels that it links on Espressif's chips, "" for the same as elsewhere.
        only: How the names of the presets begin for which this row says what it holds, "" for all: some libraries hold
            another TFLM for other chips.
        kernels_range: What it asks the package manager for, where that does not decide the version of its kernels.
        fork: (repository, first-parent commits up to it) where it has a history of changes of its own.
        changed: Own changes that can move memory, "" for none.
        nearest: What comes nearest, where it is not modelled under its own name, and why.
        source: Where its sources are.
        static_memory: Whether it is built with TF_LITE_STATIC_MEMORY.
        debug_checks: Whether it is usually built with TFLITE_DCHECK: without NDEBUG.
        source_suffix: How the names of its C++ files end: the Arduino IDE compiles no ".cc".
        releases: All releases that are the same in every other attribute, the newest, ``version``, last; () for one.
        holds: The library whose TFLM it pins, as for ``--library``, "" where it brings its own.
        cmsis_nn: The version of CMSIS-NN that it brings, where that is not the one that its TFLM fetches.
        also: As ``fork``: other repositories from whose histories it took kernels.
    """

    name: str
    version: str
    commits: tuple[str, str]
    target: str = ""
    kernels: str = "reference"
    fork: tuple[str, int] = ("", 0)
    changed: str = ""
    nearest: str = ""
    source: str = ""
    static_memory: bool = True
    debug_checks: bool = True
    source_suffix: str = ".cc"
    kernels_range: str = ""
    releases: tuple[str, ...] = ()
    holds: str = ""
    also: tuple[tuple[str, int], ...] = ()
    cmsis_nn: str = ""
    esp_kernels: str = ""
    only: str = ""

    @property
    def versions(self) -> str:
        return f"{self.releases[0]} to {self.version}" if self.releases else self.version

    @property
    def label(self) -> str:
        """Name and version as ``--library`` takes them."""
        return f"{self.name}@{self.version}" if self.version else self.name

    def kernels_on(self, machine: str) -> str:
        """Return the kernels that it links on a preset."""
        return self.esp_kernels if self.esp_kernels and machine.startswith("esp32") else self.kernels

    @property
    def is_modelled(self) -> bool:
        """Whether it can be simulated under its own name."""
        return bool(self.target)

    def runtime(self) -> Runtime:
        """Return its TFLM.

        Raises:
            UsageError: It is not modelled.
        """
        if not self.is_modelled:
            raise UsageError(f"{self.label} is not modelled; the nearest: {self.nearest}")
        forks = (self.fork, *self.also) if self.fork[1] else ()
        without = TENSORFLOW_OF_2020 if forks else BEFORE_UPSTREAM
        position = find_commit(self.commits[0]).position if self.commits[0] else without
        return Runtime(
            self.label,
            static_memory=self.static_memory,
            upstream=position,
            forks=forks,
            source_suffix=self.source_suffix,
            has_debug_checks=self.debug_checks,
        )
