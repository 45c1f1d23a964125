"""Pseudonyms: for each word one other word of the same form, as long as the salt of the case is the same.

A pseudonym has the length, the kinds of characters and the upper and lower case of its word. So ids keep their form,
and previews and estimates of tokens stay the same.
"""

import hashlib
import hmac
import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Literal

from gofer.values.errors import ConfigError

Form = Literal["name", "code"]
"""`name`: letters that can be pronounced. `code`: an id, a token or a number, which keeps its first letter."""

_ATOM = re.compile(r"[^\W_]+")
_HEXADECIMAL = re.compile(r"(?=.*[0-9])[0-9a-f]{12,}")
_VOWELS = "aeiou"
_CONSONANTS = "bcdfghjklmnpqrstvwxz"
_BLOCK = 64
"""The code points of one alphabet lie close together; a letter is replaced by one of its block."""
_MOST_TRIES = 10_000


class Pseudonyms:
    """The pseudonyms of one case. The salt is random and is not kept, so no pseudonym can be computed from its word."""

    def __init__(self, salt: bytes, avoided: Collection[str] = ()) -> None:
        """`avoided` are words in lower case that must not become pseudonyms, because they occur in the case."""
        self._salt = salt
        self._avoided = frozenset(avoided)
        self._of: dict[str, str] = {}
        self._given: set[str] = set()

    def of(self, word: str, form: Form) -> str:
        """Return the pseudonym of a word, in its upper and lower case.

        A pseudonym is its own pseudonym. A name of several words gets the pseudonyms of these words. A code gets the
        same one with and without hyphens and spaces. Raises ConfigError if a word is so short that no other word of its
        form is left.
        """
        if form == "name":
            return _ATOM.sub(lambda found: self._one(found[0], form), word)
        made = iter(self._one("".join(_ATOM.findall(word)), form))
        return _ATOM.sub(lambda found: "".join(islice(made, len(found[0]))), word)

    def _one(self, word: str, form: Form) -> str:
        key = lower(word)
        if key in self._given:
            return word
        if key not in self._of:
            self._of[key] = self._new(key, form)
            self._given.add(self._of[key])
        return cased(self._of[key], word)

    def _new(self, key: str, form: Form) -> str:
        for attempt in range(_MOST_TRIES):
            bits = _bits(self._salt, f"{form}/{attempt}/{key}".encode())
            made = "".join(_letters(key, form, bits))
            if made not in self._given and made not in self._of and made not in self._avoided:
                return made
        raise ConfigError(f"No pseudonym of {len(key)} characters is left; redact longer words.")


def lower(word: str) -> str:
    """Return a word in lower case, with the same number of characters."""
    if word.isascii():
        return word.lower()
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in word)


def cased(word: str, like: str) -> str:
    """Return a word in the upper and lower case of another word of the same length."""
    return "".join(char.upper() if model.isupper() else char for char, model in zip(word, like, strict=True))


def may_be_pseudonym(pseudonym: str, word: str) -> bool:
    """Return whether a text has the form that a pseudonym of a word has: its length and its kinds of characters."""
    return [*map(_kind, pseudonym)] == [*map(_kind, word)]


def _kind(char: str) -> str:
    if char.isdigit():
        return "digit"
    if not char.isalpha():
        return char
    if not char.isascii():
        # Not every letter has an upper and a lower case.
        return "letter"
    if char.isupper():
        return "upper"
    return "lower"


def _letters(key: str, form: Form, bits: Iterator[int]) -> Iterator[str]:
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    if form == "code" and _HEXADECIMAL.fullmatch(key):
        alphabet = "abcdef"
    for index, char in enumerate(key):
        chance = next(bits)
        if char.isascii() and char.isdigit():
            yield _digit(index, chance)
        elif not char.isascii():
            yield _of_same_alphabet(char, chance)
        elif not char.isalpha():
            yield char
        elif form == "code" and index == 0 and len(alphabet) > len("abcdef"):
            # The first letter of an id says what the id names, as most vendors use it.
            yield char
        elif form == "name":
            yield _pronounceable(index, chance)
        else:
            yield alphabet[chance % len(alphabet)]


def _digit(index: int, chance: int) -> str:
    if index == 0:
        # A number must not begin with 0.
        return str(1 + chance % 9)
    return str(chance % 10)


def _pronounceable(index: int, chance: int) -> str:
    if index % 2:
        return _VOWELS[chance % len(_VOWELS)]
    return _CONSONANTS[chance % len(_CONSONANTS)]


def _of_same_alphabet(char: str, chance: int) -> str:
    """Return a letter of the same alphabet with as many bytes; other characters stay."""
    if not char.isalpha():
        return char
    first = ord(char) // _BLOCK * _BLOCK
    letters = [chr(code) for code in range(first, first + _BLOCK)]
    alike = [letter for letter in letters if _is_like(letter, char)]
    return alike[chance % len(alike)]


def _is_like(letter: str, char: str) -> bool:
    if not letter.isalpha() or lower(letter) != letter or len(letter.encode()) != len(char.encode()):
        return letter == char
    return letter.upper().lower() == letter or letter.upper() == letter


def _bits(salt: bytes, seed: bytes) -> Iterator[int]:
    """Yield numbers from 0 to 65,535 that follow from the salt and the seed."""
    block = 0
    while True:
        digest = hmac.new(salt, b"%d/%s" % (block, seed), hashlib.sha256).digest()
        for at in range(0, len(digest), 2):
            yield int.from_bytes(digest[at : at + 2])
        block += 1
