"""Locks of some parts of Gofer: exactly the libraries that these parts need."""

import re
from collections.abc import Sequence
from importlib.metadata import requires
from pathlib import Path

import pytest

from gofer.app.new_repository.contents import STARTERS
from gofer.app.new_repository.locking import OWN_LOCK, is_current, locked, own_requirements
from gofer.app.new_repository.upgrade import upgrade
from gofer.app.new_repository.writing import Asked, lock_own_packages, write_repository
from gofer.values.errors import ConfigError
from support.app.company import ROOT
from support.app.local_wheel import declare_phones

LOCK = """# made by a command
boto3==1.44.0 \\
    --hash=sha256:aa
    # via gofer (pyproject.toml)
botocore==1.44.0 \\
    --hash=sha256:bb \\
    --hash=sha256:cc
    # via
    #   -c locks/dev.lock
    #   boto3
cryptography==48.0 ; sys_platform == 'darwin' \\
    --hash=sha256:dd
    # via gofer (pyproject.toml)
cryptography==50.0 ; sys_platform != 'darwin' \\
    --hash=sha256:ee
    # via gofer (pyproject.toml)
lxml==6.1 \\
    --hash=sha256:ff
    # via gofer (pyproject.toml)
typing-extensions==4.16 \\
    --hash=sha256:00
    # via
    #   aiohttp
    #   botocore
"""
REQUIREMENTS = (
    'boto3>=1.44; extra == "aws"',
    "cryptography>=50; sys_platform != 'darwin'",
    "cryptography<49; sys_platform == 'darwin'",
    "lxml>=6; extra == 'files'",
    'gofer[aws,files]; extra == "all"',
)


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        ((), ["cryptography", "cryptography"]),
        (("files",), ["cryptography", "cryptography", "lxml"]),
        (("aws",), ["boto3", "botocore", "cryptography", "cryptography", "typing-extensions"]),
    ],
)
def test_lock_has_the_libraries_of_the_parts_and_theirs(parts: Sequence[str], names: Sequence[str]) -> None:
    text = locked(LOCK, REQUIREMENTS, parts)
    assert re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE) == names
    assert "#" not in text


def test_entry_keeps_its_platform_and_all_hashes() -> None:
    text = locked(LOCK, REQUIREMENTS, ("aws",))
    assert "botocore==1.44.0 \\\n    --hash=sha256:bb \\\n    --hash=sha256:cc\n" in text
    assert "cryptography==48.0 ; sys_platform == 'darwin' \\\n    --hash=sha256:dd\n" in text


def test_shipped_lock_of_no_part_has_the_libraries_of_the_base_lock() -> None:
    shipped = (ROOT / "locks" / "runtime.lock").read_text()
    base = (ROOT / "locks" / "base.lock").read_text()
    pattern = re.compile(r"^([A-Za-z0-9._-]+==[^ ;]+)", re.MULTILINE)
    found = pattern.findall(locked(shipped, requires("gofer") or (), ()))
    assert sorted(found) == sorted(pattern.findall(base))
    everything = pattern.findall(locked(shipped, requires("gofer") or (), ("aws", "files", "python", "slack")))
    assert sorted(everything) == sorted(pattern.findall(shipped))


def repository(folder: Path) -> Path:
    """Write a company's repository that declares a library; its wheel is in `vendor/`."""
    write_repository(Asked(folder, STARTERS))
    declare_phones(folder)
    return folder


def test_declared_package_reaches_its_own_lock_by_an_upgrade(tmp_path: Path) -> None:
    folder = repository(tmp_path / "acme")
    assert own_requirements(folder) == ["acme-phones>=1"]
    assert not is_current(folder)
    changes = {change.path: change.action for change in upgrade(folder).changes}
    assert changes == {OWN_LOCK: "added", "requirements.lock": "replaced"}
    own = (folder / OWN_LOCK).read_text()
    assert re.search(r"^acme-phones==1\.0 \\\n    --hash=sha256:[0-9a-f]{64}$", own, re.MULTILINE)
    assert "://" not in own
    assert (folder / "requirements.lock").read_text().endswith(f"\n-r {OWN_LOCK}\n")
    assert is_current(folder)
    assert upgrade(folder).changes == ()


def test_new_tool_locks_a_declared_package(tmp_path: Path) -> None:
    folder = repository(tmp_path / "acme")
    assert lock_own_packages(folder) == [OWN_LOCK, "requirements.lock"]
    assert (folder / "requirements.lock").read_text().endswith(f"\n-r {OWN_LOCK}\n")
    assert lock_own_packages(folder) == ()
    assert upgrade(folder).changes == ()


def test_deleted_lock_is_made_again(tmp_path: Path) -> None:
    folder = repository(tmp_path / "acme")
    upgrade(folder)
    (folder / OWN_LOCK).unlink()
    upgrade(folder)
    assert is_current(folder)


def test_lock_beside_an_earlier_gofer_is_made_again_with_its_versions(tmp_path: Path) -> None:
    folder = repository(tmp_path / "acme")
    upgrade(folder)
    lock = (folder / OWN_LOCK).read_text()
    (folder / OWN_LOCK).write_text(re.sub("beside Gofer [0-9.]+", "beside Gofer 0.0.9", lock))
    assert not is_current(folder)
    upgrade(folder)
    assert (folder / OWN_LOCK).read_text() == lock


def test_package_that_cannot_be_locked_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = repository(tmp_path / "acme")
    project = folder / "pyproject.toml"
    project.write_text(project.read_text().replace("acme-phones>=1", "acme-phones>=2"))
    with pytest.raises(ConfigError, match=r"why acme-phones>=2 cannot be locked beside Gofer"):
        upgrade(folder)
    assert "acme-phones" in capfd.readouterr().err


def test_checkout_of_gofer_declares_no_packages_of_a_company() -> None:
    assert own_requirements(ROOT) == ()
