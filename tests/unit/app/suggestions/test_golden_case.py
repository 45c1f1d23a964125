"""The redaction of the texts of a suggestion, with the names of the recorded runs."""

import pytest

from gofer.app.suggestions.golden_case import Redactor, redactor_of
from gofer.learning.suggestions.edited_file import Refused
from gofer.learning.suggestions.proposal import Edit, MustHold, Proposal
from support.engine.memory_run import says
from support.replay.recorded import recorded_by
from support.runtime.memory_worker import memory_worker

pytestmark = pytest.mark.anyio
ADDRESS = "ada.lovelace@example.org"


async def redactor() -> Redactor:
    """Return the redactor of a run whose answer names an address."""
    made = memory_worker(says(f"Write to {ADDRESS}."))
    await made.accept("run1", private=False)
    await made.work_once()
    return redactor_of([await recorded_by(made)])


def proposal(new: str) -> Proposal:
    return Proposal("t", "r", Edit("agents/w.md", "old", new), MustHold(kind="judge", run="run1", ask="?"))


async def test_addresses_of_the_runs_get_pseudonyms() -> None:
    made = await redactor()
    assert ADDRESS not in made.text(f"People say: write to {ADDRESS}.")


async def test_edit_with_an_address_of_a_run_is_refused() -> None:
    made = await redactor()
    with pytest.raises(Refused, match="a name or an id from a run; write a rule without"):
        made.refuse_names(proposal(f"Send questions to {ADDRESS}."), "Be kind.")


async def test_edit_may_keep_an_address_of_its_file() -> None:
    made = await redactor()
    made.refuse_names(proposal(f"Send questions to {ADDRESS} first."), f"Send questions to {ADDRESS}.")
    made.refuse_names(proposal("Send questions to the owner."), "Be kind.")
    assert made.text("Send questions to the owner.") == "Send questions to the owner."
