"""`gofer run WORKFLOW --event FILE`: runs one workflow on one event in this process."""

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from gofer.app.catalog import checked_catalog, mocks
from gofer.app.embedded.run_once import Outcome, run_once
from gofer.app.event_input import EventInput, event_input
from gofer.app.settings import Settings, process_settings
from gofer.cli.arguments import read_headers, read_hook, sender_options
from gofer.journal.entries import RunParked
from gofer.projections.waits import ATTEMPTS, moment
from gofer.sources.manual import listed
from gofer.sources.manuals import MANUALS, WORKPLACE_MANUAL
from gofer.sources.receivers import BY_SOURCE, RECEIVERS
from gofer.tools.mocks import Overrides
from gofer.values.canonical_json import as_object
from gofer.values.errors import ConfigError
from gofer.values.model_script import Script, load_scripts
from gofer.values.outside import SystemClock
from gofer_simulators.demo import demo_world

_SYSTEMS = listed(spec.system for spec in RECEIVERS)
_MOCKED = "\n".join(f"  {manual.mock}" for manual in (*MANUALS.values(),) if manual.mock)
_HEADED = next(MANUALS[spec.source] for spec in RECEIVERS if spec.kind_header)
_EXAMPLES = f"""examples:
  gofer run answer-here --event {WORKPLACE_MANUAL.payload}
  gofer run answer-here --event {WORKPLACE_MANUAL.payload} --world world.yaml --json
  gofer run WORKFLOW --event {_HEADED.payload} --header "{BY_SOURCE[_HEADED.source].kind_header}"
  gofer run WORKFLOW --event body.json --source webhook --hook new-hire
  gofer run answer-here --event {WORKPLACE_MANUAL.payload} --mocks mocks.yaml
  gofer run WORKFLOW                  a workflow with a schedule, as if it were due now

The workflow's trigger decides which system sends the event; with triggers of several systems, name one with --source.
{_SYSTEMS} are simulated, with the data of the demo, or only with the data of --world.
The data are as old at the time of the payload as they say: a message of `minutes_ago: 5` is five minutes older.
A run fails if a script plays the model and the tools return something else than its answer relies on (`needs`).
With --world, the JSON output has a key "world" with the changes: {{"added": {{path: value}}, "removed": {{…}},
"changed": {{path: {{"before": …, "after": …}}}}, "more": number of changes that are not listed}}.

--live-tools reads and writes the real systems whose tokens are set. It needs a real model: the offline model's answers
are scripted, and Gofer never sends them to people.

--mocks replaces every tool by its mock. A mock checks arguments and returns data of the same form as the real tool, and
the same arguments always give the same result. Only the model is called. The run has its own state in the folder
mocked/ of GOFER_DATA. FILE (YAML or JSON) sets the results of some tools:
{_MOCKED}
The first matching entry applies, and `*` in a text matches anything. Keys that it leaves out (text, details, value) are
those of the mock.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer run`."""
    parser.add_argument("workflow", metavar="WORKFLOW", help="name of a file in agents/, without .yaml")
    parser.add_argument("--event", metavar="FILE", help="a file with the payload of a delivery; a schedule needs none")
    sender_options(parser, required=False)
    parser.add_argument(
        "--mocks", metavar="FILE", nargs="?", const="", help="replace tools by mocks; FILE sets the results of some"
    )
    parser.add_argument("--world", metavar="FILE", help="the data of the simulated systems (YAML)")
    parser.add_argument(
        "--live-tools", action="store_true", help="tools read and write the real systems instead of simulated ones"
    )
    parser.add_argument(
        "--script", metavar="FILE", help="use the offline model with these answers (YAML), even if a model is set up"
    )
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object on stdout")
    parser.epilog = _EXAMPLES


def execute(arguments: argparse.Namespace) -> int:
    """Run the workflow and print its answer."""
    settings = process_settings()
    _check_options(arguments, settings)
    given = _read_event(arguments)
    event = event_input(checked_catalog(Path.cwd() / "agents"), arguments.workflow, given, SystemClock().now())
    if arguments.live_tools:
        _check_credentials(settings, event.source)
    world = _world(arguments)
    scripts = _scripts(arguments.script)
    body = given.body or b""
    overrides = _mocks(arguments.mocks)
    outcome = asyncio.run(run_once(settings, Path.cwd(), arguments.workflow, event, body, world, scripts, overrides))
    if overrides is not None:
        print(f"On mocks, with {outcome.model}.", file=sys.stderr)
    elif outcome.simulated:
        print(f"On a simulated {_names(outcome.simulated)}, with {outcome.model}.", file=sys.stderr)
    if overrides is None and outcome.data != settings.data:
        print(
            f"This run is stored apart from real runs; see it with: GOFER_DATA={outcome.data} gofer trace "
            f"{outcome.run[:8]}",
            file=sys.stderr,
        )
    result = _result(outcome, ends=overrides is not None)
    if arguments.world:
        result["world"] = outcome.world
    if arguments.json:
        print(json.dumps(result, indent=2, ensure_ascii=False))
    else:
        print(result["answer"])
        ending = f"run {result['run']}: {result['status']} {result['reason']}".rstrip()
        if result["status"] == "parked":
            ending = str(result["reason"])
        print(ending, file=sys.stderr)
    if result["status"] == "done":
        return 0
    return 1


