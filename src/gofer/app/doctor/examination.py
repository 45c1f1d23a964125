"""The whole examination of an installation, in the order in which a person repairs it."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx2

from gofer.app.catalog import company_tools, mistakes
from gofer.app.doctor.finding import Finding, works, wrong
from gofer.app.doctor.machine import machine
from gofer.app.doctor.models import models
from gofer.app.doctor.systems import DatedHttp, systems
from gofer.app.model_endpoints import models_of
from gofer.app.not_set_up import lacking
from gofer.app.settings import Settings
from gofer.app.toolbox import build_tools, unset
from gofer.sources.workflow_files import load_catalog
from gofer.tools.company import unusable_tools
from gofer.values.errors import ConfigError, TemporaryError
from gofer.values.outside import BadUrl, Clock, Http, HttpRequest
from gofer.workflows.load import Catalog

_HEALTH = "/healthz"
_WORKFLOWS = "workflows"


async def examine(
    settings: Settings, root: Path, http: Http, client: httpx2.AsyncClient, clock: Clock, *, offline: bool
) -> Sequence[Finding]:
    """Return every finding. With `offline`, nothing outside of this machine is asked. Raises ConfigError."""
    found = [*machine(root, settings.data), *_files(root)]
    try:
        catalog = load_catalog(root / "agents")
    except ConfigError:
        if any(one.subject == _WORKFLOWS and one.state == "wrong" for one in found):
            return found
        raise
    found += _company(settings, root)
    missing = [*lacking(settings, catalog)]
    found += [wrong(one.subject, one.text, "Until then `gofer serve` does not start.") for one in missing]
    found.append(_alarms(settings))
    if offline:
        return found
    dated = DatedHttp(http, clock)
    tools = build_tools(settings, company=company_tools(root))
    asked = await asyncio.gather(
        systems(settings, catalog, tools, dated, {one.subject for one in missing}),
        _models(settings, catalog, client),
        _pages(settings, dated),
    )
    return [*found, *(finding for each in asked for finding in each)]


def _files(root: Path) -> Iterator[Finding]:
    wrong_ones = [one for one in mistakes(root / "agents") if not one.is_hint]
    if wrong_ones:
        yield wrong(_WORKFLOWS, f"{len(wrong_ones)} mistakes; the first: {wrong_ones[0]}", "Run: gofer check")
    else:
        yield works(_WORKFLOWS, "no mistakes")


def _company(settings: Settings, root: Path) -> Iterator[Finding]:
    company = company_tools(root)
    for reason, tools in unusable_tools(company).items():
        yield wrong(", ".join(tools), f"cannot be used: {reason}", "Run: gofer check")
    for variable, tools in unset(company, settings).items():
        yield Finding(", ".join(tools), "off", f"{variable} is not set", f"Set {variable} in .env.")


async def _models(settings: Settings, catalog: Catalog, client: httpx2.AsyncClient) -> Sequence[Finding]:
    if not settings.has_model:
        return []
    return await models(models_of(settings, client), catalog)


def _alarms(settings: Settings) -> Finding:
    """Return who hears that a system is away. Nothing is sent."""
    if not settings.alarms:
        text = "GOFER_ALARMS is not set, so a person hears of a model, disk or vendor that is away only from the log"
        return Finding("alarms", "off", text, "Set GOFER_ALARMS to a channel or an https URL.")
    return works("alarms", f"go to {settings.alarm_channel or 'a webhook'}")


async def _pages(settings: Settings, http: Http) -> Sequence[Finding]:
    """Return whether colleagues reach the pages at their public address."""
    if not settings.public_url:
        return [Finding("pages", "off", "GOFER_URL is not set, so links in answers open on this machine only", "")]
    url = f"{settings.public_url.rstrip('/')}{_HEALTH}"
    try:
        response = await http.send(HttpRequest("GET", url, {}))
    except BadUrl:
        return [wrong("pages", f"{url} cannot be requested", "Correct GOFER_URL.")]
    except TemporaryError as error:
        return [Finding("pages", "away", f"{url} does not answer: {error}", "Start Gofer, or correct GOFER_URL.")]
    if response.status != 200:
        return [wrong("pages", f"{url} answers with HTTP {response.status}", "Correct GOFER_URL, or its proxy.")]
    return [works("pages", f"{settings.public_url} answers")]
