"""How is everything opened for a real Slack: settings checked, token tried, deliveries heard, runs continued?"""

import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gofer.app.embedded.server import LOCAL
from gofer.app.embedded.socket_mode import connected
from gofer.app.embedded.stack import EmbeddedStack, open_embedded
from gofer.app.embedded.working import working
from gofer.app.notion_token import Tell
from gofer.app.required_settings import check_complete
from gofer.app.settings import Settings
from gofer.app.slack_app import SlackApp, identify
from gofer.app.toolbox import unset
from gofer.sources.slack import settings as slack
from gofer.sources.slack.manifest import needed
from gofer.values.errors import TemporaryError
from gofer.values.outside import Http


@dataclass(frozen=True, slots=True)
class Service:
    """A Gofer that serves a real Slack."""

    embedded: EmbeddedStack
    app: SlackApp
    lacking: tuple[str, ...]
    """Scopes that the workflows need and the app does not have."""
    unset: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Variables that the company's tools name and that are not set, with the names of those tools."""


@contextlib.asynccontextmanager
async def open_service(
    settings: Settings, root: Path, port: int, tell_token: Tell | None = None, *, host: str = LOCAL
) -> AsyncGenerator[Service]:
    """Serves while the block runs. On the way out runs are handed over first; what is delivered meanwhile is kept.

    `host` is the address of this machine that the front listens on. `tell_token` opens the window in which Notion's
    verification token is taken, and is told of it.
    Raises ConfigError when a setting, a file or a token is wrong, TemporaryError when Slack cannot be reached, OSError
    when the port is taken.
    """
    check_complete(settings)
    async with contextlib.AsyncExitStack() as stack:
        embedded = await stack.enter_async_context(
            open_embedded(settings, root, port, host=host, tell_token=tell_token)
        )
        app = await _identify(settings, embedded.worker.services.outside.http)
        if settings.sources[slack.APP_TOKEN]:
            await stack.enter_async_context(connected(embedded.settings, embedded.editions.hear))
        await stack.enter_async_context(working(embedded.worker, embedded.clockwork, embedded.watcher))
        workflows = [loaded.workflow for loaded in embedded.catalog.workflows.values()]
        scopes = needed(workflows, embedded.worker.services.tools.values())
        lacking = tuple(scope for scope in scopes if app.scopes is not None and scope not in app.scopes)
        yield Service(embedded, app, lacking, unset(embedded.company, settings))


async def _identify(settings: Settings, http: Http) -> SlackApp:
    try:
        return await identify(settings, http)
    except TemporaryError as error:
        raise TemporaryError(f"Slack cannot be reached ({error}); check the network, then start again.") from error
