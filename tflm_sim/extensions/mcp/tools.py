"""The tools that an assistant sees: a table of verbs and of the options that it may give.

Each tool is a verb of the command line with ``--json``, so that an assistant gets the same judgement as a person and a
CI job. What is not in the table cannot be asked for: above all ``--custom-ops``, which runs a Python file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from importlib.resources import files
from typing import Any, NamedTuple

from tflm_sim.errors import UsageError


class Taken(Enum):
    """What the value of a parameter is."""

    MODEL = "a path of a model below one of the server's folders, or sample:NAME"
    FILE = "a path below one of the server's folders"
    OUTPUT = "a path below one of the folders in which the server may write"
    TEXT = "a text"
    WHOLE = "a whole number"
    INPUT = "a text that the verb reads from its standard input"


JSON_TYPES = {Taken.WHOLE: "integer"}
"""What is not listed is a string."""


class Parameter(NamedTuple):
    """A parameter of a tool.

    Attributes:
        option: The option of the verb; "" where the value is an argument.
        kind: What its value is.
        about: What the assistant reads about it.
    """

    option: str
    kind: Taken
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool of the server.

    Attributes:
        name: Its name.
        argv: The verb, with what is always given to it.
        about: When to use it; the assistant chooses by this text.
        parameters: What the assistant may give, by name.
        required: The names of those that it must give.
        schema: The name of the published JSON Schema of its answer; "" where the answer is a text.
        executes: Whether it executes a program, so that it is offered only where the server was started with that.
        writes: Whether it must write a file, so that it is offered only where the server may.
    """

    name: str
    argv: tuple[str, ...]
    about: str
    parameters: dict[str, Parameter]
    required: tuple[str, ...]
    schema: str = ""
    executes: bool = False
    writes: bool = False


MODEL = {"model": Parameter("", Taken.MODEL, "The .tflite file, or the C source that contains it as an array.")}
TARGET = {
    "target": Parameter("--target", Taken.TEXT, "The processor; list_targets names them."),
    "library": Parameter("--library", Taken.TEXT, "What brings TFLM to the firmware; list_libraries names them."),
    "kernels": Parameter("--kernels", Taken.TEXT, "The kernel library, with an optional @VERSION."),
    "runtime": Parameter("--runtime", Taken.TEXT, "The version of TFLM: a day, a commit, or LIBRARY@VERSION."),
    "firmware": Parameter("--firmware", Taken.FILE, "A linked program (ELF) from which all of these are read."),
}
BOARD = {"board": Parameter("--board", Taken.TEXT, "The board; list_boards names them.")}
ARENA = {"arena_size": Parameter("--arena-size", Taken.TEXT, "The firmware's arena in bytes: 20480, 20 * 1024, 20k.")}
WORD = {"word": Parameter("", Taken.TEXT, "Only the rows with this word; a whole name gives all that is known of it.")}
OUTPUT = {"output": Parameter("--output", Taken.OUTPUT, "The file to write.")}
PROGRAM = {"program": Parameter("", Taken.FILE, "The linked program: an ELF file, or a .bin, .hex or .uf2.")}
IN_ITS_PLACE = {"model": Parameter("--model", Taken.MODEL, "A model in the place of the program's own.")}

EXIT_CODE = "That of the command line. 0: yes, or done; 1: no; 3: it depends, or cannot be told; 4: see the answer."

