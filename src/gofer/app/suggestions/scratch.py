"""Two scratch checkouts of one commit, without and with the edit. The working tree of the user is never touched."""

import contextlib
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from gofer.app.suggestions.git import Commit
from gofer.evals.answers import FOLDER as ANSWERS
from gofer.evals.load import FOLDER as EVALS

AGENTS = "agents"


@dataclass(frozen=True, slots=True)
class Scratch:
    """The two checkouts."""

    without: Path
    with_edit: Path
    data: Path
    """The folder of the state of the plays."""

    def write(self, files: Mapping[str, bytes], *, only_with: bool = False) -> None:
        """Write files, by their paths, into both checkouts or only into the one with the edit."""
        folders = [self.with_edit]
        if not only_with:
            folders.append(self.without)
        for folder in folders:
            for path, content in files.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content)

    def new_answers(self) -> Mapping[str, bytes]:
        """Return the recorded answers that differ between the checkouts, by path."""
        found = {path.name: path.read_bytes() for path in sorted((self.with_edit / EVALS / ANSWERS).glob("*.json"))}
        before = self.without / EVALS / ANSWERS
        return {
            f"{EVALS}/{ANSWERS}/{name}": content
            for name, content in found.items()
            if not (before / name).is_file() or (before / name).read_bytes() != content
        }


@contextlib.contextmanager
def scratch_of(commit: Commit) -> Generator[Scratch]:
    """Check a commit out twice into a temporary folder until the block ends. Raises ConfigError."""
    with TemporaryDirectory(prefix="gofer-suggest-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        scratch = Scratch(without=home / "without", with_edit=home / "with", data=home / "state")
        for checkout in (scratch.without, scratch.with_edit):
            checkout.mkdir()
            commit.write_files(checkout)
        yield scratch
