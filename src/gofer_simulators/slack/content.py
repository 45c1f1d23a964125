"""The content of a message, and the vendor's limits for text, blocks and metadata."""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from gofer_simulators.json_values import JsonObject, is_object, objects, text_of
from gofer_simulators.slack.arguments import Arguments
from gofer_simulators.slack.block_forms import check_forms
from gofer_simulators.slack.form_checks import invalid
from gofer_simulators.slack.markdown import PARSER, block_count, mistake_in_tables, units
from gofer_simulators.slack.shapes import escaped, fallback_text, stable_id
from gofer_simulators.slack.workspace import SlackRefusal

MAX_TEXT = 40_000
MAX_EDITED_TEXT = 4_000
"""Longest `text` of `chat.update` in UTF-8 bytes, also for a message with blocks."""
MAX_MARKDOWN = 12_000
MAX_BLOCKS = 50
MAX_ALL_BLOCKS = 13_297
"""Most characters in all blocks of a message together. Slack documents no figure; this figure was measured
(slackapi/bolt-js issue 2509)."""
BLOCK_SIZE = 125
"""Characters that each block after the first counts besides its text, measured there for a divider."""

_ENTITY = re.compile(r"<(!(?:channel|here|everyone|group)|!subteam\^\w+|@[UW]\w+)(?:\|[^<>]*)?>", re.IGNORECASE)
_PLAIN = re.compile(r"(?<![A-Za-z0-9])@(channel|here|everyone)", re.IGNORECASE)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True)
class Content:
    """The checked content of a message."""

    text: str
    blocks: tuple[JsonObject, ...]
    attachments: tuple[JsonObject, ...]
    mentions: frozenset[str] = frozenset()
    """The people and groups that the message pages, as `@U…`, `!here` or `!subteam^S…`."""


def content_of(arguments: Arguments) -> Content:
    """Return the content of a new message. Raises SlackRefusal for content that Slack refuses."""
    text = arguments.text("text")
    markdown = arguments.text("markdown_text")
    blocks = arguments.blocks()
    attachments = arguments.json("attachments", "invalid_attachments")
    if markdown and (text or blocks):
        raise SlackRefusal("markdown_text_conflict")
    if markdown:
        blocks = [{"type": "markdown", "text": markdown}]
    if not text and not blocks and not objects(attachments):
        raise SlackRefusal("no_text")
    if units(text) > MAX_TEXT:
        raise SlackRefusal("msg_too_long", f"text has {units(text)} characters")
    checked = checked_blocks(blocks or [])
    fallback = text or fallback_text(checked)
    plain = arguments.flag("link_names") or arguments.text("parse") == "full"
    paged = mentions(fallback, checked, plain=plain)
    return Content(fallback, checked, tuple(objects(attachments)), paged)


def edited_content_of(arguments: Arguments) -> Content:
    """Return the new content of a message. Raises SlackRefusal as for a new message, and for too many bytes."""
    size = len(arguments.text("text").encode("utf-8", "replace"))
    if size > MAX_EDITED_TEXT:
        raise SlackRefusal("msg_too_long", f"text has {size} bytes")
    return content_of(arguments)


def metadata_of(arguments: Arguments) -> JsonObject | None:
    """Return the metadata of a message, or None if it has none. Raises SlackRefusal for a wrong form."""
    value = arguments.json("metadata", "invalid_metadata_format")
    if value is None:
        return None
    if not is_object(value) or not text_of(value, "event_type") or not is_object(value.get("event_payload")):
        raise SlackRefusal("invalid_metadata_format")
    return value


def mentions(text: str, blocks: Iterable[JsonObject], *, plain: bool) -> frozenset[str]:
    """Return the people and groups that a message mentions, as `@U…`, `!here` or `!subteam^S…`.

    This is the strictest reading. An entity counts in text, in mrkdwn and everywhere in Markdown, also in code and
    links, and also if it appears only after HTML and Markdown escapes are undone. `plain` also counts a plain
    `@channel`, for messages that ask Slack to look for names.
    """
    marked, markdown = _texts(text, blocks)
    readings = [*marked, *markdown, *map(_unescaped, markdown)]
    found = {match[1] for reading in readings for match in _ENTITY.finditer(reading)}
    if plain:
        found |= {f"!{match[1].lower()}" for reading in readings for match in _PLAIN.finditer(reading)}
    return frozenset(found)


