"""The outside systems that workflows use: tokens, permissions, webhooks, and this machine's clock beside theirs."""

import asyncio
from collections.abc import Awaitable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime

from typing_extensions import override

from gofer.app.doctor.finding import Finding, works, wrong
from gofer.app.not_set_up import out_of_reach, used_in
from gofer.app.settings import Settings
from gofer.sources.apps import APPS
from gofer.sources.receiver_spec import OwnAccount, ReceiverSpec
from gofer.sources.receivers import RECEIVERS
from gofer.sources.serving import AppSpec
from gofer.tools.definition import AnyTool
from gofer.values.canonical_json import as_object, decode
from gofer.values.errors import BadRequest, ConfigError, TemporaryError
from gofer.values.outside import Clock, Http, HttpRequest, HttpResponse
from gofer.workflows.load import Catalog

SECONDS = 10.0
"""The longest wait for one answer."""
MOST_OFF = 60.0
"""The seconds by which the clock may differ from that of a system. Signatures of deliveries are valid for minutes."""
_REFUSED = (401, 403)
_NO_SUCH = 404


@dataclass(slots=True)
class DatedHttp(Http):
    """A network with a limit on each wait. It notes how far this clock is ahead of those of the servers."""

    http: Http
    clock: Clock
    ahead: list[float] = field(default_factory=list[float])
    """Seconds, one for each answer with a date."""

    @override
    async def send(self, request: HttpRequest) -> HttpResponse:
        response = await self.http.send(replace(request, timeout=min(request.timeout, SECONDS)))
        try:
            sent = parsedate_to_datetime(response.headers.get("date", "")).timestamp()
        except ValueError:
            return response
        self.ahead.append(self.clock.now() - sent)
        return response


async def systems(
    settings: Settings, catalog: Catalog, tools: Mapping[str, AnyTool], http: DatedHttp, lacking: Collection[str]
) -> Sequence[Finding]:
    """Return what each system says about its token, in the order of the sources, and what the clocks say.

    The systems that are `lacking` a setting, or have a wrong one, are not asked.
    """
    apps = {app.source: app for app in APPS}
    used = used_in(catalog)
    looks: list[Awaitable[Sequence[Finding]]] = []
    for spec in RECEIVERS:
        if spec.system in lacking:
            continue
        if not settings.sources[spec.token]:
            looks.append(_unset(spec, is_used=spec.source in used))
        elif app := apps.get(spec.source):
            looks.append(_app(app, settings, catalog, tools, http))
        else:
            looks.append(_account(spec, settings, http))
    found = [finding for each in await asyncio.gather(*looks) for finding in each]
    return [*found, *_clock(http.ahead), *_triggers(settings, catalog)]


async def _unset(spec: ReceiverSpec, *, is_used: bool) -> Sequence[Finding]:
    if not is_used:
        return []
    return [Finding(spec.system, "off", f"{spec.token.name} is not set", f"Set {spec.token.name} in .env.")]


async def _app(
    app: AppSpec, settings: Settings, catalog: Catalog, tools: Mapping[str, AnyTool], http: Http
) -> Sequence[Finding]:
    """Return whether the token of an app works, and whether the app has the permissions that the workflows need."""
    try:
        installed = await app.identify(settings.sources, http)
    except ConfigError as error:
        return [wrong(app.system, str(error), "")]
    except TemporaryError as error:
        return [_away(app.system, str(error))]
    found = [works(app.system, f"@{installed.user} in {installed.workspace}")]
    needed = app.needed([loaded.workflow for loaded in catalog.workflows.values()], tools.values())
    lacking = [scope for scope in needed if installed.scopes is not None and scope not in installed.scopes]
    if lacking:
        remedy = "Update the app with the output of `gofer manifest`, and install it again."
        found.append(wrong(f"{app.system} app", f"it lacks {', '.join(lacking)}", remedy))
    return found


async def _account(spec: ReceiverSpec, settings: Settings, http: Http) -> Sequence[Finding]:
    """Return what a system says about the account of the token."""
    return [await _token(spec, settings, http)]


async def _token(spec: ReceiverSpec, settings: Settings, http: Http) -> Finding:
    account = spec.account
    request = account.request(settings.sources) if account is not None else None
    if account is None or request is None:
        return works(spec.system, f"{spec.token.name} is set, and cannot be tried without an effect")
    try:
        response = await http.send(request)
    except TemporaryError as error:
        return _away(spec.system, str(error))
    if response.status in _REFUSED:
        remedy = f"Make a new token, and set {spec.token.name}."
        return wrong(spec.system, f"it does not accept {spec.token.name} (HTTP {response.status})", remedy)
    if response.status == _NO_SUCH:
        return wrong(spec.system, "there is no such system at this address (HTTP 404)", "Correct its URL in .env.")
    if response.status != 200:
        return _away(spec.system, f"HTTP {response.status}")
    return _named(spec, account, response)


def _named(spec: ReceiverSpec, account: OwnAccount[object], response: HttpResponse) -> Finding:
    try:
        found = account.found(as_object(decode(response.body)))
    except BadRequest:
        return wrong(spec.system, "the answer is no JSON, so another server answers there", "Correct its URL in .env.")
    if not found:
        return wrong(spec.system, "the token has no account", f"Set {account.setting.name}.")
    return works(spec.system, f"{spec.token.name} is accepted")


def _away(system: str, reason: str) -> Finding:
    return Finding(system, "away", f"no answer: {reason}", "Look again in some minutes; runs wait meanwhile.")


def _clock(ahead: Sequence[float]) -> Iterator[Finding]:
    """Yield how far the clock of this machine is from those of the servers, of which the median counts."""
    if not ahead:
        return
    middle = sorted(ahead)[len(ahead) // 2]
    if abs(middle) > MOST_OFF:
        side = "ahead" if middle > 0 else "behind"
        text = f"the clock of this machine is {abs(middle):.0f} s {side}, so signed deliveries are refused"
        yield wrong("clock", text, "Turn on time synchronisation (NTP).")
    else:
        yield works("clock", f"within {MOST_OFF:.0f} s of the servers")


def _triggers(settings: Settings, catalog: Catalog) -> Iterator[Finding]:
    """Yield the workflows that nothing can start."""
    for name, setting in out_of_reach(settings, catalog).items():
        yield Finding(name, "off", f"nothing can start this workflow without {setting}", f"Set {setting}.")
