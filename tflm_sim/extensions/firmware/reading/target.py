"""A :class:`Target` out of what a firmware says: what proves each part of it, and what had to be assumed.

    part         proved by                                         else
    -----------  ------------------------------------------------  --------------------------------------------
    ABI          header and attributes; the size of enums in       --target, or short and int enums both
                 debug information or of TfLiteTensor in code
    structs      debug information                                 the tables of the snapshot
    snapshot     sizes, messages and functions, see snapshot.py    --runtime, --library, or every snapshot that is left
    kernels      TFLM's source files in the debug information or   --kernels, or the library's
                 in messages, or functions that TFLM calls
    interpreter  the functions that are linked, or called          --interpreter, or both

What is proved goes before what is named; a name that contradicts a proof is refused. What a file leaves open in a few
ways is an alternative each; what it does not tell at all is a :class:`Condition` of the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.extensions.firmware.reading.firmware import Firmware
from tflm_sim.extensions.firmware.reading.grounds import Condition, Ground
from tflm_sim.extensions.firmware.reading.kernel_proof import LIBRARY_NAMES, file_name, linked_kernels, usual_kernels
from tflm_sim.extensions.firmware.reading.set_up import InterpreterCall
from tflm_sim.extensions.firmware.reading.snapshot import (
    Snapshots,
    StructMismatch,
    commit_at,
    esp_runtimes,
    find_snapshots,
)
from tflm_sim.targets.abi import AAPCS, ILP32, Abi
from tflm_sim.targets.kernel_library import VERSIONS, KernelLibrary, versions_of
from tflm_sim.targets.libraries import find_library
from tflm_sim.targets.library import Library
from tflm_sim.targets.presets import at_runtime, preset, refuse_impossible_build
from tflm_sim.targets.reference import WHEEL_SNAPSHOT
from tflm_sim.targets.runtime import Runtime
from tflm_sim.targets.structs import MeasuredStruct, layouts
from tflm_sim.targets.target import Target

_MAX_TEXT_CHARACTERS = 60
_AS_NAMED = "as named"
INTERPRETERS = ("plain", "recording")
_TENSOR = "TfLiteTensor"


@dataclass(frozen=True, slots=True)
class FirmwareTarget:
    """The target of a firmware, and how each part of it is known.

    Attributes:
        target: The target.
        alternatives: It and the others that the file leaves possible, the newest TFLM first.
        grounds: Why it is that one, part by part.
        mismatches: Structs whose measured size no table has.
        conditions: What every answer takes for granted.
    """

    target: Target
    alternatives: tuple[Target, ...]
    grounds: tuple[Ground, ...]
    mismatches: tuple[StructMismatch, ...] = ()
    conditions: tuple[Condition, ...] = ()

    @property
    def assumptions(self) -> tuple[Ground, ...]:
        """What was assumed, because neither the file nor the user says it."""
        return tuple(ground for ground in self.grounds if not ground.is_known)


def firmware_target(
    firmware: Firmware,
    *,
    named: str | None = None,
    kernels: str | None = None,
    runtime: str | None = None,
    library: str | None = None,
    interpreter: str | None = None,
) -> FirmwareTarget:
    """Return the target that a firmware was built for.

    Args:
        firmware: What its file says.
        named: A preset, for what the file does not say.
        kernels: ``--kernels``, likewise.
        runtime: ``--runtime``, likewise.
        library: ``--library``, which says TFLM and kernels, and the machine of a file that does not.
        interpreter: "plain" or "recording", likewise.

    Raises:
        FirmwareError: Something has to be named that the file does not say, or what it says is not modelled.
        UsageError: What is named contradicts the file, or there is no such thing.
    """
    build_of = _modelled(library, runtime)
    runtime = build_of.label if build_of else runtime
    base = _usual_machine(firmware, build_of) if named is None else preset(named)
    abis, abi_ground = _abis(firmware, base)
    linked, library_ground = linked_kernels(firmware, base, usual_kernels(firmware, build_of, kernels))
    recordings, interpreter_ground = _interpreters(firmware, interpreter)
    measured = _measured(firmware)
    named_runtime = Runtime() if base is None or library is not None else base.runtime
    target = _machine(firmware, abis[0], named_runtime, linked)
    snapshots = find_snapshots(
        measured, abis[0], firmware.dated_texts, firmware.absent_checks, compression=firmware.has_compression
    )
    runtimes, rules = _alternatives(target, snapshots, base, runtime)
    library_ground = replace(library_ground, value=str(runtimes[0].kernel_library))
    alternatives = tuple(
        replace(one, abi=abi, interpreter=recording)
        for each, abi, recording in product(runtimes, abis, recordings)
        for one in _for_purposes(firmware, each)
    )
    build = _build(firmware, alternatives[0])
    grounds = (abi_ground, _structs(measured), rules, build, library_ground, interpreter_ground)
    conditions = tuple(_conditions(firmware, alternatives[0], grounds, is_named="@" in (kernels or "")))
    return FirmwareTarget(alternatives[0], alternatives, grounds, snapshots.mismatches, conditions)


def _machine(firmware: Firmware, abi: Abi, runtime: Runtime, library: KernelLibrary) -> Target:
    return Target(
        name=file_name(firmware),
        abi=abi,
        runtime=runtime,
        kernel_library=library,
        description=firmware.processor.description if firmware.processor else "",
        measured=_measured(firmware),
        ethos_u="ethos-u" in (firmware.operators or ()),
    )


def _measured(firmware: Firmware) -> tuple[MeasuredStruct, ...]:
    return tuple(firmware.debug.structs.values()) if firmware.debug else ()


def _for_purposes(firmware: Firmware, target: Target) -> Iterator[Target]:
    """Yield the target with its kernels optimized for each purpose that the file leaves open."""
    for purpose in _purposes(firmware, target):
        yield replace(target, runtime=replace(target.runtime, optimize_kernels_for=purpose))


def _purposes(firmware: Firmware, target: Target) -> tuple[str, ...]:
    """Return what the kernels can be optimized for: speed, size, or both where the file does not say."""
    library = target.kernel_library
    if library.name != "cmsis_nn" or not target.runtime.has("cmsis_for_size"):
        return ("speed",)
    if firmware.keeps_kernel_sums is not None:
        return ("speed",) if firmware.keeps_kernel_sums else ("size",)
    return ("size",) if target.runtime.kernels_for_size else ("speed", "size")


def _conditions(
    firmware: Firmware, target: Target, grounds: tuple[Ground, ...], *, is_named: bool
) -> Iterator[Condition]:
    """Yield the assumptions of an answer; what the user named is none."""
    by_part = {ground.part: ground for ground in grounds}
    if not target.measured:
        yield Condition("TFLM's structs are unchanged")
        if firmware.set_up.tensor_enums is None:
            loose = replace(target, runtime=replace(target.runtime, static_memory=False))
            yield Condition("TF_LITE_STATIC_MEMORY is defined", (loose,) if target.runtime.static_memory else ())
    if not by_part["TFLM"].is_known:
        yield Condition(f"TFLM is {target.runtime.snapshot}")
    if not by_part["kernels"].is_known:
        yield Condition(f"it links {target.kernel_library}")
    if (by_part["interpreter"].value, by_part["interpreter"].is_known) == ("plain", False):
        # The linker leaves out the function that prints those texts where nobody calls it.
        yield Condition("it makes no RecordingMicroInterpreter", (replace(target, interpreter="recording"),))
    others = tuple(_other_versions(target))
    if others and not is_named:
        text = f"{LIBRARY_NAMES[target.kernel_library.name]} is {target.kernel_library.version}"
        # What releases that are not modelled would need there is no telling.
        yield Condition(text, () if target.newer_kernels else others)


def _other_versions(target: Target) -> Iterator[Target]:
    """Yield the target with each other version of its kernel library that its TFLM can be built with."""
    library = target.kernel_library
    for version in versions_of(library.name, library.variant) if library.name in VERSIONS else ():
        other = replace(library, version=version)
        try:
            refuse_impossible_build(other, target.runtime)
        except UsageError:
            continue
        if other != library:
            yield replace(target, kernel_library=other)


def _modelled(text: str | None, runtime: str | None) -> Library | None:
    """Return the library that ``--library`` names, None where it is not said.

    Raises:
        UsageError: There is none, or it is not modelled; or ``--runtime`` is said too.
    """
    if text is None:
        return None
    if runtime is not None:
        raise UsageError("`library=` already selects the version of TFLM; remove `runtime=`")
    row = find_library(text)
    row.runtime()
    return row


def _usual_machine(firmware: Firmware, library: Library | None) -> Target | None:
    """Return what a library usually runs on, unless the file says that it is something else."""
    if library is None:
        return None
    machine = preset(library.target)
    return machine if _proved_abi(firmware)[0] in (None, machine.abi) else None


def _proved_abi(firmware: Firmware) -> tuple[Abi | None, str]:
    """Return the ABI that the file proves, and what proves it; or what is missing."""
    known = firmware.processor
    abi, grounds = None, f"a file of the format '{firmware.image.format}' does not say its processor"
    if known is not None:
        abi, grounds = known.abi, known.grounds
    if known is not None and known.hint:
        enum_size = firmware.debug.enum_size if firmware.debug else None
        has_short_enums = firmware.set_up.tensor_enums
        if enum_size is not None:
            return AAPCS if enum_size == 1 else ILP32, f"TfLiteType takes {enum_size} B in the debug information"
        if has_short_enums is not None:
            return AAPCS if has_short_enums else ILP32, "the size of TfLiteTensor in TFLM's code"
    return abi, grounds


def _abis(firmware: Firmware, base: Target | None) -> tuple[tuple[Abi, ...], Ground]:
    abi, grounds = _proved_abi(firmware)
    if abi is None:
        if base is not None:
            return (base.abi,), Ground("ABI", base.abi.name, f"as named; {grounds}", "named")
        if firmware.processor is None or not firmware.processor.hint:
            raise FirmwareError(f"{grounds}; name the machine with `target=`", path=firmware.image.path)
        likely = firmware.processor.hint
        other = ILP32 if likely == AAPCS else AAPCS
        return (likely, other), Ground("ABI", f"{likely.name} or {other.name}", grounds, "assumed")
    if base is not None and base.abi != abi:
        raise UsageError(
            f"`target={base.name}` has the ABI {base.abi.name}, {file_name(firmware)} has {abi.name} ({grounds}); "
            "remove `target=`"
        )
    enums = "short enums" if abi.short_enums else "int enums"
    return (abi,), Ground("ABI", f"{abi.name}, {abi.pointer_size * 8}-bit, {enums}", grounds, "measured")


def _structs(measured: tuple[MeasuredStruct, ...]) -> Ground:
    if measured:
        return Ground("structs", f"{len(measured)} measured", "debug information", "measured")
    return Ground("structs", "as in TFLM's sources", "no debug information of TFLM in the file", "assumed")


def _build(firmware: Firmware, target: Target) -> Ground:
    """Return the build flags that move memory or messages."""
    tensor = firmware.debug.structs.get(_TENSOR) if firmware.debug else None
    static_bytes = layouts(target.abi, Runtime())[_TENSOR].size
    is_static = target.runtime.static_memory if tensor is None else tensor.size == static_bytes
    flags = [
        "TF_LITE_STATIC_MEMORY" if is_static else "without TF_LITE_STATIC_MEMORY",
        "USE_TFLM_COMPRESSION" if target.runtime.compression else "without compression",
        "with messages" if firmware.prints_messages else "TF_LITE_STRIP_ERROR_STRINGS, or TFLM is not linked",
    ]
    why = "" if tensor is None else f"TfLiteTensor takes {tensor.size} B; "
    return Ground("build", ", ".join(flags), f"{why}messages in the image", "assumed" if tensor is None else "measured")


def _alternatives(
    target: Target, snapshots: Snapshots, base: Target | None, runtime: str | None
) -> tuple[tuple[Target, ...], Ground]:
    """Return the targets with each TFLM that is left, and why those.

    Raises:
        FirmwareError: None of them is modelled with these kernels.
        UsageError: There is no such TFLM.
    """
    if runtime is not None:
        return (at_runtime(target, runtime),), Ground("TFLM", runtime, _AS_NAMED, "named")
    if base is not None and base.runtime != Runtime():
        return (target,), Ground("TFLM", base.runtime.snapshot, f"as in {base.name}", "named")
    is_esp = target.kernel_library.name == "esp_nn"
    candidates = snapshots.runtimes
    if is_esp:
        # Its kernels come with a copy of TFLM of its own, of which none is newer than the counted commits.
        candidates = (Runtime(WHEEL_SNAPSHOT),) if snapshots.is_of_a_wheel else esp_runtimes()
    found, refusal = _modelled_with(target, snapshots, candidates)
    if not found:
        ground = _rules(snapshots)
        refusal = refusal or "the ESP-NN kernels of no release of esp-tflite-micro of that time are modelled"
        raise FirmwareError(f"TFLM {ground.value} ({ground.grounds}): {refusal}", path=target.name)
    return tuple(found), _with_releases(_rules(snapshots, refusal, is_esp=is_esp), found)


def _with_releases(ground: Ground, found: list[Target]) -> Ground:
    """Return what is known of the version, with the releases of a fork that fit; ``found`` begins with the newest."""
    releases = [target.runtime.snapshot for target in found if target.runtime.forks]
    if not releases:
        return ground
    span = releases[-1] if len(found) == 1 else f"{releases[-1]} to {releases[0]}"
    if not found[0].runtime.forks:
        span = f"{releases[-1]} and newer"
    return replace(ground, grounds=f"{span}: {ground.grounds}")


def _with_runtime(target: Target, runtime: Runtime) -> Target:
    """Return ``target`` with a TFLM of upstream's, as ``--runtime`` would, or with a named one."""
    if runtime.upstream is None:
        return replace(target, runtime=runtime)
    flags = Runtime(compression=runtime.compression, optimize_kernels_for=runtime.optimize_kernels_for)
    machine = replace(target, runtime=flags)
    return at_runtime(machine, runtime.snapshot)


