"""The verdict on a project: the arena of its sources, its resolver, and the doubts that remain; and what to change."""

from __future__ import annotations

import argparse
import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tflm_sim.checks.doubts import Doubt
from tflm_sim.checks.judge import Room, judge, room_on
from tflm_sim.checks.verdict import Verdict, baseline_key
from tflm_sim.cli import options
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import ModelError, UsageError
from tflm_sim.extensions.project.constants import NotFoundError, origin, value
from tflm_sim.extensions.project.cpp import Constant, Sources, line_of, of_model, read_sources
from tflm_sim.extensions.project.esphome import KIND_OF_ESPHOME, EspHome
from tflm_sim.extensions.project.facts import Found, ProjectFacts
from tflm_sim.extensions.project.folder import IN_PYTHON, MICROPYTHON, OPENMV, PICO, read_text, source_files
from tflm_sim.extensions.project.manifests import Manifests, Named, read_manifests
from tflm_sim.extensions.project.micropython import read_python
from tflm_sim.extensions.project.patch import arena_edits, edited, number_edit, operator_edits, patch
from tflm_sim.extensions.project.wake_word import KIND_OF_WAKE_WORD, WakeWord
from tflm_sim.model.inputs import C_SUFFIXES, MODEL_SUFFIXES, Input, read_inputs, unpack
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model
from tflm_sim.ops.resolver import resolver_methods
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.sizes import as_limit
from tflm_sim.targets.boards import described_boards, known_board
from tflm_sim.targets.libraries import find_library, libraries_like
from tflm_sim.targets.library_names import HEADERS
from tflm_sim.units import format_size

MAX_OPEN_MACROS = 12
"""Macros that nobody defined, each of which is tried once."""
_ALIGNED = re.compile(r"(?:alignas|aligned)\s*\(+\s*(?:16|32|64)\b")
_OPENMV_MORE = 512
"""Bytes that OpenMV's arena has more than its interpreter uses.

Source: lib/tflm/tflm_backend.cc @ openmv/openmv cbbb877
"""
_PSRAM_SETTINGS = ("CONFIG_SPIRAM", "CONFIG_ESP32_SPIRAM_SUPPORT", "CONFIG_ESP32S3_SPIRAM_SUPPORT")
_OUTSIDE = re.compile(r"MALLOC_CAP_SPIRAM|ps_malloc|EXT_RAM|SDRAM|PSRAM")


@dataclass(frozen=True, slots=True)
class ProjectAnswer:
    """What is said about a project.

    Attributes:
        verdict: With the :class:`ProjectFacts` among its parts.
        configuration: What it is for.
        args: The options, with what the project's files say in the place of those that were not given.
        changed: The files to change, as they are then, in Latin-1; by path.
    """

    verdict: Verdict
    configuration: Configuration
    args: argparse.Namespace
    changed: dict[str, str]


class Reading(NamedTuple):
    """What the sources say, with the values of the expressions; None for what is unknown."""

    arena: Constant | None
    arena_bytes: int | None
    resolver: Constant | None
    count_value: int | None
    registered: tuple[str, ...]
    asked: tuple[str, ...]

    @property
    def accepted(self) -> tuple[str, ...]:
        """The methods that succeed: the first N, each once."""
        return tuple(dict.fromkeys(self.registered))[: self.count_value]


