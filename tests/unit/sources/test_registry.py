"""The registry of sources: one row for each source folder, naming existing tools of its system."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from gofer.app.catalog import build_tools
from gofer.app.settings import read_settings
from gofer.sources import registry
from gofer.sources.part_values import Person
from gofer.sources.receivers import events_of
from gofer.sources.registry import SOURCES, UNKNOWN, WORKPLACE, source_of
from gofer.sources.source import Source
from gofer.sources.triggers import TRIGGER_KINDS, TRIGGERS
from gofer.values.events import Actor, Event
from gofer.workflows.when import TriggerKind

TOOLS = build_tools(read_settings({}))


def event(source: str) -> Event:
    return Event(source, f"{source}.happened", ("1",), f"{source}:1", Actor("U1"), "words", {})


def own_tools(part: object) -> Iterator[str]:
    """Yield the tools that the parts of a source name."""
    if not is_dataclass(part):
        return
    for one in fields(part):
        value: object = getattr(part, one.name)
        if isinstance(part, Source) and one.name == "tools":
            continue
        if one.name in ("tools", "group_tools"):
            yield from value  # pyright: ignore[reportGeneralTypeIssues]
        else:
            yield from own_tools(value)


def test_source_folders_each_have_a_row_in_the_registry() -> None:
    folder = Path(registry.__file__).parent
    assert set(SOURCES) == {path.parent.name for path in folder.glob("*/source.py")}
    assert {path.parent.name for path in folder.glob("*/receiver.py")} <= set(SOURCES)
    assert [source.name for source in SOURCES.values()] == [*SOURCES]


def test_source_folders_with_triggers_are_in_the_trigger_registry() -> None:
    folder = Path(registry.__file__).parent
    named = [spec.kinds[0].source for spec in TRIGGERS]
    assert named == [source for source in SOURCES if (folder / source / "triggers.py").exists()]


@pytest.mark.parametrize("kind", [kind for kind in TRIGGER_KINDS if kind.place], ids=lambda kind: kind.name)
def test_trigger_condition_on_the_place_uses_a_fact_on_the_place(kind: TriggerKind) -> None:
    spec = events_of(kind.name)
    assert kind.place.partition(":")[0] in {*spec.places.values(), spec.place_of_kind.get(kind.name, "")}


@pytest.mark.parametrize("source", SOURCES.values(), ids=lambda source: source.name)
def test_source_names_existing_tools_of_the_source_system(source: Source) -> None:
    found = {*own_tools(source)}
    assert found <= TOOLS.keys()
    assert {TOOLS[name].target.system for name in found} <= {source.system}


def test_workplace_names_existing_tools() -> None:
    found = {*own_tools(WORKPLACE)}
    assert found
    assert found <= TOOLS.keys()


def test_event_of_an_unknown_source_shows_the_text_and_has_no_place_for_an_answer() -> None:
    happened = event("elsewhere")
    assert source_of(happened) is UNKNOWN
    told = UNKNOWN.from_event(happened, Person("U1"))
    assert (told.happened, told.read, told.private) == ("Something happened: elsewhere.happened.", "words", True)
    assert UNKNOWN.reading is None
    assert UNKNOWN.answers is None


def test_only_webhook_schedule_and_runs_are_trusted_and_only_program_returns_to_the_caller() -> None:
    trusted = [source.name for source in (*SOURCES.values(), UNKNOWN) if source.trusted]
    assert trusted == ["webhook", "schedule", "runs"]
    assert [source.name for source in SOURCES.values() if source.returns_to_caller] == ["program"]


SHOWING_NONE = {"github_request_reviewers", "jira_link_url", "slack_delete_message", "slack_join_channel"}
"""The tools that write and show people no object of their own."""


def test_tool_of_a_source_says_which_object_people_see_after_its_writes() -> None:
    writing = [tool for tool in TOOLS.values() if tool.effect != "read"]
    assert {tool.name for tool in writing if tool.shows is None} == SHOWING_NONE
