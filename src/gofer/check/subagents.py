"""Mistakes in the files of `subagents/`: their form, their prompts, and calls in a circle or too deep."""

from collections.abc import Iterator, Mapping, Sequence

from gofer.check.pages import unused_prompts
from gofer.check.skills import check_amount, check_named_skills
from gofer.check.tools import check_tools
from gofer.tools.definition import AnyTool
from gofer.values.canonical_json import as_list, as_text
from gofer.workflows.file_text import is_there, read_text
from gofer.workflows.form import fill
from gofer.workflows.mistake import START, Mistake
from gofer.workflows.output_file import read_output
from gofer.workflows.schema import Subagent
from gofer.workflows.skill import Skill
from gofer.workflows.subagent import prompt_of
from gofer.workflows.subagent_run import DEPTH
from gofer.workflows.yaml_source import Source


def check_subagents(
    sources: Sequence[Source], tools: Mapping[str, AnyTool], all_skills: Sequence[str], skills: Mapping[str, Skill]
) -> Iterator[Mistake]:
    """Yield the mistakes of subagents, their prompts, tools and skills, and of the subagents they call.

    `all_skills` contains the names of all existing skills, and `skills` only the readable ones.
    """
    for source in sources:
        subagent, wrong = fill(source, Subagent)
        yield from wrong
        if subagent is not None:
            yield from check_amount(source, subagent.own_skills, skills)
        yield from read_output(source)[1]
        yield from check_tools(source, tools)
        yield from check_named_skills(all_skills, source)
        yield from _check_prompt(source)
    yield from _check_depth(sources)
    prompts = {prompt_of(source.file, as_text(source.fields.get("prompt"))).name for source in sources}
    for home in {source.file.parent for source in sources}:
        yield from unused_prompts(home, prompts, "subagent")


def _check_prompt(source: Source) -> Iterator[Mistake]:
    name = as_text(source.fields.get("prompt"))
    if "/" in name or "\\" in name or name in (".", ".."):
        message = f"`{name[:80]}` is a path."
        hint = "Write the name of a file that stands beside this one."
        yield Mistake(source.file, source.place(("prompt",)), "prompt-elsewhere", message, hint)
        return
    prompt = prompt_of(source.file, name)
    if not is_there(prompt):
        message = f"There is no file `{prompt.name[:80]}` in the folder of this file."
        place = START
        if name:
            place = source.place(("prompt",))
        hint = "Create the file with the instructions for the model."
        yield Mistake(source.file, place, "missing-prompt", message, hint)
        return
    text, mistakes = read_text(prompt)
    yield from mistakes
    if text is not None and not text.strip():
        yield Mistake(prompt, START, "empty-prompt", "The prompt is empty.", "Describe the task of the subagent.")


def _check_depth(sources: Sequence[Source]) -> Iterator[Mistake]:
    """Yield subagents that call one another in a circle or more than DEPTH levels deep."""
    calls = {source.file.stem: _called(source) for source in sources}
    for source in sources:
        name = source.file.stem
        place = source.place(("subagents",))
        if path := _circle(calls, name):
            message = f"These subagents call one another in a circle: {' -> '.join(path)}."
            yield Mistake(source.file, place, "subagent-circle", message, "Remove one of them from `subagents`.")
        elif len(path := _longest(calls, name, ())) > DEPTH:
            message = f"Subagents call one another {len(path)} levels deep here: {' -> '.join(path)}."
            yield Mistake(
                source.file,
                place,
                "subagents-too-deep",
                message,
                f"At most {DEPTH} levels are allowed; remove one from `subagents`.",
            )


def _called(source: Source) -> Sequence[str]:
    return [name for name in as_list(source.fields.get("subagents")) if isinstance(name, str)]


def _circle(calls: Mapping[str, Sequence[str]], name: str) -> Sequence[str]:
    """Return the shortest path of calls from a subagent back to itself; empty if there is none."""
    paths: list[tuple[str, ...]] = [(name,)]
    seen: set[str] = set()
    while paths:
        path = paths.pop(0)
        for other in calls.get(path[-1], ()):
            if other == name:
                return (*path, name)
            if other not in seen:
                seen.add(other)
                paths.append((*path, other))
    return ()


def _longest(calls: Mapping[str, Sequence[str]], name: str, path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the longest path of calls below a subagent, cut after DEPTH + 1 names; a circle ends a path."""
    path = (*path, name)
    if len(path) > DEPTH:
        return path
    below = [_longest(calls, other, path) for other in calls.get(name, ()) if other not in path]
    return max(below, key=len, default=path)
