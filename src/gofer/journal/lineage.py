"""The ids of runs: of an event and a workflow, of a subagent, and of the root of a subagent run.

A subagent works in a run of its own. Its id follows from the run and the call that asked for it, so the next owner of
that run finds it again. It has no head, no key and no bodies of its own, but uses those of its root.
"""

import hashlib
from collections.abc import Sequence

from gofer.values.events import Event
from gofer.values.installation_key import InstallationKey
from gofer.values.row_tokens import Tokens

_DOT = "."
"""The separator between the id of the root and the hash of a subagent run; the id of a root contains none."""


def run_id(installation_key: InstallationKey, event: Event, workflow: str) -> str:
    """Return 24 hexadecimal digits, the same for every delivery of an event; outsiders cannot guess them."""
    return Tokens(installation_key).run(event.source, event.kind, event.identity, workflow)


def run_ids(installation_key: InstallationKey, event: Event, workflow: str) -> Sequence[str]:
    """Return the ids that the run may have: one for each recognised key, that of the current key first."""
    return [tokens.run(event.source, event.kind, event.identity, workflow) for tokens in Tokens(installation_key).every]


def root_of(run: str) -> str:
    """Return the root of a subagent run, or the run itself if it is a root."""
    return run.partition(_DOT)[0]


def child_of(run: str, call: str) -> str:
    """Return the id of the subagent run for a call of a run."""
    return f"{root_of(run)}{_DOT}{hashlib.sha256(f'{run}/{call}'.encode()).hexdigest()[:20]}"
