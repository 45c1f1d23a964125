"""Pseudonyms have the form of their words, and different words get different ones."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.evals.goldens.pseudonyms import Pseudonyms, cased, lower, may_be_pseudonym
from gofer.values.errors import ConfigError

NAMES = st.text(st.characters(categories=("Ll", "Lu", "Lo", "Nd")), min_size=3, max_size=20).filter(
    lambda word: re.fullmatch(r"[^\W_]+", word) is not None and word.upper().lower() == word.lower()
)


def test_pseudonym_of_an_id_keeps_its_form() -> None:
    pseudonyms = Pseudonyms(b"salt")
    made = pseudonyms.of("U0CAPTN0", "code")
    assert made != "U0CAPTN0"
    assert re.fullmatch(r"U[0-9][A-Z]{5}[0-9]", made)


def test_pseudonym_of_a_uuid_is_hexadecimal() -> None:
    word = "0d1f6a52-0000-4000-8000-0000000ac3e0"
    assert re.fullmatch(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", Pseudonyms(b"salt").of(word, "code"))


def test_uuid_and_telephone_number_have_one_pseudonym_in_each_spelling() -> None:
    pseudonyms = Pseudonyms(b"salt")
    uuid = pseudonyms.of("0d1f6a52-0000-4000-8000-0000000ac3e0", "code")
    assert pseudonyms.of("0d1f6a520000400080000000000ac3e0", "code") == uuid.replace("-", "")
    assert pseudonyms.of("+49 170 5551", "code").replace(" ", "") == pseudonyms.of("+491705551", "code")


def test_name_of_several_words_gets_the_pseudonyms_of_its_words() -> None:
    pseudonyms = Pseudonyms(b"salt")
    ada = pseudonyms.of("Ada", "name")
    lovelace = pseudonyms.of("Lovelace", "name")
    assert pseudonyms.of("Ada Lovelace", "name") == f"{ada} {lovelace}"
    assert pseudonyms.of("ada.lovelace", "name") == f"{ada}.{lovelace}".lower()


@given(word=NAMES)
def test_pseudonym_has_the_length_the_case_and_the_bytes_of_its_word(word: str) -> None:
    made = Pseudonyms(b"salt").of(word, "name")
    assert len(made) == len(word)
    assert len(made.encode()) == len(word.encode())
    assert [char.isdigit() for char in made] == [char.isdigit() for char in word]
    assert may_be_pseudonym(made, word)
    assert not may_be_pseudonym(f"{made}s", word)


@given(words=st.lists(NAMES, min_size=2, max_size=20, unique_by=lower))
def test_different_words_get_different_pseudonyms_and_equal_words_equal_ones(words: list[str]) -> None:
    pseudonyms = Pseudonyms(b"salt", [lower(word) for word in words])
    made = [lower(pseudonyms.of(word, "name")) for word in words]
    assert len(set(made)) == len(words)
    assert [lower(pseudonyms.of(word.upper(), "name")) for word in words] == made
    assert not set(made) & {lower(word) for word in words}


@given(word=NAMES)
def test_pseudonym_is_its_own_pseudonym(word: str) -> None:
    pseudonyms = Pseudonyms(b"salt")
    made = pseudonyms.of(word, "name")
    assert pseudonyms.of(made, "name") == made


def test_other_salt_gives_other_pseudonyms() -> None:
    assert Pseudonyms(b"one").of("Lovelace", "name") != Pseudonyms(b"two").of("Lovelace", "name")


def test_words_without_a_free_pseudonym_are_refused() -> None:
    pseudonyms = Pseudonyms(b"salt", [str(digit) for digit in range(10)])
    with pytest.raises(ConfigError, match="redact longer words"):
        pseudonyms.of("7", "name")


def test_upper_case_is_copied_letter_by_letter() -> None:
    assert cased("vexu", "AcMe") == "VeXu"
