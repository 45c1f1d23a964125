"""The container: the size of its installed tree, and the time from its start to the first answer.

The commands are those of the Dockerfile, as its user on a read-only tree. The model and Slack are simulated and answer
at once. The size is that of the files that the lock installs, without bytecode.
"""

import asyncio
import re
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from statistics import median
from time import perf_counter

import httpx2
import pytest

from support.app.image import Image, company_image, secrets
from support.app.serve_process import OperatorFolder, operator_folder
from support.http import loopback

pytestmark = pytest.mark.anyio
ROUNDS = 5


def installed_bytes(image: Image) -> dict[str, int]:
    """Return the bytes of each package of the lock."""
    names = re.findall(r"^([\w.-]+)==", (image.repository / "requirements.lock").read_text(), re.MULTILINE)
    found: dict[str, int] = {}
    for name in names:
        with suppress(PackageNotFoundError):  # a package of another platform
            files = distribution(name).files or []
            paths = [Path(str(file.locate())) for file in files if file.suffix != ".pyc"]
            found[name] = sum(path.stat().st_size for path in paths if path.is_file())
    return found


async def measured(image: Image, made: OperatorFolder) -> tuple[float, float, float]:
    """Return the seconds from the start to the first healthy answer, to readiness, and to the answer to a mention."""
    start = perf_counter()
    running = await image.serve(**secrets(made, SLACK_APP_TOKEN="xapp-simulated"))
    async with loopback.client() as http:
        healthy = await until(http, f"http://127.0.0.1:{image.port}/healthz", start)
        ready = await until(http, f"http://127.0.0.1:{image.port}/readyz", start)
    await made.answer(await made.ask("@Gofer hello"))
    answered = perf_counter() - start
    image.stop(running)
    assert await running.ends() == 0
    return healthy, ready, answered


async def until(http: httpx2.AsyncClient, url: str, start: float) -> float:
    """Return the seconds from the start to the first 200 of a URL."""
    while True:
        with suppress(httpx2.TransportError):
            if (await http.get(url)).status_code == 200:
                return perf_counter() - start
        await asyncio.sleep(0.01)


async def test_size_and_start_of_the_container(tmp_path: Path) -> None:
    with company_image(tmp_path / "elsewhere") as image:
        sizes = installed_bytes(image)
        print(f"\ninstalled by the lock, without bytecode: {len(sizes)} packages, {sum(sizes.values()) / 1e6:.0f} MB")
        for name, size in sorted(sizes.items(), key=lambda each: -each[1])[:6]:
            print(f"  {name:<24} {size / 1e6:5.1f} MB")
        (package,) = image.root.glob("opt/gofer/lib/python*/site-packages/gofer")
        own = sum(path.stat().st_size for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc")
        print(f"Gofer itself, with its guides: {own / 1e6:.0f} MB")
        async with operator_folder(tmp_path / "operated") as made:
            rounds = [await measured(image, made) for _ in range(ROUNDS)]
    for number, what in enumerate(("first healthy answer", "ready", "answer to a mention")):
        values = [each[number] for each in rounds]
        print(f"start to {what}: {median(values):.2f} s (of {ROUNDS}: {min(values):.2f} to {max(values):.2f})")
