"""Plain texts of any encoding, and e-mails with their attachments."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.files.decoder import decoded
from gofer.files.extract import mail, plain
from gofer.values.errors import ToolError

TEXTS = {
    "shift_jis": "これは日本語の文章です。漢字とカタカナもあります。",
    "euc_jp": "これは日本語の文章です。漢字とカタカナもあります。",
    "gb18030": "这是一个中文的文件，说明了系统的主要功能。",
    "big5": "這是一個中文的文件，說明了系統的主要功能。",
    "euc_kr": "안녕하세요. 이것은 한국어 문서입니다.",
    "cp1251": "Это документ на русском языке, и в нём есть слова.",
    "koi8_r": "Это документ на русском языке, и в нём есть слова.",
    "cp1252": "Voilà un café à Zürich, für 3 € – “très bien”.",
    "utf-16": "Größe und 日本語",
    "utf-16-le": "Plain words with ü in them",
    "utf-8-sig": "Größe",
    "utf-32": "Größe",
}


@pytest.mark.parametrize("encoding", TEXTS)
def test_plain_text_is_read_in_the_encoding_of_the_file(encoding: str) -> None:
    assert plain.read(TEXTS[encoding].encode(encoding)) == TEXTS[encoding]


@given(st.text())
def test_plain_text_in_utf_8_is_never_taken_for_another_encoding(text: str) -> None:
    raw = text.encode("utf-8", "replace")
    if b"\0" not in raw and b"\x1b" not in raw and not raw.startswith((b"\xff", b"\xfe", b"\xef")):
        assert decoded(raw) == raw.decode()


@given(st.binary(max_size=300))
def test_plain_text_reader_returns_text_or_a_refusal_for_any_bytes(data: bytes) -> None:
    try:
        text = plain.read(data)
    except ToolError as error:
        text = error.message_to_model
    assert "\0" not in text


def test_plain_text_with_a_broken_character_keeps_the_others() -> None:
    assert plain.read("Größe, naïve, 日本語 ".encode() * 20 + b"\xff end").endswith("日本語 \ufffd end")


def test_plain_text_has_line_feeds_and_no_control_characters() -> None:
    assert plain.read(b"a\r\nb\rc\x1b[31m\x07d\te") == "a\nb\nc[31md\te"


MESSAGE = (
    "From: Ana <ana@example.com>\r\nTo: team@example.com\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n"
    "Date: Mon, 2 Mar 2026 10:00:00 +0100\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=X\r\n\r\n"
    "--X\r\nContent-Type: multipart/alternative; boundary=Y\r\n\r\n"
    "--Y\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nSGFsbG8gw6Q=\r\n"
    "--Y\r\nContent-Type: text/html\r\n\r\n<p>Other</p>\r\n--Y--\r\n"
    "--X\r\nContent-Type: application/pdf\r\n"
    'Content-Disposition: attachment; filename="../../etc/\u202efdp.exe"\r\n\r\nabc\r\n'
    "--X\r\nContent-Type: message/rfc822\r\n\r\n"
    "From: Bo <bo@example.com>\r\nSubject: Before\r\n\r\nThe first one.\r\n--X--\r\n"
)


def test_mail_has_headers_text_attachments_and_the_forwarded_message() -> None:
    assert mail.read(MESSAGE.encode()) == (
        "From: Ana <ana@example.com>\nTo: team@example.com\nDate: Mon, 02 Mar 2026 10:00:00 +0100\nSubject: Grüße\n\n"
        "Hallo ä\n\n[forwarded message]\nFrom: Bo <bo@example.com>\nSubject: Before\n\nThe first one.\n\n"
        "[attachments; their contents are not part of this text]\n- fdp.exe (application/pdf, 3 bytes)"
    )


def test_mail_with_html_only_is_read_as_a_page() -> None:
    raw = b"From: a@b.c\r\nContent-Type: text/html; charset=windows-1252\r\n\r\n<ul><li>na\xefve</ul><script>x</script>"
    assert mail.read(raw) == "From: a@b.c\n\n- naïve"


def test_mail_without_text_says_so() -> None:
    assert mail.read(b"From: a@b.c\r\nSubject: hi\r\n\r\n").endswith("(The e-mail has no text.)")


@pytest.mark.parametrize("raw", [b"no headers at all", b"\xff\xfe", b"X: y\r\n\r\nbody"])
def test_text_without_mail_headers_is_refused_as_mail(raw: bytes) -> None:
    with pytest.raises(ToolError, match="neither who wrote it nor to whom"):
        mail.read(raw)


headers = st.sampled_from(
    [
        "From: a@b",
        "Content-Type: multipart/mixed; boundary=X",
        "--X",
        "",
        "Content-Type: text/html; charset=nosuch",
        "body",
        "Content-Transfer-Encoding: base64",
        "--X--",
        "Subject: =?x?q?=FF?=",
        "Content-Type: message/rfc822",
        "Date: never",
        "To: <<>",
    ]
)


@given(st.lists(headers, max_size=25))
def test_mail_of_any_form_is_read(parts: list[str]) -> None:
    assert mail.read("\r\n".join(["From: a@b", *parts]).encode())


def mixed(*parts: str, kind: str = "mixed") -> bytes:
    body = "".join(f"--q\r\n{part}\r\n" for part in parts)
    return f"From: a@b.c\r\nContent-Type: multipart/{kind}; boundary=q\r\n\r\n{body}--q--\r\n".encode()


def test_mail_text_before_and_after_an_attachment_is_read() -> None:
    text = mail.read(
        mixed(
            "Content-Type: text/plain\r\n\r\nBefore",
            "Content-Type: image/png; name=a.png\r\n\r\nx",
            "Content-Type: text/plain\r\n\r\nBehind",
            "Content-Type: text/html\r\n\r\n<p>At <b>last</b></p>",
            "Content-Type: text/plain\r\nContent-Disposition: attachment; filename=n.txt\r\n\r\nNotes",
        )
    )
    assert text.startswith("From: a@b.c\n\nBefore\n\nBehind\n\nAt last\n\n[attachments;")
    assert text.endswith("- a.png (image/png, 1 bytes)\n- n.txt (text/plain, 5 bytes)")


def test_mail_alternatives_are_read_once_as_text_then_html_then_invitation() -> None:
    plain, page = "Content-Type: text/plain\r\n\r\nPlain", "Content-Type: text/html\r\n\r\n<p>Page"
    empty, invitation = "Content-Type: text/plain\r\n\r\n ", "Content-Type: text/calendar\r\n\r\nSUMMARY:Meet"
    assert mail.read(mixed(plain, page, kind="alternative")) == "From: a@b.c\n\nPlain"
    assert mail.read(mixed(empty, page, kind="alternative")) == "From: a@b.c\n\nPage"
    assert mail.read(mixed(empty, invitation, kind="alternative")) == "From: a@b.c\n\nSUMMARY:Meet"


def test_mail_without_a_declared_encoding_notes_the_guessed_one() -> None:
    raw = "From: Ana Müller <ana@example.com>\r\nSubject: Grüße aus Köln\r\n\r\nIch komme für 3 € später.\r\n".encode(
        "cp1252"
    )
    assert mail.read(raw) == (
        "From: Ana Müller <ana@example.com>\nSubject: Grüße aus Köln\n\n"
        "[Read as windows-1252, guessed.]\nIch komme für 3 € später."
    )


@pytest.mark.parametrize(("charset", "text"), [("koi8-r", "Склад"), ("gb2312", "您好，仓库"), ("iso-2022-jp", "倉庫")])
def test_mail_is_read_in_the_declared_encoding(charset: str, text: str) -> None:
    head = f"From: a@example.com\r\nContent-Type: text/plain; charset={charset}\r\n\r\n"
    assert mail.read(head.encode() + text.encode(charset)).endswith(f"\n\n{text}")
