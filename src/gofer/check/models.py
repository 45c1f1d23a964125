"""Mistakes in the models that workflows name, and the table of all models with prices, windows and abilities."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gofer.models.abilities import TEXT_ONLY
from gofer.models.refusals import format_of
from gofer.models.served_model import FREE, OPENAI, OPENAI_ENDPOINT, Endpoint, LookUp, Price, ServedModel
from gofer.sources.workflow_files import load_catalog
from gofer.values.canonical_json import as_object
from gofer.workflows.form import fill
from gofer.workflows.load import DEFAULTS, workflow_files
from gofer.workflows.mistake import Mistake
from gofer.workflows.review_form import REVIEWER_ROLE
from gofer.workflows.schema import Defaults
from gofer.workflows.sentences import close_match
from gofer.workflows.subagent import subagent_files
from gofer.workflows.yaml_source import Loc, Source, read_source


@dataclass(frozen=True, slots=True)
class FolderDefaults:
    """The defaults of a folder of workflows, with a price list."""

    source: Source
    defaults: Defaults | None
    """The parsed defaults; None when the file is invalid."""
    look_up: LookUp
    """The price list for models without a price in the file."""
    deployed: Endpoint = OPENAI_ENDPOINT
    """The default endpoint, with its base URL and its format."""


def check_models(workflows: Sequence[Source], folder: FolderDefaults) -> Iterator[Mistake]:
    """Yield unknown roles, and hints: for each model without a price, and for a reviewer that decides runs itself."""
    if folder.source.mistakes and not folder.source.is_mapping:
        # The roles of an unreadable file are unknown.
        return
    yield from (_no_price(one) for one in _named(workflows, folder) if one.model.price is None)
    yield from _reviews_itself(workflows, folder)
    known = as_object(folder.source.fields.get("models"))
    for source in workflows:
        if not source.is_mapping:
            continue
        loc, name = choice(source)
        # A name that resembles a role is more likely a misspelt role than a model.
        listed = folder.look_up(name, OPENAI) is not None
        if name not in known and (name == "default" or (not listed and close_match(name, known))):
            yield _unknown_role(source, loc, name, folder.source)


def choice(source: Source) -> tuple[Loc, str]:
    """Return the path and the value of the model name in a workflow file."""
    loc: Loc = ("model",)
    name = source.fields.get("model", "default")
    if not isinstance(name, str):
        loc = ("model", "name")
        name = as_object(name).get("name")
    if isinstance(name, str) and name:
        return loc, name
    # The check of the form reports a name that is empty or no text.
    return loc, "default"


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model with the place of a file that names it."""

    model: ServedModel
    source: Source
    loc: Loc
    roles: Collection[str] = ()
    """The roles that the name could have meant; empty for the model of a role."""


def named_models(folder: Path, look_up: LookUp) -> Sequence[NamedModel]:
    """Return each model that the files of a folder name, once."""
    defaults = read_source(folder / DEFAULTS)
    filled, _ = fill(defaults, Defaults)
    files = [*workflow_files(folder), *subagent_files(folder.parent)]
    return _named([read_source(path) for path in files], FolderDefaults(defaults, filled or Defaults(), look_up))


def _named(workflows: Sequence[Source], folder: FolderDefaults) -> Sequence[NamedModel]:
    """Return each model once: models of roles first, then models that workflows name."""
    found: dict[tuple[str, str], NamedModel] = {}
    for one in _every_named(workflows, folder):
        found.setdefault((one.model.endpoint.name, one.model.name), one)
    return [*found.values()]


def _every_named(workflows: Sequence[Source], folder: FolderDefaults) -> Iterator[NamedModel]:
    if folder.defaults is None:
        return
    roles = folder.defaults.roles(folder.look_up)
    for role in roles.models:
        for at, model in enumerate(roles.of(role)):
            yield NamedModel(model, folder.source, folder.source.known(("models", role, at)))
    known = [*roles.models, "default"]
    for source in workflows:
        if not source.is_mapping:
            continue
        loc, name = choice(source)
        if name in known or close_match(name, known):
            continue
        yield from (NamedModel(model, source, loc, roles.models) for model in roles.of(name))