TOOLS = (
    Tool(
        name="size",
        argv=("size", "--json"),
        about="The smallest tensor arena for a model on a target, to the byte, and what each byte is used for. With "
        "arena_size: what happens in an arena of that size, in the words that the device prints.",
        parameters=MODEL | TARGET | BOARD | ARENA,
        required=("model",),
        schema="size",
    ),
    Tool(
        name="check",
        argv=("check", "--json"),
        about="Whether a model works in an arena of a given size, or on a board: yes, no, or on which condition.",
        parameters=MODEL
        | TARGET
        | BOARD
        | {
            "limit": Parameter("--limit", Taken.TEXT, "The arena's size in bytes: 65536, 64KiB, 60 * 1024."),
            "ram_free": Parameter("--ram-free", Taken.TEXT, "With board: the bytes of RAM that the firmware leaves."),
        },
        required=("model",),
        schema="check",
    ),
    Tool(
        name="explain",
        argv=("explain", "--json"),
        about="What a firmware's log means (an error of TFLM, a crash, a linker's message), and which arena it needs.",
        parameters={
            "log": Parameter("-", Taken.INPUT, "The log, whole, as the device or the linker printed it."),
            "model": Parameter("--model", Taken.MODEL, "The model, for an exact answer."),
        }
        | ARENA
        | TARGET,
        required=("log",),
        schema="explain",
    ),
    Tool(
        name="firmware",
        argv=("firmware", "--json"),
        about="Whether the models in a linked program fit their arenas. The program is read, and not executed.",
        parameters=PROGRAM
        | IN_ITS_PLACE
        | {"limit": Parameter("--limit", Taken.TEXT, "The size of an arena from the heap.")},
        required=("program",),
        schema="firmware",
    ),
    Tool(
        name="execute_firmware",
        argv=("firmware", "--json", "--run"),
        about="Execute a linked program in an emulator and measure its arenas, with any kernels.",
        parameters=PROGRAM
        | IN_ITS_PLACE
        | {"invoke": Parameter("--invoke", Taken.WHOLE, "How often Invoke() is executed, for stack and instructions.")},
        required=("program",),
        schema="firmware-run",
        executes=True,
    ),
    Tool(
        name="shrink",
        argv=("shrink", "--json"),
        about="Rewrite a model so that it needs a smaller arena and gives the same output bytes. Without output it "
        "only says what can be reached.",
        parameters=MODEL
        | {name: TARGET[name] for name in ("target", "kernels", "firmware")}
        | OUTPUT
        | {
            "goal": Parameter("--goal", Taken.TEXT, "Stop at the first result that fits in this many bytes."),
            "max_macs": Parameter("--max-macs", Taken.TEXT, "The most work, as a multiple of the model's: 1.35."),
            "time_limit": Parameter("--time-limit", Taken.TEXT, "End the search after this time: 30s, 2m."),
            "prove": Parameter("--prove", Taken.WHOLE, "Run both models in the real TFLM on this many inputs."),
        },
        required=("model",),
        schema="shrink",
    ),
    Tool(
        name="report",
        argv=("report", "--format", "json", "--output", "-"),
        about="Where every byte of the arena is, over time: each buffer with its offset, size and life.",
        parameters=MODEL | TARGET | ARENA,
        required=("model",),
        schema="report",
    ),
    Tool(
        name="picture",
        argv=("report",),
        about="Write the picture of the arena over time: .html (interactive), .svg or .png, by the name's end.",
        parameters=MODEL | TARGET | ARENA | OUTPUT,
        required=("model", "output"),
        writes=True,
    ),
    *(
        Tool(
            name=f"list_{what}",
            argv=("list", what, "--json"),
            about=f"The {what} that can be named{also}.",
            parameters=WORD | extra,
            required=(),
            schema=f"list-{what}",
        )
        for what, also, extra in (
            ("targets", ", and what each is verified against", {}),
            ("libraries", ": what brings TFLM to a firmware, and which TFLM each contains", {}),
            ("boards", ", with their memory, target and kernels", {}),
            ("ops", ": the modelled operators, of a library or in all", {"library": TARGET["library"]}),
        )
    ),
)
"""All tools; some are offered only where the server was started with them."""


def offered(*, executes: bool, writes: bool) -> tuple[Tool, ...]:
    """Return the tools of a server that may execute programs, and that may write files."""
    return tuple(tool for tool in TOOLS if (executes or not tool.executes) and (writes or not tool.writes))


def input_schema(tool: Tool, *, writes: bool) -> dict[str, Any]:
    """Return the JSON Schema of what the assistant gives to this tool."""
    properties: dict[str, Any] = {}
    for name, parameter in tool.parameters.items():
        if parameter.kind is Taken.OUTPUT and not writes:
            continue
        properties[name] = {"type": JSON_TYPES.get(parameter.kind, "string"), "description": parameter.about}
    return {"type": "object", "properties": properties, "required": list(tool.required), "additionalProperties": False}


def output_schema(tool: Tool) -> dict[str, Any]:
    """Return the JSON Schema of the tool's answer: the published one of the verb's document, beside its exit code."""
    properties: dict[str, Any] = {"exit_code": {"type": "integer", "description": EXIT_CODE}}
    definitions: dict[str, Any] = {}
    if tool.schema:
        document = json.loads(files("tflm_sim").joinpath("schemas", f"{tool.schema}.json").read_text("utf-8"))
        definitions = document.pop("$defs", {})
        document.pop("$schema", None)
        properties["answer"] = document
    else:
        properties["answer"] = {"type": "string", "description": "What the command line prints."}
    return {"type": "object", "properties": properties, "required": list(properties), "$defs": definitions}


def command_of(tool: Tool, given: dict[str, str | int]) -> tuple[list[str], str]:
    """Return the arguments of the command line, and what it reads from its standard input.

    Args:
        tool: The tool.
        given: The values by name, each of its kind, and each path resolved already.

    Raises:
        UsageError: A word would be taken for an option.
    """
    arguments = list(tool.argv)
    text = ""
    for name, value in given.items():
        parameter = tool.parameters[name]
        if parameter.kind is Taken.INPUT:
            text = str(value)
            arguments.append(parameter.option)
        elif parameter.option:
            arguments.append(f"{parameter.option}={value}")
        elif str(value).startswith("-"):
            raise UsageError(f"{name}: '{value}' begins with '-'")
        else:
            arguments.append(str(value))
    return arguments, text
