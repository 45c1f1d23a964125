"""The models, roles and endpoints of defaults.yaml, and the published list of model prices."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, cast

from pydantic import BeforeValidator, Field, StrictBool, ValidationError, field_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from gofer.models.abilities import LEAST_WINDOW, Abilities, Ability, Read, load_abilities
from gofer.models.served_model import (
    DEFAULT,
    OPENAI_KEY,
    Endpoint,
    Listed,
    LookUp,
    Price,
    ServedModel,
    listed_from_json,
    unlisted,
)
from gofer.values.canonical_json import as_list, as_object, as_text, encode
from gofer.values.messages import Api
from gofer.values.outside import is_base_url
from gofer.workflows.form_parts import Name, Number, Reasoning, Strict, Whole, mistake
from gofer.workflows.sentences import close_match

KEY = re.compile(r"MODEL_KEY_[A-Z0-9]+(_[A-Z0-9]+)*")
"""The form of a variable name that contains an endpoint's key. The default endpoint has its own variable."""
OWN = (
    *("model", "messages", "tools", "tool_choice", "stream", "endpoint"),
    *("reasoning", "alternate_roles", "output_schema", "previous_response"),
)
"""The request parameters that Gofer sets itself."""


class EndpointForm(Strict):
    """An endpoint that serves models."""

    base_url: str
    """The base URL, such as https://api.anthropic.com/v1. The deployment must list it in MODEL_BASE_URLS."""
    key: str = ""
    """The variable that contains the key: MODEL_KEY_<NAME> or OPENAI_API_KEY. Leave it out if the endpoint needs no
    key."""
    api: Api | None = None
    """The format in which its models are asked. By default OpenAI's own address is asked in `responses`, Anthropic's in
    `messages`, and every other in `chat_completions`."""

    @field_validator("base_url")
    @classmethod
    def _url(cls, value: str) -> str:
        if not is_base_url(value):
            raise mistake("This is not a base URL.", "Write a URL such as https://api.example.com/v1.")
        return value.rstrip("/")

    @field_validator("key")
    @classmethod
    def _variable(cls, value: str) -> str:
        if value and value != OPENAI_KEY and not KEY.fullmatch(value):
            raise mistake(
                "This is not the name of a variable for a model key.",
                "Write the name of a variable that begins with `MODEL_KEY_`, such as MODEL_KEY_ANTHROPIC, never "
                "the key itself.",
            )
        return value


class PriceForm(Strict):
    """US dollars per million tokens."""

    input: Number = Field(ge=0)
    """The price of a request's tokens."""
    cached_input: Number | None = Field(default=None, ge=0)
    """The price of request tokens that the provider has cached; by default the price of other request tokens."""
    cache_write: Number | None = Field(default=None, ge=0)
    """The price of request tokens that the provider writes to its cache; by default the price of other request
    tokens."""
    cache_write_long: Number | None = Field(default=None, ge=0)
    """The price of those that it keeps for the longer of two retentions; by default `cache_write`."""
    output: Number = Field(ge=0)
    """The price of an answer's tokens."""

    def price(self) -> Price:
        """Return the price, with the price of cached tokens filled in."""
        cached = self.cached_input
        if cached is None:
            cached = self.input
        return Price(
            input=self.input,
            cached_input=cached,
            output=self.output,
            cache_write=self.cache_write,
            cache_write_long=self.cache_write_long,
        )


