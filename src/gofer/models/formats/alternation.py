"""Messages in alternating roles, as the templates of some models demand.

Source: the template of Mistral's models. It counts messages of people and answers without calls, each of which must
follow one of the other role; results of tools and answers with calls do not count. So what a person says after results
is a part of the last result.
"""

from collections.abc import Mapping, Sequence

from gofer.values.canonical_json import as_list
from gofer.values.messages import BY

Message = Mapping[str, object]
_INTO: Mapping[object, Sequence[object]] = {"user": ("user", "tool"), "assistant": ("assistant",)}
"""The roles of messages into which a message of a role is joined, if it follows one of them."""


def alternating(messages: Sequence[Message]) -> Sequence[Message]:
    """Return messages of which no two of one role follow each other, except results of tools.

    Content is only appended, so the beginning of consecutive requests stays the same.
    """
    sent: list[Message] = []
    for message in messages:
        last: Message = sent[-1] if sent else {}
        if last.get("role") in _INTO.get(message.get("role"), ()) and not last.get("tool_calls"):
            sent[-1] = _joined(last, message)
        else:
            sent.append(message)
    return sent


def _joined(first: Message, second: Message) -> Message:
    """Return two messages as one with the role of the first. It has no maker, because the raw items hold only one."""
    joined = {**second, **first, "content": _content(first.get("content"), second.get("content"))}
    return {name: value for name, value in joined.items() if name != BY}


def _content(first: object, second: object) -> object:
    if not first or not second:
        return first or second
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_parts(first), *_parts(second)]


def _parts(content: object) -> Sequence[object]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return as_list(content)
