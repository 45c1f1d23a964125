"""`python -m same_code BEFORE AFTER`: the map of moves, renames and rewordings between two commits.

Exit code 0 when there are no other changes, 1 when a statement differs in more.
"""

import io
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping

from same_code.pairs import Paired, paired
from same_code.statements import statements

FOLDERS = ("src", "handlers", "deploy", "coordinators", "tests")
_SHOWN = 100
"""Characters of a text that a line of the map shows."""


def sources(revision: str) -> Mapping[str, str]:
    """Return the Python files of a commit by path. Raises CalledProcessError."""
    archive = subprocess.run(["git", "archive", revision], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        return {
            member.name: opened.read().decode()
            for member in files
            if member.name.endswith(".py") and member.name.split("/")[0] in FOLDERS
            if (opened := files.extractfile(member))
        }


def report(found: Paired) -> Iterator[str]:
    """Yield the lines of the map: moves, renames, texts, and other differences."""
    moves = Counter((pair.before.file, pair.after.file) for pair in found.pairs)
    for (was, is_), count in sorted(moves.items()):
        if was != is_:
            yield f"moved     {was} -> {is_} ({count})"
    yield from _renames(found)
    reworded = sum((pair.reworded for pair in found.pairs), Counter())
    for (was, is_), count in sorted(reworded.items()):
        yield f"reworded  {was[:_SHOWN]!r} -> {is_[:_SHOWN]!r} ({count})"
    yield from (f"REMOVED   {one.label}" for one in found.removed)
    yield from (f"ADDED     {one.label}" for one in found.added)


def _renames(found: Paired) -> Iterator[str]:
    names = sum((pair.renamed for pair in found.pairs), Counter())
    kept = Counter({was: count for (was, is_), count in names.items() if was == is_})
    taken = {was for was, _ in names}
    for (was, is_), count in sorted(names.items()):
        if was != is_:
            notes = [f"kept {kept[was]} times"] * bool(kept[was]) + ["a name that was there before"] * (is_ in taken)
            yield f"renamed   {was} -> {is_} ({', '.join([str(count), *notes])})"


def main(before: str, after: str) -> int:
    """Print the map and return the exit code."""
    found = paired(statements(sources(before)), statements(sources(after)))
    for line in report(found):
        print(line)  # noqa: T201
    differing = len(found.removed) + len(found.added)
    print(f"{len(found.pairs)} statements are the same; {differing} are not.")  # noqa: T201
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
