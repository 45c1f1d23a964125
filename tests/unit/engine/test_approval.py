"""A call under approval: asked once with its exact arguments, made once when the right person allows it, never else."""

import json
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_room import Said, says
from gofer.cancel import cancel
from gofer.dispatch import Ingress
from gofer.errors import ToolError
from gofer.events import Actor
from gofer.journal import entries as e
from gofer.journal.coordination import UNFINISHED
from gofer.journal.log import read_journal
from gofer.models.model import Answer
from gofer.secret import Secret
from gofer.tools.slack.approval import CloseQuestion, FindGroups, MayDecide, PostEphemeral
from gofer.tools.slack.question import Question
from gofer.tools.tool import Call, Tool, ToolResult
from gofer.triggers.door import Click
from gofer.workflows.load import Catalog
from gofer.workflows.routes import Routes
from gofer.workflows.schema import Defaults, Workflow
from office import CATALOG, Lost, Office, office

pytestmark = pytest.mark.anyio
KEY = Secret("0" * 64)
LEADS = {"U0LEAD000"}
FILE = ("file_ticket", {"text": "Checkout fails"})


@dataclass
class Desk:
    """An office whose workflow files tickets once somebody has approved, and a Slack that is a few lists."""

    office: Office
    asked: list[Question] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    words: list[tuple[str, str]] = field(default_factory=list)
    filed: list[str] = field(default_factory=list)
    lose_after: str = ""
    """A tool after whose effect the worker is lost, once."""

    @property
    def ingress(self) -> Ingress:
        made = self.office
        return Ingress({}, Routes(), made.store, made.queue, KEY, made.worker.services.outside)

    async def work(self, rounds: int = 8) -> None:
        """Answers bells for a while; a worker that is lost is followed by another one."""
        for _ in range(rounds):
            await self.office.hear_lost()
            self.office.clock.advance(130)

    async def press(self, decision: str, actor: str = "U0LEAD000", *, nth: int = -1) -> str:
        question = self.asked[nth]
        token = question.approve if decision == "approved" else question.deny
        at = int(self.office.clock.now() * 1000)
        return await self.ingress.press(Click(token, Actor(actor), at))

    async def entries(self, run: str = "run1") -> list[e.Entry]:
        return [item.entry for item in await read_journal(run, self.office.store, self.office.blobs)]

    async def told(self, run: str = "run1") -> str:
        """What the model was told of its first call."""
        (result,) = [
            one
            for one in await self.entries(run)
            if isinstance(one, e.ToolResult | e.ToolUnknown) and one.call == "1.0"
        ]
        return result.text


def desk(*answers: Answer | Exception, **keys: object) -> Desk:
    made = Desk(office(*answers))

    def lost(name: str) -> None:
        if made.lose_after == name:
            made.lose_after = ""
            raise Lost

    async def file(call: Call, said: Said) -> ToolResult:
        if call.key not in made.filed:
            made.filed.append(call.key)
        lost("file_ticket")
        return ToolResult(f"Filed as OPS-{len(made.filed)}", "filed", {"key": f"OPS-{len(made.filed)}"})

    async def ask(call: Call, asked: Question) -> ToolResult:
        made.asked.append(asked)
        lost("slack_ask_approval")
        return ToolResult("Asked.", "asked", {"channel": "C1", "ts": f"{len(made.asked)}.5"})

    async def find(call: Call, asked: Question) -> ToolResult | None:
        return ToolResult("Asked.", "asked", {"channel": "C1", "ts": "1.5"}) if asked in made.asked else None

    async def close(call: Call, arguments: CloseQuestion) -> ToolResult:
        made.closed.append(arguments.ending)
        lost("slack_close_question")
        return ToolResult("Closed.", "closed")

    async def whisper(call: Call, arguments: PostEphemeral) -> ToolResult:
        made.words.append((arguments.user, arguments.text))
        lost("slack_post_ephemeral")
        return ToolResult("Shown.", "told")

    async def may(call: Call, arguments: MayDecide) -> ToolResult:
        allowed = arguments.user in LEADS if "@leads" in arguments.by else arguments.user == arguments.requester
        return ToolResult("", "looked", {"allowed": allowed, "name": f"name of {arguments.user}"})

    async def groups(call: Call, arguments: FindGroups) -> ToolResult:
        if "@nobody" in arguments.names:
            raise ToolError("there is no user group @nobody in Slack")
        return ToolResult("", "looked", {"ids": dict.fromkeys(arguments.names, "S0LEADS00")})

    more: list[Tool] = [
        Tool("file_ticket", "files", "keyed", Said, file),
        Tool("slack_ask_approval", "", "lookup", Question, ask, look=find, internal=True),
        Tool("slack_ask_requester", "", "blind", Question, ask, internal=True),
        Tool("slack_close_question", "", "keyed", CloseQuestion, close, internal=True),
        Tool("slack_post_ephemeral", "", "blind", PostEphemeral, whisper, internal=True),
        Tool("slack_may_decide", "", "read", MayDecide, may, internal=True),
        Tool("slack_find_groups", "", "read", FindGroups, groups, internal=True),
    ]
    worker = made.office.worker
    tools = {**worker.services.tools, **{tool.name: tool for tool in more}}
    given = {"tools": ["file_ticket"], "approve": {"tools": ["file_ticket"], "by": "@leads"}, **keys}
    workflow = Workflow.model_validate({"description": "d", "owner": "#o", "when": ["slack.mention"], **given})
    loaded = replace(CATALOG.workflows["answer-here"], workflow=workflow)
    services = replace(worker.services, tools=MappingProxyType(tools), installation_key=KEY)
    catalog = Catalog({"answer-here": loaded}, Defaults())
    made.office.worker = replace(worker, services=services, catalog=catalog, alone=True)
    return made


