"""The function of a receiver, built from the lightest parts only.

Every cold start imports this module before its first 2xx. So it imports no boto3, and otherwise only what the ingress
needs.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from gofer.app.aws.settings import aws_settings
from gofer.app.functions.aws_requests import LightDynamo, LightParameters, LightS3, LightSqs
from gofer.app.functions.foundation import Ground
from gofer.app.functions.invocation import Handler
from gofer.app.functions.parameters import KEY, Current, Inputs
from gofer.app.functions.payload import Response, read_request, response
from gofer.app.functions.refused_deliveries import count_refused
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

RESERVE = 1.0
"""Seconds before the end of the function's time at which a delivery is refused, so that its sender gets an answer."""
_NOT_NOW = Reply(503, b"Gofer cannot take this now. Send it again.")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Front:
    """A function that receives deliveries."""

    ingress: Current[Ingress]

    async def answer(self, event: object, seconds: float) -> Response:
        """Return the HTTP answer to an event. No request of a sender can make this raise."""
        request = read_request(event)
        if request is None:
            return response(Reply(400, b"This event is not an HTTP request."))
        try:
            async with asyncio.timeout(max(0.0, seconds - RESERVE)):
                return response(await self._receive(request))
        except TimeoutError:
            # A write may still be carried out. The sender's next delivery completes it.
            _log.error("a delivery was turned away: AWS did not answer within the time of the function")
            return response(_NOT_NOW)

    async def _receive(self, request: RawRequest) -> Reply:
        if request.path == "/healthz":
            return Reply(200, b"ok\n")
        try:
            ingress = await self.ingress.now()
            return await ingress.receive(request)
        except (TemporaryError, ConfigError) as error:
            # Nothing was accepted, so the sender should retry. The log line says who must act.
            _log.error("a delivery was turned away: %s", error)
            return _NOT_NOW


THREADS = 4
"""The most requests of one delivery at the same time."""

SOON = 1.5
"""Seconds for each step of a request to Parameter Store. If it hangs, a receiver goes on with the known values."""

OWN: Mapping[str, str] = {
    spec.secret.name: spec.account.setting.name
    for spec in RECEIVERS
    if spec.account is not None and spec.account.is_needed
}
"""For each source, the setting with Gofer's own account, by the setting with the source's secret."""


def check_own_account(environment: Mapping[str, str]) -> None:
    """Raise ConfigError for a source without Gofer's own account, where Gofer's own writes would start runs.

    A receiver has no token, so it cannot look the account up.
    """
    for secret, account in OWN.items():
        if environment.get(secret) and not environment.get(account):
            reason = "without Gofer's own account there, what Gofer writes would start new runs"
            raise ConfigError(f"{account} must be set with {secret}: {reason}; see docs/deploy.md.")


def source_receiver(ground: Ground, source: str) -> Handler:
    """Return the receiver function of a source. It reads only the settings that its receiver needs."""
    spec = BY_SOURCE[source]
    names = [setting.name for setting in spec.receives_with]
    if spec.registration is None:
        return receiver(ground, *names)
    return receiver(ground, *names, registered=_registered(ground, spec.secret.name, spec.registration))


def _registered(ground: Ground, name: str, registration: Registration) -> SecretParameter:
    """Return the parameter for a secret that its source registers."""
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
    """Return a function that receives deliveries. `names` are the parameters that it reads.

    `hooks` adds the receivers of the published webhooks. `registered` is the parameter for a secret that the source
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
    # The log belongs to the process, so an ingress that is made again continues its counts.
    log = DeliveryLog(count_refused)

    def build(inputs: Inputs) -> Ingress:
        compiled, environment = inputs
        check_own_account(environment)
        published_hooks = None
        if hooks:
            published_hooks = compiled.hooks
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
            hooks=published_hooks,
            jwt=jwt,
            window=window,
            log=log,
        )

    current = Current(ground.published(), parameters, (KEY, *names), build, hooks=hooks)
    return ground.handler(Front(current).answer)
