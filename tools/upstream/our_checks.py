"""Find the checks that ``tflm_sim/ops`` writes: what each says, and in which upstream files it can stand.

A text is read from the source of the call, ``k.ensure(..., "text")`` and its like; what is only known when a model runs
stands for anything. A TFLITE_DCHECK says nothing on a device, so what it is called here is free.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_FILE = re.compile(r"[\w/]+\.(?:cc|h)")
_TEXTS = {"ensure": (1,), "ensure_msg": (1,), "refuse": (0, 1), "ensure_near": (2, 3)} | dict.fromkeys(
    ("ensure_eq", "ensure_types_eq", "ensure_c_types_eq", "ensure_count_eq", "ensure_double_eq"), (2, 3)
)
"""By method of ``Kernel``: which arguments, joined by " != " or " not near ", are what a check says."""
_ANYTHING = ".+"


@dataclass(frozen=True, slots=True)
class Written:
    """A check as it is written here: its place, a pattern of its text, the names of files in which it can stand."""

    path: Path
    line: int
    pattern: str
    files: frozenset[str]

    @property
    def shown(self) -> str:
        """Its text for people."""
        return re.sub(r"\\(.)", r"\1", self.pattern.replace(_ANYTHING, "..."))

    def says(self, text: str) -> bool:
        """Return whether a text is what it says."""
        return re.fullmatch(self.pattern, text, re.DOTALL) is not None


def written_checks(folder: Path) -> list[Written]:
    """Return the checks of all modules below a folder whose text is not left open altogether.

    A check can stand in the files that its module names, and in those that a module names which imports it.
    """
    modules = {path: ast.parse(path.read_text("utf-8")) for path in sorted(folder.rglob("*.py"))}
    constants = {name: text for module in modules.values() for name, text in _constants(module)}
    files = _files(modules)
    return [
        Written(path, call.lineno, pattern, files[path])
        for path, module in modules.items()
        for call, pattern in _checks(module, constants)
        if pattern.replace(_ANYTHING, "").strip(" !=")
    ]


def _constants(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the texts that have a name in a module."""
    for statement in module.body:
        match statement:
            case ast.Assign([ast.Name(name)], ast.Constant(str(text))):
                yield name, text


def _checks(module: ast.Module, constants: Mapping[str, str]) -> Iterator[tuple[ast.Call, str]]:
    for call in ast.walk(module):
        match call:
            case ast.Call(ast.Attribute(attr=method), arguments) if method in _TEXTS:
                if len(arguments) > _TEXTS[method][0]:
                    relation = " not near " if method == "ensure_near" else " != "
                    texts = [arguments[at] for at in _TEXTS[method] if at < len(arguments)]
                    sides = [_pattern(text, constants) for text in texts]
                    yield call, relation.join(sides + [_ANYTHING] * (len(_TEXTS[method]) - len(sides)))


def _pattern(node: ast.expr, constants: Mapping[str, str]) -> str:
    """Return a regular expression for what an expression can say."""
    match node:
        case ast.Constant(str(text)):
            return re.escape(text)
        case ast.Name(name) if name in constants:
            return re.escape(constants[name])
        case ast.JoinedStr(values):
            return "".join(_pattern(value, constants) for value in values)
    return _ANYTHING


def _files(modules: Mapping[Path, ast.Module]) -> dict[Path, frozenset[str]]:
    """Return the upstream files that each module names, or those name that import it, however indirectly."""
    named = {path: _named(module) for path, module in modules.items()}
    importers: dict[str, set[Path]] = {}
    for path, module in modules.items():
        for statement in ast.walk(module):
            if isinstance(statement, ast.ImportFrom) and statement.module:
                names = [statement.module, *(f"{statement.module}.{alias.name}" for alias in statement.names)]
                for name in names:
                    importers.setdefault(name.rpartition(".")[2], set()).add(path)

    def reached(path: Path, seen: set[Path]) -> set[Path]:
        seen.add(path)
        for importer in importers.get(path.stem, set()) - seen:
            reached(importer, seen)
        return seen

    return {path: frozenset().union(*(named[one] for one in reached(path, set()))) for path in modules}


def _named(module: ast.Module) -> frozenset[str]:
    texts = (node.value for node in ast.walk(module) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return frozenset(text for text in texts if _FILE.fullmatch(text))
