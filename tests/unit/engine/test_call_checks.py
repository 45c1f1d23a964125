"""The gates that decide from the journals of a run: changes of objects that it made, and questions after denials."""

from dataclasses import replace

import pytest

from gofer.journal.entries import ApprovalRequested, RunAccepted, RunStarted, ToolResult
from gofer.journal.log import Pen, claim, open_journal
from gofer.models.language_model import Answer
from gofer.sources.slack.approvals import CloseQuestion
from gofer.sources.slack.post_file import PostFile
from gofer.tools.definition import Call, Target, Tool
from gofer.tools.definition import ToolResult as Result
from gofer.values.errors import ToolError
from support.engine.approvals import ApprovalWorker, approval_worker, status
from support.engine.memory_run import Said, says
from support.engine.subagent_runs import Asked, RunWithSubagents, run_with_subagents
from support.runtime.memory_worker import Crashed
from support.stand_ins import make_outside

pytestmark = pytest.mark.anyio
NOT_MADE_HERE = (
    "Not called: edit changes only what this run, or a run that it continues, made by a call. Do not repeat this call."
)
NO_QUESTION = (
    "Not called: it needs approval, and people denied 2 calls of this run, or have not decided yet, so it asks no "
    "person again. Continue without it, or tell the asker."
)


def editing(*turns: Answer, below: Answer | None = None) -> RunWithSubagents:
    """Return a run that posts and edits messages. The text of a call is the ts of its message."""

    def think(asked: Asked) -> Answer:
        if asked.system != "You are a test.":
            return says("done") if asked.turn or below is None else below
        return turns[asked.turn] if asked.turn < len(turns) else says("Done.")

    made = run_with_subagents(think)

    async def post(call: Call, said: Said) -> Result:
        return Result("Posted.", "posted", {"channel": "C1", "ts": said.text})

    made.tool("post", "keyed", post)
    made.tool("look", "read", post)
    made.tool("edit", "keyed")
    made.tools["edit"] = replace(made.tools["edit"], target=Target(changes=lambda origin, said: {"ts": said.text}))
    made.subagent("poster", tools="inherit")
    return made


async def refusals(made: RunWithSubagents) -> list[str]:
    results = [one.entry for one in await made.journal() if isinstance(one.entry, ToolResult)]
    return [one.text for one in results if one.status == "refused"]


async def test_run_changes_the_message_that_its_own_call_posted() -> None:
    made = editing(says("", ("post", {"text": "1.0"})), says("", ("edit", {"text": "1.0"})))
    await made.resume()
    assert (made.acted, await refusals(made)) == (["post:1.0", "edit:1.0"], [])


async def test_run_changes_the_message_that_its_subagent_posted() -> None:
    below = says("", ("post", {"text": "1.0"}))
    ask = says("", ("subagent", {"agent_name": "poster", "prompt": "post"}))
    made = editing(ask, says("", ("edit", {"text": "1.0"})), below=below)
    await made.resume()
    assert (made.acted, await refusals(made)) == (["post:1.0", "edit:1.0"], [])


async def test_run_cannot_change_a_message_of_another_origin() -> None:
    # A read found the message, and another run, an answer or a question posted it.
    made = editing(says("", ("look", {"text": "1.0"})), says("", ("edit", {"text": "1.0"})))
    await made.resume()
    assert (made.acted, await refusals(made)) == (["look:1.0"], [NOT_MADE_HERE])


async def test_script_changes_only_messages_that_its_run_posted() -> None:
    made = editing()
    made.script = """
    async def coordinate(run):
        await run.call("post", text="1.0")
        await run.call("edit", text="1.0")
        await run.call("edit", text="2.0")
    """
    ending = await made.resume()
    assert made.acted == ["post:1.0", "edit:1.0"]
    assert NOT_MADE_HERE in ending.script_error


async def store_earlier(made: RunWithSubagents, run: str, text: str, continues: str) -> None:
    """Store the journal of an earlier run that posted a message, for a run that continues it."""
    earlier = editing(says("", ("post", {"text": text})))
    await earlier.resume()
    pen = Pen("me", make_outside(made.clock))
    accepted, *more = [one.entry for one in await earlier.journal()]
    assert isinstance(accepted, RunAccepted)
    await claim(run, accepted, pen, made.store, made.blobs)
    journal, _ = await open_journal(run, made.store, made.blobs, pen)
    for entry in more:
        journal.add(replace(entry, continues=continues) if isinstance(entry, RunStarted) else entry)
    await journal.commit()


async def test_run_changes_the_messages_of_all_earlier_runs_of_its_conversation() -> None:
    texts = ("1.0", "2.0", "3.0")
    made = editing(*(says("", ("edit", {"text": text})) for text in texts))
    await store_earlier(made, "first", "1.0", "deleted")
    await store_earlier(made, "second", "2.0", "first")
    step = await made.owned_step()
    step.progress.started = RunStarted("bundle", private=False, continues="second")
    await made.resume_with(step)
    assert (made.acted, await refusals(made)) == (["edit:1.0", "edit:2.0"], [NOT_MADE_HERE])


def files(text: str) -> Answer:
    return says("", ("file_ticket", {"text": text}))


async def _deny(made: ApprovalWorker, times: int) -> None:
    await made.memory_worker.accept("run1", private=False)
    for _ in range(times):
        await made.work(2)
        await made.press("denied")
    await made.work()


