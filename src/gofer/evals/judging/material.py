"""The material of a question to the judge: a play as plain JSON, within limits."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from gofer.evals.judging.turn_facts import TurnFacts, first_message, turns_of
from gofer.evals.plays import Play, PlayedTurn
from gofer.values.canonical_json import as_list, as_object, encode_text

Material = Mapping[str, object]
"""Plain JSON. Each text of it comes from people, models or tools, and is data for the judge."""

MOST = 120_000
"""The most characters of the material of one question."""
LENGTHS = (6_000, 1_500, 400)
"""The most characters of one text of the material; the first of these with which the material fits."""


class TooLong(Exception):
    """The material of a play that is longer than the judge reads."""


def material_of(play: Play) -> Material:
    """Return the messages, calls, answers and outside changes of a play. Raises TooLong."""
    return fitting({"runs": [_run(turn) for turn in play.turns], "changes": play.world})


def fitting(material: Material) -> Material:
    """Return the material with its long texts cut, at most `MOST` characters as JSON. Raises TooLong."""
    for length in LENGTHS:
        cut = as_object(_cut(material, length))
        if len(encode_text(cut)) <= MOST:
            return cut
    raise TooLong(f"The play is longer than the {MOST:,} characters that the judge reads.")


def turns_json(turns: Sequence[TurnFacts]) -> Sequence[Mapping[str, object]]:
    """Return turns as JSON."""
    return [_turn(turn) for turn in turns]


def texts(value: object) -> Iterator[str]:
    """Yield each text of a JSON value, with the names of objects."""
    if isinstance(value, str):
        yield value
    for item in as_list(value):
        yield from texts(item)
    for name, item in as_object(value).items():
        yield name
        yield from texts(item)


def _run(turn: PlayedTurn) -> Mapping[str, object]:
    seen = [{"kind": one.kind, "place": one.place, "text": one.text} for one in turn.seen]
    steps = turns_json(turns_of(turn.entries))
    return {"message": first_message(turn.entries), "steps": steps, "seen_by_people": seen}


def _turn(turn: TurnFacts) -> Mapping[str, object]:
    calls = [
        {"tool": call.tool, "arguments": call.arguments, "status": call.status, "result": call.result}
        for call in turn.calls
    ]
    if not calls:
        return {"text": turn.text}
    return {"text": turn.text, "calls": calls}


def _cut(value: object, length: int) -> object:
    if isinstance(value, str) and len(value) > length:
        return f"{value[:length]} [cut: {len(value) - length:,} characters]"
    if isinstance(value, Mapping):
        return {name: _cut(item, length) for name, item in cast(Mapping[str, object], value).items()}
    if isinstance(value, list | tuple):
        return [_cut(item, length) for item in cast(Sequence[object], value)]
    return value
