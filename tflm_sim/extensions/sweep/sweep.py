"""``sweep()``: what many models need on many targets, as a pandas table, or row by row as they come."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tflm_sim.answers.rows import COLUMNS, Case, Row, as_dict, cases
from tflm_sim.errors import UsageError, whole_number
from tflm_sim.extensions.sweep.engine import Dask, Item, Pool, Serial, run
from tflm_sim.extensions.sweep.limits import Limits
from tflm_sim.extensions.sweep.urls import expand_url, is_url
from tflm_sim.extras import install_command
from tflm_sim.model.inputs import expand_inputs, may_hold_several, members
from tflm_sim.model.load import ModelLike, load
from tflm_sim.model.types import Model
from tflm_sim.sizes import as_limit

DEFAULT_LIMITS = Limits()
_MOST_JOBS = 1024
"""Processes that are started at once, and all before the first model is read: more are a mistake in writing."""


def items(models: ModelLike | Iterable[ModelLike]) -> Iterator[Item]:
    """Yield the models of a sweep; folders, patterns and files of several models become one each.

    Args:
        models: Paths, fsspec URLs, bytes and :class:`~tflm_sim.model.types.Model`, mixed, or one of them; read lazily.
    """
    number = 0
    is_one = isinstance(models, str | os.PathLike | bytes | bytearray | memoryview | Model)
    several: Iterable[Any] = models if isinstance(models, Iterable) and not is_one else (models,)
    for model in several:
        if isinstance(model, str | os.PathLike):
            name = os.fspath(model)
            found = ((url, None) for url in expand_url(name)) if is_url(name) else expand_inputs([name], _members)
            for label, data in found:
                yield Item(label, label if data is None else data)
                number += 1
        else:
            is_bytes = isinstance(model, bytes | bytearray | memoryview)
            yield Item(f"model {number}", bytes(model) if is_bytes else load(model))
            number += 1


def _members(path: str, was_found: bool) -> list[tuple[str, bytes | None]]:
    """Return what ``model.inputs.members`` does, the file whole where that takes too much memory."""
    try:
        return members(path, was_found) if may_hold_several(path) else [(path, None)]
    except MemoryError:
        return [(path, None)]


def make_pool(client: Any = None, *, jobs: int | None = None, limits: Limits = DEFAULT_LIMITS) -> Pool:
    """Return the pool that runs a sweep.

    Args:
        client: A ``dask.distributed.Client``; its workers.
        jobs: Processes of this machine; by default one a core; 1 for this very process, if there are no limits: only
            another one can be ended.
        limits: What a row may take.

    Raises:
        UsageError: There are too few of them, or pebble is not installed.
    """
    if client is not None:
        return Dask(client)
    if jobs is None:
        count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    else:
        count = whole_number(jobs, "processes", 1, _MOST_JOBS)
    if count == 1 and limits == Limits(0):
        return Serial()
    try:
        from tflm_sim.extensions.sweep.processes import Processes
    except ImportError as missing:
        without = "one process without limits (--jobs 1 --row-seconds 0) needs no pebble"
        raise UsageError(f"processes of their own need pebble: {install_command('sweep')}; {without}") from missing
    return Processes(count)


def iterate_rows(
    models: ModelLike | Iterable[ModelLike],
    over: Sequence[Case],
    *,
    client: Any = None,
    jobs: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Row]:
    """Yield the rows as they come, models in order and the cases of each in order; see :func:`sweep`."""
    pool = make_pool(client, jobs=jobs, limits=limits)
    try:
        for rows in run(items(models), over, pool, limits):
            yield from rows
    finally:
        pool.close()


def sweep(
    models: ModelLike | Iterable[ModelLike],
    targets: Iterable[str] | str,
    client: Any = None,
    *,
    boards: Iterable[str] = (),
    limit: int | str | None = None,
    jobs: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    **settings: Any,
) -> Any:
    """Return a ``pandas.DataFrame``, a row for each model and target.

    Args:
        models: Paths, folders, patterns, fsspec URLs, bytes, ``Model`` objects, ``sample:NAME``, or one of them;
            an iterable that never fits in memory is read as it is needed.
        targets: Presets, or "all".
        client: A ``dask.distributed.Client``; by default processes of this machine.
        boards: Boards, each with its own target, whose RAM and flash the models must fit.
        limit: Bytes that an arena may have, or text ("64KiB"), for the column "fits".
        jobs: Processes, without a client.
        limits: Seconds and bytes that a row may take.
        settings: See :class:`~tflm_sim.device.configuration.Settings`; values that JSON has.

    Raises:
        UsageError: An argument has no meaning, or pandas is not installed.
    """
    try:
        import pandas
    except ImportError as missing:
        raise UsageError(f"a table needs pandas: {install_command('sweep')}") from missing
    over = cases([targets] if isinstance(targets, str) else targets, boards, limit=as_limit(limit, "limit"), **settings)
    rows = iterate_rows(models, over, client=client, jobs=jobs, limits=limits)
    table = pandas.DataFrame.from_records([as_dict(row) for row in rows], columns=list(COLUMNS))
    return table.astype({name: "Int64" for name in table.columns if COLUMNS[name] == "int | None"})
