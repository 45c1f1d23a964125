"""How is the schedule function put together: a front for what fires, a sweeper and a purger?"""

from collections.abc import Sequence

from gofer.bootstrap.aws import build_client, new_session, open_cloud
from gofer.bootstrap.aws_settings import aws_settings
from gofer.bootstrap.functions.current import Current, Told
from gofer.bootstrap.functions.expiry import measuring_tokens
from gofer.bootstrap.functions.ground import Ground
from gofer.bootstrap.functions.invocation import Handler
from gofer.bootstrap.functions.parameter_store import SsmParameters
from gofer.bootstrap.functions.parameters import KEY
from gofer.bootstrap.functions.ticking import PAUSES, Ticking, Timed
from gofer.bootstrap.ingress import build_ingress
from gofer.retention import Purger
from gofer.schedules.planned import planned
from gofer.sweeper import Sweeper

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
        ingress = build_ingress(
            known.settings, compiled.routes, cloud.store, cloud.blobs, cloud.queue, known.installation_key, outside
        )
        plans = [planned(workflow, schedule) for workflow, schedule in compiled.schedules]
        return Timed(ingress, plans, measuring_tokens(known.settings.tokens_expire))

    sweeper = Sweeper(cloud.store, cloud.queue, ground.clock)
    purger = Purger(cloud.store, cloud.blobs, ground.clock, cloud.queue)
    timed = Current(ground.published(), parameters, NAMES, make)
    return ground.handler(Ticking(timed, sweeper, purger, ground.clock, pauses).answer)