def _reviews_itself(workflows: Sequence[Source], folder: FolderDefaults) -> Iterator[Mistake]:
    """Yield a hint if runs get no review, because their models include the reviewer."""
    if folder.defaults is None or not folder.defaults.review.sample:
        return
    roles = folder.defaults.roles(folder.look_up)
    reviewer = next(iter(roles.playing(REVIEWER_ROLE)), None)
    if reviewer is None:
        return
    decided = [source for source in workflows if source.is_mapping and source.fields.get("coordinator") != "script"]
    own = [source for source in decided if reviewer.name in {model.name for model in roles.of(choice(source)[1])}]
    if not own:
        return
    names = ", ".join(f"`{source.file.stem}`" for source in own)
    message = (
        f"The model `{reviewer.name[:80]}` of the role `reviewer` also decides runs of {names}. No model reviews "
        "itself, so the runs that it decided get no review."
    )
    place = folder.source.place(folder.source.known(("models", REVIEWER_ROLE, 0)))
    hint = "Name another model for the role `reviewer` in defaults.yaml, or write `review: off` in these workflows."
    yield Mistake(folder.source.file, place, "reviewer-of-itself", message, hint)


def not_served(one: NamedModel) -> Mistake:
    """Return the mistake of a model that its endpoint does not have."""
    endpoint = one.model.endpoint
    message = f"The endpoint `{endpoint.name}` has no model `{one.model.name[:80]}`."
    hint = "Write the name of a model that it has, as its provider spells it."
    if one.roles:
        hint = (
            f"Write a role of defaults.yaml ({_listed(one.roles)}), or a model that it has, as its provider spells it."
        )
    return Mistake(one.source.file, one.source.place(one.loc), "unknown-model", message, hint)


def _listed(roles: Collection[str]) -> str:
    return ", ".join(f"`{role}`" for role in [*roles][:8])


def _no_price(one: NamedModel) -> Mistake:
    """Return the hint about a model without a price."""
    name = one.model.name[:80]
    message = (
        f"The price of the model `{name}` is unknown, so the limit `tokens` applies to its runs and `usd` does not."
    )
    hint = "Add `price: {input: …, output: …}` to it under `models` in defaults.yaml."
    if one.roles:
        message = f"There is no role `{name}`, and the{message.removeprefix('The')}"
        hint = f"Write a role of defaults.yaml ({_listed(one.roles)}), or add the model with its price under `models`."
    return Mistake(one.source.file, one.source.place(one.loc), "unpriced-model", message, hint)


def _unknown_role(source: Source, loc: Loc, name: str, defaults: Source) -> Mistake:
    roles = as_object(defaults.fields.get("models"))
    meant = close_match(name, roles)
    message = f"`{defaults.file.name}` has no role `{name[:80]}`."
    if meant:
        hint = f"Write `{meant}`."
    else:
        hint = f"Add `models: {{{name[:80]}: …}}` to the file, or write the name of a model."
    return Mistake(source.file, source.place(loc), "unknown-role", message, hint)


HEADINGS = ("role", "model", "endpoint", "format", "key", "USD a million tokens: in, cached, out", "window", "reads")


def model_table(folder: Path, look_up: LookUp, deployed: Endpoint = OPENAI_ENDPOINT) -> str:
    """Return the table of models as text. Raises ConfigError for files that cannot be read."""
    rows = [HEADINGS, *_rows(folder, look_up, deployed)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def price_text(price: Price | None) -> str:
    """Return a price as text for people."""
    if price is None:
        return "unknown: `tokens` limits its runs, `usd` does not"
    if price == FREE:
        return "free"
    base = f"{price.input:g}, {price.cached_input:g}, {price.output:g}"
    above = [f"; above {tokens:,}: {price_text(more)}" for tokens, more in price.above]
    return "".join([base, *above])


def window_text(model: ServedModel) -> str:
    """Return the window of a model as text for people."""
    window = (model.ability or TEXT_ONLY).window
    if not window:
        return "unknown"
    return f"{window:,}"


def reads_text(model: ServedModel) -> str:
    """Return the media that a model reads as text for people."""
    return ", ".join(["text", *(model.ability or TEXT_ONLY).reads])


def _rows(folder: Path, look_up: LookUp, deployed: Endpoint) -> Iterator[Sequence[str]]:
    """Yield the table rows of the roles' models, then of the models that workflows and subagents name."""
    catalog = load_catalog(folder, look_up=look_up)
    listed_models: list[ServedModel] = []
    for role, model in catalog.defaults.roles(look_up).every():
        listed_models.append(model)
        yield _row(role, model, deployed)
    for loaded in catalog.workflows.values():
        for model in loaded.every_model():
            if loaded.workflow.coordinator == "llm" and model not in listed_models:
                listed_models.append(model)
                yield _row("-", model, deployed)


def _row(role: str, model: ServedModel, deployed: Endpoint) -> Sequence[str]:
    endpoint = model.endpoint
    where = endpoint.name
    asked = deployed
    if not endpoint.is_default:
        asked = endpoint
        where = f"{endpoint.name} ({endpoint.base_url})"
    key = endpoint.key or "none"
    described = (key, price_text(model.price), window_text(model), reads_text(model))
    return (role, model.name, where, format_of(asked), *described)
