"""`gofer replay RUN --times N`: how often a live model shows again what the recorded run showed."""

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gofer.app.replay import open_replayer
from gofer.app.settings import process_settings
from gofer.cli.terminal import print_lines
from gofer.cli.working import Working
from gofer.evals.reproduction import EXIT_CODES, Rate, Shows, compared_prompts, parse_shows, rate_of, shown_by
from gofer.evals.reproduction_text import comparison_json, comparison_lines, rate_lines, report_json
from gofer.replay.changes import Changes
from gofer.replay.recorded_run import RecordedRun
from gofer.values.errors import ConfigError


def rate_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of reproduction rates, apart from --times."""
    parser.add_argument(
        "--shows",
        metavar="KIND:NAME",
        action="append",
        default=[],
        help="what counts as a reproduction: check:NAME (the check fails), text:TEXT (the answer contains it), "
        "call:TOOL, or status:STATUS; repeatable, and any counts; by default the failed checks of the run, or its "
        "status",
    )
    parser.add_argument("--against", metavar="FILE", help="replay --times with this prompt too, and compare the rates")
    parser.add_argument(
        "--allow",
        metavar="RATE",
        type=_share,
        help="with --against: the highest rate, 0 to 1, that the interval of the new prompt may reach",
    )


def refuse_contradictions(arguments: argparse.Namespace) -> None:
    """Raise ConfigError for options that do not go together."""
    if not arguments.times:
        for option in ("shows", "against", "allow"):
            if getattr(arguments, option) not in (None, []):
                raise ConfigError(f"--{option} is about the rate of several replays; add --times N and --model live.")
        return
    if arguments.model != "live":
        raise ConfigError("--times needs --model live, because recorded answers are the same each time.")
    for option in ("step", "permute", "until"):
        if getattr(arguments, option):
            raise ConfigError(f"--times and --{option} contradict each other; leave one out.")
    if arguments.against and arguments.prompt:
        raise ConfigError("--against compares a prompt with the recorded one; leave --prompt out.")
    if arguments.allow is not None and not arguments.against:
        raise ConfigError("--allow is about the prompt of --against; add --against FILE.")


def measure(recorded: RecordedRun, changes: Changes, arguments: argparse.Namespace, against: str | None) -> int:
    """Replay a run several times with a live model, print the rates, and return the exit code.

    `against` is the text of the prompt to compare with the recorded one.
    """
    shows = shown_by(recorded, [parse_shows(option) for option in arguments.shows])
    prompts = [changes]
    if against is not None:
        prompts.append(replace(changes, prompt=against))
    with Working(f"Replays the run {arguments.times * len(prompts)} times"):
        rates = asyncio.run(_rates(recorded, prompts, arguments.times, shows))
    if against is None:
        return _print_rate(recorded, shows, rates[0], as_json=arguments.json)
    return _print_comparison(recorded, shows, rates, arguments)


async def _rates(
    recorded: RecordedRun, prompts: Sequence[Changes], times: int, shows: Sequence[Shows]
) -> Sequence[Rate]:
    async with open_replayer(process_settings(), Path.cwd(), live=True) as replayer:
        return [rate_of(await replayer.replay_times(recorded, one, times), recorded, shows) for one in prompts]


def _print_rate(recorded: RecordedRun, shows: Sequence[Shows], rate: Rate, *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(report_json(recorded.run, shows, rate), indent=2))
    else:
        print_lines(rate_lines(recorded.run, shows, rate))
    return rate.exit_code


def _print_comparison(
    recorded: RecordedRun, shows: Sequence[Shows], rates: Sequence[Rate], arguments: argparse.Namespace
) -> int:
    before, now = rates
    compared = compared_prompts(before, now, arguments.allow)
    if arguments.json:
        print(json.dumps(comparison_json(recorded.run, shows, compared), indent=2))
    else:
        print_lines(comparison_lines(recorded.run, shows, compared, arguments.against))
    return EXIT_CODES[compared.verdict]


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a rate from 0 to 1")
    return share
