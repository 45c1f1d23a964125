"""Where the answer stands when what was announced is gone, or when a notice before it is in doubt."""

import pytest

from engine_room import says
from gofer.deliver import AT_WORK
from gofer.owner import TAKEOVERS
from office import office

pytestmark = pytest.mark.anyio


async def test_an_answer_whose_place_was_deleted_while_its_worker_was_lost_is_posted_anew() -> None:
    made = office(says("Hello."))
    await made.accept("run1")
    made.lose_in = {"slack_update_message"}
    for _ in range(TAKEOVERS - 2):
        await made.hear_lost()
        made.clock.advance(130)
    made.lose_in, made.deleted = set(), {"1.0"}
    await made.hear()
    assert made.posted == [AT_WORK, "Hello."]
    assert await made.status("run1") == "done"
