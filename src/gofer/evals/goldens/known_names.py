"""The people and companies that the journals of a run know: actors, look-ups, authors of messages, owners."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from gofer.evals.goldens.json_in_texts import fields_in, values_in
from gofer.evals.goldens.pseudonyms import Form
from gofer.evals.goldens.sensitive_forms import Sensitive, people_in
from gofer.evals.goldens.spellings import is_unbroken
from gofer.values.canonical_json import as_list, as_object, as_text

_PEOPLE = frozenset(
    {
        "author", "reporter", "assignee", "creator", "handle", "login", "real_name", "display_name", "displayName",
        "username", "user_name", "author_name", "actor", "asker", "requester", "sender", "decided_by", "merged_by",
        "created_by", "last_edited_by", "accountId", "account_id", "name_of_person", "person", "reviewers", "members",
        "assignees", "people", "users", "fullName", "firstName", "lastName", "first_name",
        "last_name", "nickname", "given_name", "family_name", "givenName", "familyName", "real_name_normalized",
        "display_name_normalized", "user_login", "userName",
    }
)  # fmt: skip
"""The fields with names of people."""
_BESIDE_NAMES = frozenset(
    {
        "handle", "user", "accountId", "account_id", "email", "real_name", "team_id", "login", "person", "avatar_url",
        "displayName", "display_name",
    }
)  # fmt: skip
"""The fields next to `name` that show that a person has the name."""
_IDS = frozenset({"user", "user_id", "team", "team_id", "channel", "channel_id", "workspace", "tenant"})
"""The fields that hold ids, if their texts look like ids."""
_ID = re.compile(r"(?=.*[0-9])[A-Za-z0-9:_-]{7,64}")
_CONTACTS = frozenset({"phone", "mobile", "skype", "fax"})
"""The fields with numbers and names under which a person can be called."""
_OWNERS = frozenset({"repository", "repo", "full_name"})
"""The fields with `<owner>/<name>`."""
_NOT_NAMES = frozenset(
    {
        "nobody",
        "none",
        "unknown",
        "unknown user",
        "someone",
        "a person",
        "you",
        "gofer",
        "bot",
        "person",
        "anyone",
        "unassigned",
    }
)
_WORD = re.compile(r"[^\W_]+")
_PLAIN_WORD = re.compile(r"(?<![@\w.])[a-z]+(?!\.?\w|@)")
"""A word in lower case that is no part of a handle, an address or the name of a host."""
_LEAST = 2
"""The characters of the shortest name."""
_LEAST_CONTACT = 5
_DEPTH = 3
"""How often JSON may be a text within JSON."""


def known_names(value: object, depth: int = 0) -> Iterator[Sensitive]:
    """Yield the people, ids and owners of repositories in a JSON value, by the fields that hold them.

    The texts of the value may hold JSON as well.
    """
    if isinstance(value, str):
        yield from _in_text(value, depth)
    for item in as_list(value):
        yield from known_names(item, depth)
    fields = as_object(value)
    for key, inner in fields.items():
        yield from _of_field(key, inner, fields)
        yield from known_names(inner, depth)


def _of_field(key: str, value: object, beside: Mapping[str, object]) -> Iterator[Sensitive]:
    texts = [value, *as_list(value)]
    names = [text for text in texts if isinstance(text, str)]
    if key in _PEOPLE or (key == "name" and not _BESIDE_NAMES.isdisjoint(beside)):
        yield from _names(names)
    if key in _IDS:
        yield from (Sensitive(text, "code", "code") for text in names if _ID.fullmatch(text))
    if key in _CONTACTS:
        yield from (Sensitive(text, "code", "code") for text in names if len(text) >= _LEAST_CONTACT)
    if key in _OWNERS:
        owners = [text.partition("/")[0] for text in names if "/" in text]
        yield from (Sensitive(owner, "name", "code") for owner in owners if len(owner) > _LEAST)


def _in_text(text: str, depth: int) -> Iterator[Sensitive]:
    yield from _names(people_in(text))
    for key, inner in fields_in(text):
        yield from _of_field(key, inner, {})
    if depth < _DEPTH:
        for value in values_in(text):
            yield from known_names(value, depth + 1)


def _names(texts: Iterable[str]) -> Iterator[Sensitive]:
    for text in texts:
        for name in text.split(", "):
            plain = name.strip().lstrip("@")
            if len(plain) >= _LEAST and plain.lower() not in _NOT_NAMES and _WORD.search(plain):
                yield Sensitive(plain, _form(plain), "code")


def named_in_entry(entry: Mapping[str, object]) -> Iterator[Sensitive]:
    """Yield the people that an entry names in fields of its own, as JSON."""
    match entry["kind"]:
        case "run.accepted":
            yield from _of_event(as_object(entry.get("event")))
        case "approval.decided" | "run.cancelled" | "run.retried":
            yield from _names(filter(None, [as_text(entry.get("by")), as_text(entry.get("actor"))]))
        case "approval.clicked":
            yield from _names(filter(None, [as_text(entry.get("actor"))]))
        case _:
            pass


def _of_event(event: Mapping[str, object]) -> Iterator[Sensitive]:
    """Yield the actor of an event, and the ids of its place, as JSON."""
    described = as_object(event.get("actor"))
    actor = as_text(described.get("id"))
    if len(actor) >= _LEAST and described.get("kind", "person") == "person":
        yield Sensitive(actor, _form(actor), "code")
    place = as_object(event.get("place"))
    for key in ("channel", "team", "user", "issue_id", "page", "workspace"):
        identity = as_text(place.get(key))
        if _ID.fullmatch(identity):
            yield Sensitive(identity, "code", "code")


def _form(actor: str) -> Form:
    """Return `code` for an id, and `name` for the name or the handle of a person."""
    if _ID.fullmatch(actor) and actor.upper() == actor:
        return "code"
    return "name"


def parts_of(names: Iterable[Sensitive], ordinary: frozenset[str]) -> Iterator[Sensitive]:
    """Yield the words of names of several words, without words that the company's own prompts use as words."""
    for name in names:
        words = cast(list[str], _WORD.findall(name.word))
        if name.form != "name" or name.bounds == "mailbox" or len(words) < 2:
            continue
        for word in words:
            least = _LEAST + 1
            if is_unbroken(word):
                least = _LEAST
            if len(word) >= least and word.lower() not in ordinary and not word.isdigit():
                yield Sensitive(word, "name", "word")


def ordinary_words(texts: Iterable[str]) -> frozenset[str]:
    """Return the words in lower case of prompts and descriptions of tools, which therefore identify no person."""
    return frozenset(word for text in texts for word in _PLAIN_WORD.findall(text))
