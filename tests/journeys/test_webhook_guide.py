"""The calls of docs/webhooks.md, as people copy them, against the running front."""

import asyncio
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.applications import Starlette

from company import Company, company
from gofer.local.front import front
from gofer.local.pages import Pages
from gofer.local.server import serve
from gofer.outside import SystemClock
from gofer.secret import Secret
from gofer.triggers.hook import Auth, Bearer, Hook, Pointer, Standard
from gofer.triggers.webhook import webhook_doors
from gofer.workflows.routes import read_routes

pytestmark = pytest.mark.anyio

GUIDE = Path(__file__).parents[2] / "docs" / "webhooks.md"
CALLS: Sequence[str] = re.findall(r"```sh\n(.*?)```", GUIDE.read_text(), re.DOTALL)
SECRET = "as-long-as-it-is-secret"


def hooked(made: Company, auth: Auth) -> Starlette:
    """The front of a Gofer with the hook of the guide."""
    hook = Hook("new-hire", auth, [Secret(SECRET)], Pointer("/id"))
    ingress = replace(
        made.laptop.ingress, doors=webhook_doors([hook]), routes=read_routes({"webhook": [("answer-here", {})]})
    )
    return front(ingress, Pages(made.laptop.state.store, made.laptop.state.blobs, made.laptop.catalog, SystemClock()))


async def run(script: str, url: str, secret: str) -> str:
    script = script.replace("https://gofer.example.com", url)
    environment = {"PATH": os.environ["PATH"], "WEBHOOK_SECRET": secret}
    process = await asyncio.create_subprocess_exec(
        "sh", "-euc", script, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, errors = await process.communicate()
    assert errors == b""
    return out.decode()


@pytest.mark.parametrize(("call", "auth"), list(zip(CALLS, [Bearer(), Standard()], strict=True)))
async def test_a_call_of_the_guide_starts_one_run_however_often_it_is_made(
    tmp_path: Path, call: str, auth: Auth
) -> None:
    async with company(tmp_path, work=False) as made, serve(hooked(made, auth)) as url:
        store = made.laptop.state.store
        assert "401" not in await run(call, url, SECRET)
        assert await run(call, url, SECRET) == "Accepted."
        (head,) = await store.heads(10)
        assert (head.workflow, head.private) == ("answer-here", False)
        assert await run(call.replace("Lovelace", "Byron"), url, SECRET) == (
            "Another body was accepted under this key. Send it under a key of its own."
        )
        assert "secret of this hook" in (said := await run(call, url, "guess")) or "matches" in said
        assert len(await store.heads(10)) == 1
