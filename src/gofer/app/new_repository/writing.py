"""The files of a new repository: the shipped ones, and those that Gofer writes for this company."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distribution, requires
from pathlib import Path
from textwrap import indent
from urllib.parse import unquote, urlsplit

from gofer.app.new_repository.contents import aws_files, pipeline_files, shipped_files
from gofer.app.new_repository.first_run import first_run
from gofer.app.new_repository.locking import OWN_LOCK, is_current, locked, own_lock, own_requirements
from gofer.app.new_repository.shipped import gofer_version, shipped
from gofer.app.whole_files import write_all
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import ConfigError
from gofer.values.parts import PARTS

PRISTINE = ".gofer-init"
"""The folder with the files as Gofer wrote them, and what it was told."""
FACTS = f"{PRISTINE}/init.json"
"""The file with what `gofer init` was asked for."""
LOCK = "requirements.lock"
_NESTED = f"-r {OWN_LOCK}\n".encode()
"""The line by which each installation of the lock also installs the packages of the company."""
_LOCK_OF_TESTS = "requirements-test.lock"
INSTALL = f"Install your packages: `.venv/bin/pip install --require-hashes -r {LOCK}`."
_OF_FORGES = ("README.md", ".gitignore")
"""The files of a new repository on a forge that Gofer writes too."""
PARTS_TO_BEGIN_WITH = ("files", "slack")
"""The parts of Gofer in a new repository that names no others."""
_TEMPLATES = Path(__file__).with_name("files")
_TEMPLATES_AWS = Path(__file__).with_name("files_aws")
_DEPLOY = "| deploy it to AWS | `make install sam`, then follow `.venv/bin/gofer docs deploy` |"
_NO_OWNERS = "# Nobody is named yet. Write people in place of @NAME, and remove the hash:\n# * @NAME"
_OWNER = re.compile(r"@[A-Za-z0-9][A-Za-z0-9-]*(/[\w.-]+)?")
_DEPENDENCY = re.compile(r"""["']gofer(?:\[([^\]]*)\])?\s*==""")
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_LINKS = re.compile(r"^# prompt_links: .*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person wants of a new repository."""

    folder: Path
    workflows: Sequence[str]
    parts: Sequence[str] = PARTS_TO_BEGIN_WITH
    """The parts of Gofer to install, in alphabetical order."""
    repository: str = ""
    """The address of the repository, such as https://git.example.com/acme/gofer; empty if it is not known yet."""
    aws: bool = False
    """Whether the repository deploys to AWS."""
    owners: Sequence[str] = ()
    """The people who accept changes, such as `@ada`; empty if they are not known yet."""


@dataclass(frozen=True, slots=True)
class Written:
    """A new repository."""

    files: Sequence[str]
    """The paths of the files that the company may edit."""
    vendored: bool
    """Whether the wheel of Gofer lies in the repository."""
    kept: Sequence[str]
    """The files of which the earlier text stays above that of Gofer."""


def write_repository(asked: Asked) -> Written:
    """Write a new repository, and keep the texts that a forge puts into an empty one.

    Raises ConfigError, before anything is written, for files that are in the way.
    """
    wheel = local_wheel()
    made = new_files(asked, wheel)
    kept = _kept(asked.folder)
    in_the_way = [path for path in [*made, PRISTINE] if path not in kept and _exists(asked.folder / path)]
    if in_the_way:
        raise ConfigError(
            f"{asked.folder / in_the_way[0]} exists already, and `gofer init` overwrites nothing. Choose a folder that "
            f"is empty or has {' and '.join(_OF_FORGES)} at most; `gofer upgrade` brings a repository to a new version."
        )
    texts = {path: _below(kept.get(path, b""), content) for path, content in made.items()}
    write_all({asked.folder / path: content for path, content in {**texts, **notes(asked, made, wheel)}.items()})
    return Written(list(made), wheel is not None, sorted(kept))


def lock_own_packages(folder: Path) -> Sequence[str]:
    """Write the lock of newly declared packages of a repository; return the paths written. Raises ConfigError."""
    if not (folder / FACTS).is_file() or not own_requirements(folder) or is_current(folder):
        return ()
    lock = (folder / LOCK).read_bytes()
    written = {OWN_LOCK: own_lock(folder), LOCK: lock.removesuffix(_NESTED) + _NESTED}
    write_all({folder / path: content for path, content in written.items()})
    return list(written)


def _exists(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _kept(folder: Path) -> Mapping[str, bytes]:
    """Return the texts that a forge put into a new repository, by the path of the file that Gofer writes too."""
    places = {name: folder / name for name in _OF_FORGES}
    return {name: place.read_bytes() for name, place in places.items() if place.is_file() and not place.is_symlink()}


def _below(kept: bytes, written: bytes) -> bytes:
    """Return the text of Gofer below the one that was there."""
    if not kept:
        return written
    return kept.rstrip() + b"\n\n" + written


def notes(asked: Asked, made: Mapping[str, bytes], wheel: Path | None) -> Mapping[str, bytes]:
    """Return the files for upgrades by their paths: those that were made, what was asked, and the wheel of Gofer."""
    pristine = {f"{PRISTINE}/files/{path}": content for path, content in made.items()}
    vendored: dict[str, bytes] = {}
    if wheel is not None:
        vendored[f"vendor/{wheel.name}"] = wheel.read_bytes()
    return {**pristine, FACTS: _facts(asked), **vendored}


def _facts(asked: Asked) -> bytes:
    """Return the version of Gofer and what was asked, as JSON."""
    facts = {
        "gofer": gofer_version(),
        "workflows": list(asked.workflows),
        "parts": list(asked.parts),
        "repository": asked.repository,
        "aws": asked.aws,
        "owners": list(asked.owners),
    }
    return f"{json.dumps(facts, indent=2)}\n".encode()


def new_files(asked: Asked, wheel: Path | None) -> Mapping[str, bytes]:
    """Return the content of each file of a new repository by its path. Raises ConfigError."""
    made = {**shipped_files(shipped(), asked.workflows), **pipeline_files(shipped())}
    if asked.aws:
        made |= aws_files(shipped())
    if asked.repository:
        made["agents/defaults.yaml"] = _with_links(made["agents/defaults.yaml"], asked.repository)
    values = {
        "name": _name(asked.folder),
        "version": gofer_version(),
        "parts": f"[{','.join(asked.parts)}]" if asked.parts else "",
        "first": asked.workflows[0],
        "install": _install(wheel),
        "image_install": _image_install(wheel),
        "deploy": _DEPLOY if asked.aws else "",
        "try_it": first_run(shipped(), asked.workflows[0]),
        "owners": f"* {' '.join(asked.owners)}" if asked.owners else _NO_OWNERS,
    }
    for path, template in _templates(asked):
        made[path] = _filled(template, values)
    made[LOCK] = _lock(wheel, asked.parts)
    if own_requirements(asked.folder):
        made[OWN_LOCK] = own_lock(asked.folder)
        made[LOCK] += _NESTED
    made[_LOCK_OF_TESTS] = locked(_shipped_lock("dev"), ["pytest"], ()).encode()
    return made


def _templates(asked: Asked) -> Iterator[tuple[str, str]]:
    """Yield path and template of each file that Gofer writes; `dot_` stands for a dot, and `.template` is dropped."""
    for folder in (_TEMPLATES, _TEMPLATES_AWS) if asked.aws else (_TEMPLATES,):
        for template in sorted(path for path in folder.rglob("*") if path.is_file()):
            path = template.relative_to(folder).as_posix()
            yield re.sub(r"(^|/)dot_", r"\1.", path).removesuffix(".template"), template.read_text(encoding="utf-8")


def _filled(template: str, values: Mapping[str, str]) -> bytes:
    """Return a template with its values. A value that is alone in its line may have several lines."""
    lines: list[str] = []
    for line in template.splitlines():
        name = line.strip().strip("{}")
        if line.strip() == f"{{{name}}}" and name in values:
            lines.append(indent(values[name], line[: line.index("{")]))
        else:
            lines.append(_PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), line))
    return ("\n".join(lines) + "\n").encode()


