"""A model of a workflow: its name, endpoint, price, and abilities."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from gofer.models.abilities import Ability
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.messages import Usage

STAND_INS = ("offline-model", "scripted")
"""The stand-ins for a model, by the names that their answers carry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The price of one model, in US dollars per million tokens."""

    input: float
    cached_input: float
    output: float
    cache_write: float | None = None
    """The price of tokens that the provider writes to its cache; None means the price of other input."""
    cache_write_long: float | None = None
    """The price of those that it keeps for the longer of its retentions; None means `cache_write`."""
    above: tuple[tuple[int, "Price"], ...] = ()
    """Thresholds and prices, in ascending order. A price applies to all tokens of a request above its threshold."""

    def cost(self, usage: Usage) -> float:
        """Return the US dollars of one call."""
        reached = [self, *(price for tokens, price in self.above if usage.input_tokens > tokens)]
        price = reached[-1]
        written = usage.written_tokens - usage.written_long_tokens
        fresh = usage.input_tokens - usage.cached_tokens - usage.written_tokens
        read = fresh * price.input + usage.cached_tokens * price.cached_input
        write = written * price.write + usage.written_long_tokens * price.write_long
        return (read + write + usage.output_tokens * price.output) / 1_000_000

    @property
    def write(self) -> float:
        """The price of tokens that are written to the cache."""
        return self.input if self.cache_write is None else self.cache_write

    @property
    def write_long(self) -> float:
        """The price of tokens that are written to the cache for the longer retention."""
        return self.write if self.cache_write_long is None else self.cache_write_long

    def to_json(self) -> dict[str, object]:
        """Return the price as JSON."""
        return {
            "input": self.input,
            "cached_input": self.cached_input,
            "output": self.output,
            **{name: price for name, price in self._writes() if price is not None},
            "above": [[tokens, price.to_json()] for tokens, price in self.above],
        }

    def _writes(self) -> tuple[tuple[str, float | None], ...]:
        return ("cache_write", self.cache_write), ("cache_write_long", self.cache_write_long)


def price_from_json(value: Mapping[str, object]) -> Price:
    """Return the price that `Price.to_json` wrote."""
    pairs = [as_list(pair) for pair in as_list(value.get("above"))]
    return Price(
        input=_number(value, "input"),
        cached_input=_number(value, "cached_input"),
        output=_number(value, "output"),
        cache_write=_known_number(value, "cache_write"),
        cache_write_long=_known_number(value, "cache_write_long"),
        above=tuple((int(str(tokens)), price_from_json(as_object(price))) for tokens, price in pairs),
    )


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of models that no file describes, by the name of the model that answered."""

    models: Mapping[str, Price]

    def cost(self, model: str, usage: Usage) -> float | None:
        """Return the US dollars of one call, or None when the model has no price here."""
        price = self.models.get(model)
        if price is None:
            return None
        return price.cost(usage)


FREE = Price(input=0.0, cached_input=0.0, output=0.0)
"""The price of stand-ins, and of models on an own machine or network."""


def stand_in_prices() -> Prices:
    """Return the prices of the stand-ins, which are free."""
    return Prices(dict.fromkeys(STAND_INS, FREE))


def _number(value: Mapping[str, object], name: str) -> float:
    return _known_number(value, name) or 0.0


def _known_number(value: Mapping[str, object], name: str) -> float | None:
    found = value.get(name)
    if not isinstance(found, int | float):
        return None
    return float(found)


OPENAI_KEY = "OPENAI_API_KEY"
"""The environment variable with the key of the default endpoint."""
OPENAI = "https://api.openai.com/v1"
"""The base URL of the default endpoint if OPENAI_BASE_URL is not set."""
DEFAULT = "openai"
"""The name of the endpoint that the deployment configures: OpenAI, or OPENAI_BASE_URL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An endpoint that serves models."""

    name: str = DEFAULT
    base_url: str = ""
    """The base URL, without a slash at the end; empty for the default endpoint."""
    key: str = OPENAI_KEY
    """The environment variable that holds the key; empty if the endpoint needs none."""
    api: str = ""
    """The format in which its models are asked; empty means the native one of the base URL."""

    def to_json(self) -> dict[str, object]:
        """Return the endpoint as a bundle keeps it."""
        named = {"name": self.name, "base_url": self.base_url, "key": self.key}
        return {**named, **({"api": self.api} if self.api else {})}

    @property
    def is_default(self) -> bool:
        """Whether the deployment configures the endpoint, and not a file."""
        return not self.base_url


