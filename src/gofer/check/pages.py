"""Mistakes and hints in the texts that models read: prompts, skills and the prompts of subagents."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gofer.check.names import Known, Page, check_page
from gofer.check.tools import Holder, listed
from gofer.values.canonical_json import as_list, as_object
from gofer.workflows.file_text import is_there, read_text
from gofer.workflows.load import SKILLS, prompt_name
from gofer.workflows.mistake import START, Mistake
from gofer.workflows.output_file import read_output
from gofer.workflows.sentences import close_match
from gofer.workflows.skill import skill_file, skill_folders
from gofer.workflows.subagent import prompt_of
from gofer.workflows.yaml_source import Loc, Source

_DEEPEST = 20
"""The deepest level of a file that is read."""


def skill_names(root: Path) -> list[str]:
    """Return the names of the skills of a repository."""
    return [home.name for home in skill_folders(root / SKILLS) if skill_file(home).exists()]


def page_of(file: Path, text: str, holder: Holder | None) -> Page:
    """Return the page of a prompt, or of the preamble, which has no holder."""
    if holder is None:
        return Page(file, text)
    schema = read_output(holder.source)[0] or holder.source.fields.get("output")
    return Page(file, text, holder, set(_words(schema)))


def words_of(source: Source) -> Iterator[str]:
    """Yield the keys and the texts of a workflow or a subagent and of its `output`, without its list of tools."""
    yield from _texts({**source.fields, "tools": None, "output": read_output(source)[0] or source.fields.get("output")})


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    if depth > _DEEPEST:
        return
    fields = as_object(value)
    yield from fields
    for part in (*as_list(value), *fields.values()):
        yield from _texts(part, depth + 1)


def check_pages(known: Known, subagents: Sequence[Source]) -> Iterator[Mistake]:
    """Yield the mistakes in the texts of skills and in the prompts of subagents."""
    for name in known.skills:
        folder = known.root / SKILLS / name
        for file in sorted(folder.rglob("*.md")):
            if (text := _read(file)) is not None:
                yield from check_page(Page(file, text, skill=folder), known)
    for source in subagents:
        prompt = _prompt_of(source)
        if prompt is not None and (text := _read(prompt)) is not None:
            yield from check_page(page_of(prompt, text, Holder(source, "subagent")), known)


def _prompt_of(source: Source) -> Path | None:
    """Return the prompt file of a subagent; None when `prompt` is not a file name."""
    name = source.fields.get("prompt", "")
    if isinstance(name, str) and "/" not in name:
        return prompt_of(source.file, name)
    return None


def check_hints(
    folder: Path, workflows: Sequence[Source], subagents: Sequence[Source], defaults: Source, known: Known
) -> Iterator[Mistake]:
    """Yield hints about tools that workflows and subagents list, and that no text for their models mentions."""
    skills = [_read(skill_file(known.root / SKILLS / name)) or "" for name in known.skills]
    preamble = defaults.fields.get("preamble")
    shared = ""
    if isinstance(preamble, str):
        shared = _read(folder / preamble) or ""
    for source in workflows:
        name = source.fields.get("prompt", "")
        if isinstance(name, str) and "/" not in name and (prompt := _read(folder / prompt_name(source.file, name))):
            yield from _unmentioned(source, prompt, [shared, *skills], known)
    for source in subagents:
        if (file := _prompt_of(source)) and (prompt := _read(file)):
            yield from _unmentioned(source, prompt, skills, known)


def _unmentioned(source: Source, prompt: str, others: Sequence[str], known: Known) -> Iterator[Mistake]:
    """Yield a hint for each listed tool that no text mentions, if the prompt mentions other listed tools."""
    tools = [(loc, name) for loc, name in listed(source) if name in known.tools]
    if not any(name in prompt for _, name in tools):
        return
    for loc, name in tools:
        if not known.tools[name].base and not any(name in text for text in (prompt, *others)):
            message = f"The prompt mentions other tools, but not `{name}`."
            hint = "Say in the prompt when to use this tool, or remove it from `tools`."
            yield Mistake(source.file, source.key(loc), "unmentioned-tool", message, hint)


def _read(file: Path) -> str | None:
    try:
        if file.is_file():
            return read_text(file)[0]
        return None
    except (OSError, ValueError):
        # ValueError: the name contains a zero byte.
        return None


def _words(schema: object, depth: int = 0) -> Iterator[str]:
    """Yield the property names and enum values of a schema."""
    if depth > _DEEPEST:
        return
    for item in as_list(schema):
        yield from _words(item, depth + 1)
    fields = as_object(schema)
    yield from as_object(fields.get("properties"))
    yield from (word for word in as_list(fields.get("enum")) if isinstance(word, str))
    for part in fields.values():
        yield from _words(part, depth + 1)


@dataclass(frozen=True, slots=True)
class Use:
    """A Markdown file that a YAML file uses, by a key or by the file's own name."""

    source: Source
    loc: Loc
    """The key that names it."""
    name: str
    is_prompt: bool = True
    """Whether the file is the prompt of one workflow; the runs of all workflows read the preamble."""


