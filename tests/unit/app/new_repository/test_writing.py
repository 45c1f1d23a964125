"""A new repository: its files, their copies, and what is never overwritten."""

import hashlib
import json
from pathlib import Path

import pytest

from gofer.app.new_repository.contents import STARTERS
from gofer.app.new_repository.writing import PRISTINE, Asked, new_files, write_repository
from gofer.values.errors import ConfigError


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
    with pytest.raises(ConfigError, match=r"README\.md exists already, and `gofer init` overwrites nothing"):
        write_repository(Asked(tmp_path, STARTERS))
    assert files(tmp_path) == {"README.md": b"Ours."}


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
