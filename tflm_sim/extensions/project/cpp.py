"""What C++ sources say about the arena, the resolver and the model, by tree-sitter and its grammar of C++.

Offsets are bytes of the file: a source is decoded as Latin-1, in which each byte is a character.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from tflm_sim.errors import ModelError, UsageError
from tflm_sim.extras import install_command
from tflm_sim.model.preprocess import blanked
from tflm_sim.model.schema import builtin_operator_name
from tflm_sim.ops.resolver import CUSTOM_METHODS, resolver_method

if TYPE_CHECKING:
    from tree_sitter import Node

_METHODS = frozenset({*(resolver_method(builtin_operator_name(code)) for code in range(207)), *CUSTOM_METHODS.values()})
_INTERPRETERS = frozenset({"MicroInterpreter", "RecordingMicroInterpreter"})
_SIZE_ARGUMENT = {**dict.fromkeys(_INTERPRETERS, 3), "modelInit": 2, "ModelInit": 2, "Create": 1}
"""Where the arena's size stands among the arguments of what takes an arena: TFLM's interpreter and
MicroAllocator::Create(), modelInit() of ArduTFLite, ModelInit() of MicroTFLite."""
_ARENA_OF_TEMPLATE = {"Sequential": 1, "TfLite": 2}
"""Eloquent::TF::Sequential<OPERATORS, ARENA> and Eloquent::TinyML::TfLite<INPUTS, OUTPUTS, ARENA>."""
_COUNT_OF_TEMPLATE = {"MicroMutableOpResolver": 0, "Sequential": 0}
_ALL_OPERATORS = frozenset({"AllOpsResolver", "modelInit", "ModelInit", "TfLite"})
"""What registers every operator of its TFLM."""
MAX_INCLUDES = 50
"""Files that include each other, one below the other."""
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\S.*)", re.MULTILINE)
_LONG_INITIALIZER = re.compile(r"\{[^{}]{2000,}\}")


class Constant(NamedTuple):
    """The text of a constant's value, and where it stands.

    Attributes:
        text: The expression.
        file: The file, "" for a macro of the build.
        start, end: Where it stands, in bytes (exclusive).
        is_macro: Whether it is the text of a macro.
        array: Of an arena's size: the array that is the arena; ``ITS_OWN`` where a class has the memory itself.
        parameter: Of an arena's size: "Init/1" where it is the second parameter of the function Init.
    """

    text: str
    file: str
    start: int
    end: int
    is_macro: bool = False
    array: str = ""
    parameter: str = ""


ITS_OWN = "*"


class AddCall(NamedTuple):
    """A call that registers an operator.

    Attributes:
        method: ``AddConv2D``; "AddCustom" with the operator's name behind it, in parentheses.
        file: The file.
        start, end: The statement that makes the call, bytes.
        name: Where the method's name and its arguments stand, bytes.
        is_whole: Whether the statement does nothing else: ``resolver.AddConv2D();`` or an ``if`` of its status.
    """

    method: str
    file: str
    start: int
    end: int
    name: tuple[int, int]
    is_whole: bool


@dataclass(slots=True)
class Sources:
    """What was read (mutable while it is read).

    Attributes:
        texts: By file, as it is.
        constants: By name, as often as it is defined.
        arrays: The text of the number of bytes of an array, by its name.
        arenas: The sizes of arenas.
        counts: The N of resolvers.
        calls: What registers operators, in order.
        models: What GetModel() and the like are given.
        has_all: Whether a resolver with every operator is used.
        undecided: What conditions ask for and nobody defined.
        given: What calls give a function, by its name: a list of arguments a call.
    """

    texts: dict[str, str] = field(default_factory=dict)
    constants: dict[str, list[Constant]] = field(default_factory=dict)
    arrays: dict[str, Constant] = field(default_factory=dict)
    arenas: list[Constant] = field(default_factory=list)
    counts: list[Constant] = field(default_factory=list)
    calls: list[AddCall] = field(default_factory=list)
    models: list[Constant] = field(default_factory=list)
    has_all: bool = False
    undecided: set[str] = field(default_factory=set)
    given: dict[str, list[list[Constant]]] = field(default_factory=dict)


def of_model(sources: Sources, array: str) -> Sources:
    """Return what the files say that load a model, where several load models; else everything."""
    files = {one.file for one in sources.models if one.text == array}
    if not files or files >= {one.file for one in sources.arenas}:
        return sources
    return replace(
        sources,
        arenas=[one for one in sources.arenas if one.file in files],
        counts=[one for one in sources.counts if one.file in files],
        calls=[one for one in sources.calls if one.file in files],
    )


def line_of(sources: Sources, place: Constant | AddCall) -> str:
    """Return "main.cpp:12"."""
    return f"{place.file}:{sources.texts[place.file].count(chr(10), 0, place.start) + 1}"


def parser() -> Callable[[bytes], Node]:
    """Return what parses C++.

    Raises:
        UsageError: tree-sitter is not installed.
    """
    try:
        import tree_sitter_cpp
        from tree_sitter import Language, Parser
    except ImportError as missing:
        raise UsageError(f"reading a project's sources needs: {install_command('project')}") from missing
    made = Parser(Language(tree_sitter_cpp.language()))
    return lambda data: made.parse(data).root_node


def read_sources(texts: Mapping[str, str], macros: Mapping[str, str]) -> Sources:
    """Return what the sources of a project say, compiled with some macros.

    Args:
        texts: By file, in Latin-1.
        macros: The macros of the build.
    """
    parse, sources = parser(), Sources(texts=dict(texts))
    compiled: dict[str, dict[str, str]] = {}

    def compile_file(file: str, depth: int = 0) -> dict[str, str]:
        """Read a file after the files that it includes; return the macros behind it."""
        if file in compiled:
            return compiled[file]
        compiled[file] = {}  # for headers that include each other
        known = dict(macros)
        for included in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', texts[file], re.MULTILINE):
            own = [other for other in texts if os.path.basename(other) == os.path.basename(included)]
            known |= compile_file(own[0], depth + 1) if own and depth < MAX_INCLUDES else {}
        before = dict(known)
        text = _LONG_INITIALIZER.sub(lambda found: "{" + " " * (len(found[0]) - 2) + "}", texts[file])
        try:
            left, known, undecided = blanked(text, known)
        except ModelError:  # An #if without an end; parsed as it stands, both branches are read.
            left, undecided = text, frozenset()
        sources.undecided |= undecided
        for found in _DEFINE.finditer(texts[file]):
            body = known.get(found[1], "")
            if body and found[2].startswith(body) and before.get(found[1]) != body:
                place = Constant(body, file, found.start(2), found.start(2) + len(body), is_macro=True)
                sources.constants.setdefault(found[1], []).append(place)
        _read_tree(sources, file, parse(left.encode("latin-1")))
        compiled[file] = known
        return known

    for name, body in macros.items():
        sources.constants[name] = [Constant(body, "", 0, 0, is_macro=True)]
    for file in texts:
        compile_file(file)
    sources.arenas = [given for arena in sources.arenas for given in _from_calls(arena, sources)]
    return sources


def _from_calls(arena: Constant, sources: Sources) -> list[Constant]:
    """Return what calls give for an arena's size that is a parameter of the function; any other as it is."""
    function, _, place = arena.parameter.partition("/")
    found = []
    for call in sources.given.get(function, ()) if function else ():
        before = _array_name(call[int(place) - 1].text) if 0 < int(place) < len(call) else ""
        array = before if before in sources.arrays else ITS_OWN
        found += [call[int(place)]._replace(array=array)] if int(place) < len(call) else []
    return found or [arena]


