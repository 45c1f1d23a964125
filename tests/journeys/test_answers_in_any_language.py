"""Long Japanese and Cyrillic answers reach the thread in place of the status message."""

from pathlib import Path

import pytest

from gofer.runtime.deliver import AT_WORK
from gofer_simulators.slack.workspace import Message
from support.app.company import company
from support.models.deciding_provider import Sent, deciding

pytestmark = pytest.mark.anyio

JAPANESE = "サービスは**正常**です。詳細は[記録](https://example.com/log)をご覧ください。\n\n"
CYRILLIC = "Сервис **работает**, подробности [в журнале](https://example.com/log).\n\n"
LONG = JAPANESE * 40


def written(messages: list[Message]) -> str:
    return "\n\n".join(str(block["text"]) for one in messages for block in one.blocks if block["type"] == "markdown")


@pytest.mark.parametrize("size", [2_000, 4_000, 9_000])
@pytest.mark.parametrize("sentence", [JAPANESE, CYRILLIC], ids=["Japanese", "Cyrillic"])
async def test_long_answer_replaces_the_status_message(tmp_path: Path, sentence: str, size: int) -> None:
    said = "## 1\n\n" + sentence * (size // len(sentence))

    def answer(_: Sent) -> str:
        return said

    async with deciding(answer) as (_, url), company(tmp_path, OPENAI_BASE_URL=url, OPENAI_API_KEY="sk") as made:
        asked = await made.ask("@Gofer how are all services? Log: https://example.com/log", "general")
        (head,) = await made.ended()
        answers = list(made.answers(asked))
    assert (head.status, head.reason) == ("done", "")
    assert written(answers).split() == said.split()
    assert answers[0].edited_ts
    assert AT_WORK not in written(answers)


@pytest.mark.parametrize("refusal", ["msg_too_long", "msg_blocks_too_long", "invalid_blocks", "block_mismatch"])
async def test_long_answer_arrives_when_slack_refuses_to_edit_the_status_message(tmp_path: Path, refusal: str) -> None:
    def answer(_: Sent) -> str:
        return LONG

    async with deciding(answer) as (_, url), company(tmp_path, OPENAI_BASE_URL=url, OPENAI_API_KEY="sk") as made:
        made.slack.fail_next("chat.update", refusal)
        asked = await made.ask("@Gofer how are all services? Log: https://example.com/log", "general")
        (head,) = await made.ended()
        answers = list(made.answers(asked))
    assert head.status == "done"
    assert written(answers[-1:]).split() == LONG.split()
