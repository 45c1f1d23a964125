"""How does a model find what its prompt does not list, and call it?"""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from gofer.errors import ToolError
from gofer.messages import CALL_TOOL
from gofer.tools.search.ranking import ranked
from gofer.tools.tool import SEARCH, Arguments, Call, Tool, ToolResult

SHOWN = 5
"""Tools, and skills, that one search shows at most."""


class SearchTools(Arguments):
    """What is looked for."""

    query: str = Field(min_length=1, max_length=300, description='A few words, as "create issue" or "who is on call".')


class CallTool(Arguments):
    """A call of a tool that the prompt does not list."""

    name: str
    arguments: dict[str, object] = Field(default_factory=dict, description="By its own schema.")


def search_tools() -> tuple[Tool[Any], ...]:
    """The tools of runs that have more than their prompt can list."""
    return (
        Tool(
            name=SEARCH,
            description="Find tools and skills that are not listed here, by what they are for. Call such tools with "
            f"{CALL_TOOL}.",
            effect="read",
            arguments=SearchTools,
            act=tool_search,
            base="search",
        ),
        Tool(
            name=CALL_TOOL,
            description=f"Call a tool that {SEARCH} found.",
            effect="read",
            arguments=CallTool,
            act=call_tool,
            base="calls",
            in_order=True,
        ),
    )


async def tool_search(call: Call, arguments: SearchTools) -> ToolResult:
    """The schemas of the tools, and the names of the skills, that fit best."""
    tools = {name: tool for name, tool in call.repertoire.tools.items() if not tool.base}
    skills = {name: skill for name, skill in call.repertoire.skills.items() if name not in call.repertoire.withdrawn}
    found = ranked(arguments.query, {name: tool.description for name, tool in tools.items()})
    fitting = ranked(arguments.query, {name: skill.description for name, skill in skills.items()})
    shown = [json.dumps(tools[name].schema()["function"], ensure_ascii=False) for name in found[:SHOWN]]
    lines = [f"- {name}: {' '.join(skills[name].description.split())}" for name in fitting[:SHOWN]]
    parts = [
        *_section(f"Tools; call one with {CALL_TOOL}(name=…, arguments={{…}}):", shown, len(found)),
        *_section("Skills, for load_skills:", lines, len(fitting)),
    ]
    told = "\n".join(parts) or f"Nothing fits {arguments.query!r}. Use other words: what it does, and in which system."
    return ToolResult(told, ", ".join([*found[:SHOWN], *fitting[:SHOWN]]) or "nothing")


def _section(head: str, lines: Sequence[str], of: int) -> Sequence[str]:
    more = [f"[{of - len(lines)} more fit less well; use more words.]"] if of > len(lines) else []
    return [head, *lines, *more] if lines else []


async def call_tool(call: Call, arguments: CallTool) -> ToolResult:
    """Never happens for a tool that is there: what it stands for is called in its place."""
    raise ToolError(f"{CALL_TOOL} calls the tools that {SEARCH} finds, and not itself.")
