"""Mistakes in the files that people edit. Each mistake breaks a rule, and each rule has one sentence of explanation."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from typing_extensions import override

from gofer.values.errors import ConfigError

Rule = Literal[
    "anchor",
    "byte-order-mark",
    "case-grader",
    "case-rows",
    "changed-meaning",
    "check-never-fails",
    "control-character",
    "curly-quotes",
    "duplicate-case",
    "duplicate-key",
    "duplicate-tool",
    "duplicate-trigger",
    "empty-file",
    "empty-prompt",
    "file-name",
    "front-matter",
    "ignored-file",
    "ignored-folder",
    "impossible-condition",
    "incomplete-case",
    "invalid-matcher",
    "invalid-schema",
    "invalid-skill",
    "judge-of-itself",
    "merge-conflict",
    "missing-destination",
    "missing-file",
    "missing-judge",
    "missing-key",
    "missing-prompt",
    "missing-schema",
    "missing-skill",
    "missing-script",
    "mock-form",
    "named-in-prose",
    "not-a-mapping",
    "not-json",
    "not-utf-8",
    "not-yaml",
    "odd-space",
    "out-of-range",
    "outsiders-unasked",
    "owner-without-channel",
    "payload-starts-nothing",
    "placeholder",
    "prompt-elsewhere",
    "refused-by-vendor",
    "requires-read",
    "reviewer-of-itself",
    "schema-elsewhere",
    "script-await",
    "script-catch",
    "script-effect",
    "script-elsewhere",
    "script-entry",
    "script-import",
    "script-syntax",
    "skill-import",
    "skill-script",
    "subagent-circle",
    "subagents-too-deep",
    "tab",
    "tag",
    "template",
    "template-without-output",
    "too-deep",
    "too-large",
    "tool-declaration",
    "tool-import",
    "tool-syntax",
    "tool-not-granted",
    "unknown-argument",
    "unknown-field",
    "unknown-key",
    "unknown-model",
    "unknown-name",
    "unknown-role",
    "unknown-subagent",
    "unknown-tool",
    "unknown-value",
    "unknown-workflow",
    "unlabelled-criterion",
    "unlikely-condition",
    "unlisted-destination",
    "unmeasured-criterion",
    "unmentioned-tool",
    "unmocked-tool",
    "unpriced-model",
    "unreadable-file",
    "unusable-golden",
    "unused-prompt",
    "unused-schema",
    "wrong-labels",
    "wrong-type",
]

RULES: Mapping[Rule, str] = {
    "anchor": "YAML anchors and aliases are refused, because a few lines of them can expand to gigabytes.",
    "byte-order-mark": "The file begins with an invisible byte order mark.",
    "case-grader": "A grader of an eval's case cannot be imported.",
    "case-rows": "The file of rows of an eval's case is missing a column, has no rows or too many, or is no CSV.",
    "changed-meaning": "A hint: a trigger means less than in earlier versions of Gofer.",
    "check-never-fails": "A check of runs has a limit that no run of the workflow can exceed.",
    "control-character": "The file holds a character that YAML does not allow.",
    "curly-quotes": "Curly quotes stand around a value, and YAML reads them as part of it.",
    "duplicate-case": "Two cases of an eval file have the same name.",
    "duplicate-key": "A mapping has the same key twice, so one of the values would be lost.",
    "duplicate-tool": "A tool is listed twice.",
    "duplicate-trigger": (
        "One event starts two workflows that name its place equally specifically, or one workflow twice."
    ),
    "empty-file": "The file has no content.",
    "empty-prompt": "A prompt or the preamble is empty.",
    "file-name": "The file name of a workflow or a subagent has characters other than a-z, 0-9 and `-`.",
    "front-matter": "A prompt begins with keys between lines of `---`, which only skills may have.",
    "ignored-file": "The file looks like a workflow or a subagent, but Gofer reads only `*.yaml`.",
    "ignored-folder": "A hint: a workflow or subagent is in a folder below its folder, and Gofer does not read it.",
    "impossible-condition": "No event can meet a condition of a trigger.",
    "incomplete-case": "A key of an eval's case needs another one, such as `decision` without `expect: {next: …}`.",
    "invalid-matcher": "A matcher of an eval has an unknown operator, or a pattern that is not valid.",
    "invalid-schema": "An `output`, or the `schema` of an eval, is not a JSON Schema that Gofer accepts.",
    "invalid-skill": "A skill does not have the format of skills.",
    "judge-of-itself": "The model of the role `judge` may also answer the runs that it judges.",
    "merge-conflict": "The file holds the marks of a merge that nobody has finished.",
    "missing-destination": "No run may call a tool of the workflow, because `writes` lists no place for it.",
    "missing-file": "A prompt, a skill or an eval names a file that does not exist in its folder.",
    "missing-judge": "An eval has criteria for a judge or a `user`, and `defaults.yaml` has no role `judge`.",
    "missing-key": "A required key is missing.",
    "missing-prompt": "The named prompt or preamble does not exist.",
    "missing-schema": "The schema file that `output` names does not exist.",
    "missing-skill": "The named skill does not exist.",
    "missing-script": "The named script, or a module of `coordinators/` that it imports, does not exist.",
    "mock-form": "A mock of an eval has not the form of the results of its tool.",
    "named-in-prose": "A hint: a sentence names a tool, a skill or a subagent that its runs do not have.",
    "not-a-mapping": "The file is YAML, but not a mapping of `key: value`.",
    "not-json": "The file is not JSON.",
    "not-utf-8": "The file is not UTF-8 text.",
    "not-yaml": "The file is not YAML.",
    "odd-space": "A character that only looks like a space is used where YAML needs one.",
    "out-of-range": "A value is too small, too large, too short or too long.",
    "outsiders-unasked": (
        "People from outside start a model that reads private things and writes, and no colleague decides in between."
    ),
    "owner-without-channel": "The owner names no channel or group, and a part of the folder needs one.",
    "payload-starts-nothing": "The trigger of an eval does not start its workflow.",
    "placeholder": "A hint: a text has a word such as `{thread}` or `$USER`, which Gofer does not fill in.",
    "prompt-elsewhere": "A prompt or the preamble is in another folder than the file that names it.",
    "refused-by-vendor": "The vendor of a model refuses a parameter that files set, or tools beside its thoughts.",
    "requires-read": "A workflow requires a call of a tool that only reads.",
    "reviewer-of-itself": "A hint: the model of the role `reviewer` also decides runs, and no model reviews itself.",
    "schema-elsewhere": "The schema file that `output` names is in another folder than the workflow file.",
    "subagent-circle": "Subagents ask one another in a circle.",
    "subagents-too-deep": "Subagents ask subagents more than three levels deep.",
    "tab": "A tab is used where YAML needs spaces.",
    "tag": "A YAML tag such as `!!str` is refused, because the key decides the type of a value.",
    "template": "A text has a template mark such as `${{ … }}` or `{{ … }}`, which Gofer does not fill in.",
    "template-without-output": "A `reply_template` has no `output` with fields for it.",
    "too-deep": "Values are nested too deeply.",
    "too-large": "A file, or all skills of a workflow together, are too large.",
    "script-await": "A script makes a call without `await`, so nothing happens.",
    "script-catch": "A script catches every exception, including those that end its run.",
    "script-effect": "A script uses the clock, chance, files, the network or processes without its `run`.",
    "script-elsewhere": "A workflow names a script that is not a `.py` file of `coordinators/`.",
    "script-entry": "A script has no `async def coordinate(run)` with one parameter.",
    "script-import": "A script imports a module that scripts may not use.",
    "script-syntax": "A script is not valid Python.",
    "skill-import": "A script of a skill imports a module that the sandbox does not have.",
    "skill-script": "A script of a skill is not valid Python.",
    "tool-declaration": "A tool of `tools/` lacks a required part, or has the name of another tool.",
    "tool-import": "A module of `tools/` imports a module that tools may not use, or cannot be imported.",
    "tool-syntax": "A module of `tools/` is not valid Python.",
    "tool-not-granted": "A text, an eval or a key names a tool, a subagent or a skill that its runs do not have.",
    "unknown-argument": "A prompt, a skill or an eval names an argument that the tool does not have.",
    "unknown-field": "A `reply_template` names a field that `output` does not have.",
    "unknown-key": "A key does not exist.",
    "unknown-model": "An endpoint does not have a model that the files name; only `--models` asks.",
    "unknown-name": "A hint: a text names something that begins like a tool, and there is no such tool.",
    "unknown-role": "A workflow names the role of a model that `defaults.yaml` does not have.",
    "unknown-subagent": "A workflow, a subagent, a prompt, a skill or a script names a subagent that does not exist.",
    "unknown-tool": "A workflow, a prompt, a skill, a script or an eval names a tool that does not exist.",
    "unknown-value": "The key does not allow this value.",
    "unknown-workflow": "An eval names a workflow that does not exist.",
    "unlabelled-criterion": "A hint: a criterion of an eval has no labelled examples, so the judge never blocks by it.",
    "unlikely-condition": "A hint: a condition of a trigger probably does not mean what it says.",
    "unlisted-destination": (
        "A hint: a text names a place in a system that its workflow writes to, and `writes` does not list it."
    ),
    "unmeasured-criterion": "A hint: the agreement of the judge with the labels of a criterion is not measured or low.",
    "unmentioned-tool": "A hint: a prompt names some of its tools, but not this one.",
    "unmocked-tool": "A hint: a tool of an eval's workflow writes and has no mock, so plays refuse it.",
    "unpriced-model": "A hint: the price of a model is unknown, so `tokens` limits its runs, and `usd` does not.",
    "unreadable-file": "The file cannot be read.",
    "unusable-golden": "A golden does not fit to its recording, or its recording cannot be read.",
    "unused-prompt": "No workflow and no subagent uses the Markdown file.",
    "unused-schema": "No workflow uses the JSON file.",
    "wrong-labels": "A file with labels holds a line that is no labelled example.",
    "wrong-type": "A value has the wrong type, such as a number where text belongs.",
}


HINTS: Collection[Rule] = frozenset(
    (
        "changed-meaning",
        "ignored-folder",
        "named-in-prose",
        "placeholder",
        "reviewer-of-itself",
        "unknown-name",
        "unlabelled-criterion",
        "unlikely-condition",
        "unlisted-destination",
        "unmeasured-criterion",
        "unmentioned-tool",
        "unmocked-tool",
        "unpriced-model",
    )
)
"""Rules that a file may break for a good reason. Gofer reports such a mistake and still runs the workflow."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a file: line and column, both counted from 1."""

    line: int = 1
    column: int = 1


