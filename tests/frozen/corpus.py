"""The whole corpus as texts by path."""

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from frozen import calls, outputs, sources, state, stories

Text = tuple[str, str]
"""A path in the corpus and its text."""


def texts(folder: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """Make the corpus and return each text by its path.

    `folder` has the texts of `state/` whose runs are projected and continued; without it they are those made now.
    """
    made = dict(_made())
    with TemporaryDirectory() as name:
        return {**made, **dict(state.digests(folder or made, Path(name)))}


def write(folder: Path) -> None:
    """Make the corpus and write it into a folder."""
    for path, text in texts().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())


def _made() -> Iterator[Text]:
    told = stories.stories()
    return chain(
        stories.journals(told),
        stories.questions(told),
        calls.requests(),
        sources.requests(),
        state.made(),
        outputs.schemas(),
        outputs.bundles(),
        outputs.published(),
        outputs.check(),
        outputs.explain(),
    )
