"""A required plan that the model tries to skip, done item by item, and finished with a person's reply."""

import re
from pathlib import Path

import pytest

from gofer.journal.entries import RunStarted
from support.app.company import company
from support.app.one_workflow import CAPTAIN, DEPLOYS, texts, world
from support.models.deciding_provider import Said, Sent, deciding

pytestmark = pytest.mark.anyio
WORKFLOW = """\
description: d
owner: "#helpers"
when: [{slack.mention: {follow_ups: true}}]
plan: required
files: {preload_kb: 0}
limits: {llm_calls: 30, tool_calls: 30}
"""
ITEMS = ["Read the invoice", "Add up its lines", "Assign it to its order"]
NEEDS = "the number of the order"
LINES = (120, 84, 1_000)


def todo(number: int, status: str, **more: str) -> tuple[str, dict[str, str]]:
    return "todo_update", {"id": str(number), "status": status, **more}


def tries_to_end(sent: Sent) -> Said:
    """Try to end early in every way; do each item only when reminded, and ask a person about the last."""
    file, total = sent.files["invoice.csv"], sum(map(int, re.findall(r"line \d,(\d+)", "\n".join(sent.results))))
    match sent.turns:
        case 0:
            return [("file_read", {"file": file})]
        case 1:
            todos = [{"id": str(number), "description": text} for number, text in enumerate(ITEMS, 1)]
            return [("todo_write", {"todos": todos})]
        case 2:
            return [("finish", {"answer": "All done."})]
        case 3:
            return "All done."
        case 4:
            return [todo(1, "in_progress"), ("file_read", {"file": file})]
        case 5:
            return [todo(1, "completed"), todo(2, "in_progress")]
        case 6:
            return "It is done."
        case 7:
            return [todo(2, "completed"), todo(3, "blocked", needs=NEEDS)]
        case _:
            return [("finish", {"answer": f"The invoice comes to {total} EUR."})]


def goes_on(sent: Sent) -> Said:
    """Do the blocked item with the person's reply, from the file of the first run."""
    match sent.turns:
        case 0:
            return [todo(3, "in_progress"), ("file_read", {"file": sent.files["invoice.csv"]})]
        case 1:
            return [todo(3, "completed")]
        case _:
            (order,) = re.findall(r"It is order (\d+)", sent.first)
            lines = len(re.findall(r"line \d,", "\n".join(sent.results)))
            return f"The invoice of {lines} lines belongs to order {order}."


def decide(sent: Sent) -> Said:
    return goes_on(sent) if "You were at work in this thread before" in sent.first else tries_to_end(sent)


def last_said(sent: Sent) -> str:
    return str(sent.history[-1]["content"])


async def test_required_plan_is_done_item_by_item_and_continued_after_a_persons_reply(tmp_path: Path) -> None:
    agents = tmp_path / "repository" / "agents"
    agents.mkdir(parents=True)
    for name, text in (("w.yaml", WORKFLOW), ("w.md", "Help."), ("defaults.yaml", "models: {default: gpt-5.4-mini}\n")):
        (agents / name).write_text(text)
    invoice = "".join(f"line {number},{amount}\n" for number, amount in enumerate(LINES, 1)).encode()
    async with (
        deciding(decide) as (model, url),
        company(tmp_path, root=tmp_path / "repository", world=world(), OPENAI_BASE_URL=url) as made,
    ):
        question = "<@U0GOFER0> please file this invoice"
        asked = await made.slack.upload(CAPTAIN, DEPLOYS, "invoice.csv", invoice, question, mimetype="text/csv")
        (first,) = await made.ended()
        (answer,) = texts(made.answers(asked))
        assert (first.status, first.reason) == ("done", "")
        assert answer == f"The invoice comes to {sum(LINES)} EUR.\nNeeded from you to go on:\n• {ITEMS[2]}: {NEEDS}"
        tried = list(model.sent)
        # The file is deleted in Slack; the next run reads the stored copy of the first.
        await made.slack.delete_file(next(iter(made.slack.workspace.files)))
        await made.ask("It is order 4711.", thread=asked)
        _, second = await made.ended(2)
        assert second.status == "done"
        assert texts(made.answers(asked))[1:] == ["The invoice of 3 lines belongs to order 4711."]
        (started,) = [entry for entry in await made.entries(second.run) if isinstance(entry, RunStarted)]
        assert started.continues == first.run
    assert len(tried) == 9
    plan = "\n".join(f"[ ] {number} {text}" for number, text in enumerate(ITEMS, 1))
    # A call before the plan is refused; each early end is answered with the open items by name.
    assert last_said(tried[1]).startswith("Not called: this work needs a plan.")
    for early in (tried[3], tried[4]):
        assert f"Not finished: your plan has open items:\n{plan}\n" in last_said(early)
    assert [message["role"] for message in (tried[3].history[-1], tried[4].history[-1])] == ["tool", "user"]
    assert f"open items:\n[~] 2 {ITEMS[1]}\n[ ] 3 {ITEMS[2]}\n" in last_said(tried[7])
    # The plan is at the end of every request, with the next item.
    assert f"Your plan:\n[~] 1 {ITEMS[0]} ← CURRENT\n[ ] 2 {ITEMS[1]}\n[ ] 3 {ITEMS[2]}\nREMINDER:" in tried[5].tail
    assert 'call todo_update(id="2", status="completed"); 1 more to do after it.' in tried[7].tail
    assert "Your plan:" not in tried[1].tail
    # The follow-up run begins with the plan of the first run and with the same file.
    begun = model.sent[len(tried)]
    left = f"Your plan:\n[x] 1 {ITEMS[0]}\n[x] 2 {ITEMS[1]}\n[!] 3 {ITEMS[2]} (needs: {NEEDS})\n"
    assert left in begun.tail
    assert begun.files == tried[-1].files
