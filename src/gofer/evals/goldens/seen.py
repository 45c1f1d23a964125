"""What people saw of a run: its messages, edits, buttons, reactions, files, comments, issues and pages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from gofer.evals.goldens.golden_file import CallMade, SeenByPerson
from gofer.journal.entries import Recorded
from gofer.journal.purposes import ANSWER, ANSWER_ANEW
from gofer.projections import calls
from gofer.projections.calls import Call
from gofer.projections.progress import Progress

TEXT = 4_000
"""The most characters of one text."""
_PLACE = 200
_MOST = 200
"""The most objects and calls of one run."""
Kind = Literal["message", "edit", "button", "reaction", "file", "comment", "issue", "page"]
_KINDS: Sequence[tuple[str, Kind]] = (
    ("question/", "button"),
    ("reaction", "reaction"),
    ("update_message", "edit"),
    ("upload", "file"),
    ("attach", "file"),
    ("file", "file"),
    ("message", "message"),
    ("comment", "comment"),
    ("reply", "comment"),
    ("page", "page"),
    ("issue", "issue"),
)
"""Parts of the ids of calls and of the names of tools, with what such calls show; the first that fits decides."""
_TEXTS = ("text", "markdown", "body", "comment", "emoji", "summary", "title", "name", "description")
_PLACES = ("channel", "thread_ts", "ts", "issue", "key", "page", "number", "repository")
_OUTCOMES: Mapping[str, Literal["ok", "error", "refused", "unknown"]] = {
    "ok": "ok",
    "error": "error",
    "refused": "refused",
    "unknown": "unknown",
}


def seen_in(entries: Sequence[Recorded], progress: Progress) -> Sequence[SeenByPerson]:
    """Return what people saw of a run, in the order of the journal."""
    answer = ""
    if progress.concluded is not None:
        answer = progress.concluded.text
    return [*_seen(calls.project(entries).calls.values(), answer)][:_MOST]


def _seen(made: Iterable[Call], answer: str) -> Iterator[SeenByPerson]:
    for call in made:
        kind = _kind(call)
        if kind is None or call.effect in (None, "read") or call.status != "ok":
            continue
        arguments = call.arguments or {}
        text = next(_values(arguments, _TEXTS), "")
        if call.id in (ANSWER, ANSWER_ANEW) and not text:
            text = answer
        yield SeenByPerson(kind=kind, place="/".join(_values(arguments, _PLACES))[:_PLACE], text=cut(text))


def _kind(call: Call) -> Kind | None:
    named = f"{call.id} {call.tool}"
    return next((kind for part, kind in _KINDS if part in named), None)


def _values(arguments: Mapping[str, object], names: Sequence[str]) -> Iterator[str]:
    return (str(arguments[name]) for name in names if arguments.get(name))


def calls_in(entries: Sequence[Recorded]) -> Sequence[CallMade]:
    """Return the calls of the model or the script with their outcomes, without calls that have none."""
    made = [call for call in calls.project(entries).calls.values() if not call.is_own and call.status in _OUTCOMES]
    return [
        CallMade(call=call.id, tool=call.tool, arguments=call.arguments or {}, status=_OUTCOMES[call.status])
        for call in made[:_MOST]
    ]


def cut(text: str, most: int = TEXT) -> str:
    """Return the beginning of a text, marked if it was cut."""
    if len(text) <= most:
        return text
    return f"{text[:most]} […]"
