"""Mistakes in the code of prompts and skills: names of tools, arguments, skills, subagents and files."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gofer.check.code_in_markdown import Call, Code, Word, code_in, prose
from gofer.check.dead_names import Former, ToolNames, misspelt
from gofer.check.tools import Holder, argument_hint, granted
from gofer.tools.definition import AnyTool
from gofer.workflows.file_text import templates
from gofer.workflows.mistake import START, Mistake, Place
from gofer.workflows.sentences import close_match
from gofer.workflows.yaml_syntax import conflict

_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
_FILE = re.compile(r"[a-z]+(?:/[\w.-]+)+")
_ROOMS = ("agents", "coordinators", "skills", "subagents")
_OWN = ("assets", "references", "scripts")
"""Folders of a skill whose files its text names by paths relative to the skill."""
_PLACEHOLDER = re.compile(r"(?<![\w{$`])(?:\{[a-z][a-z_.]{1,40}\}(?!\})|\$[A-Z][A-Z_]{2,40}\b)")
"""A word that other systems replace by a value."""
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n[\w-]+:.*\n(?:(?:[\w-]+:|[ #-]).*\n)*?---[ \t]*(?:\r?\n|$)")
_IN_PROSE = re.compile(r"(?<![\w/.@#`-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w/=(@`-]|\.\w)")
"""A name in a sentence. Only names with `_` count, because other words of people are names as well."""
_LOADED = re.compile(
    r"\b(?:load|use|follow|read|call|ask|run|apply) (?:the )?(skill|subagent) (`?)([a-z][a-z0-9]*(?:-[a-z0-9]+)*)\b\2",
    re.IGNORECASE,
)
"""A sentence that tells a model to use a skill or a subagent."""
_BASE_TOOL_HINTS = {
    "plan": "Runs with `plan: off`, the default of subagents, do not have it; change `plan`, or remove it here.",
    "subagents": "Only runs that may call subagents have it; list some in `subagents`, or remove it here.",
    "skills": "Only runs that may load skills have it; list some in `skills`, or remove it here.",
}
"""The hint for a tool of every run that the runs of this file do not have, by the feature it belongs to."""


@dataclass(frozen=True, slots=True)
class Known:
    """The names of a repository: tools, skills, subagents and workflows."""

    root: Path
    """The folder that contains `agents/`, `skills/` and `subagents/`."""
    tools: Mapping[str, AnyTool]
    skills: Collection[str]
    subagents: Collection[str]
    workflows: Collection[str]
    words: Collection[str] = ()
    """Names that texts may use for other things: keys of workflow files, of their `output` and of conditions."""
    former: Callable[[], Former] = Former
    """Returns the names in the history of the repository."""
    tool_names: ToolNames = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tool_names", ToolNames.of(self.tools))


@dataclass(frozen=True, slots=True)
class Page:
    """One text that a model reads."""

    file: Path
    text: str
    holder: Holder | None = None
    """The workflow or subagent whose runs read the text; None for a text of several workflows."""
    own: Collection[str] = ()
    """Words that are not checked as names, such as the keys of the answer."""
    skill: Path | None = None
    """The folder of the text's skill; None for other texts."""


def check_page(page: Page, known: Known) -> Iterator[Mistake]:
    """Yield template placeholders outside of code, and names in code that do not exist or that the runs do not have."""
    code = code_in(page.text)
    yield from _foreign(page, known, code.words)
    hinted = set[str]()
    for mistake in _names(page, code, known):
        # A text that names a field again and again gets one hint.
        if not mistake.is_hint or mistake.message not in hinted:
            yield mistake
        hinted.add(mistake.message)
    if page.skill is not None:
        for link in code.links:
            yield from _missing(page, link, page.skill)


