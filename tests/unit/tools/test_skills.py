"""Skills that a run loads on demand, with the contents from the beginning of the run."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.engine import loop
from gofer.engine.loop import Ending
from gofer.files.child import Children
from gofer.journal.entries import MessageReceived, ToolResult
from gofer.journal.log import read_journal
from gofer.journal.workspace_entries import FileAdded, SkillLoaded
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.sources.workflow_files import decode_bundle
from gofer.tools.declare import bind_all
from gofer.tools.definition import Repertoire, RunAtHand
from gofer.tools.files.tools import TOOLS as FILE_TOOLS
from gofer.tools.skills import TOOLS as SKILL_TOOLS
from gofer.tools.skills import LoadSubskill, load_subskill
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.outside import Clock, Http
from gofer.workflows.bundle import Bundle, encode_bundle
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.schema import Defaults
from gofer.workflows.skill import Skill
from support.engine.memory_run import PROVENANCE, MemoryRun, at_work, coordinate, memory_run, says
from support.models.served import served
from support.runtime.memory_worker import CATALOG, memory_worker
from support.runtime.worker_parts import FixedCatalog
from support.tools.calls import any_call

pytestmark = pytest.mark.anyio
WIDE = "references/wide.md"
TABLES = Skill("tables", "How tables look.", "Three columns at most.", {WIDE: b"Turn them."})
ROUTING = Skill(
    "routing", "Where things go.", "Payments go to PAY.", {"logo.png": b"\x89PNG\xff", "scripts/a.py": b"1"}
)
SKILLS = {"routing": ROUTING, "tables": TABLES}
BASE = {"description": "d", "owner": "#o", "when": ["slack.mention"]}


def bundle_with(made: MemoryRun, known: Mapping[str, Skill], **keys: object) -> Bundle:
    made.tools |= {tool.name: tool for tool in (*bind_all(SKILL_TOOLS, None), *bind_all(FILE_TOOLS, Children()))}
    workflow = Workflow.model_validate({**BASE, **keys})
    loaded = Loaded("answer-here", workflow, "You are a test.", "p.md", served("m"), skills=known)
    # As a resumed run reads its bundle after the files changed.
    return decode_bundle(encode_bundle(made.services().new_bundle(loaded)))


async def work(made: MemoryRun, withdrawn: Sequence[str] = (), skills: Mapping[str, Skill] = SKILLS) -> Ending:
    bundle = bundle_with(made, skills)
    step = await made.step()
    step.note(MessageReceived("please"))
    working = at_work(step, bundle, withdrawn=frozenset(withdrawn))
    ending = await loop.coordinate(working, bundle, PROVENANCE)
    await step.commit()
    return ending


async def gave(made: MemoryRun) -> list[str]:
    return [recorded.entry.text for recorded in await made.journal() if isinstance(recorded.entry, ToolResult)]


async def facts(made: MemoryRun) -> list[SkillLoaded]:
    return [recorded.entry for recorded in await made.journal() if isinstance(recorded.entry, SkillLoaded)]


def loads(*names: str, **more: object) -> tuple[str, dict[str, object]]:
    return "load_skills", {"names": list(names), **more}


def reads(skill: str, file: str) -> tuple[str, dict[str, object]]:
    return "load_subskill", {"skill": skill, "file": file}


async def test_loaded_skill_is_shown_to_the_model_and_recorded() -> None:
    made = memory_run(says("", loads("tables")), says("done"))
    assert (await work(made)).answer == "done"
    (text,) = await gave(made)
    assert text == (
        "# Skill: tables\n\nThree columns at most.\n\n"
        "Its other files, for load_subskill:\n- references/wide.md (10 bytes)"
    )
    assert await facts(made) == [SkillLoaded("tables")]
    first, second = (json.loads(body) for body in made.model.requests)
    assert "Three columns" not in json.dumps(first)
    assert second["messages"][: len(first["messages"]) - 1] == first["messages"][:-1]


async def test_loaded_skill_is_shown_again_only_on_request() -> None:
    made = memory_run(
        says("", loads("tables")), says("", loads("tables")), says("", loads("tables", again=True)), says("d")
    )
    await work(made)
    first, second, third = await gave(made)
    assert "is already in this conversation" in second
    assert third == first
    assert await facts(made) == [SkillLoaded("tables"), SkillLoaded("tables")]


async def test_required_skill_is_not_shown_again_by_load_skills() -> None:
    made = memory_run(says("", loads("tables", "routing")), says("d"))
    bundle = bundle_with(made, SKILLS, skills={"required": ["tables"]})
    step = await made.step()
    step.note(MessageReceived("please"))
    await coordinate(step, bundle, PROVENANCE)
    await step.commit()
    first, second = (await gave(made))[0].split("\n\n", 1)
    assert first.startswith("The skill 'tables' is already in this conversation")
    assert second.startswith("# Skill: routing")


async def test_load_skills_shows_known_skills_and_names_unknown_ones() -> None:
    made = memory_run(says("", loads(*SKILLS, "nonsense")), says("done"))
    await work(made)
    (text,) = await gave(made)
    assert text.startswith("[There is no skill 'nonsense' here. The skills of this workflow:")
    assert all(f"# Skill: {name}" in text for name in SKILLS)


async def test_load_skills_shows_the_first_five_and_names_the_rest() -> None:
    many = {f"s{number}": Skill(f"s{number}", "d", "Like this.") for number in range(7)}
    made = memory_run(says("", loads(*many, "nonsense")), says("done"))
    await work(made, skills=many)
    (text,) = await gave(made)
    assert "[One call loads 5 skills; these are left, load them with another call: s5, s6.]" in text
    assert [name for name in many if f"# Skill: {name}" in text] == ["s0", "s1", "s2", "s3", "s4"]


async def test_load_skills_answers_several_unknown_names_with_one_list() -> None:
    made = memory_run(says("", loads("tables", "a", "b")), says("", loads("a", "b")), says("done"))
    await work(made)
    first, second = await gave(made)
    told = "There is no skill 'a' or 'b' here. The skills of this workflow: routing, tables."
    assert first.startswith(f"[{told}]\n\n# Skill: tables")
    assert second == told


async def test_load_skills_names_a_withdrawn_skill_beside_the_others() -> None:
    first, second = list(SKILLS)[:2]
    made = memory_run(says("", loads(first, second)), says("done"))
    await work(made, withdrawn=[second])
    (text,) = await gave(made)
    assert text.startswith(f"[The skill {second!r} has been withdrawn; continue without it.]")
    assert f"# Skill: {first}" in text


async def test_load_subskill_reads_a_file_of_a_skill_by_path() -> None:
    made = memory_run(says("", reads("tables", "./references/wide.md")), says("", reads("tables", WIDE)), says("d"))
    await work(made)
    first, second = await gave(made)
    assert first == "references/wide.md of the skill 'tables':\nTurn them."
    assert "is already in this conversation" in second
    assert await facts(made) == [SkillLoaded("tables", WIDE)]


@pytest.mark.parametrize(
    ("skill", "file", "told"),
    [
        ("tables", "../routing/SKILL.md", "no file '../routing/SKILL.md'"),
        ("tables", "/etc/passwd", "no file '/etc/passwd'"),
        ("tables", "references/../../../secret", "no file"),
        ("tables", "references", "no file"),
        ("tables", "x\x00y", "no file"),
        ("tables", "SKILL.md", "read it with load_skills"),
        ("table", "a", "There is no skill 'table' here. The skills of this workflow: routing, tables."),
    ],
)
async def test_load_subskill_refuses_a_path_outside_the_skill_in_one_sentence(skill: str, file: str, told: str) -> None:
    made = memory_run(says("", reads(skill, file)), says("d"))
    assert (await work(made)).answer == "d"
    assert told in (await gave(made))[0]
    assert await facts(made) == []


@given(st.text() | st.sampled_from(["..", "../..", "/", "//etc/passwd", "references/../references/wide.md", "~"]))
def test_load_subskill_never_reads_a_path_outside_the_skill(path: str) -> None:
    call = any_call(cast(Http, None), key="k", clock=cast(Clock, None))
    call = replace(call, run=RunAtHand(repertoire=Repertoire({}, SKILLS)))
    if path.removeprefix("./") != WIDE:
        with pytest.raises(ToolError):
            asyncio.run(load_subskill.act(call, LoadSubskill(skill="tables", file=path)))


async def test_binary_file_of_a_skill_becomes_a_file_of_the_run() -> None:
    made = memory_run(says("", reads("routing", "logo.png")), says("d"))
    await work(made)
    (added,) = [recorded.entry for recorded in await made.journal() if isinstance(recorded.entry, FileAdded)]
    assert (added.name, added.media_type, added.origin) == ("logo.png", "image/png", "the skill routing")
    assert added.file in (await gave(made))[0]


async def test_long_file_of_a_skill_becomes_a_file_of_the_run_with_a_preview() -> None:
    long = Skill("long", "d", "b", {"all.md": b"".join(b"A long line number %d.\n" % n for n in range(20_000))})
    made = memory_run(says("", reads("long", "all.md")), says("d"))
    await work(made, skills={"long": long})
    (text,) = await gave(made)
    assert len(text) < 10_000
    assert any(isinstance(recorded.entry, FileAdded) for recorded in await made.journal())


async def test_loaded_skill_says_that_scripts_run_with_the_tool_python() -> None:
    made = memory_run(says("", loads("routing")), says("d"))
    await work(made)
    assert "what is in scripts/ is Python for the tool python:\n- logo.png" in (await gave(made))[0]


async def test_prohibited_skill_is_refused_in_a_running_run_that_continues() -> None:
    made = memory_run(says("", loads("tables")), says("", reads("tables", WIDE)), says("", loads("x")), says("d"))
    assert (await work(made, withdrawn=["tables"])).answer == "d"
    first, second, third = await gave(made)
    assert first == second == "The skill 'tables' has been withdrawn; continue without it."
    assert third.endswith("The skills of this workflow: routing.")


async def test_run_without_skills_is_not_offered_the_skill_tools() -> None:
    made = memory_run(says("", loads("tables")), says("d"))
    offered = {tool["function"]["name"] for tool in bundle_with(made, {}).tools}
    assert ("file_read" in offered, offered & {"load_skills", "load_subskill"}) == (True, set())
    await work(made, skills={})
    assert "There is no tool 'load_skills' here" in (await gave(made))[0]


async def test_skill_too_long_for_the_answer_becomes_a_file_and_can_be_loaded_again() -> None:
    long = {
        name: Skill(name, "Long.", f"{name} begins. " + "word " * 6_000, {"more.md": b"word " * 12_000})
        for name in "ab"
    }
    made = memory_run(says("", loads("a", "b")), says("", reads("a", "more.md")), says("", loads("b")), says("d"))
    await work(made, skills=long)
    both, more, again = await gave(made)
    assert both.count("word") == 6_000
    assert "a begins." in both
    assert re.search(r"The skill 'b' is too long for one result; it is now the file (file_\w+)", both)
    assert "is too long for one result; it is now the file" in more
    assert again.startswith("# Skill: b\n\nb begins.")
    assert await facts(made) == [SkillLoaded("a"), SkillLoaded("b")]


def catalog_with(*prohibited: str) -> Catalog:
    loaded = CATALOG.workflows["answer-here"]
    workflow = Workflow.model_validate({**BASE, "skills": {"prohibited": [*prohibited]}})
    kept = {name: skill for name, skill in SKILLS.items() if name not in prohibited}
    return Catalog({"answer-here": replace(loaded, workflow=workflow, skills=kept)}, Defaults())


@pytest.mark.parametrize("prohibited", [True, False])
async def test_parked_run_loses_a_prohibited_skill_and_keeps_a_deleted_skill(
    prohibited: bool,
) -> None:
    made = memory_worker(TemporaryError("busy", retry_after=600), says("", loads("tables")), says("Done."))
    services = made.worker.services
    tools = {**services.tools, **{tool.name: tool for tool in bind_all(SKILL_TOOLS, None)}}
    made.worker = replace(made.worker, services=replace(services, tools=tools), workflows=FixedCatalog(catalog_with()))
    await made.accept("run1", private=False)
    await made.work_once()
    assert await made.status("run1") == "parked"
    # The files as the next worker reads them.
    gone = Catalog({"answer-here": replace(CATALOG.workflows["answer-here"], skills={})}, Defaults())
    made.worker = replace(made.worker, workflows=FixedCatalog(catalog_with("tables") if prohibited else gone))
    made.clock.advance(700)
    while await made.work_once():
        pass
    journal = await read_journal("run1", made.store, made.blobs)
    (told,) = [item.entry.text for item in journal if isinstance(item.entry, ToolResult) and item.entry.call == "1.0"]
    assert ("been withdrawn" in told, "Three columns" in told) == (prohibited, not prohibited)
    assert made.posted == ["Done."]
