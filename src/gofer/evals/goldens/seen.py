"""What people saw of a run: its messages, edits, buttons, reactions, files, comments, issues and pages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from gofer.evals.goldens.golden_file import CallMade
from gofer.journal.entries import Recorded
from gofer.journal.purposes import ANSWER, ANSWER_ANEW
from gofer.projections import calls
from gofer.projections.calls import Call
from gofer.projections.progress import Progress
from gofer.tools.definition import AnyTool
from gofer.values.visible import Visible

TEXT = 4_000
"""The most characters of one text."""
_PLACE = 200
_MOST = 200
"""The most objects and calls of one run."""
_TEXTS = ("text", "markdown", "body", "comment", "emoji", "summary", "title", "name", "description")
_PLACES = ("channel", "thread_ts", "ts", "issue", "key", "page", "number", "repository")
_OUTCOMES: Mapping[str, Literal["ok", "error", "refused", "unknown"]] = {
    "ok": "ok",
    "error": "error",
    "refused": "refused",
    "unknown": "unknown",
}


def visible_calls(entries: Sequence[Recorded], progress: Progress, tools: Mapping[str, AnyTool]) -> Sequence[Visible]:
    """Return what people saw of a run, in the order of the journal. `tools` are all tools by name.

    A tool says with `shows` what people see after its call.
    """
    answer = ""
    if progress.concluded is not None:
        answer = progress.concluded.text
    return [*_visible(calls.project(entries).calls.values(), answer, tools)][:_MOST]


def _visible(made: Iterable[Call], answer: str, tools: Mapping[str, AnyTool]) -> Iterator[Visible]:
    for call in made:
        tool = tools.get(call.tool)
        if tool is None or tool.shows is None or call.status != "ok":
            continue
        arguments = call.arguments or {}
        text = next(_values(arguments, _TEXTS), "")
        if call.id in (ANSWER, ANSWER_ANEW) and not text:
            text = answer
        yield Visible(kind=tool.shows, place="/".join(_values(arguments, _PLACES))[:_PLACE], text=cut(text))


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
