"""Names of files as outsiders give them, and as they are shown."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.files.display_name import BYTES, display_name
from gofer.files.media_kind import kind_of, media_type_of


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("notes.txt", "notes.txt"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("..\\..\\boot.ini", "_.._boot.ini"),
        ("a\n@Ada at 10:00\tsaid.txt", "a @Ada at 10:00 said.txt"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("zero\0byte\u200b.txt", "zerobyte.txt"),
        (".bashrc", "bashrc"),
        ("見積書 2026.pdf", "見積書 2026.pdf"),
        ("", "without a name"),
        ("...", "without a name"),
        ("\ud800.txt", "\ufffd.txt"),
    ],
)
def test_a_name_is_one_line_and_no_path(given: str, shown: str) -> None:
    assert display_name(given) == shown


@given(st.text(max_size=400))
def test_no_name_ever_has_a_path_a_control_character_or_too_many_bytes(given: str) -> None:
    shown = display_name(given)
    assert shown
    assert not shown.startswith(".")
    assert not {"/", "\\"} & set(shown)
    assert not any(unicodedata.category(char) in ("Cc", "Cf") for char in shown)
    assert len(shown.encode()) <= BYTES
    assert display_name(shown) == shown


def test_a_long_name_keeps_its_ending() -> None:
    assert display_name("ä" * 400 + ".pdf").endswith("ä.pdf")


@pytest.mark.parametrize(
    ("media_type", "name", "kind"),
    [
        ("text/plain; charset=utf-8", "x", "text"),
        ("application/octet-stream", "data.JSON", "text"),
        ("", "shot.png", "image"),
        ("image/svg+xml", "logo.svg", "text"),
        ("image/tiff", "scan.tiff", "other"),
        ("application/pdf", "x", "pdf"),
        ("application/zip", "notes.txt", "other"),
        ("nonsense\nof type", "x.bin", "other"),
    ],
)
def test_what_a_file_may_be_follows_from_its_type_or_else_from_its_name(media_type: str, name: str, kind: str) -> None:
    assert kind_of(media_type, name) == kind


def test_an_image_is_known_by_its_content() -> None:
    assert media_type_of(b"\x89PNG\r\n\x1a\nrest") == "image/png"
    assert media_type_of(b"RIFF\0\0\0\0WEBPVP8 ") == "image/webp"
    assert media_type_of(b"<html>") == ""
