"""Do the tools that a workflow lists exist?"""

from collections.abc import Collection, Iterator

from gofer.canonical import as_list
from gofer.workflows.mistake import Mistake
from gofer.workflows.sentences import close_match
from gofer.workflows.source import Source


def granted(source: Source) -> list[str]:
    """The tools that a workflow lists, also when other parts of it are wrong."""
    return [item for item in as_list(source.fields.get("tools")) if isinstance(item, str)]


def check_tools(source: Source, tools: Collection[str]) -> Iterator[Mistake]:
    """Tools that do not exist or are listed twice."""
    seen: set[str] = set()
    for at, name in enumerate(as_list(source.fields.get("tools"))):
        place = source.place(("tools", at))
        if not isinstance(name, str):
            continue
        if name in seen:
            yield Mistake(
                source.file, place, "duplicate-tool", f"`{name[:80]}` is listed twice.", "Remove one of them."
            )
        elif name not in tools:
            message = f"There is no tool `{name[:80]}`."
            yield Mistake(source.file, place, "unknown-tool", message, instead(name, tools))
        seen.add(name)


def instead(name: str, tools: Collection[str]) -> str:
    """What to write for a tool that does not exist."""
    meant = close_match(name, sorted(tools))
    return f"Write `{meant}`." if meant else "docs/workflow-file.md lists the tools that exist."