def _foreign(page: Page, known: Known, words: Collection[str]) -> Iterator[Mistake]:
    """Yield what stands outside of code and means something in other systems, or names what the runs do not have."""
    if page.skill is None and _FRONT_MATTER.match(page.text):
        message = "Gofer reads no keys in a prompt, so the model reads the lines between `---` as text."
        hint = "Write these keys in the `.yaml` file, and remove the lines."
        yield Mistake(page.file, START, "front-matter", message, hint)
        return
    lines = list(prose(page.text))
    if unfinished := conflict(page.file, lines):
        yield unfinished
    for number, line in lines:
        for at, message, hint in templates(line):
            yield Mistake(page.file, Place(number, at + 1), "template", message, hint)
        for found in _PLACEHOLDER.finditer(line):
            message = f"`{found[0]}` reaches the model as it is written, because prompts are not templates."
            hint = "Describe the value in words, or put it in backticks if it is meant literally."
            yield Mistake(page.file, Place(number, found.start() + 1), "placeholder", message, hint)
        for found in _IN_PROSE.finditer(line):
            word = Word(found[0], Place(number, found.start() + 1))
            certain = [one for one in _name(page, word, known, words) if not one.is_hint]
            yield from (replace(one, rule="named-in-prose") for one in certain)


def _loaded(page: Page, known: Known) -> Iterator[Mistake]:
    """Yield the skills and subagents that a sentence tells to use and that do not exist."""
    lines = page.text.splitlines()
    for number, _ in prose(page.text):
        for found in _LOADED.finditer("".join(lines[number - 1 : number])):
            kind, tick, name = found.groups()
            word = Word(name, Place(number, found.start(3) + 1))
            if name in known.skills or name in known.subagents or not (tick or "-" in name):
                continue
            missing = _skill(page, word, known) if kind.lower() == "skill" else _subagent(page, word, known)
            yield from missing if tick else (replace(one, rule="named-in-prose") for one in missing)


def _names(page: Page, code: Code, known: Known) -> Iterator[Mistake]:
    for span in code.spans:
        if _FILE.fullmatch(span.text):
            yield from _file(page, span, known)
        elif _NAME.fullmatch(span.text):
            yield from _name(page, span, known, code.words)
    for call in code.calls:
        yield from _call(page, call, known, code.words)
    yield from _loaded(page, known)


def _name(page: Page, word: Word, known: Known, words: Collection[str]) -> Iterator[Mistake]:
    """Yield the mistake of a name, or a hint. `words` are those in the page's own programs and data."""
    name = word.text
    if name in page.own:
        return
    if name in known.tools:
        yield from _tool(page, word, known)
    elif name in known.skills:
        yield from _skill(page, word, known)
    elif name in known.subagents:
        yield from _subagent(page, word, known)
    elif not any(name in others for others in (known.workflows, known.words, known.tool_names.fields, words)):
        yield from _unknown(page, word, known)


def _unknown(page: Page, word: Word, known: Known) -> Iterator[Mistake]:
    """Yield the mistake of a name that is misspelt, has another verb or is of an earlier time, or a hint."""
    name = word.text
    dead = known.tool_names.dead(name)
    if dead is not None and dead.is_certain:
        yield from _unknown_tool(page, word, known, dead.meant)
    elif misspelt(name, known.skills):
        yield from _skill(page, word, known)
    elif misspelt(name, known.subagents):
        yield from _subagent(page, word, known)
    elif "_" in name or "-" in name:
        former = known.former()
        if name in former.tools:
            yield from _unknown_tool(page, word, known)
        elif name in former.skills:
            yield from _skill(page, word, known)
        elif name in former.subagents:
            yield from _subagent(page, word, known)
        elif dead is not None:
            message = f"`{name[:80]}` begins like a tool, and there is no such tool."
            yield Mistake(page.file, word.place, "unknown-name", message, "Correct it if a tool is meant.")


def _call(page: Page, call: Call, known: Known, words: Collection[str]) -> Iterator[Mistake]:
    tool = known.tools.get(call.name.text)
    if tool is None:
        if "_" in call.name.text and call.arguments and not call.is_nested:
            yield from _unknown_tool(page, call.name, known)
        elif not call.is_nested:
            yield from _name(page, call.name, known, words)
        return
    yield from _tool(page, call.name, known)
    fields = list(tool.arguments.model_fields)
    for argument in call.arguments:
        if argument.text not in fields and not tool.unusable:
            message = f"`{tool.name}` has no argument `{argument.text[:80]}`."
            hint = argument_hint(argument.text, fields)
            yield Mistake(page.file, argument.place, "unknown-argument", message, hint)
    for argument, text in call.strings:
        match tool.name, argument:
            case ("load_skills", "names") | ("load_subskill", "skill") if _NAME.fullmatch(text.text):
                yield from _skill(page, text, known)
            case "subagent", "agent_name" if _NAME.fullmatch(text.text):
                yield from _subagent(page, text, known)
            case _:
                pass


