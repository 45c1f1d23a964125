"""Who the asker of a run is, as its journal knows them."""

import pytest

from gofer.engine.known_asker import is_read_by_outsiders, read_by_outsiders
from gofer.engine.own_step import OwnStep
from gofer.engine.owned_run import Deadline
from gofer.journal.entries import ToolResult
from gofer.journal.log import Pen, open_journal
from gofer.journal.purposes import CONTEXT
from gofer.projections.progress import project
from gofer.values.events import Actor, Event
from support.engine.memory_run import says
from support.runtime.memory_worker import memory_worker

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("source", "actor", "place", "outside"),
    [
        ("github", Actor("ada"), {"visibility": "public"}, True),
        ("github", Actor("ada"), {}, False),
        ("github", Actor("eve", "external"), {}, True),
        ("jira", Actor("ada"), {}, False),
        ("jira", Actor("cus", "customer"), {}, True),
        ("schedule", Actor("schedule", "bot"), {}, False),
        ("slack", Actor("U0GUEST0"), {}, True),
        ("slack", Actor("B0ALERTS", "bot"), {"shared": "true"}, True),
        ("slack", Actor("B0ALERTS", "bot"), {"outer_team": "T0OTHER0"}, True),
        ("slack", Actor("B0ALERTS", "bot"), {}, False),
    ],
)
async def test_outsiders_read_answers_to_outsiders_and_in_open_places(
    source: str, actor: Actor, place: dict[str, str], outside: bool
) -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    pen = Pen("next", made.worker.services.outside)
    journal, entries = await open_journal("run1", made.store, made.blobs, pen)
    step = OwnStep(journal, made.worker.services, entries, Deadline(made.clock))
    assert read_by_outsiders(step, Event(source, source, ("1",), "c", actor, "", place)) is outside


@pytest.mark.parametrize("outsiders", [True, False])
async def test_outsiders_read_answers_in_a_channel_that_the_first_read_found_shared(outsiders: bool) -> None:
    progress = project([])
    progress.outcomes[CONTEXT] = ToolResult(CONTEXT, "ok", "", details={"outsiders": outsiders})
    event = Event("slack", "slack.message", ("1",), "c", Actor("B0ALERTS", "bot"), "", {"channel": "C1"})
    assert is_read_by_outsiders(progress, event) is outsiders
