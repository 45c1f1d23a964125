"""A new repository: its files, their copies, and what is never overwritten."""

import hashlib
import json
import os
import re
from pathlib import Path

import pytest

from gofer.app.new_repository.contents import STARTERS, pipeline_files
from gofer.app.new_repository.shipped import shipped
from gofer.app.new_repository.upgrade import upgrade
from gofer.app.new_repository.writing import (
    PRISTINE,
    Asked,
    named_owners,
    new_files,
    write_repository,
)
from gofer.values.errors import ConfigError
from support.app.company import ROOT


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_copy_of_each_file_lies_in_the_repository(tmp_path: Path) -> None:
    made = write_repository(Asked(tmp_path / "Acme Gofer", STARTERS))
    written = files(tmp_path / "Acme Gofer")
    told = json.loads(written.pop(f"{PRISTINE}/init.json"))
    assert told["workflows"] == list(STARTERS)
    assert set(written) == {*made.files, *(f"{PRISTINE}/files/{path}" for path in made.files)}
    assert all(written[path] == written[f"{PRISTINE}/files/{path}"] for path in made.files)
    assert 'name = "acme-gofer"' in written["pyproject.toml"].decode()


def test_existing_file_is_kept_and_stops_everything(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Ours.")
    (tmp_path / "pyproject.toml").write_text("[project]")
    with pytest.raises(ConfigError, match=r"pyproject\.toml exists already, and `gofer init` overwrites nothing"):
        write_repository(Asked(tmp_path, STARTERS))
    assert files(tmp_path) == {"README.md": b"Ours.", "pyproject.toml": b"[project]"}


def test_link_in_place_of_a_file_stops_everything(tmp_path: Path) -> None:
    (tmp_path / "README.md").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match=r"README\.md exists already"):
        write_repository(Asked(tmp_path, STARTERS))
    assert files(tmp_path) == {}


def test_repository_of_a_forge_keeps_its_texts(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name, text in (("README.md", "# acme\n\nOur agent"), (".gitignore", "*.log\n"), ("LICENSE", "MIT")):
        (tmp_path / name).write_text(text)
    made = write_repository(Asked(tmp_path, STARTERS))
    assert made.kept == [".gitignore", "README.md"]
    assert (tmp_path / "README.md").read_text().startswith("# acme\n\nOur agent\n\n# ")
    assert "## The first hour" in (tmp_path / "README.md").read_text()
    ignored = (tmp_path / ".gitignore").read_text().splitlines()
    assert {"*.log", ".env", ".gofer/", "backups/"} < set(ignored)
    assert (tmp_path / "LICENSE").read_text() == "MIT"
    assert all(change.path != "README.md" for change in upgrade(tmp_path).changes)


@pytest.mark.parametrize("repository", ["https://github.com/acme/gofer", "https://github.com/acme/gofer.git/"])
def test_answers_link_to_the_prompts_of_the_repository(tmp_path: Path, repository: str) -> None:
    made = new_files(Asked(tmp_path, STARTERS, repository=repository.rstrip("/")), None)
    assert b"\nprompt_links: https://github.com/acme/gofer/blob/main/{file}\n" in made["agents/defaults.yaml"]


def test_vendored_wheel_has_its_hash_in_the_lock(tmp_path: Path) -> None:
    wheel = tmp_path / "gofer-9-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    lock = new_files(Asked(tmp_path, STARTERS), wheel)["requirements.lock"].decode()
    digest = hashlib.sha256(b"wheel").hexdigest()
    assert lock.endswith(f"./vendor/gofer-9-py3-none-any.whl \\\n    --hash=sha256:{digest}\n")
    without = new_files(Asked(tmp_path, STARTERS), None)
    assert b"vendor" not in without["requirements.lock"]
    assert b"   .venv/bin/pip install --quiet --no-deps gofer==" in without["README.md"]


def test_pipeline_and_runbooks_are_copied_from_gofer_with_executable_programs(tmp_path: Path) -> None:
    write_repository(Asked(tmp_path, STARTERS))
    written = files(tmp_path)
    paths = pipeline_files(shipped())
    assert all(written[path] == (ROOT / path).read_bytes() for path in paths)
    assert {".ci/evals", ".agents/bin/gofer", ".agents/tmp/.gitignore", ".github/workflows/evals.yml"} < paths.keys()
    programs = [path for path, content in written.items() if content.startswith(b"#!")]
    assert {".agents/bin/aws", ".ci/install", ".ci/tests"} < {*programs}
    assert all(os.access(tmp_path / path, os.X_OK) for path in programs)


def test_runbooks_name_pages_of_gofer_and_no_file_that_only_its_own_repository_has(tmp_path: Path) -> None:
    write_repository(Asked(tmp_path, STARTERS))
    for path in (tmp_path / ".agents" / "skills").glob("*/SKILL.md"):
        text = path.read_text()
        assert [page for page in re.findall(r"docs/[\w-]+\.md", text) if not (ROOT / page).is_file()] == []
        assert re.findall(r"\btests/\w+", text) == []
        assert ("src/gofer" in text) == ("Gofer's own repository" in text)


def test_named_owners_own_every_file(tmp_path: Path) -> None:
    owners = named_owners("ada, @bob,acme/support")
    made = new_files(Asked(tmp_path, STARTERS, owners=owners), None)
    assert made[".github/CODEOWNERS"].endswith(b"\n* @ada @bob @acme/support\n")
    without = new_files(Asked(tmp_path, STARTERS), None)[".github/CODEOWNERS"].decode()
    assert all(line.startswith("#") for line in without.splitlines())
    with pytest.raises(ConfigError, match="'@two words' is no name on GitHub"):
        named_owners("two words")


def test_lock_of_the_tests_has_pytest_with_hashes_and_no_library_of_gofer(tmp_path: Path) -> None:
    made = new_files(Asked(tmp_path, STARTERS), None)
    lock = made["requirements-test.lock"].decode()
    names = re.findall(r"^([a-z-]+)==", lock, re.MULTILINE)
    assert {"pytest", "pluggy", "iniconfig"} <= {*names}
    assert "pydantic" not in names
    assert "://" not in lock
    assert lock.count("--hash=sha256:") >= len(names)
