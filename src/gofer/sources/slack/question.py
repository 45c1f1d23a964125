"""The question whether a run may make a call. It shows the arguments of the call exactly.

Every argument has its own box with plain text, in which Slack does not interpret Markdown, links or mentions. An
invisible character is shown as its number. Arguments without room stand whole in a file below the question, which
names them. A question that cannot show an argument whole, and has no such file, cannot be approved: the argument is
cut, followed by its length and hash, or named with its length.
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
"""The most characters of a message for all arguments together, including BLOCK_SIZE for each name and each box."""
LEAST = 200
"""The fewest characters that are shown of each argument with a box."""
_CUT_NOTE = 150
"""The characters that are reserved for the note after a cut."""
_LEFT_NOTE = 1_200
"""The characters that are reserved for the line that names the arguments without a box."""
_LONGEST_NAME = 80

Block = dict[str, object]


class Question(Arguments):
    """The content of a question, its recipients, and the tokens of its buttons."""

    tool: str
    arguments: dict[str, object]
    arguments_sha256: str
    about: Literal["call", "leaving", "elsewhere"]
    where: str = ""
    """The place that the call writes to, if the question is about the place; else empty."""
    direct: bool = False
    """Whether the run was started in a direct message."""
    by: list[str] = Field(min_length=1)
    """The approvers, as named in the workflow file."""
    page: list[str] = Field(default_factory=list)
    """The member and group ids of the approvers, whom Slack notifies."""
    until: int
    """The deadline in unix milliseconds."""
    approve: str = ""
    """The token of the button; empty for a closed question."""
    deny: str = ""
    file: str = ""
    """The name of the file with all arguments, for a question that has no room for some; else empty."""
    to: str = ""
    """The only person who sees the question; empty if everyone in the thread sees it."""
    channel: str = ""
    thread_ts: str = ""


def blocks(asked: Question, ending: str = "") -> list[Block]:
    """Return the question with its buttons, or with `ending` in place of the buttons."""
    elements: list[Block] = [_line(_bold(_title(asked)))]
    arguments, filed = _beside_file(asked)
    boxes = rendered(arguments)
    for name, value in boxes:
        elements += [_line(_bold(name)), _box(value)]
    if left := list(arguments.items())[len(boxes) :]:
        elements.append(_line(_bold(_without_box(left))))
    if filed:
        elements.append(_line(_bold(f"The file {asked.file} here has all arguments whole. {_without_box(filed)}")))
    if not asked.arguments:
        elements.append(_line(_text("It takes no arguments.")))
    if not (ending or asked.approve):
        ending = "The buttons appear once the file is below."
    if ending:
        return [_rich([*elements, _line(_bold(ending))])]
    until = moment(asked.until)
    known = f"Arguments {asked.arguments_sha256[:12]}. Without a decision until {until} it counts as denied."
    return [
        _rich([*elements, _line(_text("Who may decide: "), *_people(asked)), _line(_text(known))]),
        {
            "type": "actions",
            "elements": [
                *([_button("approve", "Approve", "primary", asked.approve)] if fits(arguments) else []),
                _button("deny", "Deny", "danger", asked.deny),
            ],
        },
    ]


def closed(text: str) -> list[Block]:
    """Return one line that replaces a closed question."""
    return [_rich([_line(_text(text))])]


def fallback(asked: Question) -> str:
    """Return the text of a notification, which contains no arguments."""
    return _title(asked)


def rendered(arguments: Mapping[str, object]) -> Sequence[tuple[str, str]]:
    """Return the name and text of each argument with a box, in order. Text is unchanged; other values are JSON.

    Short arguments are whole, and long ones share the remaining room.
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


def fits(arguments: Mapping[str, object]) -> bool:
    """Return whether a question shows all arguments whole."""
    return rendered(arguments) == [(_name(name), _visible(value)) for name, value in arguments.items()]


def whole_text(asked: Question) -> str:
    """Return the text of the file with all arguments."""
    parts = [f"{_name(name)}:\n{_visible(value)}" for name, value in asked.arguments.items()]
    return "\n\n".join([f"{asked.tool}, arguments {asked.arguments_sha256}", *parts])


def _beside_file(asked: Question) -> tuple[Mapping[str, object], Sequence[tuple[str, object]]]:
    """Return the arguments in the question, and those that only its file has: the longest, until the others fit."""
    if not asked.file:
        return asked.arguments, []
    needs = {
        name: 2 * BLOCK_SIZE + characters(_name(name)) + characters(_visible(value))
        for name, value in asked.arguments.items()
    }
    room = SHOWN - _LEFT_NOTE
    kept: set[str] = set()
    for name in sorted(needs, key=lambda name: needs[name]):
        room -= needs[name]
        if room >= 0:
            kept.add(name)
    shown = {name: value for name, value in asked.arguments.items() if name in kept}
    return shown, [(name, value) for name, value in asked.arguments.items() if name not in kept]


def _least(text: str) -> int:
    """Return the length of a text when it is cut to the minimum."""
    return min(characters(text), LEAST + _CUT_NOTE)


def _shares(sizes: Sequence[int], room: int) -> Sequence[int]:
    """Return the share of the room for each text: short texts get their full length, the others equal parts."""
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
    """Return the sentence that names the arguments without a box."""
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
