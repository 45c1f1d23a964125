"""The Git repository of the files that are played: its commit, and the files that changed since another commit."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gofer.values.errors import ConfigError

_SECONDS = 30


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
    base = _git(root, "merge-base", "--end-of-options", reference, "HEAD")
    if base is None:
        raise ConfigError("--changed needs Git; install it, or name the cases.")
    if base.returncode:
        raise ConfigError(
            f"Git knows no common commit of {reference!r} and the present one; fetch the branch with its history."
        )
    changed = _git(root, "diff", "--name-only", "-z", "--relative", base.stdout.strip())
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    outputs = [answer.stdout for answer in (changed, new) if answer is not None]
    return sorted({path for output in outputs for path in output.split("\0") if path})


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
