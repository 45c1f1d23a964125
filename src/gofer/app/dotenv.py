"""What does a `.env` file set? A small part of what shells read, the same for every line, and nothing is expanded.

# a comment                       a line of its own, or after a space
NAME=value                        `export` before it is allowed
NAME="two words"  NAME='a # b'    quotes keep spaces and #; there are no escapes
"""

import re
from collections.abc import Mapping
from pathlib import Path

from gofer.values.errors import ConfigError

_ASSIGNMENT = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)", re.DOTALL)
_VALUE = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^"'\s#][^"'\s]*)?)(?:\s+\#.*)?""", re.DOTALL)


def read_dotenv(path: Path) -> Mapping[str, str]:
    """What a file sets; nothing when there is none. Raises ConfigError that names the line and never its value."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read as text; correct it or take it away.") from error
    found: dict[str, str] = {}
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        if line and not line.startswith("#"):
            name, value = _read_line(f"{path}:{number}", line)
            if name in found:
                raise ConfigError(f"{path}:{number}: {name} is set a second time; keep one of the lines.")
            found[name] = value
    return found


def _read_line(place: str, line: str) -> tuple[str, str]:
    assignment = _ASSIGNMENT.fullmatch(line)
    if not assignment:
        raise ConfigError(f"{place}: this is no setting; write NAME=value, or # before a comment.")
    name, written = assignment.groups()
    value = _VALUE.fullmatch(written)
    if not value:
        raise ConfigError(f'{place}: the value of {name} is not clear; put it in quotes, as {name}="…".')
    return name, next((part for part in value.groups() if part is not None), "")
