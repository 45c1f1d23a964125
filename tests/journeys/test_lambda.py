"""Gofer on Lambda's own runtime client: a message in Slack, functions in processes of their own, an answer in Slack."""

from pathlib import Path

import pytest

from lambda_stage import package, stage

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package(tmp_path_factory.mktemp("package") / "task")


async def test_a_mention_is_answered_in_its_thread(code: Path) -> None:
    async with stage(code) as made:
        asked = await made.ask("@Gofer hello")
        (head,) = await made.work()
        (answer,) = made.answers(asked)
        for n, o in made.host.outcomes:
            print(n, o.cold, o.init_seconds, o.seconds)
    assert (head.status, head.workflow) == ("done", "answer-here")
    assert "Hello" in answer.text
