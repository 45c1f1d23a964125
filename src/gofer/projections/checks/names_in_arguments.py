"""The names in the arguments of a call: values that must exist outside, such as ids, channels, tables and properties.

The form of a value shows that it is a name (`OPS-12`, `#payments`, an uuid), or the name of its argument does
(`channel`, `page_id`). A model writes titles, texts, queries and numbers freely, so these are no names.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from gofer.values.canonical_json import as_list, as_object

_MOST_VALUES = 200
"""The most values of one call that are looked at."""
_DEEPEST = 6
_LONGEST = 100
_MOST_WORDS = 4
"""The most words of a name. More words are a text."""

_FORMS = re.compile(
    r"""
    (?=[A-Z]*[0-9])[CDGUWBTF][A-Z0-9]{8,14}                      # a channel, person or file by id
    | \#(?=[^\W_]*[^\W\d_])\w[\w-]{1,79}                         # a channel
    | @\w[\w.-]{1,79}                                            # a person or group
    | [A-Z][A-Z0-9]{1,9}-[0-9]{1,7}                              # an issue
    | [0-9]{10}\.[0-9]{6}                                        # a message by its ts
    | [0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}              # an uuid
    | [0-9a-f]{40}                                               # a commit
    | [a-z]{2,20}_[0-9a-f]{12}                                   # a file of the run
    """,
    re.VERBOSE,
)
_COLOUR = re.compile(r"#(?:[0-9a-fA-F]{3}){1,2}")
_NAMING = frozenset(
    [
        *("attachment", "block", "board", "bucket", "channel", "channels", "column", "columns", "database"),
        *("databases", "dataset", "discussion", "id", "ids", "issue", "issues", "page", "project", "projects"),
        *("properties", "property", "repo", "repos", "repositories", "repository", "sprint", "table", "tables"),
        *("ticket", "tickets", "uuid"),
    ]
)
"""The last words of the names of arguments whose values are names."""
_KEYED = frozenset({"columns", "properties", "where"})
"""The last words of the names of arguments with an object whose keys are names."""
_FREE = frozenset(
    [
        *("answer", "body", "code", "comment", "content", "description", "expression", "label", "labels", "message"),
        *("name", "pattern", "prompt", "q", "query", "search", "summary", "text", "title"),
    ]
)
"""The last words of the names of arguments whose values a model writes freely, in any form."""


def names_in(arguments: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield each name in the arguments of a call, after the argument that has it."""
    for argument, value, is_key in islice(_texts("", arguments, 0), _MOST_VALUES):
        if _is_short(value) and (is_key or _is_name(argument, value)):
            yield argument, value


def _texts(argument: str, value: object, depth: int) -> Iterator[tuple[str, str, bool]]:
    """Yield the argument, the text, and whether that text is a key that is a name, for all texts in a value."""
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        yield argument, value, False
    for item in as_list(value):
        yield from _texts(argument, item, depth + 1)
    for key, item in as_object(value).items():
        if _last_word(argument) in _KEYED:
            yield argument, key, True
        yield from _texts(key, item, depth + 1)


def _is_name(argument: str, value: str) -> bool:
    last = _last_word(argument)
    if last in _FREE:
        return False
    if _FORMS.fullmatch(value):
        return not _COLOUR.fullmatch(value)
    return last in _NAMING and any(letter.isalpha() for letter in value)


def _last_word(argument: str) -> str:
    """Return the last word of the name of an argument, such as `id` of `page_id` and of `pageId`."""
    separated = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", argument)
    return separated.replace("-", "_").lower().rpartition("_")[2]


def _is_short(value: str) -> bool:
    return 2 <= len(value) <= _LONGEST and len(value.split()) <= _MOST_WORDS and value.isprintable()
