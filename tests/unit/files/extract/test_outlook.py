"""Outlook messages (.msg): headers, text in Unicode and code pages, attachments."""

import struct

import pytest

from gofer.files.extract import outlook
from gofer.files.kind import kind_of
from gofer.values.errors import ToolError
from support.documents.ole_files import Tree, ole

SENT = struct.pack("<HHIQ", 0x40, 0x0039, 6, 133_800_000_000_000_000)
HEAD = bytes(32)


def wide(number: str, text: str) -> dict[str, bytes]:
    return {f"__substg1.0_{number}001F": text.encode("utf-16-le")}


def message(**more: "bytes | Tree") -> dict[str, "bytes | Tree"]:
    return {
        "__properties_version1.0": HEAD + SENT,
        **wide("0C1A", "Ana Müller"),
        **wide("5D01", "ana@example.com"),
        **wide("0E04", "team@example.com"),
        **wide("0037", "日報 and Größe"),
        **more,
    }


def test_msg_has_headers_text_attachments_and_the_forwarded_message() -> None:
    inner = {"__properties_version1.0": bytes(24), **wide("0037", "Before"), **wide("1000", "The first one.")}
    data = ole(
        message(
            **wide("1000", "Hallo ä\r\n"),
            **{
                "__attach_version1.0_#00000000": {
                    **wide("3707", "../../a\u202efdp.exe"),
                    "__substg1.0_37010102": b"abc",
                },
                "__attach_version1.0_#00000001": {"__substg1.0_3701000D": inner},
            },
        )
    )
    assert kind_of(data).name == "msg"
    assert outlook.read(data) == (
        "From: Ana Müller <ana@example.com>\nTo: team@example.com\nDate: 2024-12-30 02:40 UTC\n"
        "Subject: 日報 and Größe\n\nHallo ä\n\n[forwarded message]\nSubject: Before\n\nThe first one.\n\n"
        "[attachments; their contents are not part of this text]\n- afdp.exe (3 bytes)"
    )


def test_msg_with_html_only_is_read_as_a_page() -> None:
    data = ole(message(**{"__substg1.0_10130102": b"<ul><li>na\xefve</ul>"}))
    assert outlook.read(data).endswith("\n\n- naïve")


def test_msg_text_is_read_in_the_declared_code_page() -> None:
    page = struct.pack("<HHIQ", 3, 0x3FFD, 6, 1251)
    data = ole({"__properties_version1.0": HEAD + page, "__substg1.0_1000001E": "Склад, да".encode("cp1251")})
    assert outlook.read(data) == "Склад, да"


def test_msg_without_readable_text_says_so() -> None:
    assert outlook.read(ole(message(**{"__substg1.0_10090102": b"LZFu"}))).endswith("save it as .eml and send that.)")
    assert outlook.read(ole(message())).endswith("(The e-mail has no text.)")


def test_damaged_msg_is_refused() -> None:
    with pytest.raises(ToolError, match="The Outlook message is damaged"):
        outlook.read(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100))
