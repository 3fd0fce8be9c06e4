"""The server: a tool call becomes a command of its own, with a limit of time, and its document the answer.

Each command is a process of its own: a model that takes long, or much memory, can be ended without the server, and what
a verb prints never gets between the messages of the protocol.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from mcp import MCPError
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextContent,
    TextResourceContents,
)
from mcp.types import Tool as OfferedTool

from tflm_sim import __version__
from tflm_sim.child_python import child_python
from tflm_sim.errors import UsageError
from tflm_sim.extensions.mcp.folders import Folders
from tflm_sim.extensions.mcp.pages import page, pages
from tflm_sim.extensions.mcp.tools import Taken, Tool, command_of, input_schema, offered, output_schema

MOST_ANSWER_BYTES = 4 << 20
"""A longer answer would fill an assistant's memory; it gets a sentence instead."""
AT_ONCE = 2
"""How many commands run at the same time; others wait."""
MEANT_AS_ANSWER = (0, 1, 3, 4)
"""Exit codes of a command that answered; the others are those of arguments, of files, and of errors."""
PAGE_ADDRESS = "tflm-sim://docs/"

INSTRUCTIONS = """
Says to the byte which tensor arena a .tflite model needs in TensorFlow Lite Micro on a named target, and reads logs and
linked programs. Name the target, the board or the library wherever it is known: without one the answer is for a
Cortex-M4 with CMSIS-NN. An answer with exit_code 3 depends on something that it names; do not take it for a yes.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """What the person who started the server allowed.

    Attributes:
        folders: Where files are read and written.
        executes: Whether programs may be executed, in an emulator.
        time_limit: The longest time of one answer in seconds.
    """

    folders: Folders
    executes: bool
    time_limit: float


def serve(permissions: Permissions) -> None:
    """Answer on standard input and output until the client closes them."""

    async def talk() -> None:
        server = make_server(permissions)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(talk)


def make_server(permissions: Permissions) -> Server[Any]:
    """Return the server of the SDK with these permissions."""
    writes = bool(permissions.folders.writable)
    tools = {tool.name: tool for tool in offered(executes=permissions.executes, writes=writes)}
    limiter = CapacityLimiter(AT_ONCE)

    async def list_tools(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(
            tools=[
                OfferedTool(
                    name=tool.name,
                    description=tool.about,
                    input_schema=input_schema(tool, writes=writes),
                    output_schema=output_schema(tool),
                )
                for tool in tools.values()
            ]
        )

    async def call_tool(_: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        tool = tools.get(params.name)
        try:
            if tool is None:
                raise UsageError(f"there is no tool '{params.name}'; there are {', '.join(tools)}")
            call = partial(answer, tool, params.arguments or {}, permissions)
            result = await run_sync(call, limiter=limiter, abandon_on_cancel=True)
        except UsageError as error:
            return CallToolResult(content=[TextContent(text=str(error))], is_error=True)
        return CallToolResult(content=[TextContent(text=json.dumps(result))], structured_content=result)

    async def list_resources(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListResourcesResult:
        return ListResourcesResult(
            resources=[
                Resource(name=name, uri=PAGE_ADDRESS + name, description=about, mime_type="text/markdown")
                for name, about in pages().items()
            ]
        )

    async def read_resource(_: ServerRequestContext[Any], params: ReadResourceRequestParams) -> ReadResourceResult:
        name = str(params.uri).removeprefix(PAGE_ADDRESS)
        if name not in pages():
            raise MCPError(INVALID_PARAMS, f"there is no page '{name[:60]}'; there are {', '.join(pages())}")
        text = page(name).read_text("utf-8")
        return ReadResourceResult(contents=[TextResourceContents(uri=params.uri, mime_type="text/markdown", text=text)])

    return Server(
        "tflm-sim",
        version=__version__,
        instructions=INSTRUCTIONS.strip(),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


def answer(tool: Tool, given: Mapping[str, Any], permissions: Permissions) -> dict[str, Any]:
    """Return the verb's exit code and its document.

    Args:
        tool: One of those that are offered.
        given: What the assistant gave, as it came.
        permissions: What is allowed.

    Raises:
        UsageError: A parameter is unknown, missing, of another type or a path elsewhere; the command refused its
            arguments or files, took too long, or said too much.
    """
    arguments, text = command_of(tool, checked(tool, given, permissions.folders))
    command = [*child_python("tflm_sim.cli"), *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "TFLM_SIM_ALLOW_DOWNLOAD"}
    with tempfile.TemporaryDirectory() as empty:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=empty,  # where no tflm-sim.toml is
            env=environment,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # so that an emulator that it started ends with it
        )
        try:
            output, complaint = process.communicate(text, timeout=permissions.time_limit)
        except subprocess.TimeoutExpired as error:
            _end(process)
            raise UsageError(f"{tool.name} took longer than {permissions.time_limit:g} s, and was ended") from error
    if process.returncode not in MEANT_AS_ANSWER or (tool.schema and not output.strip()):
        raise UsageError(complaint.strip() or output.strip() or f"{tool.name} ended with {process.returncode}")
    if len(output) > MOST_ANSWER_BYTES:
        raise UsageError(f"the answer has {len(output):,} characters, more than an assistant can read")
    return {"exit_code": process.returncode, "answer": json.loads(output) if tool.schema else output.strip()}


def checked(tool: Tool, given: Mapping[str, Any], folders: Folders) -> dict[str, str | int]:
    """Return what was given, with paths resolved.

    Raises:
        UsageError: As for :func:`answer`.
    """
    parameters = {
        name: parameter
        for name, parameter in tool.parameters.items()
        if parameter.kind is not Taken.OUTPUT or folders.writable
    }
    for name in tool.required:
        if name not in given:
            raise UsageError(f"{tool.name} needs '{name}'")
    resolved: dict[str, str | int] = {}
    for name, value in given.items():
        if name not in parameters:
            raise UsageError(f"{tool.name} has no '{name}'; it has {', '.join(parameters)}")
        kind = parameters[name].kind
        if type(value) is not (int if kind is Taken.WHOLE else str):
            raise UsageError(f"{name} is {'a whole number' if kind is Taken.WHOLE else 'a text'}")
        resolve = {Taken.MODEL: folders.model, Taken.FILE: folders.file, Taken.OUTPUT: folders.output}.get(kind)
        resolved[name] = value if resolve is None else resolve(str(value))
    return resolved


def _end(process: subprocess.Popen[str]) -> None:
    """End a process and all that it started."""
    if os.name == "posix":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate()
