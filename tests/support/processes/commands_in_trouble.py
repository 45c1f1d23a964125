"""Every command of Gofer on a machine in trouble: `commands_in_trouble FOLDER TROUBLE`.

Writes the repository of a company with one run into FOLDER, and plays each command there in a process of its own.
Prints `{command: {code, said, made}}` as JSON: the exit code, the output, and the new files outside of the state.
"""

import contextlib
import ctypes
import importlib
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from gofer.cli.main import COMMANDS, main

EVENT = "evals/payloads/answer-here-linked-decision.json"
ABSENT = "nowhere/absent.json"
CRASHED = 97
"""The exit code in place of an exception that no command may raise."""
REAL = Path("../real/.gofer")
"""A copy of the state that belongs to real systems, for the commands that work for people."""
WORK = {
    "GOFER_DATA": str(REAL),
    "SLACK_BOT_TOKEN": "xoxb-nobody",
    "SLACK_SIGNING_SECRET": "nothing",
    "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
    "SLACK_API_URL": "http://127.0.0.1:1/api/",
    "JIRA_BASE_URL": "http://127.0.0.1:1",
    "JIRA_EMAIL": "gofer@acme.example",
    "JIRA_API_TOKEN": "nothing",
}
"""Settings for these commands. Nothing answers at these addresses."""
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "serve": WORK,
    "sweep": WORK,
    "restore": {"GOFER_DATA": "../new/.gofer"},
}
_SECONDS = 60
"""The longest time of one command."""
_DAC = 0b110
"""The capabilities with which root passes by the rights of files."""


def words(run: str) -> Mapping[str, Sequence[str]]:
    """Return a call of each command that succeeds on a sound machine, or ends early for want of a setting."""
    called: dict[str, Sequence[str]] = {
        "init": ["../fresh"],
        "new": ["workflow", "ask-hr"],
        "demo": ["--exit", "--here"],
        "doctor": ["--offline"],
        "template": ["jira", "--into", "template.yaml"],
        "publish": ["--dry-run", "--stage", "prod"],
        "package": ["out", "JiraFunction", "--here", "--without-bytecode"],
        "explain": ["--source", "slack", EVENT],
        "extract": ["README.md"],
        "run": ["answer-here", "--event", EVENT],
        "eval": ["answer-here/linked-decision"],
        "review": ["--changed", "HEAD"],
        "diff": [run, run],
        "suggest": ["answer-here"],
        "promote": ["answer-here"],
        "golden": [run, "--name", "one"],
        "export": ["--json", run],
        "feedback": [run, "--good"],
        "purge": ["--older-than", "1"],
        "backup": ["../saved"],
        "restore": ["../earlier"],
        "manifest": ["--socket"],
        "sweep": ["--seconds", "1"],
        "serve": ["--port", "0"],
    }
    for name in ("trace", "health", "replay", "cancel", "retry", "keep"):
        called[name] = [run]
    return {name: called.get(name, []) for name in COMMANDS}


def absent(run: str) -> Mapping[str, Sequence[str]]:
    """Return a call of each command that names a file or a run, with one that does not exist."""
    others: Mapping[str, Sequence[str]] = {
        "check": [ABSENT],
        "docs": ["absent"],
        "explain": ["--source", "slack", ABSENT],
        "extract": [ABSENT],
        "run": ["answer-here", "--event", ABSENT],
        "eval": ["absent"],
        "template": ["jira", "--into", ABSENT],
        "suggest": ["absent"],
        "promote": ["absent"],
        "golden": ["0" * 24, "--name", "one"],
        "restore": ["../none"],
        "diff": ["0" * 24, run],
        "export": ["--json", "0" * 24],
        "feedback": ["0" * 24, "--good"],
    }
    runs = {name: ["0" * 24] for name in ("trace", "health", "replay", "cancel", "retry", "keep")}
    return {**others, **runs}


