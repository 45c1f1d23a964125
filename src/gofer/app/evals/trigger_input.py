"""The deliveries and the world that an eval file describes."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

import yaml

from gofer.app.event_input import EventInput
from gofer.evals.case_begin import Trigger
from gofer.evals.eval_file import Case
from gofer.evals.references import DEMO
from gofer.values.errors import ConfigError
from gofer.workflows.file_text import read_bytes
from gofer.workflows.load import Catalog
from gofer_simulators.demo import demo_world
from gofer_simulators.speaker import SOURCE, Speaker, with_workplace


def speaker_of(catalog: Catalog, workflow: str, world: Mapping[str, object], now: Callable[[], float]) -> Speaker:
    """Return the writer of words that start a workflow in a world. `now` is the time of its messages, unix seconds."""
    loaded = catalog.workflows.get(workflow)
    kinds: Sequence[str] = ()
    if loaded is not None:
        kinds = [trigger.kind for trigger in loaded.workflow.when]
    return Speaker(world, kinds, now)


def deliveries_of(case: Case) -> Sequence[Trigger]:
    """Return the triggers of all turns of a case."""
    later = [turn.trigger for turn in case.then]
    if case.trigger is None:
        return later
    return [case.trigger, *later]


def world_with_words(world: Mapping[str, object], case: Case) -> Mapping[str, object]:
    """Return the world of a case; if a person writes in it and it has no workplace, with a small one."""
    words = [trigger for trigger in deliveries_of(case) if trigger.text is not None]
    if not words:
        return world
    return with_workplace(world, [one.channel for one in words], [one.user for one in words])


def event_input_of(trigger: Trigger, folder: Path, speaker: Speaker) -> EventInput:
    """Return the delivery of a trigger, as `gofer run --event` takes it. `speaker` writes words. Raises ConfigError."""
    if trigger.text is not None:
        return EventInput("the text", speaker.delivery(trigger.text, trigger.channel, trigger.user), source=SOURCE)
    headers: Sequence[tuple[str, str]] = list(trigger.headers.items())
    match trigger.payload:
        case None:
            return EventInput(source=trigger.source, headers=headers, hook=trigger.hook)
        case str(name):
            path = folder / name
            try:
                body = read_bytes(path)
            except OSError as error:
                raise ConfigError(f"{path} cannot be read ({error.strerror}); name a file with a payload.") from error
        case payload:
            name = "the payload"
            body = json.dumps(payload, ensure_ascii=False).encode()
    return EventInput(name, body, trigger.source, headers, trigger.hook)


def world_in(given: str, path: Path) -> Mapping[str, object]:
    """Return the contents of a world: the demo, or those of a file. Raises ConfigError."""
    if given == DEMO:
        return demo_world()
    try:
        contents: object = yaml.load(read_bytes(path), Loader=yaml.CSafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(
            f"{path} does not describe simulated systems; write a YAML file, or `world: demo`."
        ) from error
    if not isinstance(contents, dict):
        raise ConfigError(f"{path} does not describe simulated systems; write one part for each system.")
    return cast(Mapping[str, object], contents)