def _modelled_with(target: Target, snapshots: Snapshots, candidates: tuple[Runtime, ...]) -> tuple[list[Target], str]:
    """Return the target with each candidate that fits, and the first reason why one cannot be simulated."""
    refusal, found = "", []
    for candidate in candidates:
        try:
            if candidate in snapshots.runtimes or snapshots.allow(candidate):
                found.append(_with_runtime(target, candidate))
        except UsageError as problem:
            refusal = refusal or str(problem)
    return found, refusal


def _rules(snapshots: Snapshots, refusal: str = "", *, is_esp: bool = False) -> Ground:
    """Return what is known of the version, and from what; ``refusal``: why a part of it is left out."""
    first, last = commit_at(snapshots.first), commit_at(snapshots.last)
    value = first if first == last else f"between {first} and {last}"
    reasons = [*_struct_grounds(snapshots), *_text_grounds(snapshots)]
    if refusal:
        reasons.append(f"left out: {refusal}")
    is_assumed = bool(snapshots.mismatches or refusal or (snapshots.is_mixed and not is_esp))
    return Ground("TFLM", value, "; ".join(reasons) or "nothing tells", "assumed" if is_assumed else "concluded")


def _struct_grounds(snapshots: Snapshots) -> Iterator[str]:
    """Yield what the sizes of structs say about the version."""
    if snapshots.mismatches:
        wrong = ", ".join(f"{struct} {size} B and not {ours}" for struct, size, ours in snapshots.mismatches[:4])
        more = f" and {len(snapshots.mismatches) - 4} more" if len(snapshots.mismatches) > 4 else ""
        yield f"the nearest: {wrong}{more}; the order of its allocations is assumed"
    elif snapshots.has_structs:
        yield "all structs have their sizes of then"


