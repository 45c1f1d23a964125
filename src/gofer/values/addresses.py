"""Addresses in texts: what a system that shows a text may turn into a link, with or without a scheme.

Addresses are compared by their keys: the host in lower case and the rest as browsers send it, without `http://`,
`https://` or `mailto:`. Addresses with one key lead to one page.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

_DOT = "[.\u3002\uff0e\uff61]"
_REST = r"[^\s<>\"`|]*"
_CJK = "\u2e80-\u9fff\uac00-\ud7af"
"""Scripts without spaces, in which a point and a word after it rarely are the end of a host."""
_TOP = rf"(?:[A-Za-z]{{2,}}|xn--[\w-]+|[^\W\d_{_CJK}]{{2,}}|[^\W\d_]{{2,}}(?=/))"
_HOST = rf"(?:www\.[\w-]+(?:\.[\w-]+)+|[\w-]+(?:\.[\w-]+)*\.{_TOP})(?![\w-])"
_FORMS = (
    rf"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]+:[\\/]+{_REST}",
    rf"(?<![A-Za-z0-9])(?i:mailto|xmpp|javascript|vbscript|tel|sms|data):(?=[^\s:]){_REST}",
    rf"(?<![\w/:])[\\/]{{2}}(?=[\w-]+{_DOT}){_REST}",
    rf"(?<![\w.+%-])[\w.+%-]+@[\w-]+(?:{_DOT}[\w-]+)+",
    rf"(?<![\w/\\-])(?<!\w\.){_HOST}\.?(?::\d+)?(?:[/?#]{_REST})?",
    r"(?<![\w/.-])[\w.-]+/[\w.-]+(?:#\d+|@[0-9a-f]{7,40})(?!\w)",
)
_ADDRESS = re.compile("|".join(_FORMS))
_SCHEME = re.compile(r"(https?://|mailto:|)(.*)", re.IGNORECASE | re.DOTALL)
_PLAIN_HOST = re.compile(r"(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])(?::\d{1,5})?")
_MAIL = re.compile(r"[\w.+%-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+", re.ASCII)
_REFERENCE = re.compile(r"[\w.-]+/[\w.-]+(?:#\d+|@[0-9a-f]{7,40})", re.ASCII)
_PAGE = re.compile(r"[^/]+/([\w.-]+/[\w.-]+)/(?:issues|pull)/(\d+)", re.ASCII)
"""The page of an issue or a pull request, which also has the short name `owner/repository#1`."""
_NAME = re.compile(r"[\w-]+(?:\.[\w-]+)+")
_FOLDED = re.compile(r"[A-Za-z0-9.:/@]")
_LIVE_MARKS = re.compile(rf"{_DOT}|@|:(?!\d)")
"""The characters without which no system recognizes an address."""
_TRAILING = ".,;:!?'*_~\\"
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_KEPT = "%;/?:@&=+$,-_.!~*'()#"
"""The characters of an address, besides letters and digits, that browsers and the Markdown parser do not encode."""
_HINT = re.compile(r"://|\.[^\W\d_]{2}|\.xn--|#\d|/[\w.-]+@[0-9a-f]{7}")
"""What each word with an address has; most words have none of it."""
_SIMPLE = re.compile(r"https?://([a-z0-9.-]+(?::\d{1,5})?)(/[A-Za-z0-9/._~?=&%+-]*[A-Za-z0-9/=])", re.ASCII)
"""An address that is its key, except for the scheme; most addresses are."""
_CODE = re.compile(
    r"^[ \t>|]*(`{3,}|~{3,})[^\n]*\n(?s:.*?)(?:^[ \t>|]*\1[`~]*[ \t]*$|\Z)"
    r"|(?<!`)(`+)(?!`)(?:[^\n]|\n(?![ \t>|]*(?:\n|$)))*?(?<!`)\2(?!`)",
    re.MULTILINE,
)
"""Code of Markdown: a fence with its lines, also one that is not closed, or a span."""
_BETWEEN = str.maketrans(dict.fromkeys('<>"`|\t\n\r\f\v\xa0\u2003\u3000', " "))
_INNER_END = re.compile(r"[\])}',;\\]")
_FILE = re.compile(
    r"(?i:bat|bmp|cfg|conf|cpp|css|csv|diff|docx?|env|exe|gif|gz|html|ini|ipynb|java|jpe?g|jsonl?|jsx?|kt|lock|log|lua|mdx"
    r"|parquet|pdf|php|png|pptx?|proto|pyi|rb|rst|rtf|scss|sql|sqlite|svg|tar|toml|tsx?|txt|wasm|webp|xlsx?|xml|ya?ml)"
)
"""Endings of files that are no top-level domains: `<name>.<ending>` alone is no address."""


@dataclass(frozen=True, slots=True)
class Live:
    """The addresses that a text for people may hold as links."""

    read: Callable[[str], bool]
    """Returns whether an address with this key stood in what the run read."""
    hosts: frozenset[str] = frozenset()
    """The hosts of the installation itself, and those that its files list."""
    chosen: Callable[[str], bool] = frozenset[str]().__contains__
    """Returns whether a private run would tell something by a request to an address with this key."""

    def __call__(self, address: str) -> bool:
        """Return whether an address may be a link: read whole, or without a query on one of the hosts."""
        key = key_of(address)
        host = _host(key)
        if host in self.hosts and "?" not in key:
            return True
        # A host in Punycode looks like another one, however the run learned of it.
        return bool(key) and "xn--" not in host and self.read(key)


NONE_LIVE = Live(frozenset[str]().__contains__)
"""No address at all."""


def key_of(address: str) -> str:
    """Return the key of an address; empty for one that never is a link.

    That is one of another scheme, with a user name, or with a host that is not plain ASCII.
    """
    if _REFERENCE.fullmatch(address):
        return address.lower()
    scheme, rest = _divided(address)
    if not scheme.endswith("/") and _MAIL.fullmatch(rest.lower()):
        return rest.lower()
    host = _host(rest).lower()
    if scheme == "mailto:" or not _PLAIN_HOST.fullmatch(host):
        return ""
    tail = rest[len(host) :]
    return host + quote(tail if tail != "/" else "", safe=_KEPT)


@lru_cache(maxsize=256)
def host_of(url: str) -> str:
    """Return the host of a URL, with its port, in lower case; empty for a text that is no URL."""
    return _host(key_of(url))


class _Folds(dict[int, str]):
    """The plain letter, digit or sign of an address that each character looks like; the character itself by default."""

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFKC", chr(code))
        self[code] = plain if _FOLDED.fullmatch(plain) else chr(code)
        return self[code]


_FOLDS = _Folds()


def folded(text: str) -> str:
    """Return a text of the same length with plain characters for wide, round and other forms of them."""
    return text if text.isascii() else text.translate(_FOLDS)


def _divided(address: str) -> tuple[str, str]:
    """Return `http://`, `https://`, `mailto:` or nothing, and the rest of an address."""
    found = _SCHEME.fullmatch(address)
    if found is None:
        return "", address
    return found[1].lower(), found[2]


def _host(rest: str) -> str:
    return re.split("[/?#]", rest, maxsplit=1)[0]


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each address in a text, without the punctuation of the sentence around it."""
    for found in _ADDRESS.finditer(folded(text)):
        end = _end(text, found.start(), found.end())
        if not _is_file(text[found.start() : end]):
            yield found.start(), end


