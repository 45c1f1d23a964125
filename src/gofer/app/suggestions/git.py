"""Git, as a suggestion uses it: the files of a commit in a scratch folder, and a commit on a new branch.

The working tree, the index and the present branch of the user are never touched, and no hook runs: `git fast-import`
makes the branch.
"""

import os
import subprocess
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from gofer.values.errors import ConfigError

_SECONDS = 60
_MODE = "100644"


@dataclass(frozen=True, slots=True)
class Commit:
    """The commit from which a suggestion begins."""

    root: Path
    """The folder of the workflows' repository, which may be a part of a larger Git repository."""
    id: str

    def write_files(self, folder: Path) -> None:
        """Write the files of the commit below a folder. Raises ConfigError."""
        packed = _git(self.root, "archive", "--format=tar", self.id)
        with tarfile.open(fileobj=BytesIO(packed)) as archive:
            try:
                archive.extractall(folder, filter="data")
            except tarfile.FilterError as error:
                raise ConfigError(
                    f"{error.tarinfo.name} is a link that leads out of the repository ({error.tarinfo.linkname}); a "
                    "suggestion reads and runs committed files only. Replace the link by the file, and commit it."
                ) from error

    def has_branch(self, branch: str) -> bool:
        """Return whether there is a branch of this name, here or among those fetched from another repository."""
        places = (f"refs/heads/{branch}", f"refs/remotes/*/{branch}")
        return bool(_git(self.root, "for-each-ref", "--format=%(objectname)", *places).strip())

    def is_changed(self) -> bool:
        """Return whether files of the working tree differ from the commit."""
        return bool(_git(self.root, "status", "--porcelain", "--untracked-files=no", "--", ".").strip())

    def add_branch(self, branch: str, files: Mapping[str, bytes], message: str) -> str:
        """Commit files, by their paths below the root, on a new branch, and return the id of its commit.

        Raises ConfigError if there is such a branch, or if Git does not know the author.
        """
        if self.has_branch(branch):
            raise ConfigError(f"There is a branch {branch} already; look at it, or delete it with git branch -D.")
        prefix = _git(self.root, "rev-parse", "--show-prefix").decode().strip()
        author = _git(self.root, "var", "GIT_COMMITTER_IDENT").strip()
        parts = [f"commit refs/heads/{branch}\ncommitter ".encode(), author, b"\n", _data(message.encode())]
        parts.append(f"from {self.id}\n".encode())
        for path, content in files.items():
            parts += [f'M {_MODE} inline "{prefix}{path}"\n'.encode(), _data(content)]
        _git(self.root, "fast-import", "--quiet", given=b"".join(parts))
        return _git(self.root, "rev-parse", "--verify", f"refs/heads/{branch}").decode().strip()


def _data(content: bytes) -> bytes:
    """Return content as fast-import reads it."""
    return b"data %d\n%s\n" % (len(content), content)


def commit_of(root: Path) -> Commit:
    """Return the present commit of a folder. Raises ConfigError outside a Git repository and without a commit."""
    return Commit(root, _git(root, "rev-parse", "--verify", "HEAD").decode().strip())


def _git(root: Path, *words: str, given: bytes = b"") -> bytes:
    """Return the output of Git. Raises ConfigError with the first line of its error."""
    try:
        ended = subprocess.run(  # noqa: S603 - Git, without a shell, and no option can be smuggled in
            ["git", "-C", str(root), "-c", f"core.hooksPath={os.devnull}", *words],  # noqa: S607
            input=given,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
        )
    except FileNotFoundError as error:
        raise ConfigError(
            "A suggestion needs Git, with which it tries an edit and makes a branch; install it."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise ConfigError(f"git {words[0]} did not end within {_SECONDS} seconds; try again.") from error
    if ended.returncode:
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        raise ConfigError(
            f"git {words[0]} failed: {next(iter(said), 'no reason given')}. A suggestion needs a Git repository with a "
            "commit and an author (git config user.name and user.email)."
        )
    return ended.stdout
