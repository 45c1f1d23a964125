"""How is the schedule function put together: a front for what fires, a sweeper and a purger?"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime

from aws_lambda_powertools.metrics import Metrics, MetricUnit

from gofer.app.aws.clients import build_client, new_session, open_cloud
from gofer.app.aws.settings import aws_settings
from gofer.app.functions.current import Current, Told
from gofer.app.functions.foundation import Ground
from gofer.app.functions.invocation import Handler
from gofer.app.functions.parameter_store import SsmParameters
from gofer.app.functions.parameters import KEY
from gofer.app.functions.ticks import PAUSES, Ticking, Timed
from gofer.app.ingress import build_ingress
from gofer.runtime.retention import Purger
from gofer.runtime.sweeper import Sweeper
from gofer.values.schedules.planned import planned

NAMESPACE = "Gofer"


def measuring_tokens(days: Mapping[str, date]) -> Callable[[float], None]:
    """Says how long each token is still good, below zero when it is not any more; gets the time in unix seconds."""

    def measure(now: float) -> None:
        today = datetime.fromtimestamp(now, UTC).date()
        for last in days.values():
            metrics = Metrics(namespace=NAMESPACE)
            metrics.add_metric("TokenExpiresInDays", MetricUnit.NoUnit, (last - today).days)
            metrics.flush_metrics()

    return measure


NAMES = (KEY, "TOKENS_EXPIRE")


def schedule_function(ground: Ground, pauses: Sequence[float] = PAUSES) -> Handler:
    """The function that EventBridge Scheduler calls; shorter pauses are only right where publishing takes no time."""
    session = new_session(ground.cloud.region)
    cloud = open_cloud(ground.cloud, ground.clock, session=session)
    ssm = build_client(session, "ssm", ground.cloud.endpoint)
    parameters = ground.parameters(SsmParameters(ssm))

    def make(told: Told) -> Timed:
        compiled, environment = told
        known = aws_settings(environment)
        outside = ground.outside()
        ingress = build_ingress(known.settings, compiled.routes, cloud.stores, known.installation_key, outside)
        plans = [planned(workflow, schedule) for workflow, schedule in compiled.schedules]
        return Timed(ingress, plans, measuring_tokens(known.settings.tokens_expire))

    sweeper = Sweeper(cloud.store, cloud.queue, ground.clock)
    purger = Purger(cloud.stores, ground.clock)
    timed = Current(ground.published(), parameters, NAMES, make)
    return ground.handler(Ticking(timed, sweeper, purger, ground.clock, pauses).answer)
