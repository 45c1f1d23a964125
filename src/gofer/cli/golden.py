"""`gofer golden RUN`: writes a redacted, self-contained test case from a recorded run."""

import argparse
import asyncio
import os
import re
from collections.abc import Sequence
from pathlib import Path

from gofer.app.operations import Operations
from gofer.app.replay import open_replayer
from gofer.app.settings import process_settings
from gofer.app.whole_files import write_new
from gofer.cli.arguments import nonempty, operations_with, place_options
from gofer.cli.terminal import print_lines
from gofer.evals.goldens.golden_file import FOLDER, NAME, golden_text, recording_path
from gofer.evals.goldens.golden_of_runs import MadeGolden, Wish, golden_of
from gofer.evals.goldens.golden_reader import read_golden
from gofer.evals.goldens.playing import play_recorded
from gofer.evals.goldens.replayed_case import renewed
from gofer.evals.goldens.spreadsheet import csv_text
from gofer.evals.goldens.usable_runs import usable_runs
from gofer.projections.words.transcript import harmless
from gofer.runtime.retention import keep
from gofer.runtime.run_reader import RunReader
from gofer.values.amounts import counted
from gofer.values.errors import ConfigError, Gone
from gofer.values.outside import random_key

_ENDINGS = (".yaml", ".run.json", ".csv")
"""The endings of the files of a golden."""
_MOST_LISTED = 20
"""The most goldens that an error lists."""
_EXAMPLES = f"""examples:
  gofer golden 3f2a91                              a good run: later runs must end alike and call the same tools
  gofer golden 3f2a91 --thread                     the run, and the runs of the conversation that it continues
  gofer golden 3f2a91 --regression --not-contains "no known outage"
  gofer golden 3f2a91 --regression --judge "Does the answer name the cause?"
  gofer golden 3f2a91 --at 2.0                     only the next step of the model, before its call 2.0
  gofer golden 3f2a91 --redact Initech --redact 4711-88
  gofer golden --play                              replay every golden with its recorded answers
  gofer golden --play rfc-review                   one golden, by its name or its file
  gofer golden --play --renew                      write the requests of this version of Gofer into the recordings

The case goes to {FOLDER}/NAME.yaml, which you may edit, and {FOLDER}/NAME.run.json, which you may not. Names, ids,
addresses, numbers and tokens of people get pseudonyms. Read both files before you commit them: Gofer cannot know every
word that is secret. Private runs, damaged runs and runs that have not ended are refused. The run itself is kept from
deletion; `gofer keep RUN --no` ends that.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer golden`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("run", metavar="RUN", nargs="?", help="id of the run; its first characters are enough")
    parser.add_argument(
        "--play", nargs="*", metavar="GOLDEN", help="replay goldens with their recorded answers (default all)"
    )
    parser.add_argument(
        "--renew",
        action="store_true",
        help="with --play: write recordings anew of which only requests and sentences differ; the answers stay",
    )
    parser.add_argument("--thread", action="store_true", help="also the earlier runs of the conversation, as turns")
    parser.add_argument("--name", metavar="NAME", help="name of the golden; by default the workflow and a number")
    parser.add_argument(
        "--regression", action="store_true", help="the recorded answer was bad; needs --not-contains or --judge"
    )
    parser.add_argument(
        "--not-contains",
        action="append",
        default=[],
        type=nonempty,
        metavar="TEXT",
        help="a text that must not be in the answer",
    )
    parser.add_argument(
        "--judge", default="", metavar="QUESTION", help="a question that is answered yes for a good answer"
    )
    parser.add_argument(
        "--at", default="", metavar="CALL", help="write a case of the step of the model that made this call"
    )
    parser.add_argument(
        "--redact",
        action="append",
        default=[],
        metavar="WORD",
        help="a word that gets a pseudonym everywhere, such as a customer",
    )
    parser.add_argument("--csv", action="store_true", help="also write NAME.csv, with one row for each turn")
    parser.add_argument("--force", action="store_true", help="replace the files of an earlier golden of this name")
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Write the golden and print where its files are, or play goldens."""
    try:
        return _executed(arguments)
    except ConfigError as error:
        # Files of goldens come from others, and an error may quote them.
        raise ConfigError(harmless(str(error))) from error


def _executed(arguments: argparse.Namespace) -> int:
    if arguments.play is not None and not arguments.run:
        return asyncio.run(_play(arguments.play, renew=arguments.renew))
    _check(arguments)
    with operations_with(arguments.run, arguments) as opened:
        made = asyncio.run(_made(opened, arguments))
        paths = _write(made, arguments)
        asyncio.run(_keep(opened, made.sources))
    print_lines(f"wrote {path}" for path in paths)
    print(f"{counted(made.words, 'word')} got pseudonyms. Read the files before you commit them.")
    print_lines([f"play it: gofer golden --play {paths[0].stem}"])
    return 0


