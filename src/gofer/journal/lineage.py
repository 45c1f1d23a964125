"""The ids of runs: of one event and workflow, of a subagent, and of the run that a subagent is part of.

A subagent works in a run of its own. Its id follows from who asks and with which call: the next owner
of the one that asks finds it again. It has no head, no key and no bodies of its own: they are those of the root.
"""

import hashlib

from gofer.values.events import Event
from gofer.values.row_tokens import Tokens
from gofer.values.secret import Secret

_DOT = "."
"""Between the root's id and what names the run below it; no root has one in its id."""


def run_id(installation_key: Secret, event: Event, workflow: str) -> str:
    """Return 24 hexadecimal digits: the same for every delivery of one event, and not to be guessed by outsiders."""
    return Tokens(installation_key).run(event.source, event.kind, event.identity, workflow)


def root_of(run: str) -> str:
    """Return the run that a run is part of: itself, or the one that a person or a schedule started."""
    return run.partition(_DOT)[0]


def child_of(run: str, call: str) -> str:
    """Return the run of the subagent that a run asks with a call."""
    return f"{root_of(run)}{_DOT}{hashlib.sha256(f'{run}/{call}'.encode()).hexdigest()[:20]}"
