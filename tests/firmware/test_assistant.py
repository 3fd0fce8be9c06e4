"""``tflm-sim mcp`` as an assistant uses it: three jobs over the official SDK's client, and what is refused."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from tflm_sim.samples import sample_path

sys.path.insert(0, str(Path(__file__).parent))
from test_firmware_verb import ARM, needed, program

if TYPE_CHECKING:
    from mcp.client import Client

Job = Callable[["Client"], Awaitable[None]]


def with_server(job: Job, *arguments: str) -> None:
    """Start ``tflm-sim mcp`` with these arguments as a process, and do this with a client of it."""
    pytest.importorskip("mcp")
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters

    async def talk() -> None:
        start = StdioServerParameters(
            command=sys.executable, args=["-m", "tflm_sim", "mcp", *arguments], env=dict(os.environ)
        )
        async with Client(start) as client:
            await job(client)

    asyncio.run(asyncio.wait_for(talk(), 240))


async def ask(client: Client, tool: str, **given: Any) -> tuple[int, Any]:
    """Return the exit code and the document, which is as the tool's schema says."""
    schemas = {one.name: one.output_schema for one in (await client.list_tools()).tools}
    result = await client.call_tool(tool, given)
    assert not result.is_error, result.content
    jsonschema.validate(result.structured_content, schemas[tool])
    return result.structured_content["exit_code"], result.structured_content["answer"]


async def refusal(client: Client, tool: str, **given: Any) -> str:
    """Return the sentence with which this is refused."""
    result = await client.call_tool(tool, given)
    assert result.is_error
    text: str = result.content[0].text
    return text


def test_an_assistant_takes_a_failing_sketch_to_a_working_size(tmp_path: Path) -> None:
    shutil.copy(sample_path("residual"), tmp_path / "net.tflite")

    async def job(client: Client) -> None:
        code, failing = await ask(client, "size", model="net.tflite", target="cortex-m4", arena_size="3000")
        assert (code, failing["fits"]) == (1, False)
        log = "\n".join(failing["log"])
        code, _ = await ask(client, "explain", log=log, model="net.tflite", target="cortex-m4", arena_size="3000")
        assert code in {0, 1}
        code, size = await ask(client, "size", model="net.tflite", target="cortex-m4")
        needs = size["smallest_arena_multiple_of_16"]
        assert (code, needs) == (0, 55008)
        for limit, verdict in ((needs, 0), (needs - 1000, 1)):
            code, _ = await ask(client, "check", model="net.tflite", target="cortex-m4", limit=str(limit))
            assert code == verdict

    with_server(job, str(tmp_path))


def test_an_assistant_takes_a_linked_program_to_a_verdict(tmp_path: Path) -> None:
    elf = program(tmp_path, ARM, needed("cortex-m4"))

    async def job(client: Client) -> None:
        code, document = await ask(client, "firmware", program=str(elf))
        assert code in {0, 3}
        assert document["models"]
        assert "no tool 'execute_firmware'" in await refusal(client, "execute_firmware", program=str(elf))

    with_server(job, str(tmp_path))


@pytest.mark.skipif(sys.platform != "linux", reason="the real TFLM's wheel is for Linux")
def test_an_assistant_shrinks_a_model_and_has_it_proved(tmp_path: Path) -> None:
    pytest.importorskip("tflite_micro")
    shutil.copy(sample_path("residual"), tmp_path / "net.tflite")
    (tmp_path / "out").mkdir()

    async def job(client: Client) -> None:
        code, document = await ask(
            client, "shrink", model="net.tflite", output="out/small.tflite", time_limit="20s", prove=4
        )
        assert (code, (tmp_path / "out/small.tflite").is_file()) == (0, True)
        sizes = document["targets"][0]
        assert sizes["after"]["smallest_arena_bytes"] < sizes["before"]["smallest_arena_bytes"] == 55000

    with_server(job, str(tmp_path), "--write", str(tmp_path / "out"))


def test_what_was_not_allowed_at_the_start_is_refused(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        shutil.copy(sample_path("sine"), folder / "net.tflite")
    (inside / "link.tflite").symlink_to(outside / "net.tflite")

    async def job(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools}.isdisjoint({"picture", "execute_firmware"})
        for path in ("../outside/net.tflite", str(outside / "net.tflite"), "link.tflite"):
            assert "may not be read" in await refusal(client, "size", model=path)
        assert "has no 'output'" in await refusal(client, "shrink", model="net.tflite", output="net.tflite")
        assert "has no 'custom_ops'" in await refusal(client, "size", model="net.tflite", custom_ops="x.py")
        assert "is not a file" in await refusal(client, "size", model="none.tflite")
        assert "is not a path" in await refusal(client, "size", model="a\0b")
        assert "needs 'model'" in await refusal(client, "size")
        assert "begins with '-'" in await refusal(client, "list_boards", word="--help")
        assert "'nothing'" in await refusal(client, "size", model="net.tflite", target="nothing")

    with_server(job, str(inside))


def test_a_question_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    async def job(client: Client) -> None:
        assert "took longer than 0.05 s" in await refusal(client, "size", model="sample:residual")

    with_server(job, str(tmp_path), "--time-limit", "50ms")


def test_the_pages_that_an_assistant_needs_are_resources(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async def job(client: Client) -> None:
        for resource in (await client.list_resources()).resources:
            contents = (await client.read_resource(str(resource.uri))).contents
            assert contents[0].text.startswith(("#", "---"))
        from mcp import MCPError

        with pytest.raises(MCPError, match="there is no page 'file:///etc/passwd'; there are"):
            await client.read_resource("file:///etc/passwd")

    with_server(job, str(tmp_path))
    assert "Traceback" not in capfd.readouterr().err
