"""TFLM's names in a program's symbols and debug information, in every namespace in which TFLM stood.

    tflite::MicroInterpreter::Invoke()           _ZN6tflite16MicroInterpreter6InvokeEv
    tflite::micro::MicroInterpreter::Invoke()    _ZN6tflite5micro16MicroInterpreter6InvokeEv

    wheel of      commit     what moved into tflite::micro, until then in tflite
    2026-09-28    23953f1    kernels and their Register functions
    2026-10-02    3f787dc    structs and enums of C, which were in no namespace: TfLiteContext, TfLiteNode, TfLiteType
    2026-10-08    5328e0d    classes: MicroInterpreter, MicroAllocator, what allocates and plans for them, resolvers

The schema's classes (Model) and GetModel() stayed in ``tflite``, MicroPrintf() and DebugLog() in no namespace. None of
the names here means one thing in ``tflite`` and another in ``tflite::micro``, so each is accepted in both, and it does
not matter which of these versions a program, or a fork between them, has. The number of a repeated part (``S1_``)
depends on how many parts stand before it, so any is accepted.

A pattern is of a whole mangled name. Source: nm -D of _runtime.so in the pip wheels of those days.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TFLITE = "6tflite(?:5micro)?"
_REPEATED = "S[0-9A-Z]*_"
"""A namespace or a type that stood before in the same name."""


def _either(names: str) -> str:
    """Return a pattern of identifiers, each with its length before it: "MicroGraph|Other"."""
    return f"(?:{'|'.join(f'{len(name)}{name}' for name in names.split('|'))})"


def _function(classes: str, names: str, parameters: str = "v") -> str:
    """Return a pattern of functions of classes; ``parameters``: a pattern of their types, none by default."""
    return f"_ZN{_TFLITE}{_either(classes)}{_either(names)}E{parameters}"


def _type(name: str) -> str:
    """Return a pattern of a class or struct among the parameters of one of TFLM's functions."""
    return f"N{_REPEATED}{_either(name)}E"


COPY = r"(?:\..*)?"
"""Behind a name: what the compiler appends to that of a copy or a part, whose arguments may be others."""

_ALLOCATORS = "MicroAllocator|RecordingMicroAllocator"
_ARENA = "SingleArenaBufferAllocator|SimpleMemoryAllocator"
"""Its name, and until June 2022 its earlier one. Source: arena_allocator/single_arena_buffer_allocator.h @ 90b983c."""
_TAIL, _HEAD = f"PersistentArenaBufferAllocator|{_ARENA}", f"NonPersistentArenaBufferAllocator|{_ARENA}"
"""The allocators of two arenas that belong together, or that of one arena. Source: the files with their names there."""

