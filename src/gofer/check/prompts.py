"""Mistakes of prompts: missing, elsewhere, empty, unused, or speaking of what their workflow does not have."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gofer.check.holder import Holder
from gofer.check.names import Known, check_page
from gofer.check.pages import page_of
from gofer.workflows.file_text import read_text
from gofer.workflows.load import prompt_name
from gofer.workflows.mistake import START, Mistake
from gofer.workflows.sentences import close_match
from gofer.workflows.yaml_source import Loc, Source


@dataclass(frozen=True, slots=True)
class Use:
    """A Markdown file that a YAML file names, or stands for by its own name."""

    source: Source
    loc: Loc
    """The key that names it."""
    name: str
    one: bool = True
    """Whether only the runs of its workflow read it; the preamble speaks to all of them."""


def check_prompts(folder: Path, workflows: Sequence[Source], defaults: Source, known: Known) -> Iterator[Mistake]:
    """Yield mistakes of prompts: missing, elsewhere, empty, unused, or about tools and skills that their runs lack."""
    # A script needs no prompt; one that is there is kept for the day its workflow is a model's again.
    uses = [use for source in workflows if (use := _prompt(source)) and not _is_spared(folder, use)]
    preamble = defaults.fields.get("preamble")
    if isinstance(preamble, str) and preamble:
        uses.append(Use(defaults, ("preamble",), preamble, one=False))
    for use in uses:
        if _elsewhere(use.name):
            message = f"`{use.name[:80]}` is a path."
            hint = "Write the name of a file that stands beside this one."
            yield Mistake(use.source.file, use.source.place(use.loc), "prompt-elsewhere", message, hint)
        else:
            yield from _read(folder / use.name, use, known)
    used = {use.name for use in uses}
    # A file that cannot be read may mean any prompt, so the one beside it is not called unused.
    used |= {prompt_name(source.file, "") for source in workflows if _prompt(source) is None}
    yield from unused_prompts(folder, used, "workflow")


def _prompt(source: Source) -> Use | None:
    """Return which prompt a file names; None for a file that is too wrong to name one."""
    if not source.is_mapping:
        return None
    name = source.fields.get("prompt", "")
    if not isinstance(name, str):
        return None
    return Use(source, ("prompt",), prompt_name(source.file, name))


def _is_spared(folder: Path, use: Use) -> bool:
    fields = use.source.fields
    return fields.get("coordinator") == "script" and "prompt" not in fields and not _exists(folder / use.name)


def _elsewhere(name: str) -> bool:
    return "/" in name or "\\" in name or name in (".", "..")


def _read(file: Path, use: Use, known: Known) -> Iterator[Mistake]:
    if not _exists(file):
        message = f"There is no file `{use.name[:80]}` beside this one."
        yield Mistake(use.source.file, use.source.place(use.loc), "missing-prompt", message, _which(file))
        return
    text, mistakes = read_text(file)
    yield from mistakes
    if text is not None and not text.strip():
        yield Mistake(file, START, "empty-prompt", "The prompt is empty.", "Say what is to be done.")
    yield from check_page(page_of(file, text or "", Holder(use.source, "workflow") if use.one else None), known)


def _exists(file: Path) -> bool:
    try:
        return file.is_file()
    except (OSError, ValueError):
        return False


def _which(file: Path) -> str:
    meant = close_match(file.name, [path.name for path in sorted(file.parent.glob("*.md"))])
    if meant:
        return f"Write `prompt: {meant}`, or create the file."
    return "Create it, or name another with `prompt`."


def unused_prompts(folder: Path, used: Collection[str], kind: Literal["workflow", "subagent"]) -> Iterator[Mistake]:
    """Yield Markdown files of a folder that no run reads."""
    for path in sorted(folder.glob("*.md")):
        if path.name not in used and path.name != "README.md":
            hint = f"Name it with `prompt` in a {kind}, write `{path.stem}.yaml` for it, or delete it."
            yield Mistake(path, START, "unused-prompt", f"No {kind} uses this file.", hint)
