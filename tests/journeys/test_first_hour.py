"""The first hour of a new user with the wheel, from an empty folder to an answer in front of 1,500 waiting webhooks."""

from pathlib import Path

import pytest

from support.guides.first_hour import FirstHour, Step

pytestmark = pytest.mark.anyio


@pytest.mark.rehearsal(
    "tests/journeys/test_new_repository.py::test_upgrade_keeps_five_kinds_of_local_changes",
    "tests/journeys/test_edits_while_serving.py"
    "::test_broken_edit_keeps_the_last_good_files_and_is_shown_in_the_log_and_pages",
    "tests/contracts/test_queue.py::test_people_come_first_and_each_workflow_of_machines_has_turns",
)
async def test_first_hour_ends_with_an_answer_in_front_of_waiting_webhooks(tmp_path: Path) -> None:
    steps: list[Step] = []
    await FirstHour(tmp_path, steps.append).play()
    names = [step.name for step in steps]
    assert names[0] == "build the wheel and install it"
    assert names[-1] == "stop `gofer serve`"
