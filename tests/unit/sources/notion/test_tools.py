"""Notion tools over real HTTP: declared capabilities, and writes without an answer."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from gofer.app.embedded.server import serve
from gofer.app.http import SharedHttp, http_client
from gofer.sources.notion import tools as notion_tools
from gofer.sources.notion.api import NotionApi
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call, Tool
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.outside import HttpRequest, HttpResponse, SystemClock
from gofer.values.proxies import DIRECT
from gofer.values.secret import Secret
from gofer_simulators.faults import Fault
from gofer_simulators.notion.simulator import NotionSimulator
from support.http import loopback
from support.tools.calls import any_call
from support.vendors.notion import ADA, BOT, CACHE, INTRO, SPACE, WORLD, uuid

TOOLS = {tool.name: tool for tool in bind_all(notion_tools.TOOLS, NotionApi("", Secret("")))}
ARGUMENTS: Mapping[str, dict[str, Any]] = {
    "notion_get_page": {"comments": "all"},
    "notion_find_place": {"page": CACHE},
    "notion_find_member": {"person": ADA},
    "notion_get_file": {"page": CACHE, "block": uuid(40)},
    "notion_search": {"query": "cache"},
    "notion_query_database": {"database": "RFCs", "where": {"Reviewers": "Ada Byron"}},
    "notion_add_comment": {"text": "hello", "block": INTRO},
    "notion_update_properties": {"properties": {"Status": "Done", "Reviewers": ["Ada Byron"]}},
    "notion_append_content": {"text": "hello"},
}


class Impatient:
    """HTTP that waits two seconds at most."""

    def __init__(self, http: SharedHttp) -> None:
        self._http = http

    async def send(self, request: HttpRequest) -> HttpResponse:
        return await self._http.send(replace(request, timeout=2))


Story = Callable[[NotionSimulator, Tool[Any], Call], Awaitable[None]]


def play(name: str, capabilities: frozenset[str], story: Story) -> None:
    allowed = sorted(one.replace(" ", "_") for one in capabilities)
    world = WORLD | {"connection": {"id": BOT, "name": "Gofer", "capabilities": allowed}}

    async def run() -> None:
        async with http_client(DIRECT) as http, loopback.client() as nowhere:
            notion = NotionSimulator(world, clock=SystemClock().now, http=nowhere)
            notion.people.attach(CACHE, "a.txt", b"what it says", by=ADA).id = uuid(40)
            async with serve(notion.app) as url:
                tools = bind_all(notion_tools.TOOLS, NotionApi(url, Secret("ntn_simulated")))
                place = {"workspace": SPACE, "page": CACHE}
                call = any_call(Impatient(SharedHttp(http)), key="k", actor=ADA, place=place, clock=SystemClock())
                await story(notion, next(tool for tool in tools if tool.name == name), call)

    asyncio.run(run())


@pytest.mark.parametrize("name", TOOLS)
def test_notion_tool_works_with_the_declared_capabilities(name: str) -> None:
    async def story(_: NotionSimulator, tool: Tool[Any], call: Call) -> None:
        arguments = tool.parse(ARGUMENTS[name])
        assert (await tool.act(call, arguments)).summary
        if tool.in_doubt.look:
            assert await tool.in_doubt.look(call, arguments)

    play(name, TOOLS[name].target.scopes, story)


@pytest.mark.parametrize(
    ("name", "capability"), [(name, one) for name in TOOLS for one in sorted(TOOLS[name].target.scopes)]
)
def test_notion_tool_needs_each_declared_capability(name: str, capability: str) -> None:
    async def used(tool: Tool[Any], call: Call) -> str:
        arguments = tool.parse(ARGUMENTS[name])
        result = await tool.act(call, arguments)
        if tool.in_doubt.look:
            await tool.in_doubt.look(call, arguments)
        return result.text

    async def story(notion: NotionSimulator, tool: Tool[Any], call: Call) -> None:
        if (name, capability) == ("notion_get_page", "read comments"):
            assert "may not read comments" in await used(tool, call)
            return
        with pytest.raises(ToolError) as refused:
            await used(tool, call)
        assert refused.value.code == "restricted_resource"

    play(name, TOOLS[name].target.scopes - {capability}, story)


@pytest.mark.parametrize("name", [name for name, tool in TOOLS.items() if tool.in_doubt.look])
def test_notion_write_with_a_lost_answer_is_found_and_a_lost_request_is_not(name: str) -> None:
    async def story(notion: NotionSimulator, tool: Tool[Any], call: Call) -> None:
        arguments = tool.parse(ARGUMENTS[name])
        write = {"notion_add_comment": ("POST", "/v1/comments"), "notion_append_content": ("PATCH", "/v1/blocks/*")}[
            name
        ]
        assert tool.in_doubt.look
        for fault, found in (("timeout", False), ("timeout_after_success", True)):
            notion.faults.add(*write, Fault(fault))
            with pytest.raises(TemporaryError):
                await tool.act(call, arguments)
            assert bool(await tool.in_doubt.look(call, arguments)) is found
        assert json.dumps(notion.state()).count("hello") == 1

    play(name, TOOLS[name].target.scopes, story)


def test_notion_tools_declare_their_effect_and_describe_every_argument() -> None:
    assert {tool.name: tool.effect for tool in TOOLS.values()} == {
        "notion_get_page": "read",
        "notion_find_place": "read",
        "notion_find_member": "read",
        "notion_get_file": "read",
        "notion_search": "read",
        "notion_query_database": "read",
        "notion_add_comment": "lookup",
        "notion_update_properties": "keyed",
        "notion_append_content": "lookup",
    }
    for tool in TOOLS.values():
        for described in tool.schema()["function"]["parameters"]["properties"].values():
            assert described["description"]
        json.dumps(tool.schema())


def test_notion_block_is_one_destination_for_every_spelling() -> None:
    tool = TOOLS["notion_add_comment"]
    said = [
        {"text": "x", "block": INTRO},
        {"text": "x", "block": INTRO.replace("-", ""), "page": CACHE},
        {"text": "y", "block": INTRO.upper(), "page": f"https://www.notion.so/{CACHE}"},
    ]
    assert {tool.target.destination(tool.parse(one)) for one in said} == {INTRO}
    assert {tool.target.destination(tool.parse({"text": "x", "page": page})) for page in ("", CACHE)} == {""}
