"""The models that the runs of one process ask: those of the settings, or a given one."""

from collections.abc import Callable
from dataclasses import dataclass

import httpx2

from gofer.app.model_endpoints import Endpoints, build_model, keys_of
from gofer.app.settings import Settings
from gofer.models.language_model import Model
from gofer.models.served_model import Endpoint


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