async def status(made: Desk, run: str = "run1") -> str:
    return await made.office.status(run)


async def asked(*answers: Answer, **keys: object) -> Desk:
    """A run that waits for approval of its ticket."""
    made = desk(says("", FILE), *(answers or (says("Filed."),)), **keys)
    await made.office.accept("run1", private=False)
    await made.work(2)
    return made


async def test_a_call_waits_for_approval_with_its_exact_arguments_and_is_made_once_when_it_comes() -> None:
    made = await asked()
    assert (made.filed, await status(made)) == ([], "parked")
    head = await made.office.store.head("run1")
    assert head is not None
    assert head.reason == "waits for approval of file_ticket by @leads"
    (question,) = made.asked
    assert (question.tool, question.arguments) == ("file_ticket", {"text": "Checkout fails"})
    assert (question.by, question.page) == (["@leads"], ["S0LEADS00"])
    assert await made.press("approved") == ""
    await made.work()
    assert (made.filed, made.office.posted) == (["run1/1.0"], ["Filed."])
    (ending,) = made.closed
    assert ending.startswith("Approved by name of U0LEAD000 on 21 November")
    decided = [one for one in await made.entries() if isinstance(one, e.ApprovalDecided)]
    assert [(one.decision, one.by) for one in decided] == [("approved", "name of U0LEAD000")]


async def test_while_it_waits_other_runs_of_the_conversation_go_on() -> None:
    made = desk(says("", FILE), says("Second."), says("Filed."))
    await made.office.accept("run1", 1, private=False)
    await made.work(2)
    await made.office.accept("run2", 2, private=False)
    await made.work(2)
    assert (await status(made), await status(made, "run2")) == ("parked", "done")
    await made.press("approved")
    await made.work()
    assert (made.filed, await status(made)) == (["run1/1.0"], "done")


async def test_a_call_that_was_denied_is_not_made_and_the_run_goes_on() -> None:
    made = await asked(says("Then not."))
    await made.press("denied")
    await made.work()
    assert (made.filed, made.office.posted, await status(made)) == ([], ["Then not."], "done")
    assert "name of U0LEAD000 denied it" in await made.told()
    assert made.closed[0].startswith("Denied by name of U0LEAD000")


async def test_nobody_is_asked_again_for_what_was_denied() -> None:
    made = await asked(says("", FILE), says("", FILE), says("", FILE), says("Then not."))
    await made.press("denied")
    await made.work()
    assert (len(made.asked), made.filed, made.office.posted) == (1, [], ["Then not."])


async def test_without_a_decision_in_time_it_counts_as_denied() -> None:
    made = await asked(says("Nobody came."), approve={"tools": ["file_ticket"], "by": "@leads", "expires": "1 hour"})
    await made.work(20)
    assert (await status(made), made.closed) == ("parked", [])
    await made.work(10)
    assert (made.filed, made.office.posted) == ([], ["Nobody came."])
    assert made.closed == ["Nobody decided in time: denied."]
    assert "nobody approved it in time" in await made.told()


async def test_a_press_after_the_time_was_over_decides_nothing() -> None:
    made = await asked(says("Nobody came."), approve={"tools": ["file_ticket"], "by": "@leads", "expires": "1 hour"})
    made.office.clock.advance(3601)
    await made.press("approved")
    await made.work()
    assert (made.filed, made.office.posted) == ([], ["Nobody came."])
    assert made.words == [("U0LEAD000", "The time for this decision was over.")]


async def test_the_wrong_person_is_told_so_alone_and_the_run_waits_on() -> None:
    made = await asked()
    await made.press("approved", "U0NOBODY0")
    await made.work(2)
    assert (made.filed, await status(made)) == ([], "parked")
    assert made.words == [("U0NOBODY0", "Only @leads may decide this.")]
    await made.press("approved")
    await made.work()
    assert made.filed == ["run1/1.0"]


