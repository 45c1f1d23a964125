"""The skills and files that a run has read, and whether its answer names one of them."""

import re
from collections.abc import Iterator, Sequence

from gofer.evals.grading.folded_text import folded
from gofer.evals.grading.turn_view import TurnView
from gofer.evals.plays import PlayedTurn
from gofer.journal.entries import Recorded
from gofer.journal.workspace_entries import FileAdded, FileRead, SkillLoaded
from gofer.values.canonical_json import encode_text

_APART = re.compile(r"[-_ ]+")


def read_material(played: PlayedTurn) -> Sequence[str]:
    """Return the names of the skills and files that the run and its subagent runs have read, each once."""
    required: Sequence[str] = ()
    if played.bundle is not None:
        required = played.bundle.loaded.workflow.skills.required
    read = [name for entries in (played.entries, *played.subagents.values()) for name in _read(entries)]
    return list(dict.fromkeys([*required, *read]))


def _read(entries: Sequence[Recorded]) -> Iterator[str]:
    names: dict[str, str] = {}
    for recorded in entries:
        match recorded.entry:
            case SkillLoaded(skill=skill):
                yield skill
            case FileAdded(file=file, name=name, preloaded=preloaded):
                names.setdefault(file, name)
                if preloaded:
                    yield names[file]
            case FileRead(file=file):
                yield names.get(file, file)
            case _:
                pass


def names_material(turn: TurnView, names: Sequence[str]) -> bool:
    """Return whether the answer, or a field of it, has one of the names; hyphens may be spaces."""
    concluded = turn.progress.concluded
    texts = [turn.answer]
    if concluded is not None and concluded.output is not None:
        texts.append(encode_text(concluded.output))
    answer = _spaced("\n".join(texts))
    return any(re.search(rf"(?<!\w){re.escape(_spaced(name))}(?!\w)", answer) for name in names if _spaced(name))


def _spaced(text: str) -> str:
    return _APART.sub(" ", folded(text)).strip()
