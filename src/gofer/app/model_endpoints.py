"""The models behind the endpoints of defaults.yaml, restricted to endpoints that the deployment allows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import httpx2

from gofer.app.settings import Settings
from gofer.engine.services import refuse_all
from gofer.models.language_model import DEPLOYED, Access, Answer, Model, Refused
from gofer.models.remote import remote_endpoint
from gofer.models.served_model import OPENAI, OPENAI_KEY, Endpoint
from gofer.sources.settings import read_credential
from gofer.values.errors import ConfigError
from gofer.values.messages import ProviderError
from gofer.values.secret import Secret

Keys = Callable[[str], Secret]
"""Returns the key in a variable, or an empty secret if the variable is not set. May raise TemporaryError."""


def build_model(settings: Settings, http: httpx2.AsyncClient) -> Model:
    """Return the model behind the default endpoint. Raises ConfigError when no endpoint is set up."""
    if not settings.has_model:
        raise ConfigError(
            "No model is set up; set OPENAI_API_KEY, OPENAI_BASE_URL for a compatible endpoint, or MODEL_BASE_URLS for "
            "the endpoints of agents/defaults.yaml."
        )
    if not settings.has_default_endpoint:
        return NoDefault()
    # Both ids belong to the account of the default endpoint, so other endpoints never get them.
    ids = {"OpenAI-Organization": settings.openai_organization, "OpenAI-Project": settings.openai_project}
    account = {name: value for name, value in ids.items() if value}
    at = replace(DEPLOYED, key=settings.openai_api_key)
    url, api = _default_url(settings), settings.openai_api_format
    # The offline model is a server of this process, which needs no client of a vendor.
    return remote_endpoint(http, url, at, account, api=api, packaged=not settings.offline)


class NoDefault:
    """The placeholder for the default model in a deployment that sets up other endpoints only."""

    async def ask(self, body: bytes, timeout: float) -> Answer:
        """Raise Refused, so that the models of other endpoints are asked."""
        raise _refused(
            "The default endpoint has no key; set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint without one."
        )


def keys_of(settings: Settings) -> Keys:
    """Return a function that finds keys in the settings of this process."""
    known = {**settings.model_keys, OPENAI_KEY: settings.openai_api_key}
    return lambda variable: known.get(variable, Secret(""))


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The endpoints of one process. Keys are sent only to base URLs that the operator listed."""

    settings: Settings
    http: httpx2.AsyncClient
    keys: Keys
    default: Model
    _open: dict[tuple[Endpoint, str], Model] = field(default_factory=dict[tuple[Endpoint, str], Model], repr=False)

    def __call__(self, endpoint: Endpoint) -> Model:
        """Return the models behind an endpoint. Raises Refused if the endpoint is not allowed or lacks its key."""
        if self.settings.offline:
            return self.default
        if endpoint.base_url not in {_default_url(self.settings), *self.settings.model_base_urls}:
            raise _refused(
                f"The endpoint `{endpoint.name}` of agents/defaults.yaml has the base URL {endpoint.base_url}, which "
                "MODEL_BASE_URLS does not list; add it there, or correct the endpoint."
            )
        key = self._key(endpoint)
        cache_key = (endpoint, key.reveal())
        if cache_key not in self._open:
            self._open[cache_key] = self._model(endpoint, key)
        return self._open[cache_key]

    def _key(self, endpoint: Endpoint) -> Secret:
        if not endpoint.key:
            return Secret("")
        key = self.keys(endpoint.key)
        if not key:
            raise _refused(f"The endpoint `{endpoint.name}` has no key; set {endpoint.key}.")
        try:
            return read_credential(endpoint.key, key.reveal())
        except ConfigError as error:
            raise _refused(str(error)) from error

    def _model(self, endpoint: Endpoint, key: Secret) -> Model:
        access = Access(
            key=key,
            key_setting=endpoint.key or f"`key` of the endpoint `{endpoint.name}` in agents/defaults.yaml",
            url_setting=f"`base_url` of the endpoint `{endpoint.name}` in agents/defaults.yaml",
        )
        return remote_endpoint(self.http, endpoint.base_url, access, name=endpoint.name, api=endpoint.api)


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """The models that a worker may ask."""

    default: Model
    """The model behind the default endpoint."""
    reach: Callable[[Endpoint], Model] = refuse_all
    """Returns the models behind an endpoint of defaults.yaml. Raises Refused."""
    default_url: str = ""
    """The base URL of the default endpoint; empty if another model stands for all endpoints."""

    def of(self, endpoint: Endpoint) -> Model:
        """Return the models behind any endpoint. Raises Refused."""
        if endpoint.is_default:
            return self.default
        return self.reach(endpoint)


def models_of(settings: Settings, http: httpx2.AsyncClient, keys: Keys | None = None) -> ModelAccess:
    """Return the models that the settings allow. `keys` replaces the keys in the settings.

    Raises ConfigError when no endpoint is set up.
    """
    default = build_model(settings, http)
    return ModelAccess(default, Endpoints(settings, http, keys or keys_of(settings), default), _default_url(settings))


def only(model: Model) -> ModelAccess:
    """Return access to one model, which replaces every endpoint."""

    def reach(endpoint: Endpoint) -> Model:
        return model

    return ModelAccess(model, reach)


def _default_url(settings: Settings) -> str:
    return settings.openai_base_url or OPENAI


def _refused(reason: str) -> Refused:
    return Refused(reason, ProviderError("no_endpoint"), elsewhere=True)
