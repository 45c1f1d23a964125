"""The named parts of a run's history: turns, results, messages and summaries, with their files and skills."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gofer.journal import entries as e
from gofer.projections import conversation
from gofer.projections.conversation import Conversation
from gofer.projections.requests.request_parts import media_tokens
from gofer.values.tokens import estimate

FIRST_MESSAGE = "first message"
"""The name of the message with the request and the source context."""


@dataclass(frozen=True, slots=True)
class Part:
    """One message of the history."""

    name: str
    turn: int = 0
    """The turn of the model that the message belongs to, counted from 1; 0 for messages between turns."""
    files: tuple[str, ...] = ()
    """The ids of the files of which it shows a part; `<skill>/<path>` for other files of a skill."""
    skills: tuple[str, ...] = ()
    """The names of the skills that it holds."""
    texts: Mapping[str, int] = field(default_factory=dict[str, int])
    """The tokens of each file that is only a part of the message; other files share the message equally."""

    def tokens_by_name(self, tokens: int) -> Iterator[tuple[str, int]]:
        """Yield the tokens of each file and skill of the part, whose message has so many tokens."""
        yield from self.texts.items()
        rest = [*(file for file in self.files if file not in self.texts), *map(skill_name, self.skills)]
        for name in rest:
            yield name, (tokens - sum(self.texts.values())) // len(rest)


def skill_name(skill: str) -> str:
    """Return the name of a skill's text in the context."""
    return f"skill {skill}"


@dataclass(slots=True)
class History:
    """The history of one run so far, with a part for each of its messages."""

    conversation: Conversation = field(default_factory=Conversation)
    parts: list[Part] = field(default_factory=list[Part])
    """The parts, in the order of the messages in `conversation.parts`."""
    results: dict[str, Part] = field(default_factory=dict[str, Part])
    """The results of the open turn, by call."""
    held: list[Part] = field(default_factory=list[Part])
    """The messages that arrived while calls of the turn were open."""
    files: list[str] = field(default_factory=list[str])
    """The files that were shown since the last result; a result follows its files and skills."""
    skills: list[str] = field(default_factory=list[str])
    preloaded: list[str] = field(default_factory=list[str])
    """The files that the first message holds."""


def fold(state: History, recorded: e.Recorded) -> None:
    """Add one more entry to the history, in place."""
    asks = dict(state.conversation.asks)
    before = len(state.conversation.parts)
    conversation.fold(state.conversation, recorded)
    match recorded.entry:
        case e.FileAdded(file=file, preloaded=True):
            state.preloaded.append(file)
        case e.FileRead(file=file) | e.FileAdded(file=file):
            state.files.append(file)
        case e.SkillLoaded(skill=skill, file=""):
            state.skills.append(skill)
        case e.SkillLoaded(skill=skill, file=file):
            state.files.append(f"{skill}/{file}")
        case e.MessageReceived() as message:
            part = _message(state, recorded, message)
            if asks:
                state.held.append(part)
            else:
                state.parts.append(part)
            _forget(state)
        case e.LlmResponse():
            turn = state.conversation.turn
            # An empty answer does not enter the history.
            state.parts += [Part(f"turn {turn}", turn)] * (len(state.conversation.parts) - before)
            _forget(state)
        case e.ToolResult(call=call) | e.ToolUnknown(call=call) if call in asks:
            name = f"result of {asks[call].tool} ({call})"
            files = tuple(dict.fromkeys(state.files))
            state.results[call] = Part(name, state.conversation.turn, files, tuple(dict.fromkeys(state.skills)))
            if not state.conversation.asks:
                state.parts += [*(state.results[each] for each in asks), *state.held]
                state.results = {}
                state.held = []
            _forget(state)
        case e.ToolResult() | e.ToolUnknown() | e.CallDeferred():
            _forget(state)
        case e.ContextCompacted(kept=kept, folded=folded):
            removed = state.parts[kept : kept + folded]
            last = max((part.turn for part in removed), default=0)
            state.parts[kept : kept + folded] = [Part(f"summary of {turns_name(1, last)}")]
        case _:
            pass


def _forget(state: History) -> None:
    """Forget the files and skills of which the result has come."""
    state.files = []
    state.skills = []


def _message(state: History, recorded: e.Recorded, message: e.MessageReceived) -> Part:
    media = tuple(one.file for one in message.media)
    if not state.parts and not state.conversation.turn and not state.conversation.epoch:
        texts = {file: estimate(_preloaded_text(message.text, file)) for file in state.preloaded}
        for one in message.media:
            texts[one.file] = texts.get(one.file, 0) + media_tokens(one)
        return Part(FIRST_MESSAGE, files=tuple(texts), texts=texts)
    if message.item:
        return Part(f"message of a person ({recorded.address})", files=media)
    if media:
        return Part(f"images and documents ({recorded.address})", state.conversation.turn, media)
    return Part(f"remark of Gofer ({recorded.address})", state.conversation.turn)


def _preloaded_text(message: str, file: str) -> str:
    """Return the section of a first message that holds a whole file; empty if it holds none.

    A section begins with the id of its file, and its lines are indented.
    """
    rows = message.splitlines()
    begin = next((at for at, row in enumerate(rows) if row.startswith(f"{file} ")), None)
    if begin is None:
        return ""
    end = begin + 1
    while end < len(rows) and rows[end].startswith("    "):
        end += 1
    return "\n".join(rows[begin:end])


def turns_name(first: int, last: int) -> str:
    """Return a name for turns of the model."""
    if first == last:
        return f"turn {first}"
    return f"turns {first} to {last}"


def names(parts: Sequence[Part], known: Sequence[Part]) -> Sequence[str]:
    """Return the names of the parts that are not in `known`, with the files and skills that only they show.

    Turns with their results become one name.
    """
    held = {part.name for part in known}
    others = [part for part in parts if part.name not in held]
    turns = {part.turn for part in others if part.turn}
    found = [part.name for part in others]
    if len(turns) > 1:
        between = [part.name for part in others if not part.turn]
        found = [turns_name(min(turns), max(turns)), *between]
    shown = {name for part in known for name, _ in part.tokens_by_name(0)}
    named = [name for part in others for name, _ in part.tokens_by_name(0) if name not in shown]
    return (*found, *dict.fromkeys(named))
