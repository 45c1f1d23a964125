"""The end of a run and the verdicts of its checks, which are recorded in one frame."""

import logging

from gofer.engine.admission import pinned
from gofer.engine.own_step import OwnStep
from gofer.engine.services import Services
from gofer.journal.check_entries import Verdict
from gofer.journal.entries import RunChecked, RunFinished
from gofer.projections.checks.check_settings import Settings
from gofer.projections.checks.run_checks import verdicts
from gofer.values.errors import ConfigError, Corrupt, TemporaryError
from gofer.workflows.bundle import Bundle

_log = logging.getLogger(__name__)


async def note_end(step: OwnStep, finished: RunFinished) -> None:
    """Note the end of a run and the verdicts of its checks; the next commit writes both."""
    settings = await _settings(step)
    # No await may separate both notes: a commit in between would write the end without its verdicts.
    step.note(finished)
    step.note(RunChecked(verdicts(step.checks, settings)))


async def present_verdicts(step: OwnStep) -> tuple[Verdict, ...]:
    """Return the verdicts of a run as it is now, for a report before its end."""
    return verdicts(step.checks, await _settings(step))


async def _settings(step: OwnStep) -> Settings:
    """Return the settings of the run's bundle, or the defaults if it cannot be read: no check prevents an end."""
    if step.progress.started is None:
        return Settings()
    try:
        bundle = await pinned(step, step.progress.started)
    except (ConfigError, Corrupt, TemporaryError) as error:
        _log.warning("the checks of a run use their default limits: %s", error)
        return Settings(polls=_polls(step.services), tools=frozenset(step.services.tools))
    return settings_of(bundle, step.services)


def settings_of(bundle: Bundle, services: Services) -> Settings:
    """Return the settings of the checks for the runs of a bundle."""
    loaded = bundle.loaded
    return Settings(
        limits=loaded.workflow.checks.own_limits,
        off=loaded.workflow.checks.switched_off,
        polls=_polls(services),
        tools=frozenset(services.granted(loaded.workflow, loaded.skills)),
        texts=(loaded.system, bundle.tool_schemas(), *(skill.description for skill in loaded.skills.values())),
    )


def _polls(services: Services) -> frozenset[str]:
    return frozenset(name for name, tool in services.tools.items() if tool.polls)
