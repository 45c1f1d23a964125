"""`gofer serve`: serves the real systems on this machine."""

import argparse
import asyncio
import sys
from pathlib import Path

from gofer.app.embedded.server import LOCAL
from gofer.app.embedded.service import Service, open_service
from gofer.app.embedded.stack import GRACE
from gofer.app.embedded.working import until_stopped
from gofer.app.logs import start_logging
from gofer.app.not_set_up import closed_endpoints, out_of_reach
from gofer.app.secret_registration import MINUTES, AwaitedSecret
from gofer.app.settings import Settings, process_settings
from gofer.app.visitors import is_loopback
from gofer.cli.arguments import number
from gofer.sources.connections import CONNECTIONS
from gofer.sources.manuals import MANUALS, WORKPLACE_MANUAL
from gofer.sources.receiver_spec import ReceiverSpec, Registration
from gofer.sources.receivers import BY_SOURCE, RECEIVERS
from gofer.sources.sign_ins import SIGN_IN
from gofer.tools.company import unusable_tools
from gofer.values.secret import Secret

PORT = 8765
_SETTINGS = "".join(manual.settings for manual in MANUALS.values())
_ACCOUNTS = [spec.account.setting.name for spec in RECEIVERS if spec.account is not None and spec.account.is_needed]
_SIGN_IN = ", ".join(setting.name for setting in SIGN_IN.own)
_EXAMPLES = "".join(manual.serving for manual in MANUALS.values())
EPILOG = f"""Settings come from the environment; .env in the current folder fills in those that are not set there:
{_SETTINGS}  {", ".join(_ACCOUNTS)}
                         the account that Gofer uses there, if it cannot find out itself
  OPENAI_API_KEY         the key of the model, or OPENAI_BASE_URL for a compatible endpoint
  GOFER_URL              the address of Gofer's pages for colleagues, if it is not this machine
  GOFER_ALARMS           a channel or an https URL that hears when a model, the disk or a vendor is away
  {_SIGN_IN}
                         the sign-in with {SIGN_IN.system} to these pages
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                         the proxies of all outgoing requests, and the hosts without one
  OTEL_EXPORTER_OTLP_ENDPOINT
                         where Gofer sends traces of runs; docs/telemetry.md has more settings
  AGENT_LOG_LEVEL        minimal, summary (the default) or full

examples:
  gofer serve                serve on port 8765 of this machine
  gofer serve --port 80      serve on another port
  gofer serve --host 0.0.0.0 accept deliveries from other machines, such as in a container; without a
                             sign-in the pages stay on this machine
{_EXAMPLES}{WORKPLACE_MANUAL.guide} describes every step to the first mention. SIGTERM and Ctrl-C stop the server \
cleanly, with the exit codes
0 and 130. GET /healthz says whether the process answers, and GET /readyz whether it works."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer serve`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("--port", type=number(0, 65535), default=PORT, metavar="N", help=f"port (default {PORT})")
    parser.add_argument(
        "--host",
        default=LOCAL,
        metavar="ADDRESS",
        help=f"address of this machine to listen on (default {LOCAL}, which other machines cannot reach)",
    )
    registering = parser.add_mutually_exclusive_group()
    for spec in RECEIVERS:
        if spec.registration is not None:
            registering.add_argument(
                f"--register-{spec.source}",
                dest="registering",
                action="store_const",
                const=spec.source,
                help=f"accept the {spec.registration.secret} that {spec.system} sends within {MINUTES} minutes",
            )


def execute(arguments: argparse.Namespace) -> int:
    """Serve until a signal stops the process."""
    settings = process_settings()
    start_logging(settings.log_level)
    awaited = _awaited(arguments.registering)
    return asyncio.run(until_stopped(_serve(settings, arguments.host, arguments.port, awaited), _say_stopping))


def _awaited(source: str | None) -> AwaitedSecret | None:
    """Return the secret that the operator waits for; None if no option asks for one."""
    if source is None:
        return None
    spec = BY_SOURCE[source]
    registration = spec.registration
    if registration is None:
        return None

    def show(path: Path, secret: Secret) -> None:
        _show_secret(spec, registration, path, secret)

    return AwaitedSecret(spec, registration, show)


async def _serve(settings: Settings, host: str, port: int, awaited: AwaitedSecret | None) -> None:
    async with open_service(settings, Path.cwd(), port, awaited, host=host) as service:
        for line in [*_lines(service, settings), *_reach(host, service), *_waiting(service, awaited)]:
            print(line, file=sys.stderr, flush=True)
        await asyncio.Event().wait()


def _lines(service: Service, settings: Settings) -> list[str]:
    """Return the lines that describe the service at its start."""
    embedded = service.embedded
    idle = out_of_reach(settings, embedded.catalog)
    names = ", ".join(name for name in embedded.catalog.workflows if name not in idle) or "none"
    models = sorted({loaded.models[0].name for loaded in embedded.catalog.workflows.values()})
    lines = [
        f"Gofer serves the {app.spec.system} workspace {app.installed.workspace} as @{app.installed.user}; "
        "stop with Ctrl-C."
        for app in service.apps
    ]
    if not service.apps:
        lines.append(f"Gofer serves without {WORKPLACE_MANUAL.system}; stop with Ctrl-C.")
    lines += [
        f"   {app.spec.system:<11} {' and '.join(_ways(app.spec.source, settings, embedded.url))}"
        for app in service.apps
    ]
    lines += [
        f"   Workflows   {names}",
        f"   Model       {', '.join([*models, embedded.model])}",
        f"   Pages       {settings.public_url or embedded.url}/runs",
    ]
    if settings.alarms:
        lines.append(f"   Alarms      {settings.alarm_channel or 'a webhook'}")
    lines += [f"   Idle        {name}: set {what}" for name, what in idle.items()]
    lines += [f"   Endpoint    {why}" for why in closed_endpoints(embedded.worker.services.reach, embedded.catalog)]
    lines += [f"   Tool        {', '.join(tools)}: set {name}" for name, tools in service.unset.items()]
    lines += [
        f"   Tool        {', '.join(names)}: cannot be used, and no workflow with it runs: {reason}"
        for reason, names in unusable_tools(embedded.company).items()
    ]
    lines += [
        f"The {app.spec.system} app lacks {', '.join(app.lacking)}: "
        "update the app with the output of `gofer manifest` and install it again."
        for app in service.apps
        if app.lacking
    ]
    return lines


def _ways(source: str, settings: Settings, url: str) -> list[str]:
    """Return the ways in which deliveries of a source arrive."""
    found = [
        f"{connection.name}, connected"
        for connection in CONNECTIONS
        if connection.source == source and settings.sources[connection.token]
    ]
    spec = BY_SOURCE[source]
    if settings.sources[spec.secret]:
        found.append(f"POST {url}{spec.path}")
    return found


def _reach(host: str, service: Service) -> list[str]:
    """Return the lines about the people who can open the pages, and about access from other machines."""
    lines: list[str] = []
    if service.embedded.entrance.signs_in:
        lines.append(f"   Sign-in     members of the {SIGN_IN.system} workspace open the pages")
    if host == "localhost" or is_loopback(host):
        return lines
    if service.embedded.entrance.signs_in:
        return [*lines, f"   Network     {host}: other machines can reach the receivers and the sign-in"]
    return [
        f"   Network     {host}: other machines can reach the receivers; only this machine can open the pages",
    ]


def _waiting(service: Service, awaited: AwaitedSecret | None) -> list[str]:
    if awaited is None:
        return []
    spec = awaited.spec
    where = f"POST {service.embedded.url}{spec.path}"
    return [f"   {spec.system:<11} {where} accepts one {awaited.registration.secret} within {MINUTES} minutes"]


def _show_secret(spec: ReceiverSpec, registration: Registration, path: Path, secret: Secret) -> None:
    """Show the secret at a terminal. A log gets only the name of its file."""
    kept = f"it is stored in {path}, and Gofer verifies deliveries with it from now on."
    lines = [f"{spec.system} sent a {registration.secret}; {kept}"]
    if sys.stderr.isatty():
        lines.append(f"Paste it in {registration.confirmed}: {secret.reveal()}")
    print("\n".join(lines), file=sys.stderr, flush=True)


def _say_stopping() -> None:
    print(f"Stopping; running runs have {GRACE:g} seconds to hand over.", file=sys.stderr, flush=True)
