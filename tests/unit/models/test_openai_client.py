"""No variable of the environment reaches a request that the `openai` package sends."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import openai
import pytest

from gofer.models.transport import Packaged, Plain
from support.http import loopback
from support.http.model_requests import model_server

pytestmark = pytest.mark.anyio

READS = re.compile(r"""(?:environ(?:\.get)?|getenv)\s*[\[(]\s*["']([A-Z_0-9]+)["']""")
PROXIES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy")


def variables() -> list[str]:
    """Return every variable that the source of the package reads."""
    folder = Path(openai.__file__).parent
    return sorted({name for path in folder.rglob("*.py") for name in READS.findall(path.read_text())})


HOSTILE = {
    "OPENAI_LOG": "debug",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/elsewhere",
    "OPENAI_CUSTOM_HEADERS": "X-Hostile: hostile\nAuthorization: Bearer hostile\nUser-Agent: hostile",
    **dict.fromkeys(PROXIES, "http://127.0.0.1:9"),
}
HEADERS = {"Authorization": "Bearer k", "Accept": "application/json"}


def test_source_of_the_package_names_the_variables_that_are_known_here() -> None:
    known = {"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_BASE_URL", "OPENAI_CUSTOM_HEADERS", "OPENAI_LOG"}
    assert known | {"OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_WEBHOOK_SECRET"} <= set(variables())


@pytest.mark.parametrize("headers", [HEADERS, {}])
@pytest.mark.parametrize("variable", [*variables(), *PROXIES])
async def test_variable_of_the_package_reaches_no_request(
    monkeypatch: pytest.MonkeyPatch, variable: str, headers: dict[str, str]
) -> None:
    monkeypatch.setenv(variable, HOSTILE.get(variable, "hostile"))
    async with model_server() as server, loopback.client() as http:
        await Packaged(Plain(http)).post(f"{server.url}/v1/responses", headers, b"{}")
    (arrived,) = server.arrived
    host = server.url.removeprefix("http://")
    given = {name.lower(): value for name, value in headers.items()}
    assert dict(arrived.headers) == {**given, "content-length": "2", "host": host}
    assert arrived.line == "POST /v1/responses HTTP/1.1"


PROGRAM = """
import asyncio, sys
import httpx2
from gofer.models.transport import Packaged, Plain
async def main():
    async with httpx2.AsyncClient(trust_env=False) as http:
        await Packaged(Plain(http)).post(sys.argv[1], {"Authorization": "Bearer k"}, b"{}")
asyncio.run(main())
"""


async def test_variables_set_at_the_import_of_the_package_change_no_request_and_print_no_log() -> None:
    hostile = {**dict.fromkeys(variables(), "hostile"), **HOSTILE}
    async with model_server() as server:
        done = await loopback_program(server.url, {**os.environ, **hostile})
    assert done == (0, "", "")
    assert dict(server.arrived[0].headers) == {
        "authorization": "Bearer k",
        "content-length": "2",
        "host": server.url.removeprefix("http://"),
    }


async def loopback_program(url: str, environment: dict[str, str]) -> tuple[int | None, str, str]:
    """Send one request in a fresh process; return its exit code and output."""
    words = [sys.executable, "-c", PROGRAM, f"{url}/v1/responses"]
    process = await asyncio.create_subprocess_exec(
        *words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()
