"""A company's tool with a library of its own, from the wheel of Gofer to an answer by the packaged worker on moto."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from gofer.journal.entries import ToolResult
from support.app.installed import environment, wheel
from support.app.local_wheel import PHONE, use_phones
from support.aws.function_packages import borrow_bytecode
from support.aws.lambda_stage import Code, packaged, stage
from support.models.tool_caller import caller

pytestmark = pytest.mark.anyio

BROKEN = PHONE.replace("acme_phones", "gone_library").replace("phone_", "gone_")


class Company:
    """A repository of a company with `acme_phones` in `vendor/`, and the environment that Gofer is installed in."""

    def __init__(self, folder: Path) -> None:
        self.programs = environment(folder / "installed", wheel(folder / "dist"))
        self.folder = folder / "acme"
        self.typed(f"gofer init {self.folder} --aws --with answer-here", at=folder)
        use_phones(self.folder)

    def typed(self, command: str, *, code: int = 0, at: Path | None = None) -> str:
        """Type a command in the repository; return what it prints. `code` is the expected exit code."""
        uv = Path(sys.executable).parent
        variables = {"PATH": f"{self.programs}:{os.environ['PATH']}:{uv}", "HOME": str(self.folder.parent)}
        done = subprocess.run(
            ["bash", "-ec", command], cwd=at or self.folder, env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"
        return f"{done.stdout}{done.stderr}"


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Code:
    return packaged(tmp_path_factory.mktemp("code"))


def with_worker(code: Code, worker: Path) -> Code:
    """Return the code of all functions with another package of the worker."""
    borrow_bytecode(worker)
    packages: Mapping[str, Path] = {**code.packages, "worker": worker}
    return Code(packages, code.besides)


async def test_tool_with_its_own_library_answers_from_the_packaged_worker(tmp_path: Path, code: Code) -> None:
    company = Company(tmp_path)
    package = "gofer package build/worker WorkerFunction --here --without-bytecode"
    assert "run `gofer upgrade`" in company.typed(package, code=2)
    assert "added      requirements-own.lock" in company.typed("gofer upgrade")
    # Declared and locked, but not installed yet.
    assert "No module named 'acme_phones'" in company.typed("gofer check", code=1)
    install = "uv pip install -q --offline --python ../installed/bin/python --require-hashes -r requirements-own.lock"
    company.typed(install)
    company.typed("gofer check")
    company.typed(package)
    worker = company.folder / "build" / "worker"
    assert (worker / "acme_phones").is_dir()
    # A module that is broken only here, as by a library that its author forgot.
    (worker / "tools" / "gone.py").write_text(BROKEN)
    async with stage(with_worker(code, worker), caller("phone_region", "phone_leave", "phone_region")) as made:
        asked = await made.ask("@Gofer where is +49 30 1?")
        (head,) = await made.work()
        (answer,) = made.answers(asked)
        results = [entry for entry in await made.entries(head.run) if isinstance(entry, ToolResult)]
        again = await made.ask("@Gofer and where is +49 30 2?")
        await made.work(runs=2)
        (second,) = made.answers(again)
        log = made.host.log("worker")
    assert head.status == "done"
    assert answer.text.count("+49 30 1 is in DE.") == 2
    assert "is in DE." in second.text
    (left,) = [result for result in results if result.status == "error"]
    assert "phone_leave got no answer: the tool failed with a bug (it called exit)" in left.text
    assert log.count("tools that cannot be used: gone_region, gone_leave") == 1
    assert "tools/gone.py:4: ModuleNotFoundError: No module named 'gone_library'" in log
