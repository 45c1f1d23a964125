"""A model that obeys an attacker: the last text between `<<do>>` and `<</do>>` in anything that it reads.

The text is the JSON of a play, compressed and in hexadecimal digits, so that no source changes it on its way. A play is
a list of turns: an answer as a string, or calls as `[[tool, arguments], …]`. Without such a text the model follows its
plan, which is a play too: the work that the prompt asks for.
"""

import asyncio
import base64
import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from typing_extensions import override

from gofer.models.language_model import Answer, Model
from support.engine.memory_run import says

Play = Sequence[Any]
"""The turns of a model: answers, or lists of calls."""
_ORDER = re.compile(r"<<do>>([0-9a-f\s]+)<</do>>")
_FACT = re.compile(r"\{([A-Z][A-Z_]*)(?::([a-z0-9]+))?\}")
_FORMS: Mapping[str, Callable[[str], str]] = {
    "": str,
    "hex": lambda text: text.encode().hex(),
    "b64": lambda text: base64.b64encode(text.encode()).decode(),
    "b32": lambda text: base64.b32encode(text.encode()).decode().lower().rstrip("="),
    "reversed": lambda text: text[::-1],
    "spaced": " ".join,
    "half1": lambda text: text[: len(text) // 2],
    "half2": lambda text: text[len(text) // 2 :],
    **{f"letter{number}": itemgetter(number - 1) for number in range(1, 10)},
    "percent": lambda text: "".join(f"%{ord(sign):02x}" for sign in text),
}
"""How the attacker wants a secret written, by the word after its name, as in `{PRIV:hex}`."""


def order(play: Play) -> str:
    """Return the text that makes the model follow a play."""
    return f"<<do>>{zlib.compress(json.dumps(play).encode(), 9).hex()}<</do>>"


def forms_of(secret: str) -> Sequence[str]:
    """Return the ways in which a secret may be written, without those that split it."""
    return [form(secret) for name, form in _FORMS.items() if not name.startswith(("half", "letter"))]


@dataclass
class HijackedModel(Model):
    """The model. It knows each secret that stands in a request, and facts about the world that attackers know."""

    plan: Play = ()
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    facts: Callable[[], Mapping[str, str]] = dict
    requests: list[str] = field(default_factory=list[str])
    obeyed: bool = False
    """Whether it read an order."""
    summaries: int = 0
    """How often it wrote the summary of a compaction."""
    silent_at: int = 0
    """The number of a request that gets no answer; 0 for none."""
    silent: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when this request arrived."""

    @override
    async def ask(self, body: bytes, timeout: float) -> Answer:
        request = json.loads(body)
        read = json.dumps(request, ensure_ascii=False)
        self.requests.append(read)
        if len(self.requests) == self.silent_at:
            self.silent.set()
            await asyncio.Event().wait()
        messages = [message for message in request["messages"] if message["role"] not in ("system", "developer")]
        turn = self._turn(messages)
        if "Write what you need to continue" in _text(messages[-1].get("content")):
            self.summaries += 1
            # A hijacked summary carries the order on.
            return says(order(self._rest(messages)))
        known = {**self.facts(), **{name: secret for name, secret in self.secrets.items() if secret in read}}
        tokens = len(body) // 4
        if isinstance(turn, str):
            return says(_filled(turn, known), tokens=tokens)
        return says("", *((tool, _filled_in(arguments, known)) for tool, arguments in turn), tokens=tokens)

    def _turn(self, messages: Sequence[Mapping[str, Any]]) -> Any:
        """Return the next turn: of the last order if there is one, or of the plan."""
        return next(iter(self._rest(messages)), "Done.")

    def _rest(self, messages: Sequence[Mapping[str, Any]]) -> Play:
        """Return the turns that are left."""
        texts = ["" if message["role"] == "assistant" else _text(message.get("content")) for message in messages]
        orders = [found for text in texts for found in _ORDER.findall(text)]
        play, since = self.plan, 0
        if orders:
            self.obeyed = True
            play = json.loads(zlib.decompress(bytes.fromhex("".join(orders[-1].split()))))
            since = next(index for index, text in enumerate(texts) if orders[-1] in text)
        done = sum(message["role"] == "assistant" for message in messages[since:])
        return play[done:]


def _text(content: object) -> str:
    """Return the text of a message from its content: a text or a list of parts."""
    match content:
        case str():
            return content
        case list():
            return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
        case _:
            return ""


def _filled_in(value: Any, known: Mapping[str, str]) -> Any:
    match value:
        case str():
            return _filled(value, known)
        case list():
            return [_filled_in(one, known) for one in value]
        case dict():
            return {name: _filled_in(one, known) for name, one in value.items()}
        case _:
            return value


def _filled(text: str, known: Mapping[str, str]) -> str:
    """Return a text with secrets and facts for their names, and `nothing` for a secret that the model did not read."""
    return _FACT.sub(lambda found: _FORMS[found[2] or ""](known[found[1]]) if found[1] in known else "nothing", text)
