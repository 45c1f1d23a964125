"""Files of people are written all or none, replace nothing by mistake, and new ones follow no link."""

from pathlib import Path

import pytest

from gofer.app.whole_files import write_all, write_new
from gofer.values.errors import ConfigError


def files(folder: Path) -> dict[Path, bytes]:
    return {folder / name: b"new" for name in ("a.yaml", "a.run.json", "a.csv")}


@pytest.mark.parametrize("taken", ["a.yaml", "a.run.json", "a.csv"])
def test_taken_path_is_refused_before_the_first_write(tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).write_text("old")
    with pytest.raises(ConfigError, match="exists; choose another --name"):
        write_new(files(tmp_path), force=False)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]
    write_new(files(tmp_path), force=True)
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
        write_new(files(folder), force=force)
    assert not target.exists()
    assert len(list(folder.iterdir())) == 1


def test_linked_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "repository").mkdir()
    monkeypatch.chdir(tmp_path / "repository")
    Path("evals").symlink_to(outside)
    with pytest.raises(ConfigError, match="evals is a symbolic link"):
        write_new(files(Path("evals/goldens")), force=True)
    assert not list(outside.iterdir())


def test_folder_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(ConfigError, match="is no file"):
        write_new(files(tmp_path), force=True)


def test_file_that_cannot_be_written_leaves_the_folder_as_before(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Ours.\n")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "old.txt").write_text("old\n")
    names = ("fresh/a/one.txt", "notes/new.txt", "README.md", "README.md/three.txt")
    with pytest.raises(OSError, match="README"):
        write_all({tmp_path / name: b"Gofer's.\n" for name in names})
    left = {str(path.relative_to(tmp_path)): path.is_file() for path in tmp_path.rglob("*")}
    assert left == {"README.md": True, "notes": False, "notes/old.txt": True}
    assert (tmp_path / "README.md").read_text() == "Ours.\n"


def test_written_file_keeps_its_rights_and_its_link(tmp_path: Path) -> None:
    (tmp_path / "kept.sh").write_text("#!/bin/sh\n")
    (tmp_path / "kept.sh").chmod(0o750)
    (tmp_path / "link.sh").symlink_to(tmp_path / "kept.sh")
    write_all({tmp_path / "link.sh": b"#!/bin/bash\n", tmp_path / "new.sh": b"#!/bin/sh\n", tmp_path / "a.md": b"a"})
    assert (tmp_path / "link.sh").is_symlink()
    assert (tmp_path / "kept.sh").read_text() == "#!/bin/bash\n"
    rights = {path.name: oct(path.stat().st_mode & 0o777) for path in tmp_path.iterdir() if not path.is_symlink()}
    assert rights == {"kept.sh": "0o750", "new.sh": "0o755", "a.md": "0o644"}