ALLOCATE_TENSORS = _function("MicroInterpreter", "AllocateTensors")
INVOKE = _function("MicroInterpreter", "Invoke")
INVOKE_SUBGRAPH = _function("MicroInterpreterGraph|MicroGraph", "InvokeSubgraph", "i")
CONSTRUCTOR = rf"_ZN{_TFLITE}{_either('MicroInterpreter')}C[12]E(\w+)"
"""Of an interpreter; group 1: its parameters."""
GIVEN_ALLOCATOR = rf"PK{_type('Model')}RK{_type('MicroOpResolver')}P{_type('MicroAllocator')}.*"
"""The parameters of a constructor that is given an allocator."""
CONSTRUCTOR_GIVEN_ALLOCATOR = rf"_ZN{_TFLITE}{_either('MicroInterpreter')}C[12]E{GIVEN_ALLOCATOR}"
CREATE_ALLOCATOR = _function(_ALLOCATORS, "Create", r"(\w+)")
"""Group 1: its parameters."""
TWO_ARENAS = rf"Ph[jm](?:Ph|{_REPEATED})[jm].*"
"""The parameters where an allocator is given one arena for what stays, and another one."""
CREATE_PLAIN = _function("MicroAllocator", "Create", r"Ph\w*")
CREATE_RECORDING = _function("RecordingMicroAllocator", "Create", r"Ph\w*")
CREATE_IN_ARENA = _function(_ALLOCATORS, "Create", rf"(?!{TWO_ARENAS})Phj.*")
CREATE_IN_TWO_ARENAS = _function("MicroAllocator", "Create", TWO_ARENAS)
OWN_REQUEST = _function(_ALLOCATORS, "AllocatePersistentBuffer", "[jm]")
"""What a program can call to take memory of an allocator itself."""
MAKE_ARENA_ALLOCATOR = rf"_ZN{_TFLITE}{_either(_ARENA)}C[12]EPh[jm]"
MAKE_PLANNER = rf"_ZN{_TFLITE}{_either('GreedyMemoryPlanner|LinearMemoryPlanner')}C[12]Ev"
CREATE_ARENA = _function(_ARENA, "Create", ".*Phj")
WITH_REPORTER = _function(f"{_ALLOCATORS}|{_ARENA}", "Create", rf"P{_type('ErrorReporter')}Phj.*")
"""What makes an allocator, where it is given an ErrorReporter first, as it was until 2022."""
PERSISTENT = _function(_TAIL, "AllocatePersistentBuffer|AllocateFromTail", "jj")
TEMP = _function(_HEAD, "AllocateTemp", "jj")
TEMP_FREE = _function(_HEAD, "DeallocateTemp", "Ph")
TEMP_RESET = _function(_HEAD, "ResetTempAllocations")
RESIZE = _function(_HEAD, "ResizeBuffer", "Phjj")
RESIZE_FREE = _function(_HEAD, "DeallocateResizableBuffer", "Ph")
RESERVE = _function(_HEAD, "ReserveNonPersistentOverlayMemory", "jj")
START_MODEL = _function("MicroAllocator", "StartModelAllocation", rf"PK{_type('Model')}.*")
COMMIT_PLAN = _function("MicroAllocator", "CommitStaticMemoryPlan", ".*")
REQUEST_SCRATCH = _function("MicroAllocator", "RequestScratchBufferInArena", "ji.*")
"""With the bytes first, as since January 2021; before, the node came first."""
TENSOR_TAKERS = _function("MicroAllocator", "AllocatePersistentTfLiteTensorInternal|AllocateTempTfLiteTensor", ".*")
"""What takes memory for a TfLiteTensor."""
CREATE_VARIABLES = _function("MicroResourceVariables", "Create", r"\w+")
GET_MODEL = rf"_ZN{_TFLITE}8GetModelEPKv|_ZN11flatbuffers7GetRootIN{_TFLITE}5ModelE.*"
REPORT = _function("ErrorReporter", "Report", "PKcz")
ALLOCATOR_TABLE = f"_ZTVN{_TFLITE}{_either('MicroAllocator')}E"
"""The table of virtual functions of a MicroAllocator."""
RECORDING_TABLE = f"_ZTVN{_TFLITE}{_either('RecordingMicroAllocator')}E"
FIND_OPERATOR = r"_ZNK(?!6tflite).*6FindOpE\w*15BuiltinOperatorE?"
"""A resolver's function that looks for a builtin operator, of a class outside TFLM."""
PLANNER_OFFSET = r"_ZN(?!6tflite).*18GetOffsetForBufferE\w+"
"""The function of a memory planner outside TFLM that says where it put a buffer."""
SHARED = rf"_ZNK?{_TFLITE}\d+Micro\w+"
"""Functions of TFLM's classes, which other files call."""
_CONTEXT = rf"(?:13TfLiteContextP|N(?:{_TFLITE}|{_REPEATED})13TfLiteContextEPN{_REPEATED})"
OWN_KERNEL = rf"_Z(?!NK?6tflite(?!(?:5micro)?L\d)).*P{_CONTEXT}10TfLiteNodeE?"
"""Functions outside TFLM with the parameters of a Prepare. In its namespace its own are not static: they are in an
anonymous one, or for other files."""


class Move(NamedTuple):
    """Names that moved.

    Attributes:
        commit: Of the first pip wheel that has them where they stand now.
        before: What they were called, for people.
        now: What they are called now.
        is_before: A pattern in mangled names that have not moved, each in a line of its own.
        is_now: One in names that have.
    """

    commit: str
    before: str
    now: str
    is_before: str
    is_now: str


MOVES = (
    Move(
        "23953f1",
        "tflite::Register_",
        "tflite::micro::Register_",
        r"^_ZN6tflite\d+Register_[A-Z]",
        r"^_ZN6tflite5micro\d+Register_[A-Z]",
    ),
    Move(
        "3f787dc",
        "TfLiteContext",
        "tflite::micro::TfLiteContext",
        "P13TfLiteContext",
        f"N(?:6tflite5micro|{_REPEATED})13TfLiteContextE",
    ),
    Move(
        "5328e0d",
        "tflite::MicroInterpreter",
        "tflite::micro::MicroInterpreter",
        "^_ZN6tflite16MicroInterpreter",
        "^_ZN6tflite5micro16MicroInterpreter",
    ),
)
"""The oldest first."""

_OF_TFLM = ("_ZN6tflite", "_ZNK6tflite")
_SCOPE = re.compile("^tflite::(?:micro::)?")


def is_of_tflm(name: str) -> bool:
    """Whether a mangled name is that of a function of TFLM."""
    return name.startswith(_OF_TFLM)


def without_namespace(name: str) -> str:
    """Return a name as in debug information, ``tflite::micro::MicroAllocator``, without the namespace of TFLM."""
    return _SCOPE.sub("", name)
