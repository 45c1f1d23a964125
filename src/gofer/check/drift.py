"""Mistakes in prompts and skills: tools, arguments, skills, subagents and files that are not there or not granted."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gofer.check.holder import Holder
from gofer.check.mentions import Mention, mentions, prose
from gofer.check.tools import granted, listed
from gofer.tools.tool import Tool
from gofer.workflows.mistake import Mistake, Place
from gofer.workflows.sentences import close_match
from gofer.workflows.source import Source
from gofer.workflows.template import templates

_CLOSE = 0.8
"""How alike a word and a tool must be (0 to 1) before the word counts as that tool, misspelt."""
_CLOSE_PART = 0.75
"""The same for what stands between two underscores."""
_CLOSER = 0.85
"""The same for skills, whose names are words."""
_ROOMS = ("agents", "coordinators", "skills", "subagents")
_OWN = ("assets", "references", "scripts")
"""Folders of a skill that its text names without saying where they are."""
_ACTS = frozenset(
    ("add", "create", "delete", "fetch", "find", "get", "read", "remove", "send", "set", "update", "write")
)
_ACTS_ON = _ACTS | {"append", "close", "edit", "list", "open", "post", "query", "reply", "request", "search", "upload"}
"""What follows the system in the name of a tool: alone it is plain, before an object also what may be a noun."""
_FIELDS = {"count", "id", "ids", "key", "name", "query", "text", "time", "ts", "type", "url"}
"""How names of values end, whatever they begin with."""
_INSTEAD_OF_BASE = {
    "plan": "With `plan: off`, which subagents have unless they say otherwise, there is none; do without it here.",
    "subagents": "Only those that may ask some have it; name them in `subagents`, or do without it here.",
    "skills": "Only those that may load some have it; name them in `skills`, or do without it here.",
}
"""What to do about a tool that comes with something, where that is not there."""
_PLACEHOLDERS = ("my-", "some-", "your-", "example-")


@dataclass(frozen=True, slots=True)
class Known:
    """What there is to be mentioned."""

    root: Path
    """The folder that holds `agents/`, `skills/` and `subagents/`."""
    tools: Mapping[str, Tool[Any]]
    skills: Collection[str]
    subagents: Collection[str]
    workflows: Collection[str]


@dataclass(frozen=True, slots=True)
class Page:
    """One text that a model reads."""

    file: Path
    text: str
    holder: Holder | None = None
    """The workflow or the subagent whose runs read it; None for a text that many read."""
    own: Collection[str] = ()
    """Words that it may use for what it wants, such as the keys of its answer."""
    skill: Path | None = None
    """The folder of the skill that it belongs to."""


def check_page(page: Page, known: Known) -> Iterator[Mistake]:
    """Yield marks of templates outside of code, and mentions that do not exist or that its run does not have."""
    for number, line in prose(page.text):
        for at, message, hint in templates(line):
            yield Mistake(page.file, Place(number, at + 1), "template", message, hint)
    for mention in mentions(page.text):
        match mention.kind:
            case "name":
                yield from _name(page, mention, known)
            case "word":
                yield from _word(page, mention, known)
            case "call":
                yield from _call(page, mention, known)
            case "file":
                yield from _file(page, mention, known)
            case "link":
                if page.skill is not None:
                    yield from _missing(page, mention, page.skill)


def check_unmentioned(source: Source, prompt: str, others: Sequence[str], known: Known) -> Iterator[Mistake]:
    """Hints at tools that a workflow lists, that its prompt leaves out while it names others, and `others` do too."""
    tools = [(loc, name) for loc, name in listed(source) if name in known.tools]
    if not any(_speaks_of(prompt, name) for _, name in tools):
        return
    for loc, name in tools:
        if not known.tools[name].base and not any(_speaks_of(text, name) for text in (prompt, *others)):
            message = f"The prompt names other tools, and not `{name}`."
            hint = "Say in it when to use this one, or take it out of `tools`."
            yield Mistake(source.file, source.key(loc), "unmentioned-tool", message, hint)


def _speaks_of(text: str, tool: str) -> bool:
    return tool in text


def _name(page: Page, mention: Mention, known: Known) -> Iterator[Mistake]:
    name = mention.name
    if name in known.tools:
        yield from _granted(page, mention, known)
    elif mention.said == "subagent" or (name in known.subagents and name not in known.skills):
        yield from _subagent(page, name, mention.place, known)
    elif name in known.skills or mention.said == "skill":
        yield from _skill(page, name, mention.place, known)
    elif name in page.own or name in known.workflows:
        return
    elif "_" in name and "-" not in name:
        yield from _unknown_tool(page, mention, known)
    elif name.replace("-", "_") in known.tools:
        meant = name.replace("-", "_")
        yield Mistake(page.file, mention.place, "unknown-tool", f"There is no tool `{name}`.", f"Write `{meant}`.")
    elif "-" in name and (meant := close_match(name, [*sorted(known.skills), *sorted(known.subagents)], _CLOSER)):
        named = _skill if meant in known.skills else _subagent
        yield from named(page, name, mention.place, known)


def _word(page: Page, mention: Mention, known: Known) -> Iterator[Mistake]:
    """A tool whose name somebody wrote without marking it; a word that only looks like one may be any word."""
    if mention.name in known.tools:
        yield from _granted(page, mention, known)
    elif mention.name not in page.own and (meant := _misspelt(mention.name, known.tools)):
        message = f"There is no tool `{mention.name[:80]}`."
        yield Mistake(page.file, mention.place, "unknown-tool", message, f"Write `{meant}`.")


def _call(page: Page, mention: Mention, known: Known) -> Iterator[Mistake]:
    tool = known.tools.get(mention.name)
    if tool is None:
        if "_" in mention.name and not mention.example:
            yield from _unknown_tool(page, mention, known)
    else:
        if not mention.example:
            yield from _granted(page, mention, known)
        fields = list(tool.arguments.model_fields)
        for argument, place in mention.arguments:
            if argument not in fields:
                message = f"`{tool.name}` has no argument `{argument[:80]}`."
                yield Mistake(page.file, place, "unknown-argument", message, _instead_of_argument(argument, fields))
    if not mention.example:
        for text, place in mention.strings:
            if mention.name in ("load_skills", "load_subskill") and "-" in text and text.islower():
                yield from _skill(page, text, place, known)
            elif mention.name == "subagent" and text.replace("-", "").isalnum() and "-" in text:
                yield from _subagent(page, text, place, known)


def _instead_of_argument(argument: str, fields: Sequence[str]) -> str:
    if meant := close_match(argument, fields, 0.6):
        return f"Write `{meant}`."
    return f"Its arguments are: {', '.join(fields[:12])}." if fields else "It has none."


def _granted(page: Page, mention: Mention, known: Known) -> Iterator[Mistake]:
    """A tool that exists, in a text of somebody who may not have it."""
    tool, holder = known.tools[mention.name], page.holder
    if holder is not None and not holder.has_tool(tool, known.skills):
        hint = _INSTEAD_OF_BASE.get(tool.base, "Add it to `tools`, or do without it here.")
        yield _lacks(page, mention.place, holder, f"tool `{tool.name}`", hint)


def _lacks(page: Page, place: Place, holder: Holder, what: str, hint: str) -> Mistake:
    message = f"The {holder.kind} in {holder.source.file.name} does not have the {what}."
    return Mistake(page.file, place, "tool-not-granted", message, hint)


def _unknown_tool(page: Page, mention: Mention, known: Known) -> Iterator[Mistake]:
    """A word that is no tool, and looks so much like one that it must have been meant as one."""
    name = mention.name
    if name in page.own or (page.holder and name in granted(page.holder.source)):
        return
    message = f"There is no tool `{name[:80]}`."
    if meant := _misspelt(name, known.tools):
        yield Mistake(page.file, mention.place, "unknown-tool", message, f"Write `{meant}`.")
    elif _reads_as_tool(name, known.tools):
        hint = "docs/workflow-file.md lists the tools that exist."
        yield Mistake(page.file, mention.place, "unknown-tool", message, hint)


def _misspelt(name: str, tools: Collection[str]) -> str | None:
    """The tool that was meant, when each part of its name is right or nearly so: `jira_issue` is a word of its own."""
    meant = close_match(name, sorted(tools), _CLOSE)
    if meant is None:
        return next((tool for tool in sorted(tools) if sorted(tool.split("_")) == sorted(name.split("_"))), None)
    parts, theirs = name.split("_"), meant.split("_")
    alike = len(parts) == len(theirs) and all(map(_is_alike, parts, theirs))
    return meant if alike or sorted(parts) == sorted(theirs) else None


def _is_alike(one: str, other: str) -> bool:
    return close_match(one, [other], _CLOSE_PART) is not None


def _reads_as_tool(name: str, tools: Collection[str]) -> bool:
    """Whether it is made as names of tools are: a system that has some, and what is done with it."""
    system, act, *objects = name.split("_")
    systems = Counter(tool.partition("_")[0] for tool in tools if "_" in tool)
    done = act in _ACTS_ON and objects[-1] not in _FIELDS if objects else act in _ACTS
    return systems[system] > 1 and done


def _skill(page: Page, name: str, place: Place, known: Known) -> Iterator[Mistake]:
    if name in known.skills:
        if page.holder and not page.holder.has_skill(name):
            yield _lacks(page, place, page.holder, f"skill `{name}`", "Allow it in `skills`, or do without it here.")
    elif _is_meant(name):
        meant = close_match(name, sorted(known.skills))
        hint = f"Write `{meant}`." if meant else "Create skills/<name>/SKILL.md, or do without it."
        yield Mistake(page.file, place, "missing-skill", f"There is no skill `{name[:80]}`.", hint)


def _subagent(page: Page, name: str, place: Place, known: Known) -> Iterator[Mistake]:
    if name in known.subagents:
        if page.holder and not page.holder.has_subagent(name):
            hint = "Add it to `subagents`, or do without it here."
            yield _lacks(page, place, page.holder, f"subagent `{name}`", hint)
    elif _is_meant(name):
        meant = close_match(name, sorted(known.subagents))
        hint = f"Write `{meant}`." if meant else "Create it in subagents/, or do without it."
        yield Mistake(page.file, place, "unknown-subagent", f"There is no subagent `{name[:80]}`.", hint)


def _is_meant(name: str) -> bool:
    """Whether a name that somebody calls a skill or a subagent is one of ours: a single word may be any word."""
    return "-" in name and not name.startswith(_PLACEHOLDERS)


def _file(page: Page, mention: Mention, known: Known) -> Iterator[Mistake]:
    first = mention.name.partition("/")[0]
    if page.skill is not None and first in _OWN:
        yield from _missing(page, mention, page.skill)
    elif first in _ROOMS and "." in mention.name.rpartition("/")[2]:
        yield from _missing(page, mention, known.root)


def _missing(page: Page, mention: Mention, home: Path) -> Iterator[Mistake]:
    file = home / mention.name
    if ".." in mention.name.split("/") or file.exists():
        return
    beside = sorted(path.name for path in file.parent.iterdir()) if file.parent.is_dir() else []
    folder = mention.name.rpartition("/")[0]
    meant = close_match(file.name, beside)
    hint = f"Write `{f'{folder}/{meant}' if folder else meant}`." if meant else "Create it, or correct its name."
    yield Mistake(page.file, mention.place, "missing-file", f"There is no file `{mention.name[:80]}`.", hint)
