"""`gofer replay RUN`: runs a recorded run again through the engine; nothing outside is called."""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace as changed
from pathlib import Path

from gofer.app.operations import Operations
from gofer.app.replay import Replayer, open_replayer
from gofer.app.settings import process_settings
from gofer.cli.arguments import number, operations_with, place_options
from gofer.cli.replay_rates import measure, rate_options, refuse_contradictions
from gofer.cli.terminal import print_lines
from gofer.cli.working import Working
from gofer.evals.results import INFRASTRUCTURE
from gofer.journal.lineage import root_of
from gofer.replay.changed_replay import ChangedReplay, changed_json, changed_lines
from gofer.replay.changes import Changes
from gofer.replay.recorded_run import RecordedRun, recorded_run
from gofer.replay.replay import Outcome, Replay
from gofer.replay.replay_steps import step_lines
from gofer.replay.replay_text import order_lines, replay_json
from gofer.runtime.listed_record import listed_record
from gofer.runtime.run_reader import OPERATOR, RunReader
from gofer.values.errors import ConfigError, Gone

_EXAMPLES = """examples:
  gofer replay 3f2a91                        is every step the same with today's code?
  gofer replay 3f2a91 --step                 each step with its words, and whether it differs
  gofer replay 3f2a91 --prompt new.md        which request would the new prompt change?
  gofer replay 3f2a91 --prompt new.md --model live
                                             and what would the model do then?
  gofer replay 3f2a91 --override 1.0=empty.txt --model live
                                             what if call 1.0 had returned this text?
  gofer replay 3f2a91 --permute 20           does the order in which parallel calls end change anything?
  gofer replay 3f2a91 --model live --times 50 --shows check:no-tool-loops
                                             how often does the model do it again?
  gofer replay 3f2a91 --model live --times 50 --against new.md
                                             and how often with the new prompt?

Calls have the ids that `gofer trace --full` shows. A replay writes nothing: recorded calls return their recorded
results, a further read answers `not_recorded`, a further write is simulated, and both make the result inconclusive.

Exit codes: 0 identical, or only sentences of Gofer for people or requests of another Gofer differ; 1 diverged; 2 wrong
input; 3 inconclusive; 4 no live model answered. With --times: 0 measured; 3 not enough evidence. With --against: 0
the new prompt ended it; 1 it did not; 3 not enough evidence.
"""
_EXIT: Mapping[Outcome, int] = {
    "identical": 0,
    "reworded": 0,
    "updated": 0,
    "incomplete": 0,
    "diverged": 1,
    "inconclusive": 3,
}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer replay`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("run", metavar="RUN", help="id of the run; its first characters are enough")
    parser.add_argument("--prompt", metavar="FILE", help="the prompt (Markdown) in place of the recorded one")
    parser.add_argument(
        "--override",
        metavar="CALL=FILE",
        action="append",
        default=[],
        help="the text that a call returns instead; repeatable",
    )
    parser.add_argument("--until", metavar="CALL", default="", help="end before this call")
    parser.add_argument("--step", action="store_true", help="show each step, and on a terminal wait for Enter")
    parser.add_argument(
        "--model",
        choices=["recorded", "live"],
        default="recorded",
        help="who answers: the recording (default), or the model that is set up",
    )
    parser.add_argument(
        "--permute", metavar="N", type=number(1, 1_000), default=0, help="try N other orders of parallel calls"
    )
    parser.add_argument(
        "--times",
        metavar="N",
        type=number(1, 1_000),
        default=0,
        help="replay N times with the live model, at most 8 at once, and print how often the run shows the same again",
    )
    rate_options(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="{run, outcome, reason, waits, differences, change, calls, answer} on stdout",
    )
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Replay the run and print how it compares."""
    refuse_contradictions(arguments)
    against = _prompt(arguments.against)
    changes = Changes(
        prompt=_prompt(arguments.prompt),
        overrides=dict(_overrides(arguments.override)),
        until=arguments.until,
        live=arguments.model == "live",
    )
    if root_of(arguments.run) != arguments.run:
        raise ConfigError(f"A subagent run is replayed with its root; replay {root_of(arguments.run)}.")
    with operations_with(arguments.run, arguments) as opened:
        recorded = asyncio.run(_recorded(opened, arguments.run))
    if arguments.times:
        return measure(recorded, changes, arguments, against)
    if arguments.permute:
        return _permute(recorded, changes, arguments)
    with Working("Replays the run"):
        replay = asyncio.run(_replay(recorded, changes))
    made = ChangedReplay(recorded, replay, changes)
    if arguments.json:
        print(json.dumps(changed_json(made), indent=2))
    elif arguments.step:
        _show_steps(made)
    else:
        print_lines(changed_lines(made))
    if replay.lacked_a_model:
        return INFRASTRUCTURE
    return _EXIT[replay.outcome]


async def _recorded(opened: Operations, name: str) -> RecordedRun:
    try:
        record = await listed_record(RunReader(opened.stores, opened.clock, {}), name, OPERATOR)
    except Gone as gone:
        raise ConfigError(str(gone)) from gone
    if record.damage:
        raise ConfigError(f"{record.damage} A damaged run cannot be replayed.")
    return await recorded_run(record, opened.stores)


async def _replay(recorded: RecordedRun, changes: Changes) -> Replay:
    async with open_replayer(process_settings(), Path.cwd(), live=changes.live) as replayer:
        return await replayer.replay(recorded, changes)


def _permute(recorded: RecordedRun, changes: Changes, arguments: argparse.Namespace) -> int:
    with Working("Replays the run in other orders"):
        replays = asyncio.run(_replay_in_orders(recorded, changes, arguments.permute))
    moved = [replay for replay in replays if not replay.agrees and replay.outcome != "incomplete"]
    if arguments.json:
        print(json.dumps([replay_json(recorded.run, replay) for replay in moved], indent=2))
    else:
        print_lines(order_lines(recorded.run, recorded.entries, len(replays), moved))
    return int(bool(moved))


async def _replay_in_orders(recorded: RecordedRun, changes: Changes, times: int) -> Sequence[Replay]:
    async with open_replayer(process_settings(), Path.cwd(), live=False) as replayer:
        return [await _in_order(replayer, recorded, changes, seed) for seed in range(times)]


async def _in_order(replayer: Replayer, recorded: RecordedRun, changes: Changes, seed: int) -> Replay:
    return await replayer.replay(recorded, changed(changes, order=seed))


def _show_steps(made: ChangedReplay) -> None:
    waits = sys.stdin.isatty() and sys.stdout.isatty()
    for lines in step_lines(made.recorded, made.replay):
        print_lines(lines)
        if waits:
            input()
    print_lines(changed_lines(made))


def _prompt(path: str | None) -> str | None:
    if path is None:
        return None
    return _text(path)


def _overrides(options: Sequence[str]) -> Iterator[tuple[str, str]]:
    for option in options:
        call, equals, path = option.rpartition("=")
        if not equals:
            raise ConfigError(f"--override is {option[:80]!r}; write CALL=FILE, such as 1.0=result.txt.")
        yield call, _text(path)


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read as UTF-8 text; name a text file.") from error
