"""The context of each request: tokens by role, file and skill, what entered and left, and lost pinned text."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from gofer.journal import entries as e
from gofer.journal.entries import Recorded
from gofer.journal.workspace_entries import ContextCompacted, FileAdded, FileRead, SkillLoaded
from gofer.projections.requests.context import Snapshot, snapshots
from gofer.projections.requests.sent_requests import sent_requests
from gofer.values.messages import Media, ToolAsk, Usage
from support.engine.long_run import ReadingModel, adder, pages, run
from support.engine.memory_run import memory_run, says

pytestmark = pytest.mark.anyio
PARAMS: Mapping[str, object] = {"model": "m"}
LOOK: Mapping[str, object] = {"type": "function", "function": {"name": "look"}}
POST: Mapping[str, object] = {"type": "function", "function": {"name": "post"}}
SYSTEM = "Be brief.\n\n# Output\n\nAnswer with one JSON object.\n\n# Skills\n\nLoad them."


def journal(
    *entries: e.Entry, system: str = SYSTEM, tools: Sequence[Mapping[str, object]] = (LOOK, POST)
) -> list[Recorded]:
    """Return a journal with these entries, whose requests have the hashes of what this prompt and these tools send."""
    found = [Recorded(n, 0, n * 1_000, "me", entry) for n, entry in enumerate(entries, 1)]
    hashes = {
        one.recorded.address: hashlib.sha256(one.prefix).hexdigest() for one in sent_requests(found, system, tools)
    }
    return [
        replace(one, entry=replace(one.entry, prefix_sha256=hashes[one.address]))
        if isinstance(one.entry, e.LlmRequest)
        else one
        for one in found
    ]


def seen(recorded: Sequence[Recorded], system: str = SYSTEM) -> Sequence[Snapshot]:
    return snapshots(recorded, system, (LOOK, POST))


def asks(*tools: str) -> e.LlmResponse:
    asked = tuple(ToolAsk(f"c{at}", tool, "{}") for at, tool in enumerate(tools))
    return e.LlmResponse("", asked, "tool_calls", "m", Usage(1_000, 10, 0), 0.0, 5)


def result(call: str, text: str = "found") -> e.ToolResult:
    return e.ToolResult(call, "ok", text)


REQUEST = e.LlmRequest("1.0", "", PARAMS, "]}")
TASK = e.MessageReceived("Do it.")


def test_first_request_has_the_prompt_the_tools_and_the_first_message() -> None:
    (first,) = seen(journal(TASK, REQUEST))
    assert first.entered == ("system prompt", "tools", "first message")
    assert (first.number, first.address, first.left, first.problem) == (1, "2.0", (), "")
    assert set(first.pinned) == {"system prompt", "tools", "first message"}
    assert sum(first.roles.values()) == first.expected


def test_later_request_names_the_turn_and_the_results_that_entered() -> None:
    _, second = seen(journal(TASK, REQUEST, asks("look", "post"), result("1.1"), result("1.0"), REQUEST))
    assert second.entered == ("turn 1", "result of look (1.0)", "result of post (1.1)")
    assert second.left == ()


def test_message_of_a_person_during_a_turn_enters_after_the_results() -> None:
    word = e.MessageReceived("by the way", "i1")
    _, second = seen(journal(TASK, REQUEST, asks("look"), word, result("1.0"), REQUEST))
    assert second.entered == ("turn 1", "result of look (1.0)", "message of a person (4.0)")


def test_answer_is_counted_by_its_provider() -> None:
    (first,) = seen(journal(TASK, REQUEST, asks("look")))
    assert first.counted == first.tokens == 1_000


def test_files_and_skills_have_their_tokens_by_name() -> None:
    turn = asks("file_read", "load_skills", "look")
    facts = [
        FileRead("file_1", "lines", 1, 9),
        result("1.0", "word " * 100),
        SkillLoaded("routing"),
        result("1.1", "x " * 50),
    ]
    _, second = seen(journal(TASK, REQUEST, turn, *facts, result("1.2", "word " * 300), REQUEST))
    assert set(second.files) == {"file_1", "skill routing"}
    assert second.files["file_1"] > second.files["skill routing"] > 0
    assert second.pinned["skill routing"] == second.files["skill routing"]
    assert second.entered[-2:] == ("file_1", "skill routing")


def test_files_of_the_first_message_have_their_own_sections() -> None:
    text = 'Do it.\n\nAttached files:\n\nfile_1 "a.txt", whole:\n    word\n    word\n\nfile_2 "b.png" is attached.'
    added = [FileAdded(file, "a", "text/plain", 9, "Slack", "ab", preloaded=True) for file in ("file_1", "file_2")]
    first = e.MessageReceived(text, media=(Media("file_2", "image/png", "AAAA"),))
    (snapshot,) = seen(journal(*added, first, REQUEST))
    assert snapshot.files["file_2"] > 1_000 > snapshot.files["file_1"] > 0
    assert snapshot.entered[-3:] == ("first message", "file_1", "file_2")


def test_compaction_names_the_turns_the_file_and_the_skill_that_left() -> None:
    read = [asks("file_read"), FileRead("file_1", "lines", 1, 9), result("1.0")]
    loaded = [asks("load_skills"), SkillLoaded("routing"), result("2.0")]
    folded = ContextCompacted("what was", "history_1", 1, 4, (1, 2), "model")
    recorded = journal(TASK, REQUEST, *read, REQUEST, *loaded, REQUEST, asks("look"), result("3.0"), folded, REQUEST)
    last = seen(recorded)[-1]
    assert last.left == ("turns 1 to 2", "file_1", "skill routing")
    assert last.entered == ("summary of turns 1 to 2", "turn 3", "result of look (3.0)")
    assert last.problem == "Pinned text left the view: skill routing."


def test_other_file_of_a_skill_is_shown_as_a_file_and_not_pinned() -> None:
    loaded = [asks("load_subskill"), SkillLoaded("routing", "fields.md"), result("1.0")]
    last = seen(journal(TASK, REQUEST, *loaded, REQUEST))[-1]
    assert set(last.files) == {"routing/fields.md"}
    assert set(last.pinned) == {"system prompt", "tools", "first message"}


def test_required_skills_are_pinned_apart_from_the_system_prompt() -> None:
    skills = "# Skill: routing\n\nRoute well.\n\n# Steps\n\nOne.\n\n# Skill: tone\n\nBe kind."
    system = f"Be brief.\n\n{skills}\n\n# Output\n\nJSON."
    (first,) = seen(journal(TASK, REQUEST, system=system), system)
    assert list(first.pinned) == [
        "system prompt",
        "tools",
        "required skill routing",
        "required skill tone",
        "first message",
    ]
    assert first.pinned["required skill routing"] > first.pinned["required skill tone"] > 0
    prompt = sum(tokens for name, tokens in first.pinned.items() if name not in ("tools", "first message"))
    assert prompt == first.roles["system"]


def test_request_without_tools_names_none() -> None:
    (first,) = snapshots(journal(TASK, REQUEST, tools=()), SYSTEM, ())
    assert first.entered == ("system prompt", "first message")
    assert first.problem == ""


def test_compaction_that_removes_the_first_message_is_a_problem() -> None:
    folded = ContextCompacted("what was", "history_1", 0, 3, (1, 1), "model")
    last = seen(journal(TASK, REQUEST, asks("look"), result("1.0"), folded, REQUEST))[-1]
    assert last.problem == "Pinned text left the view: first message."
    assert last.left == ("first message",)


LACKING = [
    (SYSTEM, (LOOK,), "it lacked the schema of the tool post"),
    (SYSTEM, (), "it lacked all tools"),
    ("Be brief.\n\n# Skills\n\nLoad them.", (LOOK, POST), "it lacked the section 'Output' of its prompt"),
    ("Another prompt.", (LOOK, POST), "its prompt, its tools or its history had other text"),
]


@pytest.mark.parametrize(("system", "tools", "missing"), LACKING, ids=[missing for _, _, missing in LACKING])
def test_request_without_a_part_of_its_bundle_names_that_part(
    system: str, tools: Sequence[Mapping[str, object]], missing: str
) -> None:
    good = journal(TASK, REQUEST, asks("look"), result("1.0"), REQUEST)
    planted = journal(TASK, REQUEST, asks("look"), result("1.0"), REQUEST, system=system, tools=tools)
    first, second = seen([*good[:-1], planted[-1]])
    assert first.problem == ""
    assert second.problem == f"The request was not sent as its journal and bundle say: {missing}."


def test_request_without_weights_has_estimates_and_no_window() -> None:
    (first,) = seen(journal(TASK, REQUEST))
    assert (first.window, first.share) == (0, 0.0)
    assert first.expected > 0


async def test_long_run_is_followed_through_its_compactions() -> None:
    made = pages(300)
    model = ReadingModel(adder(30, lambda total, through: f"SUM {total} THROUGH PAGE {through}"))
    await run(made, model, 8_000)
    sent = json.loads(model.bodies[0])
    found = snapshots(await made.journal(), sent["messages"][0]["content"], sent["tools"])
    assert {snapshot.problem for snapshot in found} == {""}
    compacted = [snapshot for snapshot in found if snapshot.left]
    assert compacted
    assert all(snapshot.left[0].startswith("turn") for snapshot in compacted)
    assert {snapshot.window for snapshot in found} == {8_000}
    assert max(snapshot.share for snapshot in found) < 0.9
    for snapshot in found:
        assert sum(snapshot.files.values()) <= sum(snapshot.roles.values())


async def test_tokens_of_a_snapshot_come_from_its_journal() -> None:
    made = memory_run(says("", ("look", {"text": "a"})), says("done"))
    made.tool("look", "read")
    await made.run()
    bundle = made.bundle()
    recorded = await made.journal()
    weights = [one.entry.weights for one in recorded if isinstance(one.entry, e.LlmRequest)]
    found = snapshots(recorded, bundle.loaded.system, bundle.tools)
    assert [snapshot.roles for snapshot in found] == [one.roles for one in weights if one]
    assert [snapshot.window for snapshot in found] == [one.window for one in weights if one]
