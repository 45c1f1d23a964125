"""How is a person asked whether a call may be made, so that what they see is what will happen?

Every argument stands in a box of its own, as typed text that Slack does not read for Markdown, links or mentions. What
could hide something is shown by its number, and what is long is cut where everybody sees it, with its length and hash.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal

from pydantic import Field

from gofer.canonical import encode_text
from gofer.tools.tool import Arguments

SHOWN = 9_000
"""Characters of all arguments together that are shown."""
LEAST = 200
"""Characters that are shown of each argument at least, however many there are."""

Block = dict[str, object]


class Question(Arguments):
    """What is asked, whom, and what the buttons say to Gofer."""

    tool: str
    arguments: dict[str, object]
    arguments_sha256: str
    about: Literal["call", "leaving"]
    by: list[str] = Field(min_length=1)
    """Who may decide, as the workflow file says it."""
    page: list[str] = Field(default_factory=list)
    """Member and group IDs of them, who are notified."""
    until: int
    """Unix milliseconds."""
    approve: str = ""
    """The value of the button; empty for a question that is closed."""
    deny: str = ""
    to: str = ""
    """The one person who sees it; empty for everybody in the thread."""
    channel: str = ""
    thread_ts: str = ""


def blocks(asked: Question, ending: str = "") -> list[Block]:
    """The question with its buttons; with `ending` instead of them once it is closed."""
    elements: list[Block] = [_line(_bold(_title(asked)))]
    for name, value in rendered(asked.arguments):
        elements += [_line(_bold(name)), _box(value)]
    if not asked.arguments:
        elements.append(_line(_text("It takes no arguments.")))
    if ending:
        return [_rich([*elements, _line(_bold(ending))])]
    until = moment(asked.until)
    known = f"Arguments {asked.arguments_sha256[:12]}. Without a decision until {until} it counts as denied."
    return [
        _rich([*elements, _line(_text("Who may decide: "), *_people(asked)), _line(_text(known))]),
        {
            "type": "actions",
            "elements": [
                _button("approve", "Approve", "primary", asked.approve),
                _button("deny", "Deny", "danger", asked.deny),
            ],
        },
    ]


def closed(text: str) -> list[Block]:
    """One line in place of a question that needs no answer any more."""
    return [_rich([_line(_text(text))])]


def fallback(asked: Question) -> str:
    """What a notification says: nothing of the arguments."""
    return _title(asked)


def rendered(arguments: Mapping[str, object]) -> Sequence[tuple[str, str]]:
    """Each argument by its name as people read it: text as it is, everything else as JSON."""
    limit = max(LEAST, SHOWN // max(1, len(arguments)))
    return [(name, _shown(value, limit)) for name, value in arguments.items()]


def moment(at_ms: int) -> str:
    """A time for people."""
    then = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{then.day} {then:%B %H:%M} UTC"


def _title(asked: Question) -> str:
    if asked.about == "leaving":
        return f"You started this in a private channel. May {asked.tool} take this out of it?"
    return f"May I call {asked.tool} with exactly this?"


def _shown(value: object, limit: int) -> str:
    text = value if isinstance(value, str) and value else encode_text(value)
    visible = "".join(char if char.isprintable() or char == "\n" else f"\\u{{{ord(char):x}}}" for char in text)
    if len(visible) <= limit:
        return visible
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    return f"{visible[:limit]}\n[Cut here. It has {len(text):,} characters in all, sha256 {digest}.]"


def _people(asked: Question) -> list[Block]:
    leaves: list[Block] = []
    for number, one in enumerate(asked.page or asked.by):
        leaves += [_text(", ")] if number else []
        if one.startswith("S") and asked.page:
            leaves.append({"type": "usergroup", "usergroup_id": one})
        else:
            leaves.append({"type": "user", "user_id": one} if asked.page else _text(one))
    return leaves


def _button(action: str, label: str, style: str, value: str) -> Block:
    text = {"type": "plain_text", "text": label, "emoji": False}
    return {"type": "button", "action_id": action, "text": text, "style": style, "value": value}


def _rich(elements: Sequence[Block]) -> Block:
    return {"type": "rich_text", "elements": list(elements)}


def _box(text: str) -> Block:
    return {"type": "rich_text_preformatted", "elements": [_text(text)]}


def _line(*leaves: Block) -> Block:
    return {"type": "rich_text_section", "elements": list(leaves)}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _bold(text: str) -> Block:
    return {"type": "text", "text": text, "style": {"bold": True}}
