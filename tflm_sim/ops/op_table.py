"""``OpTable``: operator models by name, whose modules are imported when first needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from tflm_sim.errors import TflmSimError
from tflm_sim.ops.op_model import OpModel


class OpTable(Mapping[str, OpModel]):
    """A read-only table of operator models, on top of another one.

    Args:
        package: Where the families are.
        families: Module name to the names of the operators that it models, separated by spaces.
        rows: The name of the tuple of rows in each module.
        base: The table below: an operator without a row here is looked up there.

    Attributes:
        package: As given.
    """

    def __init__(
        self,
        package: str,
        families: Mapping[str, str],
        *,
        rows: str = "MODELS",
        base: Mapping[str, OpModel] | None = None,
    ) -> None:
        self.package = package
        self._rows = rows
        self._base: Mapping[str, OpModel] = base if base is not None else {}
        self._family = {op: family for family, ops in families.items() for op in ops.split()}
        self._models: dict[str, OpModel] = {}
        self._absent: frozenset[str] = frozenset()

    def without(self, ops: frozenset[str]) -> OpTable:
        """Return the table without some operators."""
        table = OpTable(self.package, {}, base=self)
        table._absent = ops
        return table

    def __getitem__(self, op: str) -> OpModel:
        if op not in self._models:
            family = self._family.get(op)
            if op in self._absent:
                raise KeyError(op)
            if family is None:
                return self._base[op]
            rows = self.of_family(op, self._rows)
            self._models |= {model.op: model for model in rows if self._family.get(model.op) == family}
            if op not in self._models:
                raise TflmSimError(
                    f"{self._rows} of {self.package}.{family} has no row of {op}, which should stand there"
                )
        return self._models[op]

    def of_family(self, op: str, name: str) -> tuple[Any, ...]:
        """Return a tuple of the module that models an operator; () where there is no such module, or no such tuple."""
        family = self._family.get(op)
        return getattr(import_module(f"{self.package}.{family}"), name, ()) if family is not None else ()

    def __iter__(self) -> Iterator[str]:
        yield from self._family
        yield from (op for op in self._base if op not in self._family and op not in self._absent)

    def __len__(self) -> int:
        return sum(1 for _ in self)
