"""The installation of another version of Gofer into the environment of this process."""

import email
import importlib.util
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from gofer.app.new_repository.locking import locked
from gofer.app.new_repository.writing import installed_parts
from gofer.values.errors import ConfigError

_LOCK_IN_WHEEL = "gofer/shipped/locks/runtime.lock"
_VERSION = re.compile(r"\d+(\.\d+)*([a-z]+\d+)?")


def install(wanted: str) -> None:
    """Install a wheel by its path, or a version by its number, with its dependencies. Raises ConfigError."""
    wheel = Path(wanted)
    if wheel.suffix == ".whl":
        _install_wheel(wheel)
    elif _VERSION.fullmatch(wanted):
        _pip("--upgrade", f"gofer[{','.join(installed_parts(Path()))}]=={wanted}")
    else:
        raise ConfigError(f"{wanted} is neither the path of a wheel nor a version; write, for example, 0.2.0.")


def install_locked(lock: Path) -> None:
    """Install exactly what a lock names, with its hashes. Raises ConfigError."""
    _pip("--require-hashes", "-r", str(lock.resolve()), cwd=lock.parent)


def merge_with_the_installed_version() -> int:
    """Run `gofer upgrade` in a new process, because only the new version knows its files; return its exit code."""
    return subprocess.run([sys.executable, "-m", "gofer.cli.main", "upgrade"], check=False).returncode


def _install_wheel(wheel: Path) -> None:
    if not wheel.is_file():
        raise ConfigError(f"{wheel} does not exist; build it with `make wheel` in a clone of Gofer.")
    with TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as opened:
        if _LOCK_IN_WHEEL not in opened.namelist():
            raise ConfigError(f"{wheel} is no wheel of Gofer, or one of a version before `gofer init`.")
        lock = Path(folder) / "runtime.lock"
        lock.write_text(locked(opened.read(_LOCK_IN_WHEEL).decode(), _requirements(opened), installed_parts(Path())))
        _pip("--require-hashes", "-r", str(lock))
    _pip("--no-deps", "--force-reinstall", str(wheel.resolve()))


def _requirements(wheel: zipfile.ZipFile) -> Sequence[str]:
    """Return the requirements in the metadata of a wheel."""
    (metadata,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return email.message_from_bytes(wheel.read(metadata)).get_all("Requires-Dist", [])


def _pip(*words: str, cwd: Path | None = None) -> None:
    done = subprocess.run([*_installer(), *words], check=False, cwd=cwd)  # noqa: S603 - own words, no shell
    if done.returncode:
        raise ConfigError(f"The installation failed (exit code {done.returncode}); nothing in this folder changed.")


def _installer() -> Sequence[str]:
    """Return the command that installs into the environment of this process. Raises ConfigError."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--quiet", "--python", sys.executable]
    raise ConfigError(f"Neither pip nor uv is there to install into the environment of {sys.executable}.")
