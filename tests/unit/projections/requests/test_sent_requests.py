"""The requests of a run, built again from its journal and its bundle."""

import pytest

from gofer.projections.requests.sent_requests import sent_requests
from support.engine.memory_run import memory_run, says

pytestmark = pytest.mark.anyio


async def test_requests_are_built_again_byte_by_byte() -> None:
    made = memory_run(says("", ("look", {"text": "a"})), says("", ("look", {"text": "b"})), says("done"))
    made.tool("look", "read")
    await made.run()
    bundle = made.bundle()
    sent = list(sent_requests(await made.journal(), bundle.loaded.system, bundle.tools))
    assert [request.body for request in sent] == made.model.requests
    assert all(request.is_exact for request in sent)


async def test_request_with_another_prompt_is_not_exact() -> None:
    made = memory_run(says("done"))
    await made.run()
    (sent,) = sent_requests(await made.journal(), "Another prompt.", made.bundle().tools)
    assert not sent.is_exact
