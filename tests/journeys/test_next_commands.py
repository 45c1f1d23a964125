"""The commands that the last lines of commands name, typed as they are printed, in a company's repository."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from gofer.app.embedded.server import serve
from gofer.app.new_repository.contents import STARTERS
from gofer.values.model_script import Script, Step
from gofer_simulators.offline_model import offline_model
from support.guides.checkout import Terminal, company_repository

pytestmark = pytest.mark.anyio

_SAID = re.compile(r"(?:then |: |with `)((?:GOFER_DATA=\S+ )?gofer [a-z][^`,\n]*|bash \S+)")
_RUN = re.compile(r"^run ([0-9a-f]{24}): done$", re.MULTILINE)
PAYLOAD = "evals/payloads/answer-here-linked-decision.json"
NEW = (
    "tool sql_query",
    "skill release-notes",
    "eval odd-questions --workflow answer-here",
    "workflow sum-up",
    "workflow tidy --trigger schedule --script",
)


async def printed(terminal: Terminal, command: str, *, codes: tuple[int, ...] = (0,)) -> str:
    """Type a command, and return what it prints on both streams."""
    before = terminal.complaints.stat().st_size if terminal.complaints.exists() else 0
    code = await asyncio.to_thread(terminal.exit_code, command)
    complaints = terminal.complaints.read_bytes()[before:].decode()
    assert code in codes, f"{command}\n{terminal.says()}\n{complaints}"
    return f"{terminal.says()}\n{complaints}"


@pytest.mark.rehearsal(
    "tests/unit/app/new_files/test_new_files.py::test_next_commands_name_the_new_files_and_the_programs_of_the_folder"
)
async def test_every_next_command_works_as_printed(tmp_path: Path) -> None:
    terminal = company_repository(tmp_path / "acme", STARTERS, Path(sys.executable).parent)
    said = [await printed(terminal, f"gofer new {words}") for words in NEW]
    assert "then write OPENAI_API_KEY into .env, then gofer eval sum-up --live" in said[3]
    ran = await printed(terminal, f"gofer run answer-here --event {PAYLOAD}")
    (run,) = _RUN.findall(ran)
    said += [ran, await printed(terminal, f"gofer trace {run}"), await printed(terminal, f"gofer golden {run}")]
    said.append(await printed(terminal, f'gofer feedback {run} --bad "too long"'))
    said.append(await printed(terminal, "gofer eval odd-questions", codes=(3,)))
    commands = list(dict.fromkeys(command.rstrip(". ") for text in said for command in _SAID.findall(text)))
    kinds = {" ".join(command.split()[:2]) for command in commands}
    assert {"gofer check", "gofer eval", "gofer golden", "gofer replay", "bash .ci/tests"} <= kinds
    anything = Script("any", tuple(Step("Done.", ()) for _ in range(5)))
    async with serve(offline_model([anything])) as url:
        (terminal.folder / ".env").write_text(f"OPENAI_API_KEY=any\nOPENAI_BASE_URL={url}/v1\n")
        for command in commands:
            if command == "bash .ci/tests":
                # It installs pytest from a registry first.
                assert (terminal.folder / ".ci" / "tests").exists()
                await printed(terminal, "python -m pytest -q -p no:cacheprovider tests")
                continue
            # A model that answers anything may fail a case.
            codes = (0, 1) if " --live" in command else (0,)
            shown = await printed(terminal, command, codes=codes)
            assert "Traceback" not in shown
