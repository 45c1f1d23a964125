"""`gofer restore`: restores a backup into an empty GOFER_DATA, or holds unfinished runs after a restore on AWS."""

import argparse
import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol, cast

from gofer.app.backup.restore import RestoredState, restore_backup
from gofer.app.backup.sealed_keys import known_passphrase
from gofer.app.operations import Place, read_place
from gofer.app.settings import process_variables
from gofer.cli.arguments import asking, place_options, progress
from gofer.journal.coordination import Head
from gofer.projections.tracing.trace import timestamp
from gofer.runtime.restored_runs import Held, moment
from gofer.values.errors import ConfigError
from gofer.values.outside import SystemClock

_EXAMPLES = """First the command deletes contents whose deletion is due. Every unfinished run in the backup then needs
attention: it does nothing before `gofer retry RUN`, because Gofer does not know what it did after the backup. For
private runs the command shows only their number; `gofer runs --stuck` lists their ids. The passphrase of the backup is
GOFER_BACKUP_PASSPHRASE, or typed at the terminal.

On AWS, restore the tables and deploy first (docs/recover.md). Then `gofer restore --stage STAGE --at TIME` makes every
run that was unfinished at that time need attention. It reads the installation key, so an administrator runs it.

examples:
  gofer restore backups/monday
  GOFER_DATA=elsewhere gofer restore backups/monday
  gofer restore --stage prod --at 2026-11-24T09:00:00Z

Exit codes: 0 the backup is restored, 1 the backup is corrupt or the disk failed, 2 the folder or passphrase is wrong.
"""


class RestoredStage(Protocol):
    """The outcome for the runs of restored tables."""

    @property
    def held(self) -> Held:
        """The runs that had not ended."""
        ...

    @property
    def deleted(self) -> int:
        """The number of runs without a key."""
        ...


class StageRestorer(Protocol):
    """The module that holds the runs of a stage."""

    def hold_restored_stage(self, place: Place, backup_at: int) -> RestoredStage:
        """Hold the unfinished runs. Raises ConfigError, TemporaryError."""
        ...


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer restore`."""
    parser.add_argument("folder", metavar="FOLDER", nargs="?", type=Path, help="a folder that `gofer backup` wrote")
    parser.add_argument("--at", metavar="TIME", type=_moment, help="on AWS: the time to which the tables were restored")
    place_options(parser)
    keys = "print {at, deleted, keyless, held: ids of runs, private: number of held private runs} on stdout"
    parser.add_argument("--json", action="store_true", help=keys)
    parser.epilog = _EXAMPLES


def execute(arguments: argparse.Namespace) -> int:
    """Restore the backup and print which runs wait for the operator."""
    variables = process_variables()
    place = read_place(variables, arguments.stage or "", arguments.profile or "")
    if place.away:
        return _execute_on_aws(arguments, place)
    if arguments.folder is None or arguments.at is not None:
        raise ConfigError("Name the folder of a backup; --at is for restored tables on AWS, with --stage.")
    passphrase = known_passphrase(variables, asking())
    restored = restore_backup(arguments.folder, place.data, passphrase, SystemClock(), progress("restored"))
    counts = {"deleted": restored.deleted, "keyless": restored.keyless}
    if not arguments.json:
        print(_summary(restored, arguments.folder, place.data), file=sys.stderr)
    return _tell(arguments, restored.backup_at, counts, restored.held)


def _execute_on_aws(arguments: argparse.Namespace, place: Place) -> int:
    """Hold the unfinished runs of a stage, and print which of them wait for the operator."""
    # Only this branch needs boto3, whose import takes a third of a second.
    opener = cast(StageRestorer, importlib.import_module("gofer.app.aws.restored_stage"))
    if arguments.folder is not None or arguments.at is None:
        remedy = "restore its tables (docs/recover.md), and then run `gofer restore --stage STAGE --at TIME`"
        raise ConfigError(f"This installation is on AWS: {remedy}.")
    restored = opener.hold_restored_stage(place, arguments.at)
    if not arguments.json:
        gone = f"Runs that had no key any more, and are deleted: {restored.deleted}."
        held = f"Unfinished runs that wait for `gofer retry RUN`: {len(restored.held.heads)}."
        print(f"The stage has the state of {moment(arguments.at)}. {gone} {held}", file=sys.stderr)
    return _tell(arguments, arguments.at, {"deleted": restored.deleted, "keyless": 0}, restored.held.heads)


def _moment(text: str) -> int:
    """Return a time with its zone, such as `2026-11-24T09:00:00Z`, in unix milliseconds."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is not a time, as 2026-11-24T09:00:00Z") from error
    if at.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text[:60]!r} has no time zone; write 2026-11-24T09:00:00Z")
    return int(at.timestamp() * 1000)


def _tell(arguments: argparse.Namespace, at: int, counts: Mapping[str, int], heads: Sequence[Head]) -> int:
    """Print the held runs; of private ones only their number."""
    listed = [head for head in heads if not head.private]
    private = len(heads) - len(listed)
    if arguments.json:
        print(json.dumps({"at": at, **counts, "held": [head.run for head in listed], "private": private}))
        return 0
    for head in listed:
        print(f"{head.run}  {head.status}: restored  {timestamp(head.accepted_at)}  {head.workflow}")
    if private:
        print(f"Private runs that need attention: {private}. `gofer runs --stuck` lists their ids.", file=sys.stderr)
    return 0


def _summary(restored: RestoredState, folder: Path, data: Path) -> str:
    state = f"{data} now has the state of {folder} at {moment(restored.backup_at)}."
    deleted = f"Runs with contents that were due for deletion and are deleted: {restored.deleted}."
    held = f"Unfinished runs that wait for `gofer retry RUN`: {len(restored.held)}."
    if restored.keyless:
        reason = "because they were deleted during the backup"
        deleted = f"{deleted} Runs that had no key in the backup {reason}: {restored.keyless}."
    return f"{state} {deleted} {held}"
