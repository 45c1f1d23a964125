"""The redaction of a case: finds the words that name people, companies and secrets, and replaces each everywhere.

A word is also found in other upper and lower case, in JSON that escapes its letters, in URLs, in HTML and in base64.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import cast

from gofer.evals.goldens.base64_texts import texts_in_base64, within_base64
from gofer.evals.goldens.encoded_texts import decodings, within_encodings
from gofer.evals.goldens.pseudonyms import Pseudonyms
from gofer.evals.goldens.sensitive_forms import Sensitive, found_by_form
from gofer.evals.goldens.word_finder import WordFinder, merged
from gofer.values.errors import ConfigError

VERSION = 2
"""The version of the rules of redaction."""
_DEPTH = 3
"""How often a text may be encoded within another one."""
_IDENTIFIER = re.compile(r"[A-Za-z0-9_]+(?:[-.][A-Za-z0-9_]+)*")
_KEY = re.compile(r"\"([A-Za-z0-9]+)\\*\"\s{0,8}:")
"""A key of JSON, also of JSON that is escaped."""
_NAMING = frozenset({"tool", "function", "skill", "subagent", "workflow"})
"""The fields of entries that hold identifiers."""
_PLAIN = re.compile(r"[A-Za-z0-9]+")


class Redaction:
    """The replacement of a set of words by their pseudonyms, in texts and JSON values."""

    def __init__(
        self, words: Iterable[Sensitive], pseudonyms: Pseudonyms, identifiers: Collection[str] = frozenset()
    ) -> None:
        """Make a redaction.

        `identifiers` are names of tools, fields, skills and files. They stay where they stand as a whole.
        An identifier that is a single word, such as `mark`, stays as a key, as a called tool and in bundles.
        """
        self._pseudonyms = pseudonyms
        self._words = merged(words)
        self._finder = WordFinder(self._words.values())
        self._keys = frozenset(identifiers)
        self._identifiers = frozenset(one for one in identifiers if not _PLAIN.fullmatch(one))

    @property
    def words(self) -> Sequence[str]:
        """The replaced words in lower case."""
        return [*self._words]

    def text(self, text: str, depth: int = 0) -> str:
        """Return a text with every word replaced, also within base64 and other encodings."""
        if not self._words:
            return text
        if depth < _DEPTH:
            text = within_base64(text, lambda inner: self.text(inner, depth + 1))
        text = self._plain(text)
        if depth < _DEPTH:
            return within_encodings(text, lambda inner: self.text(inner, depth + 1))
        return text

    def value(self, value: object, *, keys: bool = True) -> object:
        """Return a JSON value with every word replaced in texts, whole numbers and keys.

        With `keys` off, the value is a bundle: its keys stay, and texts that are an identifier as a whole.
        """
        if isinstance(value, str):
            if not keys and value in self._keys:
                return value
            return self.text(value)
        if isinstance(value, bool):
            return value
        if isinstance(value, int):
            return self._number(value)
        if isinstance(value, Mapping):
            fields = cast(Mapping[str, object], value)
            replaced = {key: self._field(key, inner, keys=keys) for key, inner in fields.items()}
            if keys:
                return {self._key(key): inner for key, inner in replaced.items()}
            return replaced
        if isinstance(value, list | tuple):
            return [self.value(item, keys=keys) for item in cast(Sequence[object], value)]
        return value

    def _field(self, key: str, value: object, *, keys: bool) -> object:
        if key in _NAMING and isinstance(value, str) and value in self._keys:
            return value
        return self.value(value, keys=keys)

    def _key(self, key: str) -> str:
        if key in self._keys:
            return key
        return self.text(key)

    def _number(self, number: int) -> int:
        written = str(number)
        if len(written) < 7:
            return number
        replaced = self.text(written)
        if replaced.isdigit():
            return int(replaced)
        return number

    def _plain(self, text: str) -> str:
        found = self._finder.found(text)
        if not found:
            return text
        kept = self._kept(text)
        written: list[str] = []
        end = 0
        for one in found:
            if any(kept[one.start : one.end]):
                continue
            written += [text[end : one.start], self._pseudonyms.of(text[one.start : one.end], one.word.form)]
            end = one.end
        return "".join([*written, text[end:]])

    def _kept(self, text: str) -> bytearray:
        """Return 1 for each character of a text that belongs to an identifier, and 0 for the others."""
        kept = bytearray(len(text))
        for found in _KEY.finditer(text):
            if found[1] in self._keys:
                kept[found.start(1) : found.end(1)] = b"\x01" * len(found[1])
        if not self._identifiers:
            return kept
        for found in _IDENTIFIER.finditer(text):
            for start, end in _whole(found):
                if text[start:end] in self._identifiers:
                    kept[start:end] = b"\x01" * (end - start)
        return kept


def _whole(found: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of an identifier, and of its parts between dots, as in `run.acme_search`."""
    yield found.span()
    at = found.start()
    for part in found[0].split("."):
        yield at, at + len(part)
        at += len(part) + 1


def views(text: str, depth: int = 0) -> Iterator[str]:
    """Yield a text, and what its encodings hold: URLs, escaped JSON, HTML and base64."""
    yield text
    if depth >= _DEPTH:
        return
    for other in {*decodings(text), *texts_in_base64(text)} - {text}:
        yield from views(other, depth + 1)


def texts_in(value: object) -> Iterator[str]:
    """Yield every text of a JSON value, with keys, and whole numbers as texts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, int):
        yield str(value)
    elif isinstance(value, Mapping):
        for key, inner in cast(Mapping[str, object], value).items():
            yield key
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for item in cast(Sequence[object], value):
            yield from texts_in(item)


def sensitive_in(value: object) -> Iterator[Sensitive]:
    """Yield the words of a JSON value that must be replaced because of their form."""
    for text in texts_in(value):
        for view in views(text):
            yield from found_by_form(view)


def customer_words(words: Iterable[str]) -> Iterator[Sensitive]:
    """Yield the words that a person gave. They are replaced everywhere, also within other words.

    Raises ConfigError for a word without letters and digits, or with fewer than three characters.
    """
    for word in words:
        if len(word.strip()) < 3 or not any(char.isalnum() for char in word):
            raise ConfigError(f"--redact {word!r} is too short; write a word of three characters or more.")
        yield Sensitive(word.strip(), "name", "any")
