"""The eval case of a proposal: a redacted golden of the recorded run, and the redaction of every other text."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import assert_never

from gofer.app.replay import open_replayer
from gofer.app.settings import Settings
from gofer.evals.goldens.golden_file import FOLDER, golden_text, recording_path
from gofer.evals.goldens.golden_of_runs import Wish, golden_of
from gofer.evals.goldens.redacted_runs import Redacted, redacted
from gofer.evals.goldens.run_file import golden_run
from gofer.evals.goldens.usable_runs import usable_runs
from gofer.learning.suggestions.edited_file import Refused
from gofer.learning.suggestions.proof import PLAYS
from gofer.learning.suggestions.proposal import Proposal
from gofer.replay.recorded_run import RecordedRun
from gofer.runtime.run_reader import RunReader
from gofer.values.errors import ConfigError
from gofer.values.outside import random_key


@dataclass(frozen=True, slots=True)
class Redactor:
    """Replaces the names, ids and addresses of recorded runs in the texts of a suggestion."""

    case: Redacted

    def text(self, text: str) -> str:
        """Return a text with pseudonyms."""
        return self.case.text(text)

    def refuse_names(self, proposal: Proposal, before: str) -> None:
        """Raise Refused if the edit brings a name, an id or an address of a run into a file with the text `before`."""
        known = before.casefold()
        added = proposal.edit.new.casefold()
        found = [word for word in self.case.redaction.words if word in added and word not in known]
        if found:
            raise Refused(f"The new text holds {found[0]!r}, a name or an id from a run; write a rule without it.")


def redactor_of(recorded: Sequence[RecordedRun]) -> Redactor:
    """Return the redactor for some recorded runs. Raises ConfigError for a run that cannot be redacted."""
    return Redactor(redacted([golden_run(run) for run in recorded], random_key()))


def replayable(recorded: Sequence[RecordedRun]) -> Sequence[RecordedRun]:
    """Return the runs that can be redacted and replayed by this version of Gofer."""
    found: list[RecordedRun] = []
    for run in recorded:
        with contextlib.suppress(ConfigError):
            redactor_of([run])
            found.append(run)
    return found


async def golden_files(
    runs: RunReader, proposal: Proposal, workflow: str, settings: Settings, root: Path
) -> Mapping[str, bytes]:
    """Return the files of the eval case, by path. Raises Refused if no case can be made of the run as proposed."""
    wish = _wish(proposal, workflow)
    must = proposal.must
    try:
        turns = await usable_runs(runs, must.run, thread=False)
        async with open_replayer(settings, root, live=False) as replayer:
            tools = replayer.services.tools
            made = await golden_of(turns, wish, replayer.replay, tools, salt=random_key(), now=runs.clock.now())
    except ConfigError as error:
        raise Refused(f"No eval case can be made of run {must.run}: {error}") from error
    path = FOLDER / f"{wish.name}.yaml"
    text = golden_text(made.golden).encode()
    return {path.as_posix(): text, recording_path(path).as_posix(): made.recording}


def _wish(proposal: Proposal, workflow: str) -> Wish:
    must = proposal.must
    wish = Wish(name=proposal.golden(workflow), purpose="regression", plays=PLAYS)
    match must.kind:
        case "call":
            return replace(wish, at=must.at, next_call=must.tool, next_arguments=must.arguments)
        case "contains":
            return replace(wish, contains=must.texts)
        case "not_contains":
            return replace(wish, not_contains=must.texts)
        case "judge":
            return replace(wish, judge=must.ask)
    assert_never(must.kind)
