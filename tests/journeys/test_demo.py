"""What a visitor tries in the demo: free questions, :jira: on any message, direct messages, a button, every link."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path

import httpx2
import pytest

from gofer.app.demo.adopted_run import adopt_runs
from gofer.app.demo.own_copy import write_own_copy
from gofer.app.new_repository.shipped import shipped
from gofer.values.canonical_json import as_object
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.slack.workspace import Message
from support.app.company import Company, company

pytestmark = pytest.mark.anyio
ANSWERS = {
    "what can you do?": "Copy one of these",
    "what was decided in #incidents?": "**Release Captain** wrote on ",
    "what was decided in #pull-requests?": "has no message that begins with “Decision:”",
    "who owns the retry fix?": "**Checkout Owner**, going by [PAY-17]",
    "who owns the moon?": "I found no issue about “moon”",
    "find a ticket about payments": "Jira has these issues about “payments”",
    "find a ticket about unicorns": "Jira has no issue with all of these words",
    "what is PAY-17?": "Status: In Progress. Assignee: Checkout Owner.",
    "what is PAY-99?": "There is no issue PAY-99",
    "make a ticket: The coffee machine leaks": "The coffee machine leaks. Filed in OPS.",
    "make a ticket of this thread": "Put :jira: on a message",
    "summarise this thread": "There is only your question here",
    "what did that run cost?": "The offline model costs nothing",
    "which model are you?": "These answers come from a script",
    "thanks": "You are welcome",
    "hello": "Hello!",
    "will it rain?": "I have no answer to that",
}


@asynccontextmanager
async def demo(folder: Path) -> AsyncGenerator[Company]:
    """The demo's company with the demo's own copy of the workflows."""
    root = folder / "copy"
    root.mkdir()
    write_own_copy(shipped(), root)
    async with company(folder, root=root) as made:
        yield made


async def links_of(made: Company, path: str) -> set[str]:
    """Return the addresses of all links on a page of the simulated Slack."""
    page = await made.http.get(made.slack_url + path)
    assert page.status_code == 200
    found = {unescape(link) for link in re.findall(r'href="([^"]+)"', page.text)}
    return {link if link.startswith("http") else made.slack_url + link for link in found}


async def dead(made: Company, links: set[str]) -> list[str]:
    """Return the links that do not open."""
    opened = {link: await made.http.get(link, follow_redirects=True) for link in sorted(links)}
    return [link for link, answer in opened.items() if answer.status_code != 200]


def text_of(answers: list[Message]) -> str:
    """Return the text of the only answer; it is the offline model's."""
    (answer,) = answers
    text = str(answer.blocks[0]["text"])
    assert text.startswith("[offline model] ")
    return text


async def test_free_questions_are_answered_once_each_with_links_that_open(tmp_path: Path) -> None:
    async with demo(tmp_path) as made:
        for number, (question, expected) in enumerate(ANSWERS.items(), start=1):
            asked = await made.ask(f"@Gofer {question}", "general")
            heads = await made.ended(number)
            assert heads[-1].status == "done", question
            assert expected in text_of(list(made.answers(asked))), question
            links = await links_of(made, f"/?channel={asked.channel}&thread={asked.ts}")
            assert await dead(made, links) == [], question


async def test_thread_is_summarised_by_its_first_and_last_message(tmp_path: Path) -> None:
    async with demo(tmp_path) as made:
        deploy = made.slack.workspace.timeline("C0DEPLOY0")[0]
        asked = await made.ask("@Gofer summarise this thread", "deploys", deploy)
        await made.ended()
        text = text_of(list(made.answers(asked)))
    assert "**Release Captain** began: “Release 2026.47 goes out" in text
    assert "**New Colleague** wrote last: “I only now read that checkout" in text


async def test_emoji_on_own_message_answer_and_reply_makes_a_ticket_of_each(tmp_path: Path) -> None:
    async with demo(tmp_path) as made:
        jira = made.embedded.simulated.system(JiraSimulator)
        assert jira is not None
        before = set(jira.state())
        own = await made.ask("The printer on floor 3 is broken.", "general")
        await made.slack.react("U0SUPPT0", own.channel, own.ts, "jira")
        await made.ended(1)
        answer = made.answers(own)[-1]
        await made.slack.react("U0SUPPT0", own.channel, answer.ts, "jira")
        await made.ended(2)
        reply = await made.ask("And the coffee machine leaks!", "general", own)
        await made.slack.react("U0SUPPT0", own.channel, reply.ts, "jira")
        await made.slack.react("U0CHECK0", own.channel, reply.ts, "jira")
        await made.ended(4)
        state = jira.state()
        answers = list(made.answers(own))
    summaries = [as_object(state[key])["summary"] for key in sorted(set(state) - before)]
    assert "The printer on floor 3 is broken" in summaries
    assert "And the coffee machine leaks" in summaries
    assert (len(summaries), len(answers)) == (3, 3)


