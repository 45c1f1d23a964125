"""What `gofer candidates` prints."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from gofer.learning.candidates.candidates import FEWEST_DAYS, FEWEST_RUNS, Candidate, Share
from gofer.learning.candidates.shared_passages import FEWEST_WORDS, Place, SharedPassage
from gofer.values.amounts import counted
from gofer.values.tokens import estimate

_COMMANDS = 3
"""The runs of a candidate for which a command is printed."""
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates of some days, with what was looked at."""

    days: int
    looked_at: int
    """The public ended runs."""
    requests: int
    """The runs in which a person asked freely and a model decided."""
    unread: int
    """The runs beyond the limit of one command."""
    candidates: Sequence[Candidate]
    files: Mapping[str, str]
    """The text of the workflow file of each candidate, by its name."""


def found_lines(found: Found) -> Iterator[str]:
    """Yield what was looked at, and each candidate."""
    yield (
        f"Looked at {counted(found.looked_at, 'public run')} of {counted(found.days, 'day')}: "
        f"{counted(found.requests, 'request')} that people wrote in their own words, and that a model answered."
    )
    if found.unread:
        yield f"{counted(found.unread, 'older run')} were not read: this command reads the newest ones only."
    if not found.candidates:
        yield (
            f"No candidates: no {FEWEST_RUNS} of these requests on {FEWEST_DAYS} days are alike in their words and in "
            "the tools of their runs."
        )
    for number, candidate in enumerate(found.candidates, 1):
        yield ""
        yield from _candidate_lines(number, candidate, found.files[candidate.name])


def _candidate_lines(number: int, candidate: Candidate, file: str) -> Iterator[str]:
    runs = f"{counted(len(candidate.runs), 'run')} of {_people(candidate.people)}"
    yield f"{number}. {candidate.name}: {runs}{_cost(candidate)}"
    yield f"{_INDENT}by week     {', '.join(map(str, candidate.weeks))}"
    yield f"{_INDENT}answered by {', '.join(f'{name} ({runs})' for name, runs in candidate.workflows.items())}"
    yield f"{_INDENT}tools       {_shares(candidate.tools)}"
    if candidate.skills:
        yield f"{_INDENT}skills      {_shares(candidate.skills)}"
    yield f"{_INDENT}typical     “{candidate.request}”"
    for other in candidate.others:
        yield f"{_INDENT}other       “{other}”"
    yield f"{_INDENT}look        {'; '.join(f'gofer trace {run[:8]}' for run in candidate.runs[:_COMMANDS])}"
    yield f"{_INDENT}a workflow for it could begin with agents/{candidate.name}.yaml:"
    yield from (f"{_INDENT}{_INDENT}{line}" for line in file.splitlines())


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count} people"


def _cost(candidate: Candidate) -> str:
    if candidate.usd is None or candidate.usd_per_run is None:
        return ", of unknown cost"
    return f", {candidate.usd:.2f} USD ({candidate.usd_per_run:.4f} each)"


def _shares(shares: Sequence[Share]) -> str:
    if not shares:
        return "none"
    return ", ".join(f"{share.name} ({share.share:.0%})" for share in shares)


def passage_lines(passages: Sequence[SharedPassage], compared: int) -> Iterator[str]:
    """Yield each passage that several prompts share."""
    if not passages:
        yield f"No passage of {FEWEST_WORDS} words is in two of the {compared} prompts and skills."
        return
    for passage in passages:
        tokens = estimate(passage.text)
        yield f"About {tokens} tokens in {len(passage.places)} files:"
        yield from (f"{_INDENT}{_shown(place)}" for place in passage.places)
        yield from (f"{_INDENT}| {line}" for line in passage.text.splitlines())
        yield f"{_INDENT}Each run of these prompts reads them. As a skill, only the runs that load it do."
        yield ""


def _shown(place: Place) -> str:
    return f"{place.file}:{place.first}-{place.last}"


def to_json(found: Found | None, passages: Sequence[SharedPassage]) -> Mapping[str, object]:
    """Return both as plain JSON."""
    shared = [asdict(passage) for passage in passages]
    if found is None:
        return {"passages": shared}
    return {
        "days": found.days,
        "looked_at": found.looked_at,
        "requests": found.requests,
        "unread": found.unread,
        "candidates": [{**asdict(one), "file": found.files[one.name]} for one in found.candidates],
        "passages": shared,
    }
