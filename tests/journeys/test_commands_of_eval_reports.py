"""The commands that a report of `gofer eval` prints work as they are written, without any state of real runs."""

import json
import re
import shlex
from collections.abc import Sequence
from html import unescape
from pathlib import Path

import httpx2
import pytest

from gofer.app.embedded.stack import open_embedded
from gofer.app.settings import process_settings
from support.app.command_line import gofer
from support.evals.small_repository import SmallRepository, says

pytestmark = pytest.mark.usefixtures("terminal")
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: None, capsys: Capture) -> str:
    """A repository with one failed case as the current folder; the printed report."""
    made = SmallRepository(tmp_path)
    made.cases(says("rolled-back", "rolled back"))
    monkeypatch.chdir(tmp_path)
    gofer(capsys, "eval", "--record")
    code, out, err = gofer(capsys, "eval", "--html", "r.html", "--json", "r.json")
    assert (code, err) == (1, "")
    return out


def run_of(report: Path) -> str:
    """Return the id of the only run in a JSON report."""
    (case,) = json.loads(report.read_text())["result"]["cases"]
    return case["runs"][0]["runs"][0]


def html_commands(page: str) -> Sequence[str]:
    """Return the commands that a page names, except those that need a model."""
    found = re.findall(r"<code>(gofer [^<]*)</code>", page)
    return [unescape(command) for command in found if "eval" not in command]


def test_each_command_of_a_failed_case_opens_its_run(capsys: Capture, failing: str) -> None:
    replays = re.findall(r"replay: +(gofer .*)", failing)
    commands = [*replays, *html_commands(Path("r.html").read_text())]
    assert [command.split()[1] for command in commands] == ["replay", "replay", "trace"]
    for command in commands:
        code, out, err = gofer(capsys, *shlex.split(command)[1:])
        assert (code, err) == (0, "")
        assert out


@pytest.mark.parametrize("words", [["health"], ["diff"], ["golden", "--name", "made"], ["trace", "--full"]])
def test_commands_for_one_run_find_runs_of_evals(capsys: Capture, failing: str, words: list[str]) -> None:
    run = run_of(Path("r.json"))
    runs = [run]
    if words == ["diff"]:
        runs = [run, run]
    code, out, err = gofer(capsys, words[0], *runs, *words[1:])
    assert (code, err) == (0, "")
    assert out


def test_unknown_run_is_refused_beside_the_state_of_evals(capsys: Capture, failing: str) -> None:
    code, out, err = gofer(capsys, "trace", "ab" * 12)
    assert (code, out) == (2, "")
    assert err


@pytest.mark.anyio
async def test_page_of_a_run_of_an_eval_has_the_verdict_of_each_dimension(failing: str) -> None:
    run = run_of(Path("r.json"))
    async with open_embedded(process_settings(), Path.cwd(), world={}) as served, httpx2.AsyncClient() as client:
        answer = await client.get(f"{served.url}/runs/{run}", headers={"accept": "application/json"})
        page = await client.get(f"{served.url}/runs/{run}")
        trace = await client.get(f"{served.url}/runs/{run}/trace")
        absent = await client.get(f"{served.url}/runs/{'ab' * 12}")
        listed = await client.get(f"{served.url}/runs", headers={"accept": "application/json"})
    verdicts = {grade["dimension"]: grade["passed"] for grade in answer.json()["grades"]}
    assert verdicts["output.contains_all"] is False
    assert "output.contains_all" in page.text
    assert trace.json()["steps"]
    assert absent.status_code == 404
    assert listed.json() == {"runs": []}
