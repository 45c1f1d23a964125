"""Mistakes in the lists of tools: names that do not exist, stand twice or are approved without a grant."""

from collections.abc import Collection, Iterator

from gofer.values.canonical_json import as_list, as_object
from gofer.workflows.mistake import Mistake
from gofer.workflows.sentences import close_match
from gofer.workflows.yaml_source import Loc, Source


def granted(source: Source) -> list[str]:
    """Return the tools that a workflow lists, also when other parts of it are wrong."""
    return [name for _, name in listed(source)]


def listed(source: Source) -> Iterator[tuple[Loc, str]]:
    """Yield each tool with the place of its name: it stands alone, or as the key of its options."""
    for at, item in enumerate(as_list(source.fields.get("tools"))):
        if isinstance(item, str):
            yield ("tools", at), item
        elif len(named := list(as_object(item))) == 1:
            yield ("tools", at, named[0]), named[0]


def check_tools(source: Source, tools: Collection[str]) -> Iterator[Mistake]:
    """Yield tools that do not exist or are listed twice, and approvals of tools that the workflow does not have."""
    seen: set[str] = set()
    for loc, name in listed(source):
        place = source.key(loc)
        if name in seen:
            yield Mistake(
                source.file, place, "duplicate-tool", f"`{name[:80]}` is listed twice.", "Remove one of them."
            )
        elif name not in tools:
            message = f"There is no tool `{name[:80]}`."
            yield Mistake(source.file, place, "unknown-tool", message, instead(name, tools))
        seen.add(name)
    yield from _approved(source, seen, tools)


def _approved(source: Source, has: Collection[str], tools: Collection[str]) -> Iterator[Mistake]:
    listed = as_object(source.fields.get("approve")).get("tools")
    for at, name in enumerate(as_list(listed) or [listed]):
        if not isinstance(name, str) or name in has:
            continue
        place = source.place(("approve", "tools", at))
        if name in tools:
            message = f"`{name}` is to be approved, and this workflow does not have it."
            hint = "List it under `tools`, or remove it here."
            yield Mistake(source.file, place, "tool-not-granted", message, hint)
        else:
            message = f"There is no tool `{name[:80]}`."
            yield Mistake(source.file, place, "unknown-tool", message, instead(name, has or tools))


def instead(name: str, tools: Collection[str]) -> str:
    """Return what to write for a tool that does not exist."""
    meant = close_match(name, sorted(tools))
    if meant:
        return f"Write `{meant}`."
    return "docs/workflow-file.md lists the tools that exist."
