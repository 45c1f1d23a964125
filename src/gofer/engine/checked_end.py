"""The end of a run and the verdicts of its checks, which are recorded in one frame."""

from gofer.engine.admission import pinned
from gofer.engine.own_step import OwnStep
from gofer.engine.services import Services
from gofer.journal.entries import RunChecked, RunFinished
from gofer.projections.check_settings import Settings
from gofer.projections.run_checks import verdicts
from gofer.workflows.bundle import Bundle


async def note_end(step: OwnStep, finished: RunFinished) -> None:
    """Note the end of a run and the verdicts of its checks; the next commit writes both. Raises Corrupt."""
    settings = Settings()
    if started := step.progress.started:
        settings = settings_of(await pinned(step.services, started), step.services)
    # No await may separate both notes: a commit in between would write the end without its verdicts.
    step.note(finished)
    step.note(RunChecked(verdicts(step.checks, settings)))


def settings_of(bundle: Bundle, services: Services) -> Settings:
    """Return the settings of the checks for the runs of a bundle."""
    return Settings()
