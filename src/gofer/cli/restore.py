"""`gofer restore FOLDER`: restores a backup into an empty GOFER_DATA, with its unfinished runs held."""

import argparse
import json
import sys
from pathlib import Path

from gofer.app.backup.restore import RestoredState, restore_backup
from gofer.app.backup.sealed_keys import known_passphrase
from gofer.app.operations import read_place
from gofer.app.settings import process_variables
from gofer.cli.arguments import asking, progress
from gofer.projections.tracing.trace import timestamp
from gofer.runtime.restored_runs import moment
from gofer.values.errors import ConfigError
from gofer.values.outside import SystemClock

_EXAMPLES = """First the command deletes contents whose deletion is due. Every unfinished run in the backup then needs
attention: it does nothing before `gofer retry RUN`, because Gofer does not know what it did after the backup. For
private runs the command shows only their number; `gofer runs --stuck` lists their ids. The passphrase of the backup is
GOFER_BACKUP_PASSPHRASE, or typed at the terminal.

examples:
  gofer restore backups/monday
  GOFER_DATA=elsewhere gofer restore backups/monday

Exit codes: 0 the backup is restored, 1 the backup is corrupt or the disk failed, 2 the folder or passphrase is wrong.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer restore`."""
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="a folder that `gofer backup` wrote")
    keys = "print {at, deleted, keyless, held: ids of runs, private: number of held private runs} on stdout"
    parser.add_argument("--json", action="store_true", help=keys)
    parser.epilog = _EXAMPLES


def execute(arguments: argparse.Namespace) -> int:
    """Restore the backup and print which runs wait for the operator."""
    variables = process_variables()
    place = read_place(variables, "", "")
    if place.away:
        raise ConfigError("GOFER_TABLE names an installation on AWS; restore its DynamoDB table and S3 bucket instead.")
    passphrase = known_passphrase(variables, asking())
    restored = restore_backup(arguments.folder, place.data, passphrase, SystemClock(), progress("restored"))
    listed = [head for head in restored.held if not head.private]
    private = len(restored.held) - len(listed)
    if arguments.json:
        held = [head.run for head in listed]
        gone = {"deleted": restored.deleted, "keyless": restored.keyless}
        print(json.dumps({"at": restored.backup_at, **gone, "held": held, "private": private}))
        return 0
    print(_summary(restored, arguments.folder, place.data), file=sys.stderr)
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