async def test_later_request_in_the_thread_of_the_scene_gets_its_own_answer(tmp_path: Path) -> None:
    async with demo(tmp_path) as made:
        deploy = made.slack.workspace.timeline("C0DEPLOY0")[0]
        link = made.slack.workspace.permalink(made.slack.workspace.timeline("C0INCID00")[0])
        asked = await made.ask(f"@Gofer does what was decided in {link} block this deploy?", "deploys", deploy)
        await made.ended(1)
        thanks = await made.ask("@Gofer thanks", "deploys", deploy)
        await made.ended(2)
        await made.slack.react("U0CAPTN0", deploy.channel, deploy.ts, "jira")
        await made.ended(3)
        texts = [str(answer.blocks[0]["text"]) for answer in made.answers(asked)]
        assert len(made.answers(thanks)) == 2
    assert [text.count("Partly") for text in texts] == [1, 0, 0]
    assert "You are welcome" in texts[1]
    assert "Release 2026.47" in texts[2]


@pytest.mark.parametrize("text", ["what can you do?", "@Gofer what can you do?"])
async def test_direct_message_on_the_page_is_answered_once(tmp_path: Path, text: str) -> None:
    async with demo(tmp_path) as made:
        page = await made.http.get(f"{made.slack_url}/?direct=U0NEWCO0")
        (channel,) = set(re.findall(r'name="channel" value="(D\w+)"', page.text))
        assert re.findall(r'<option value="(\w+)"', page.text) == ["U0NEWCO0"]
        form = {"user": "U0NEWCO0", "channel": channel, "text": text}
        assert (await made.http.post(f"{made.slack_url}/post", data=form)).status_code == 303
        await made.ended()
        (asked,) = [one for one in made.slack.workspace.timeline(channel) if not one.bot_id]
        assert "Copy one of these" in text_of(list(made.answers(asked)))
        assert await dead(made, await links_of(made, f"/?channel={channel}&thread={asked.ts}")) == []


async def test_button_on_the_page_approves_an_announcement(tmp_path: Path) -> None:
    async with demo(tmp_path) as made:
        asked = await made.ask("@Gofer announce in #general: The release goes out at 15:00", "deploys")
        question = await _question(made, asked)
        form = {"user": "U0CAPTN0", "channel": asked.channel, "ts": question.ts, "action_id": "approve"}
        pressed: httpx2.Response = await made.http.post(f"{made.slack_url}/press", data=form)
        assert pressed.status_code == 303
        await made.ended()
        posted = made.slack.workspace.timeline("C0GENERA0")[-1]
        assert posted.text == "The release goes out at 15:00"
        answers = made.answers(asked)
        assert any("Posted in #general" in str(one.blocks) for one in answers)
        assert await dead(made, await links_of(made, f"/?channel={asked.channel}&thread={asked.ts}")) == []


async def _question(made: Company, asked: Message) -> Message:
    async with asyncio.timeout(60):
        while True:
            for answer in made.answers(asked):
                if any(block["type"] == "actions" for block in answer.blocks):
                    return answer
            await asyncio.sleep(0.01)


async def test_links_of_every_system_open_on_this_machine(tmp_path: Path) -> None:
    async with demo(tmp_path) as made:
        urls = made.embedded.simulated.urls
        links = {f"{urls['jira']}/browse/PAY-17", f"{urls['github']}/acme/shop/pull/41"}
        for channel in made.slack.workspace.channels:
            links |= await links_of(made, f"/?channel={channel}")
        for url in urls.values():
            page = await made.http.get(url)
            assert page.status_code == 200
            links |= {url + path for path in re.findall(r'href="(/[^"?]*)"', page.text)}
        assert not [link for link in links if not link.startswith("http://127.0.0.1:")]
        assert len([link for link in links if link.startswith(urls["notion"])]) > 1
        assert await dead(made, links) == []
        gone = [f"{urls['jira']}/browse/PAY-99", f"{urls['github']}/acme/shop/pull/99", f"{urls['notion']}/0"]
        gone.append(f"{urls['slack']}/archives/C0GENERA0/p1000000000000000")
        assert await dead(made, set(gone)) == sorted(gone)


async def test_run_of_another_process_opens_after_its_state_was_adopted(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    async with demo(tmp_path / "first") as made:
        await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
    async with demo(tmp_path / "second") as made:
        assert (await made.get(f"/runs/{head.run}")).status_code == 404
        await adopt_runs(tmp_path / "first" / "state", made.embedded.state)
        page = await made.get(f"/runs/{head.run}")
        assert (page.status_code, "[offline model] Hello!" in page.text) == (200, True)
