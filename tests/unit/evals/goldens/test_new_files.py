"""Files of a golden replace nothing by mistake, and follow no link."""

from pathlib import Path

import pytest

from gofer.evals.goldens.new_files import write_files
from gofer.values.errors import ConfigError


def files(folder: Path) -> dict[Path, bytes]:
    return {folder / name: b"new" for name in ("a.yaml", "a.run.json", "a.csv")}


@pytest.mark.parametrize("taken", ["a.yaml", "a.run.json", "a.csv"])
def test_taken_path_is_refused_before_the_first_write(tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).write_text("old")
    with pytest.raises(ConfigError, match="exists; choose another --name"):
        write_files(files(tmp_path), force=False)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]
    write_files(files(tmp_path), force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.run.json", "a.yaml"]
    assert {path.read_text() for path in tmp_path.iterdir()} == {"new"}


@pytest.mark.parametrize("taken", ["a.yaml", "a.run.json", "a.csv"])
@pytest.mark.parametrize("force", [True, False])
def test_link_is_refused_and_its_target_stays(tmp_path: Path, taken: str, *, force: bool) -> None:
    folder = tmp_path / "goldens"
    folder.mkdir()
    target = tmp_path / "outside"
    (folder / taken).symlink_to(target)
    with pytest.raises(ConfigError, match="is a symbolic link"):
        write_files(files(folder), force=force)
    assert not target.exists()
    assert len(list(folder.iterdir())) == 1


def test_linked_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "repository").mkdir()
    monkeypatch.chdir(tmp_path / "repository")
    Path("evals").symlink_to(outside)
    with pytest.raises(ConfigError, match="evals is a symbolic link"):
        write_files(files(Path("evals/goldens")), force=True)
    assert not list(outside.iterdir())


def test_folder_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(ConfigError, match="is no file"):
        write_files(files(tmp_path), force=True)