def answer_folder(folder: str, kind: str, args: argparse.Namespace, model_name: str | None) -> ProjectAnswer:
    """Return the answer about a project.

    Args:
        folder: Its folder.
        kind: What it is.
        args: The options of ``check``.
        model_name: The model, where the user names it; None for that of the sources.
    """
    files, texts, manifests = _read(folder, kind)
    sources = read_python(texts) if kind in IN_PYTHON else read_sources(texts, manifests.macros)
    asked: list[str] = []
    doubts: list[Doubt] = []
    args, library, board, open_library = _with_manifests(args, manifests, doubts)
    several = () if args.library or args.runtime else _libraries_of_a_header(texts)
    if several:
        args.library = several[0]
        asked.append(f"the library (--library), one of {', '.join(several)}: all have the header")
    elif not args.library and not args.runtime:
        unmodelled = [f"{one.name} {one.text}".rstrip() + f" ({one.place})" for one in manifests.libraries]
        why = f": {', '.join(dict.fromkeys(unmodelled))} is not modelled" if unmodelled else ""
        asked.append(f"the library (--library){why}")
        doubts.append(Doubt("it uses tensorflow/tflite-micro itself, the newest", settled_by=""))
    is_default = kind == PICO and not (args.board or args.target)
    if is_default:
        args.board = "pico"
    config = options.configuration(args)
    if not args.board and not args.target:
        asked.append("the board (--board)")
    model = _model(model_name, files, sources, asked)
    array = _array(model)
    sources = of_model(sources, array)
    reading = read_values(sources)
    limit = as_limit(args.limit, "limit") if args.limit is not None else reading.arena_bytes
    if limit is None and kind != OPENMV:
        asked += reading.asked or ("the arena's size (--limit)",)
    verdict = _judged(folder, model, config, limit, args, sources)
    if kind == OPENMV and limit is None and verdict.needed is not None:
        taken = format_size(verdict.needed + _OPENMV_MORE)
        verdict = replace(verdict, reason=f"OpenMV takes the arena from its heap when it loads the model: {taken}")
    doubts += _psram(manifests, sources)
    methods, own = resolver_methods(model) if model is not None else ((), ())
    needed = (*methods, *(f"AddCustom({name})" for name in own))
    has_all = sources.has_all and not sources.calls
    # A header that declares the pointer to a resolver names its N too.
    is_one = len({one.text for one in sources.counts}) == 1 and len({one.file for one in sources.calls}) == 1
    has_several = (len({one.file for one in sources.counts}) > 1 and not is_one) or (
        sources.has_all and bool(sources.calls)
    )
    if has_several or (sources.counts and reading.resolver is None and sources.calls):
        asked.append("which resolver is the model's: the sources have several, so its operators are not compared")
        has_several = True
    is_open = has_all or has_several or not sources.calls
    missing = () if is_open else tuple(one for one in needed if one not in reading.accepted)
    superfluous = () if is_open or not needed else tuple(one for one in reading.registered if one not in needed)
    if several:
        can_turn = _fits_otherwise(verdict, (_with(args, library=each) for each in several))
        doubts.append(Doubt(f"its library is {several[0]}", can_turn=can_turn, settled_by=""))
    if is_default:
        can_turn = _fits_otherwise(verdict, (_with(args, board="pico2"),))
        doubts.append(Doubt("its board is pico, the SDK's own choice (PICO_BOARD)", can_turn=can_turn, settled_by=""))
    doubts += _open_versions(args, open_library, verdict)
    doubts += _open_boards(args, config, verdict)
    doubts += [] if kind in IN_PYTHON else _open_macros(sources, manifests, reading, verdict, array)
    doubts += _alignment(sources, reading, verdict, args)
    new = [one for one in missing if one not in reading.registered]
    edits, removed = operator_edits(sources, new, superfluous)
    count = len({*needed, *reading.registered} - removed)
    if reading.resolver is not None and needed and not is_open and reading.count_value != count:
        edits += [edit for one in sources.counts for edit in number_edit(one, count, sources)]
    if reading.arena is not None and args.limit is None and verdict.works is False and _is_too_small(verdict):
        lost = 0 if _is_aligned(sources) else BUFFER_ALIGNMENT
        edits += arena_edits(reading.arena, (verdict.needed or 0) + lost, sources)
    changed = edited(texts, edits)
    facts = ProjectFacts(
        kind=kind,
        folder=folder,
        model="" if model is None else model.path or "",
        arena=_found(reading.arena, sources),
        arena_bytes=reading.arena_bytes,
        library=library,
        board=board,
        resolver=_found(reading.resolver, sources),
        resolver_count=reading.count_value,
        has_all_operators=has_all,
        registered=tuple(dict.fromkeys(reading.registered)),
        needed=needed,
        missing=missing,
        superfluous=tuple(dict.fromkeys(superfluous)),
        asked=tuple(asked),
        patch=patch(texts, changed),
    )
    verdict = replace(
        _with_operators(verdict, facts, doubts), shrunk_by=options.shrinking(vars(args), facts.model, verdict.limit)
    )
    if reasons := _memory_reasons(verdict, manifests, sources, array):
        rest = [verdict.reason] if verdict.reason and verdict.works is False else []
        verdict = replace(verdict, works=False, reason="; ".join((*reasons, *rest)), doubts=())
    return ProjectAnswer(verdict, config, args, {os.path.join(folder, file): text for file, text in changed.items()})


