"""The question to a person whether a call may be made: what they see is what will happen.

Every argument stands in a box of its own, as typed text that Slack does not read for Markdown, links or mentions. A
character that could hide something is shown by its number. A long argument is cut, and the cut names its length and
hash. An argument that the message has no room for is named with its length.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import Literal

from pydantic import Field

from gofer.sources.slack.markdown import BLOCK_SIZE, characters, within
from gofer.tools.definition import Arguments
from gofer.values.canonical_json import encode_text

SHOWN = 10_000
"""What all arguments together take of a message: their characters, and what each name and each box takes besides."""
LEAST = 200
"""Characters of each argument that has a box, at least."""
_CUT_NOTE = 150
"""Characters that the note of a cut takes."""
_LEFT_NOTE = 1_200
"""What the line takes that names the arguments without a box."""
_LONGEST_NAME = 80

Block = dict[str, object]


class Question(Arguments):
    """What is asked, whom, and what the buttons say to Gofer."""

    tool: str
    arguments: dict[str, object]
    arguments_sha256: str
    about: Literal["call", "leaving", "elsewhere"]
    where: str = ""
    """The place that the call writes to, where the question is about that."""
    direct: bool = False
    """Whether the run was asked in a direct message."""
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
    """Return the question with its buttons; with `ending` instead of them once it is closed."""
    elements: list[Block] = [_line(_bold(_title(asked)))]
    boxes = rendered(asked.arguments)
    for name, value in boxes:
        elements += [_line(_bold(name)), _box(value)]
    if left := list(asked.arguments.items())[len(boxes) :]:
        elements.append(_line(_bold(_without_box(left))))
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
    """Return one line in place of a question that needs no answer any more."""
    return [_rich([_line(_text(text))])]


def fallback(asked: Question) -> str:
    """Return what a notification says: nothing of the arguments."""
    return _title(asked)


def rendered(arguments: Mapping[str, object]) -> Sequence[tuple[str, str]]:
    """Return the arguments that have a box, in order, each by its name: text as it is, everything else as JSON.

    The short ones are whole, and the long ones share the room that is left.
    """
    shown = [(_name(name), _visible(value)) for name, value in arguments.items()]
    needs = [2 * BLOCK_SIZE + characters(name) + _least(text) for name, text in shown]
    room = SHOWN
    if sum(needs) > room:
        room -= _LEFT_NOTE
        shown = shown[: sum(total <= room for total in accumulate(needs))]
    room -= sum(2 * BLOCK_SIZE + characters(name) for name, _ in shown)
    limits = _shares([characters(text) for _, text in shown], room)
    values = list(arguments.values())
    return [(name, _cut(text, values[at], limits[at])) for at, (name, text) in enumerate(shown)]


def _least(text: str) -> int:
    """Return what a text takes when it is cut as much as it may be."""
    return min(characters(text), LEAST + _CUT_NOTE)


def _shares(sizes: Sequence[int], room: int) -> Sequence[int]:
    """Return how much of the room each text gets: the short ones all that they need, the others equal parts."""
    limits = [0] * len(sizes)
    left = len(sizes)
    for at in sorted(range(len(sizes)), key=lambda at: sizes[at]):
        limits[at] = min(sizes[at], room // left)
        room -= limits[at]
        left -= 1
    return limits


def moment(at_ms: int) -> str:
    """Return a time for people."""
    then = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{then.day} {then:%B %H:%M} UTC"


def _title(asked: Question) -> str:
    match asked.about:
        case "leaving":
            return f"You started this in a {_origin(asked)}. May {asked.tool} take this {_target(asked)}?"
        case "elsewhere":
            return f"You did not start this in {_place(asked)}. May {asked.tool} write this there?"
        case "call":
            return f"May I call {asked.tool} with exactly this?"


def _origin(asked: Question) -> str:
    if asked.direct:
        return "direct message"
    return "private channel"


def _target(asked: Question) -> str:
    if not asked.where:
        return "out of it"
    return f"to {_place(asked)}"


def _place(asked: Question) -> str:
    return _visible(asked.where)[:_LONGEST_NAME]


def _visible(value: object) -> str:
    return "".join(char if char.isprintable() or char == "\n" else f"\\u{{{ord(char):x}}}" for char in _text_of(value))


def _text_of(value: object) -> str:
    if isinstance(value, str) and value:
        return value
    return encode_text(value)


def _name(name: str) -> str:
    visible = _visible(name)
    if len(visible) > _LONGEST_NAME:
        return f"{visible[:_LONGEST_NAME]}…"
    return visible


def _cut(visible: str, value: object, limit: int) -> str:
    if characters(visible) <= limit:
        return visible
    text = _text_of(value)
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    kept = visible[: within(visible, limit - _CUT_NOTE)]
    return f"{kept}\n[Cut here. It has {len(text):,} characters in all, sha256 {digest}.]"


def _without_box(left: Sequence[tuple[str, object]]) -> str:
    """Return the sentence that names the arguments that the message has no room for."""
    named: list[str] = []
    room = _LEFT_NOTE - 3 * BLOCK_SIZE
    for name, value in left:
        named.append(f"{_name(name)} ({len(_text_of(value)):,} characters)")
        room -= characters(f"{named[-1]}, ")
        if room < 0:
            named[-1] = f"and {len(left) - len(named) + 1} others"
            break
    return f"This message has no room for {len(left)} more arguments of the call: {', '.join(named)}."


def _people(asked: Question) -> list[Block]:
    leaves: list[Block] = []
    for number, one in enumerate(asked.page or asked.by):
        if number:
            leaves += [_text(", ")]
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
