"""The media types of files in spans: known types, and no words of an outsider."""

import pytest

from gofer.files.kind import KINDS
from gofer.projections.tracing.media_types import shown_media_type


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_every_type_that_gofer_gives_to_a_file_is_shown(kind: object) -> None:
    media_type = getattr(kind, "media_type", "")
    assert shown_media_type(media_type) == media_type.lower()


@pytest.mark.parametrize(
    ("stated", "shown"),
    [
        ("Text/Plain; charset=utf-8", "text/plain"),
        ("text/the-ceo-is-leaving", "text/*"),
        ("ada.has.been-fired/on-monday", "unknown type"),
        ("ada has been fired", "unknown type"),
        ("", "unknown type"),
    ],
)
def test_words_of_an_outsider_in_a_type_are_not_shown(stated: str, shown: str) -> None:
    assert shown_media_type(stated) == shown