def as_in_project(folder: str, kind: str, args: argparse.Namespace) -> list[str]:
    """Set the options that were not given and a project's files name; return which, and where they are named."""
    _, library, board, _ = _with_manifests(args, _read(folder, kind)[2], [])
    return [f"{found.text} ({found.place})" for found in (board, library) if found is not None]


def _read(folder: str, kind: str) -> tuple[list[str], dict[str, str], Manifests]:
    """Return the files of a project, the texts of its sources, and what its files name."""
    files = list(source_files(folder))
    suffixes = (".py",) if kind in IN_PYTHON else C_SUFFIXES
    texts = {
        os.path.relpath(path, folder): read_text(path).removeprefix(BOM_UTF8).decode("latin-1")
        for path in files
        if os.path.splitext(path)[1].lower() in suffixes
    }
    manifests = read_manifests(folder, files, texts.values())
    if kind == OPENMV:
        manifests = manifests._replace(libraries=(Named("", "openmv", "ml.Model() or tf.load()"),))
    elif kind == MICROPYTHON:
        manifests = manifests._replace(libraries=(Named("", "microlite", "import microlite"),))
    return files, texts, manifests


def answer_wake_word(
    manifest: WakeWord | None, args: argparse.Namespace, model_name: str | None, device: EspHome | None = None
) -> ProjectAnswer:
    """Return the answer about the manifest of a wake word of ESPHome.

    Args:
        manifest: It; None where a device's configuration has none beside it.
        args: The options of ``check``.
        model_name: The model, where the user names it; None for that beside the manifest.
        device: The configuration that names it, None for a manifest alone.
    """
    path = manifest.path if manifest is not None else "" if device is None else device.path
    kind = KIND_OF_WAKE_WORD if device is None else KIND_OF_ESPHOME
    named = () if device is None or args.board or args.target else device.boards
    board = next((one for one in named if known_board(one)), None)
    args.board = args.board or board
    open_library = None if args.library else Named("", "esphome", "")
    args.library = args.library or "esphome"  # Changed, as if they had been typed.
    args.target = args.target or (None if args.board else "esp32-s3")
    args.variable_arena = args.variable_arena or "1024"
    args.resource_variables = 20 if args.resource_variables is None else args.resource_variables
    config = options.configuration(args)
    asked: list[str] = []
    name = model_name or ("" if manifest is None else manifest.model)
    model = load(name) if name else None
    if model is None and manifest is not None:
        asked.append(f"the model: tflm-sim check {path} MODEL")
    if device is not None:
        asked += [f"the wake word {one}: give its manifest, tflm-sim check {_file_of(one)}" for one in device.missing]
        asked += [f"{one}: what it says was not read" for one in device.notes]
        if named and board is None:
            asked.append(f"the board (--board): {', '.join(device.boards)} is not known here")
    size = None if manifest is None else manifest.arena
    limit = as_limit(args.limit, "limit") if args.limit is not None else size
    if limit is None and manifest is not None:
        asked.append("the arena's size (tensor_arena_size, or --limit)")
    verdict = _judged(path, model, config, limit, args, None)
    place = os.path.basename(path)
    text, changed = "" if manifest is None else manifest.text, {}
    if (
        manifest is not None
        and manifest.end
        and args.limit is None
        and verdict.works is False
        and _is_too_small(verdict)
    ):
        changed[place] = f"{text[: manifest.start]}{verdict.needed}{text[manifest.end :]}"
    facts = ProjectFacts(
        kind=kind,
        folder=path,
        model="" if model is None else model.path or "",
        arena=None if size is None else Found(text="tensor_arena_size", place=place),
        arena_bytes=size,
        library=Found(text=find_library(args.library).label, place="--library esphome@VERSION names another"),
        board=None if board is None or device is None else Found(text=board, place=os.path.basename(device.path)),
        resolver=None,
        resolver_count=None,
        has_all_operators=False,
        registered=(),
        needed=(),
        missing=(),
        superfluous=(),
        asked=tuple(asked),
        patch=patch({place: text}, changed),
    )
    folder = os.path.dirname(path)
    whole = {os.path.join(folder, file): after for file, after in changed.items()}
    doubts = list(_open_versions(args, open_library, verdict))
    return ProjectAnswer(_with_operators(verdict, facts, doubts), config, args, whole)


