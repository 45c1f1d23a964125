"""The file `NAME.run.json` of a golden: the journals, bundles and files of its runs, as JSON."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from gofer.journal.codec import from_json, to_json
from gofer.journal.entries import FollowUp, Recorded, RunGraded
from gofer.replay.recorded_run import RecordedRun
from gofer.sources.workflow_files import decode_bundle
from gofer.values.canonical_json import as_list, as_object, as_text, encode
from gofer.values.errors import ConfigError, GoferError
from gofer.workflows.bundle import Bundle, encode_bundle

FORMAT = 1
"""The version of the files `<name>.run.json`."""

Lines = Sequence[Mapping[str, object]]
"""A journal as JSON: one object for each entry, `{n, i, at, owner, entry}`."""


@dataclass(frozen=True, slots=True)
class GoldenRun:
    """One run of a golden as plain JSON, with its subagent runs and the contents of its files."""

    run: str
    journals: Mapping[str, Lines]
    """The journals of the run and of its subagent runs, by run."""
    bundles: Mapping[str, Mapping[str, object]]
    """The bundles as JSON, by run."""
    bodies: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The contents of files by the name that `file.added` has for them."""
    earlier: Mapping[str, Lines] = field(default_factory=dict[str, Lines])
    """The journal of the run that this run continues, by run; empty if there is none."""

    def entries(self, run: str) -> Sequence[Recorded]:
        """Return the journal of the run, or of one of its subagent runs. Raises Corrupt and OtherVersion."""
        return [_recorded(line) for line in self.journals[run]]

    def bundle(self, run: str) -> Bundle | None:
        """Return the bundle of a run; None for a run that did not start."""
        value = self.bundles.get(run)
        if value is None:
            return None
        return decode_bundle(encode(value))

    def recorded(self) -> RecordedRun:
        """Return the run as a replay reads it. Raises Corrupt and OtherVersion."""
        bundles = {run: self.bundle(run) for run in self.bundles}
        return RecordedRun(
            self.run,
            {run: self.entries(run) for run in self.journals},
            {run: bundle for run, bundle in bundles.items() if bundle is not None},
            self.bodies,
            {run: [_recorded(line) for line in lines] for run, lines in self.earlier.items()},
        )


def golden_run(recorded: RecordedRun) -> GoldenRun:
    """Return a recorded run as plain JSON, without grades, feedback and reviews, which are no steps of the run."""
    return GoldenRun(
        recorded.run,
        {run: lines_of(_own_steps(entries)) for run, entries in recorded.journals.items()},
        {run: as_object(json.loads(encode_bundle(bundle))) for run, bundle in recorded.bundles.items()},
        recorded.bodies,
        {run: lines_of(_own_steps(entries)) for run, entries in recorded.earlier.items()},
    )


def _own_steps(entries: Sequence[Recorded]) -> Sequence[Recorded]:
    return [recorded for recorded in entries if not isinstance(recorded.entry, RunGraded | FollowUp)]


def lines_of(entries: Sequence[Recorded]) -> Lines:
    """Return a journal as JSON."""
    return [line_of(recorded) for recorded in entries]


def line_of(recorded: Recorded) -> Mapping[str, object]:
    """Return an entry with its address, time and owner as JSON."""
    # Written and read once, so that tuples are lists as in a file.
    entry: object = json.loads(encode(to_json(recorded.entry)))
    return {"n": recorded.n, "i": recorded.i, "at": recorded.at, "owner": recorded.owner, "entry": entry}


def _recorded(line: Mapping[str, object]) -> Recorded:
    return Recorded(
        n=cast(int, line["n"]),
        i=cast(int, line["i"]),
        at=cast(int, line["at"]),
        owner=as_text(line.get("owner")),
        entry=from_json(line["entry"]),
    )


def recording_bytes(turns: Sequence[GoldenRun]) -> bytes:
    """Return the bytes of a recording, with one entry a line."""
    value = {"format": FORMAT, "runs": [_to_json(turn) for turn in turns]}
    return (json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def _to_json(turn: GoldenRun) -> Mapping[str, object]:
    return {
        "run": turn.run,
        "journals": turn.journals,
        "bundles": turn.bundles,
        "bodies": {name: _body_json(content) for name, content in turn.bodies.items()},
        "earlier": turn.earlier,
    }


def _body_json(content: bytes) -> Mapping[str, str]:
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def recorded_runs(path: Path, content: bytes) -> Sequence[GoldenRun]:
    """Return the runs of a recording. Raises ConfigError with the path for a content that is not one."""
    try:
        value: object = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: the recording is not JSON; write it again with gofer golden.") from error
    fields = as_object(value)
    if fields.get("format") != FORMAT:
        raise ConfigError(f"{path}: the recording has another format than {FORMAT}; write it again with gofer golden.")
    try:
        turns = [_from_json(as_object(one)) for one in as_list(fields.get("runs"))]
        for turn in turns:
            turn.recorded()
    except (GoferError, KeyError, TypeError, ValueError, binascii.Error) as error:
        message = f"{path}: this version of Gofer cannot read the recording; write it again with gofer golden."
        raise ConfigError(message) from error
    if not turns:
        raise ConfigError(f"{path}: the recording has no run; write it again with gofer golden.")
    return turns


def _from_json(value: Mapping[str, object]) -> GoldenRun:
    journals = as_object(value["journals"])
    return GoldenRun(
        as_text(value["run"]),
        {name: [as_object(line) for line in as_list(lines)] for name, lines in journals.items()},
        {name: as_object(bundle) for name, bundle in as_object(value["bundles"]).items()},
        {name: _body(as_object(body)) for name, body in as_object(value["bodies"]).items()},
        {name: [as_object(line) for line in as_list(lines)] for name, lines in as_object(value["earlier"]).items()},
    )


def _body(value: Mapping[str, object]) -> bytes:
    if "text" in value:
        return str(value["text"]).encode()
    return base64.b64decode(str(value["base64"]), validate=True)
