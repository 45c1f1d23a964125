"""The registry of sources: each room has one row, and names only tools of its system that Gofer has."""

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


def test_each_room_of_a_source_has_a_row_under_its_name() -> None:
    folder = Path(registry.__file__).parent
    assert set(SOURCES) == {path.parent.name for path in folder.glob("*/source.py")}
    assert {path.parent.name for path in folder.glob("*/receiver.py")} <= set(SOURCES)
    assert [source.name for source in SOURCES.values()] == [*SOURCES]


def test_each_room_with_triggers_has_a_line_in_their_registry() -> None:
    folder = Path(registry.__file__).parent
    named = [spec.kinds[0].source for spec in TRIGGERS]
    assert named == [source for source in SOURCES if (folder / source / "triggers.py").exists()]


@pytest.mark.parametrize("kind", [kind for kind in TRIGGER_KINDS if kind.place], ids=lambda kind: kind.name)
def test_a_condition_on_the_place_asks_for_a_fact_on_the_place(kind: TriggerKind) -> None:
    spec = events_of(kind.name)
    assert kind.place.partition(":")[0] in {*spec.places.values(), spec.place_of_kind.get(kind.name, "")}


@pytest.mark.parametrize("source", SOURCES.values(), ids=lambda source: source.name)
def test_a_source_names_tools_that_there_are(source: Source) -> None:
    found = {*own_tools(source)}
    assert found <= TOOLS.keys()
    assert {TOOLS[name].target.system for name in found} <= {source.system}


def test_the_workplace_names_tools_that_there_are() -> None:
    found = {*own_tools(WORKPLACE)}
    assert found
    assert found <= TOOLS.keys()


def test_an_event_without_a_room_says_all_there_is_and_is_answered_nowhere() -> None:
    happened = event("elsewhere")
    assert source_of(happened) is UNKNOWN
    told = UNKNOWN.from_event(happened, Person("U1"))
    assert (told.happened, told.read, told.private) == ("Something happened: elsewhere.happened.", "words", True)
    assert UNKNOWN.reading is None
    assert UNKNOWN.answers is None


def test_only_schedules_and_webhooks_keep_what_they_read_to_themselves() -> None:
    trusted = [source.name for source in (*SOURCES.values(), UNKNOWN) if source.trusted]
    assert trusted == ["webhook", "schedule"]
    assert [source.name for source in SOURCES.values() if source.returns_to_caller] == ["program"]
