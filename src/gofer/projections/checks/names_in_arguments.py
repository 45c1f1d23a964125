"""The names in the arguments of a call: values that must exist outside, such as ids, channels, tables and properties.

The form of a value shows that it is a name (`OPS-12`, `#payments`, an uuid), or the name of its argument does
(`channel`, `page_id`). A model writes titles, texts and numbers freely, so these are no names. In a query, words that
points or underscores join are names, such as a metric (`checkout_api.errors`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from gofer.values.canonical_json import as_list, as_object

_MOST_VALUES = 200
"""The most values of one call that are looked at."""
_DEEPEST = 6
_DEEPEST_TEXT = 100
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
_COMMON_FORMS = re.compile(
    r"""
    @(?:here|channel|everyone)                                   # everyone in a channel
    | (?:Q|W|H|FY|KW|CW)[0-9]{0,2}-[0-9]{2,4}                    # a part of a year
    | (?:UTF|ISO|RFC|SHA|MD|GPT|UTC|GMT|HTTP|TLS|IP|AES|RSA|BASE|COVID)-[0-9]{1,7}  # a standard or a product
    | CVE-[0-9]{4}(?:-[0-9]{1,7})?
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Values in the form of a name that everyone knows."""
_ANY = frozenset(
    [
        *(
            "active",
            "all",
            "any",
            "asc",
            "auto",
            "both",
            "count",
            "current",
            "default",
            "desc",
            "false",
            "first",
            "last",
        ),
        *("latest", "me", "new", "newest", "next", "none", "null", "oldest", "open", "own", "prev", "previous", "self"),
        *("this", "today", "true", "unknown"),
    ]
)
"""Values, in lower case, that choose among names and are none."""
_COLOUR = re.compile(r"#(?:[0-9a-fA-F]{3}){1,2}")
_LOWER_ISSUE = re.compile(r"[A-Za-z][A-Za-z0-9]{1,9}-[0-9]{1,7}")
"""An issue in any case, as the value of a key."""
_NAMING = frozenset(
    [
        *("attachment", "block", "board", "bucket", "channel", "channels", "column", "columns", "database"),
        *("databases", "dataset", "discussion", "id", "ids", "issue", "issues", "page", "project", "projects"),
        *("properties", "property", "repo", "repos", "repositories", "repository", "sprint", "table", "tables"),
        *("ticket", "tickets", "uuid"),
    ]
)
"""The last words of the names of arguments whose values are names."""
_QUALIFIED = frozenset({"key", "keys", "name", "names", "slug", "slugs"})
"""The last words of the names of arguments whose word before says whether the values are names."""
_KEYED = frozenset({"columns", "properties", "where"})
"""The last words of the names of arguments with an object whose keys are names."""
_FREE = frozenset(
    [
        *("answer", "body", "code", "comment", "content", "description", "expression", "label", "labels", "message"),
        *("name", "pattern", "prompt", "q", "query", "search", "summary", "text", "title"),
    ]
)
"""The last words of the names of arguments whose values a model writes freely, in any form."""

_QUERIES = frozenset({"expression", "filter", "jql", "q", "query", "search", "sql"})
"""The last words of the names of arguments with a query, whose joined words are names."""
_LONGEST_QUERY = 5_000
_JOINED = re.compile(
    r"(?<![\w.@/-])(?!current_)[A-Za-z][A-Za-z0-9]+(?:\.[A-Za-z][A-Za-z0-9]+|_[A-Za-z0-9]+)+(?![\w.]*[(:/@])"
)
"""Words that points or underscores join, without functions (`date_trunc(`), keys (`older_than:`), addresses, paths."""


def names_in(arguments: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield each name in the arguments of a call, after the argument that has it."""
    for argument, value, is_key in islice(_texts("", arguments, _DEEPEST), _MOST_VALUES):
        if _is_short(value) and (is_key or _is_name(argument, value)):
            yield argument, value
        elif not is_key and _last_word(argument) in _QUERIES:
            for name in _JOINED.findall(value[:_LONGEST_QUERY]):
                if len(name) <= _LONGEST:
                    yield argument, name


def texts_without_names(arguments: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield each text in the arguments of a call that is no name, after the argument that has it."""
    for argument, value, is_key in _texts("", arguments, _DEEPEST_TEXT):
        if not is_key and not (_is_short(value) and _is_name(argument, value)):
            yield argument, value


def _texts(argument: str, value: object, levels: int) -> Iterator[tuple[str, str, bool]]:
    """Yield the argument, the text, and whether that text is a key that is a name, for all texts in a value, down
    to a number of levels.
    """
    if levels < 0:
        return
    if isinstance(value, str):
        yield argument, value, False
    for item in as_list(value):
        yield from _texts(argument, item, levels - 1)
    for key, item in as_object(value).items():
        if _last_word(argument) in _KEYED:
            yield argument, key, key.lower() not in _ANY
        yield from _texts(key, item, levels - 1)


def _is_name(argument: str, value: str) -> bool:
    word = _deciding_word(argument)
    if word in _FREE or value.lower() in _ANY or _COMMON_FORMS.fullmatch(value):
        return False
    if _FORMS.fullmatch(value):
        return not _COLOUR.fullmatch(value)
    if word == "key" and _LOWER_ISSUE.fullmatch(value):
        return True
    return word in _NAMING and any(letter.isalpha() for letter in value)


def _deciding_word(argument: str) -> str:
    """Return the word that says what the values of an argument are: `table` of `table_name`, else the last word."""
    words = _words(argument)
    if len(words) > 1 and words[-1] in _QUALIFIED and words[-2] in _NAMING:
        return words[-2]
    return words[-1]


def _last_word(argument: str) -> str:
    """Return the last word of the name of an argument, such as `id` of `page_id` and of `pageId`."""
    return _words(argument)[-1]


def _words(argument: str) -> Sequence[str]:
    separated = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", argument)
    return separated.replace("-", "_").lower().split("_")


def _is_short(value: str) -> bool:
    return 2 <= len(value) <= _LONGEST and len(value.split()) <= _MOST_WORDS and value.isprintable()
