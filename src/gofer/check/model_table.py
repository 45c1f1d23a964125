"""What is known of each model that the files of a folder name, as a table for a terminal."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from gofer.models.abilities import TEXT_ONLY
from gofer.models.served_model import LookUp, Price, ServedModel
from gofer.sources.workflow_files import load_catalog

HEADINGS = ("role", "model", "endpoint", "key", "USD a million tokens: in, cached, out", "window", "reads")


def model_table(folder: Path, look_up: LookUp) -> str:
    """Return the lines of the table. Raises ConfigError for files that cannot be read."""
    rows = [HEADINGS, *_rows(folder, look_up)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def price_text(price: Price | None) -> str:
    """Return a price for people."""
    if price is None:
        return "not known: `tokens` limits its runs"
    base = f"{price.input:g}, {price.cached_input:g}, {price.output:g}"
    above = [f"; above {tokens:,}: {price_text(more)}" for tokens, more in price.above]
    return "".join([base, *above])


def window_text(model: ServedModel) -> str:
    """Return the window of a model for people."""
    window = (model.ability or TEXT_ONLY).window
    if not window:
        return "not known"
    return f"{window:,}"


def reads_text(model: ServedModel) -> str:
    """Return what a model reads, for people."""
    return ", ".join(["text", *(model.ability or TEXT_ONLY).reads])


def _rows(folder: Path, look_up: LookUp) -> Iterator[Sequence[str]]:
    """Yield the models of roles, and then those that workflows and subagents name."""
    catalog = load_catalog(folder, look_up=look_up)
    shown: list[ServedModel] = []
    for role, model in catalog.defaults.roles(look_up).every():
        shown.append(model)
        yield _row(role, model)
    for loaded in catalog.workflows.values():
        for model in loaded.every_model():
            if loaded.workflow.coordinator == "llm" and model not in shown:
                shown.append(model)
                yield _row("-", model)


def _row(role: str, model: ServedModel) -> Sequence[str]:
    endpoint = model.endpoint
    where = endpoint.name
    if not endpoint.is_default:
        where = f"{endpoint.name} ({endpoint.base_url})"
    key = endpoint.key or "none"
    return (role, model.name, where, key, price_text(model.price), window_text(model), reads_text(model))