OPENAI_ENDPOINT = Endpoint(base_url=OPENAI)
"""The default endpoint of a deployment that sets no other one."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """One model behind one endpoint."""

    name: str
    """The provider's name of the model."""
    endpoint: Endpoint = field(default_factory=Endpoint, kw_only=True)
    price: Price | None = field(default=None, kw_only=True)
    """The price; None if it is not known."""
    ability: Ability | None = field(default=None, kw_only=True)
    """The ability; None uses the table of the process, as for runs from before files described models."""
    parameters: Mapping[str, object] = field(default_factory=dict[str, object], kw_only=True)
    """Parameters of every request to this model, beside those of the workflow."""
    timeout: float | None = field(default=None, kw_only=True)
    """The most seconds of silence, while the answer is read as it is written; None waits for the whole answer."""

    @property
    def asked_at(self) -> str:
        """The model with its endpoint, as `messages.asked_at` names it."""
        if self.endpoint.is_default:
            return self.name
        return f"{self.endpoint.name}/{self.name}"

    def to_json(self) -> dict[str, object]:
        """Return the model as a bundle keeps it."""
        ability = self.ability
        return {
            "name": self.name,
            "endpoint": self.endpoint.to_json(),
            "price": self.price and self.price.to_json(),
            "ability": ability and {"window": ability.window, "vision": ability.vision, "pdf": ability.pdf},
            "parameters": dict(self.parameters),
            **({"timeout": self.timeout} if self.timeout else {}),
        }


@dataclass(frozen=True, slots=True)
class Candidate:
    """One model that may be asked, with the parameters of its requests."""

    model: ServedModel
    params: Mapping[str, object]
    """The parameters, as the journal records them; `messages.sent` removes those that are no part of a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """The entry of a price list for one model."""

    price: Price | None
    window: int = 0
    """The window in tokens; 0 means unknown."""

    def to_json(self) -> dict[str, object]:
        """Return the entry as JSON."""
        return {"price": self.price and self.price.to_json(), "window": self.window}


class LookUp(Protocol):
    """A price list."""

    def __call__(self, model: str, base_url: str) -> Listed | None:
        """Return the entry of a model behind a base URL, or None. The base URL of the default endpoint is empty."""
        ...


def unlisted(model: str, base_url: str) -> Listed | None:
    """Return None: the look-up of a process without a price list."""
    return None


def model_from_json(value: object) -> ServedModel:
    """Return the model from its JSON in a bundle; older bundles hold only its name."""
    if isinstance(value, str):
        return ServedModel(value)
    kept = as_object(value)
    endpoint = as_object(kept.get("endpoint"))
    return ServedModel(
        as_text(kept.get("name")),
        endpoint=Endpoint(
            name=as_text(endpoint.get("name")),
            base_url=as_text(endpoint.get("base_url")),
            key=as_text(endpoint.get("key")),
            api=as_text(endpoint.get("api")),
        ),
        price=_price(as_object(kept.get("price"))),
        ability=_ability(as_object(kept.get("ability"))),
        parameters=as_object(kept.get("parameters")),
        timeout=_number(kept, "timeout") or None,
    )


def listed_from_json(kept: Mapping[str, object]) -> Listed:
    """Return the entry that `Listed.to_json` wrote."""
    return Listed(price=_price(as_object(kept.get("price"))), window=_int_or_zero(kept.get("window")))


def _price(kept: Mapping[str, object]) -> Price | None:
    if not kept:
        return None
    return price_from_json(kept)


def _int_or_zero(value: object) -> int:
    if not isinstance(value, int):
        return 0
    return value


def _ability(kept: Mapping[str, object]) -> Ability | None:
    if not kept:
        return None
    return Ability(
        _int_or_zero(kept.get("window")),
        vision=kept.get("vision") is True,
        pdf=kept.get("pdf") is True,
    )