def _texts(text: str, blocks: Iterable[JsonObject]) -> tuple[list[str], list[str]]:
    """Return the texts of a message in mrkdwn, and its texts in Markdown."""
    marked: list[str] = [text]
    markdown: list[str] = []
    waiting: list[JsonObject] = list(blocks)
    while waiting:
        block = waiting.pop()
        if block.get("type") == "markdown":
            markdown.append(text_of(block, "text"))
        else:
            marked.append(text_of(block, "text"))
        for value in block.values():
            waiting += objects(value) + objects([value])
    return marked, markdown


def _unescaped(markdown: str) -> str:
    return html.unescape(_ESCAPE.sub(r"\1", markdown))


def checked_blocks(blocks: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
    """Return the blocks of a message with their ids. Raises SlackRefusal for blocks that Slack refuses."""
    if len(blocks) > MAX_BLOCKS:
        raise _too_many()
    check_forms(blocks)
    markdown = [text_of(block, "text") for block in blocks if block.get("type") == "markdown"]
    check_size(blocks, _checked_block_count(markdown, len(blocks)))
    return tuple(with_id(block, index) for index, block in enumerate(blocks))


def _checked_block_count(texts: Sequence[str], blocks: int) -> int:
    """Check the markdown blocks of a message with `blocks` blocks; return how many blocks Slack makes of the message.

    Raises SlackRefusal.
    """
    if (characters := sum(map(units, texts))) > MAX_MARKDOWN:
        raise SlackRefusal("msg_too_long", f"markdown blocks have {characters} characters")
    parsed = [PARSER.parse(text) for text in texts]
    slack_blocks = blocks - len(texts) + sum(map(block_count, parsed))
    if slack_blocks > MAX_BLOCKS:
        raise _too_many()
    if mistake := mistake_in_tables([token for tokens in parsed for token in tokens]):
        raise invalid(mistake)
    return slack_blocks


def check_size(blocks: Sequence[JsonObject], slack_blocks: int) -> None:
    """Raise SlackRefusal if the blocks have too many characters; Slack makes `slack_blocks` blocks of them."""
    parts = sum(len(objects(block.get("elements"))) for block in blocks if block.get("type") == "rich_text")
    size = _characters(blocks) + BLOCK_SIZE * max(0, slack_blocks + parts - 1)
    if size > MAX_ALL_BLOCKS:
        raise SlackRefusal("msg_blocks_too_long", f"all blocks have {size} characters")


def _characters(value: object) -> int:
    """Return the number of characters of every text in a JSON value, with `&`, `<` and `>` as entities."""
    if is_object(value):
        own = text_of(value, "text")
        below = sum(_characters(inner) for inner in value.values())
        return units(escaped(own)) + below
    if isinstance(value, list | tuple):
        return sum(_characters(inner) for inner in cast("Sequence[object]", value))
    return 0


def with_id(block: JsonObject, index: int) -> JsonObject:
    """Return a block with the id that Slack gives it at its place."""
    # Slack drops the block_id of a markdown block, and adds one to any other block that has none.
    if block.get("type") == "markdown":
        return {key: value for key, value in block.items() if key != "block_id"}
    shown: dict[str, object] = {"block_id": stable_id(str(index), str(block))[:5], **block}
    inside = {"container": "child_blocks", "carousel": "elements"}.get(text_of(block, "type"))
    if inside:
        shown[inside] = [with_id(child, number) for number, child in enumerate(objects(block.get(inside)))]
    return shown


def _too_many() -> SlackRefusal:
    return invalid(f"no more than {MAX_BLOCKS} items allowed")
