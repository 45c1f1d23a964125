"""`gofer backup FOLDER`: copies the state of this machine consistently, even while Gofer serves."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from gofer.app.backup.sealed_keys import new_passphrase
from gofer.app.backup.take import take_backup
from gofer.app.operations import read_place
from gofer.app.settings import process_variables
from gofer.cli.arguments import asking, progress
from gofer.runtime.restored_runs import moment
from gofer.values.errors import ConfigError
from gofer.values.outside import SystemClock

_EXAMPLES = """A passphrase encrypts the keys in a backup: GOFER_BACKUP_PASSPHRASE, or typed at the terminal. With the
passphrase, a backup also opens runs that Gofer deletes later, so delete old backups or their passphrases.
docs/reliability.md lists the parts of a backup that are not encrypted.

examples:
  gofer backup backups/monday            use a new folder for each backup
  gofer backup backups/monday --json     {at, runs, files, bytes} on stdout

Exit codes: 0 the backup is complete and durable, 1 the state or the disk failed, 2 the folder or passphrase is wrong.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer backup`."""
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="a new folder for the backup")
    parser.add_argument("--json", action="store_true", help="print {at, runs, files, bytes} on stdout")
    parser.epilog = _EXAMPLES


def execute(arguments: argparse.Namespace) -> int:
    """Write the backup and print its size."""
    variables = process_variables()
    place = read_place(variables, "", "")
    if place.away:
        raise ConfigError(
            "GOFER_TABLE names an installation on AWS; use the backups of its DynamoDB table and S3 bucket instead."
        )
    passphrase = new_passphrase(variables, asking())
    result = take_backup(place.data, arguments.folder, passphrase, SystemClock(), progress("copied"))
    if arguments.json:
        print(json.dumps(asdict(result)))
    else:
        size = f"runs: {result.runs}, files: {result.files}, {result.bytes / 1e6:.1f} MB"
        print(f"{arguments.folder} is a backup of {moment(result.at)} ({size}).", file=sys.stderr)
    return 0
