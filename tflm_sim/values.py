"""``dataclass`` and ``NamedTuple`` as the standard library has them, for programs that run for a tenth of a second.

The library would add 57 ms of CPU time to the 115 ms of a cold ``tflm-sim size`` (the least of 40 starts each, in
turns, on a busy machine): it imports ``inspect``, ``typing``, and compiles six methods of every dataclass. Here only
``__init__`` is compiled, the other methods are shared, and annotations stay text. A class is complete once it is
defined, so that threads and tracers find it as any other. What ``dataclasses.fields`` and its like ask for is made by
the library itself when somebody asks. There is only what this package uses: ``frozen``, ``slots``, ``kw_only``,
``eq``, ``repr``, and of a field its default, ``init``, ``compare``, ``repr`` and ``metadata``.
"""

from __future__ import annotations

from collections import namedtuple
from operator import attrgetter

TYPE_CHECKING = False  # Not that of typing, which takes longer to import than a model to size.
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_ABSENT: Any = object()
_FIELDS = "_lazy_fields"


class _Field:
    """The settings of a dataclass field; ``name`` and ``type`` are set when its class is created."""

    __slots__ = ("compare", "default", "default_factory", "init", "kw_only", "metadata", "name", "repr", "type")

    def __init__(
        self,
        *,
        default: Any = _ABSENT,
        default_factory: Callable[[], Any] = _ABSENT,
        init: bool = True,
        compare: bool = True,
        repr: bool = True,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = self.type = ""
        self.kw_only = False
        self.default, self.default_factory = default, default_factory
        self.init, self.compare, self.repr, self.metadata = init, compare, repr, metadata


def _dataclass(
    cls: type | None = None,
    /,
    *,
    frozen: bool = False,
    slots: bool = False,
    kw_only: bool = False,
    eq: bool = True,
    repr: bool = True,
) -> Any:
    """Make a class a dataclass, as ``dataclasses.dataclass`` does."""

    def make(bare: type) -> Any:
        own = list(_own_fields(bare, kw_only))
        inherited = [field for field in getattr(bare, _FIELDS, ()) if field.name not in bare.__annotations__]
        fields = (*inherited, *own)
        members = _members(vars(bare), fields, frozen=frozen, slots=slots, eq=eq, repr=repr)
        made = _with_slots(bare, own, members) if slots else _with_defaults(bare, own, members)
        made.__init__ = _init(made, fields, frozen=frozen, slots=slots)
        return made

    return make if cls is None else make(cls)


def _own_fields(cls: type, kw_only: bool) -> Iterator[_Field]:
    for name, type_ in cls.__annotations__.items():
        if not str(type_).startswith("ClassVar"):
            given = cls.__dict__.get(name, _ABSENT)
            field = given if isinstance(given, _Field) else _Field(default=given)
            field.name, field.type, field.kw_only = name, type_, kw_only
            yield field


def _with_slots(cls: type, own: Sequence[_Field], members: dict[str, Any]) -> Any:
    """Return a copy of the class with slots, which cannot be added to an existing class."""
    names = tuple([field.name for field in own])
    left_out = {*names, "__dict__", "__weakref__"}
    kept = {name: value for name, value in vars(cls).items() if name not in left_out}
    kept |= {"__qualname__": cls.__qualname__, "__slots__": names, **members}
    return type(cls)(cls.__name__, cls.__bases__, kept)


def _with_defaults(cls: type, own: Sequence[_Field], members: dict[str, Any]) -> Any:
    for field in own:
        if field.default is not _ABSENT:
            setattr(cls, field.name, field.default)
        elif field.name in vars(cls):
            delattr(cls, field.name)
    for name, member in members.items():
        setattr(cls, name, member)
    return cls


def _members(
    own: Mapping[str, Any], fields: tuple[_Field, ...], *, frozen: bool, slots: bool, eq: bool, repr: bool
) -> dict[str, Any]:
    """Return the methods that a dataclass gets, except those that the class defines itself (``own``)."""
    members: dict[str, Any] = {
        _FIELDS: fields,
        "__match_args__": tuple([field.name for field in fields if field.init and not field.kw_only]),
        **_LIBRARY_ATTRIBUTES,
    }
    if repr and "__repr__" not in own:
        members["__repr__"] = _repr
    if eq and "__eq__" not in own:
        equal, hashed = _comparison([field.name for field in fields if field.compare])
        members["__eq__"] = equal
        if own.get("__hash__") is None:
            members["__hash__"] = hashed if frozen else None
    if frozen:
        members |= {"__setattr__": _refuse, "__delattr__": _refuse}
    if frozen and slots:
        members |= {"__getstate__": _state, "__setstate__": _set_state}
    return members


def _comparison(names: Sequence[str]) -> tuple[Callable[[Any, Any], Any], Callable[[Any], int]]:
    """Return ``__eq__`` and ``__hash__`` over fields."""
    compared = attrgetter(*names) if names else lambda self: ()

    def equal(self: Any, other: Any) -> Any:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    return equal, lambda self: hash(compared(self))


_SHOWN = 60
"""Characters of a field's value in :func:`short_repr`."""


def short_repr(self: Any) -> str:
    """Return a dataclass's value as one short line: a long field is shown as its type and number of elements.

    Classes with large fields use it as ``__repr__``.
    """
    shown = ", ".join(f"{field.name}={_brief(getattr(self, field.name))}" for field in _fields_of(self) if field.repr)
    return f"{type(self).__qualname__}({shown})"


def _brief(value: Any) -> str:
    kind = type(value).__name__
    if isinstance(value, str | bytes | tuple | list | dict) and len(value) > _SHOWN:
        return f"<{kind} of {len(value):,}>"
    text = repr(value)
    if len(text) <= _SHOWN and "\n" not in text:
        return text
    return f"<{kind} of {len(value):,}>" if hasattr(value, "__len__") else f"<{kind}>"


def _repr(self: Any) -> str:
    shown = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in _fields_of(self) if field.repr)
    return f"{type(self).__qualname__}({shown})"


