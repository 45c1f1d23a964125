"""Where a run may write and what it may read: the rule itself, what it looks up, and to which id a call is sent."""

from dataclasses import replace
from typing import Any

import pytest

from gofer.app.catalog import build_tools
from gofer.app.settings import read_settings
from gofer.engine.permitted_call import Permitted
from gofer.engine.place_rules import Verdict, may_read, may_write, refusal
from gofer.journal import entries as e
from gofer.sources.jira import issues as jira
from gofer.sources.jira.api import JiraApi
from gofer.sources.notion import ids as notion
from gofer.sources.notion.api import NotionApi
from gofer.sources.part_values import Known, Person
from gofer.sources.slack import places as slack
from gofer.sources.slack.places import FindPlace, slack_find_place
from gofer.sources.workflow_files import DestinationsForm as Destinations
from gofer.tools.definition import Arguments, Call, Tool, ToolResult
from gofer.tools.places import Origin, Place
from gofer.values.canonical_json import decode
from gofer.values.errors import ConfigError, ToolError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret
from gofer_simulators.slack import Channel, SlackSimulator
from support.engine.approvals import Desk, desk
from support.engine.memory_run import says
from support.stand_ins import AnsweringHttp
from support.tools.calls import any_call
from support.vendors.slack import API, play

TOOLS = build_tools(read_settings({}))
MEMBER, GUEST, STRANGER = (Person("U1", kind) for kind in ("member", "guest", "external"))
ELSEWHERE = Known("C1")
ADA, BOT = "U0000001", "UBOT0000"
POST = ("slack_post_message", {"text": "there", "channel": "#random"})


@pytest.mark.parametrize(
    ("known", "asker", "verdict"),
    [
        (Known(home=True), None, "yes"),
        (Known(listed=True), None, "yes"),
        (Known(listed=True), STRANGER, "yes"),
        (Known(own=True), GUEST, "yes"),
        (Known("C1", public=True, member=True), MEMBER, "yes"),
        (Known("C1", public=True), MEMBER, "ask"),
        (Known("C1", member=True), GUEST, "ask"),
        (Known("C1", member=True), STRANGER, "ask"),
        (ELSEWHERE, MEMBER, "ask"),
        (Known("C1", public=True), None, "no"),
        (ELSEWHERE, None, "no"),
        (Known(), None, "no"),
    ],
)
def test_a_run_writes_at_home_where_its_file_says_and_where_its_asker_is(
    known: Known, asker: Person | None, verdict: Verdict
) -> None:
    assert may_write(known, asker) == verdict


@pytest.mark.parametrize(
    ("known", "asker", "alone", "allowed"),
    [
        (Known(home=True), STRANGER, False, True),
        (Known(public=True), None, False, True),
        (Known(listed=True), None, False, True),
        (Known(), None, False, False),
        (Known(public=True), MEMBER, False, True),
        (Known(public=True), GUEST, False, False),
        (Known(public=True, member=True), GUEST, False, True),
        (Known(public=True), STRANGER, False, False),
        (Known(member=True), MEMBER, False, False),
        (Known(member=True), MEMBER, True, True),
        (Known(listed=True), MEMBER, True, False),
        (Known(), MEMBER, True, False),
    ],
)
def test_a_run_reads_what_its_asker_can_read(known: Known, asker: Person | None, alone: bool, allowed: bool) -> None:
    assert may_read(known, asker, alone=alone) is allowed


@pytest.mark.parametrize("tool", [tool for tool in TOOLS.values() if tool.target.system], ids=lambda tool: tool.name)
def test_every_tool_that_writes_outside_declares_its_place(tool: Tool[Any]) -> None:
    writes = tool.effect != "read" and not tool.internal
    reads_slack = tool.name in ("slack_read_thread", "slack_read_channel", "slack_get_permalink")
    assert (tool.target.where is not None) is (writes or reads_slack)
    if writes:
        with pytest.raises(ConfigError, match="does not declare its place"):
            replace(tool, target=replace(tool.target, where=None))


class Counting:
    """HTTP of a call that keeps what was asked."""

    def __init__(self, call: Call) -> None:
        self._http = call.http
        self.asked: list[tuple[str, bytes]] = []

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.asked.append((request.url, request.content))
        return await self._http.send(request)


async def _asked(call: Call, **said: Any) -> tuple[ToolResult, list[str], list[bytes]]:
    http = Counting(call)
    found = await slack_find_place.act(API, replace(call, http=http), FindPlace(**said))
    return found, [url for url, _ in http.asked], [content for _, content in http.asked]


