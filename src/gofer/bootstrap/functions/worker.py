"""How is the worker function put together: clients and stores once, the worker anew when a setting was changed?"""

from collections.abc import Mapping
from dataclasses import replace

from gofer.bootstrap.aws import build_client, new_session, open_cloud
from gofer.bootstrap.aws_settings import aws_settings
from gofer.bootstrap.endpoints import Endpoints, build_model
from gofer.bootstrap.functions.ground import Ground
from gofer.bootstrap.functions.invocation import Handler
from gofer.bootstrap.functions.measures import measure
from gofer.bootstrap.functions.parameter_store import SsmParameters
from gofer.bootstrap.functions.parameters import SYSTEMS, Following
from gofer.bootstrap.functions.places import children
from gofer.bootstrap.functions.working import LEAVE, Working
from gofer.bootstrap.http import SharedHttp, http_client
from gofer.bootstrap.published_catalog import live_catalog
from gofer.bootstrap.worker import build_worker
from gofer.engine.effects import Patience
from gofer.secret import Secret
from gofer.worker import Worker
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults

RECEIVES = 5
"""How often SQS lets a bell be heard before it is a dead letter, as template.yaml says."""
LEASE = 60.0


def worker_function(
    ground: Ground, patience: Patience | None = None, *, lease: float = LEASE, leave: float = LEAVE
) -> Handler:
    """The function that continues runs; shorter waits than these are only right where nothing can be late."""
    session = new_session(ground.cloud.region)
    cloud = open_cloud(ground.cloud, ground.clock, session=session)
    ssm = build_client(session, "ssm", ground.cloud.endpoint)
    parameters = ground.parameters(SsmParameters(ssm))
    live = live_catalog(ground.shelf(), ground.clock, ground.package)
    reading, python = children(ground.environment)
    for helped in (reading, python):
        ground.kept.callback(helped.close)
    http = http_client()

    def key_in(variable: str) -> Secret:
        # By its own name: the role of the function reads no parameters by their path.
        return Secret(parameters.told([variable]).get(variable, "").strip())

    def make(environment: Mapping[str, str]) -> Worker:
        known = aws_settings(environment)
        model = build_model(known.settings, http)
        worker = build_worker(
            known.settings,
            Catalog({}, Defaults()),
            cloud.store,
            cloud.blobs,
            cloud.queue,
            model,
            ground.outside(SharedHttp(http)),
            known.settings.public_url,
            known.installation_key,
            reading,
            alone=False,
            python=python,
            reach=Endpoints(known.settings, http, key_in, model),
        )
        # Without GOFER_URL no page is known that a person could sign in to.
        links = replace(worker.services.links, signs_in=bool(known.settings.public_url))
        services = replace(worker.services, patience=patience or worker.services.patience, links=links)
        return replace(worker, services=services, live=live, lease=lease, receives=RECEIVES, tell=measure)

    following = Following(make)

    async def current() -> Worker:
        return following.current(lambda: parameters.told(SYSTEMS))

    return ground.handler(Working(current, leave).answer)
