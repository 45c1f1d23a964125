"""The publication: a bundle of workflow files that a deployment publishes and workers load.

The bundle contains the text of every file, and a worker loads it like a folder. Scripts are code and come with a
deploy.
"""

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from gofer.values.canonical_json import as_object, as_text, encode
from gofer.values.errors import ConfigError, Corrupt, TemporaryError
from gofer.workflows.load import SKILLS, Catalog, read_folder
from gofer.workflows.published import (
    FORMAT,
    Compiled,
    Live,
    bundle_name,
    check_format,
    compiled_from_json,
    encode_compiled,
    json_object,
)
from gofer.workflows.schema import Workflow
from gofer.workflows.subagent import FOLDER as SUBAGENTS

AGENTS = "agents"
FOLDERS = (AGENTS, SUBAGENTS, SKILLS)
"""The published folders; everything else comes with a deploy."""
LIMIT = 20_000_000
"""The most characters of all files together."""


@dataclass(frozen=True, slots=True)
class Publication:
    """The files to publish and the data that Gofer compiled from them."""

    files: Mapping[str, str]
    """The text of each file, by its path in the repository."""
    compiled: Compiled

    @property
    def name(self) -> str:
        """The name of the bundle."""
        return self.compiled.name

    @property
    def sha256(self) -> str:
        """The hash of the content, without the name."""
        return _sha256(self.files, self.compiled)

    def bundle(self) -> bytes:
        """Return the bytes of the bundle."""
        return encode({"name": self.name, **_content(self.files, self.compiled)})

    def routes(self) -> bytes:
        """Return the bytes of the routes file, which receivers and schedules read instead of the bundle."""
        return encode_compiled(self.compiled)


def publication(files: Mapping[str, str], code: Path, at: float, form: type[Workflow]) -> tuple[Publication, Catalog]:
    """Return the publication of some files at a time (unix seconds), and the catalog that they describe.

    `code` is the folder that contains `coordinators/`. Raises ConfigError.
    """
    catalog = _load(files, code, form)
    compiled = Compiled("", catalog.routes(), catalog.hooks, catalog.schedules())
    name = bundle_name(at, _sha256(files, compiled))
    return Publication(files, replace(compiled, name=name)), catalog


def read_files(root: Path) -> Mapping[str, str]:
    """Return the text of every file in the published folders.

    Raises ConfigError for links and files that are not text.
    """
    files: dict[str, str] = {}
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*")):
        name = path.relative_to(root)
        if path.is_symlink():
            raise ConfigError(f"{name} is a link, and links cannot be published; replace the link by the file itself.")
        if not path.is_file() or any(part.startswith(".") for part in name.parts):
            continue
        try:
            files[name.as_posix()] = path.read_bytes().decode()
        except UnicodeDecodeError as error:
            raise ConfigError(
                f"{name} is not UTF-8 text; save it as UTF-8 text, or move it out of the published folders."
            ) from error
    if sum(map(len, files.values())) > LIMIT:
        raise ConfigError(
            f"{', '.join(FOLDERS)} contain more than {LIMIT} characters; remove files that no workflow needs."
        )
    return files


def read_publication(raw: bytes) -> Publication:
    """Return the publication in a bundle's bytes. Raises Corrupt unless they are the bytes that were published."""
    value = json_object(raw, "The bundle")
    name = as_text(value.get("name"))
    files = as_object(value.get("files"))
    check_format(value)
    compiled = compiled_from_json(name, as_object(value.get("compiled")))
    found = Publication({path: as_text(text) for path, text in files.items()}, compiled)
    if found.sha256[:12] != name.rpartition("-")[2] or not all(map(_plain, files)):
        raise Corrupt(f"The bundle {name[:40]} does not match its checksum; publish again, or roll back.")
    return found


def read_catalog(raw: bytes, code: Path, form: type[Workflow]) -> Catalog:
    """Return the catalog in a bundle's bytes, with the scripts of the folder `code`.

    Raises Corrupt, ConfigError, and TemporaryError when there is no disk space to unpack the bundle.
    """
    return _load(read_publication(raw).files, code, form)


@dataclass(frozen=True, slots=True)
class LiveCatalog:
    """The published workflows of a worker, kept up to date while the worker runs."""

    live: Live[Catalog]

    async def holding(self, workflow: str) -> Catalog:
        """Return the live catalog. If it lacks a workflow, reload it: a receiver may have seen a new publication first.

        Raises TemporaryError when no catalog could be loaded so far.
        """
        catalog = await self.live.current()
        if workflow in catalog.workflows:
            return catalog
        return await self.live.look()


def _load(files: Mapping[str, str], code: Path, form: type[Workflow]) -> Catalog:
    """Unpack files into a temporary folder, and load it like a repository."""
    with tempfile.TemporaryDirectory(prefix="gofer-", ignore_cleanup_errors=True) as folder:
        try:
            _unpack(Path(folder), files)
        except OSError as error:
            raise TemporaryError(f"The workflows cannot be unpacked ({error.strerror}).") from error
        return read_folder(Path(folder) / AGENTS, form, code)


def _unpack(root: Path, files: Mapping[str, str]) -> None:
    (root / AGENTS).mkdir()
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def _plain(name: str) -> bool:
    """Return whether a path stays in the published folders."""
    path = PurePosixPath(name)
    return path.as_posix() == name and path.parts[0] in FOLDERS and ".." not in path.parts and "\0" not in name


def _content(files: Mapping[str, str], compiled: Compiled) -> dict[str, object]:
    return {"format": FORMAT, "files": files, "compiled": compiled.to_json()}


def _sha256(files: Mapping[str, str], compiled: Compiled) -> str:
    return hashlib.sha256(encode(_content(files, compiled))).hexdigest()
