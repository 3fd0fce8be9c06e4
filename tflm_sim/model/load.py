"""A .tflite file as a :class:`Model`: ``parse(bytes)``, and ``load()`` of whatever names one.

Invariant: any bytes give a Model or a :class:`ModelError` with an offset, in time and memory proportional to the file.
What TFLM itself reports (an operator code that is out of range) or halts on (a buffer index that is out of range) stays
in the Model; what would read other memory on the device (a tensor index that is out of range) is a ModelError.
"""

from __future__ import annotations

import copyreg
import os
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from tflm_sim.errors import ModelError, UsageError, each_of, expect, not_a
from tflm_sim.model.inputs import read_input
from tflm_sim.model.recipes import MODEL, option_recipe
from tflm_sim.model.schema import FILE_IDENTIFIER
from tflm_sim.model.types import Model

if TYPE_CHECKING:
    from typing import Any

    from tflm_sim.model.flatbuf import FlatBuffer


ModelLike = Model | bytes | bytearray | memoryview | str | os.PathLike[str]
"""What every public function takes for a model: one in memory, the bytes of a .tflite file, a path, ``sample:NAME``."""


def load(source: ModelLike, *, strict: bool = True) -> Model:
    """Return the model of a file, of its bytes, or the given model itself.

    Args:
        source: A .tflite file, a C source with one model as an array, an archive of one; "-", ``sample:NAME``,
            ``FILE:LABEL``: see :func:`~tflm_sim.model.inputs.read_inputs`. Or the bytes of a .tflite file, or a Model.
        strict: As in :func:`parse`.

    Raises:
        ModelError: The file cannot be read, is not what it claims to be, or holds several models.
        UsageError: There is no such sample, or ``source`` is something else.
    """
    if isinstance(source, Model):
        return source
    if isinstance(source, bytes | bytearray | memoryview):
        return parse(source, strict=strict)
    if not isinstance(source, str | os.PathLike):
        raise not_a(f"a model ({_A_MODEL})", source)
    label, data = read_input(os.fsdecode(source))
    return parse(data, path=label, strict=strict)


_A_MODEL = "a path, the bytes of a .tflite file, a Model or 'sample:NAME'"


def load_each(models: ModelLike | Iterable[ModelLike]) -> tuple[Model, ...]:
    """Return the models that one argument names: one of them, or several.

    Raises:
        ModelError: As :func:`load`.
        UsageError: As there, or there are none.
    """
    if isinstance(models, Model):
        return (models,)
    if isinstance(models, str | os.PathLike | bytes | bytearray | memoryview) or not isinstance(models, Iterable):
        return (load(models),)
    found = tuple(map(load, each_of(models, object, f"a model ({_A_MODEL})")))
    if not found:
        raise UsageError(f"at least one model is needed ({_A_MODEL}); there are none")
    return found


def parse(data: bytes | bytearray | memoryview, *, path: str | None = None, strict: bool = True) -> Model:
    """Return the model that ``data`` holds; its weights are views of ``data``.

    Args:
        data: A whole .tflite file, with whatever follows its flatbuffer.
        path: Where the bytes came from, for messages.
        strict: Whether to refuse tensor indices that are out of range: TFLM reads past its tables for them. The mobile
            runtime has a meaning for -1 and words for the rest; a Model that keeps them says so (``index_fault``).

    Raises:
        ModelError: The bytes are not a readable model.
        UsageError: ``data`` is not bytes.
    """
    expect(data, (bytes, bytearray, memoryview), "the bytes of a .tflite file (load() takes a path)")
    expect(path, str | None, "path as a text")
    strict = expect(strict, bool, "strict as a truth value")
    source = memoryview(data).cast("B").toreadonly()
    values = native_reader()(source)
    if values is not None:
        return _model(values, source, path)
    from tflm_sim.model.flatbuf import FlatBuffer  # Most files are read in C.

    try:
        return parse_flatbuffer(FlatBuffer(source, strict=strict), path)
    except ModelError as problem:
        problem.path = path
        raise


def parse_flatbuffer(buffer: FlatBuffer, path: str | None = None) -> Model:
    """Return the model that a flatbuffer holds, read in Python.

    Raises:
        ModelError: The bytes are not a readable model.
    """
    from tflm_sim.model.python_reader import read_table

    return _model(read_table(buffer.root(FILE_IDENTIFIER), MODEL), buffer.data, path, buffer)


def _model(values: tuple[Any, ...], source: memoryview, path: str | None, buffer: FlatBuffer | None = None) -> Model:
    read_of_it = {field.name: value for field, value in zip(MODEL.fields, values, strict=True)}
    fault = None if buffer is None else buffer.index_fault
    return Model(**read_of_it, source=source, path=path, index_fault=fault)


def encode(model: ModelLike) -> bytes:
    """Return a model as a .tflite file, written anew; data outside of the flatbuffer follows it.

    Raises:
        ModelError: An operator names an options table that the schema does not have, or ``model`` cannot be loaded.
    """
    from tflm_sim.model.encode import encode as written  # Most models are never written.

    return written(load(model))


def _pickled(model: Model) -> tuple[Callable[..., Model], tuple[Any, ...]]:
    """Return how a model is pickled: as the file that it came from, or would be written as."""
    return _unpickled, (bytes(model.source) or encode(model), model.path, model.index_fault is None)


def _unpickled(source: bytes, path: str | None, strict: bool) -> Model:
    return parse(source, path=path, strict=strict)


copyreg.pickle(Model, _pickled)


def left_to_python(source: memoryview) -> None:
    """The C reader where there is none."""


@cache
def native_reader() -> Callable[[memoryview], tuple[Any, ...] | None]:
    """Return the C reader: source -> the first attributes of a Model, None for what it leaves to :func:`read`.

    Where it was not built it leaves all of it.
    """
    try:
        reader = import_module("tflm_sim.model._reader").read
    except ImportError:
        return left_to_python
    return lambda source: reader(source, MODEL, FILE_IDENTIFIER, option_recipe)