class RoleModel(Strict):
    """A model that plays a role."""

    name: Name
    """The provider's name of the model."""
    endpoint: Name = DEFAULT
    """The endpoint of this file that serves the model; by default the endpoint that the deployment sets up."""
    price: PriceForm | None = None
    """The price of the model; by default the price in the list that comes with Gofer."""
    window: Whole | None = Field(default=None, ge=LEAST_WINDOW)
    """The most tokens of a request and its answer together; by default the number in the list that comes with Gofer."""
    reads: tuple[Read, ...] | None = None
    """What the model reads besides text: image, pdf; by default as in the table that comes with Gofer."""
    reasoning: Reasoning | None = None
    """How much the model thinks, such as {effort: low}; `reasoning` of a workflow file wins."""
    timeout: Number | None = Field(default=None, ge=10, le=3_600)
    """The most seconds that the model may stay silent; its answer is then read as it is written. By default an answer
    may take 300 seconds in all."""
    alternate_roles: StrictBool = False
    """Whether the model's template demands that messages of people and of the model alternate."""
    parameters: dict[str, object] = Field(default_factory=dict)
    """Parameters of every request to the model, besides those of workflows, such as {top_p: 0.9}."""

    @field_validator("window", mode="before")
    @classmethod
    def _large_enough(cls, value: object) -> object:
        if type(value) is int and 0 < value < LEAST_WINDOW:
            raise mistake(
                f"A window of {value:,} tokens is too small: instructions and tools of a run take about 3,000, and its "
                "thread, results and answers need room.",
                f"Start the model's server with {LEAST_WINDOW:,} tokens or more, and write that number.",
            )
        return value

    @field_validator("parameters")
    @classmethod
    def _free(cls, value: dict[str, object]) -> dict[str, object]:
        if "reasoning_effort" in value:
            raise mistake(
                "`reasoning_effort` has a key of its own, which every format says in its words.",
                f"Write `reasoning: {{effort: {str(value['reasoning_effort'])[:20]}}}` beside `parameters`.",
            )
        if own := sorted({*value} & {*OWN}):
            raise mistake(f"Gofer writes the parameter `{own[0]}` itself.", "Remove it.")
        try:
            encode(value)
        except ValueError as error:
            raise mistake(
                "One of these parameters is a number that JSON cannot express.", "Write a finite number."
            ) from error
        return value


def _as_models(value: object) -> object:
    """Return a name, or a single model, as a list of models."""
    if isinstance(value, list | tuple):
        return [_as_model(one) for one in cast(Sequence[object], value)]
    return [_as_model(value)]


def _as_model(value: object) -> object:
    if isinstance(value, str):
        return {"name": value}
    return value


_One = Name | RoleModel
Models = Annotated[
    tuple[RoleModel, ...],
    Field(min_length=1),
    BeforeValidator(_as_models, json_schema_input_type=_One | tuple[_One, ...]),
]
"""The models of a role in order; a single name or model is a list with one item."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The models of a repository by role, with their prices and abilities from lists and tables."""

    models: Mapping[str, tuple[RoleModel, ...]] = field(default_factory=dict[str, tuple[RoleModel, ...]])
    endpoints: Mapping[str, EndpointForm] = field(default_factory=dict[str, EndpointForm])
    look_up: LookUp = unlisted
    abilities: Abilities = field(default_factory=load_abilities)

    def of(self, name: str) -> tuple[ServedModel, ...]:
        """Return the models of a role. Any other name is the name of a model at the default endpoint.

        If a role describes that model, its description applies.
        """
        return tuple(self._served(model) for model in self.models.get(name, (self._named(name),)))

    def playing(self, role: str) -> tuple[ServedModel, ...]:
        """Return the models of a role; empty if the repository does not define the role."""
        return tuple(map(self._served, self.models.get(role, ())))

    def every(self) -> Iterator[tuple[str, ServedModel]]:
        """Yield each role with each of its models."""
        for role in self.models:
            for model in self.of(role):
                yield role, model

    def _named(self, name: str) -> RoleModel:
        described = (model for listed in self.models.values() for model in listed if model.endpoint == DEFAULT)
        return next((model for model in described if model.name == name), RoleModel(name=name))

    def _served(self, model: RoleModel) -> ServedModel:
        endpoint = Endpoint()
        if form := self.endpoints.get(model.endpoint):
            endpoint = Endpoint(name=model.endpoint, base_url=form.base_url, key=form.key, api=form.api or "")
        listed = self.look_up(model.name, endpoint.base_url) or Listed(price=None)
        price = listed.price
        if model.price is not None:
            price = model.price.price()
        reads: Sequence[Read] | None = model.reads
        if reads is None:
            reads = self.abilities.of(model.name).reads
        return ServedModel(
            model.name,
            endpoint=endpoint,
            price=price,
            ability=Ability(model.window or listed.window, vision="image" in reads, pdf="pdf" in reads),
            parameters={**model.parameters, **_gofers(model)},
            timeout=model.timeout,
        )


