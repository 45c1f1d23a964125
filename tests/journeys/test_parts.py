"""An installation without the parts that a company need not choose, and the sentences about those parts."""

import os
import subprocess
from pathlib import Path

import pytest

from support.app.installed import environment, wheel


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the programs of an environment with the base installation only."""
    folder = tmp_path_factory.mktemp("base")
    return environment(folder / "venv", wheel(folder / "dist"), parts=())


def said(base: Path, folder: Path, *words: str, code: int = 0, **variables: str) -> str:
    """Run Gofer in a folder, and return all that it printed."""
    done = subprocess.run(
        [base / "gofer", *words],
        check=False,
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **variables},
        capture_output=True,
        text=True,
    )
    printed = done.stdout + done.stderr
    assert done.returncode == code, printed
    return printed


def test_base_installation_has_none_of_the_libraries_of_the_parts(base: Path, tmp_path: Path) -> None:
    program = (
        "from gofer.values.parts import PARTS, is_installed; print([is_installed(part) for part in sorted(PARTS)])"
    )
    found = subprocess.run([base / "python", "-c", program], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert found.stdout == "[False, False, False, False]\n"


@pytest.mark.rehearsal(
    "tests/journeys/test_parts.py::test_base_installation_has_none_of_the_libraries_of_the_parts",
    "tests/journeys/test_parts.py::test_plain_files_are_read_and_documents_name_the_part",
)
def test_demo_needs_the_base_installation_only(base: Path, tmp_path: Path) -> None:
    assert "All scenes succeeded." in said(base, tmp_path, "demo", "--exit")


def test_plain_files_are_read_and_documents_name_the_part(base: Path, tmp_path: Path) -> None:
    (tmp_path / "teams.csv").write_text("team,lead\nPayments,Ada\n")
    (tmp_path / "page.html").write_text("<html><body><p>Hello</p></body></html>")
    assert "Payments" in said(base, tmp_path, "extract", "teams.csv")
    refused = said(base, tmp_path, "extract", "page.html", code=2)
    assert (
        "This is a web page, and this Gofer lacks the part that reads it. Its operator can install gofer[files]"
        in refused
    )


def test_command_names_the_missing_part_in_one_sentence(base: Path, tmp_path: Path) -> None:
    assert said(base, tmp_path, "runs", "--stage", "prod", code=2, AWS_REGION="eu-central-1") == (
        "gofer: This needs boto3, which is not installed: install gofer[aws], or add aws to gofer[...] in "
        "pyproject.toml and run `gofer upgrade`.\n"
    )


RUN = """
import asyncio, contextlib
from gofer.files.sandbox.python import Program, run, sandbox
from gofer.values.errors import ToolError

with contextlib.closing(sandbox()) as children:
    try:
        asyncio.run(run(children, Program("1 + 1")))
    except ToolError as error:
        print(error.code, error.message_to_model)
"""


def test_code_of_a_model_names_the_missing_part(base: Path, tmp_path: Path) -> None:
    found = subprocess.run([base / "python", "-c", RUN], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert found.stdout.startswith("not_installed The code needs a part that this Gofer is installed without.")
    assert "gofer[python]" in found.stdout
