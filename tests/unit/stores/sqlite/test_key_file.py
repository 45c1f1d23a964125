"""The key file: storing, overwriting and torn slots."""

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from gofer.stores.sqlite.key_file import MAGIC, SLOT, Claimed, KeyFile
from gofer.values.errors import Corrupt, TemporaryError

KEY = bytes(range(64))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys"


@pytest.fixture
def keys(path: Path) -> Iterator[KeyFile]:
    made = KeyFile(path)
    yield made
    made.close()


def reopened(path: Path) -> KeyFile:
    return KeyFile(path)


def test_stored_key_survives_reopening_the_key_file(path: Path, keys: KeyFile) -> None:
    keys.put("r", KEY, 7)
    keys.put("other", b"short", 0)
    keys.sync()
    again = reopened(path)
    assert (again.get("r"), again.get("other"), again.get("nobody")) == (KEY, b"short", None)
    assert again.before(8) == [Claimed("r", 7)]
    again.close()


def test_key_file_is_readable_by_the_owner_only(path: Path) -> None:
    path.touch(0o644)
    path.chmod(0o644)
    keys = KeyFile(path)
    keys.put("r", KEY, 1)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    keys.close()


def test_destroyed_key_is_overwritten_and_the_slot_is_reused(path: Path, keys: KeyFile) -> None:
    keys.put("r", KEY, 1)
    size = path.stat().st_size
    for _ in range(2):
        keys.destroy("r")
        assert keys.get("r") is None
    raw = path.read_bytes()
    assert raw[SLOT:] == bytes(len(raw) - SLOT)
    keys.put("s", b"another", 2)
    assert path.stat().st_size == size
    assert keys.get("s") == b"another"


def test_second_put_replaces_the_key_of_a_lost_claim(path: Path, keys: KeyFile) -> None:
    keys.put("r", KEY, 1)
    keys.put("r", b"another", 2)
    assert keys.get("r") == b"another"
    assert KEY not in path.read_bytes()


def test_key_file_starts_small_and_doubles(path: Path, keys: KeyFile) -> None:
    sizes: list[int] = []
    for number in range(1_000):
        keys.put(f"run{number}", KEY, number)
        size = path.stat().st_size // 1024
        if size not in sizes:
            sizes.append(size)
    assert sizes == [4, 8, 16, 32, 64, 128, 192, 256]


def test_key_file_grows_and_keeps_every_key(path: Path, keys: KeyFile) -> None:
    for number in range(100):
        keys.put(f"run{number}", bytes([number]) * 64, number)
    again = reopened(path)
    assert [again.get(f"run{number}") for number in range(100)] == [bytes([number]) * 64 for number in range(100)]
    again.close()


def test_keys_are_listed_oldest_first_without_keys_of_unknown_age(keys: KeyFile) -> None:
    for run, at in (("new", 30), ("b", 10), ("a", 10), ("unknown", 0)):
        keys.put(run, KEY, at)
    assert keys.before(30) == [Claimed("a", 10), Claimed("b", 10)]


@pytest.mark.parametrize("cut", range(1, SLOT, 15))
def test_torn_key_slot_yields_no_key_and_is_overwritten(path: Path, cut: int) -> None:
    first = KeyFile(path)
    first.put("r", KEY, 1)
    first.put("s", bytes(64), 2)
    first.close()
    raw = bytearray(path.read_bytes())
    at = next(at for at in range(SLOT, len(raw), SLOT) if KEY in raw[at : at + SLOT])
    raw[at : at + cut] = bytes(cut)
    path.write_bytes(raw)
    torn = KeyFile(path)
    kept = torn.get("r")
    assert torn.get("s") == bytes(64)
    assert (kept, KEY in path.read_bytes()) == (None, False)
    torn.put("t", b"new", 3)
    assert (torn.get("t"), torn.get("s")) == (b"new", bytes(64))
    torn.close()


def test_changed_byte_in_a_key_slot_loses_only_that_key(path: Path) -> None:
    first = KeyFile(path)
    first.put("r", KEY, 1)
    first.put("s", bytes(64), 2)
    first.close()
    raw = path.read_bytes()
    at = next(at for at in range(SLOT, len(raw), SLOT) if KEY in raw[at : at + SLOT])
    for offset in range(0, 210, 7):
        path.write_bytes(raw[: at + offset] + bytes([raw[at + offset] ^ 1]) + raw[at + offset + 1 :])
        changed = KeyFile(path)
        assert (changed.get("r"), changed.get("s")) == (None, bytes(64))
        changed.close()


def test_process_sees_keys_that_another_process_wrote_and_destroyed(path: Path, keys: KeyFile) -> None:
    other = KeyFile(path)
    assert other.get("r") is None
    keys.put("r", KEY, 1)
    assert other.get("r") == KEY
    other.put("s", b"theirs", 2)
    assert keys.get("s") == b"theirs"
    other.destroy("r")
    assert keys.get("r") is None
    other.close()


def test_foreign_file_in_place_of_the_key_file_is_reported_and_left_unchanged(path: Path) -> None:
    path.write_bytes(b"notes of a person\n")
    keys = KeyFile(path)
    with pytest.raises(Corrupt, match="is not a key file; stop Gofer and restore the file from a backup"):
        keys.get("r")
    assert path.read_bytes() == b"notes of a person\n"
    keys.close()


def test_key_file_that_cannot_be_opened_raises_temporary_error(tmp_path: Path) -> None:
    with pytest.raises(TemporaryError, match="cannot be read or written"):
        KeyFile(tmp_path / "nowhere" / "keys").put("r", KEY, 1)


def test_run_or_key_of_invalid_length_is_refused(keys: KeyFile) -> None:
    for run, key in (("r" * 121, KEY), ("", KEY), ("r", bytes(65)), ("r", b"")):
        with pytest.raises(ValueError, match="does not fit"):
            keys.put(run, key, 1)


def test_key_file_with_a_truncated_header_is_recreated(path: Path) -> None:
    path.write_bytes(MAGIC[:5])
    keys = KeyFile(path)
    keys.put("r", KEY, 1)
    assert keys.get("r") == KEY
    keys.close()