def _name(folder: Path) -> str:
    """Return the name of the repository as Python packages may be named."""
    return re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-") or "gofer-agents"


def _with_links(defaults: bytes, repository: str) -> bytes:
    links = f"prompt_links: {repository.rstrip('/').removesuffix('.git')}/blob/main/{{file}}"
    return _LINKS.sub(links, defaults.decode()).encode()


def _install(wheel: Path | None) -> str:
    lines = ["python3 -m venv .venv", f".venv/bin/pip install --quiet --require-hashes -r {LOCK}"]
    if wheel is None:
        lines.append(f".venv/bin/pip install --quiet --no-deps gofer=={gofer_version()}")
    return "\n".join(lines)


def _image_install(wheel: Path | None) -> str:
    """Return the instructions that install Gofer into /opt/gofer of an image."""
    pip = "pip --python /opt/gofer install --no-cache-dir"
    locked = f"RUN python -m venv --without-pip /opt/gofer \\\n && {pip} --require-hashes -r {LOCK}"
    copied = "COPY requirements*.lock ./"
    if wheel is None:
        return f"{copied}\n{locked} \\\n && {pip} --no-deps gofer=={gofer_version()}"
    return f"{copied}\nCOPY vendor vendor\n{locked}"


def _lock(wheel: Path | None, parts: Sequence[str]) -> bytes:
    """Return the lock of the libraries of some parts, and of the vendored wheel, with hashes and without addresses."""
    text = locked(_shipped_lock("runtime"), requires("gofer") or (), parts)
    if wheel is not None:
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        text += f"./vendor/{wheel.name} \\\n    --hash=sha256:{digest}\n"
    return text.encode()


