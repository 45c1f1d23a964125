"""Edits of workflow files during `gofer serve`: the next event uses them; a broken edit is reported and not used."""

import asyncio
from pathlib import Path

import pytest
import yaml

from support.app.serve_process import OperatorFolder, Running, free_port, operator_folder
from support.http import loopback
from support.models.deciding_provider import Said, Sent, deciding

pytestmark = pytest.mark.anyio
SOCKET = {"SLACK_BOT_TOKEN": "xoxb-simulated", "SLACK_APP_TOKEN": "xapp-simulated"}
SIGN = "End every answer with the word "


def decide(sent: Sent) -> str:
    """Answer with the word that a line of the prompt asks for, and with the way in which the run may work."""
    _, _, word = sent.messages[0]["content"].partition(SIGN)
    way = "planned" if b'"name":"todo_write"' in sent.body else "unplanned"
    return f"Hello {word.split()[0] if word else 'nothing'} {way}"


async def serving(made: OperatorFolder, url: str) -> tuple[Running, int]:
    made.slack.install(yaml.safe_load(made.manifest("--socket")))
    made.write_env(**SOCKET, OPENAI_BASE_URL=url)
    port = free_port()
    running = await made.start("serve", "--port", str(port))
    await running.says("/runs")
    return running, port


def edit(made: OperatorFolder, file: str, *, add: str) -> None:
    path = made.folder / file
    path.write_text(f"{path.read_text()}\n{add}\n")


async def until_read(running: Running) -> None:
    await running.says("the workflow files", after=len(running.lines))


@pytest.mark.rehearsal(
    "tests/journeys/test_edits_while_serving.py::test_edited_skill_applies_to_the_next_event",
    "tests/journeys/test_edits_while_serving.py::test_new_workflow_and_edited_script_apply_to_the_next_event",
)
async def test_edited_prompt_preamble_and_workflow_apply_to_the_next_event_under_traffic(tmp_path: Path) -> None:
    async with deciding(decide) as (_, url), operator_folder(tmp_path) as made:
        running, _ = await serving(made, url)
        stop = asyncio.Event()
        asked = []

        async def traffic() -> None:
            while not stop.is_set():
                asked.append(await made.ask("@Gofer hello"))
                await asyncio.sleep(0.1)

        coming = asyncio.create_task(traffic())
        said: list[str] = []
        for file, add in {
            "agents/answer-here.md": f"{SIGN}alpha",
            "agents/preamble.md": f"{SIGN}beta",
            "agents/answer-here.yaml": "plan: off",
        }.items():
            edit(made, file, add=add)
            await until_read(running)
            said.append((await made.answer(await made.ask("@Gofer hello"))).text)
        stop.set()
        await coming
        every = [(await made.answer(one)).text for one in asked]
        assert await running.stop() == 0
    # The preamble comes before the prompt, so its word wins.
    assert [text.split()[1:3] for text in said] == [["alpha", "planned"], ["beta", "planned"], ["beta", "unplanned"]]
    assert {text.split()[1] for text in every} == {"nothing", "alpha", "beta"}


async def test_edited_skill_applies_to_the_next_event(tmp_path: Path) -> None:
    def load_and_tell(sent: Sent) -> Said:
        if not sent.results:
            return [("load_skills", {"names": ["citing-sources"]})]
        _, _, word = sent.results[0].partition(SIGN)
        return f"Hello {word.split()[0] if word else 'nothing'}"

    async with deciding(load_and_tell) as (_, url), operator_folder(tmp_path) as made:
        running, _ = await serving(made, url)
        before = await made.answer(await made.ask("@Gofer hello"))
        edit(made, "skills/citing-sources/SKILL.md", add=f"{SIGN}gamma")
        await until_read(running)
        after = await made.answer(await made.ask("@Gofer hello"))
        assert await running.stop() == 0
    assert [answer.text.split()[:2] for answer in (before, after)] == [["Hello", "nothing"], ["Hello", "gamma"]]


async def test_broken_edit_keeps_the_last_good_files_and_is_shown_in_the_log_and_pages(tmp_path: Path) -> None:
    async with deciding(decide) as (_, url), operator_folder(tmp_path) as made, loopback.client() as http:
        running, port = await serving(made, url)
        edit(made, "agents/answer-here.md", add=f"{SIGN}alpha")
        await until_read(running)
        edit(made, "agents/answer-here.yaml", add="trigers: []")
        await until_read(running)
        answer = await made.answer(await made.ask("@Gofer hello"))
        pages = [(await http.get(f"http://127.0.0.1:{port}{path}")).text for path in ("/runs", "/prompts/answer-here")]
        path = made.folder / "agents" / "answer-here.yaml"
        path.write_text(path.read_text().replace("trigers: []", ""))
        await until_read(running)
        mended = (await http.get(f"http://127.0.0.1:{port}/runs")).text
        assert await running.stop() == 0
    assert answer.text.startswith("Hello alpha")
    assert [("have mistakes" in page, "trigers" in page) for page in pages] == [(True, True)] * 2
    assert "have mistakes" not in mended
    assert "agents/answer-here.yaml:" in "\n".join(running.lines)


async def test_trigger_without_its_condition_is_refused_and_the_mended_file_is_read(tmp_path: Path) -> None:
    async with deciding(decide) as (_, url), operator_folder(tmp_path) as made, loopback.client() as http:
        running, port = await serving(made, url)
        path = made.folder / "agents" / "answer-here.yaml"
        before = path.read_text()
        path.write_text(f"{before[: before.index('when:')]}when: [slack.reaction]\n")
        await until_read(running)
        page = (await http.get(f"http://127.0.0.1:{port}/runs")).text
        path.write_text(before)
        edit(made, "agents/answer-here.md", add=f"{SIGN}alpha")
        await until_read(running)
        answer = await made.answer(await made.ask("@Gofer hello"))
        assert await running.stop() == 0
    assert "Write `slack.reaction: {emoji: eyes}`" in page
    assert answer.text.startswith("Hello alpha")


SCRIPT = """from gofer.coordinator import Run


async def coordinate(run: Run) -> str:
    return "the first code"
"""
WORKFLOW = """description: Answer direct messages with code.
owner: "#dev-experience"
when: [{slack.message: {channels: "#general", mention: false}}]
coordinator: script
coordinator_script: coordinators/by_code.py
tools: []
"""


async def test_new_workflow_and_edited_script_apply_to_the_next_event(tmp_path: Path) -> None:
    async with deciding(decide) as (_, url), operator_folder(tmp_path) as made:
        running, _ = await serving(made, url)
        (made.folder / "coordinators" / "by_code.py").write_text(SCRIPT)
        (made.folder / "agents" / "by-code.yaml").write_text(WORKFLOW)
        await until_read(running)
        first = await made.answer(await made.ask("hello"))
        (made.folder / "coordinators" / "by_code.py").write_text(SCRIPT.replace("first", "second"))
        await until_read(running)
        second = await made.answer(await made.ask("hello"))
        assert await running.stop() == 0
    assert first.text.startswith("the first code")
    assert second.text.startswith("the second code")
