"""Answers of any length are posted whole, in order and once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.embedded.server import serve
from gofer.journal.entries import RunConcluded, ToolCall
from gofer_simulators.slack.workspace import Message
from support.app.company import Company, company

pytestmark = pytest.mark.anyio

LONG = "\n\n".join(
    f"## Service {n}\n\nIt is **fine**, see [log {n}](https://example.com/{n}). " + "word " * 170 for n in range(28)
)
TOO_LONG = LONG * 3
ASK = f"@Gofer how are all services? {' '.join(f'https://example.com/{n}' for n in range(28))}"


@asynccontextmanager
async def answering(folder: Path, text: str) -> AsyncIterator[Company]:
    """A company whose model always gives the same answer."""

    async def answer(request: Request) -> Response:
        usage = {"prompt_tokens": 50, "completion_tokens": 5}
        return JSONResponse({"model": "m", "choices": [{"message": {"content": text}}], "usage": usage})

    model = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    async with serve(model) as url, company(folder, OPENAI_BASE_URL=f"{url}/v1", OPENAI_API_KEY="sk") as made:
        yield made


def markdown(message: Message) -> str:
    return "".join(str(block["text"]) for block in message.blocks if block["type"] == "markdown")


def linked(messages: list[Message]) -> list[bool]:
    return [any(block["type"] == "context" for block in message.blocks) for message in messages]


async def test_long_answer_is_several_messages_in_order_with_links_under_the_last(tmp_path: Path) -> None:
    async with answering(tmp_path, LONG) as made:
        asked = await made.ask(ASK, "general")
        (head,) = await made.ended()
        answers = list(made.answers(asked))
        entries = await made.entries(head.run)
    assert head.status == "done"
    assert len(answers) == 3
    assert "\n\n".join(map(markdown, answers)).split() == LONG.split()
    assert linked(answers) == [False, False, True]
    calls = [(entry.call, entry.arguments) for entry in entries if isinstance(entry, ToolCall)]
    assert calls[-3:] == [("answer/1", None), ("answer-part/2", None), ("answer-part/3", None)]
    assert next(entry.text for entry in entries if isinstance(entry, RunConcluded)) == LONG.strip()


async def test_answer_too_long_for_messages_is_a_beginning_and_a_file(tmp_path: Path) -> None:
    async with answering(tmp_path, TOO_LONG) as made:
        asked = await made.ask(ASK, "general")
        (head,) = await made.ended()
        beginning, file = made.answers(asked)
        (stored,) = made.slack.workspace.files.values()
    assert head.status == "done"
    assert markdown(beginning).startswith("## Service 0")
    assert markdown(beginning).endswith("_This is the beginning; the attached file has the whole answer._")
    assert len(markdown(beginning)) < 3_200
    assert (stored.content or b"").decode().split() == TOO_LONG.split()
    assert file.extra["files"][0]["title"] == "answer.md"


async def test_refused_answer_file_is_noted_under_the_beginning_and_fails_the_run(tmp_path: Path) -> None:
    async with answering(tmp_path, TOO_LONG) as made:
        made.slack.fail_next("files.getUploadURLExternal", "missing_scope")
        asked = await made.ask(ASK, "general")
        (head,) = await made.ended()
        (beginning,) = made.answers(asked)
    assert markdown(beginning).endswith("could not be attached._")
    assert head.status == "failed"
    assert "not delivered as a whole" in head.reason
    assert "The missing permission is files:write" in head.reason


@pytest.mark.parametrize("happened", [True, False])
@pytest.mark.parametrize("method", ["files.completeUploadExternal", "files.getUploadURLExternal"])
async def test_answer_file_with_an_unconfirmed_upload_is_attached_once(
    tmp_path: Path, method: str, happened: bool
) -> None:
    async with answering(tmp_path, TOO_LONG) as made:
        made.slack.fail_next(method, 500, after_effect=happened)
        asked = await made.ask(ASK, "general")
        (head,) = await made.ended()
        assert head.status == "done"
        assert [bool(message.extra.get("files")) for message in made.answers(asked)] == [False, True]


async def test_refused_part_of_a_long_answer_fails_the_run_with_the_reason(tmp_path: Path) -> None:
    async with answering(tmp_path, LONG) as made:
        asked = await made.ask(ASK, "general")
        async with asyncio.timeout(60):
            while not made.answers(asked):
                await asyncio.sleep(0.001)
        made.slack.fail_next("chat.postMessage", "restricted_action")
        (head,) = await made.ended()
        assert len(made.answers(asked)) == 1
    assert head.status == "failed"
    assert "not delivered as a whole: Slack refused chat.postMessage (restricted_action)" in head.reason


async def test_rest_of_a_long_answer_in_a_channel_goes_to_the_thread_below(tmp_path: Path) -> None:
    async with answering(tmp_path, LONG) as made:
        loaded = made.embedded.catalog.workflows["answer-here"]
        made.embedded.catalog.workflows["answer-here"] = replace(
            loaded, workflow=loaded.workflow.model_copy(update={"reply": "channel"})
        )
        await made.ask(ASK, "general")
        (head,) = await made.ended()
        first = made.slack.workspace.timeline("C0GENERA0")[-1]
        assert head.status == "done"
        assert len(made.slack.workspace.replies(first)) == 2


async def test_expired_slack_token_is_logged_and_the_answer_still_arrives(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with answering(tmp_path, "Hello.") as made:
        made.slack.fail_next("chat.update", "token_expired")
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        (answer,) = made.answers(asked)
    assert head.status == "done"
    assert markdown(answer) == "Hello."
    assert "Gofer's Slack token has expired; the operator of Gofer must renew it." in caplog.text
