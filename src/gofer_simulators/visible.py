"""The parts of a world's changes that people see, such as messages, buttons, comments and issues."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.visible import Visible

_MESSAGE = re.compile(r"/slack/channels/[^/]+/messages/[^/]+")
_EDIT = re.compile(r"(/slack/channels/[^/]+/messages/[^/]+)/text")
_BLOCKS = re.compile(r"(/slack/channels/[^/]+/messages/[^/]+)/blocks(?:/.*)?")
_REACTION = re.compile(r"(/slack/channels/[^/]+/messages/[^/]+)/reactions/([^/]+)(?:/.*)?")
_ISSUE = re.compile(r"/jira/[A-Z][A-Z0-9_]*-\d+|/github/repositories/[^/]+/(?:issues|pulls)/\d+")
_COMMENT = re.compile(r"/(?:jira|notion|github)/.*/(?:comments|reviews|discussions)/[^/]+")
_PAGE = re.compile(r"/notion/[^/]+")


def visible_in(changes: Mapping[str, object]) -> Sequence[Visible]:
    """Return what people saw of the changes to a world, in the order of the changes."""
    added = as_object(changes.get("added"))
    changed = as_object(changes.get("changed"))
    found = [one for path, value in added.items() for one in _added(path, value)]
    found += [one for path, value in changed.items() for one in _changed(path, as_object(value).get("after"))]
    return found


def _added(path: str, value: object) -> Iterator[Visible]:
    fields = as_object(value)
    if _MESSAGE.fullmatch(path):
        yield Visible("message", path, as_text(fields.get("text")))
        yield from (
            Visible("file", path, as_text(as_object(file).get("name"))) for file in as_list(fields.get("files"))
        )
        yield from (Visible("button", path, label) for label in _buttons(fields.get("blocks")))
        yield from (Visible("reaction", path, name) for name in as_object(fields.get("reactions")))
    elif reaction := _REACTION.fullmatch(path):
        yield Visible("reaction", reaction[1], reaction[2])
    elif blocks := _BLOCKS.fullmatch(path):
        yield from (Visible("button", blocks[1], label) for label in _buttons(value))
    elif _ISSUE.fullmatch(path):
        yield Visible("issue", path, _written(fields, "summary", "title", "description", "body"))
    elif _COMMENT.fullmatch(path):
        yield Visible("comment", path, _text_of(value))
    elif _PAGE.fullmatch(path):
        yield Visible("page", path, _written(fields, "title", "markdown"))


def _changed(path: str, after: object) -> Iterator[Visible]:
    if edit := _EDIT.fullmatch(path):
        yield Visible("edit", edit[1], as_text(after))
    elif reaction := _REACTION.fullmatch(path):
        yield Visible("reaction", reaction[1], reaction[2])
    elif blocks := _BLOCKS.fullmatch(path):
        yield from (Visible("button", blocks[1], label) for label in _buttons(after))


def _written(fields: Mapping[str, object], *names: str) -> str:
    return "\n".join(filter(None, (as_text(fields.get(name)) for name in names)))


def _text_of(value: object) -> str:
    """Return the text of a comment, which each system keeps in a form of its own."""
    fields = as_object(value)
    for name in ("body", "text", "markdown"):
        if text := as_text(fields.get(name)):
            return text
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _buttons(blocks: object) -> Iterator[str]:
    """Yield the labels of the buttons in blocks of Slack."""
    for block in [as_object(blocks), *map(as_object, as_list(blocks))]:
        for element in map(as_object, as_list(block.get("elements"))):
            if element.get("type") == "button":
                yield as_text(as_object(element.get("text")).get("text"))