def check_prompts(folder: Path, workflows: Sequence[Source], defaults: Source, known: Known) -> Iterator[Mistake]:
    """Yield the mistakes of prompts: missing, in another folder, empty, unused, or with names that their runs lack."""
    # A workflow with a script needs no prompt, but may keep one for a return to a model.
    uses = [use for source in workflows if (use := _prompt(source)) and not _needs_no_prompt(folder, use)]
    preamble = defaults.fields.get("preamble")
    if isinstance(preamble, str) and preamble:
        uses.append(Use(defaults, ("preamble",), preamble, is_prompt=False))
    for use in uses:
        if _is_path(use.name):
            message = f"`{use.name[:80]}` is a path."
            hint = "Write the name of a file in the folder of this file."
            yield Mistake(use.source.file, use.source.place(use.loc), "prompt-elsewhere", message, hint)
        else:
            yield from _checked(folder / use.name, use, known)
    used = {use.name for use in uses}
    # An unreadable workflow file may use the prompt of the same name, so that prompt is not reported as unused.
    used |= {prompt_name(source.file, "") for source in workflows if _prompt(source) is None}
    yield from unused_prompts(folder, used, "workflow")


def _prompt(source: Source) -> Use | None:
    """Return the prompt of a workflow file; None for a file that is no mapping or has a wrong `prompt`."""
    if not source.is_mapping:
        return None
    name = source.fields.get("prompt", "")
    if not isinstance(name, str):
        return None
    return Use(source, ("prompt",), prompt_name(source.file, name))


def _needs_no_prompt(folder: Path, use: Use) -> bool:
    fields = use.source.fields
    return fields.get("coordinator") == "script" and "prompt" not in fields and not _exists(folder / use.name)


def _is_path(name: str) -> bool:
    return "/" in name or "\\" in name or name in (".", "..")


def _checked(file: Path, use: Use, known: Known) -> Iterator[Mistake]:
    if not _exists(file):
        message = f"There is no file `{use.name[:80]}` in the folder of this file."
        yield Mistake(use.source.file, use.source.place(use.loc), "missing-prompt", message, _prompt_hint(file))
        return
    text, mistakes = read_text(file)
    yield from mistakes
    if text is not None and not text.strip():
        yield Mistake(file, START, "empty-prompt", "The prompt is empty.", "Describe the task of the workflow.")
    holder = None
    if use.is_prompt:
        holder = Holder(use.source, "workflow")
    yield from check_page(page_of(file, text or "", holder), known)


def _exists(file: Path) -> bool:
    try:
        return is_there(file)
    except (OSError, ValueError):
        return False


def _prompt_hint(file: Path) -> str:
    meant = close_match(file.name, [path.name for path in sorted(file.parent.glob("*.md"))])
    if meant:
        return f"Write `prompt: {meant}`, or create the file."
    return "Create the file, or name another file with `prompt`."


def unused_prompts(folder: Path, used: Collection[str], kind: Literal["workflow", "subagent"]) -> Iterator[Mistake]:
    """Yield a mistake for each Markdown file of a folder that no workflow or subagent uses."""
    for path in sorted(folder.glob("*.md")):
        if path.name not in used and path.name != "README.md":
            hint = f"Name it with `prompt` in a {kind}, create `{path.stem}.yaml`, or delete it."
            yield Mistake(path, START, "unused-prompt", f"No {kind} uses this file.", hint)
