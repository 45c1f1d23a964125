"""Where the answer stands when what was announced is gone, or when a notice before it is in doubt."""

import pytest

from engine_room import says
from gofer.deliver import WAITS, spoken
from gofer.engine.loop import Ending
from gofer.errors import TemporaryError
from gofer.owner import TAKEOVERS
from office import office

pytestmark = pytest.mark.anyio


def test_a_failed_run_says_why_in_words_for_colleagues_and_shows_what_it_has() -> None:
    ending = Ending(
        "failed", "Two builds failed.", "The key is refused (HTTP 401).", told="I could not reach it. Please tell #dev."
    )
    assert spoken(ending) == "I could not reach it. Please tell #dev.\n\n_Here is what I have:_\n\nTwo builds failed."
    more = ending.also("nobody can tell whether mail took effect")
    assert more.reason == "The key is refused (HTTP 401); nobody can tell whether mail took effect"
    assert spoken(more).startswith(
        "I could not reach it. Please tell #dev. Also, nobody can tell whether mail took effect.\n\n_Here"
    )


async def test_an_answer_whose_place_was_deleted_while_its_worker_was_lost_is_posted_anew() -> None:
    made = office(says("Hello."))
    await made.accept("run1")
    made.lose_in = {"slack_update_message"}
    for _ in range(TAKEOVERS - 2):
        await made.hear_lost()
        made.clock.advance(130)
    made.lose_in, made.deleted = set(), {"1.0"}
    await made.hear()
    assert made.posted == ["", "Hello."]
    assert await made.status("run1") == "done"


async def test_a_notice_in_doubt_is_settled_before_the_answer_so_that_it_cannot_land_over_it() -> None:
    made = office(TemporaryError("The provider is busy", retry_after=600), says("Hello."))
    await made.accept("run1")
    made.lose_in = {"slack_update_message"}
    await made.hear_lost()
    made.lose_in = set()
    made.clock.advance(130)
    await made.hear()
    assert made.edits == [WAITS, "Hello."]
    assert made.posted == ["Hello."]
    assert await made.status("run1") == "done"