def _tool(page: Page, word: Word, known: Known) -> Iterator[Mistake]:
    """Yield a mistake when the runs that read the page do not have the tool."""
    tool = known.tools[word.text]
    if page.holder is not None and not page.holder.has_tool(tool, known.skills):
        hint = _BASE_TOOL_HINTS.get(tool.base, "Add it to `tools`, or remove it here.")
        yield _not_granted(page, page.holder, word.place, f"tool `{tool.name}`", hint)


def _unknown_tool(page: Page, word: Word, known: Known, meant: str = "") -> Iterator[Mistake]:
    name = word.text
    # A misspelt tool in the workflow file is reported there, not in each text.
    if name in page.own or (page.holder and name in granted(page.holder.source)):
        return
    if not meant and (dead := known.tool_names.dead(name)):
        meant = dead.meant
    hint = "docs/workflow-file.md lists the tools that exist."
    if meant:
        hint = f"Write `{meant}`."
    yield Mistake(page.file, word.place, "unknown-tool", f"There is no tool `{name[:80]}`.", hint)


def _skill(page: Page, word: Word, known: Known) -> Iterator[Mistake]:
    if word.text not in known.skills:
        meant = close_match(word.text, sorted(known.skills))
        if meant:
            hint = f"Write `{meant}`."
        else:
            hint = "Create skills/<name>/SKILL.md, or remove the name."
        yield Mistake(page.file, word.place, "missing-skill", f"There is no skill `{word.text[:80]}`.", hint)
    elif page.holder and not page.holder.has_skill(word.text):
        hint = "Allow it in `skills`, or remove it here."
        yield _not_granted(page, page.holder, word.place, f"skill `{word.text}`", hint)


def _subagent(page: Page, word: Word, known: Known) -> Iterator[Mistake]:
    if word.text not in known.subagents:
        meant = close_match(word.text, sorted(known.subagents))
        if meant:
            hint = f"Write `{meant}`."
        else:
            hint = "Create it in subagents/, or remove the name."
        yield Mistake(page.file, word.place, "unknown-subagent", f"There is no subagent `{word.text[:80]}`.", hint)
    elif page.holder and not page.holder.has_subagent(word.text):
        hint = "Add it to `subagents`, or remove it here."
        yield _not_granted(page, page.holder, word.place, f"subagent `{word.text}`", hint)


def _not_granted(page: Page, holder: Holder, place: Place, what: str, hint: str) -> Mistake:
    message = f"The {holder.kind} in {holder.source.file.name} does not have the {what}."
    return Mistake(page.file, place, "tool-not-granted", message, hint)


def _file(page: Page, word: Word, known: Known) -> Iterator[Mistake]:
    first = word.text.partition("/")[0]
    if page.skill is not None and first in _OWN:
        yield from _missing(page, word, page.skill)
    elif first in _ROOMS and "." in word.text.rpartition("/")[2]:
        yield from _missing(page, word, known.root)


def _missing(page: Page, word: Word, home: Path) -> Iterator[Mistake]:
    file = home / word.text
    if ".." in word.text.split("/") or file.exists():
        return
    if file.parent.is_dir():
        beside = sorted(path.name for path in file.parent.iterdir())
    else:
        beside = []
    folder = word.text.rpartition("/")[0]
    meant = close_match(file.name, beside)
    if not meant:
        hint = "Create it, or correct its name."
    elif folder:
        hint = f"Write `{folder}/{meant}`."
    else:
        hint = f"Write `{meant}`."
    yield Mistake(page.file, word.place, "missing-file", f"There is no file `{word.text[:80]}`.", hint)
