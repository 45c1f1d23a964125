"""Members of a Notion workspace: the people whom Notion lists, looked up rarely."""

import asyncio

import pytest

from gofer.sources.notion.api import NotionApi, NotionRefusal
from gofer.sources.notion.people import PEOPLE
from gofer.sources.notion.tools import TOOLS
from gofer.sources.part_values import OwnCall, Person
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call
from gofer.values.events import Actor, Event
from gofer.values.secret import Secret
from gofer_simulators.notion.simulator import NotionSimulator
from support.stand_ins import AnsweringHttp, SetClock
from support.tools.calls import any_call
from support.vendors.notion import ADA, BOT, GUEST, SAM, WORLD, play


def event(**place: str) -> Event:
    return Event("notion", "notion.commented", ("c", "x"), "notion:1:2", Actor(ADA), "A comment.", place)


async def kind(call: Call, person: str, api: NotionApi | None = None) -> str:
    tools = bind_all(TOOLS, api or NotionApi("http://notion", Secret("ntn_simulated")))
    (tool,) = (one for one in tools if one.name == "notion_find_member")
    found = await tool.act(call, tool.parse({"person": person}))
    return PEOPLE.person(event(person=person), found.details or {}).kind


def test_people_in_the_list_of_notion_are_members_and_guests_are_externals() -> None:
    async def story(_: NotionSimulator, call: Call) -> None:
        assert [await kind(call, one) for one in (ADA, SAM.replace("-", ""))] == ["member", "member"]
        # Notion names a guest by id, and lists bots beside people.
        assert [await kind(call, one) for one in (GUEST, BOT, "")] == ["external"] * 3

    play(story)


def test_connection_without_the_capability_is_refused() -> None:
    async def story(_: NotionSimulator, call: Call) -> None:
        with pytest.raises(NotionRefusal) as refused:
            await kind(call, ADA)
        assert refused.value.code == "restricted_resource"

    play(story, WORLD | {"connection": {"id": BOT, "name": "Gofer", "capabilities": ["read_content"]}})


def listed(*pages: tuple[str, ...]) -> AnsweringHttp:
    """Return a Notion with these pages of people."""

    def answer(url: str, content: bytes) -> dict[str, object]:
        number = int(url.partition("start_cursor=")[2] or 0)
        more = str(number + 1) if number + 1 < len(pages) else None
        found = [{"object": "user", "id": one, "type": "person"} for one in pages[number]]
        return {"object": "list", "results": found, "next_cursor": more}

    return AnsweringHttp(answer)


def test_process_reads_the_list_once_in_ten_minutes_and_for_a_stranger_once_a_minute() -> None:
    async def story() -> None:
        http = listed((ADA,), (SAM,))
        clock = SetClock()
        call = any_call(http, clock=clock)
        api = NotionApi("http://notion", Secret("ntn_simulated"))
        counts: list[int] = []
        for seconds, person, expected in (
            (0, ADA, "member"),
            (0, ADA, "member"),
            (0, SAM, "member"),
            (500, ADA, "member"),
            (0, GUEST, "external"),
            (50, GUEST, "external"),
            (20, GUEST, "external"),
            (600, ADA, "member"),
        ):
            clock.advance(seconds)
            assert await kind(call, person, api) == expected
            counts.append(len(http.requests))
        assert counts == [1, 1, 3, 3, 5, 5, 7, 7]
        clock.advance(601)
        http.answer = listed((SAM,)).answer
        assert await kind(call, ADA, api) == "external"

    asyncio.run(story())


def test_person_of_an_event_of_an_earlier_version_counts_as_a_member() -> None:
    assert PEOPLE.look_up(event()) == Person(ADA, "member")
    assert PEOPLE.look_up(event(person=ADA)) == OwnCall("notion_find_member", {"person": ADA})
