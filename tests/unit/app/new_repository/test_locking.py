"""Locks of some parts of Gofer: exactly the libraries that these parts need."""

import re
from collections.abc import Sequence
from importlib.metadata import requires

import pytest

from gofer.app.new_repository.locking import locked
from support.app.company import ROOT

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