async def _play(names: Sequence[str], *, renew: bool) -> int:
    """Replay goldens, and print how each compares with its recording. The exit code is 1 if one differs.

    With `renew`, write the recordings anew of which only texts differ.
    """
    every = sorted(FOLDER.glob("*.yaml"))
    if not every:
        raise ConfigError(f"There are no goldens in {FOLDER}; write one with gofer golden RUN.")
    paths = [_golden(name, every) for name in names] or every
    differs = False
    renewable = 0
    async with open_replayer(process_settings(), Path.cwd(), live=False) as replayer:
        for path in paths:
            read = read_golden(path)
            played = await play_recorded(read, replayer.replay, replayer.services.tools)
            if renew and played.keeps_the_path:
                files = await renewed(read, replayer.replay)
                write_new(files, force=True)
                print_lines([f"{path.stem}: {'written anew' if files else 'as it was'}"])
                continue
            differs = differs or bool(played.differs)
            renewable += bool(played.differs) and played.keeps_the_path
            outcomes = ", ".join(replay.outcome for replay in played.replays)
            print_lines([f"{path.stem}: {played.differs or outcomes}"])
    if renewable:
        print(
            f"In {counted(renewable, 'golden')} only texts differ that Gofer writes, for the model or for people. "
            "If they are meant, write them into the recordings: gofer golden --play --renew"
        )
    return int(differs)


def _golden(name: str, every: Sequence[Path]) -> Path:
    """Return the golden with this name or in this file. Raises ConfigError if there is none."""
    for path in every:
        if name == path.stem or Path(name).resolve() == path.resolve():
            return path
    known = ", ".join(path.stem for path in every[:_MOST_LISTED])
    if len(every) > _MOST_LISTED:
        known = f"{known} and {len(every) - _MOST_LISTED} more"
    raise ConfigError(f"There is no golden {name[:80]!r} in {FOLDER}; the goldens are {known}.")


def _check(arguments: argparse.Namespace) -> None:
    """Raise ConfigError for options that contradict each other."""
    if arguments.renew:
        raise ConfigError("--renew belongs to --play: gofer golden --play --renew.")
    if not arguments.run or arguments.play is not None:
        raise ConfigError("Write either the id of a run, such as gofer golden 3f2a91, or gofer golden --play.")
    if arguments.name and not re.fullmatch(NAME, arguments.name):
        raise ConfigError(f"--name {arguments.name!r} has other characters than a-z, 0-9 and hyphens.")
    wants_rule = arguments.not_contains or arguments.judge
    if wants_rule and not arguments.regression:
        raise ConfigError("--not-contains and --judge belong to a regression; add --regression.")
    if arguments.regression and not wants_rule:
        raise ConfigError(
            "A regression needs --not-contains TEXT or --judge QUESTION: its recorded answer was bad, so the answer "
            "itself says nothing about what is right."
        )


async def _made(opened: Operations, arguments: argparse.Namespace) -> MadeGolden:
    turns = await usable_runs(RunReader(opened.stores, opened.clock, {}), arguments.run, thread=arguments.thread)
    purpose = "golden"
    if arguments.regression:
        purpose = "regression"
    wish = Wish(
        name=arguments.name or "golden",
        purpose=purpose,
        not_contains=arguments.not_contains,
        judge=arguments.judge,
        at=arguments.at,
        words=arguments.redact,
    )
    async with open_replayer(process_settings(), Path.cwd(), live=False) as replayer:
        tools = replayer.services.tools
        return await golden_of(turns, wish, replayer.replay, tools, salt=random_key(), now=opened.clock.now())


def _write(made: MadeGolden, arguments: argparse.Namespace) -> list[Path]:
    """Write the files of a golden; return their paths. Raises ConfigError if there is a golden of that name."""
    golden = made.golden
    if not arguments.name:
        golden = golden.model_copy(update={"golden": _free_name(golden.workflow)})
    path = FOLDER / f"{golden.golden}.yaml"
    contents = {path: golden_text(golden).encode(), recording_path(path): made.recording}
    if arguments.csv:
        contents[path.with_suffix(".csv")] = csv_text(golden).encode("utf-8-sig")
    write_new(contents, force=arguments.force)
    return [*contents]


def _free_name(workflow: str) -> str:
    number = 1
    while any(os.path.lexists(FOLDER / f"{workflow}-{number}{ending}") for ending in _ENDINGS):
        number += 1
    return f"{workflow}-{number}"


async def _keep(opened: Operations, runs: Sequence[str]) -> None:
    """Keep the sources of a golden from deletion."""
    for run in runs:
        if not await keep(run, opened.stores.journals, wanted=True):
            raise Gone(f"The contents of run {run} are being deleted, so they cannot be kept; the golden is complete.")
