"""Secrets that a redaction finds by their form: keys, tokens of vendors, and values behind names of secret fields."""

import re
from collections.abc import Iterator

_TOKENS = (
    re.compile(r"(?<![A-Za-z0-9])glpat-[\w-]{16,}"),
    re.compile(r"(?<![A-Za-z0-9])(?:sk|pk|rk|gsk|xai|hf|r8|nvapi|tgp|secret|whsec)[-_][A-Za-z0-9_-]{12,}"),
    re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    re.compile(r"(?<![A-Za-z0-9])AIza[\w-]{20,}"),
    re.compile(r"(?<![A-Za-z0-9])ya29\.[\w-]{10,}"),
    re.compile(r"(?<![A-Za-z0-9])GOCSPX-[\w-]{10,}"),
    re.compile(r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{16,}"),
    re.compile(r"(?<![A-Za-z0-9])pypi-[\w-]{16,}"),
    re.compile(r"(?<![A-Za-z0-9])dckr_(?:pat|oat)_[\w-]{12,}"),
    re.compile(r"(?<![A-Za-z0-9])SG\.[\w-]{10,}\.[\w-]{10,}"),
    re.compile(r"(?<![A-Za-z0-9])do[opr]_v1_[A-Za-z0-9]{12,}"),
    re.compile(r"(?<![A-Za-z0-9])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"),
)
_SIGNATURE = re.compile(r"(?i)(?:X-Amz-(?:Signature|Security-Token|Credential)|[?&]sig(?:nature)?)=([\w%+/.~=-]{8,})")
_BEHIND = r"s?(?:\\*[\"'])?[ \t]{0,8}[:=][ \t]{0,8}"
"""What stands between the name of a field and its value, also in JSON that is escaped."""
_PASSWORD = re.compile(
    r"(?i)(?:password|passwort|kennwort|passphrase|passwd|pwd)"
    rf"(?:{_BEHIND}|[ \t]{{1,8}}(?:is|ist|lautet|was)[ \t:]{{1,8}})"
    r"(?:\\*\"([^\"\\\n]{3,200})|\\*'([^'\\\n]{3,200})|([^\s\"'\\<>]{4,200}))"
)
_FIELD = re.compile(
    r"(?i)(?:token|secret|api[_-]?key|access[_-]?key|account[_-]?key|secret[_-]?key|private[_-]?key|shared[_-]?key)"
    rf"{_BEHIND}(?:\\*[\"'])?([^\s\"',;&<>\\]{{8,4000}})"
)
_AUTHORIZATION = re.compile(
    r"(?i)authorization(?:\\*[\"'])?[ \t]{0,8}[:=][ \t]{0,8}(?:\\*[\"'])?(?:[a-z]{3,12}[ \t]{1,8})?"
    r"([A-Za-z0-9+/_.~=-]{6,4000})"
)
_BEARER = re.compile(r"(?i)(?<![a-z0-9])bearer[ \t]{1,8}([A-Za-z0-9+/_.~=-]{8,4000})")
_IN_URL = re.compile(r"(?<=://)[^\s/:@\"'<>]{0,64}:([^\s/@\"'<>]{3,200})@")
_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----((?:[\w \t\r\n+/=:,.()\\]|-(?!----))*)(?:-----END)?"
)
_LINE_BREAK = re.compile(r"(?:\\+[nr]|\r|\n)+")
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{4,}")
_KEY_HEADER = re.compile(r"[A-Za-z-]{2,30}: .*")
_LEAST_LETTERS = 16
"""The characters of the shortest secret without digits and signs."""
_ORDINARY = frozenset(
    {
        "string", "required", "optional", "wrong", "invalid", "missing", "expired", "incorrect", "correct", "empty",
        "none", "null", "true", "false", "the", "that", "this", "your", "their", "same", "stored", "saved", "changed",
        "reset", "needed", "known", "unknown", "secret", "hidden", "masked", "redacted", "always", "never", "only",
        "also", "still", "too short", "too long", "password", "passwort", "token", "integer", "number", "object",
        "here", "there", "short", "long", "weak", "strong", "safe", "unsafe", "used", "unset", "kept", "nicht",
        "falsch", "richtig", "abgelaufen", "leer", "lost", "gone", "okay", "fine", "given", "shown", "sent", "asked",
        "with", "from", "what", "which", "about", "being", "exposed", "leaked", "public", "private", "default",
    }
)  # fmt: skip
"""Words behind `password is` and the like that are no password."""


def secrets_in(text: str) -> Iterator[str]:
    """Yield the secrets of a text, without the names of their fields."""
    for pattern in (*_TOKENS, _SIGNATURE, _AUTHORIZATION, _IN_URL):
        yield from pattern.findall(text)
    for choices in _PASSWORD.findall(text):
        value = "".join(choices).rstrip(".,;:!?)]}")
        if len(value) > 2 and value.lower() not in _ORDINARY:
            yield value
    for pattern in (_FIELD, _BEARER):
        yield from (value for value in pattern.findall(text) if _is_random(value))
    for block in _KEY.findall(text):
        yield from _key_lines(block)


def _is_random(value: str) -> bool:
    """Return whether a value behind the name of a field is hardly a word."""
    is_mixed = any(char.isupper() for char in value[1:]) and any(char.islower() for char in value)
    return is_mixed or any(char.isdigit() for char in value) or len(value) >= _LEAST_LETTERS


def _key_lines(block: str) -> Iterator[str]:
    """Yield the lines of a private key, up to the first line with other words, because keys may be cut."""
    for line in _LINE_BREAK.split(block):
        plain = line.strip()
        if _KEY_LINE.fullmatch(plain):
            yield plain
        elif plain and not _KEY_HEADER.fullmatch(plain):
            return