def _file_of(wake_word: str) -> str:
    """Return what the manifest of a wake word is called that ESPHome downloads: "okay_nabu" is okay_nabu.json."""
    name = re.split(r"[/\\]", wake_word.partition("@")[0])[-1]
    return name if name.endswith(".json") else f"{name}.json"


def read_values(sources: Sources) -> Reading:
    """Return the values of the arena and of the resolver's N; what cannot be found is asked for."""
    asked: list[str] = []

    def only(found: Sequence[Constant], what: str) -> tuple[Constant | None, int | None]:
        values: dict[int, Constant] = {}
        for constant in found:
            try:
                values.setdefault(value(constant.text, constant.file, sources), constant)
            except NotFoundError as problem:
                asked.append(f"{what}: {problem} ({line_of(sources, constant)})")
        if len(values) == 1:
            ((size, constant),) = values.items()
            return constant, size
        if values:
            places = {size: line_of(sources, origin(one, sources) or one) for size, one in values.items()}
            rows = (f"{place} has {size:,}" for size, place in places.items())
            asked.append(f"{what}: there are several, {', '.join(rows)}")
        return None, None

    count, count_value = only(sources.counts, "the resolver's N")
    asked.clear()  # It is named by the line with the resolver only where it is known: the operators count.
    arena, arena_bytes = only(sources.arenas, "the arena's size (--limit)")
    if arena is None and all("is defined nowhere" in one for one in asked):  # A parameter, say; the array has a name.
        kept = [*asked]
        named = [size for name, size in sources.arrays.items() if "arena" in name.lower()]
        arena, arena_bytes = only(named, "the arena's size (--limit)")
        asked[:] = [] if arena is not None else kept or asked
    return Reading(arena, arena_bytes, count, count_value, tuple(call.method for call in sources.calls), tuple(asked))


def _found(constant: Constant | None, sources: Sources) -> Found | None:
    if constant is None:
        return None
    return Found(text=constant.text, place=line_of(sources, origin(constant, sources) or constant))


def _is_too_small(verdict: Verdict) -> bool:
    return verdict.smallest is not None and verdict.limit is not None and verdict.smallest > verdict.limit


def _with_manifests(
    args: argparse.Namespace, manifests: Manifests, doubts: list[Doubt]
) -> tuple[argparse.Namespace, Found | None, Found | None, Named | None]:
    """Return the options with what the project's files name, which library and board those name, and an open version.

    The options are changed themselves, as if they had been typed: whoever asks what was named is told so.
    """
    board = None if args.board or args.target else next(iter((*manifests.boards, *manifests.chips)), None)
    if board is not None and board.name:
        args.target = board.name
    elif board is not None:
        args.board = board.text
    library, open_library = None, None
    is_named = bool(args.library or args.runtime)
    for commit in () if is_named else manifests.runtimes:
        if _is_configurable(_with(args, runtime=commit.text)):
            args.runtime, library = commit.text, Named(commit.text, "tflite-micro", commit.place)
            break
    if not (args.library or args.runtime):
        named = next((one for one in manifests.libraries if one.text), next(iter(manifests.libraries), None))
        text = None if named is None else _usable(named, args)
        if named is not None and text is not None:
            args.library, library = text, named
            open_library = None if "@" in text else named
    for kernels in manifests.kernels if library is not None and library.name == "zephyr" and not args.kernels else ():
        if _is_configurable(_with(args, kernels=kernels.text)):
            args.kernels = kernels.text
            break
    if manifests.esp_nn and library is not None and not args.kernels and library.name == "esp-tflite-micro":
        args.kernels = f"esp_nn@{manifests.esp_nn}"
        if not _is_configurable(args):
            args.kernels = None
            doubts.append(Doubt(f"ESP-NN {manifests.esp_nn}, which is not modelled, asks for the same", settled_by=""))
    return (
        args,
        None if library is None else Found(text=f"{library.name} {library.text}".rstrip(), place=library.place),
        None if board is None else Found(text=board.text, place=board.place),
        open_library,
    )


