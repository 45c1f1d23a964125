"""Mistakes and hints in the texts that models read: prompts, skills and the prompts of subagents."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from gofer.check.holder import Holder
from gofer.check.names import Known, Page, check_page
from gofer.check.tools import listed
from gofer.values.canonical_json import as_list, as_object
from gofer.workflows.file_text import read_text
from gofer.workflows.load import SKILLS, prompt_name
from gofer.workflows.mistake import Mistake
from gofer.workflows.output_file import read_output
from gofer.workflows.skill import skill_file, skill_folders
from gofer.workflows.subagent import prompt_of
from gofer.workflows.yaml_source import Source


def skill_names(root: Path) -> list[str]:
    """Return the skills of a repository."""
    return [home.name for home in skill_folders(root / SKILLS) if skill_file(home).exists()]


def page_of(file: Path, text: str, holder: Holder | None) -> Page:
    """Return the prompt of a workflow or of a subagent, or a text that all of them read."""
    source = holder.source if holder is not None else None
    if source is not None:
        own = set(_words(read_output(source)[0] or source.fields.get("output")))
    else:
        own = ()
    return Page(file, text, holder, own)


def check_pages(known: Known, subagents: Sequence[Source]) -> Iterator[Mistake]:
    """Yield what skills, and the prompts of subagents, mention that does not exist."""
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
    """Return the prompt of a subagent; None when its file does not say which."""
    name = source.fields.get("prompt", "")
    if isinstance(name, str) and "/" not in name:
        return prompt_of(source.file, name)
    return None


def check_hints(
    folder: Path, workflows: Sequence[Source], subagents: Sequence[Source], defaults: Source, known: Known
) -> Iterator[Mistake]:
    """Yield tools that workflows of models, and subagents, list, and that nothing their models read speaks of."""
    skills = [_read(skill_file(known.root / SKILLS / name)) or "" for name in known.skills]
    preamble = defaults.fields.get("preamble")
    house = (_read(folder / preamble) or "") if isinstance(preamble, str) else ""
    for source in workflows:
        name = source.fields.get("prompt", "")
        if isinstance(name, str) and "/" not in name and (prompt := _read(folder / prompt_name(source.file, name))):
            yield from _unmentioned(source, prompt, [house, *skills], known)
    for source in subagents:
        if (file := _prompt_of(source)) and (prompt := _read(file)):
            yield from _unmentioned(source, prompt, skills, known)


def _unmentioned(source: Source, prompt: str, others: Sequence[str], known: Known) -> Iterator[Mistake]:
    """Yield hints at tools that a file lists and that no text has, where its prompt names other tools of the list."""
    tools = [(loc, name) for loc, name in listed(source) if name in known.tools]
    if not any(name in prompt for _, name in tools):
        return
    for loc, name in tools:
        if not known.tools[name].base and not any(name in text for text in (prompt, *others)):
            message = f"The prompt names other tools, and not `{name}`."
            hint = "Say in it when to use this one, or take it out of `tools`."
            yield Mistake(source.file, source.key(loc), "unmentioned-tool", message, hint)


def _read(file: Path) -> str | None:
    try:
        if file.is_file():
            return read_text(file)[0]
        return None
    except (OSError, ValueError):
        # ValueError: a name with a zero byte in it.
        return None


def _words(schema: object, deep: int = 0) -> Iterator[str]:
    """Yield keys and values of the answers that a schema describes."""
    if deep > 20:
        return
    for item in as_list(schema):
        yield from _words(item, deep + 1)
    fields = as_object(schema)
    yield from as_object(fields.get("properties"))
    yield from (word for word in as_list(fields.get("enum")) if isinstance(word, str))
    for part in fields.values():
        yield from _words(part, deep + 1)
