"""Is each prompt there, is it used, and does it speak only of tools that its workflow has?"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gofer.check.tools import granted
from gofer.workflows.load import prompt_name
from gofer.workflows.mistake import START, Mistake, Place
from gofer.workflows.sentences import close_match
from gofer.workflows.source import Loc, Source
from gofer.workflows.text import read_text

_NAME = re.compile(r"(?<!`)`([a-z0-9_]+)`(?!`)")
_FENCE = re.compile(r"\s*(```|~~~)")
CLOSE = 0.8
"""How alike a word in backticks and a tool must be (0 to 1) before the word counts as that tool, misspelt."""


@dataclass(frozen=True, slots=True)
class Use:
    """A Markdown file that a YAML file names, or stands for by its own name."""

    source: Source
    loc: Loc
    """The key that names it."""
    name: str
    tools: Sequence[str] | None
    """What its workflow may call; None for the preamble, which speaks to all of them."""


def check_prompts(
    folder: Path, workflows: Sequence[Source], defaults: Source, tools: Collection[str]
) -> Iterator[Mistake]:
    """Prompts that are missing, elsewhere, empty, unused, or that speak of tools nobody gave them."""
    # A script needs no prompt; one that is there is kept for the day its workflow is a model's again.
    uses = [use for source in workflows if (use := _prompt(source)) and not _is_spared(folder, use)]
    preamble = defaults.fields.get("preamble")
    if isinstance(preamble, str) and preamble:
        uses.append(Use(defaults, ("preamble",), preamble, None))
    for use in uses:
        if _elsewhere(use.name):
            message = f"`{use.name[:80]}` is a path."
            hint = "Write the name of a file that stands beside this one."
            yield Mistake(use.source.file, use.source.place(use.loc), "prompt-elsewhere", message, hint)
        else:
            yield from _read(folder / use.name, use, tools)
    used = {use.name for use in uses}
    # Nobody can tell which prompt a file means that cannot be read; the one beside it is not called unused.
    used |= {prompt_name(source.file, "") for source in workflows if _prompt(source) is None}
    yield from _unused(folder, used)


def _prompt(source: Source) -> Use | None:
    """None when the file is so wrong that nobody can tell which prompt is meant."""
    if not source.is_mapping:
        return None
    name = source.fields.get("prompt", "")
    if not isinstance(name, str):
        return None
    return Use(source, ("prompt",), prompt_name(source.file, name), granted(source))


def _is_spared(folder: Path, use: Use) -> bool:
    fields = use.source.fields
    return fields.get("coordinator") == "script" and "prompt" not in fields and not _exists(folder / use.name)


def _elsewhere(name: str) -> bool:
    return "/" in name or "\\" in name or name in (".", "..")


def _read(file: Path, use: Use, tools: Collection[str]) -> Iterator[Mistake]:
    if not _exists(file):
        message = f"There is no file `{use.name[:80]}` beside this one."
        yield Mistake(use.source.file, use.source.place(use.loc), "missing-prompt", message, _which(file))
        return
    text, mistakes = read_text(file)
    yield from mistakes
    if text is not None and not text.strip():
        yield Mistake(file, START, "empty-prompt", "The prompt is empty.", "Say what is to be done.")
    yield from _named_tools(file, text or "", use, tools)


def _exists(file: Path) -> bool:
    try:
        return file.is_file()
    except (OSError, ValueError):
        return False


def _which(file: Path) -> str:
    meant = close_match(file.name, [path.name for path in sorted(file.parent.glob("*.md"))])
    return f"Write `prompt: {meant}`, or create the file." if meant else "Create it, or name another with `prompt`."


def _named_tools(file: Path, text: str, use: Use, tools: Collection[str]) -> Iterator[Mistake]:
    """Tools in backticks that do not exist or that the workflow does not have."""
    for place, name in _names(text):
        if name in tools:
            if use.tools is not None and name not in use.tools:
                message = f"The workflow in {use.source.file.name} does not have the tool `{name}`."
                yield Mistake(file, place, "tool-not-granted", message, "Add it to `tools`, or do without it here.")
        elif name not in (use.tools or ()) and (meant := close_match(name, sorted(tools), CLOSE)):
            yield Mistake(file, place, "unknown-tool", f"There is no tool `{name[:80]}`.", f"Write `{meant}`.")


def _names(text: str) -> Iterator[tuple[Place, str]]:
    """Words in backticks outside of blocks of code, where they are examples rather than instructions."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            for found in _NAME.finditer(line):
                yield Place(number, found.start(1) + 1), found[1]


def _unused(folder: Path, used: Collection[str]) -> Iterator[Mistake]:
    for path in sorted(folder.glob("*.md")):
        if path.name not in used and path.name != "README.md":
            hint = f"Name it with `prompt` in a workflow, write `{path.stem}.yaml` for it, or delete it."
            yield Mistake(path, START, "unused-prompt", "No workflow uses this file.", hint)
