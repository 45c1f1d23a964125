"""The models that the runs of one process ask: those of the settings, the offline model, or a given one."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import httpx2

from gofer.app.embedded.server import serve
from gofer.app.model_endpoints import Endpoints, build_model, keys_of
from gofer.app.settings import Settings
from gofer.models.language_model import Model
from gofer.models.served_model import Endpoint
from gofer.values.errors import ConfigError
from gofer.values.model_script import Script
from gofer.values.secret import Secret
from gofer_simulators.demo import demo_scripts
from gofer_simulators.offline_model import offline_model


@dataclass(frozen=True, slots=True)
class ModelsAsked:
    """The model behind the default endpoint, and what opens the models behind other endpoints."""

    default: Model
    reach: Callable[[Endpoint], Model]


def only(model: Model) -> ModelsAsked:
    """Return one model in place of every endpoint."""

    def reach(endpoint: Endpoint) -> Model:
        return model

    return ModelsAsked(model, reach)


def of_settings(settings: Settings, http: httpx2.AsyncClient) -> ModelsAsked:
    """Return the models that the settings lead to. Raises ConfigError when no endpoint is set up."""
    default = build_model(settings, http)
    return ModelsAsked(default, Endpoints(settings, http, keys_of(settings), default))


async def offline_unless_set_up(
    stack: contextlib.AsyncExitStack, settings: Settings, scripts: Sequence[Script] | None, *, simulated: bool
) -> Settings:
    """Return settings that lead to a model: the one that is set up, or the offline model. Raises ConfigError."""
    if settings.has_model and scripts is None:
        return settings
    if not simulated and settings.reaches_people:
        # Words of a script are for a simulated world; people would take them for an answer.
        raise ConfigError(
            "No model is set up, and the offline model's words are never written into real systems. "
            "Set OPENAI_API_KEY, OPENAI_BASE_URL for a compatible endpoint, or MODEL_BASE_URLS for the endpoints of "
            "agents/defaults.yaml."
        )
    url = await stack.enter_async_context(serve(offline_model(demo_scripts() if scripts is None else scripts)))
    return replace(settings, openai_api_key=Secret(""), openai_base_url=f"{url}/v1", offline=True)


def model_in_words(settings: Settings) -> str:
    """Return what answers, for people."""
    if settings.offline:
        return "the offline model: a script, not a language model"
    if not settings.has_default_endpoint:
        return "the models behind the endpoints of agents/defaults.yaml"
    return f"the model behind {urlsplit(settings.openai_base_url).hostname or 'the OpenAI API'}"
