"""The expectations of a case, with the ids of the world in which it was played."""

from collections.abc import Sequence

from gofer.evals.eval_file import Case, Expectations, OutputExpectations
from gofer.evals.goldens.world_ids import WorldIds
from gofer.evals.plays import Play


def expected_of(case: Case, play: Play) -> Sequence[Expectations]:
    """Return what each turn of a play must do. A golden in another world gets the ids of that world.

    With a `user`, the last turn is graded with the calls of the whole conversation, and each earlier one by what holds
    for all: its status, its checks, and the texts that people must not see.
    """
    if case.user:
        unwanted = OutputExpectations(not_contains=case.expect.output.not_contains)
        each = Expectations(status=case.expect.status, checks=case.expect.checks, output=unwanted)
        return [*[each] * (len(play.turns) - 1), case.expect]
    expected = [case.expect, *(turn.expect for turn in case.then)]
    if not play.ids:
        return expected
    ids = WorldIds(play.ids)
    return [_in_world(one, ids) for one in expected]


def _in_world(expect: Expectations, ids: WorldIds) -> Expectations:
    written = expect.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return Expectations.model_validate(ids.to_world(written))
