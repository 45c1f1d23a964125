"""The likely kind of a file before its download, by its declared type and name."""

import pytest

from gofer.files.kind import charset_of, likely, with_charset


@pytest.mark.parametrize(
    ("media_type", "name", "is_likely"),
    [
        ("text/plain; charset=utf-8", "x", "text"),
        ("application/octet-stream", "data.JSON", "text"),
        ("", "shot.png", "image"),
        ("image/svg+xml", "logo.svg", "text"),
        ("image/vnd.adobe.photoshop", "scan.psd", "other"),
        ("application/pdf", "x", "pdf"),
        ("application/zip", "notes.txt", "other"),
        ("nonsense\nof type", "x.bin", "other"),
        ("", "", "other"),
    ],
)
def test_likely_file_kind_follows_the_media_type_or_else_the_name(media_type: str, name: str, is_likely: str) -> None:
    assert likely(media_type, name) == is_likely


def test_charset_declared_by_a_server_is_kept_with_the_media_type_of_a_text() -> None:
    assert with_charset("text/csv", 'text/csv; charset="Shift_JIS"') == "text/csv; charset=shift_jis"
    assert with_charset("application/pdf", "application/pdf; charset=latin-1") == "application/pdf"
    assert with_charset("text/csv", "text/csv") == "text/csv"
    assert with_charset("text/csv", "text/csv; charset=UTF-8") == "text/csv"
    assert charset_of("text/csv; header=present; charset=gb18030") == "gb18030"
