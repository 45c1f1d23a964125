"""Mentions at a real llama.cpp with a small model: each run ends with an answer or a reason."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gofer.app.doctor.role import abilities
from gofer.app.doctor.served_window import ServedWindows
from gofer.app.http import SharedHttp
from gofer.app.model_endpoints import keys_of, models_of
from gofer.app.settings import read_settings
from gofer.journal.entries import LlmResponse
from gofer.models.abilities import LEAST_WINDOW, Ability
from gofer.models.call_forms import written_call
from gofer.models.served_model import Endpoint, ServedModel
from support.app.company import ROOT, ask_about_the_decision
from support.app.own_model import at_own_model
from support.http import loopback

pytestmark = pytest.mark.anyio
PYTHON = ROOT / ".venv" / "llama" / "bin" / "python"
SERVER = "support.processes.llama_server"
ALTERNATING = ROOT / "tests" / "support" / "models" / "alternating.jinja"
KEYS = f"window: {LEAST_WINDOW}, timeout: 600, parameters: {{max_completion_tokens: 60, seed: 7}}"
SECONDS = 1_800.0
"""The longest that a run may take on a slow machine."""


@asynccontextmanager
async def llama(*template: Path) -> AsyncGenerator[str]:
    """Serve the model with the least window, and with its own template or another; yield its base URL."""
    assert PYTHON.exists(), "make .venv/.llama installs llama.cpp and the model"
    process = await asyncio.create_subprocess_exec(
        *(PYTHON, "-m", SERVER, str(LEAST_WINDOW), *template),
        cwd=ROOT / "tests",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip() + "/v1"
    finally:
        process.stdin.close()
        await process.wait()


def show(*lines: str) -> None:
    """Print lines for the person who reads the nightly log."""
    sys.stdout.write("".join(f"\n{line}" for line in lines))


async def mentioned(folder: Path, url: str, keys: str) -> tuple[str, str, str]:
    """Return the status and reason of the run of a mention, and what people read of it."""
    async with at_own_model(folder, url, keys, minutes=25) as made:
        asked = await ask_about_the_decision(made)
        (head,) = await made.ended(seconds=SECONDS)
        (reply,) = made.answers(asked)
        said = [entry.text for entry in await made.entries(head.run) if isinstance(entry, LlmResponse)]
    show(f"{head.status}: {head.reason}", *map(repr, said), f"people read: {reply.text!r}")
    return head.status, head.reason, reply.text


@pytest.mark.rehearsal(
    "tests/journeys/test_own_model.py::test_mention_in_a_long_thread_is_answered_with_the_least_window",
    "tests/journeys/test_own_model.py::test_run_with_alternate_roles_is_answered_by_such_a_template",
)
@pytest.mark.parametrize(
    ("template", "keys"), [((), KEYS), ((ALTERNATING,), f"{KEYS}, alternate_roles: true")], ids=["own", "alternating"]
)
async def test_mention_at_a_real_server_ends_with_an_answer_or_a_reason(
    tmp_path: Path, template: tuple[Path, ...], keys: str
) -> None:
    async with llama(*template) as url:
        status, reason, told = await mentioned(tmp_path, url, keys)
    assert status in ("done", "limited", "failed")
    assert bool(reason) == (status != "done")
    assert told
    assert written_call(told, {}) is None
    assert "alternate_roles" not in reason


@pytest.mark.rehearsal(
    "tests/journeys/test_own_model.py::test_template_that_demands_alternating_roles_ends_a_run_with_the_remedy"
)
async def test_real_template_that_demands_alternating_roles_ends_a_run_with_the_remedy(tmp_path: Path) -> None:
    async with llama(ALTERNATING) as url:
        status, reason, _ = await mentioned(tmp_path, url, KEYS)
    assert (status, "write `alternate_roles: true` for this model" in reason) == ("failed", True)


@pytest.mark.rehearsal(
    "tests/unit/app/doctor/test_role.py::test_window_of_the_server_stands_beside_the_window_of_the_file"
)
async def test_doctor_reads_the_window_of_a_real_server() -> None:
    async with llama(ALTERNATING) as url, loopback.client() as http:
        settings = read_settings({"MODEL_BASE_URLS": url})
        model = ServedModel(
            "own",
            endpoint=Endpoint(name="ours", base_url=url, key=""),
            ability=Ability(2 * LEAST_WINDOW),
            parameters={"max_completion_tokens": 60, "alternate_roles": True},
            timeout=600.0,
        )
        found = await abilities(models_of(settings, http), ServedWindows(SharedHttp(http), keys_of(settings)), [model])
    show(*(f"{one.state} {one.text}" for one in found))
    assert found[-1].text == "counts with a window of 16,384 tokens, and its server runs it with 8,192"
    assert "which `alternate_roles` joins" in found[1].text