START = Place()


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake, for the person who edits the file."""

    file: Path
    place: Place
    rule: Rule
    message: str
    """What is wrong: one sentence."""
    hint: str
    """What to write instead: one sentence."""

    def __post_init__(self) -> None:
        # Sentences quote the file, and a terminal must not interpret control characters from it.
        object.__setattr__(self, "message", _printable(self.message))
        object.__setattr__(self, "hint", _printable(self.hint))

    @override
    def __str__(self) -> str:
        sentence = f"{'Hint: ' if self.is_hint else ''}{self.message} {self.hint}"
        return f"{_printable(str(self.file))}:{self.place.line}:{self.place.column}: {sentence}"

    @property
    def is_hint(self) -> bool:
        """Whether the mistake is only a hint, which does not keep the workflow from running."""
        return self.rule in HINTS

    def to_json(self) -> dict[str, object]:
        """Return the mistake as `gofer check --json` lists it."""
        where = {"file": str(self.file), "line": self.place.line, "column": self.place.column}
        level = "hint" if self.is_hint else "error"
        return {**where, "rule": self.rule, "level": level, "message": self.message, "hint": self.hint}


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def in_order(mistakes: Iterable[Mistake]) -> list[Mistake]:
    """Return the mistakes without duplicates, sorted by file and place."""
    once = dict.fromkeys(mistakes)
    return sorted(once, key=lambda m: (str(m.file), m.place.line, m.place.column, m.rule, m.message))


def refuse(mistakes: Sequence[Mistake], files: str = "workflow files") -> None:
    """Raise ConfigError with every mistake in these files, one per line. Hints are not mistakes and raise nothing."""
    mistakes = [mistake for mistake in mistakes if not mistake.is_hint]
    if len(mistakes) == 1:
        raise ConfigError(str(mistakes[0]))
    if mistakes:
        lines = "\n".join(f"  {mistake}" for mistake in mistakes)
        raise ConfigError(f"{len(mistakes)} mistakes are in the {files}; correct each of them.\n{lines}")
