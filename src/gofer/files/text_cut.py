"""Cuts of a text between the characters that a person sees."""

import unicodedata

_LONGEST = 32
"""The most code points of one visible character that are kept together. Only hostile texts have longer ones."""

_JOINER = "\u200d"


def head(text: str, limit: int) -> str:
    """Return the longest beginning of at most `limit` code points that ends between two visible characters."""
    if len(text) <= limit:
        return text
    end = max(limit, 0)
    while end > 0 and limit - end < _LONGEST and _divides_character(text, end):
        end -= 1
    # A character longer than the limit is cut at the limit.
    if end > 0 or limit <= 0:
        return text[:end]
    return text[:limit]


def tail(text: str, limit: int) -> str:
    """Return the longest end of at most `limit` code points that begins between two visible characters."""
    if len(text) <= limit:
        return text
    if limit <= 0:
        return ""
    start = first = len(text) - limit
    while start < len(text) and start - first < _LONGEST and _divides_character(text, start):
        start += 1
    if start < len(text):
        return text[start:]
    return text[first:]


def characters(raw: bytes, start: int, stop: int) -> bytes:
    """Return the bytes of UTF-8 from `start` to `stop`, without incomplete characters at the ends."""
    start = max(start, 0)
    stop = max(min(stop, len(raw)), start)
    for at in range(start, min(start + 3, stop)):
        if not _is_continuation(raw[at]):
            break
        start = at + 1
    for at in range(stop - 1, max(stop - 4, start) - 1, -1):
        if _is_continuation(raw[at]):
            continue
        # Keep the last character only if all of its bytes are within the range.
        return raw[start : at if at + _length(raw[at]) > stop else stop]
    return raw[start:stop]


def _divides_character(text: str, at: int) -> bool:
    """Return whether a cut before this index would divide a visible character."""
    before, after = text[at - 1 : at], text[at : at + 1]
    if not before or not after or (before.isascii() and after.isascii()):
        return before == "\r" and after == "\n"
    if _JOINER in (before, after) or unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    if "\u1160" <= after <= "\u11ff":
        return "\u1100" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
    return _is_flag_letter(after) and _is_flag_letter(before) and _flag_letters_before(text, at) % 2 == 1


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_letters_before(text: str, at: int) -> int:
    count = 0
    while count < at and _is_flag_letter(text[at - 1 - count]):
        count += 1
    return count


def _is_continuation(byte: int) -> bool:
    return byte & 0xC0 == 0x80


def _length(byte: int) -> int:
    if byte < 0xC0:
        return 1
    if byte < 0xE0:
        return 2
    if byte < 0xF0:
        return 3
    return 4
