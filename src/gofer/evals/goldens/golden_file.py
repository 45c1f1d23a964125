"""The file of a golden, `evals/goldens/<name>.yaml`, which people read and edit, and the recording beside it."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, cast

import yaml
from pydantic import BeforeValidator, Field
from typing_extensions import override

from gofer.evals.case_begin import DecisionPoint, JsonObject
from gofer.evals.eval_file import Criterion, Expectations, OutputExpectations, RequiredCall, Runs
from gofer.evals.plays import Evidence
from gofer.values.errors import ConfigError
from gofer.values.visible import VisibleKind
from gofer.workflows.file_text import read_bytes
from gofer.workflows.form import fill
from gofer.workflows.form_parts import Name, Strict, Whole, listed
from gofer.workflows.mistake import in_order, refuse
from gofer.workflows.yaml_source import read_source

FOLDER = Path("evals/goldens")
"""The folder of goldens in a repository."""
NAME = r"^[a-z0-9][a-z0-9-]{0,79}$"
"""The names of goldens."""
RECORDING = ".run.json"
"""The suffix of the file with the recorded facts."""
LARGEST = 50_000_000
"""The most bytes of such a file."""


class GoldenSource(Strict):
    """Where a golden comes from. It names no person and no run."""

    run_sha256: str = Field(pattern="^[0-9a-f]{64}$")
    """The hash of the id of the recorded run, by which a person with the id can recognise the run."""
    recorded: str
    """The day of the run."""
    written: str
    """The day on which the golden was written."""
    gofer: str
    """The version of Gofer that wrote the golden."""
    redaction: Whole
    """The version of the rules of redaction."""
    bundle_sha256: str
    """The hash of the bundle with which the run began: its workflow, prompt, skills and tools."""
    owner: str
    """The owner of the workflow, who is responsible for the golden."""
    answers: Evidence
    """Where the answers of the model came from; answers of a script say nothing about a prompt."""


class SeenByPerson(Strict):
    """An object in an outside system that a person saw."""

    kind: VisibleKind
    place: str = ""
    text: str = ""


class CallMade(Strict):
    """One call of the model or the script."""

    call: str
    tool: str
    arguments: JsonObject = Field(default_factory=dict[str, object])
    status: Literal["ok", "error", "refused", "unknown"] = "ok"


class GoldenTurn(Strict):
    """One run of a golden."""

    run: str
    """The pseudonym of the run's id."""
    event: str
    """The kind of event, as workflow files name it."""
    input: str
    """What the person wrote, or what the event says."""
    context: str = ""
    """The beginning of the first message to the model."""
    expected: str
    """The answer that people got; for a regression, the bad answer."""
    output: JsonObject = Field(default_factory=dict[str, object])
    """The answer of a workflow with `output`."""
    seen: tuple[SeenByPerson, ...] = ()
    calls: tuple[CallMade, ...] = ()
    expect: Expectations = Expectations()


class Golden(Strict):
    """A recorded case. A change of `expect`, `not_contains` and `judge` is welcome; the rest is a record."""

    golden: str = Field(pattern=NAME)
    workflow: Name
    purpose: Literal["golden", "regression"] = "golden"
    """`regression`: the recorded answer was bad, and must not come again."""
    description: str = ""
    tags: Annotated[tuple[Name, ...], BeforeValidator(listed)] = ()
    turns: tuple[GoldenTurn, ...] = Field(min_length=1)
    not_contains: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()
    """Texts that the answer of the last turn must not contain."""
    judge: tuple[Criterion, ...] = ()
    """Questions to the judge about the last turn."""
    decision: DecisionPoint | None = None
    """The history before a call: the case asks only for the next step of the model."""
    next: tuple[RequiredCall, ...] = ()
    """For a decision point, the calls that the run made next; for a regression those that it should have made."""
    runs: Runs | None = None
    """How often the case is played; by default once."""
    recording_sha256: str = Field(pattern="^[0-9a-f]{64}$")
    """The hash of the recording beside this file."""
    source: GoldenSource

    @property
    def has_rule(self) -> bool:
        """Whether the file says what is right, apart from what the recorded run did."""
        expects_answer = self.turns[-1].expect.output != OutputExpectations()
        decides = self.decision is not None and bool(self.next)
        return bool(self.not_contains or self.judge) or decides or expects_answer


def recording_path(path: Path) -> Path:
    """Return the path of the recording that belongs to the file of a golden."""
    return path.with_name(f"{path.stem}{RECORDING}")


def digest_of(recording: bytes) -> str:
    """Return the hash by which the file of a golden names its recording."""
    return hashlib.sha256(recording).hexdigest()


def recording_of(path: Path, golden: Golden) -> bytes:
    """Return the recording that the file of a golden names. Raises ConfigError if it is missing, large or another."""
    recording = recording_path(path)
    try:
        if recording.stat().st_size > LARGEST:
            limit = LARGEST // 1_000_000
            raise ConfigError(f"{recording}: the recording is larger than {limit} MB; record a shorter run.")
        content = read_bytes(recording)
    except OSError as error:
        raise ConfigError(
            f"{recording}: the recording of the golden is missing; write it again with gofer golden."
        ) from error
    if digest_of(content) != golden.recording_sha256:
        raise ConfigError(
            f"{recording}: the recording is not the one that {path.name} names; restore both files together, or write "
            "the golden again with gofer golden."
        )
    return content


def read_golden_file(path: Path) -> Golden:
    """Return the file of a golden without its recording. Raises ConfigError with file and line."""
    golden, mistakes = fill(read_source(path), Golden)
    # A recorded text may hold any signs, also those of templates.
    refuse(in_order([mistake for mistake in mistakes if mistake.rule != "template"]))
    if golden is None:
        raise ConfigError(f"{path}: the file is not a golden; write it again with gofer golden.")
    if golden.golden != path.stem:
        raise ConfigError(f"{path}:1: the golden is called {golden.golden!r}; give the file and the golden one name.")
    if golden.purpose == "regression" and not golden.has_rule:
        raise ConfigError(f"{path}:1: a regression needs `not_contains` or `judge`, because its answer was bad.")
    return golden


class _Writer(yaml.SafeDumper):
    """Writes long texts as blocks, and each value in full."""

    @override
    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(writer: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if "\n" in text:
        style = "|"
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style=style)  # pyright: ignore[reportUnknownMemberType]


_Writer.add_representer(str, _text)


def golden_text(golden: Golden) -> str:
    """Return the text of the file of a golden."""
    value = _without_null(golden.model_dump(mode="json", exclude_defaults=True))
    return yaml.dump(value, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=110)


def _without_null(value: object) -> object:
    """Return a value without null, which a file cannot hold."""
    if isinstance(value, dict):
        fields = cast(Mapping[str, object], value)
        return {key: _without_null(inner) for key, inner in fields.items() if inner is not None}
    if isinstance(value, list):
        return [_without_null(item) for item in cast(list[object], value)]
    return value
