"""`gofer serve`: serves a real Slack app from this machine."""

import argparse
import asyncio
import sys
from pathlib import Path

from gofer.app.embedded.server import LOCAL
from gofer.app.embedded.service import Service, open_service
from gofer.app.embedded.stack import GRACE
from gofer.app.embedded.stopping import until_stopped
from gofer.app.logs import start_logging
from gofer.app.not_set_up import closed_endpoints, out_of_reach
from gofer.app.notion_token import MINUTES
from gofer.app.settings import Settings, process_settings
from gofer.app.visitors import is_loopback
from gofer.cli.arguments import number
from gofer.sources.slack import settings as slack
from gofer.values.secret import Secret

PORT = 8765
EPILOG = """Settings come from the environment, and below it from .env in the current folder:
  SLACK_BOT_TOKEN        the bot token, xoxb-…
  SLACK_APP_TOKEN        an app-level token, xapp-…: Socket Mode, no address needed
  SLACK_SIGNING_SECRET   for HTTP instead: Slack posts to /slack/events of your server
  GITHUB_TOKEN           for tools of GitHub; GITHUB_WEBHOOK_SECRET for what posts to /github/webhook
  JIRA_API_TOKEN         with JIRA_BASE_URL and JIRA_EMAIL; JIRA_WEBHOOK_SECRET for what posts to /jira/webhook
  NOTION_TOKEN           for tools of Notion; --register-notion, or NOTION_WEBHOOK_SECRET, for /notion/webhook
  JIRA_ACCOUNT_ID, NOTION_BOT_ID, GITHUB_LOGIN
                         as whom Gofer acts there, when it cannot find out by itself
  OPENAI_API_KEY         the model's key, or OPENAI_BASE_URL for a compatible endpoint
  GOFER_URL              where colleagues open Gofer's pages, when it is not this machine
  OTEL_EXPORTER_OTLP_ENDPOINT
                         where the traces of runs go; docs/telemetry.md has the rest
  AGENT_LOG_LEVEL        minimal, summary (the default) or full

examples:
  gofer serve                serve on port 8765 of this machine
  gofer serve --port 80      on another one
  gofer serve --host 0.0.0.0 let other machines reach the receivers, as in a container; pages stay on this machine
  gofer serve --register-notion
                             take the verification token of a new subscription; docs/notion.md tells the steps
docs/slack-app.md leads from nothing to the first mention. SIGTERM and Ctrl-C stop in good order, with the exit codes 0
and 130."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer serve`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("--port", type=number(0, 65535), default=PORT, metavar="N", help=f"port (default {PORT})")
    parser.add_argument(
        "--host",
        default=LOCAL,
        metavar="ADDRESS",
        help=f"address of this machine to listen on (default {LOCAL}, which other machines do not reach)",
    )
    parser.add_argument(
        "--register-notion",
        action="store_true",
        help=f"take the verification token that Notion offers within {MINUTES} minutes",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Serve until it is told to stop."""
    settings = process_settings()
    start_logging(settings.log_level)
    serving = _serve(settings, arguments.host, arguments.port, registering=arguments.register_notion)
    return asyncio.run(until_stopped(serving, _say_stopping))


async def _serve(settings: Settings, host: str, port: int, *, registering: bool) -> None:
    tell = _say_token if registering else None
    async with open_service(settings, Path.cwd(), port, tell, host=host) as service:
        waiting = _waiting(service) if registering else []
        for line in [*_lines(service, settings), *_reach(host), *waiting]:
            print(line, file=sys.stderr, flush=True)
        await asyncio.Event().wait()


def _lines(service: Service, settings: Settings) -> list[str]:
    """Return what is served, for people."""
    embedded = service.embedded
    app = service.app
    idle = out_of_reach(settings, embedded.catalog)
    names = ", ".join(name for name in embedded.catalog.workflows if name not in idle) or "none"
    models = sorted({loaded.models[0].name for loaded in embedded.catalog.workflows.values()})
    over = ["Socket Mode, connected"] if settings.sources[slack.APP_TOKEN] else []
    if settings.sources[slack.SIGNING_SECRETS]:
        over += [f"POST {embedded.url}/slack/events"]
    lines = [
        f"Gofer serves the Slack workspace {app.team} as @{app.user}; stop with Ctrl-C.",
        f"   Slack       {' and '.join(over)}",
        f"   Workflows   {names}",
        f"   Model       {', '.join([*models, embedded.model])}",
        f"   Pages       {settings.public_url or embedded.url}/runs",
    ]
    lines += [f"   Idle        {name}: set {what}" for name, what in idle.items()]
    lines += [f"   Endpoint    {why}" for why in closed_endpoints(embedded.worker.services.reach, embedded.catalog)]
    lines += [f"   Tool        {', '.join(tools)}: set {name}" for name, tools in service.unset.items()]
    if service.lacking:
        lacking = ", ".join(service.lacking)
        lines.append(f"The Slack app lacks {lacking}: update it from `gofer manifest` and install it again.")
    return lines


def _reach(host: str) -> list[str]:
    """Return what other machines reach, where they reach the server at all."""
    if host == "localhost" or is_loopback(host):
        return []
    return [
        f"   Network     {host}: other machines reach the receivers, and the pages are shown on this machine only",
    ]


def _waiting(service: Service) -> list[str]:
    where = f"POST {service.embedded.url}/notion/webhook"
    return [f"   Notion      {where} takes one verification token within {MINUTES} minutes"]


def _say_token(path: Path, token: Secret) -> None:
    """Show the token at a terminal; a stream that is kept gets the name of the file only."""
    lines = [f"Notion offered a verification token; it is in {path}, and Gofer verifies with it from now on."]
    if sys.stderr.isatty():
        lines.append(f"Paste it in Notion's Webhooks tab: {token.reveal()}")
    print("\n".join(lines), file=sys.stderr, flush=True)


def _say_stopping() -> None:
    print(f"Stopping; runs under way get {GRACE:g} seconds to be handed over.", file=sys.stderr, flush=True)
