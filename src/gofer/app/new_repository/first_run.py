"""The command with which a company first runs a workflow: on the event of its first eval, in a simulated world."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from shlex import quote

from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.workflows.yaml_source import read_source

_DEMO = "demo"
"""The world of `gofer run` without `--world`."""


def first_run(folder: Path, workflow: str) -> str:
    """Return the command that runs a workflow of a folder on the event of its first eval case, if there is one."""
    evals = folder / "evals" / f"{workflow}.yaml"
    words = [".venv/bin/gofer", "run", workflow]
    if evals.is_file():
        suite = read_source(evals).fields
        case = as_object(next(iter(as_list(suite.get("cases"))), None))
        words += _event(as_object(case.get("trigger")))
        words += _world(as_text(case.get("world") or suite.get("world")))
    return " ".join(map(quote, words))


def _event(trigger: Mapping[str, object]) -> Iterator[str]:
    """Yield the options for the payload of a trigger, which is a file below `evals/`, and for its headers."""
    if payload := as_text(trigger.get("payload")):
        yield from ("--event", f"evals/{payload}")
    for name, value in as_object(trigger.get("headers")).items():
        yield from ("--header", f"{name}: {value}")


def _world(name: str) -> Iterator[str]:
    if name not in ("", _DEMO):
        yield from ("--world", f"evals/{name}")