def _usable(library: Named, args: argparse.Namespace) -> str | None:
    """Return the library as an option, with its version where that is one; None where it is not modelled here."""
    version = re.fullmatch(r"v?=*\s*(\d[\w.+-]*)", library.text)
    numbers = (version[1], f"v{version[1]}") if version else ()  # Zephyr's releases have a "v" in their names.
    names = (*(f"{library.name}@{number}" for number in numbers), library.name)
    return next((text for text in names if _is_configurable(_with(args, library=text))), None)


def _with(args: argparse.Namespace, **changed: str | None) -> argparse.Namespace:
    return argparse.Namespace(**{**vars(args), **changed})


def _is_configurable(args: argparse.Namespace) -> bool:
    try:
        options.configuration(args)
    except UsageError:
        return False
    return True


def _fits_otherwise(verdict: Verdict, others: Iterable[argparse.Namespace]) -> bool:
    """Return whether the answer is another one with some of these options."""
    if verdict.model is None or verdict.limit is None:
        return True
    tried: set[str] = set()
    for args in others:
        if not _is_configurable(args):
            continue
        config = options.configuration(args)
        if (key := baseline_key("", config)) in tried:
            continue
        tried.add(key)
        if judge(verdict.name, verdict.model, config, Room(verdict.limit, None)).works is not verdict.works:
            return True
    return False


def _open_versions(args: argparse.Namespace, library: Named | None, verdict: Verdict) -> Iterator[Doubt]:
    """Yield a doubt where the library's version is open; each that it can be, of those that are modelled, is tried.

    Those that are not modelled are a doubt where the model is refused, whatever the arena: that is a version's choice.
    """
    if library is None:
        return
    all_rows = [row for row in libraries_like(library.name) if row.name == library.name]
    rows = [row for row in all_rows if row.is_modelled]
    least = re.fullmatch(r"[\^~>= v]*(\d{1,9})\.(\d{1,9})[\d.]*", library.text)
    if least is not None and library.text[0] in "^~":
        first = (int(least[1]), int(least[2]))
        of_range = [row for row in rows if row.version.startswith(f"{least[1]}.") and _numbers(row.version) >= first]
        rows = of_range or rows
    is_refused = verdict.works is False and not _is_too_small(verdict)
    can_turn = (is_refused and rows != all_rows) or _fits_otherwise(
        verdict, (_with(args, library=row.label) for row in rows)
    )
    wanted = f"{library.name} {library.text}".rstrip()
    yield Doubt(f"{wanted} asks for the same as {find_library(library.name).label}", can_turn=can_turn, settled_by="")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d{1,9}", version))


def _open_boards(args: argparse.Namespace, config: Configuration, verdict: Verdict) -> Iterator[Doubt]:
    """Yield a doubt where the board is open; those on which people use the library are tried."""
    if args.board or args.target:
        return
    name = (args.library or "").partition("@")[0]
    rows = [row for each in described_boards() if (row := known_board(each)) is not None]
    boards = [row.name for row in rows if any(one.partition("@")[0] == name for one in row.libraries)]
    can_turn = _fits_otherwise(verdict, (_with(args, board=each) for each in boards))
    yield Doubt(f"its target is {config.target.name}", can_turn=can_turn, settled_by="")


def _libraries_of_a_header(texts: dict[str, str]) -> tuple[str, ...]:
    """Return the libraries of a header that several have, where the sources include one."""
    several = {name: tuple(row.split()) for name, row in HEADERS.items() if " " in row}
    found = (name for name in several if any(f"<{name}>" in text or f'"{name}"' in text for text in texts.values()))
    return next((several[name] for name in found), ())


