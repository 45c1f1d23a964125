"""Text without invisible characters, which carry words past readers and hide the host of an address."""

import re

_SIGN = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_LETTER = "[\u0590-\u0eff\u1000-\u109f\u1780-\u17ff]"
"""Letters of the scripts that write with joiners, from Hebrew to Lao, Burmese and Khmer."""
_FLAGS = tuple(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(char)) for char in f"gb{part}\x7f") for part in ("eng", "sct", "wls")
)
_KEPT = "|".join(
    (
        *_FLAGS,
        "[#*0-9]\ufe0f\u20e3",
        rf"{_SIGN}[\ufe0e\ufe0f]?(?:\u200d{_SIGN}\ufe0f?)*",
        rf"(?<={_LETTER})[\u200c\u200d](?={_LETTER})",
    )
)
"""What is kept with the invisible characters inside it: emoji, and joiners between letters that need them."""
_INVISIBLE = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
_FOUND = re.compile(f"({_KEPT})|{_INVISIBLE}")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def visible(text: str) -> str:
    """Return a text without control characters, characters of no width, tags and stray variation selectors.

    Emoji and joiners between letters that need them stay whole. The function is idempotent.
    """
    if text.isascii():
        return _CONTROL.sub("", text)
    return _FOUND.sub(lambda found: found[1] or "", text)
