"""The commands of Docker Compose in a guide, done to the image of a company without Docker."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from support.app.image import Image
from support.app.serve_process import Running

_DOCKER = """#!{python}
import json, sys
with open("{typed}", "a") as typed:
    print(json.dumps(sys.argv[1:]), file=typed)
"""
"""A program that only writes down what a shell makes of the commands of a guide."""


@dataclass
class Composed:
    """The service of a compose file, and the folder of the repository in which an operator types."""

    image: Image
    folder: Path
    secrets: dict[str, str]
    """The variables of `.env`."""
    running: Running | None = None

    async def type(self, block: str) -> str:
        """Type a block of a guide; return the output of its last command, which must succeed as all others."""
        said = ""
        for words in await self._typed(block):
            said = await self._do(words)
        return said

    async def _typed(self, block: str) -> Sequence[Sequence[str]]:
        typed = self.folder / "typed"
        typed.write_text("")
        docker = self.folder / "docker"
        docker.write_text(_DOCKER.format(python=sys.executable, typed=typed))
        docker.chmod(0o755)
        path = f"{self.folder}:{os.environ['PATH']}"
        shell = await asyncio.create_subprocess_exec("bash", "-ec", block, cwd=self.folder, env={"PATH": path})
        assert await shell.wait() == 0, block
        return [json.loads(line) for line in typed.read_text().splitlines()]

    async def _do(self, words: Sequence[str]) -> str:
        match words:
            case ["compose", "up", *_]:
                await self._up()
            case ["compose", "stop"]:
                await self._stop()
            case ["compose", "restart", "gofer"]:
                await self._stop()
                await self._up()
            case ["compose", "cp", source, target]:
                shutil.copytree(self.image.placed(source.removeprefix("gofer:")), self.folder / target)
            case ["compose", "exec", *rest]:
                return await self._run(rest, ())
            case ["compose", "run", "--rm", *rest]:
                return await self._run(rest, self.image.one("ENTRYPOINT").words)
            case _:
                raise AssertionError(f"this guide has a new command: {words}")
        return ""

    async def _up(self) -> None:
        self.running = await self.image.serve(**self._placed())
        async with asyncio.timeout(120):
            while await self.image.check_health():
                await asyncio.sleep(0.1)

    async def _stop(self) -> None:
        assert self.running is not None
        self.image.stop(self.running)
        assert await self.running.ends() == 0

    async def _run(self, words: Sequence[str], entry: Sequence[str]) -> str:
        given = self._placed()
        at = words.index("gofer")
        for option in words[:at]:
            name, equals, value = option.partition("=")
            if equals:
                given[name] = self.image.placed(value)
        process = await self.image.start([*entry, *words[at + 1 :]], **given)
        out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        return out.decode()

    def _placed(self) -> dict[str, str]:
        return {**self.secrets, "GOFER_DATA": self.image.placed(self.secrets.get("GOFER_DATA", "/data/gofer"))}