def _read_event(arguments: argparse.Namespace) -> EventInput:
    headers = read_headers(arguments)
    hook = read_hook(arguments)
    if arguments.event is None:
        return EventInput(source=arguments.source or "", headers=headers, hook=hook)
    path = Path(arguments.event)
    try:
        body = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror}); name a file with a payload.") from error
    return EventInput(str(path), body, arguments.source or "", headers, hook)


def _result(outcome: Outcome, *, ends: bool) -> dict[str, object]:
    done = outcome.done
    status, reason = _status(outcome, ends=ends)
    answer = ""
    output = None
    if done.concluded:
        answer = done.concluded.text
        output = done.concluded.output
    return {
        "run": outcome.run,
        "workflow": done.workflow,
        "status": status,
        "answer": answer,
        "output": output,
        "reason": reason,
        "usage": {
            "input_tokens": done.usage.input_tokens,
            "output_tokens": done.usage.output_tokens,
            "cached_tokens": done.usage.cached_tokens,
            "written_tokens": done.usage.written_tokens,
            "reasoning_tokens": done.usage.reasoning_tokens,
            "cost_usd": done.cost_usd,
        },
        "llm_calls": done.llm_calls,
        "tool_calls": done.tool_calls,
        "seconds": round(outcome.seconds, 3),
    }


def _status(outcome: Outcome, *, ends: bool) -> tuple[str, str]:
    """Return the status of a run and its reason, even if the run did not finish."""
    done = outcome.done
    if done.finished is not None:
        reason = done.finished.reason
        if outcome.refusal:
            reason = f"{reason} It said: {outcome.refusal}"
        return done.finished.status, reason
    if done.parked is None:
        return "needs_attention", "the run did not end"
    parked_reason = done.parked_reason.rstrip(".")
    if ends:
        return "needs_attention", f"it {parked_reason or 'is parked'}; with mocks it ends here"
    is_parked = (
        f"Run {outcome.run} is parked{_until(done.parked, parked_reason, done.last_at)}: {parked_reason or 'it waits'}."
    )
    if outcome.simulated:
        return (
            "parked",
            f"{is_parked} Its simulated systems ended with this command; run the command again to start over.",
        )
    return "parked", f"{is_parked} Start gofer serve with GOFER_DATA={outcome.data}; it continues by itself."


def _until(parked: RunParked, reason: str, now: int) -> str:
    """Return the time at which a parked run continues; empty if the reason contains it."""
    if ATTEMPTS in reason:
        return ""
    return f" until {moment(parked.until, now)}"


def _names(systems: Sequence[str]) -> str:
    return listed(BY_SOURCE[name].system for name in systems)


def _check_options(arguments: argparse.Namespace, settings: Settings) -> None:
    """Raise ConfigError for contradictory options, and for options that would post scripted answers to real systems."""
    if arguments.mocks is not None and arguments.world is not None:
        raise ConfigError("Use either --mocks or --world: mocks do not use the simulated systems.")
    if not arguments.live_tools:
        return
    if arguments.mocks is not None or arguments.world is not None:
        raise ConfigError(
            "Use either --live-tools, or one of --world and --mocks, which keep tools away from the real systems."
        )
    if arguments.script is not None:
        raise ConfigError("Use either --script or --live-tools: Gofer never writes scripted answers into real systems.")
    if not settings.has_model:
        raise ConfigError(
            "--live-tools needs a real model, because the answers of the offline model are scripted. Set "
            "OPENAI_API_KEY, "
            "OPENAI_BASE_URL for a compatible endpoint, or MODEL_BASE_URLS for endpoints of agents/defaults.yaml; or "
            "leave out --live-tools to run on simulated systems."
        )


def _check_credentials(settings: Settings, source: str) -> None:
    """Raise ConfigError when the token of the event's source is not set."""
    spec = BY_SOURCE.get(source)
    if spec is not None and not settings.sources[spec.token]:
        raise ConfigError(
            f"Set {spec.token.name} for --live-tools; or leave out --live-tools to run on simulated systems."
        )


def _world(arguments: argparse.Namespace) -> Mapping[str, object] | None:
    """Return the data of the simulated systems; None when the run uses the real systems."""
    if arguments.live_tools:
        return None
    path = arguments.world
    if path is None:
        return demo_world()
    try:
        return as_object(yaml.load(Path(path).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        example = "src/gofer_simulators/worlds/demo.yaml"
        raise ConfigError(
            f"{path} does not describe simulated systems; write a YAML file such as {example}."
        ) from error


def _mocks(path: str | None) -> Overrides | None:
    """Return the tool results in a file of mocks; empty without a file, and None without --mocks."""
    if path is None:
        return None
    if not path:
        return {}
    try:
        return mocks(Path(path).read_text(encoding="utf-8"), path, Path.cwd())
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror}); name a YAML or JSON file of mocks.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text; name a YAML or JSON file of mocks.") from error


def _scripts(path: str | None) -> Sequence[Script] | None:
    """Return the scripts of the offline model; None when the settings choose the model."""
    if path is None:
        return None
    try:
        return load_scripts(Path(path).read_text(encoding="utf-8"), path)
    except (OSError, UnicodeDecodeError) as error:
        example = "src/gofer_simulators/scripts/demo.yaml"
        raise ConfigError(f"{path} cannot be read; name a YAML file of scripts such as {example}.") from error