def _model(name: str | None, files: Sequence[str], sources: Sources, asked: list[str]) -> Model | None:
    """Return the model that the user names, or that of the sources; None where it is not known which."""
    if name is not None:
        return load(name)
    found_rows = list(_models(files))
    loaded = {one.text for one in sources.models}
    named = [row for row in found_rows if os.path.basename(row.label).rpartition(":")[2] in loaded]
    rows = list({row.data: row for row in reversed([*named, *found_rows])}.values())[::-1]
    beside = [os.path.dirname(one.file) for one in sources.models]
    near = [row for row in named if any(os.path.dirname(row.label).endswith(place) for place in beside)]
    for chosen in (named, near):
        if len({row.data for row in chosen}) == 1:
            rows = chosen[:1]
    elsewhere = [] if named else [name for name in sorted(loaded) if _is_elsewhere(name, sources)]
    if len(rows) == 1 and not elsewhere:
        return parse(rows[0].data, path=rows[0].label)
    found = f", one of {', '.join(row.label for row in rows[:6])}" if rows else ""
    found = f": no file of the project has the array {elsewhere[0]}" if elsewhere else found
    asked.append(f"the model (tflm-sim check FOLDER MODEL){found}")
    return None


def _is_elsewhere(name: str, sources: Sources) -> bool:
    """Return whether GetModel() is given an array of another file: no source declares a variable of that name."""
    given = re.compile(rf"\bGetModel\s*\(\s*&?{re.escape(name)}\s*\)")
    variable = re.compile(rf"[\w>*&]\s+[*&]*{re.escape(name)}\s*[=;,){{\[]")
    is_given = name.isidentifier() and any(given.search(text) for text in sources.texts.values())
    return is_given and not any(variable.search(text) for text in sources.texts.values())


def _array(model: Model | None) -> str:
    """Return the name of the array that a model is in a source, "" for any other model."""
    return "" if model is None else (model.path or "").rpartition(":")[2]


def _models(files: Sequence[str]) -> Iterator[Input]:
    for path in files:
        suffix = os.path.splitext(path)[1].lower()
        if suffix not in MODEL_SUFFIXES or suffix == ".zip":
            continue
        try:
            yield from unpack(path, read_text(path)) if suffix in C_SUFFIXES else read_inputs(path)
        except (ModelError, UsageError):
            continue


def _judged(
    name: str,
    model: Model | None,
    config: Configuration,
    limit: int | None,
    args: argparse.Namespace,
    sources: Sources | None,
) -> Verdict:
    """Return the verdict on the arena alone; where the model or the arena is not known it cannot be told."""
    key = baseline_key(name, config)
    board = known_board(args.board) if args.board else None
    if model is None:
        return Verdict(name, key, None, limit, None, reason="the model was not found", board=board)
    if limit is None:
        simulation = options.simulated(model, config)
        if simulation.smallest is not None and simulation.invoke_problem is None:
            needed, smallest = simulation.smallest.multiple_of_16, simulation.smallest.size
            reason = f"the arena's size was not found; {format_size(needed)} are needed"
            return Verdict(name, key, needed, None, None, None, reason, model=model, board=board, smallest=smallest)
        limit = 0
    is_outside = sources is not None and any(_OUTSIDE.search(text) for text in sources.texts.values())
    room = Room(limit, board)
    if board is not None and limit and not is_outside:
        try:
            room = room_on(args.board, limit=limit, ram_free=None, has_external_ram=False)
        except UsageError as problem:
            found = judge(name, model, config, Room(limit, None), simulate=options.simulated)
            return replace(found, works=False, reason=str(problem), board=board)
    return judge(name, model, config, room, simulate=options.simulated)


