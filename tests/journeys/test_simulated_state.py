"""State of simulated runs: stored apart from state of real runs, and never continued in real systems."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from gofer.app.embedded.integrity import WORLD
from gofer.app.embedded.worlds import apart, move_apart
from gofer.app.settings import read_settings
from support.app.serve_process import OperatorFolder, operator_folder
from support.models.deciding_provider import deciding

pytestmark = pytest.mark.anyio
TOKENS = {"SLACK_BOT_TOKEN": "xoxb-simulated", "SLACK_APP_TOKEN": "xapp-simulated"}


async def run_by_hand(made: OperatorFolder) -> str:
    """Start a run in the demo's world for a message of the real Slack, and leave it unfinished."""
    asked = await made.ask("@Gofer hello")
    (made.folder / "event.json").write_text(json.dumps(made.slack.envelopes(asked)[0]))
    process = (await made.start("run", "answer-here", "--event", "event.json", "--json")).process
    out, err = await process.communicate()
    assert process.returncode == 1, err.decode()
    return json.loads(out)["run"]


@pytest.mark.rehearsal(
    "tests/journeys/test_simulated_state.py::test_folder_with_real_runs_never_gets_simulated_runs",
)
async def test_serve_does_not_continue_a_run_of_a_simulated_world(tmp_path: Path) -> None:
    async with deciding(lambda sent: "Hello.") as (_, url), operator_folder(tmp_path) as made:
        # The model is away, so the run is parked; nothing real is set up yet.
        made.write_env(SLACK_API_URL="", OPENAI_BASE_URL="http://127.0.0.1:1/v1")
        run = await run_by_hand(made)
        assert run in await made.read("runs")
        before = made.slack.state()
        made.slack.install(yaml.safe_load(made.manifest("--socket")))
        made.write_env(**TOKENS, OPENAI_BASE_URL=url)
        running = await made.start("serve", "--port", "0")
        await running.says("were moved to .gofer/simulated")
        await running.says("/runs")
        assert made.slack.state() == before
        answer = await made.answer(await made.ask("@Gofer hello again"))
        listed = await made.read("runs")
        assert await running.stop() == 0
        made.write_env(GOFER_DATA=".gofer/simulated")
        apart_from_it = await made.read("runs")
    assert answer.text.startswith("Hello.")
    assert (run in listed, run in apart_from_it) == (False, True)


def test_folder_with_real_runs_never_gets_simulated_runs(tmp_path: Path) -> None:
    settings = read_settings({"GOFER_DATA": str(tmp_path)})
    assert apart(settings).data == tmp_path
    (tmp_path / "gofer.db").touch()
    assert apart(settings).data == tmp_path
    move_apart(tmp_path)
    assert not (tmp_path / WORLD).exists()
    assert (tmp_path / "simulated" / "gofer.db").exists()
    (tmp_path / "gofer.db").touch()
    assert apart(settings).data == tmp_path / "simulated"


def test_second_simulated_state_does_not_replace_the_first(tmp_path: Path) -> None:
    settings = read_settings({"GOFER_DATA": str(tmp_path)})
    for _ in range(2):
        assert apart(settings).data == tmp_path
        (tmp_path / "gofer.db").write_text("a state")
        move_apart(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"simulated", "simulated-2", "serving.lock"}
    shutil.rmtree(tmp_path / "simulated")
    move_apart(tmp_path)
    assert not (tmp_path / "simulated").exists()
