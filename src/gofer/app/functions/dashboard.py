"""The dashboard function: Gofer's pages behind a sign-in, as an ASGI application that answers Lambda events."""

from collections.abc import Mapping, Sequence

from aws_lambda_powertools.metrics import Metrics, MetricUnit
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp, Message

from gofer.app.aws.clients import Cloud
from gofer.app.aws.settings import AwsSettings, aws_settings
from gofer.app.front import healthy, unreadable
from gofer.app.functions.foundation import Ground
from gofer.app.functions.invocation import Handler
from gofer.app.functions.parameter_store import open_stage
from gofer.app.functions.parameters import KEY, Following
from gofer.app.functions.payload import Response, query, read_request, respond, response
from gofer.app.http import SharedHttp, http_client
from gofer.app.pages.page_frame import PageHeaders
from gofer.app.pages.run_pages import Pages
from gofer.app.pages.sign_in import SignIn
from gofer.app.pages.sign_in_settings import sign_in_of
from gofer.journal.store import Store
from gofer.sources.receiver import RawRequest, Reply
from gofer.sources.serving import PageRefused
from gofer.sources.sign_ins import SIGN_IN
from gofer.sources.workflow_files import WorkflowForm
from gofer.values.errors import Corrupt, TemporaryError
from gofer.values.outside import Clock, Outside
from gofer.values.proxies import DIRECT
from gofer.workflows.load import Catalog
from gofer.workflows.publication import read_catalog
from gofer.workflows.published import Live, bundle_key
from gofer.workflows.schema import Defaults


async def call(app: ASGIApp, event: object) -> Response:
    """Return the answer of the application, or status 400 for an event that is not an HTTP request."""
    request = read_request(event)
    if request is None:
        return response(Reply(400, b"This event is not an HTTP request."))
    answer = _Answer(request)
    await app(_scope(request, query(event)), answer.receive, answer.send)
    return respond(answer.status, answer.headers, bytes(answer.body))


def _scope(request: RawRequest, query_string: str) -> dict[str, object]:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "https",
        "path": request.path,
        "raw_path": request.path.encode(),
        "root_path": "",
        "query_string": query_string.encode(),
        "headers": [(_bytes(name), _bytes(value)) for name, value in request.headers],
        "client": None,
        "server": None,
    }


def _bytes(text: str) -> bytes:
    return text.encode("latin-1", "replace")


class _Answer:
    """One exchange over ASGI, with the whole request body at once and a buffered answer."""

    def __init__(self, request: RawRequest) -> None:
        self._request = request
        self.status = 500
        self.headers: Sequence[tuple[str, str]] = ()
        self.body = bytearray()

    async def receive(self) -> Message:
        return {"type": "http.request", "body": self._request.body, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"]]
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")


NAMESPACE = "Gofer"
NAMES = (KEY, "GOFER_URL", *(setting.name for setting in SIGN_IN.settings))
"""The parameters of the dashboard function."""


def dashboard_function(ground: Ground) -> Handler:
    """Return the function that shows Gofer's pages."""
    cloud, parameters = open_stage(ground)
    outside = ground.outside(SharedHttp(http_client(DIRECT)))
    catalogs = _catalogs(ground)

    def make(inputs: tuple[Catalog, Mapping[str, str]]) -> Starlette:
        catalog, environment = inputs
        guard = build_sign_in(aws_settings(environment), outside, cloud.store)
        return _app(cloud, catalog, outside.clock, guard)

    following = Following(make)

    async def answer(event: object, seconds: float) -> Response:
        catalog = await catalogs.current()
        return await call(following.current(lambda: (catalog, parameters.values_of(NAMES))), event)

    return ground.handler(answer)


def build_sign_in(known: AwsSettings, outside: Outside, store: Store) -> SignIn:
    """Return the sign-in that guards the pages. Raises ConfigError, which names the missing settings."""
    how = "set the parameters as docs/deploy.md says"
    return sign_in_of(known.settings, known.installation_key, outside, store, how=how, count=count_refusal)


def _app(cloud: Cloud, catalog: Catalog, clock: Clock, guard: SignIn) -> Starlette:
    pages = Pages(cloud.stores, catalog, clock, guard.readers)
    return Starlette(
        routes=[Route("/healthz", healthy, methods=["GET"]), *guard.routes(), *guard.guard(pages.routes())],
        middleware=[Middleware(PageHeaders)],
        exception_handlers={TemporaryError: unreadable, Corrupt: unreadable},
    )


def _catalogs(ground: Ground) -> Live[Catalog]:
    """Return the published workflows, for the pages of their prompts. There are none before the first publication."""

    def load(raw: bytes) -> Catalog:
        return read_catalog(raw, ground.package, WorkflowForm)

    return Live(ground.bundles(), ground.clock, bundle_key, load, Catalog({}, Defaults()))


def count_refusal(refused: PageRefused) -> None:
    """Count a refusal that keeps the pages closed. A log line names the call and the code."""
    metrics = Metrics(namespace=NAMESPACE)
    metrics.add_metric("SignInRefused", MetricUnit.Count, 1)
    metrics.flush_metrics()
