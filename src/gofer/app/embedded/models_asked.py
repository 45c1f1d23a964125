"""The models that the runs of one process ask: those of the settings, or a given one."""

import httpx2

from gofer.app.model_endpoints import Endpoints, build_model, keys_of
from gofer.app.settings import Settings
from gofer.app.worker import ModelAccess
from gofer.models.language_model import Model
from gofer.models.served_model import Endpoint


def only(model: Model) -> ModelAccess:
    """Return one model in place of every endpoint."""

    def reach(endpoint: Endpoint) -> Model:
        return model

    return ModelAccess(model, reach)


def of_settings(settings: Settings, http: httpx2.AsyncClient) -> ModelAccess:
    """Return the models that the settings lead to. Raises ConfigError when no endpoint is set up."""
    default = build_model(settings, http)
    return ModelAccess(default, Endpoints(settings, http, keys_of(settings), default))