def _shipped_lock(name: str) -> str:
    return (shipped() / "locks" / f"{name}.lock").read_text(encoding="utf-8")


def named_owners(names: str) -> Sequence[str]:
    """Return the owners in a text with names separated by commas. Raises ConfigError for other texts."""
    owners = [f"@{name.strip().removeprefix('@')}" for name in names.split(",") if name.strip()]
    for owner in owners:
        if not _OWNER.fullmatch(owner):
            raise ConfigError(f"{owner!r} is no name on GitHub; write people like @ada, or a team like @acme/support.")
    return owners


def installed_parts(folder: Path) -> Sequence[str]:
    """Return the parts of Gofer that `pyproject.toml` names; all parts without that file."""
    try:
        text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    except OSError:
        return sorted(PARTS)
    named = _DEPENDENCY.search(text)
    if named is None:
        return sorted(PARTS)
    return chosen_parts(named[1] or "")


def chosen_parts(names: str) -> Sequence[str]:
    """Return the parts in a text with names separated by commas. Raises ConfigError for an unknown name."""
    parts = sorted({name.strip() for name in names.split(",")} - {""})
    if "all" in parts:
        return sorted(PARTS)
    for part in parts:
        if part not in PARTS:
            raise ConfigError(f"Gofer has no part {part!r}. It has: {', '.join(sorted(PARTS))}.")
    return parts


def local_wheel() -> Path | None:
    """Return the wheel that this Gofer was installed from, if it is a file that still exists."""
    origin = distribution("gofer").read_text("direct_url.json")
    if origin is None:
        return None
    url = urlsplit(as_text(as_object(json.loads(origin)).get("url")))
    path = Path(unquote(url.path))
    if url.scheme == "file" and path.suffix == ".whl" and path.is_file():
        return path
    return None
