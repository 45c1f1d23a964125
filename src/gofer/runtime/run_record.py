"""The record of a run as a person may read it, and its steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from gofer.journal.blob_store import BUNDLES, Blobs
from gofer.journal.check_entries import Verdict
from gofer.journal.child_runs import SubagentJournals
from gofer.journal.coordination import HeadStatus
from gofer.journal.entries import Recorded
from gofer.journal.lineage import root_of
from gofer.projections.progress import Progress, project
from gofer.projections.words.step_writer import steps
from gofer.projections.words.steps import AgentSetup, ReadJournal, Step
from gofer.sources.workflow_files import decode_bundle
from gofer.values.errors import Corrupt, OtherVersion
from gofer.values.messages import asked_at
from gofer.workflows.bundle import Bundle


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as a person may read it: its journal, the journals of its subagents, and their bundles."""

    run: str
    entries: Sequence[Recorded]
    progress: Progress
    subagents: SubagentJournals
    bundles: Mapping[str, Bundle] = field(default_factory=dict[str, Bundle])
    """The prompts, tools and settings as the run and its subagent runs began with them, by run. A run that did not
    start has none."""
    error: Corrupt | None = None
    """Why the rest of the journal cannot be read; None for a complete journal."""

    @property
    def damage(self) -> str:
        """The sentence about the rest of the journal that cannot be read; empty for a complete journal."""
        if self.error is None:
            return ""
        return str(self.error)

    @property
    def bundle(self) -> Bundle | None:
        """The bundle of the run itself; None before it started, or if the bundle is missing."""
        return self.bundles.get(self.run)

    @property
    def journals(self) -> Mapping[str, Sequence[Recorded]]:
        """The journals of the run and of its subagent runs, by run."""
        return {self.run: self.entries, **self.subagents.journals}

    @property
    def replay_command(self) -> str:
        """The command that replays the run; empty for a run that cannot be replayed: a private or damaged one."""
        if self.error is not None or self.progress.private:
            return ""
        return f"gofer replay {root_of(self.run)}"

    @property
    def setups(self) -> Mapping[str, AgentSetup]:
        """The prompts and tools of the run and of its subagent runs, by run."""
        return {run: self._setup(run, bundle) for run, bundle in self.bundles.items()}

    @property
    def status(self) -> HeadStatus | Literal["damaged"]:
        """The status of the run, as its journal says it; `damaged` if a part of the journal cannot be read.

        No worker continues a damaged run, so a program that waits for the end of a run sees one.
        """
        # A journal that another version of Gofer wrote is intact, and that version continues the run.
        if self.error is not None and not isinstance(self.error, OtherVersion):
            return "damaged"
        if self.progress.finished is not None:
            return self.progress.finished.status
        if self.progress.parked is not None:
            return "parked"
        if self.progress.owned_at:
            return "running"
        return "queued"

    @property
    def failed_checks(self) -> Mapping[str, Sequence[Verdict]]:
        """The failed checks of the run and of its subagent runs, by run."""
        states = {self.run: self.progress}
        states |= {run: project(entries) for run, entries in self.subagents.journals.items()}
        failed: dict[str, Sequence[Verdict]] = {}
        for run, progress in states.items():
            if progress.checked is not None:
                failed[run] = [verdict for verdict in progress.checked.verdicts if not verdict.passed]
        return failed

    def subagent_runs(self, beginning: str) -> Sequence[str]:
        """Return the subagent runs, at any depth, that the beginning of an id names."""
        below = {*self.subagents.journals, *self.subagents.damaged}
        return [run for run in below if run.startswith(beginning)]

    def steps(self) -> Sequence[Step]:
        """Return the steps of the run, each subagent run below the step that started it."""
        setups = self.setups
        journals = dict.fromkeys(self.subagents.damaged, ()) | self.subagents.journals
        below = {
            run: ReadJournal(run, entries, setups.get(run), self.subagents.damaged.get(run, ""))
            for run, entries in journals.items()
        }
        return steps(ReadJournal(self.run, self.entries, setups.get(self.run), self.damage), below)

    def _setup(self, run: str, bundle: Bundle) -> AgentSetup:
        if run == self.run:
            return setup_of(bundle)
        # The bundle of a subagent run has the file of the workflow, and its prompt is from another file.
        return replace(setup_of(bundle), prompt_file="")


async def read_bundle(progress: Progress, blobs: Blobs) -> Bundle | None:
    """Return the bundle of a run; None before it started, or if the bundle is missing. Raises TemporaryError."""
    if progress.started is None:
        return None
    try:
        return decode_bundle(await blobs.get(f"{BUNDLES}/{progress.started.bundle}"))
    except Corrupt:
        return None


def setup_of(bundle: Bundle) -> AgentSetup:
    """Return the prompt, the tools and the models of a bundle."""
    loaded = bundle.loaded
    return AgentSetup(
        workflow=loaded.name,
        prompt_file=loaded.prompt_file,
        system=loaded.system,
        tools=bundle.tools,
        models=[asked_at(candidate.params) for candidate in bundle.chain()],
        subagents={name: subagent.system for name, subagent in loaded.subagents.items()},
    )
