"""The replay of a recorded run: the same engine works it again, owner by owner, from its own journal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from gofer.engine.services import Services
from gofer.journal.entries import Recorded, RunFinished
from gofer.projections.progress import project
from gofer.replay.changes import Changes
from gofer.replay.divergence import Divergence, OwnerEnded, ReplayEnded, ReplayStopped
from gofer.replay.isolation import isolated
from gofer.replay.live_answers import LiveAnswers
from gofer.replay.recorded_rows import RecordedRows
from gofer.replay.recorded_run import RecordedRun
from gofer.replay.recording import Recording
from gofer.replay.replay_progress import ReplayProgress
from gofer.replay.replayed_run import ReplayedRun
from gofer.replay.request_differences import readable
from gofer.replay.stage import Stage
from gofer.runtime.owner import Owner
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Catalog

UNCHANGED = Changes()

Outcome = Literal["identical", "reworded", "updated", "diverged", "inconclusive", "incomplete"]
"""How a replay compares with its recording: every step is equal; only sentences and messages for people differ that
code writes; another version of Gofer made the recording, and only its requests differ; a step or a request differs;
a changed input led to a step that was not recorded; or equal so far, and the recorded run has not ended."""


@dataclass(frozen=True, slots=True)
class Replay:
    """A replay that is over."""

    outcome: Outcome
    divergences: Sequence[Divergence]
    journals: Mapping[str, Sequence[Recorded]]
    """The replayed entries of the run and its subagent runs."""
    bundles: Mapping[str, Bundle] = field(default_factory=dict[str, Bundle])
    """The bundle that each run was replayed with."""
    reason: str = ""
    """Why the replay ended before its run, or why the recording could not be replayed."""
    waits: str = ""
    """What the run waits for at the end of the replay, which waits for nothing; empty for a run that does not wait."""
    live: LiveAnswers = field(default_factory=LiveAnswers)
    """The answers of live models."""

    @property
    def lacked_a_model(self) -> bool:
        """Whether the replay ended early because no live model answered. It says nothing about the run."""
        return bool(self.live.failures)

    @property
    def first(self) -> Divergence | None:
        """The first difference that counts."""
        return next((one for one in self.divergences if one.counts), None)

    @property
    def keeps_the_path(self) -> bool:
        """Whether every step came as it was recorded, with equal or other texts."""
        is_whole = self.outcome != "incomplete" and not self.reason
        return is_whole and not any(one.leaves_the_path for one in self.divergences)

    @property
    def agrees(self) -> bool:
        """Whether the run comes out of the present code as it was recorded."""
        return self.outcome in ("identical", "reworded", "updated")


async def replay(recorded: RecordedRun, services: Services, catalog: Catalog, changes: Changes = UNCHANGED) -> Replay:
    """Replay a recorded run; nothing outside is reached, except a model if the changes say so.

    `services` and `catalog` are those of a process that could work the run. The workflow of a run that started is the
    recorded one.
    """
    progress = ReplayProgress(services.version)
    stage = Stage(recorded, RecordedRows(recorded.entries), changes, progress)
    root = stage.root
    isolated_services = isolated(services, stage.rows, lambda: root.now, live=changes.live)
    reason = await _work(stage, root, isolated_services, catalog)
    if not stage.was_stopped and not reason:
        for recording in stage.recordings.values():
            recording.end_segment()
    journals = {run: recording.replayed for run, recording in stage.recordings.items()}
    bundles = {run: bundle for run in journals if (bundle := stage.bundle(run)) is not None}
    reason = reason or stage.progress.inconclusive
    divergences = readable(stage.progress.divergences, recorded, journals, bundles)
    outcome = _outcome(stage, root, reason)
    return Replay(outcome, divergences, journals, bundles, reason, _wait(root.replayed, journals), stage.live)


async def _work(stage: Stage, root: Recording, services: Services, catalog: Catalog) -> str:
    """Let each recorded owner work the run again; return why the replay ended early, if it did."""
    root.adopt(0)
    known = _with_recorded_workflow(catalog, stage.recorded)
    owner = Owner(services.of(known), known, alone=True)
    while root.next_owner is not None and not stage.progress.has_diverged:
        root.end_segment()
        try:
            left = await owner.work(ReplayedRun(stage, root, owner.services), again=False)
        except OwnerEnded:
            continue
        except ReplayStopped:
            stage.was_stopped = True
            return ""
        except ReplayEnded as ended:
            return str(ended)
        if isinstance(left, RunFinished):
            break
    return ""


def _wait(entries: Sequence[Recorded], journals: Mapping[str, Sequence[Recorded]]) -> str:
    """Return what a run waits for after these entries, in one sentence; empty if it does not wait."""
    run = project(entries)
    if run.parked is None or run.finished is not None:
        return ""
    if run.parked.reason == "approval":
        # The call may be one of a subagent.
        asked = next((one for one in (project(journal).waiting for journal in journals.values()) if one), None)
        if asked is not None:
            people = " or ".join(asked.requested.by)
            return f"The run waits for approval of {asked.requested.tool} by {people}, and a replay asks no person."
    return f"The run waits ({run.parked_reason or run.parked.reason}), and a replay does not wait."


def _with_recorded_workflow(catalog: Catalog, recorded: RecordedRun) -> Catalog:
    """Return the catalog with the workflow as the run began with it."""
    bundle = recorded.bundles.get(recorded.run)
    if bundle is None:
        return catalog
    return replace(catalog, workflows={**catalog.workflows, bundle.loaded.name: bundle.loaded})


def _outcome(stage: Stage, root: Recording, reason: str) -> Outcome:
    differences = stage.progress.divergences
    # Without a change, whatever follows the first difference, the present code made that difference.
    is_changed = stage.progress.input_changed or stage.changes.live
    if stage.live.failures or (is_changed and reason and stage.progress.has_diverged):
        return "inconclusive"
    if reason or any(one.counts for one in differences):
        return "diverged"
    if not root.is_finished or stage.was_stopped:
        return "incomplete"
    if any(one.kind == "read" for one in differences):
        return "updated"
    if differences:
        return "reworded"
    return "identical"