def _end(text: str, start: int, end: int) -> int:
    while end > start:
        last = text[end - 1]
        opening = _BRACKETS.get(last)
        if last not in _TRAILING and not (opening and text.count(last, start, end) > text.count(opening, start, end)):
            break
        end -= 1
    return end


def _is_file(address: str) -> bool:
    return bool(_NAME.fullmatch(address)) and bool(_FILE.fullmatch(address.rpartition(".")[2]))


def without_code(text: str) -> str:
    """Return a text without its code. What stands as code is no link for people, so it is none for a run either."""
    return _CODE.sub(" ", text) if "`" in text or "~~~" in text else text


def with_inert(text: str, live: Callable[[str], bool]) -> str:
    """Return a text with every address inert that may not be a link."""
    shown = ""
    after = 0
    for start, end in spans(text):
        if not live(text[start:end]):
            shown += text[after:start] + inert(text[start:end])
            after = end
    return shown + text[after:]


def keys_in(text: str) -> Iterator[str]:
    """Yield the keys of the addresses that a text holds whole.

    The text may be Markdown, HTML, JSON or code, so a bracket or quote may end an address, and marks may be escaped.
    """
    spaced = text.translate(_BETWEEN)
    after = 0
    while hint := _HINT.search(spaced, after):
        after = spaced.find(" ", hint.end())
        if after < 0:
            after = len(spaced)
        word = spaced[spaced.rfind(" ", 0, hint.start()) + 1 : after]
        if simple := _SIMPLE.fullmatch(word):
            yield from _with_short_name(simple[1] + simple[2])
        else:
            for found in _ADDRESS.finditer(word):
                yield from _keys(found[0])


def _keys(address: str) -> Iterator[str]:
    plain = html.unescape(address).replace("\\/", "/").replace("\\u0026", "&")
    ends = {len(plain), _end(plain, 0, len(plain)), *(cut.start() for cut in _INNER_END.finditer(plain))}
    for end in ends:
        if key := key_of(plain[:end]):
            yield from _with_short_name(key)
    if "://" in plain[8:]:
        # An address within an address, such as in the label of a link.
        yield from keys_in(plain[8:].replace("(", " ").replace("]", " "))


def _with_short_name(key: str) -> Iterator[str]:
    yield key
    if ("/issues/" in key or "/pull/" in key) and (page := _PAGE.match(key)):
        yield f"{page[1]}#{page[2]}"


def inert(address: str) -> str:
    """Return an address that people can read and that no system turns into a link."""
    address = folded(address)
    scheme, rest = _divided(address)
    is_name = bool(_NAME.fullmatch(address)) and not address.startswith("www.")
    is_path = ":" not in address and "." not in _host(address.lstrip("/\\"))
    if not scheme and (is_name or is_path or _REFERENCE.fullmatch(address)):
        return address
    return _LIVE_MARKS.sub(r"[\g<0>]", rest.lstrip("/\\"))