def _read_tree(sources: Sources, file: str, root: Node) -> None:
    readers: dict[str, Callable[[Sources, str, Node], None]] = {
        "init_declarator": _initialized,
        "field_declaration": _initialized,
        "enumerator": _initialized,
        "array_declarator": _array,
        "declaration": _declared,
        "new_expression": _constructed,
        "call_expression": _called,
        "template_type": _template,
        "template_function": _template,
        "type_identifier": _named_type,
    }
    for node in _nodes(root):
        if reader := readers.get(node.type):
            reader(sources, file, node)


def _nodes(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("latin-1")


def _constant(file: str, node: Node) -> Constant:
    return Constant(_text(node), file, node.start_byte, node.end_byte)


def _initialized(sources: Sources, file: str, node: Node) -> None:
    name = node.child_by_field_name("declarator") or node.child_by_field_name("name")
    value = node.child_by_field_name("value") or node.child_by_field_name("default_value")
    if name is None or value is None or name.type not in ("identifier", "field_identifier"):
        return
    if value.type == "initializer_list" and value.named_child_count == 1:
        value = value.named_children[0]
    if value.type in ("initializer_list", "string_literal", "argument_list", "lambda_expression"):
        return
    declaration = node if node.type != "init_declarator" else node.parent
    is_fixed = node.type == "enumerator" or re.match(r"(?:\w+\s+)*?(?:const|constexpr)\b", _text(declaration))
    if is_fixed:
        sources.constants.setdefault(_text(name), []).append(_constant(file, value))


def _array(sources: Sources, file: str, node: Node) -> None:
    name, size = node.child_by_field_name("declarator"), node.child_by_field_name("size")
    if name is not None and size is not None:
        sources.arrays[_text(name)] = _constant(file, size)


def _declared(sources: Sources, file: str, node: Node) -> None:
    """Read ``MicroInterpreter name(...)``, which without a call among its arguments looks like a function."""
    kind = _text(node.child_by_field_name("type")).split("::")[-1]
    declarator = node.child_by_field_name("declarator")
    if kind in _INTERPRETERS and declarator is not None:
        inner = declarator.child_by_field_name("parameters") or declarator.child_by_field_name("value")
        _arena(sources, file, kind, inner)


def _constructed(sources: Sources, file: str, node: Node) -> None:
    kind = _text(node.child_by_field_name("type")).split("::")[-1]
    _arena(sources, file, kind, node.child_by_field_name("arguments"))
    _note_given(sources, file, kind, node.child_by_field_name("arguments"))


def _note_given(sources: Sources, file: str, name: str, arguments: Node | None) -> None:
    given = [] if arguments is None else arguments.named_children
    if given and name.isidentifier():
        sources.given.setdefault(name, []).append([_constant(file, one) for one in given])


def _arena(sources: Sources, file: str, kind: str, arguments: Node | None) -> None:
    given = [] if arguments is None else arguments.named_children
    place = _SIZE_ARGUMENT.get(kind)
    if place is not None and len(given) > place:
        size = _constant(file, given[place])._replace(array=_array_name(_text(given[place - 1])))
        sources.arenas.append(size._replace(parameter=_parameter(given[place])))


def _array_name(text: str) -> str:
    """Return the name of the array that an argument is: "arena", "&app::arena[0]"; "" for anything else."""
    found = re.fullmatch(r"&?(?:\w+::)*(\w+)(?:\[0\])?", text)
    return found[1] if found else ""


def _parameter(node: Node) -> str:
    """Return the function and the place of the parameter that a node is, or that a member of its class was given."""
    name = re.fullmatch(r"(this->)?(\w+)", _text(node))
    inside: Node | None = node
    while inside is not None and inside.type != "function_definition":
        inside = inside.parent
    if name is None or inside is None:
        return ""
    functions = [inside]
    if name[1] or name[2] not in _parameters(inside):
        root = inside
        while root.parent is not None:
            root = root.parent
        functions = [one for one in _nodes(root) if one.type == "function_definition"]
    for function in functions:
        names = _parameters(function)
        member = next(
            (
                _text(one.named_children[-1]).strip("(){} ")
                for one in (_nodes(function) if function is not inside else ())
                if one.type == "field_initializer" and _text(one.named_children[0]) == name[2]
            ),
            name[2] if function is inside and not name[1] else "",
        )
        if member in names:
            called = _text(function.child_by_field_name("declarator")).partition("(")[0].split("::")[-1].strip("*& ")
            return f"{called}/{names.index(member)}"
    return ""


def _parameters(function: Node) -> list[str]:
    declarator = function.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    listed = None if declarator is None else declarator.child_by_field_name("parameters")
    rows = [] if listed is None else [one for one in listed.named_children if one.type.endswith("declaration")]
    return [re.split(r"[\s*&]+", _text(one.child_by_field_name("declarator")))[-1] for one in rows]


def _called(sources: Sources, file: str, node: Node) -> None:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None:
        return
    whole = _text(function)
    name = re.split(r"::|\.|->", whole.partition("<")[0])[-1]
    given = arguments.named_children
    if name == "make_unique" and (made := re.search(r"<\s*(?:\w+::)*(\w+)", whole)):
        name = made[1]
    _note_given(sources, file, name, arguments)
    if name == "Create" and "MicroAllocator" not in whole:
        return
    if name in _SIZE_ARGUMENT:
        _arena(sources, file, name, arguments)
    if name in ("GetModel", "modelInit", "ModelInit", "begin") and given:
        sources.models.append(_constant(file, given[0])._replace(text=_text(given[0]).lstrip("&")))
    if name in _ALL_OPERATORS:
        sources.has_all = True
    if name in ("AddBuiltin", "AddCustom") and given:
        if name == "AddBuiltin":
            method = resolver_method(_text(given[0]).split("_", 1)[-1])
        else:
            method = f"AddCustom({_text(given[0]).strip(chr(34))})"
    elif name in _METHODS and function.type == "field_expression":
        method = name
    else:
        return
    statement = node
    while statement.parent is not None and not statement.type.endswith(("_statement", "declaration")):
        statement = statement.parent
    member = function.child_by_field_name("field") or function
    place = (member.start_byte, node.end_byte)
    is_whole = statement.type in ("expression_statement", "if_statement")
    sources.calls.append(AddCall(method, file, statement.start_byte, statement.end_byte, place, is_whole))


def _template(sources: Sources, file: str, node: Node) -> None:
    name, arguments = _text(node.child_by_field_name("name")), node.child_by_field_name("arguments")
    given = [] if arguments is None else arguments.named_children
    for places, found in ((_ARENA_OF_TEMPLATE, sources.arenas), (_COUNT_OF_TEMPLATE, sources.counts)):
        if name in places and len(given) > places[name]:
            found.append(_constant(file, given[places[name]])._replace(array=ITS_OWN))
    sources.has_all |= name in _ALL_OPERATORS and len(given) > 2


def _named_type(sources: Sources, file: str, node: Node) -> None:
    sources.has_all |= _text(node) == "AllOpsResolver"
