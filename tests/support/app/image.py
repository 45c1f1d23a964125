"""The image of a company's repository without Docker: its tree, and the literal commands of its Dockerfile.

The tree lies below one folder, so the absolute paths and the port of the commands are replaced, and nothing else is.
The commands run as an unprivileged user, who may write into the volume and `/tmp` only.
"""

import asyncio
import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from gofer.app.new_repository.writing import PARTS_TO_BEGIN_WITH
from support.app.installed import environment, wheel
from support.app.serve_process import OperatorFolder, Running, free_port

_PLACES = re.compile(r"(?<![\w.])/(opt/gofer|app|data|tmp)\b")
PORT = "8765"


@dataclass(frozen=True)
class Instruction:
    """One instruction of a Dockerfile, with its continuation lines joined."""

    name: str
    text: str

    @property
    def words(self) -> Sequence[str]:
        """The words of a command in its exec form."""
        return json.loads(self.text)


def read_dockerfile(path: Path) -> Sequence[Instruction]:
    """Return the instructions of a Dockerfile."""
    lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [Instruction(*line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


def compose_service(repository: Path) -> Mapping[str, object]:
    """Return the service of a compose file."""
    return yaml.safe_load((repository / "compose.yaml").read_text())["services"]["gofer"]


@dataclass
class Image:
    """An image below a folder, and the processes that were started in it."""

    root: Path
    repository: Path
    port: int
    started: list[asyncio.subprocess.Process] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.instructions = read_dockerfile(self.repository / "Dockerfile")
        user = self.one("USER").text
        assert user == compose_service(self.repository)["user"]
        self.uid, self.gid = map(int, user.split(":"))

    def one(self, name: str) -> Instruction:
        """Return the last instruction of a name."""
        return [each for each in self.instructions if each.name == name][-1]

    def placed(self, text: str) -> str:
        """Return a text with the paths and the port of this image."""
        return _PLACES.sub(lambda found: f"{self.root}/{found[1]}", text).replace(PORT, str(self.port))

    def variables(self) -> Mapping[str, str]:
        """Return the environment that the Dockerfile sets, with the `PATH` of this machine behind it."""
        given = dict(pair.split("=", 1) for pair in self.one("ENV").text.split())
        made = {name: self.placed(value).replace("$PATH", os.environ["PATH"]) for name, value in given.items()}
        # A copied interpreter finds its library there; the real image needs no such setting.
        return {**made, "LD_LIBRARY_PATH": f"{self.root}/usr/lib"}

    async def start(self, words: Sequence[str], **secrets: str) -> asyncio.subprocess.Process:
        """Start a command of the image as its user. The secrets come from `env_file`."""
        as_user: dict[str, object] = {}
        if os.geteuid() == 0:
            as_user = {"user": self.uid, "group": self.gid, "extra_groups": []}
        process = await asyncio.create_subprocess_exec(
            *map(self.placed, words),
            cwd=self.placed(self.one("WORKDIR").text),
            env={**self.variables(), **secrets},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            **as_user,
        )
        self.started.append(process)
        return process

    async def serve(self, **secrets: str) -> Running:
        """Start the container's process."""
        return Running(await self.start([*self.one("ENTRYPOINT").words, *self.one("CMD").words], **secrets))

    async def check_health(self) -> int:
        """Return the exit code of the command of HEALTHCHECK."""
        process = await self.start(json.loads(self.one("HEALTHCHECK").text.partition("CMD ")[2]))
        await process.communicate()
        return process.returncode

    def stop(self, running: Running) -> None:
        """Send the container's process the signal that Docker and Compose send."""
        (name,) = {self.one("STOPSIGNAL").text, compose_service(self.repository)["stop_signal"]}
        running.process.send_signal(signal.Signals[name])

    async def end(self) -> None:
        """Kill the processes that a failed test left running."""
        for process in self.started:
            if process.returncode is None:
                process.kill()
                await process.communicate()

    def tree(self) -> Sequence[str]:
        """Return the paths of the read-only part of the image."""
        return sorted(str(path) for name in ("app", "opt") for path in (self.root / name).rglob("*"))


@contextmanager
def company_image(elsewhere: Path) -> Iterator[Image]:
    """Yield the image of a repository that `gofer init` wrote with the built wheel, with secrets in its `.env`."""
    # Other users can enter this folder, as they cannot enter those of pytest.
    root = Path(tempfile.mkdtemp(prefix="gofer-image-"))
    built = wheel(elsewhere / "dist")
    programs = environment(elsewhere / "venv", built)
    repository = elsewhere / "acme"
    subprocess.run([str(programs / "gofer"), "init", str(repository)], check=True, capture_output=True)
    (repository / ".env").write_text("OPENAI_API_KEY=never-in-the-image\n")
    try:
        yield _build(root, repository, built)
    finally:
        for path in root.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)
        shutil.rmtree(root)


def secrets(made: OperatorFolder, **values: str) -> dict[str, str]:
    """Return the variables of `env_file` for a simulated Slack and model."""
    return {"SLACK_API_URL": made.api, "OPENAI_BASE_URL": made.model, "SLACK_BOT_TOKEN": "xoxb-simulated", **values}


def _build(root: Path, repository: Path, built: Path) -> Image:
    """Make the tree of an image: what its instructions copy and install.

    The packages are those of the environment that runs the tests, because no registry may be asked, and of these only
    the ones that the lock of a new repository has.
    """
    made = Image(root, repository, free_port())
    python = sys.executable
    if os.geteuid() == 0:
        python = str(_interpreter(root / "usr"))
    root.chmod(0o755)
    programs = environment(root / "opt" / "gofer", built, PARTS_TO_BEGIN_WITH, python)
    # pip compiles what it installs, and uv does not. Both leave out modules for Python 2, such as `olefile2`.
    compiling = [str(programs / "python"), "-m", "compileall", "-q", "-j", "0", str(root / "opt" / "gofer" / "lib")]
    subprocess.run(compiling, env=made.variables(), check=False, capture_output=True)
    ignored = (repository / ".dockerignore").read_text().splitlines()
    shutil.copytree(repository, root / "app", ignore=lambda folder, names: set(_ignored(names, ignored)))
    for name in ("app", "opt"):
        subprocess.run(["chmod", "-R", "a-w,a+rX", str(root / name)], check=True)
    for name, mode in (("data", 0o700), ("tmp", 0o700)):
        (root / name).mkdir(mode=mode)
        if os.geteuid() == 0:
            os.chown(root / name, made.uid, made.gid)
    return made


def _ignored(names: Sequence[str], patterns: Sequence[str]) -> Iterator[str]:
    for name in names:
        if any(fnmatch.fnmatch(name, pattern.removeprefix("**/")) for pattern in patterns):
            yield name


def _interpreter(folder: Path) -> Path:
    """Copy the interpreter into a folder that every user can read, because that of root may lie in root's home."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    base = Path(sys.base_prefix)
    unneeded = shutil.ignore_patterns("site-packages", "test", "idlelib", "tkinter", "config-*")
    shutil.copytree(base / "lib" / version, folder / "lib" / version, ignore=unneeded)
    for library in base.glob("lib/libpython*"):
        shutil.copy(library, folder / "lib")
    (folder / "bin").mkdir()
    return Path(shutil.copy(Path(sys.executable).resolve(), folder / "bin" / version))