def _text_grounds(snapshots: Snapshots) -> Iterator[str]:
    """Yield what messages and checks say about the version."""
    if snapshots.came is not None:
        yield f"'{_short(snapshots.came.text)}' came with {commit_at(snapshots.came.first)}"
    if snapshots.went is not None:
        yield f"'{_short(snapshots.went.text)}' went with {commit_at(snapshots.went.end)}"
    for check in snapshots.lacks[:1]:
        span = f"{commit_at(check.first)} to {commit_at(check.end - 1)}"
        yield f"a check of kernels/{check.file}.cc that was there from {span} is not in the image"
    if snapshots.is_mixed:
        yield "older texts are left out, as a fork keeps them"


def _short(text: str) -> str:
    return text if len(text) <= _MAX_TEXT_CHARACTERS else text[: _MAX_TEXT_CHARACTERS - 1] + "…"


def _kind_of(call: InterpreterCall) -> str:
    """Return which interpreter a call makes, "" where its allocator is not known."""
    if call.allocator is None:
        return ""
    return "recording" if call.is_recording else "plain"


def _interpreters(firmware: Firmware, named: str | None) -> tuple[tuple[str, ...], Ground]:
    if named is not None:
        return (named,), Ground("interpreter", named, _AS_NAMED, "named")
    calls = firmware.set_up.interpreters
    kinds = {_kind_of(call) for call in calls}
    if len(kinds) == 1 and "" not in kinds:
        kind = kinds.pop()
        return (kind,), Ground("interpreter", kind, "the call that makes it", "concluded")
    if len(firmware.interpreters) == 1:
        why = "no" if firmware.interpreters == ("plain",) else "only the"
        grounds = f"{why} RecordingMicroAllocator is in the image"
        return firmware.interpreters, Ground("interpreter", firmware.interpreters[0], grounds, "concluded")
    if not firmware.interpreters and firmware.prints_messages:
        why = "no text of RecordingMicroAllocator is in the image"
        return ("plain",), Ground("interpreter", "plain", why, "assumed")
    why = "both are in the image" if firmware.interpreters else "no symbols tell"
    return firmware.interpreters or INTERPRETERS, Ground("interpreter", "plain or recording", why, "assumed")
