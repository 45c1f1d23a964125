"""Privacy of the state folder: file modes and core dumps."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gofer.app.embedded.state import installation_key, open_state, serving
from gofer.app.private_files import tighten_folder
from gofer.journal.blob_store import blob_key
from support.stand_ins import SetClock

pytestmark = pytest.mark.anyio

CHECK = """
import ctypes, os, resource
from gofer.app.private_files import forbid_core_dumps
forbid_core_dumps()
print(resource.getrlimit(resource.RLIMIT_CORE)[0], ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
print(len(os.listdir("/proc/self/fd")) > 0, "VmSize" in open("/proc/self/status").read())
"""


def loose(data: Path) -> list[str]:
    """Return the paths on which other users have any permission."""
    found = [data, *data.rglob("*")]
    return [f"{path.name} {stat.filemode(path.stat().st_mode)}" for path in found if path.stat().st_mode & 0o077]


async def fill(data: Path) -> None:
    """A state with every kind of file, while it is open."""
    with serving(data), open_state(data, SetClock()) as state:
        installation_key(data)
        await state.store.claim("r", b"one", b"key")
        await state.blobs.put(blob_key("r", b"body"), b"body")
        assert {path.name for path in data.iterdir()} >= {"gofer.db", "gofer.db-wal", "gofer.db-shm", "keys", "blobs"}
        assert loose(data) == []


async def test_new_state_folder_is_accessible_to_the_owner_only(tmp_path: Path) -> None:
    await fill(tmp_path / "state")
    assert loose(tmp_path / "state") == []


async def test_state_in_an_existing_folder_is_accessible_to_the_owner_only(tmp_path: Path) -> None:
    data = tmp_path / "state"
    data.mkdir(0o755)
    data.chmod(0o755)
    await fill(data)


async def test_readable_state_files_are_tightened_when_the_state_is_opened(tmp_path: Path) -> None:
    data = tmp_path / "state"
    await fill(data)
    for path in (data, *data.iterdir(), *(data / "blobs").iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)
    await fill(data)


def test_narrower_file_modes_are_kept(tmp_path: Path) -> None:
    kept = tmp_path / "installation.key"
    kept.touch(0o400)
    tighten_folder(tmp_path)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o400


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is of Linux")
def test_process_without_core_dumps_can_still_read_proc_self() -> None:
    done = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["0 0", "True True"]