def test_a_hidden_channel_and_none_are_looked_up_by_the_same_requests_with_the_same_result() -> None:
    async def story(simulator: SlackSimulator, call: Call) -> None:
        simulator.workspace.enter(Channel("C0000009", "secret", "group", (BOT,)))
        simulator.workspace.enter(Channel("C0000008", "others", "group", ("U0000002",)))
        hidden = await _asked(call, channel="C0000009", asker=ADA)
        for other in ("C0000008", "C0000077"):
            found, urls, contents = await _asked(call, channel=other, asker=ADA)
            assert (found, urls) == hidden[:2]
            assert [content.replace(other.encode(), b"C0000009") for content in contents] == hidden[2]
        assert hidden[0] == slack.UNSEEN

    play(story)


def test_what_is_known_of_a_channel_is_what_its_asker_and_its_file_may_know() -> None:
    async def story(simulator: SlackSimulator, call: Call) -> None:
        workspace = simulator.workspace
        workspace.enter(Channel("C0000009", "secret", "group", (BOT, ADA)))

        async def known(channel: str, asker: str = ADA, *listed: str) -> dict[str, object]:
            found, _, _ = await _asked(call, channel=channel, asker=asker, listed=listed)
            return {name: value for name, value in found.details.items() if value}

        deploys = {"id": "C0000001", "name": "deploys", "public": True}
        assert await known("deploys") == {**deploys, "member": True}
        assert await known("C0000001", "U0000002") == deploys
        assert await known("C0000001", "", "#deploys") == {**deploys, "listed": True}
        assert await known("C0000009") == {"id": "C0000009", "name": "secret", "member": True}
        assert await known("C0000009", "U0000002") == await known("Deploys") == {}
        assert await known("C0000009", "", "C0000009") == {"id": "C0000009", "name": "secret", "listed": True}
        direct = workspace.direct(ADA).id
        assert await known(direct) == {"id": direct, "own": True}
        assert await known(direct, "U0000002") == {}

    play(story)


@pytest.mark.anyio
async def test_a_person_of_too_many_channels_and_one_that_slack_does_not_know_are_in_none() -> None:
    def answer(url: str, content: bytes) -> dict[str, object]:
        if url.endswith("users.conversations"):
            more = {"response_metadata": {"next_cursor": "next"}}
            return {"ok": True, "channels": [{"id": "C0000001"}], **more}
        return {"ok": True, "channel": {"id": "C0000001", "name": "deploys", "is_channel": True}}

    call = any_call(AnsweringHttp(answer), key="k")
    found = await slack_find_place.act(API, call, FindPlace(channel="C0000001", asker=ADA))
    assert (found.details["public"], found.details["member"]) == (True, False)
    refused = AnsweringHttp(lambda url, content: {"ok": False, "error": "user_not_found"})
    with pytest.raises(ToolError, match="user_not_found"):
        await slack_find_place.act(API, replace(call, http=refused), FindPlace(channel="C0000001", asker=ADA))


@pytest.mark.anyio
async def test_an_issue_that_moved_is_where_jira_says_it_is_now() -> None:
    http = AnsweringHttp(lambda url, content: {"key": "PAY-9", "fields": {"project": {"key": "PAY"}}})
    call = any_call(http, key="k")
    found = await jira.jira_find_place.act(
        JiraApi("http://jira", "a@b", Secret("t")), call, jira.FindPlace(issue="OPS-7")
    )
    assert found.details == {"id": "PAY-9", "within": ["PAY"]}


@pytest.mark.anyio
async def test_a_page_of_notion_is_within_itself_and_what_it_stands_in() -> None:
    page, database, source = (f"5f1c7d2e-0a3b-4c4d-8e9f-00000000000{n}" for n in (1, 2, 3))
    parent = {"type": "data_source_id", "data_source_id": source, "database_id": database}
    http = AnsweringHttp(lambda url, content: {"object": "page", "id": page, "parent": parent})
    call = any_call(http, key="k")
    found = await notion.notion_find_place.act(
        NotionApi("http://notion", Secret("t")), call, notion.FindPlace(page=page)
    )
    assert found.details == {"id": page, "within": [page, database, source]}


def test_the_key_reads_ids_as_people_write_them() -> None:
    page = "5f1c7d2e-0a3b-4c4d-8e9f-00000000f0c5"
    said = {"slack": "public", "notion": [f"https://www.notion.so/acme/{page.replace('-', '')}?v=1"], "jira": "PAY"}
    read = Destinations.model_validate(said)
    assert (read.lists_all_public("slack"), read.one_by_one("slack")) == (True, ())
    assert (read.entries("notion"), read.entries("jira")) == ((page,), ("PAY",))


