"""The names of the emoji that every Slack workspace has; `emoji.txt` beside this module lists them."""

import re
from importlib.resources import files

_FLAG = re.compile(r"flag-[a-z]{2}")
_TONE = re.compile(r"::skin-tone-[2-6]$")
STANDARD = frozenset(files("gofer.simulators.slack").joinpath("emoji.txt").read_text("utf-8").split())
"""All but the flags of countries."""


def is_emoji(name: str, custom: frozenset[str] = frozenset()) -> bool:
    """Return whether a name, with or without a skin tone, is one of Slack's emoji or of the workspace's own."""
    plain = _TONE.sub("", name)
    return plain in custom or plain in STANDARD or bool(_FLAG.fullmatch(plain))
