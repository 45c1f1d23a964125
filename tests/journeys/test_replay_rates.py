"""`gofer replay --times` at a terminal: rates of a live model, in a process that may reach that model only."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.app.command_line import Command, gofer, run_json
from support.app.runs_of_each_kind import Played
from support.models.deciding_provider import Said, Sent, deciding
from support.processes.forked_command import start_command

pytestmark = pytest.mark.anyio


async def replay(made: Played, url: str, *words: str) -> tuple[int, str, str]:
    """Run `gofer replay` with the model behind a URL, in the repository of the played runs."""
    port = url.rpartition(":")[2].partition("/")[0]
    environment = {**os.environ, "GOFER_DATA": str(made.folder / "state"), "OPENAI_BASE_URL": url}
    given = ("replay", made.runs["answered"], "--model", "live", *words)
    process = await start_command(given, made.folder / "repository", environment, int(port))
    out, err = await process.communicate()
    return await process.wait(), out.decode(), err.decode()


async def test_rate_of_a_live_model_has_an_interval_and_costs(of_each_kind: Played) -> None:
    async with deciding(lambda sent: "Yes, it may go out.") as (provider, url):
        code, out, err = await replay(of_each_kind, url, "--times", "6", "--shows", "status:done")
        assert (code, err) == (0, "")
        assert "reproduced: the run is done" in out
        assert "recorded prompt  6 of 6 (100%; 95 % interval 61.0% to 100.0%)" in out
        assert "6 live answers, $0.00" in out
        code, out, _ = await replay(of_each_kind, url, "--times", "6", "--shows", "status:done", "--json")
    assert len(provider.sent) == 12
    rate = json.loads(out)["recorded_prompt"]
    assert (rate["shown"], rate["conclusive"], rate["live_answers"]) == (6, 6, 6)


@pytest.mark.parametrize(
    ("prompt", "code", "verdict"), [("Say no.", 0, "the new prompt ended it"), ("Say yes.", 1, "does not end it")]
)
async def test_other_prompt_passes_only_if_the_live_model_stops(
    of_each_kind: Played, tmp_path: Path, prompt: str, code: int, verdict: str
) -> None:
    new = tmp_path / "new.md"
    new.write_text(prompt)
    words = ["--times", "8", "--shows", "text:frozen", "--against", str(new)]

    def decide(sent: Sent) -> Said:
        return "Not today: checkout is frozen." if b"Say no." not in sent.body else "No."

    async with deciding(decide) as (provider, url):
        found, out, err = await replay(of_each_kind, url, *words)
        assert (found, verdict in out, err) == (code, True, "")
        assert len(provider.sent) == 16
        found, out, _ = await replay(of_each_kind, url, *words, "--json")
    assert (found, json.loads(out)["recorded_prompt"]["shown"]) == (code, 8)


async def test_exit_code_of_a_model_that_gives_no_answer_is_four(of_each_kind: Played) -> None:
    code, out, err = await replay(of_each_kind, "http://127.0.0.1:1/v1", "--times", "1", "--shows", "status:done")
    assert (code, "Traceback" in err) == (4, False)
    assert "1 replay left out, because no model answered" in out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--times", "5", "--step"], "--times and --step contradict each other"),
        (["--times", "5", "--permute", "3"], "--times and --permute contradict each other"),
        (["--times", "5", "--until", "1.0"], "--times and --until contradict each other"),
        (["--times", "5", "--model", "recorded"], "--times needs --model live"),
        (["--times", "5", "--allow", "0.1"], "add --against FILE"),
        (["--allow", "0"], "add --times N"),
        (["--shows", "status:done"], "add --times N"),
        (["--times", "5"], "say what to reproduce with --shows"),
        (["--times", "5", "--shows", "status:failed"], "does not show that the run is failed"),
        (["--times", "5", "--against", "a.md", "--prompt", "b.md"], "leave --prompt out"),
    ],
)
def test_options_that_do_not_go_together_are_refused_with_one_sentence(
    of_each_kind: Played, command: Command, monkeypatch: pytest.MonkeyPatch, words: Sequence[str], problem: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    code, said = command("replay", of_each_kind.runs["answered"], "--model", "live", *words)
    assert (code, problem in said) == (2, True)


@pytest.mark.usefixtures("terminal")
def test_run_with_deleted_contents_is_wrong_input_and_no_divergence(capsys: pytest.CaptureFixture[str]) -> None:
    run = run_json(capsys)["run"]
    gofer(capsys, "purge", "--older-than", "0")
    code, out, err = gofer(capsys, "replay", run)
    assert (code, out) == (2, "")
    assert "were deleted by retention" in err
