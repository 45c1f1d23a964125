"""`gofer run WORKFLOW --event FILE`: what does one workflow make of one event, here and now?"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import yaml

from gofer.bootstrap.laptop import Laptop, open_laptop
from gofer.bootstrap.settings import Settings, process_settings
from gofer.canonical import as_object, decode, encode
from gofer.errors import BadRequest, ConfigError
from gofer.events import Event
from gofer.journal.entries import RunFinished
from gofer.journal.log import read_journal
from gofer.model_script import Script, load_scripts
from gofer.projections import progress
from gofer.projections.progress import Progress
from gofer.projections.trace import timestamp
from gofer.simulators.demo import demo_world
from gofer.triggers.door import Handshake, Ignored, RawRequest
from gofer.triggers.slack import SlackDoor


def options(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `gofer run`."""
    parser.add_argument("workflow", metavar="WORKFLOW", help="name of a file of agents/, without .yaml")
    parser.add_argument("--event", required=True, metavar="FILE", help="a payload as the vendor sends it (JSON)")
    parser.add_argument("--world", metavar="FILE", help="simulators start with this world (YAML)")
    parser.add_argument("--script", metavar="FILE", help="what the offline model says, whatever is set up (YAML)")
    parser.add_argument("--json", action="store_true", help="the result as one JSON object on stdout")


def execute(arguments: argparse.Namespace) -> int:
    """Runs the workflow and prints its answer."""
    settings = process_settings()
    payload = _payload(Path(arguments.event))
    world, scripts = _world(settings, arguments.world), _scripts(arguments.script)
    result = asyncio.run(_run(settings, arguments.workflow, payload, world, scripts))
    if arguments.json:
        print(json.dumps(result, indent=2, ensure_ascii=False))
    else:
        print(result["answer"])
        print(f"run {result['run']}: {result['status']} {result['reason']}".rstrip(), file=sys.stderr)
    return 0 if result["status"] == "done" else 1


async def _run(
    settings: Settings,
    workflow: str,
    payload: Mapping[str, object],
    world: Mapping[str, object] | None,
    scripts: Sequence[Script] | None,
) -> dict[str, object]:
    event = _event(payload)
    began = time.monotonic()
    async with open_laptop(settings, Path.cwd(), world=world, scripts=scripts) as laptop:
        if workflow not in laptop.catalog.workflows:
            known = ", ".join(laptop.catalog.workflows)
            raise ConfigError(f"There is no workflow {workflow!r} in agents/; there are: {known}.")
        if laptop.slack is not None:
            laptop.slack.adopt(payload)
            print(f"On a simulated Slack, with {laptop.model}.", file=sys.stderr)
        run = await laptop.ingress.start(_by_hand(event, laptop), workflow)
        head = await laptop.state.store.head(run)
        done = await laptop.worker.continue_run(head, "by-hand") if head else None
        done = done or progress.project(await read_journal(run, laptop.state.store, laptop.state.blobs))
    return _result(run, done, time.monotonic() - began)


def _by_hand(event: Event, laptop: Laptop) -> Event:
    """The event as a happening of its own: a run by hand never collapses with an earlier one."""
    return replace(event, identity=(*event.identity, "by hand", laptop.worker.services.outside.new_id()))


def _result(run: str, done: Progress, seconds: float) -> dict[str, object]:
    finished = done.finished or RunFinished("needs_attention", _why_not(done))
    return {
        "run": run,
        "workflow": done.workflow,
        "status": finished.status,
        "answer": done.concluded.text if done.concluded else "",
        "output": done.concluded.output if done.concluded else None,
        "reason": finished.reason,
        "usage": {
            "input_tokens": done.usage.input_tokens,
            "output_tokens": done.usage.output_tokens,
            "cached_tokens": done.usage.cached_tokens,
            "cost_usd": done.cost_usd,
        },
        "llm_calls": done.llm_calls,
        "tool_calls": done.tool_calls,
        "seconds": round(seconds, 3),
    }


def _why_not(done: Progress) -> str:
    if done.parked is None:
        return "the run did not end"
    return f"the run is parked until {timestamp(done.parked.until)}; whoever serves this folder then goes on with it"


def _payload(path: Path) -> Mapping[str, object]:
    try:
        return as_object(decode(path.read_bytes()))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror}); name a file with a payload.") from error
    except BadRequest as error:
        raise ConfigError(f"{path} is not JSON; save the payload as the vendor sent it.") from error


def _event(payload: Mapping[str, object]) -> Event:
    delivery = RawRequest("POST", "/slack/events", (), encode(payload))
    match SlackDoor(()).translate(delivery):
        case Event() as event:
            return event
        case Ignored(reason=reason):
            raise ConfigError(f"This payload starts nothing: {reason}.")
        case Handshake():
            raise ConfigError("This payload is Slack's test of the URL; it starts nothing.")


def _world(settings: Settings, path: str | None) -> Mapping[str, object] | None:
    """The world to simulate; without a Slack token there is no real one, so the demo's world stands in."""
    if path is None:
        return None if settings.slack_bot_token else demo_world()
    try:
        return as_object(yaml.load(Path(path).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        example = "src/gofer/simulators/worlds/demo.yaml"
        raise ConfigError(f"{path} is not a world; it has to be a YAML file such as {example}.") from error


def _scripts(path: str | None) -> Sequence[Script] | None:
    """What the offline model says; None leaves the model to the settings."""
    if path is None:
        return None
    try:
        return load_scripts(Path(path).read_text(encoding="utf-8"), path)
    except (OSError, UnicodeDecodeError) as error:
        example = "src/gofer/simulators/scripts/demo.yaml"
        raise ConfigError(f"{path} cannot be read; name a YAML file of scripts such as {example}.") from error
