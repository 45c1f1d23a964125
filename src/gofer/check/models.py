"""Is each model known that a workflow names, and can its limit in US dollars hold?"""

from collections.abc import Iterator, Sequence

from gofer.canonical import as_list, as_object
from gofer.models.prices import Prices
from gofer.workflows.mistake import Mistake
from gofer.workflows.sentences import close_match
from gofer.workflows.source import Loc, Source

_USD: Loc = ("limits", "usd")
_ADD = "Add its price to src/gofer/models/prices.json, or remove `usd` and limit `tokens`."


def check_models(workflows: Sequence[Source], defaults: Source, prices: Prices) -> Iterator[Mistake]:
    """Roles that do not exist, and limits in US dollars on models without a price."""
    if defaults.mistakes and not defaults.is_mapping:
        # Nobody can tell which roles there are.
        return
    roles = as_object(defaults.fields.get("models"))
    for source in workflows:
        if not source.is_mapping:
            continue
        loc, name = _choice(source)
        if name in roles:
            yield from _unpriced_role(source, defaults, name, prices)
        elif name == "default" or (not prices.known(name) and close_match(name, roles)):
            yield _unknown_role(source, loc, name, defaults)
        elif name and not prices.known(name) and (_USD in source.values or _USD in defaults.values):
            place = source.place(_USD if _USD in source.values else loc)
            yield Mistake(source.file, place, "unpriced-model", _no_price(name), _ADD)


def _choice(source: Source) -> tuple[Loc, str]:
    """Where a workflow says which model it wants, and the name it says."""
    model = source.fields.get("model", "default")
    if isinstance(model, str):
        return ("model",), model
    name = as_object(model).get("name")
    # What is no name at all is a mistake of the form, and told as such.
    return ("model", "name"), name if isinstance(name, str) else "default"


def _unpriced_role(source: Source, defaults: Source, role: str, prices: Prices) -> Iterator[Mistake]:
    """Told where the limit stands: in the workflow that sets one, else where the role names the model."""
    named = as_object(defaults.fields["models"])[role]
    for name in [named] if isinstance(named, str) else as_list(named):
        if not isinstance(name, str) or not name or prices.known(name):
            continue
        if _USD in source.values:
            yield Mistake(source.file, source.place(_USD), "unpriced-model", _no_price(name), _ADD)
        elif _USD in defaults.values:
            place = defaults.place(("models", role))
            yield Mistake(defaults.file, place, "unpriced-model", _no_price(name), _ADD)


def _unknown_role(source: Source, loc: Loc, name: str, defaults: Source) -> Mistake:
    roles = as_object(defaults.fields.get("models"))
    meant = close_match(name, roles)
    message = f"`{defaults.file.name}` has no role `{name[:80]}`."
    hint = f"Write `{meant}`." if meant else f"Add `models: {{{name[:80]}: …}}` to it, or write the name of a model."
    return Mistake(source.file, source.place(loc), "unknown-role", message, hint)


def _no_price(name: str) -> str:
    return f"The limit in US dollars cannot hold: the model `{name[:80]}` has no known price."