async def test_the_first_press_that_counts_decides_and_every_further_one_changes_nothing() -> None:
    made = await asked()
    await made.press("denied", "U0NOBODY0")
    made.office.clock.advance(1)
    await made.press("approved")
    made.office.clock.advance(1)
    await made.press("denied")
    await made.press("approved")
    await made.work()
    assert (made.filed, len(made.closed)) == (["run1/1.0"], 1)
    assert await made.press("approved") == "the run that asked has ended"


async def test_the_same_press_delivered_twice_is_one_item() -> None:
    made = await asked()
    await made.press("approved")
    await made.press("approved")
    assert len(await made.office.store.items("run1")) == 1


@given(st.data())
async def test_a_button_that_was_changed_in_any_way_is_refused_and_nothing_is_written(data: st.DataObject) -> None:
    made = await asked()
    token = made.asked[0].approve
    at = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.characters().filter(lambda char: char != token[at]))
    cut = data.draw(st.integers(0, len(token) - 1))
    for forged in (token[:at] + other + token[at + 1 :], token[:cut], token + "0", "", "."):
        assert await made.ingress.press(Click(forged, Actor("U0LEAD000"), 1)) == "the button is none that Gofer made"
    assert await made.office.store.items("run1") == []


async def test_a_button_of_another_installation_is_refused() -> None:
    made = await asked()
    elsewhere = replace(made.ingress, installation_key=Secret("1" * 64))
    assert await elsewhere.press(Click(made.asked[0].approve, Actor("U0LEAD000"), 1)) != ""
    assert await replace(made.ingress, installation_key=Secret("")).press(Click("x.y", Actor("U"), 1)) != ""


async def test_a_button_counts_for_its_own_call_only() -> None:
    made = await asked(says("", ("file_ticket", {"text": "Another"})), says("Both."))
    await made.press("approved")
    await made.work(2)
    assert (made.filed, len(made.asked)) == (["run1/1.0"], 2)
    await made.press("approved", nth=0)
    await made.work(2)
    assert made.filed == ["run1/1.0"]
    await made.press("approved")
    await made.work()
    assert made.filed == ["run1/1.0", "run1/2.0"]


async def test_a_cancel_while_it_waits_stops_the_run_and_takes_the_buttons_away() -> None:
    made = await asked()
    await cancel("run1", "Ada", made.office.store, made.office.queue, "c1")
    await made.work()
    assert (made.filed, await status(made)) == ([], "cancelled")
    assert made.office.posted == ["_Stopped: cancelled by Ada._"]
    assert made.closed == ["file_ticket was not called: the run ended before anybody decided."]


async def test_where_nobody_can_be_asked_the_call_is_not_made() -> None:
    made = await asked(says("Alas."), approve={"tools": ["file_ticket"], "by": "@nobody"})
    await made.work()
    assert (made.asked, made.filed, made.office.posted) == ([], [], ["Alas."])
    assert (await made.told()).startswith("Not called: it needs approval, and there is no user group @nobody in Slack.")


async def test_the_requester_may_decide_where_the_file_says_so() -> None:
    made = await asked(approve={"tools": ["file_ticket"], "by": "requester"})
    assert made.asked[0].page == ["U0NEWCO0"]
    await made.press("approved", "U0LEAD000")
    await made.work(2)
    assert (made.filed, made.words[0][1]) == ([], "Only the person who started this may decide this.")
    await made.press("approved", "U0NEWCO0")
    await made.work()
    assert made.filed == ["run1/1.0"]


@pytest.mark.parametrize("tool", ["slack_ask_approval", "slack_close_question", "slack_post_ephemeral", "file_ticket"])
async def test_a_worker_lost_after_any_effect_changes_nothing_of_what_comes_of_it(tool: str) -> None:
    made = desk(says("", FILE), says("Filed."))
    made.lose_after = tool
    await made.office.accept("run1", private=False)
    await made.work(4)
    await made.press("approved", "U0NOBODY0")
    await made.work(4)
    await made.press("approved")
    await made.work()
    assert made.lose_after == ""
    assert (made.filed, made.office.posted, len(made.asked)) == (["run1/1.0"], ["Filed."], 1)
    assert len(made.words) == 1
    assert {ending[:8] for ending in made.closed} == {"Approved"}


