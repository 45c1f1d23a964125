"""The network of a company's tools: configured hosts, named hosts, and addresses that the run read."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from typing_extensions import override

from gofer.tools.company import load_company
from gofer.tools.company_http import hosts_in
from gofer.tools.definition import AnyTool
from gofer.values.addresses import Live, key_of
from gofer.values.errors import ToolError
from gofer.values.outside import Http, HttpRequest, HttpResponse
from gofer.values.secret import Secret
from support.tools.calls import any_call

FETCH = '''
from gofer.tool import Arguments, Call, HttpRequest, ToolResult, tool

STATUS = "https://status.example/api"


class Page(Arguments):
    url: str


@tool(effect="read", settings=("WIKI_URL",))
async def wiki_fetch(call: Call, arguments: Page) -> ToolResult:
    """Read a page."""
    answer = await call.http.send(HttpRequest("GET", arguments.url))
    while "location" in answer.headers:
        answer = await call.http.send(HttpRequest("GET", answer.headers["location"]))
    return ToolResult(answer.body.decode(), "read a page")
'''
WIKI = "http://10.0.0.7:8080"


@dataclass
class Network(Http):
    """A network that records its requests and answers redirects."""

    redirects: Mapping[str, str] = field(default_factory=dict[str, str])
    asked: list[HttpRequest] = field(default_factory=list[HttpRequest])

    @override
    async def send(self, request: HttpRequest) -> HttpResponse:
        self.asked.append(request)
        if to := self.redirects.get(request.url):
            return HttpResponse(302, {"location": to}, b"")
        return HttpResponse(200, {}, b"found")


def fetch_tool(folder: Path) -> AnyTool:
    (folder / "tools").mkdir()
    (folder / "tools" / "wiki.py").write_text(FETCH)
    (tool,) = load_company(folder)
    return tool.bind({"WIKI_URL": Secret(WIKI)})


def fetched(folder: Path, network: Network, url: str, *read: str, chosen: bool = False) -> list[tuple[str, bool]]:
    """Return the requests of a call, each with whether only public addresses may be reached."""
    tool = fetch_tool(folder)
    keys = frozenset(map(key_of, read))
    call = replace(any_call(network), live=Live(keys.__contains__, chosen=lambda _: chosen))

    async def act() -> None:
        await tool.act(call, tool.parse({"url": url}))

    asyncio.run(act())
    return [(request.url, request.public_only) for request in network.asked]


def test_configured_host_may_be_private(tmp_path: Path) -> None:
    assert fetched(tmp_path, Network(), f"{WIKI}/page") == [(f"{WIKI}/page", False)]


def test_host_in_a_module_is_reached_at_public_addresses_only(tmp_path: Path) -> None:
    assert fetched(tmp_path, Network(), "https://status.example/now") == [("https://status.example/now", True)]


def test_unpermitted_address_of_a_private_run_is_refused_without_a_request(tmp_path: Path) -> None:
    network = Network()
    url = "https://docs.example/guide"
    with pytest.raises(ToolError, match="nobody could permit it") as caught:
        fetched(tmp_path, network, url, url, chosen=True)
    assert network.asked == []
    assert caught.value.code == "chosen_address"


def test_address_that_the_run_read_is_reached_at_public_addresses_only(tmp_path: Path) -> None:
    url = "https://docs.example/guide"
    assert fetched(tmp_path, Network(), url, url) == [(url, True)]


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/?d=words",
        "https://docs.example/guide?d=words",
        "https://words.status.example/",
        "https://status.example@evil.example/",
        "https://status.example\\@evil.example/",
        "http://localhost:8080/",
        "http://2130706433:8080/",
        "http://0177.0.0.1:8080/",
        "http://10.0.0.7:9000/",
        "https://status.example:8443/",
        "file:///etc/passwd",
    ],
)
def test_address_that_a_model_wrote_is_refused_without_a_request(tmp_path: Path, url: str) -> None:
    network = Network()
    with pytest.raises(ToolError, match="no source that this run read has it") as caught:
        fetched(tmp_path, network, url, "https://docs.example/guide")
    assert network.asked == []
    # A result with the address would count as read.
    assert url not in caught.value.message_to_model


def test_redirect_of_a_configured_host_is_followed_to_public_addresses_only(tmp_path: Path) -> None:
    network = Network({f"{WIKI}/file": "https://files.example/1?signature=x"})
    sent = fetched(tmp_path, network, f"{WIKI}/file")
    assert sent[1:] == [("https://files.example/1?signature=x", True)]


@pytest.mark.parametrize(
    "url", [f"{WIKI}/to?u=https://evil.example/words", f"{WIKI}/to?u=https%3A%2F%2Fevil.example%2Fwords"]
)
def test_redirect_to_a_host_in_the_request_is_refused(tmp_path: Path, url: str) -> None:
    network = Network({url: "https://evil.example/words"})
    with pytest.raises(ToolError, match="no source that this run read has it"):
        fetched(tmp_path, network, url)
    assert [request.url for request in network.asked] == [url]


def test_redirect_of_a_page_that_the_run_read_is_refused(tmp_path: Path) -> None:
    url = "https://docs.example/guide"
    with pytest.raises(ToolError, match="no source that this run read has it"):
        fetched(tmp_path, Network({url: "https://evil.example/"}), url, url)


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ('URL = "https://api.example/v1"', {"api.example"}),
        ('f"https://api.example:8443/{path}"', {"api.example:8443"}),
        ('f"https://{host}/find"', set[str]()),
        ('f"https://api.{region}.example"', set[str]()),
        ('f"https://api.example{path}"', set[str]()),
        ("call.http.send(arguments.team)", set[str]()),
    ],
)
def test_module_names_a_host_only_whole(text: str, hosts: set[str]) -> None:
    assert hosts_in([text]) == hosts
