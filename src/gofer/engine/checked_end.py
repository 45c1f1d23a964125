"""The end of a run and the verdicts of its checks, which are recorded in one frame."""

from gofer.engine.admission import pinned
from gofer.engine.own_step import OwnStep
from gofer.engine.services import Services
from gofer.journal.check_entries import Verdict
from gofer.journal.entries import RunChecked, RunFinished
from gofer.projections.checks.check_settings import Settings
from gofer.projections.checks.run_checks import verdicts
from gofer.values.canonical_json import encode_text
from gofer.workflows.bundle import Bundle


async def note_end(step: OwnStep, finished: RunFinished) -> None:
    """Note the end of a run and the verdicts of its checks; the next commit writes both. Raises Corrupt."""
    settings = await _settings(step)
    # No await may separate both notes: a commit in between would write the end without its verdicts.
    step.note(finished)
    step.note(RunChecked(verdicts(step.checks, settings)))


async def present_verdicts(step: OwnStep) -> tuple[Verdict, ...]:
    """Return the verdicts of a run as it is now, for a report before its end. Raises Corrupt."""
    return verdicts(step.checks, await _settings(step))


async def _settings(step: OwnStep) -> Settings:
    if step.progress.started is None:
        return Settings()
    return settings_of(await pinned(step, step.progress.started), step.services)


def settings_of(bundle: Bundle, services: Services) -> Settings:
    """Return the settings of the checks for the runs of a bundle."""
    loaded = bundle.loaded
    return Settings(
        limits=loaded.workflow.checks.own_limits,
        off=loaded.workflow.checks.switched_off,
        polls=frozenset(name for name, tool in services.tools.items() if tool.polls),
        tools=frozenset(services.granted(loaded.workflow, loaded.skills)),
        texts=(loaded.system, encode_text(bundle.tools), *(skill.description for skill in loaded.skills.values())),
    )
