"""`gofer run` beside tokens of real systems: it stays in a simulated world without `--live-tools`."""

import asyncio
import json
from pathlib import Path

import pytest

from support.app.company import ROOT
from support.app.serve_process import OperatorFolder, operator_folder
from support.models.deciding_provider import Sent, deciding

pytestmark = pytest.mark.anyio
REAL = {"SLACK_BOT_TOKEN": "xoxb-simulated", "OPENAI_BASE_URL": ""}
CANNED = "[offline model]"


async def gofer(made: OperatorFolder, *words: str) -> tuple[int | None, str, str]:
    process = (await made.start(*words)).process
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def mention(made: OperatorFolder) -> str:
    """Write the payload of a real mention to a file, as Slack sent it, and return its path."""
    asked = await made.ask("@Gofer hello")
    event = made.folder / "event.json"
    event.write_text(json.dumps(made.slack.envelopes(asked)[0]))
    return str(event)


async def test_run_by_hand_beside_real_tokens_is_simulated_and_stored_separately(tmp_path: Path) -> None:
    async with operator_folder(tmp_path) as made:
        made.write_env(**REAL)
        event = await mention(made)
        before = made.slack.state()
        code, out, err = await gofer(made, "run", "answer-here", "--event", event)
        after = made.slack.state()
        _, listed, _ = await gofer(made, "runs", "--json")
        folder = next(word for word in err.split() if word.startswith("GOFER_DATA=")).partition("=")[2]
    assert (code, CANNED in out) == (0, True), err
    assert before == after
    assert "On a simulated Slack, Jira, Notion and GitHub" in err
    assert folder == ".gofer/simulated"
    assert json.loads(listed or "[]") == []
    assert (tmp_path / folder / "gofer.db").exists()


@pytest.mark.parametrize("words", [(), ("--script", str(ROOT / "src/gofer_simulators/scripts/demo.yaml"))])
async def test_offline_model_never_writes_into_a_real_system(tmp_path: Path, words: tuple[str, ...]) -> None:
    async with operator_folder(tmp_path) as made:
        made.write_env(**REAL)
        event = await mention(made)
        before = made.slack.state()
        code, out, err = await gofer(made, "run", "answer-here", "--event", event, "--live-tools", *words)
        swept = await gofer(made, "sweep", "--seconds", "1")
        assert made.slack.state() == before
    assert (code, out) == (2, "")
    assert "scripted" in err
    assert swept[0] == 2


async def test_run_with_live_tools_and_a_model_answers_in_the_real_slack(tmp_path: Path) -> None:
    def decide(sent: Sent) -> str:
        return "Hello from a model."

    async with deciding(decide) as (_, url), operator_folder(tmp_path) as made:
        made.write_env(**{**REAL, "OPENAI_BASE_URL": url})
        asked = await made.ask("@Gofer hello")
        event = made.folder / "event.json"
        event.write_text(json.dumps(made.slack.envelopes(asked)[0]))
        code, out, err = await gofer(made, "run", "answer-here", "--event", str(event), "--live-tools")
        (answer,) = made.answers(asked)
        refused = await asyncio.gather(
            gofer(made, "run", "answer-here", "--event", str(event), "--live-tools", "--mocks"),
            gofer(made, "run", "review-rfc", "--event", str(event), "--live-tools"),
        )
    assert (code, out.strip()) == (0, "Hello from a model."), err
    assert answer.text.startswith("Hello from a model.")
    assert [code for code, _, _ in refused] == [2, 2]
    assert "Use either --live-tools, or one of --world and --mocks" in refused[0][2]
