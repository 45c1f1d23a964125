"""Replays of the runs that tests produce: in `make replays`, each run is replayed as soon as its owner has ended it.

A test fails if a replay differs from its run. The replays have no network, no model and no store, so an attempt to
reach one of them also counts as a difference. A test that writes journals by hand, or changes files or rows during its
run, is marked with `not_replayed` and its reason.
"""

from collections.abc import Iterator

import pytest

from gofer.engine.own_step import OwnStep
from gofer.journal.child_runs import read_subagents
from gofer.journal.entries import RunFinished
from gofer.journal.log import read_journal
from gofer.projections.progress import project
from gofer.replay.recorded_run import recorded_run
from gofer.replay.replay import Replay, replay
from gofer.runtime.owner import Left, Owner
from gofer.runtime.run_record import RunRecord, read_bundle
from gofer.stores.one_place import Stores
from gofer.workflows.bundle import Bundle


async def replay_of(step: OwnStep, owner: Owner) -> Replay:
    """Return the replay of a run, read from the stores of its owner."""
    stores = step.services.stores
    entries = await read_journal(step.run, stores.journals, stores.blobs)
    subagents = await read_subagents(entries, stores.journals, stores.blobs)
    bundles: dict[str, Bundle] = {}
    for run, journal in {step.run: entries, **subagents.journals}.items():
        if bundle := await read_bundle(project(journal), stores.blobs):
            bundles[run] = bundle
    record = RunRecord(step.run, entries, project(entries), subagents, bundles)
    return await replay(await recorded_run(record, stores), step.services, owner.catalog)


class ReplayedRuns:
    """The pytest plugin of `make replays`."""

    def __init__(self) -> None:
        self.replayed = 0
        self.differing: list[str] = []
        self._seen: dict[tuple[int, str], Stores] = {}
        self._work = Owner.work

    async def work(self, owner: Owner, step: OwnStep, again: bool) -> Left:
        """Work a run as its owner does; replay it if it ended."""
        left = await self._work(owner, step, again)
        stores = step.services.stores
        # A replay works an owner too.
        if type(step) is OwnStep and isinstance(left, RunFinished) and (id(stores), step.run) not in self._seen:
            self._seen[id(stores), step.run] = stores
            made = await replay_of(step, owner)
            self.replayed += 1
            if made.outcome != "identical":
                self.differing.append(f"{step.run}: {made.outcome} {made.reason} {made.divergences[:3]}")
        return left

    @pytest.fixture(autouse=True)
    def _replay_the_runs(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        if request.node.get_closest_marker("not_replayed"):
            yield
            return

        async def work(owner: Owner, step: OwnStep, again: bool) -> Left:
            return await self.work(owner, step, again)

        self.differing = []
        self._seen = {}
        # Nothing in the product sees the runs of every worker: `Worker.observers` is an argument of each worker, which
        # tests build in many ways, and it gets numbers without the run. The journal must be read here, between the
        # end of the run and the deletion of a private one.
        monkeypatch.setattr(Owner, "work", work)
        yield
        assert not self.differing, "\n".join(self.differing)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print how many runs were replayed."""
        terminalreporter.write_line(f"{self.replayed} runs were replayed; nothing outside was reached")


def pytest_configure(config: pytest.Config) -> None:
    """Replay the runs of all tests that pytest runs with `-p support.replay.replayed_runs`."""
    config.pluginmanager.register(ReplayedRuns())
