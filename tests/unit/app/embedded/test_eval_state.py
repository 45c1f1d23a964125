"""The state of the runs of evals: runs with grades, apart from the runs of people, and the history beside them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gofer.app.embedded.eval_state import EvalState, open_eval_state
from gofer.app.embedded.integrity import RESTORING
from gofer.app.embedded.state import installation_key, open_state, serving
from gofer.app.embedded.worlds import EVALS, WORLD, apart, move_apart
from gofer.app.settings import read_settings
from gofer.evals import history
from gofer.evals.plays import Play, PlayedTurn
from gofer.evals.results import CaseRun, Grade
from gofer.journal import entries as e
from gofer.journal.entries import Recorded, RunGraded
from gofer.journal.log import read_journal
from gofer.journal.workspace_entries import FileAdded
from gofer.projections import progress, states
from gofer.replay.recorded_run import stored_files
from gofer.runtime.retention import Purger
from gofer.runtime.run_reader import OPERATOR, RunReader
from gofer.values.errors import ConfigError
from gofer.values.messages import Usage
from support.evals.past_runs import past
from support.stand_ins import SetClock, make_outside, mention

pytestmark = pytest.mark.anyio

RUN = "ab" * 12
CHILD = f"{RUN}.{'c' * 20}"
GRADES = (
    Grade("status", passed=True),
    Grade("tools.required", passed=False, expected="look is called", happened="not called", step="1.0"),
)
GRADED = CaseRun(number=2, outcome="failed", runs=[RUN], grades=GRADES, evidence="recorded", agent_version="b" * 64)


def journal(*entries: e.Entry, private: bool = False) -> Sequence[Recorded]:
    beginning = (e.RunAccepted(mention(), "answer-here"), e.RunOwned(), e.RunStarted("b" * 64, private))
    return [Recorded(n, 0, 1_000 * n, "me", entry) for n, entry in enumerate((*beginning, *entries), start=1)]


def turn(*entries: e.Entry, private: bool = False) -> PlayedTurn:
    recorded = journal(*entries, private=private)
    return PlayedTurn(RUN, recorded, progress.project(recorded), None)


def play(*turns: PlayedTurn) -> Play:
    return Play(turns=turns, world={}, evidence="recorded", latency_ms=5)


ENDED = turn(e.RunConcluded("done", "", f"See /runs/{RUN}."), e.RunFinished("done"), e.RunChecked(()))


async def stored(state: EvalState, run: str) -> Sequence[Recorded]:
    return await read_journal(run, state.stores.stores.journals, state.stores.stores.blobs)


async def test_run_of_a_play_is_stored_with_its_grades_under_an_id_of_its_own(tmp_path: Path) -> None:
    async with open_eval_state(tmp_path, make_outside(SetClock())) as state:
        first, second = [await state.keep("answers/basic", GRADED, play(ENDED)) for _ in range(2)]
        assert len({*first.runs, *second.runs, RUN}) == 3
        assert first == replace(GRADED, runs=first.runs)
        (run,) = first.runs
        found = await stored(state, run)
        assert len(found) == len(ENDED.entries) + 1
        assert [(one.at, one.owner) for one in found[:-1]] == [(one.at, one.owner) for one in ENDED.entries]
        assert found[-1].entry == RunGraded("answers/basic", 2, "failed", "recorded", "b" * 64, GRADES)
        assert states.project(found).violations == ()
        concluded = progress.project(found).concluded
        assert concluded is not None
        assert concluded.text == f"See /runs/{run}."
        record = await RunReader(state.stores.stores, SetClock(), {}).find(run[:8], OPERATOR)
        assert record is not None
        assert (record.status, record.damage) == ("done", "")


async def test_subagent_run_of_a_play_is_stored_below_its_run(tmp_path: Path) -> None:
    started = e.SubagentStarted("1.0", "helper", "help", {}, CHILD)
    finished = e.SubagentFinished("1.0", "ok", "done", "m", Usage(), None, 5, run=CHILD)
    first, *others = journal()
    child = [replace(first, entry=e.RunAccepted(mention(), "answer-here", parent=RUN, depth=1)), *others]
    played = replace(turn(started, finished, e.RunFinished("done")), subagents={CHILD: child})
    async with open_eval_state(tmp_path, make_outside(SetClock())) as state:
        (run,) = (await state.keep("answers/basic", GRADED, play(played))).runs
        record = await RunReader(state.stores.stores, SetClock(), {}).read(run, OPERATOR)
        assert record is not None
        (below,) = record.subagents.journals.values()
        assert {step.run for step in record.steps() if step.depth} == {f"{run}.{'c' * 20}"}
        assert len(below) == len(child)
        accepted = below[0].entry
        assert isinstance(accepted, e.RunAccepted)
        assert accepted.parent == run


async def test_files_of_a_play_are_stored_with_its_run(tmp_path: Path) -> None:
    one = FileAdded("file_1", "a.txt", "text/plain", 2, "Slack", body="d" * 64)
    other = replace(one, file="file_2", body="e" * 64)
    first = replace(turn(one, e.RunFinished("done")), files={one.body: b"hi"})
    reads = turn(replace(one, run=RUN), other, e.RunFinished("done"))
    second = replace(reads, run="cd" * 12, files={one.body: b"hi", other.body: b"ho"})
    async with open_eval_state(tmp_path, make_outside(SetClock())) as state:
        stores = state.stores.stores
        kept = (await state.keep("answers/basic", GRADED, play(first, second))).runs
        found = await stored_files({run: await stored(state, run) for run in kept}, stores)
        assert sorted(found.values()) == [b"hi", b"ho"]
        assert not found.keys() & {one.body, other.body}


async def test_run_that_a_play_did_not_end_is_ended_in_its_copy(tmp_path: Path) -> None:
    clock = SetClock()
    async with open_eval_state(tmp_path, make_outside(clock)) as state:
        handed_over = turn(e.RunHandedOver())
        (run,) = (await state.keep("answers/basic", GRADED, play(handed_over))).runs
        found = await stored(state, run)
        finished = progress.project(found).finished
        assert finished is not None
        assert (finished.status, finished.reason) == ("cancelled", "the play of the case ended here")
        assert isinstance(found[-1].entry, RunGraded)
        head = await state.stores.stores.journals.head(run)
        assert head is not None
        assert head.ended


async def test_private_run_of_a_play_is_not_stored(tmp_path: Path) -> None:
    async with open_eval_state(tmp_path, make_outside(SetClock())) as state:
        kept = await state.keep("answers/basic", GRADED, play(turn(e.RunFinished("done"), private=True)))
        assert kept.runs == []
        assert await state.stores.stores.journals.heads(10, private=True) == []


async def test_runs_of_evals_are_deleted_in_time_and_their_history_stays(tmp_path: Path) -> None:
    clock = SetClock()
    async with open_eval_state(tmp_path, make_outside(clock)) as state:
        kept = await state.keep("answers/basic", GRADED, play(ENDED))
        history.append(state.folder, past(runs=tuple(kept.runs)))
        assert (await Purger(state.stores.stores, clock).purge()).deleted == 0
    clock.advance(31 * 86_400)
    async with open_eval_state(tmp_path, make_outside(clock)) as state:
        (run,) = kept.runs
        assert await state.stores.stores.journals.key(run) is None
        (line,) = history.read(state.folder, "answers/basic")
        assert line.runs == (run,)


async def test_runs_of_evals_are_apart_from_runs_of_people(tmp_path: Path) -> None:
    async with open_eval_state(tmp_path, make_outside(SetClock())) as state:
        await state.keep("answers/basic", GRADED, play(ENDED))
        with open_state(tmp_path, SetClock()) as real:
            installation_key(tmp_path)
            assert await real.store.heads(10, private=True) == []
            assert await real.store.unlisted(10**15, 10) == []
        with serving(tmp_path):
            pass
    async with open_eval_state(tmp_path, make_outside(SetClock())) as state:
        assert len(await state.stores.stores.journals.heads(10)) == 1


async def test_state_of_evals_stays_when_a_simulated_state_is_moved_apart(tmp_path: Path) -> None:
    apart(replace(read_settings({}), data=tmp_path))
    with open_state(tmp_path, SetClock()):
        installation_key(tmp_path)
    assert (tmp_path / WORLD).exists()
    async with open_eval_state(tmp_path, make_outside(SetClock())) as state:
        kept = await state.keep("answers/basic", GRADED, play(ENDED))
    move_apart(tmp_path)
    assert (tmp_path / "simulated" / "gofer.db").exists()
    assert not (tmp_path / "simulated" / EVALS).exists()
    async with open_eval_state(tmp_path, make_outside(SetClock())) as state:
        assert await stored(state, kept.runs[0])


async def test_state_of_evals_is_not_opened_during_a_restore(tmp_path: Path) -> None:
    (tmp_path / RESTORING).mkdir()
    with pytest.raises(ConfigError, match="did not finish"):
        async with open_eval_state(tmp_path, make_outside(SetClock())):
            pass
