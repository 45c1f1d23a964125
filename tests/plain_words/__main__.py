"""`python -m plain_words BEFORE AFTER`: the measures of two commits side by side, as a Markdown table."""

import io
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping

from plain_words import measures
from plain_words.measures import Measured, measured

ROWS: Mapping[str, tuple[Callable[[Measured], str], str]] = {
    "parallel assignments, per 1,000 lines": (lambda m: f"{m.per_1000_lines(measures.PARALLEL):.1f}", "at most 1"),
    "conditional expressions, per 1,000 lines": (
        lambda m: f"{m.per_1000_lines(measures.CONDITIONAL):.1f}",
        "at most 10",
    ),
    "nested conditional expressions": (lambda m: str(m.counts[measures.NESTED]), "0"),
    "assignment expressions `:=`, per 1,000 lines": (lambda m: f"{m.per_1000_lines(measures.WALRUS):.1f}", "-"),
    "modules under 50 lines": (lambda m: f"{100 * m.short_modules / m.modules:.0f} %", "-"),
    "indefinite pronouns, per 1,000 words of docstrings": (
        lambda m: f"{m.pronouns_per_1000_words():.1f}",
        "at most 1.5",
    ),
    "module docstrings that are questions": (
        lambda m: f"{100 * m.counts[measures.QUESTION] / m.modules:.0f} %",
        "0",
    ),
    "docstrings that only say See X.y": (lambda m: str(m.counts[measures.REFERENCE]), "0"),
    "tests, and names that leave the feature to a pronoun": (lambda m: f"{m.tests:,}, {m.unclear_tests:,}", "falls"),
    "words of README.md": (lambda m: f"{m.document_words['README.md']:,}", "-"),
    "words of docs/, without the decisions": (lambda m: f"{m.document_words['docs/']:,}", "-"),
    "words of the decisions": (lambda m: f"{m.document_words['docs/decisions/']:,}", "-"),
}
"""Each measure with its figure and what `tests/architecture/test_style.py` keeps of it."""


def texts(revision: str) -> Mapping[str, str]:
    """Return the Python and Markdown files of a commit by path. Raises CalledProcessError."""
    archive = subprocess.run(["git", "archive", revision], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        return {
            member.name: opened.read().decode()
            for member in files
            if member.name.endswith((".py", ".md")) and not member.name.startswith("tests/broken/")
            if (opened := files.extractfile(member))
        }


def table(before: Measured, after: Measured) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| measure | before | after | kept by a test |"
    yield "|---|---|---|---|"
    for name, (figure, kept) in ROWS.items():
        yield f"| {name} | {figure(before)} | {figure(after)} | {kept} |"


def main(arguments: list[str]) -> int:
    """Print the table of two commits; exit with 2 for any other number of arguments."""
    if len(arguments) != 2:
        sys.stderr.write("Name two commits: python -m plain_words BEFORE AFTER\n")
        return 2
    before, after = (measured(texts(revision)) for revision in arguments)
    sys.stdout.writelines(f"{line}\n" for line in table(before, after))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
