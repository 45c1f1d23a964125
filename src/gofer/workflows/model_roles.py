"""Models and endpoints as defaults.yaml describes them, the models that play a role, and their published prices."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, cast

from pydantic import BeforeValidator, Field, ValidationError, field_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from gofer.models.abilities import Abilities, Ability, Read, load_abilities
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
from gofer.values.outside import is_base_url
from gofer.workflows.form_parts import Name, Number, Strict, Whole, mistake
from gofer.workflows.sentences import close_match

KEY = re.compile(r"MODEL_KEY_[A-Z0-9]+(_[A-Z0-9]+)*")
"""What the variable of an endpoint's key is called, unless it is the one of the default endpoint."""
OWN = ("model", "messages", "tools", "tool_choice", "stream", "endpoint")
"""Parameters of a request that Gofer writes itself."""


class EndpointForm(Strict):
    """An endpoint that speaks OpenAI's Chat Completions."""

    base_url: str
    """Its base URL, as https://api.anthropic.com/v1; usable where the deployment lists it in MODEL_BASE_URLS."""
    key: str = ""
    """The variable that holds its key: MODEL_KEY_<NAME>, or OPENAI_API_KEY; left out, it needs none."""

    @field_validator("base_url")
    @classmethod
    def _url(cls, value: str) -> str:
        if not is_base_url(value):
            raise mistake("This is no base URL.", "Write one such as https://api.example.com/v1.")
        return value.rstrip("/")

    @field_validator("key")
    @classmethod
    def _variable(cls, value: str) -> str:
        if value and value != OPENAI_KEY and not KEY.fullmatch(value):
            raise mistake(
                "This is no variable of a model's key.",
                "Write the name of a variable that begins with `MODEL_KEY_`, as MODEL_KEY_ANTHROPIC; never the key.",
            )
        return value


class PriceForm(Strict):
    """US dollars per million tokens."""

    input: Number = Field(ge=0)
    """Of a request."""
    cached_input: Number | None = Field(default=None, ge=0)
    """Of the part of a request that its provider has cached; left out, as much as all else."""
    output: Number = Field(ge=0)
    """Of an answer."""

    def price(self) -> Price:
        """Return the same as a value."""
        cached = self.cached_input
        if cached is None:
            cached = self.input
        return Price(input=self.input, cached_input=cached, output=self.output)


class RoleModel(Strict):
    """A model that plays a role."""

    name: Name
    """The provider's name of it."""
    endpoint: Name = DEFAULT
    """The endpoint of this file that it is asked at; left out, the one that the deployment sets up."""
    price: PriceForm | None = None
    """Its price; left out, the one of the list that comes with Gofer."""
    window: Whole | None = Field(default=None, ge=4_000)
    """Tokens of a request and its answer together at most; left out, those of the list that comes with Gofer."""
    reads: tuple[Read, ...] | None = None
    """What it takes beside text: image, pdf; left out, what the table that comes with Gofer says."""
    parameters: dict[str, object] = Field(default_factory=dict)
    """What each of its requests says beside what workflows say, as {reasoning_effort: low}."""

    @field_validator("parameters")
    @classmethod
    def _free(cls, value: dict[str, object]) -> dict[str, object]:
        if own := sorted({*value} & {*OWN}):
            raise mistake(f"Gofer writes the parameter `{own[0]}` itself.", "Remove it.")
        try:
            encode(value)
        except ValueError as error:
            raise mistake("JSON has no such number as one of these parameters.", "Write a finite number.") from error
        return value


def _as_models(value: object) -> object:
    """Return a name, or one model, as a list of models."""
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
"""The models of a role in an order; a single name, or a single model, is a list of one."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The models of a repository by role, with what price lists and tables know of them."""

    models: Mapping[str, tuple[RoleModel, ...]] = field(default_factory=dict[str, tuple[RoleModel, ...]])
    endpoints: Mapping[str, EndpointForm] = field(default_factory=dict[str, EndpointForm])
    look_up: LookUp = unlisted
    abilities: Abilities = field(default_factory=load_abilities)

    def of(self, name: str) -> tuple[ServedModel, ...]:
        """Return the models of a role; any other name is that of a model at the default endpoint.

        Such a model is as some role describes it, where one does.
        """
        return tuple(self._served(model) for model in self.models.get(name, (self._named(name),)))

    def playing(self, role: str) -> tuple[ServedModel, ...]:
        """Return the models of a role; none where the repository names no such role."""
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
            endpoint = Endpoint(name=model.endpoint, base_url=form.base_url, key=form.key)
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
            parameters=model.parameters,
        )


def check_endpoints(models: Mapping[str, tuple[RoleModel, ...]], endpoints: Mapping[str, EndpointForm]) -> None:
    """Raise ValidationError for each model at an endpoint that is not described, and for a name that is taken."""
    wrong = [*_taken(endpoints), *_undescribed(models, endpoints)]
    if wrong:
        raise ValidationError.from_exception_data("defaults", wrong)


def _taken(endpoints: Mapping[str, EndpointForm]) -> Iterator[InitErrorDetails]:
    if DEFAULT in endpoints:
        told = mistake(
            f"`{DEFAULT}` is the endpoint that the deployment sets up.",
            "Choose another name; OPENAI_BASE_URL moves the default endpoint.",
        )
        yield InitErrorDetails(type=told, loc=("endpoints", DEFAULT), input=None)


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
"""Where the list lies in the folder of the workflow files, once they are published or packaged."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """A price list that remembers what was looked up in another one."""

    look_up: LookUp
    _found: dict[tuple[str, str], Listed] = field(default_factory=dict[tuple[str, str], Listed])

    def __call__(self, model: str, base_url: str) -> Listed | None:
        """Return the listing of a model and remember it."""
        listed = self.look_up(model, base_url)
        if listed is not None:
            self._found[model, base_url] = listed
        return listed

    def text(self) -> str:
        """Return the text of a file with all that was found."""
        found = sorted(self._found.items(), key=lambda item: item[0])
        rows = [{"name": model, "base_url": url, **listed.to_json()} for (model, url), listed in found]
        return json.dumps(rows, indent=1) + "\n"


def recorded(folder: Path) -> LookUp:
    """Return the price list beside workflow files; an empty one where there is none, or where it cannot be read."""
    known = _read(folder / FILE)

    def look_up(model: str, base_url: str) -> Listed | None:
        return known.get((model, base_url))

    return look_up


def _read(path: Path) -> Mapping[tuple[str, str], Listed]:
    try:
        rows = as_list(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        # Prices limit runs and never decide whether there are any: without the list `tokens` limits them.
        return {}
    return {
        (as_text(row.get("name")), as_text(row.get("base_url"))): listed_from_json(row) for row in map(as_object, rows)
    }
