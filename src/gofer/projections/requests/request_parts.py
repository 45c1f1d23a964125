"""The fixed beginning of a run's requests, and the estimated tokens of each part of a request.

A request is `{params, tools, "messages": [system, history…, tail]}`. `engine/model_request.py` builds it for a model,
and readers of a journal build it again.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gofer.projections.conversation import Conversation
from gofer.values import messages
from gofer.values.canonical_json import as_list, as_object, as_text, encode, encode_text
from gofer.values.messages import Media
from gofer.values.tokens import content_of, estimate

MESSAGE = 4
"""Tokens that each message takes beside its text."""
IMAGE = 1_100
"""Estimated tokens of an image."""
PAGE = 1_800
"""Estimated tokens of one page of a document: its image and its text."""
_PAGES = re.compile(r"\((\d+) pages\)")
SKILLS = ("load_skills", "load_subskill")
"""The tools whose results are skills."""
_FILES = ("file_read", "peek_file", "load_file", "file_regex", "extract_file", "jq", "grep_json")


def head(params: Mapping[str, object], tools: Sequence[Mapping[str, object]], system: str) -> bytes:
    """Return the bytes at the beginning of every request of a run, up to its system message."""
    fixed = dict(messages.sent(params))
    if tools:
        fixed["tools"] = tools
    return encode(fixed)[:-1] + b',"messages":[' + messages.system(system)


def media_tokens(media: Media) -> int:
    """Return the estimated tokens of an image or a document."""
    if media.media_type.startswith("image/"):
        return IMAGE
    return _document(media.pages)


def _document(pages: int) -> int:
    return PAGE * max(1, pages)


@dataclass(slots=True)
class Weight:
    """The estimated tokens of a request, by role and by kind of content."""

    roles: dict[str, int] = field(default_factory=dict[str, int])
    kinds: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, role: str, text: str, *, more: int = 0) -> int:
        """Add a text with `more` tokens around it; return its tokens."""
        tokens = estimate(text) + more
        self._count(role, content_of(text), tokens)
        return tokens

    def add_media(self, role: str, piece: Mapping[str, object]) -> int:
        """Add an image or a document of a message; return its tokens. The file name of a document holds its pages."""
        if piece.get("type") != "file":
            self._count(role, "image", IMAGE)
            return IMAGE
        pages = _PAGES.search(as_text(as_object(piece.get("file")).get("filename")))
        tokens = _document(1)
        if pages is not None:
            tokens = _document(int(pages[1]))
        self._count(role, "document", tokens)
        return tokens

    def plus(self, other: "Weight") -> "Weight":
        """Add another weight to this one, and return this one."""
        for mine, added in ((self.roles, other.roles), (self.kinds, other.kinds)):
            for name, tokens in added.items():
                mine[name] = mine.get(name, 0) + tokens
        return self

    def _count(self, role: str, kind: str, tokens: int) -> None:
        self.roles[role] = self.roles.get(role, 0) + tokens
        self.kinds[kind] = self.kinds.get(kind, 0) + tokens


class RequestWeights:
    """The estimates of one run's requests. Each message is weighed once, until a compaction changes the history."""

    def __init__(self, system: str, tools: Sequence[Mapping[str, object]]) -> None:
        self._fixed = Weight()
        self._tail: tuple[str, Weight] = ("", Weight())
        self._fixed.add("system", system, more=MESSAGE)
        if tools:
            self._fixed.add("tools", encode_text(tools))
        self._begin(0)

    def _begin(self, epoch: int) -> None:
        self._weight = Weight(dict(self._fixed.roles), dict(self._fixed.kinds))
        self._parts: list[int] = []
        self._calls: dict[str, str] = {}
        self._epoch = epoch

    def weigh(self, conversation: Conversation, tail: str = "") -> Weight:
        """Return the weight of the next request, with its tail."""
        self.parts(conversation)
        whole = Weight(dict(self._weight.roles), dict(self._weight.kinds))
        if tail != self._tail[0]:
            self._tail = tail, Weight()
            self._tail[1].add("tail", tail, more=MESSAGE)
        if not tail:
            return whole
        return whole.plus(self._tail[1])

    def parts(self, conversation: Conversation) -> Sequence[int]:
        """Return the estimated tokens of each message of a conversation."""
        if conversation.epoch != self._epoch:
            self._begin(conversation.epoch)
        for part in conversation.parts[len(self._parts) :]:
            self._parts.append(self._weigh_message(as_object(json.loads(part))))
        return self._parts

    def _weigh_message(self, message: Mapping[str, object]) -> int:
        role = self._role(message)
        content = message.get("content")
        tokens = self._weight.add(role, as_text(content), more=MESSAGE)
        tokens += self._weight.add(role, as_text(message.get("reasoning_content")))
        for piece in map(as_object, as_list(content)):
            if piece.get("type") == "text":
                tokens += self._weight.add(role, as_text(piece.get("text")))
            else:
                tokens += self._weight.add_media("files", piece)
        for call in map(as_object, as_list(message.get("tool_calls"))):
            function = as_object(call.get("function"))
            self._calls[as_text(call.get("id"))] = as_text(function.get("name"))
            asked = f"{as_text(function.get('name'))} {as_text(function.get('arguments'))}"
            tokens += self._weight.add(role, asked, more=MESSAGE)
        return tokens

    def _role(self, message: Mapping[str, object]) -> str:
        tool = self._calls.get(as_text(message.get("tool_call_id")), "")
        if tool in SKILLS:
            return "skills"
        if tool in _FILES:
            return "files"
        return "history"
