"""The Git repository of the files that are played: its commit, and the files before the change that is played."""

import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gofer.app.evals.current_files import file_version
from gofer.check.dead_names import HISTORY, Former, former_names
from gofer.evals.affected import FileVersion
from gofer.evals.prompt_texts import AGENTS, PromptText, prompt_texts
from gofer.sources.workflow_files import load_catalog
from gofer.tools.company import load_company
from gofer.values.errors import ConfigError

_SECONDS = 30
_COMMITS = 2_000
"""The most commits whose changes are read."""
_FOLDERS = (AGENTS, "coordinators", "skills", "subagents", "tools")
"""The folders with files of workflows."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """The commit of a folder."""

    commit: str = ""
    """Empty outside a repository."""
    changed: bool = False
    """Whether the files differ from the commit."""


def checkout_of(root: Path) -> Checkout:
    """Return the commit of a folder; an empty one outside a repository or without Git. Never raises."""
    commit = _git(root, "rev-parse", "HEAD")
    if commit is None or commit.returncode:
        return Checkout()
    status = _git(root, "status", "--porcelain", "--", ".")
    changed = status is not None and bool(status.stdout.strip())
    return Checkout(commit.stdout.strip(), changed)


def changed_paths(root: Path, reference: str) -> Sequence[str]:
    """Return the files that differ from the commit at which this branch left `reference`, and new files.

    The paths are relative to `root`, with `/`. Raises ConfigError for an unknown reference.
    """
    base = _base(root, reference)
    changed = _git(root, "diff", "--name-only", "-z", "--relative", base)
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    outputs = [answer.stdout for answer in (changed, new) if answer is not None]
    return sorted({path for output in outputs for path in output.split("\0") if path})


def text_before(root: Path, reference: str, path: str) -> str:
    """Return a file at the commit at which this branch left `reference`; empty for a new file. `path` is below `root`.

    Raises ConfigError for an unknown reference.
    """
    answer = _git(root, "show", f"{_base(root, reference)}:./{path}")
    if answer is None or answer.returncode:
        return ""
    return answer.stdout


@dataclass(frozen=True, slots=True)
class FilesBefore:
    """The workflow files at the commit at which this branch left another one."""

    files: FileVersion = field(default_factory=lambda: FileVersion({}))
    texts: Sequence[PromptText] = ()


def files_before(root: Path, reference: str) -> FilesBefore:
    """Return the workflow files at the commit at which this branch left `reference`.

    It has none if there were no workflows, or if they had mistakes, because then no run began with them. Raises
    ConfigError for an unknown reference.
    """
    base = _base(root, reference)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        _extract(root, base, folder)
        try:
            catalog = load_catalog(folder / AGENTS)
            files = file_version(catalog, load_company(folder))
            return FilesBefore(files, prompt_texts(folder, catalog, files.bundles))
        except ConfigError:
            return FilesBefore()


def _extract(root: Path, commit: str, folder: Path) -> None:
    """Write the workflow files of a commit into a folder."""
    listed = _git(root, "ls-tree", "--name-only", "-z", commit)
    names = [name for name in _FOLDERS if listed is not None and name in listed.stdout.split("\0")]
    archive = folder / "files.tar"
    packed = None
    if names:
        packed = _git(root, "archive", "--format=tar", f"--output={archive}", commit, *names)
    if packed is not None and not packed.returncode:
        # Links out of the folder are left out.
        with tarfile.open(archive, errorlevel=0) as files:
            files.extractall(folder, filter="data")


def former(root: Path) -> Former:
    """Return the names that tools, skills and subagents had in the last commits; none outside a repository."""
    # The settings of a person must not change the form of the output.
    form = ("-p", "-U0", "--format=", "--no-color", "--no-renames", "--no-ext-diff", "--no-textconv", "--relative")
    prefixes = ("--src-prefix=a/", "--dst-prefix=b/")
    answer = _git(root, "log", *form, *prefixes, f"--max-count={_COMMITS}", "--", *HISTORY)
    if answer is None or answer.returncode:
        return Former()
    return former_names(answer.stdout)


def _base(root: Path, reference: str) -> str:
    """Return the commit at which this branch left `reference`. Raises ConfigError."""
    base = _git(root, "merge-base", "--end-of-options", reference, "HEAD")
    if base is None:
        raise ConfigError("--changed needs Git; install it, or name the cases.")
    if base.returncode:
        raise ConfigError(
            f"Git knows no common commit of {reference!r} and the present one; fetch the branch with its history."
        )
    return base.stdout.strip()


def _git(root: Path, *words: str) -> subprocess.CompletedProcess[str] | None:
    """Return the answer of Git; None if it is not installed or does not end."""
    try:
        return subprocess.run(  # noqa: S603 - Git, without a shell, and no option can be smuggled in
            ["git", "-C", str(root), *words],  # noqa: S607
            capture_output=True,
            check=False,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=_SECONDS,
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
