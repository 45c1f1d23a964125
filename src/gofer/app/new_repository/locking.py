"""The locks of a repository: exactly the libraries of the chosen parts, with hashes and without addresses.

The lock that Gofer ships has the libraries of all parts. The comments of a lock say which library asks for which. The
packages that `pyproject.toml` declares besides Gofer have a lock of their own, which uv makes to fit to that of Gofer.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from gofer.app.new_repository.shipped import gofer_version, shipped
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ConfigError

OWN_LOCK = "requirements-own.lock"
"""The lock of the packages that a company's tools and scripts need, with everything that those need."""

_BLOCK = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==.*\n(?:[ \t]+.*\n)*", re.MULTILINE)
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)")
_EXTRA = re.compile(r"""extra == ['"]([a-z]+)['"]""")


def locked(lock: str, requirements: Sequence[str], parts: Sequence[str]) -> str:
    """Return the part of a lock that the chosen parts need.

    `lock` is a lock of all parts, and `requirements` are those in the metadata of Gofer, such as
    `boto3>=1.44; extra == "aws"`.
    """
    blocks = {name: list(texts) for name, texts in _blocks(lock).items()}
    asked_by = {name: _asked_by("".join(texts)) for name, texts in blocks.items()}
    needed = {_plain(name) for name in _roots(requirements, parts)} & blocks.keys()
    while further := {name for name in blocks if name not in needed and asked_by[name] & needed}:
        needed |= further
    return "".join(_without_comments(text) for name in sorted(needed) for text in blocks[name])


def own_requirements(folder: Path) -> Sequence[str]:
    """Return what `pyproject.toml` of a company declares besides Gofer. Raises ConfigError."""
    project = _project(folder)
    if project.get("name") == "gofer":
        # A checkout of Gofer has the locks that Gofer ships.
        return ()
    declared = [str(item) for item in as_list(project.get("dependencies"))]
    return [item for item in declared if _plain("".join(_REQUIREMENT.findall(item))) != "gofer"]


def own_lock(folder: Path) -> bytes:
    """Return the lock of the packages that a company declares, as it is if it still fits. Raises ConfigError."""
    lock = folder / OWN_LOCK
    if is_current(folder):
        return lock.read_bytes()
    wanted = own_requirements(folder)
    with TemporaryDirectory() as name:
        made = Path(name, OWN_LOCK)
        if lock.is_file():
            # Versions that still fit stay. uv would look for a folder of wheels beside the copy.
            kept = re.sub(r"^--.*\n", "", lock.read_text(encoding="utf-8"), flags=re.MULTILINE)
            made.write_text(kept, encoding="utf-8")
        _compile(folder, wanted, made)
        return f"{_first_line(wanted)}\n{made.read_text(encoding='utf-8')}".encode()


def _compile(folder: Path, wanted: Sequence[str], made: Path) -> None:
    """Let uv write the lock of some packages to a path, with the versions that stand there if they fit."""
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv is None:
        raise ConfigError(f"uv is not here, which locks {wanted[0]} of pyproject.toml: install it, as with pip.")
    minimum = re.search(r">=\s*(\d+\.\d+)", as_text(_project(folder).get("requires-python")))
    words = [uv, "pip", "compile", "--quiet", "--universal", "--generate-hashes"]
    words += ["--no-header", "--no-annotate", "--emit-find-links"]
    words += ["--python-version", minimum[1] if minimum else "3.11", "--output-file", str(made)]
    words += ["--constraints", str(shipped() / "locks" / "runtime.lock"), "-"]
    done = subprocess.run(  # noqa: S603 - own words, no shell
        words, input="\n".join(wanted), text=True, check=False, cwd=folder, stdout=subprocess.DEVNULL
    )
    if done.returncode:
        raise ConfigError(
            f"uv says above why {', '.join(wanted)} cannot be locked beside Gofer {gofer_version()}: correct "
            "`dependencies` in pyproject.toml."
        )


def is_current(folder: Path) -> bool:
    """Return whether the lock of a company's packages is that of its `pyproject.toml` and of this Gofer."""
    lock = folder / OWN_LOCK
    return lock.is_file() and lock.read_text(encoding="utf-8").startswith(f"{_first_line(own_requirements(folder))}\n")


def _first_line(wanted: Sequence[str]) -> str:
    return f"# `gofer upgrade` made this beside Gofer {gofer_version()} for: {', '.join(wanted)}"


def _project(folder: Path) -> Mapping[str, object]:
    try:
        return as_object(tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")).get("project"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ConfigError(f"pyproject.toml cannot be read: {error}.") from error


def _blocks(lock: str) -> Mapping[str, Sequence[str]]:
    """Return the entries of each library; several entries hold for different platforms."""
    found: dict[str, list[str]] = {}
    for block in _BLOCK.finditer(lock):
        found.setdefault(_plain(block["name"]), []).append(block[0])
    return found


def _asked_by(block: str) -> frozenset[str]:
    """Return the libraries that ask for the library of an entry."""
    _, _, comment = block.partition("# via")
    return frozenset(_plain(word) for word in re.findall(r"[A-Za-z0-9._-]+", comment))


def _roots(requirements: Sequence[str], parts: Sequence[str]) -> Iterator[str]:
    """Yield the names of the libraries that Gofer itself asks for."""
    for requirement in requirements:
        extra = _EXTRA.search(requirement)
        name = _REQUIREMENT.match(requirement)
        if name is not None and (extra is None or extra[1] in parts):
            yield name[1]


def _without_comments(block: str) -> str:
    return "".join(line for line in block.splitlines(keepends=True) if not line.lstrip().startswith("#"))


def _plain(name: str) -> str:
    """Return a name as package registries compare names."""
    return re.sub(r"[-_.]+", "-", name).lower()