async def test_a_worker_lost_before_or_after_any_frame_changes_nothing_of_what_comes_of_it() -> None:
    for n, after in ((n, after) for n in range(2, 100) for after in (False, True)):
        made = desk()
        made.office.worker = replace(
            made.office.worker, services=replace(made.office.worker.services, model=FilesThenSaysSo())
        )
        reached = _mortal(made, n, after=after)
        await made.office.accept("run1", private=False)
        await made.work(4)
        if made.asked:
            await made.press("approved", "U0NOBODY0")
        await made.work(3)
        if made.asked:
            await made.press("approved")
        await made.work()
        # The last one: the office's messages are blind, so that the status may stand there for good.
        assert (made.filed, made.office.posted[-1], await status(made)) == (["run1/1.0"], "Filed.", "done"), n
        assert len(made.asked) == 1
        if not reached:
            assert n > 12
            return


class FilesThenSaysSo:
    """A model that answers by what it is asked, also when it is asked the same twice."""

    async def ask(self, body: bytes, timeout: float) -> Answer:
        return says("Filed.") if b'"role":"tool"' in body else says("", FILE)


def _mortal(made: Desk, n: int, *, after: bool) -> list[int]:
    """Loses the worker right before or after frame `n`, once; what is given says whether it came to that."""
    store, reached = made.office.store, list[int]()
    create = store.create

    async def mortal(run: str, number: int, frame: bytes) -> bytes | None:
        if number == n and not reached and not after:
            reached.append(n)
            raise Lost
        stands = await create(run, number, frame)
        if number == n and not reached:
            reached.append(n)
            raise Lost
        return stands

    store.create = mortal  # type: ignore[method-assign]
    return reached


async def test_a_private_run_asks_who_started_it_before_it_writes_elsewhere() -> None:
    made = desk(says("", FILE), says("Filed."), approve=None)
    _private(made)
    await made.office.accept("run1")
    await made.work(2)
    (question,) = made.asked
    assert (question.about, question.to, made.filed) == ("leaving", "U0NEWCO0", [])
    await made.press("approved", "U0LEAD000")
    await made.work(2)
    assert (made.filed, await status(made)) == ([], "parked")
    await made.press("approved", "U0NEWCO0")
    await made.work()
    assert made.filed == ["run1/1.0"]


@pytest.mark.parametrize(("said", "filed"), [("allow", ["run1/1.0"]), ("refuse", [])])
async def test_a_workflow_may_allow_or_refuse_that_without_asking(said: str, filed: list[str]) -> None:
    made = desk(says("", FILE), says("Done."), approve=None, private_channels=said)
    _private(made)
    await made.office.accept("run1")
    await made.work()
    assert (made.asked, made.filed, made.office.posted) == ([], filed, ["Done."])


async def test_who_started_a_private_run_and_those_who_approve_are_both_asked() -> None:
    made = desk(says("", FILE), says("Filed."))
    _private(made)
    await made.office.accept("run1")
    await made.work(2)
    await made.press("approved", "U0NEWCO0")
    await made.work(2)
    assert ([one.about for one in made.asked], made.filed) == (["leaving", "call"], [])
    await made.press("approved")
    await made.work()
    assert made.filed == ["run1/1.0"]


async def test_what_a_public_run_writes_and_what_a_private_one_writes_at_home_needs_no_leave() -> None:
    at_home = ("slack_post_message", {"text": "here", "channel": "C0DEPLOY0"})
    made = desk(says("", at_home), says("Done."), approve=None, tools=["slack_post_message"])
    _private(made)
    await made.office.accept("run1")
    await made.work()
    assert (made.asked, made.office.posted) == ([], ["Done.", "here"])
    for private, where in ((False, "#random"), (True, "#random")):
        made = desk(
            says("", ("slack_post_message", {"text": "there", "channel": where})),
            says("Done."),
            approve=None,
            tools=["slack_post_message"],
        )
        _private(made, private=private)
        await made.office.accept("run1", private=private)
        await made.work(2)
        assert (len(made.asked), "there" in made.office.posted) == ((1, False) if private else (0, True))


def _private(made: Desk, *, private: bool = True) -> None:
    """Lets the thread be one that only some people see."""
    services = made.office.worker.services

    async def read(call: Call, arguments: object) -> ToolResult:
        return ToolResult("Thread", "read", {"private": private})

    tools = {**services.tools, "slack_read_thread": replace(services.tools["slack_read_thread"], act=read)}
    made.office.worker = replace(made.office.worker, services=replace(services, tools=tools))


async def test_a_journal_of_a_request_holds_no_token() -> None:
    made = await asked()
    requested = [one for one in await made.entries() if isinstance(one, e.ApprovalRequested)]
    assert len(requested) == 1
    assert requested[0].until == int(made.office.clock.now() * 1000) + 86_400_000 - 260_000
    assert (await status(made)) in UNFINISHED
    assert json.loads(json.dumps(made.asked[0].arguments)) == {"text": "Checkout fails"}
