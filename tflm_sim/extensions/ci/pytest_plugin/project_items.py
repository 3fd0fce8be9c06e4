"""``pytest tflm-sim.toml``: each model of a repository on each of its firmwares is a test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.errors import TflmSimError
from tflm_sim.escape import one_line
from tflm_sim.extensions.ci.project import Project, ProjectFirmware, cells, models_of, read_project
from tflm_sim.extensions.ci.project_text import assumed_of, verdict_of
from tflm_sim.extensions.ci.pytest_plugin.outcomes import PROPERTY, Measured
from tflm_sim.report.circumstances import target_line
from tflm_sim.report.verdict_text import deciding, verdict_lines


class ProjectFile(pytest.File):
    """The file, whose tests are models on firmwares."""

    def collect(self) -> Iterator[pytest.Item]:
        try:
            project = read_project(self.path)
            names = [(firmware, name) for firmware in project.firmware for name in models_of(project, firmware)]
        except TflmSimError as error:
            raise self.CollectError(one_line(str(error))) from None
        for firmware, name in names:
            item = one_line(f"{name} on {firmware.label}")
            yield ModelItem.from_parent(self, name=item, project=project, firmware=firmware, model=name)


class ModelItem(pytest.Item):
    """A model that has to fit on a firmware."""

    def __init__(self, *, project: Project, firmware: ProjectFirmware, model: str, **rest: Any) -> None:
        super().__init__(**rest)
        self._project = replace(project, firmware=(firmware,))
        self._model = model

    def runtest(self) -> None:
        try:
            (cell,) = cells(self._project, [self._model])
        except TflmSimError as error:
            pytest.fail(one_line(str(error)), pytrace=False)
        verdict = verdict_of(cell)
        if verdict.needed is not None:  # the summary shows the figures
            about = target_line(deciding(cell.judged)[1].target, assumed_of(cell))
            measured = Measured(verdict.key, verdict.needed, verdict.limit, verdict.before, "", about)
            self.user_properties.append((PROPERTY, list(measured)))
        if verdict.exit_code:
            pytest.fail("\n".join(map(one_line, verdict_lines(verdict))), pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name