def _posting(*calls: tuple[str, dict[str, object]], **keys: object) -> Desk:
    return desk(says("", *calls), says("Done."), approve=None, tools=["slack_post_message"], **keys)


async def _calls(made: Desk, prefix: str) -> list[e.ToolCall]:
    return [one for one in await made.entries() if isinstance(one, e.ToolCall) and one.call.startswith(prefix)]


@pytest.mark.anyio
async def test_a_place_is_looked_up_once_in_five_minutes_and_the_call_is_sent_to_its_id() -> None:
    again = ("slack_post_message", {"text": "more", "channel": "random"})
    made = _posting(POST, again)
    await made.office.accept("run1", private=False)
    await made.work()
    assert {"there", "more"} <= {*made.office.posted}
    assert len(await _calls(made, "write-place/")) == 1
    sent = [(one.arguments or {})["channel"] for one in await _calls(made, "1.")]
    assert sent == ["C0RANDOM", "C0RANDOM"]


@pytest.mark.anyio
async def test_a_name_that_means_another_channel_by_the_time_of_the_decision_is_refused() -> None:
    made = _posting(POST)
    made.office.member = False
    await made.office.accept("run1", private=False)
    await made.work(4)
    before = made.office.worker.services
    moved = slack.place_result("C0OTHER0", "random", public=True, member=False, own=False, listed=False)

    async def renamed(call: Call, arguments: FindPlace) -> ToolResult:
        return moved

    tools = {**before.tools, "slack_find_place": replace(before.tools["slack_find_place"], act=renamed)}
    made.office.worker = replace(made.office.worker, services=replace(before, tools=tools))
    await made.press("approved", "U0NEWCO0")
    await made.work()
    assert "there" not in made.office.posted
    assert "differ from those of the approval request" in await made.told()


@pytest.mark.anyio
async def test_nothing_is_written_while_a_place_cannot_be_looked_up() -> None:
    made = _posting(POST)
    before = made.office.worker.services

    async def refused(call: Call, arguments: FindPlace) -> ToolResult:
        raise ToolError("Slack refused users.conversations (missing_scope).", code="missing_scope")

    tools = {**before.tools, "slack_find_place": replace(before.tools["slack_find_place"], act=refused)}
    made.office.worker = replace(made.office.worker, services=replace(before, tools=tools))
    await made.office.accept("run1", private=False)
    await made.work()
    assert (made.asked, "there" in made.office.posted) == ([], False)
    assert "missing_scope" in await made.told()


def test_a_call_in_doubt_is_sent_again_to_the_id_on_record_whatever_its_name_means_now() -> None:
    tool = TOOLS["slack_post_message"]
    asked = Permitted("1.0", tool, tool.parse(POST[1]))
    judged = replace(asked, ids={"channel": "C0RANDOM0"})
    intent = judged.intent
    assert decode(tool.arguments.model_validate(intent.arguments).model_dump_json().encode()) == {
        "text": "there",
        "channel": "C0RANDOM0",
        "thread_ts": "",
    }
    assert asked.as_recorded(intent).sent_arguments == judged.sent_arguments
    assert asked.as_recorded(replace(intent, arguments=None)) == asked.as_recorded(None) == asked


def test_a_run_without_an_asker_is_not_told_of_an_entry_that_cannot_be_written() -> None:
    assert "`writes: {" not in refusal(Place("slack", "person", "schedule"))
    assert "may not write to a person" in refusal(Place("slack", "person", "schedule"))
    assert '`writes: {slack: ["#general"]}`' in refusal(Place("slack", "channel", "general"))


@pytest.mark.anyio
async def test_a_place_of_a_system_that_gofer_does_not_know_is_asked_about() -> None:
    made = _posting(("slack_post_message", {"text": "there"}))
    before = made.office.worker.services

    def elsewhere(origin: Origin, arguments: Arguments) -> Place:
        return Place("acme", "project", "X")

    post = before.tools["slack_post_message"]
    tools = {
        **before.tools,
        "slack_post_message": replace(post, target=replace(post.target, writes=None, where=elsewhere)),
    }
    made.office.worker = replace(made.office.worker, services=replace(before, tools=tools))
    await made.office.accept("run1", private=False)
    await made.work()
    assert [one.where for one in made.asked] == ["X"]
    assert "`writes: {acme: [X]}`" in refusal(Place("acme", "project", "X"))
