"""The schedule function: starts scheduled runs, sweeps abandoned runs, and purges runs that are due for deletion."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from aws_lambda_powertools.metrics import Metrics, MetricUnit

from gofer.app.aws.settings import aws_settings
from gofer.app.functions.foundation import Ground
from gofer.app.functions.invocation import Handler
from gofer.app.functions.parameter_store import open_stage
from gofer.app.functions.parameters import KEY, Current, Inputs
from gofer.app.ingress import build_ingress
from gofer.runtime.receive import Ingress
from gofer.runtime.retention import Purger
from gofer.runtime.sweeper import Sweeper
from gofer.sources.schedule.receiver import fire_time, scheduled
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import BadRequest
from gofer.values.outside import Clock
from gofer.values.schedules.planned import HEARD, NOT_COUNTED, Planned, fired, planned

PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0)
"""Seconds between looks for a newer publication, for a schedule that the known one does not have.

Publishing writes all schedules before it moves the pointer, so a new schedule may fire in between.
"""

PURGING = 40.0
"""Seconds of each sweep in which runs are deleted, so that it ends before the next one; what is left then, the next
sweep deletes. No run waits for the purge of the night."""
RESERVED = 60.0
"""Seconds before the end of the function's time after which no further batch of runs is deleted."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Timed:
    """The objects that the schedule function makes from published workflows and settings."""

    ingress: Ingress
    plans: Sequence[Planned]
    measure_tokens: Callable[[float], None]
    """Writes the metrics of expiring tokens. Called once a day with the time in unix seconds."""


@dataclass(frozen=True, slots=True)
class Ticking:
    """The schedule function."""

    timed: Current[Timed]
    sweeper: Sweeper
    purger: Purger
    clock: Clock
    pauses: Sequence[float] = PAUSES

    async def answer(self, event: object, seconds: float) -> dict[str, object]:
        """Do the work of an event, and return its figures and ids.

        Raises BadRequest for an unknown event. Raises TemporaryError or Corrupt, after which Lambda tries again.
        """
        match as_object(event):
            case {"sweep": True}:
                enqueued = await self.sweeper.sweep(self.sweeper.still)
                purged = await self.purger.catch_up(min(PURGING, seconds - RESERVED))
                return {"enqueued": enqueued, "deleted": purged.deleted, "forgotten": purged.forgotten}
            case {"purge": True}:
                (await self.timed.now()).measure_tokens(self.clock.now())
                purged = await self.purger.purge(seconds=seconds - RESERVED)
                if purged.proposal:
                    _log.info("%s", purged.proposal)
                return {"deleted": purged.deleted, "forgotten": purged.forgotten, "unseen": purged.unseen}
            case {"workflow": str(), "schedule": str(), "at": str()} as due:
                return await self._begin(due)
            case _:
                raise BadRequest(400, "The schedule function does not know this event; template.yaml lists its events.")

    async def _begin(self, due: Mapping[str, object]) -> dict[str, object]:
        schedule = as_text(due["schedule"])
        at = fire_time(as_text(due["at"]))
        timed = await self._timed(schedule, at)
        found = fired(timed.plans, schedule, at, self._now())
        if isinstance(found, str):
            fields = {"workflow": as_text(due["workflow"])[:80]}
            level = logging.INFO if found == NOT_COUNTED else logging.WARNING
            _log.log(level, "no run was begun: %s", found, extra={"fields": fields})
            return {"ignored": found}
        plan, nominal = found
        return {"run": await timed.ingress.start(scheduled(plan.workflow, plan.schedule, nominal), plan.workflow)}

    async def _timed(self, schedule: str, at: datetime) -> Timed:
        """Return the plans of the latest publication, after waiting a while for one that has the schedule."""
        timed = await self.timed.now()
        # Scheduler may fire a schedule before this process sees its publication, or before the publication.
        pauses = [0.0]
        if abs(self._now() - at) <= HEARD:
            pauses += self.pauses
        for pause in pauses:
            if schedule in {plan.id for plan in timed.plans}:
                break
            await asyncio.sleep(pause)
            timed = await self.timed.refreshed()
        return timed

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now(), UTC)


NAMESPACE = "Gofer"


def measuring_tokens(days: Mapping[str, date]) -> Callable[[float], None]:
    """Return a function that measures the days until each token expires, negative after its last day."""

    def measure(now: float) -> None:
        today = datetime.fromtimestamp(now, UTC).date()
        for last in days.values():
            metrics = Metrics(namespace=NAMESPACE)
            metrics.add_metric("TokenExpiresInDays", MetricUnit.NoUnit, (last - today).days)
            metrics.flush_metrics()

    return measure


NAMES = (KEY, "TOKENS_EXPIRE")


def schedule_function(ground: Ground, pauses: Sequence[float] = PAUSES) -> Handler:
    """Return the function that EventBridge Scheduler calls.

    Shorter pauses than the default are only safe where publishing takes no time, as in tests.
    """
    cloud, parameters = open_stage(ground)

    def make(inputs: Inputs) -> Timed:
        compiled, environment = inputs
        known = aws_settings(environment)
        outside = ground.outside()
        ingress = build_ingress(known.settings, compiled.routes, cloud.stores, known.installation_key, outside)
        plans = [planned(workflow, schedule) for workflow, schedule in compiled.schedules]
        return Timed(ingress, plans, measuring_tokens(known.settings.tokens_expire))

    sweeper = Sweeper(cloud.store, cloud.queue, ground.clock)
    purger = Purger(cloud.stores, ground.clock)
    timed = Current(ground.published(), parameters, NAMES, make)
    return ground.handler(Ticking(timed, sweeper, purger, ground.clock, pauses).answer)
