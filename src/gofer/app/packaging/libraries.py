"""The libraries of a package: those of a lock, without the files that no function reads."""

import importlib.metadata
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath

from gofer.app.packaging.archive import files
from gofer.values.errors import ConfigError

PYTHON, PLATFORM = "3.13", "aarch64-manylinux_2_34"
"""The interpreter and the platform of Lambda's runtime: python3.13 on Amazon Linux 2023, arm64."""
SERVICES = ("dynamodb", "s3", "sqs", "ssm", "sts")
"""The services that botocore keeps with their descriptions. All 400 would be most of a package. Receivers need none."""
UNREAD = {".c", ".cpp", ".h", ".hpp", ".pxd", ".pxi", ".pyi", ".pyx"}
"""The suffixes of library files for compilers and editors, which are left out."""
PROGRAMS = ("monty",)
"""The programs of libraries that Gofer starts, found below `bin/`: the interpreter of the sandbox."""
Take = Callable[[str, str], object]
"""Copies or links a file to another path."""
_NO_WHEEL = (
    f" If it names a package of your pyproject.toml without a wheel for Python {PYTHON} on Linux for arm64, declare "
    "another version or package there, and run `gofer upgrade`."
)
_LOCKED = re.compile(r"^([a-z0-9._-]+)==(\S+)( ;)?", re.MULTILINE)


def locked(lock: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield name, version, and whether it is for some platforms only, of each library in a lock file."""
    for name, version, marker in _LOCKED.findall(lock.read_text(encoding="utf-8")):
        yield name, version, bool(marker)


def install(locks: Sequence[Path], target: Path, services: Sequence[str], uv: str, *, platform: str = PLATFORM) -> None:
    """Install the locked libraries into a folder with the program `uv`; with an empty platform, for this machine.

    Raises ConfigError.
    """
    words = [uv, "pip", "install", "--quiet", "--target", str(target), "--python-version", PYTHON]
    words += ["--only-binary", ":all:", "--no-deps", "--require-hashes"]
    words += [word for lock in locks for word in ("-r", str(lock))]
    if platform:
        words += ["--python-platform", platform]
    # The hashes are locked, so cached files are the right ones. If all are cached, no network is needed.
    if subprocess.run([*words, "--offline"], capture_output=True, check=False).returncode:  # noqa: S603 - own words
        _run(words, hint=_NO_WHEEL if locks[1:] else "")
    _prune(target, services)


def copy_installed(lock: Path, target: Path, services: Sequence[str], take: Take) -> None:
    """Copy the locked libraries from this interpreter, without a registry or network. Raises ConfigError."""
    versions = {name: set[str]() for name, _, _ in locked(lock)}
    for name, version, _ in locked(lock):
        versions[name].add(version)
    created = set[PurePath]()
    for name, _, is_optional in locked(lock):
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError as error:
            if is_optional:
                continue
            raise ConfigError(f"{name} is not installed; install Gofer with its part `aws`, by its lock.") from error
        if found.version not in versions[name]:
            raise ConfigError(f"{name} is installed as {found.version}, and {lock.name} has another; install the lock.")
        for file in found.files or ():
            # An interpreter has its programs beside the libraries. A package has them in `bin/` below the libraries.
            path = PurePath(file)
            if file.parent.parts[-2:] == ("..", "bin"):
                path = PurePath("bin", file.name)
            if ".." in path.parts or "__pycache__" in path.parts or _is_left_out(path, services):
                continue
            if path.parent not in created:
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                created.add(path.parent)
            take(str(file.locate()), str(target / path))


def check_program(uv: str) -> None:
    """Raise ConfigError if the program that installs libraries is not here."""
    if shutil.which(uv) is None:
        raise ConfigError(f"The program {uv} is not here, which installs libraries for Lambda; run `make sam`.")


def interpreter(uv: str) -> str:
    """Return the path of the interpreter that makes bytecode for Lambda. Raises ConfigError if it is not here."""
    words = [uv, "python", "find", PYTHON]
    found = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - own words
    if found.returncode:
        raise ConfigError(
            f"Bytecode for Lambda is made by Python {PYTHON}, which is not here; run `{uv} python install {PYTHON}`."
        )
    return found.stdout.strip()


def _prune(target: Path, services: Sequence[str]) -> None:
    for path in files(target):
        if _is_left_out(path.relative_to(target), services):
            path.unlink()
    for folder in sorted((path for path in target.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


def _is_left_out(path: PurePath, services: Sequence[str]) -> bool:
    """Return whether a package leaves out a library file, by its path in the package."""
    match path.parts:
        case ("bin", program):
            return program not in PROGRAMS
        case ("botocore", "data", service, _, *_):
            return service not in services
        case _:
            return path.suffix in UNREAD


def _run(words: Sequence[str], hint: str) -> None:
    if code := subprocess.run(words, check=False).returncode:  # noqa: S603 - own words, no shell
        raise ConfigError(f"`{' '.join(words[:3])} …` failed with exit code {code}; its output is above.{hint}")
