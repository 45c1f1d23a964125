"""The dashboard function: Gofer's own pages, behind a sign-in with Slack."""

from collections.abc import Mapping

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from gofer.bootstrap.aws import Cloud, build_client, new_session, open_cloud
from gofer.bootstrap.aws_settings import AwsSettings, aws_settings
from gofer.bootstrap.functions.asgi import call
from gofer.bootstrap.functions.ground import Ground
from gofer.bootstrap.functions.invocation import Handler
from gofer.bootstrap.functions.parameter_store import SsmParameters
from gofer.bootstrap.functions.parameters import SIGN_IN, Following
from gofer.bootstrap.functions.payload import Response
from gofer.bootstrap.functions.refusals import count_refusal
from gofer.bootstrap.http import SharedHttp, http_client
from gofer.errors import ConfigError, Damaged, TemporaryError
from gofer.journal.store import Store
from gofer.local.front import healthy, unreadable
from gofer.local.page_headers import PageHeaders
from gofer.local.pages import Pages
from gofer.local.sign_in import SignIn, sign_in
from gofer.local.slack_openid import SlackOpenId
from gofer.local.slack_people import SlackPeople
from gofer.local.slack_web import SlackWeb
from gofer.outside import Clock, Outside
from gofer.workflows.load import Catalog
from gofer.workflows.publication import read_catalog
from gofer.workflows.published import Live, bundle_key
from gofer.workflows.schema import Defaults


def dashboard_function(ground: Ground) -> Handler:
    """Return the function at /runs and beside it, for people."""
    session = new_session(ground.cloud.region)
    cloud = open_cloud(ground.cloud, ground.clock, session=session)
    ssm = build_client(session, "ssm", ground.cloud.endpoint)
    parameters, outside = ground.parameters(SsmParameters(ssm)), ground.outside(SharedHttp(http_client()))
    catalogs = _catalogs(ground)

    def make(told: tuple[Catalog, Mapping[str, str]]) -> Starlette:
        catalog, environment = told
        door = build_sign_in(aws_settings(environment), outside, cloud.store)
        return _app(cloud, catalog, outside.clock, door)

    following = Following(make)

    async def answer(event: object, seconds: float) -> Response:
        catalog = await catalogs.current()
        return await call(following.current(lambda: (catalog, parameters.told(SIGN_IN))), event)

    return ground.handler(answer)


def build_sign_in(known: AwsSettings, outside: Outside, store: Store) -> SignIn:
    """Return the sign-in before the pages. Raises ConfigError for a setting without which no person can sign in."""
    settings = known.settings
    needed = {
        "SLACK_CLIENT_ID": settings.slack_client_id,
        "SLACK_CLIENT_SECRET": settings.slack_client_secret,
        "SLACK_BOT_TOKEN": settings.slack_bot_token,
        "GOFER_URL": settings.public_url,
    }
    if missing := [name for name, value in needed.items() if not value]:
        raise ConfigError(f"{' and '.join(missing)} must be set before anybody can sign in; see docs/deploy.md.")
    people = SlackPeople(SlackWeb(settings.slack_api_url, settings.slack_bot_token, outside.http))
    slack = SlackOpenId(people, settings.slack_client_id, settings.slack_client_secret, settings.public_url)
    return sign_in(slack, outside, store, known.installation_key, count_refusal)


def _app(cloud: Cloud, catalog: Catalog, clock: Clock, door: SignIn) -> Starlette:
    pages = Pages(cloud.store, cloud.blobs, catalog, clock, door.readers)
    return Starlette(
        routes=[Route("/healthz", healthy, methods=["GET"]), *door.routes(), *door.guard(pages.routes())],
        middleware=[Middleware(PageHeaders)],
        exception_handlers={TemporaryError: unreadable, Damaged: unreadable},
    )


def _catalogs(ground: Ground) -> Live[Catalog]:
    """The published workflows, for the pages of their prompts; none before anything was published."""

    def load(raw: bytes) -> Catalog:
        return read_catalog(raw, ground.package)

    return Live(ground.shelf(), ground.clock, bundle_key, load, Catalog({}, Defaults()))