def _gofers(model: RoleModel) -> Mapping[str, object]:
    """Return the parameters that each format writes in its own words, or not at all."""
    found: dict[str, object] = {}
    if model.reasoning is not None:
        found["reasoning"] = model.reasoning.model_dump(exclude_none=True)
    if model.alternate_roles:
        found["alternate_roles"] = True
    return found


def check_endpoints(models: Mapping[str, tuple[RoleModel, ...]], endpoints: Mapping[str, EndpointForm]) -> None:
    """Raise ValidationError for models at undescribed endpoints, and for an endpoint with the reserved default name."""
    wrong = [*_taken(endpoints), *_undescribed(models, endpoints)]
    if wrong:
        raise ValidationError.from_exception_data("defaults", wrong)


def _taken(endpoints: Mapping[str, EndpointForm]) -> Iterator[InitErrorDetails]:
    if DEFAULT in endpoints:
        error = mistake(
            f"`{DEFAULT}` is the endpoint that the deployment sets up.",
            "Choose another name; OPENAI_BASE_URL moves the default endpoint.",
        )
        yield InitErrorDetails(type=error, loc=("endpoints", DEFAULT), input=None)


def _undescribed(
    models: Mapping[str, tuple[RoleModel, ...]], endpoints: Mapping[str, EndpointForm]
) -> Iterator[InitErrorDetails]:
    known = [DEFAULT, *endpoints]
    for role, listed in models.items():
        for at, model in enumerate(listed):
            if model.endpoint not in known:
                loc = ("models", role, at, "endpoint")
                yield InitErrorDetails(type=_unknown(model.endpoint, known), loc=loc, input=None)


def _unknown(name: str, known: list[str]) -> PydanticCustomError:
    meant = close_match(name, known)
    if meant:
        hint = f"Write `{meant}`."
    else:
        hint = f"Add `endpoints: {{{name[:80]}: {{base_url: …, key: MODEL_KEY_…}}}}`."
    return mistake(f"This file has no endpoint `{name[:80]}`.", hint)


FILE = ".models.json"
"""The price list in the folder of the workflow files, written when they are published or packaged."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """A price list that records every listing it looks up in another list."""

    look_up: LookUp
    _found: dict[tuple[str, str], Listed] = field(default_factory=dict[tuple[str, str], Listed])

    def __call__(self, model: str, base_url: str) -> Listed | None:
        """Return the listing of a model and record it."""
        listed = self.look_up(model, base_url)
        if listed is not None:
            self._found[model, base_url] = listed
        return listed

    def text(self) -> str:
        """Return all recorded listings as the text of a price list file."""
        found = sorted(self._found.items(), key=lambda item: item[0])
        rows = [{"name": model, "base_url": url, **listed.to_json()} for (model, url), listed in found]
        return json.dumps(rows, indent=1) + "\n"


def recorded(folder: Path) -> LookUp:
    """Return the price list in the folder of workflow files; an empty list if the file is missing or unreadable."""
    known = _read(folder / FILE)

    def look_up(model: str, base_url: str) -> Listed | None:
        return known.get((model, base_url))

    return look_up


def _read(path: Path) -> Mapping[tuple[str, str], Listed]:
    try:
        rows = as_list(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        # A damaged price list must not keep workflows from running: without prices, the limit `tokens` still applies.
        return {}
    return {
        (as_text(row.get("name")), as_text(row.get("base_url"))): listed_from_json(row) for row in map(as_object, rows)
    }