def _memory_reasons(verdict: Verdict, manifests: Manifests, sources: Sources, array: str) -> list[str]:
    """Return where the project gives less memory than the arena or the model has: a "no", whatever else is open."""
    reasons = []
    is_outside = any(_OUTSIDE.search(text) for text in sources.texts.values())
    regions = [(int(one.text), one) for one in manifests.ram]
    if regions and verdict.limit is not None and not is_outside:
        size, region = max(regions, key=lambda row: row[0])
        if verdict.limit > size:
            reasons.append(
                f"the arena has {format_size(verdict.limit)}, {region.name} {format_size(size)} ({region.place})"
            )
    sizes = [int(one.text) for one in manifests.partitions]
    if sizes and array and verdict.model is not None and len(verdict.model.source) >= max(sizes):
        place = manifests.partitions[0].place
        model = format_size(len(verdict.model.source))
        reasons.append(f"the model alone has {model}, the partition of the program {format_size(max(sizes))} ({place})")
    if "sdkconfig" in manifests.files and _asks_for_psram(sources) and not _has_psram(manifests):
        reasons.append("MALLOC_CAP_SPIRAM gets no memory, as sdkconfig does not set CONFIG_SPIRAM")
    return reasons


def _psram(manifests: Manifests, sources: Sources) -> Iterator[Doubt]:
    """Yield a doubt where the sources want PSRAM and nothing says that the build has it."""
    is_open = "sdkconfig.defaults" in manifests.files and "sdkconfig" not in manifests.files
    if is_open and _asks_for_psram(sources) and not _has_psram(manifests):
        yield Doubt("its build has PSRAM (CONFIG_SPIRAM)", settled_by="")


def _asks_for_psram(sources: Sources) -> bool:
    return any("MALLOC_CAP_SPIRAM" in text or "ps_malloc" in text for text in sources.texts.values())


def _has_psram(manifests: Manifests) -> bool:
    return any(name in manifests.macros for name in _PSRAM_SETTINGS)


def _open_macros(
    sources: Sources, manifests: Manifests, reading: Reading, verdict: Verdict, array: str
) -> Iterator[Doubt]:
    """Yield a doubt for each macro that nobody defined and with which the sources say something else."""
    names = [name for name in sorted(sources.undecided) if name.isidentifier()][:MAX_OPEN_MACROS]
    for name in names:
        other = read_values(of_model(read_sources(sources.texts, {**manifests.macros, name: "1"}), array))
        if other.arena_bytes is None or (other.arena_bytes, other.accepted) == (reading.arena_bytes, reading.accepted):
            continue
        size = other.arena_bytes
        can_turn = other.accepted != reading.accepted or (
            verdict.smallest is not None and (verdict.smallest <= size) is not verdict.works
        )
        said = f", with which the arena has {format_size(size)}" if size != reading.arena_bytes else ""
        yield Doubt(f"{name} is not defined{said}", can_turn=can_turn, settled_by="")


def _is_aligned(sources: Sources) -> bool:
    """Return whether the sources align something to 16 bytes or more; what that is, is not told apart."""
    return any(_ALIGNED.search(text) for text in sources.texts.values())


def _alignment(sources: Sources, reading: Reading, verdict: Verdict, args: argparse.Namespace) -> Iterator[Doubt]:
    """Yield a doubt where nothing says that the arena begins at a multiple of 16: TFLM skips the bytes before one."""
    if reading.arena is None or args.arena_address is not None or not verdict.works:
        return
    if _is_aligned(sources):
        return
    spare = (verdict.limit or 0) - (verdict.smallest or 0)
    can_turn = spare < BUFFER_ALIGNMENT - 1
    yield Doubt("the arena begins at a multiple of 16 (alignas(16))", can_turn=can_turn, settled_by="")


def _with_operators(verdict: Verdict, facts: ProjectFacts, doubts: Sequence[Doubt]) -> Verdict:
    """Return the verdict with what the resolver says: an operator that is missing is a "no", whatever else is open."""
    parts = {**verdict.parts, "project": facts}
    if not facts.missing:
        return replace(verdict, parts=parts, doubts=(*verdict.doubts, *doubts))
    late = [one for one in facts.missing if one in facts.registered]
    words = [one for one in facts.missing if one not in late]
    reasons = [f"the resolver registers no {', '.join(name.removeprefix('Add') for name in words)}"] if words else []
    if late:
        room = f"MicroMutableOpResolver<{facts.resolver_count}> has no room for {', '.join(late)}"
        reasons.append(f"{room}: N must be {len(facts.needed)}")
    if verdict.works is False:
        reasons.append(verdict.reason)
    return replace(verdict, works=False, reason="; ".join(reasons), parts=parts, doubts=())
