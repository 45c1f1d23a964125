"""Checks for missing setup: required settings, workflows that no event can start, and unusable model endpoints."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from gofer.app.settings import Settings
from gofer.models.language_model import Model, Refused
from gofer.models.served_model import Endpoint
from gofer.sources.manuals import WORKPLACE_MANUAL
from gofer.sources.receivers import BY_SOURCE, RECEIVERS
from gofer.sources.triggers import WORKPLACE_SOURCE
from gofer.sources.webhook.hook import variable
from gofer.sources.workflow_files import used_sources
from gofer.values.errors import ConfigError
from gofer.workflows.load import Catalog
from gofer.workflows.when import Trigger


def out_of_reach(settings: Settings, catalog: Catalog) -> Mapping[str, str]:
    """Return the workflows that no trigger can start, each with the setting that its first trigger lacks.

    Settings of which one is enough are joined by “or”.
    """
    missing = {
        name: [_missing_setting(settings, trigger) for trigger in loaded.workflow.when]
        for name, loaded in sorted(catalog.workflows.items())
    }
    return {name: names[0] for name, names in missing.items() if all(names)}


def _missing_setting(settings: Settings, trigger: Trigger) -> str:
    """Return the name of the setting that a trigger lacks, or the empty string if the trigger can fire."""
    if trigger.hook is not None:
        secrets = settings.webhook_secrets.get(trigger.hook.name) or settings.webhook_secrets.get("")
        if secrets or trigger.hook.auth.jwt is not None:
            return ""
        return variable(trigger.hook.name)
    spec = BY_SOURCE.get(trigger.kind.partition(".")[0])
    if spec is None or settings.receives(spec):
        return ""
    enough = [spec.secret] if spec.listens_with is None else [spec.listens_with, spec.secret]
    return " or ".join(setting.name for setting in enough)


def closed_endpoints(reach: Callable[[Endpoint], Model], catalog: Catalog) -> list[str]:
    """Return a sentence for each endpoint that the workflows name and that this process cannot use."""
    models = [model for loaded in catalog.workflows.values() for model in loaded.every_model()]
    named = {model.endpoint for model in models if not model.endpoint.is_default}
    closed: list[str] = []
    for endpoint in sorted(named, key=lambda endpoint: endpoint.name):
        try:
            reach(endpoint)
        except Refused as error:
            closed.append(str(error))
    return closed


_MODEL = (
    "OPENAI_API_KEY is missing: write your provider's key, or OPENAI_BASE_URL for a compatible endpoint, or "
    "MODEL_BASE_URLS for endpoints of agents/defaults.yaml."
)


@dataclass(frozen=True, slots=True)
class Lacking:
    """A setting without which `gofer serve` does not start, or one that holds the wrong kind of value."""

    subject: str
    """The system that lacks it, or `model`."""
    text: str
    """What to set, and where to find the value."""


def lacking(settings: Settings, catalog: Catalog) -> Iterator[Lacking]:
    """Yield what keeps `gofer serve` from starting. A system that no workflow uses needs no setting."""
    used = used_in(catalog)
    for spec in RECEIVERS:
        if spec.source in used:
            for sentence in spec.missing(settings.sources):
                yield Lacking(spec.system, f"{sentence} It is needed for {used[spec.source]}.")
    workplace = BY_SOURCE[WORKPLACE_SOURCE]
    if settings.alarm_channel and not settings.sources[workplace.token]:
        text = f"GOFER_ALARMS names a channel, which needs {workplace.token.name}; set it, or write an https URL."
        yield Lacking(workplace.system, text)
    if not settings.has_model:
        yield Lacking("model", _MODEL)
    for spec in RECEIVERS:
        for sentence in spec.confused(settings.sources):
            yield Lacking(spec.system, sentence)


def used_in(catalog: Catalog) -> Mapping[str, str]:
    """Return the sources that the workflows need, each with the first part that needs it."""
    return used_sources({name: loaded.workflow for name, loaded in catalog.workflows.items()}, catalog.defaults)


def check_complete(settings: Settings, catalog: Catalog) -> None:
    """Raise ConfigError with one line for each setting that is missing or of the wrong kind."""
    problems = [one.text for one in lacking(settings, catalog)]
    if problems:
        raise ConfigError(
            "\n".join([*problems, f"Write them into .env or the environment; see {WORKPLACE_MANUAL.guide}."])
        )
