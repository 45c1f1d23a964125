"""The decoder of texts: what decides the encoding, when it is a guess, and how many words of old texts it reads."""

import re
from collections.abc import Callable
from pathlib import Path

import charset_normalizer
import pytest

from gofer.files.decoder import decode, decoded, decoded_as, known
from support.documents.old_encodings import ENCODINGS, OldText, old_texts

DOCUMENT = Path(__file__).parents[3] / "docs" / "files.md"


WESTERN = (
    "Name;Ciudad\nMuñoz;España\nPeña;Coruña\n",
    "NOMBRE;AÑO\nMUÑOZ;2024\n",
    "Id;Nombre\n1;Ibáñez\n2;Zúñiga\n3;Año\n",
    "Dirección;Teléfono\nLogroño;Málaga\n",
    "PEÑÍSCOLA;GARCÍA\n",
    "Nom;Où\nFrançois;là où\nŒuvre;cœur\n",
    "Id;Mois\n1;Août\n2;Sûreté\n",
    "Élodie;Être\nÀ la carte;coût\n",
    "Nome;Cidade\nJoão;São Paulo\nConceição;Maringá\n",
    "Première;Hélène\nÉlodie;très\n",
    "Compañía;Niña\nCastaño;Guimarães\n",
    "Città;Più\nPerché;Però\n",
)
"""Small tables that Excel writes in Western Europe."""

CENTRAL = (
    "Dvořák;Plzeň",
    "Łódź;1",
    "Imię;Miasto\nŁukasz;Gdańsk\nMałgorzata;Poznań\n",
    "Jméno;Město\nJiří;Plzeň\nŽofie;Ústí\n",
    "Název;Počet\nDomů;3\nStolů;7\n",
    "Név;Város\nErzsébet;Győr\nGyörgy;Pécs\n",
)
"""Small tables that Excel writes in Central Europe."""


@pytest.mark.parametrize("old", old_texts(), ids=lambda old: f"{old.encoding}-{old.form}")
def test_decoder_finds_every_word_of_a_text_in_an_old_encoding(old: OldText) -> None:
    assert found(old, decoded) == len(words(old))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"M\xfcller;K\xf6ln;3 \x80\r\n", "Müller;Köln;3 €\r\n"),
        (b"Stra\xdfe", "Straße"),
        (b"20 \xb0C, \xa7 5 \x96 it\x92s", "20 °C, § 5 – it’s"),
        (b"na\xefve", "naïve"),
        *((text.encode("cp1252"), text) for text in WESTERN),
        *((text.encode("cp1250"), text) for text in CENTRAL),
    ],
)
def test_decoder_recognizes_the_encoding_from_a_few_letters(data: bytes, text: str) -> None:
    assert decoded(data) == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b'<?xml version="1.0" encoding="koi8-r"?><a>\xc4\xc1</a>', "<a>да</a>"),
        (b'<html><meta charset="gb2312"><p>\xd6\xd0\xce\xc4', "<p>中文"),
        (b"#!/usr/bin/python\n# -*- coding: cp1251 -*-\n# \xe4\xe0", "# да"),
    ],
)
def test_decoder_uses_the_encoding_declared_in_the_text_without_a_note(data: bytes, text: str) -> None:
    read = decode(data)
    assert read is not None
    assert read.text.endswith(text)
    assert read.note == ""


def test_decoder_uses_the_encoding_declared_by_the_sender_unless_wrong() -> None:
    data = "да, это так".encode("koi8-r")
    declared = decode(data, "KOI8-R")
    assert declared is not None
    assert (declared.text, declared.note) == ("да, это так", "")
    assert decode("Größe".encode(), "iso-8859-1") == decode("Größe".encode())
    unknown = decode(data, "no such encoding")
    assert unknown is not None
    assert unknown.guessed


def test_decoder_notes_a_guess_and_accepts_a_named_encoding() -> None:
    data = "Müller".encode("cp1252")
    guess = decode(data)
    assert guess is not None
    assert guess.note == "Read as windows-1252, guessed."
    named = decoded_as(data, "latin-1")
    assert named is not None
    assert (named.text, named.note) == ("Müller", "")
    assert [decoded_as(data, name) for name in ("zip", "punycode", "idna", "unicode_escape")] == [None] * 4


def test_decoder_counts_unreadable_characters() -> None:
    read = decode("Größe, naïve, 日本語 ".encode() * 20 + b"\xff end")
    assert read is not None
    assert read.note == "Read as UTF-8; characters that cannot be read are shown as \ufffd: 1."


def test_decoder_does_not_count_a_replacement_character_in_the_text() -> None:
    read = decode("a \ufffd is shown".encode())
    assert read is not None
    assert read.note == ""


def test_decoder_gives_the_same_text_for_the_same_bytes() -> None:
    for old in old_texts():
        assert decode(old.data) == decode(old.data)


@pytest.mark.parametrize("piece", [b"\xc4a", b"\xfc", b"\xe9\xe9\xe9a", b"\x1b$B\xfc", b"\n", b"a"])
def test_decoder_guesses_large_texts_in_linear_time(piece: bytes) -> None:
    """A search that goes back at each byte would not end within a test."""
    assert decode(piece * 5_000_000 + b"\xfc") is not None


@pytest.mark.parametrize("encoding", ["cp1252", "cp1253", "cp874", "cp866", "iso8859-8", "cp932", "gb18030", "ascii"])
def test_decoder_replaces_undefined_bytes_as_python_does(encoding: str) -> None:
    data = bytes(range(256)) * 2
    read = decoded_as(data, encoding)
    assert read is not None
    assert read.text == data.decode(known(encoding), "replace")


@pytest.mark.parametrize("start", [b"", "Größe\n".encode("cp1252") * 20_000])
def test_decoder_handles_a_wrong_declared_encoding_in_linear_time(start: bytes) -> None:
    """A decoder that handles each undefined byte by itself would not end within a test."""
    assert decode(start + b"\x81" * 60_000_000, "windows-1252") is not None


def test_documented_table_of_encodings_matches_the_decoder() -> None:
    written = DOCUMENT.read_text().split("## Old encodings", 1)[1].split("\n## ", 1)[0]
    assert table() in written, f"docs/files.md shows other figures; write this there:\n\n{table()}"


def table() -> str:
    """Return the table of docs/files.md: words found of each encoding, by Gofer and by charset-normalizer."""
    texts = old_texts()
    rows = ["| encoding | language | words | Gofer | charset-normalizer |", "|---|---|---|---|---|"]
    for encoding, language in ENCODINGS.items():
        rows.append(_row(f"{encoding} | {language}", [old for old in texts if old.encoding == encoding]))
    return "\n".join([*rows, _row("all | ", texts)])


def _row(name: str, texts: list[OldText]) -> str:
    total = sum(len(words(old)) for old in texts)
    ours = sum(found(old, decoded) for old in texts)
    theirs = sum(found(old, normalized) for old in texts)
    return f"| {name} | {total} | {ours} | {theirs} |"


def words(old: OldText) -> list[str]:
    """Return the words of a text as its encoding can write them."""
    return re.findall(r"\w+", old.data.decode(old.encoding))


def found(old: OldText, read: Callable[[bytes], str | None]) -> int:
    """Return how many words of a text are among those that a decoder reads."""
    known = set(re.findall(r"\w+", read(old.data) or ""))
    return sum(word in known for word in words(old))


def normalized(data: bytes) -> str:
    """Return the text that charset-normalizer reads by itself."""
    return str(charset_normalizer.from_bytes(data).best() or "")
