"""The redaction of a case: finds the words that name people, companies and secrets, and replaces each everywhere.

A word is also found in other upper and lower case, in JSON that escapes its letters, in URLs, in HTML and in base64.
"""

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import cast
from urllib.parse import quote, quote_plus, unquote, unquote_plus

from gofer.evals.goldens.base64_texts import texts_in_base64, within_base64
from gofer.evals.goldens.pseudonyms import Pseudonyms, lower
from gofer.evals.goldens.sensitive_forms import Bounds, Sensitive, found_by_form
from gofer.values.errors import ConfigError

VERSION = 1
"""The version of the rules of redaction."""
_DEPTH = 3
"""How often a text may be encoded within another one."""
_LEFT: Mapping[Bounds, str] = {"word": r"(?<!\w)", "code": r"(?<![^\W_])", "any": ""}
_RIGHT: Mapping[Bounds, str] = {"word": r"(?!\w)", "code": r"(?![^\W_])", "any": ""}
_WIDTHS: Sequence[Bounds] = ("word", "code", "any")
_GAP = r"[\s._+-]{0,2}"
"""What stands between the words of a name, such as in `Ada Lovelace` and `ada.lovelace`."""
_SPACED = re.compile(r"[\s._+-]+")
_ESCAPED_LETTER = re.compile(r"\\u[0-9a-fA-F]{4}")


def _json_escaped(text: str) -> str:
    return json.dumps(text)[1:-1]


def _json_unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


_ENCODINGS: Sequence[tuple[Callable[[str], str], Callable[[str], str]]] = (
    (str, str),
    (_json_escaped, _json_unescaped),
    (quote, unquote),
    (quote_plus, unquote_plus),
    (lambda text: quote(text, safe=""), unquote),
    (html.escape, html.unescape),
)
"""How texts write words: an encoder with its decoder."""


class Redaction:
    """The replacement of a set of words by their pseudonyms, in texts and JSON values."""

    def __init__(self, words: Iterable[Sensitive], pseudonyms: Pseudonyms) -> None:
        self._pseudonyms = pseudonyms
        self._words: dict[str, Sensitive] = {}
        for word in words:
            key = lower(word.word)
            self._words[key] = _wider(self._words.get(key, word), word)
        self._decoders: list[tuple[Callable[[str], str], Callable[[str], str], Sensitive]] = []
        self._pattern = self._compiled()

    @property
    def words(self) -> Sequence[str]:
        """The replaced words in lower case."""
        return [*self._words]

    def text(self, text: str, depth: int = 0) -> str:
        """Return a text with every word replaced, also within base64."""
        if depth < _DEPTH:
            text = within_base64(text, lambda inner: self.text(inner, depth + 1))
        if self._pattern is None:
            return text
        return self._pattern.sub(self._replaced, text)

    def value(self, value: object, *, keys: bool = True) -> object:
        """Return a JSON value with every word replaced in texts and whole numbers, and in keys unless `keys` is off."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bool):
            return value
        if isinstance(value, int):
            return self._number(value)
        if isinstance(value, Mapping):
            fields = cast(Mapping[str, object], value)
            replaced = {key: self.value(inner, keys=keys) for key, inner in fields.items()}
            if keys:
                return {self.text(key): inner for key, inner in replaced.items()}
            return replaced
        if isinstance(value, list | tuple):
            return [self.value(item, keys=keys) for item in cast(Sequence[object], value)]
        return value

    def remaining(self, text: str) -> bool:
        """Return whether a text still holds a word that must be replaced."""
        return self.text(text) != text

    def _number(self, number: int) -> int:
        written = str(number)
        if len(written) < 7:
            return number
        replaced = self.text(written)
        if replaced.isdigit():
            return int(replaced)
        return number

    def _compiled(self) -> re.Pattern[str] | None:
        alternatives: list[tuple[int, str]] = []
        for word in sorted(self._words.values(), key=lambda one: (-len(one.word), one.word)):
            spellings: dict[str, int] = {}
            for encode, decode in _ENCODINGS:
                spelled = encode(word.word)
                if spelled in spellings:
                    continue
                spellings[spelled] = len(self._decoders)
                self._decoders.append((encode, decode, word))
                pattern = _pattern_of(spelled, word, plain=encode is str)
                alternatives.append((len(spelled), f"(?P<w{spellings[spelled]}>{pattern})"))
        if not alternatives:
            return None
        alternatives.sort(key=lambda one: -one[0])
        return re.compile("|".join(pattern for _, pattern in alternatives), re.IGNORECASE)

    def _replaced(self, found: re.Match[str]) -> str:
        encode, decode, word = self._decoders[int((found.lastgroup or "w0")[1:])]
        matched = decode(found[0])
        if encode is not str and decode is not _json_unescaped and encode(matched) != found[0]:
            # Percent signs may be followed by lower case.
            return encode(self._pseudonyms.of(matched, word.form)).lower()
        return encode(self._pseudonyms.of(matched, word.form))


def _wider(one: Sensitive, other: Sensitive) -> Sensitive:
    """Return a word that was found twice, with the wider bounds, and as a code if one of the two is a code."""
    form = one.form
    if other.form == "code":
        form = "code"
    bounds = one.bounds
    if _WIDTHS.index(other.bounds) > _WIDTHS.index(bounds):
        bounds = other.bounds
    return Sensitive(one.word, form, bounds)


def _pattern_of(spelled: str, word: Sensitive, *, plain: bool) -> str:
    inner = re.escape(spelled)
    if plain and word.form == "name":
        parts = [part for part in _SPACED.split(spelled) if part]
        inner = _GAP.join(map(re.escape, parts))
    if not plain:
        # The character before an encoded word may be the end of another encoding, such as `n` of `\n`.
        return inner
    return f"{_LEFT[word.bounds]}{inner}{_RIGHT[word.bounds]}"


def views(text: str, depth: int = 0) -> Iterator[str]:
    """Yield a text, and what its encodings hold: URLs, escaped JSON, HTML and base64."""
    yield text
    if depth >= _DEPTH:
        return
    others: set[str] = set()
    if "%" in text:
        others.add(unquote(text))
    if "\\u" in text:
        others.add(_ESCAPED_LETTER.sub(lambda found: _json_unescaped(found[0]), text))
    if "&" in text:
        others.add(html.unescape(text))
    others.update(texts_in_base64(text))
    for other in others - {text}:
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
