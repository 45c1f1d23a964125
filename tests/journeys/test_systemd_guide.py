"""The guides of an operator on one machine, typed in the folders that they name, below a root of their own.

The service runs as systemd would start it: the command, the folder and the variables of the unit that the guide copied.
"""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from support.app.company import ROOT
from support.app.installed import environment, wheel
from support.app.serve_process import OperatorFolder, Running, free_port, operator_folder
from support.guides.checkout import shell_blocks

pytestmark = pytest.mark.anyio

GUIDE = (ROOT / "docs" / "one-machine.md").read_text()
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
_PLACES = re.compile(r"(?<![\w.:/])/(opt|etc|var/lib)\b")
PIP = ".venv/bin/pip install --quiet --require-hashes -r requirements.lock"
SYSTEMD_RUN = """#!/usr/bin/env bash
# Starts the command as systemd-run would: with the variables and in the folder of its options.
while [[ $1 == --* ]]; do
  case $1 in
    --property=EnvironmentFile=*) set -a; . "${1#*=*=}"; set +a ;;
    --setenv=*) export "${1#--setenv=}" ;;
    --working-directory=*) cd "${1#*=}" ;;
  esac
  shift
done
exec "$@"
"""


class Machine:
    """A machine whose `/opt`, `/etc` and `/var/lib` are below a folder, and on which nobody asks a package registry."""

    def __init__(self, root: Path, origin: Path, built: Path) -> None:
        self.root = root
        self.programs = root / "programs"
        for name in ("programs", "opt", "etc/systemd/system", "var/lib"):
            (root / name).mkdir(parents=True)
        self.program("sudo", '#!/bin/sh\nexec "$@"\n')
        self.program("systemctl", f'#!/bin/sh\necho "$@" >> {root}/systemctl\n')
        self.program("sudoedit", f'#!/bin/sh\ncat {root}/settings >> "$1"\n')
        self.program("systemd-run", SYSTEMD_RUN)
        made = f"from pathlib import Path; environment(Path('.venv').absolute(), Path('{built}'))"
        code = f"from support.app.installed import environment; {made}"
        paths = f"{ROOT / 'src'}:{ROOT / 'tests'}"
        self.program("install-lock", f'#!/bin/sh\nPYTHONPATH={paths} exec {sys.executable} -c "{code}"\n')
        self.variables = {
            "PATH": f"{self.programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(root),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{origin}.insteadOf",
            "GIT_CONFIG_VALUE_0": "https://github.com/acme/gofer",
        }

    def program(self, name: str, text: str) -> None:
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)

    def placed(self, text: str) -> str:
        return _PLACES.sub(lambda found: f"{self.root}/{found[1]}", text)

    def type(self, text: str, folder: Path | None = None, **variables: str) -> str:
        """Type a block of the guide. In place of pip, a program installs the wheel without asking a registry."""
        done = subprocess.run(
            ["bash", "-ec", self.placed(text.replace(PIP, "install-lock"))],
            check=False,
            cwd=folder or self.repository.parent,
            env={**self.variables, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    @property
    def repository(self) -> Path:
        return self.root / "opt" / "acme-gofer"

    @property
    def unit(self) -> Path:
        return self.root / "etc" / "systemd" / "system" / "gofer.service"

    def verify_unit(self) -> None:
        """Let systemd read the unit, if it is on this machine."""
        analyze = shutil.which("systemd-analyze")
        if analyze is not None:
            unit = self.root / "gofer.service"
            unit.write_text(self.placed(self.unit.read_text()))
            done = subprocess.run([analyze, "verify", str(unit)], check=True, capture_output=True, text=True)
            assert "gofer.service" not in done.stderr

    def setting(self, name: str) -> str:
        """Return the value of a setting of the unit, with the places of this machine."""
        (value,) = re.findall(rf"^{name}=(.*)$", self.placed(self.unit.read_text()), re.MULTILINE)
        return value

    async def start(self) -> Running:
        """Start the service with exactly what its unit says."""
        lines = Path(self.setting("EnvironmentFile")).read_text().splitlines()
        given = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
        given |= dict(pair.split("=", 1) for pair in self.setting("Environment").split())
        process = await asyncio.create_subprocess_exec(
            *self.setting("ExecStart").split(),
            cwd=self.setting("WorkingDirectory"),
            env=given,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        return Running(process)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A machine, and the repository of a company elsewhere."""
    folder = tmp_path_factory.mktemp("machine")
    built = wheel(folder / "dist")
    programs = environment(folder / "installed", built)
    origin = folder / "acme-gofer"
    for words in (
        [str(programs / "gofer"), "init", str(origin)],
        ["git", "init", "--quiet", str(origin)],
        ["git", "-C", str(origin), "add", "--all"],
        ["git", "-C", str(origin), "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "Begin"],
    ):
        subprocess.run(words, check=True, capture_output=True)
    shutil.rmtree(folder / "installed")
    return Machine(folder / "root", origin, built)


@pytest.fixture
async def operated(tmp_path: Path) -> AsyncIterator[OperatorFolder]:
    async with operator_folder(tmp_path) as made:
        yield made


def settings(made: OperatorFolder, port: int) -> Mapping[str, str]:
    given = {"SLACK_API_URL": made.api, "OPENAI_BASE_URL": made.model}
    return {**given, "SLACK_BOT_TOKEN": "xoxb-simulated", "SLACK_APP_TOKEN": "xapp-simulated", "GOFER_PORT": str(port)}


@pytest.mark.rehearsal(
    "tests/architecture/test_container.py::test_unit_is_read_only_and_valid_for_systemd",
    "tests/journeys/test_container.py::test_mention_is_answered_by_an_unprivileged_user_on_a_read_only_tree",
)
async def test_service_that_the_guide_installs_answers_is_backed_up_and_upgraded(
    machine: Machine, operated: OperatorFolder
) -> None:
    clone, begin, command = shell_blocks(GUIDE, "systemd")
    (upgrade,) = shell_blocks(GUIDE, "Upgrades")
    (backup,) = shell_blocks(RUNBOOK, "Backups")
    given = settings(operated, free_port())
    (machine.root / "settings").write_text("".join(f"{name}={value}\n" for name, value in given.items()))
    machine.type(clone)
    machine.type(begin, machine.repository)
    assert (machine.root / "systemctl").read_text() == "daemon-reload\nenable --now gofer\n"
    machine.verify_unit()
    running = await machine.start()
    await running.says("/runs")
    answer = await operated.answer(await operated.ask("@Gofer hello"))
    assert "Hello" in answer.text
    assert "answer-here" in machine.type(command)
    running.process.send_signal(signal.SIGTERM)
    assert await running.ends() == 0
    (machine.repository / "passphrase").write_text("long enough for a test")
    state = machine.placed("/var/lib/acme-gofer/state")
    path = f"{machine.repository}/.venv/bin:{machine.variables['PATH']}"
    machine.type(backup, machine.repository, GOFER_DATA=state, PATH=path)
    (kept,) = (machine.repository / "backups").iterdir()
    restored = {"GOFER_DATA": str(machine.root / "restored"), "GOFER_BACKUP_PASSPHRASE": "long enough for a test"}
    machine.type(f"gofer restore {kept}", machine.repository, PATH=path, **restored)
    assert "answer-here" in machine.type("gofer runs", machine.repository, PATH=path, **restored)
    machine.type(upgrade)
    assert (machine.root / "systemctl").read_text().endswith("restart gofer\n")
    assert machine.type("git status --porcelain", machine.repository) == "?? passphrase\n"
