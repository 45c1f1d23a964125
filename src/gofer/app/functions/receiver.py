"""The function of a receiver, put together from the lightest parts only.

What is imported here is on the way of every cold start to its first 2xx: no boto3, and nothing that ingress has not.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from gofer.app.aws.settings import aws_settings
from gofer.app.functions.aws_requests import LightDynamo, LightParameters, LightS3, LightSqs
from gofer.app.functions.foundation import Ground
from gofer.app.functions.invocation import Handler
from gofer.app.functions.parameters import KEY, Current, Told
from gofer.app.functions.payload import Response, read_request, response
from gofer.app.functions.secret_registration import SecretParameter
from gofer.app.ingress import build_ingress
from gofer.runtime.receive import Ingress
from gofer.sources.delivery_log import DeliveryLog
from gofer.sources.receiver import RawRequest, Reply
from gofer.sources.receiver_spec import Registration
from gofer.sources.receivers import BY_SOURCE, RECEIVERS
from gofer.sources.webhook.receiver import JwtProofs
from gofer.stores.aws.blobs import S3Bodies
from gofer.stores.aws.calls import Aws
from gofer.stores.aws.dynamodb_client import DynamoTable
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.aws.queue import SqsQueue
from gofer.stores.one_place import FrontStores
from gofer.values.errors import ConfigError, TemporaryError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Front:
    """A function that receives deliveries."""

    ingress: Current[Ingress]

    async def answer(self, event: object, seconds: float) -> Response:
        """Return the HTTP answer to an event; never raises for what a sender can cause."""
        request = read_request(event)
        if request is None:
            return response(Reply(400, b"This is no HTTP request."))
        return response(await self._receive(request))

    async def _receive(self, request: RawRequest) -> Reply:
        if request.path == "/healthz":
            return Reply(200, b"ok\n")
        try:
            ingress = await self.ingress.now()
            return await ingress.receive(request)
        except (TemporaryError, ConfigError) as error:
            # Nothing was accepted: the sender is asked to come again, and the line says who has to act.
            _log.error("a delivery was turned away: %s", error)
            return Reply(503, b"Gofer cannot take this now. Send it again.")


THREADS = 4
"""Requests of one delivery that run at once."""

SOON = 1.5
"""Seconds for each step of asking Parameter Store: while it hangs, a receiver goes on in time with what it knows."""

OWN: Mapping[str, str] = {
    spec.secret.name: spec.account.setting.name
    for spec in RECEIVERS
    if spec.account is not None and spec.account.is_needed
}
"""The setting that says as whom Gofer acts in a source, by the setting with the source's secret."""


def check_own_account(environment: Mapping[str, str]) -> None:
    """Raise ConfigError where Gofer would start itself: a receiver holds no token with which it could ask who it is."""
    for heard, own in OWN.items():
        if environment.get(heard) and not environment.get(own):
            told = "it says as whom Gofer acts there, and what Gofer writes would start it again"
            raise ConfigError(f"{own} must be set before {heard} is of use: {told}; see docs/deploy.md.")


def source_receiver(ground: Ground, source: str) -> Handler:
    """Return the function of a source of the registry, which reads the settings that its receiver needs."""
    spec = BY_SOURCE[source]
    names = [setting.name for setting in spec.receives_with]
    if spec.registration is None:
        return receiver(ground, *names)
    return receiver(ground, *names, registered=_registered(ground, spec.secret.name, spec.registration))


def _registered(ground: Ground, name: str, registration: Registration) -> SecretParameter:
    """Return the parameter of a secret that its source registers."""
    ssm = _parameters(ground)
    path = f"{ground.environment.get('GOFER_PARAMETERS', '')}{name}"

    def read() -> str:
        return ssm.read([path]).get(path, "")

    def write(value: str) -> None:
        ssm.write(path, value)

    return SecretParameter(name, registration.secret, read, write)


def _parameters(ground: Ground) -> LightParameters:
    return LightParameters(ground.wire("ssm", timeout=SOON))


def receiver(
    ground: Ground,
    *names: str,
    jwt: JwtProofs | None = None,
    hooks: bool = False,
    registered: SecretParameter | None = None,
) -> Handler:
    """Return a function that receives deliveries; `names` are the parameters of its own.

    With `hooks` it has the receivers of the published webhooks. With `registered` it takes a secret that its source
    offers.
    """
    cloud = ground.cloud
    aws = Aws(THREADS)
    sqs = LightSqs(ground.wire("sqs"))
    table = DynamoTable(aws, LightDynamo(ground.wire("dynamodb")), cloud.table, cloud.keys_table)
    store = DynamoStore(table)
    blobs = S3Bodies(aws, LightS3(ground.wire("s3", cloud.bucket)), cloud.bucket)
    queue = SqsQueue(aws, sqs, cloud.queue_url, cloud.dead_letter_url, ground.clock)
    stores = FrontStores(store, blobs, queue)
    parameters = ground.parameters(_parameters(ground))
    # As old as the process: a front that is made anew goes on counting.
    log = DeliveryLog()

    def build(told: Told) -> Ingress:
        compiled, environment = told
        check_own_account(environment)
        window = None
        if registered is not None:
            environment, window = registered.opened(environment, ground.clock)
        known = aws_settings(environment)
        return build_ingress(
            known.settings,
            compiled.routes,
            stores,
            known.installation_key,
            ground.outside(),
            hooks=compiled.hooks if hooks else None,
            jwt=jwt,
            window=window,
            log=log,
        )

    current = Current(ground.published(), parameters, (KEY, *names), build, hooks=hooks)
    return ground.handler(Front(current).answer)
