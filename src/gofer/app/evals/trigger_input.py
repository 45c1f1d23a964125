"""The delivery that a trigger of an eval file describes."""

import json
from collections.abc import Sequence
from pathlib import Path

from gofer.app.event_input import EventInput
from gofer.evals.eval_file import Trigger
from gofer.values.errors import ConfigError


def event_input_of(trigger: Trigger, folder: Path) -> EventInput:
    """Return the delivery of a trigger, as `gofer run --event` takes it. Raises ConfigError."""
    headers: Sequence[tuple[str, str]] = list(trigger.headers.items())
    match trigger.payload:
        case None:
            return EventInput(source=trigger.source, headers=headers, hook=trigger.hook)
        case str(name):
            path = folder / name
            try:
                body = path.read_bytes()
            except OSError as error:
                raise ConfigError(f"{path} cannot be read ({error.strerror}); name a file with a payload.") from error
        case payload:
            name = "the payload"
            body = json.dumps(payload, ensure_ascii=False).encode()
    return EventInput(name, body, trigger.source, headers, trigger.hook)
