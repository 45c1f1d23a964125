"""The window with which a server runs a model, in the server's own words.

Sources: `max_model_len` of vLLM and `meta.n_ctx` of llama.cpp in the list `/v1/models`, and `context_length` in
`/api/ps` of Ollama, which lists the models in memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.app.model_endpoints import Keys
from gofer.models.refusals import format_of
from gofer.models.served_model import Endpoint, ServedModel
from gofer.values.canonical_json import as_list, as_object, decode
from gofer.values.errors import BadRequest, TemporaryError
from gofer.values.outside import BadUrl, Http, HttpRequest

_Row = Mapping[str, object]
_SECONDS = 10.0
_MOST = 10**9


@dataclass(frozen=True, slots=True)
class ServedWindows:
    """Asks servers for the windows of their models."""

    http: Http
    keys: Keys

    async def of(self, model: ServedModel, base_url: str) -> int:
        """Return the window of a model that has just answered at a base URL, in tokens; 0 if the server names none."""
        if format_of(Endpoint(base_url=base_url)) != "chat_completions":
            # The lists of the two vendors have no windows.
            return 0
        base_url = base_url.rstrip("/")
        key = self.keys(model.endpoint.key).reveal() if model.endpoint.key else ""
        listed = as_list((await self._read(f"{base_url}/models", key)).get("data"))
        row = _own(listed, model.name) or _only(listed)
        if window := _tokens(row.get("max_model_len")) or _tokens(as_object(row.get("meta")).get("n_ctx")):
            return window
        loaded = await self._read(f"{base_url.removesuffix('/v1')}/api/ps", key)
        return _tokens(_own(as_list(loaded.get("models")), model.name).get("context_length"))

    async def _read(self, url: str, key: str) -> _Row:
        """Return the JSON object at a URL; an empty one if there is none."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            response = await self.http.send(HttpRequest("GET", url, headers, timeout=_SECONDS))
            return as_object(decode(response.body))
        except (BadRequest, BadUrl, TemporaryError):
            return {}


def _own(rows: Sequence[object], name: str) -> _Row:
    """Return the row of a model. Ollama adds a tag to a name without one."""
    names = {name, f"{name}:latest"}
    own = [row for row in map(as_object, rows) if row.get("id") in names or row.get("name") in names]
    return own[0] if own else {}


def _only(rows: Sequence[object]) -> _Row:
    """Return the row of a server with one model, which llama.cpp asks under any name."""
    return as_object(rows[0]) if len(rows) == 1 else {}


def _tokens(value: object) -> int:
    """Return a plausible number of tokens; 0 for any other value."""
    return value if type(value) is int and 0 < value <= _MOST else 0