def full() -> None:
    """Let no file grow, as on a full disk. A pipe takes everything."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (8_192, resource.RLIM_INFINITY))


def forbidden() -> None:
    """Obey the rights of files, also as root."""
    with contextlib.suppress(OSError):
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        data = (ctypes.c_uint32 * 6)()
        libc = ctypes.CDLL(None, use_errno=True)
        libc.capget(header, data)
        data[0] &= ~_DAC
        libc.capset(header, data)


def nothing() -> None:
    """Leave the process as it is."""


PROCESS: Mapping[str, Callable[[], None]] = {"full": full, "forbidden": forbidden}


def prepare(trouble: str) -> None:
    """Bring the trouble into the folder of the company."""
    states = (Path(".gofer"), REAL)
    match trouble:
        case "forbidden":
            for path in (*Path().rglob("*"), Path(), Path("..")):
                path.chmod(path.stat().st_mode & 0o555)
            for data in states:
                for path in (*data.rglob("*"), data):
                    path.chmod(0)
        case "version":
            for data in states:
                raise_version(data / "gofer.db")
        case _:
            pass


def raise_version(database: Path) -> None:
    """Let a database seem to be one of a newer Gofer."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute(f"PRAGMA user_version = {version + 1}")
        connection.commit()


def remove_source(template: Path, system: str) -> None:
    """Remove the parts of a source from a template, as if it were another company's."""
    kept: list[str] = []
    block = ""
    for line in template.read_text().splitlines(keepends=True):
        if re.match(r" {0,2}\S", line):
            block = line
        if system not in block.strip()[: len(system)] and system not in line:
            kept.append(line)
    template.write_text("".join(kept))


def age(file: Path) -> None:
    """Let a file be one that an earlier Gofer wrote, and another that the next one joins with a change."""
    pristine = Path(".gofer-init", "files", file)
    for path in (file, pristine):
        path.write_text("# Of an earlier version.\n")


def played(called: Sequence[str], before: Callable[[], None]) -> tuple[int, str]:
    """Return the exit code and the output of a command in a forked process."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        os.close(reads)
        os.dup2(writes, 1)
        os.dup2(writes, 2)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        signal.alarm(_SECONDS)
        os._exit(_code(called, before))
    os.close(writes)
    with os.fdopen(reads, "rb") as output:
        said = output.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), said


def _code(called: Sequence[str], before: Callable[[], None]) -> int:
    before()
    os.environ.update(SETTINGS.get(called[0], {}))
    try:
        code = main(called)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else CRASHED
    except BaseException:  # noqa: BLE001
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        code = CRASHED
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    return code


def files() -> set[str]:
    """Return the files of the company and beside it, without the state."""
    found = {str(path) for path in Path("..").rglob("*") if path.is_file()}
    return {path for path in found if "/.gofer/" not in path}


def results(trouble: str, run: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the result of each command."""
    calls = absent(run) if trouble == "absent" else words(run)
    for name, called in calls.items():
        known = files()
        code, said = played([name, *called], PROCESS.get(trouble, nothing))
        made = sorted(files() - known)
        yield name, {"code": code, "said": said, "made": made}
        for path in made:
            Path(path).unlink()
        if Path("../fresh").exists():
            shutil.rmtree("../fresh")


if __name__ == "__main__":
    # On a full disk Python would leave half of a module's bytecode behind.
    sys.dont_write_bytecode = True
    os.environ.update(
        PYTHONDONTWRITEBYTECODE="1", GOFER_DATA=".gofer", GOFER_BACKUP_PASSPHRASE="correct horse battery staple"
    )
    for command in COMMANDS:
        importlib.import_module(f"gofer.cli.{command}")
    os.chdir(sys.argv[1])
    played(["init", "acme", "--aws"], nothing)
    os.chdir("acme")
    remove_source(Path("template.yaml"), "Jira")
    age(Path("deploy/prod.toml"))
    played(["run", "answer-here", "--event", EVENT], nothing)
    _, listed = played(["runs"], nothing)
    played(["backup", "../earlier"], nothing)
    shutil.copytree(".gofer", REAL, ignore=shutil.ignore_patterns("world"))
    prepare(sys.argv[2])
    print(json.dumps(dict(results(sys.argv[2], listed[:24]))))  # noqa: T201
