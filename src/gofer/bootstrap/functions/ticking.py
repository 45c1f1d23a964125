"""What does the schedule function do? It begins the run of a nominal time, sweeps, or deletes what is due."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gofer.bootstrap.functions.current import Current
from gofer.canonical import as_object, as_text
from gofer.dispatch import Ingress
from gofer.errors import BadRequest
from gofer.outside import Clock
from gofer.retention import Purger
from gofer.schedules.planned import Planned, fired
from gofer.sweeper import Sweeper
from gofer.triggers.schedule import scheduled

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Timed:
    """What published workflows and settings are to the schedule function."""

    ingress: Ingress
    plans: Sequence[Planned]
    measure_tokens: Callable[[float], None]
    """Done once a day: nothing else tells how long tokens are good; gets the time in unix seconds."""


@dataclass(frozen=True, slots=True)
class Ticking:
    """The schedule function."""

    timed: Current[Timed]
    sweeper: Sweeper
    purger: Purger
    clock: Clock

    async def answer(self, event: object, seconds: float) -> dict[str, object]:
        """What was done, in numbers and ids. Raises TemporaryError, Damaged: then Lambda tries again; BadRequest."""
        match as_object(event):
            case {"sweep": True}:
                return {"rung": await self.sweeper.sweep(self.sweeper.still)}
            case {"purge": True}:
                (await self.timed.now()).measure_tokens(self.clock.now())
                purged = await self.purger.purge()
                return {"deleted": purged.deleted, "forgotten": purged.forgotten}
            case {"workflow": str(), "schedule": str(), "at": str()} as told:
                return await self._begin(told)
            case _:
                raise BadRequest(400, "This is nothing that the schedule function does; see template.yaml.")

    async def _begin(self, told: Mapping[str, object]) -> dict[str, object]:
        schedule, at = as_text(told["schedule"]), _time(as_text(told["at"]))
        timed = await self.timed.now()
        if schedule not in {plan.id for plan in timed.plans}:
            # Scheduler may know of it before this process has looked at what is published.
            timed = await self.timed.anew()
        found = fired(timed.plans, schedule, at, datetime.fromtimestamp(self.clock.now(), UTC))
        if isinstance(found, str):
            fields = {"workflow": as_text(told["workflow"])[:80]}
            _log.warning("no run was begun: %s", found, extra={"fields": fields})
            return {"ignored": found}
        plan, nominal = found
        return {"run": await timed.ingress.start(scheduled(plan.workflow, plan.schedule, nominal), plan.workflow)}


def _time(text: str) -> datetime:
    """The time that EventBridge Scheduler says. Raises BadRequest."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadRequest(400, "`at` is no time; the schedule has to say <aws.scheduler.scheduled-time>.") from error
    return time if time.tzinfo else time.replace(tzinfo=UTC)