async def test_model_asks_people_no_third_time_after_two_denials_and_reads_why() -> None:
    made = approval_worker(*map(files, "abc"), says("Told."))
    await _deny(made, 2)
    assert [asked.arguments["text"] for asked in made.asked] == ["a", "b"]
    assert (made.filed, made.memory_worker.posted, await status(made)) == ([], ["Told."], "done")
    last = [one for one in await made.entries() if isinstance(one, ToolResult) and one.call == "3.0"]
    assert [(one.text, one.details) for one in last] == [(NO_QUESTION, {"code": "denied_before"})]


async def test_question_after_one_denial_and_an_approval_is_asked() -> None:
    made = approval_worker(*map(files, "abc"), says("Told."))
    await made.memory_worker.accept("run1", private=False)
    for decision in ("denied", "approved", "approved"):
        await made.work(2)
        await made.press(decision)
    await made.work()
    assert (len(made.asked), len(made.filed)) == (3, 2)


async def test_question_that_could_not_be_posted_is_no_denial_of_a_person() -> None:
    made = approval_worker(*map(files, "abc"), says("Told."), approve={"tools": ["file_ticket"], "by": "@nobody"})
    await made.memory_worker.accept("run1", private=False)
    await made.work()
    assert len([one for one in await made.entries() if isinstance(one, ApprovalRequested)]) == 3


LONG = "x" * 50_000


def with_files(made: ApprovalWorker, attached: list[PostFile]) -> ApprovalWorker:
    """Let a worker attach files."""

    async def attach(call: Call, file: PostFile) -> Result:
        assert [asked.approve for asked in made.asked] == [""]
        attached.append(file)
        if made.crash_after == "slack_post_file":
            made.crash_after = ""
            raise Crashed
        return Result("Attached.", "attached", {"channel": "C1"})

    worker = made.memory_worker.worker
    tools = {**worker.services.tools, "slack_post_file": Tool("slack_post_file", "", "keyed", PostFile, attach)}
    made.memory_worker.worker = replace(worker, services=replace(worker.services, tools=tools))
    return made


async def test_arguments_that_do_not_fit_stand_whole_in_a_file_below_the_question() -> None:
    attached: list[PostFile] = []
    made = with_files(approval_worker(files(LONG), says("Filed.")), attached)
    await made.memory_worker.accept("run1", private=False)
    await made.work(2)
    bare, question = made.asked
    (file,) = attached
    assert LONG in file.text
    assert (question.file, question.thread_ts) == (file.name, file.thread_ts)
    assert bare == question.model_copy(update={"approve": "", "deny": ""})
    await made.press("approved")
    await made.work()
    assert made.filed == ["run1/1.0"]


@pytest.mark.parametrize("tool", ["slack_ask_approval", "slack_post_file", "slack_close_question"])
async def test_question_with_a_file_gets_its_buttons_after_a_crash(tool: str) -> None:
    attached: list[PostFile] = []
    made = with_files(approval_worker(files(LONG), says("Filed.")), attached)
    made.crash_after = tool
    await made.memory_worker.accept("run1", private=False)
    await made.work()
    assert made.crash_after == ""
    await made.press("approved")
    await made.work()
    assert (made.filed, len({file.name for file in attached})) == (["run1/1.0"], 1)


async def test_question_that_one_person_sees_is_not_asked_about_arguments_without_room() -> None:
    attached: list[PostFile] = []
    made = with_files(approval_worker(files(LONG), says("Told."), approve=None), attached)
    services = made.memory_worker.worker.services

    async def read(call: Call, arguments: object) -> Result:
        return Result("Thread", "read", {"private": True})

    tools = {**services.tools, "slack_read_thread": replace(services.tools["slack_read_thread"], act=read)}
    made.memory_worker.worker = replace(made.memory_worker.worker, services=replace(services, tools=tools))
    await made.memory_worker.accept("run1")
    await made.work()
    assert (made.asked, attached, made.filed) == ([], [], [])
    reason = b"its arguments are too long for a question that only one person sees"
    assert reason in made.memory_worker.model.requests[-1]


async def test_question_without_its_file_never_gets_buttons() -> None:
    made = approval_worker(files(LONG), says("Told."))

    async def refuse(call: Call, file: PostFile) -> Result:
        raise ToolError("Slack did not accept the file.")

    worker = made.memory_worker.worker
    tools = {**worker.services.tools, "slack_post_file": Tool("slack_post_file", "", "keyed", PostFile, refuse)}
    made.memory_worker.worker = replace(worker, services=replace(worker.services, tools=tools))
    await made.memory_worker.accept("run1", private=False)
    await made.work()
    assert ([asked.approve + asked.deny for asked in made.asked], made.filed) == ([""], [])
    reason = "the file with its arguments could not be sent: Slack did not accept the file"
    assert made.closed == [f"Denied by Gofer: {reason}."]
    assert reason in await made.first_result()


async def test_question_without_buttons_is_closed_when_these_cannot_be_shown() -> None:
    made = with_files(approval_worker(files(LONG), says("Told.")), [])

    async def refuse(call: Call, arguments: CloseQuestion) -> Result:
        if not arguments.ending:
            raise ToolError("Slack did not accept the message.")
        made.closed.append(arguments.ending)
        return Result("Closed.", "closed")

    worker = made.memory_worker.worker
    close = replace(worker.services.tools["slack_close_question"], act=refuse)
    tools = {**worker.services.tools, close.name: close}
    made.memory_worker.worker = replace(worker, services=replace(worker.services, tools=tools))
    await made.memory_worker.accept("run1", private=False)
    await made.work()
    assert (made.closed, made.filed) == (["Denied by Gofer: its buttons could not be shown."], [])
