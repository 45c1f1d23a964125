from pathlib import Path

import pytest

from gofer.app.embedded.state import installation_key, open_state, read_state, serving
from gofer.journal.coordination import Head
from gofer.values.errors import ConfigError
from support.stand_ins import SetClock

pytestmark = pytest.mark.anyio


def test_installation_key_is_created_once_and_readable_by_the_owner_only(tmp_path: Path) -> None:
    key = installation_key(tmp_path).current.reveal()
    assert len(key) == 64
    assert installation_key(tmp_path).current.reveal() == key
    assert (tmp_path / "installation.key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["installation.key"]


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 64, b"Z" * 64, b",".join([b"a" * 64] * 2)])
def test_damaged_installation_key_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "installation.key").write_bytes(content)
    with pytest.raises(ConfigError, match="is damaged"):
        installation_key(tmp_path)


async def test_lost_installation_key_is_not_recreated_once_there_are_runs(tmp_path: Path) -> None:
    with open_state(tmp_path, SetClock()) as state:
        installation_key(tmp_path)
        (tmp_path / "installation.key").unlink()
        assert installation_key(tmp_path)
        (tmp_path / "installation.key").unlink()
        await state.store.create_head(Head("r", "w", "c", 1))
        with pytest.raises(ConfigError, match=r"installation.key is missing.* restore it from a backup"):
            installation_key(tmp_path)
    with pytest.raises(ConfigError, match=r"installation.key is missing"):
        installation_key(tmp_path)
    assert not (tmp_path / "installation.key").exists()


async def test_another_installation_key_is_refused_once_there_are_runs(tmp_path: Path) -> None:
    path = tmp_path / "installation.key"
    with open_state(tmp_path, SetClock()) as state:
        first = installation_key(tmp_path).current.reveal()
        path.write_text("1" * 64)
        assert installation_key(tmp_path)
        await state.store.create_head(Head("r", "w", "c", 1))
        for other in (first, f"{first},{'2' * 64}"):
            path.write_text(other)
            for _ in range(2):
                with pytest.raises(
                    ConfigError, match=r"installation\.key does not hold the key .* with a comma between"
                ):
                    installation_key(tmp_path)
        for listed in (f"{first},{'1' * 64}", first):
            path.write_text(listed)
            assert installation_key(tmp_path).current.reveal() == first
        path.write_text("1" * 64)
        with pytest.raises(ConfigError, match="does not hold the key"):
            installation_key(tmp_path)


def test_state_folder_is_served_by_one_process_at_a_time(tmp_path: Path) -> None:
    with serving(tmp_path), pytest.raises(ConfigError, match="Another Gofer serves"), serving(tmp_path):
        pass
    with serving(tmp_path):
        pass


def test_unusable_state_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="GOFER_DATA cannot be"), open_state(tmp_path / "file", SetClock()):
        pass
    with pytest.raises(ConfigError, match="There are no runs"), read_state(tmp_path / "nowhere", SetClock()):
        pass
    assert not (tmp_path / "nowhere").exists()