def _refuse(self: object, name: str, value: object = None) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in _fields_of(self)]


def _set_state(self: Any, state: Sequence[Any]) -> None:
    for field, value in zip(_fields_of(self), state, strict=True):
        object.__setattr__(self, field.name, value)


def _fields_of(value: object) -> tuple[_Field, ...]:
    fields: tuple[_Field, ...] = getattr(value, _FIELDS)
    return fields


def _init(cls: Any, fields: Sequence[_Field], *, frozen: bool, slots: bool) -> Callable[..., None]:
    names: dict[str, Any] = {"_absent": _ABSENT, "_set": object.__setattr__}
    parameters, keywords, lines = ["self"], list[str](), list[str]()
    for field in fields:
        name, value, default = field.name, field.name, ""
        if field.default is not _ABSENT:
            names[f"_default_{name}"], default = field.default, f"=_default_{name}"
        elif field.default_factory is not _ABSENT:
            names[f"_make_{name}"], default = field.default_factory, "=_absent"
            value = f"_make_{name}() if {name} is _absent else {name}"
        if field.init:
            (keywords if field.kw_only else parameters).append(name + default)
        elif default:
            lines.append(f"{name} {default}")
        else:
            continue
        if frozen and slots:
            names[f"_set_{name}"] = getattr(cls, name).__set__
            lines.append(f"_set_{name}(self, {value})")
        else:
            lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if keywords:
        parameters += "*", *keywords
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"]), names)
    written: Callable[..., None] = names["__init__"]
    written.__qualname__ = f"{cls.__qualname__}.__init__"
    written.__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
    return written


_LIBRARY_CLASSES: dict[type, Any] = {}
"""What the library made of a class: each takes milliseconds."""


class _LibraryAttribute:
    """An attribute that functions of ``dataclasses`` read; it comes from a library dataclass with the same fields."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: Any) -> Any:
        if owner not in _LIBRARY_CLASSES:
            _LIBRARY_CLASSES[owner] = self._library_class(owner)
        return getattr(_LIBRARY_CLASSES[owner], self._name)

    @staticmethod
    def _library_class(owner: Any) -> Any:
        import dataclasses

        def given(field: _Field) -> dict[str, Any]:
            names = ("compare", "default", "default_factory", "init", "kw_only", "metadata", "repr")
            return {name: value for name in names if (value := getattr(field, name)) is not _ABSENT}

        rows = [(field.name, field.type, dataclasses.field(**given(field))) for field in _fields_of(owner)]
        return dataclasses.make_dataclass(owner.__name__, rows, frozen=owner.__setattr__ is _refuse)


_LIBRARY_ATTRIBUTES = {name: _LibraryAttribute(name) for name in ("__dataclass_fields__", "__dataclass_params__")}


def _replace(value: Any, /, **changes: Any) -> Any:
    """Return a value with some fields changed; as ``dataclasses.replace``."""
    fields = [field.name for field in _fields_of(value) if field.init]
    kept = {name: getattr(value, name) for name in fields if name not in changes}
    return type(value)(**kept, **changes)


class _Rows(type):
    """Makes named tuples of the classes that derive from :class:`_NamedTuple`."""

    def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(cls, name, bases, members)
        fields = tuple(members.get("__annotations__", ()))
        defaults = [members.pop(field) for field in fields if field in members]
        row: Any = namedtuple(name, fields, defaults=defaults, module=members["__module__"])  # type: ignore[misc]
        for member, value in members.items():
            setattr(row, member, value)
        return row


class _NamedTuple(metaclass=_Rows):
    """What ``typing.NamedTuple`` is to a class."""


class _Protocol:
    """A ``typing.Protocol`` that is only used in annotations, never in ``isinstance``."""


def _cast(kind: object, value: Any) -> Any:
    """Return the value; as ``typing.cast``."""
    return value


class _TypedDict(dict):  # type: ignore[type-arg]
    """A ``typing.TypedDict`` that is only used in annotations."""

    def __init_subclass__(cls, *, total: bool = True) -> None:
        """Accept ``total`` and do nothing."""


if TYPE_CHECKING:  # a type checker sees the standard library's
    from dataclasses import dataclass, field, replace
    from typing import Any, NamedTuple, NoReturn, Protocol, Self, TypeAlias, TypedDict, Unpack, cast
else:
    Any = NoReturn = Self = TypeAlias = Unpack = None  # annotations are never evaluated
    dataclass, field, replace, NamedTuple = _dataclass, _Field, _replace, _NamedTuple
    Protocol, TypedDict, cast = _Protocol, _TypedDict, _cast

__all__ = [
    "TYPE_CHECKING",
    "Any",
    "NamedTuple",
    "NoReturn",
    "Protocol",
    "Self",
    "TypeAlias",
    "TypedDict",
    "Unpack",
    "cast",
    "dataclass",
    "field",
    "replace",
    "short_repr",
]
