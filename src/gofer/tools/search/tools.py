"""The tools that find what a prompt does not list, and call it: `tool_search` and `call_tool`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from gofer.errors import ToolError
from gofer.messages import CALL_TOOL
from gofer.tools.search.ranking import ranked
from gofer.tools.tool import SEARCH, Arguments, Call, Repertoire, Tool, ToolResult
from gofer.workflows.skill import Skill

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


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search looks through: the tools and skills that a run may use and its prompt may not list."""

    tools: Mapping[str, Tool[Any]]
    skills: Mapping[str, Skill]

    @property
    def texts(self) -> Mapping[str, str]:
        """What a search compares with its words, by the names of tools and skills."""
        described = {name: skill.description for name, skill in self.skills.items()}
        return {**described, **{name: searched_text(tool) for name, tool in self.tools.items()}}


def searched(repertoire: Repertoire) -> Searched:
    """Return what a search of a run looks through."""
    skills = {name: skill for name, skill in repertoire.skills.items() if name not in repertoire.withdrawn}
    return Searched({name: tool for name, tool in repertoire.tools.items() if not tool.base}, skills)


async def tool_search(call: Call, arguments: SearchTools) -> ToolResult:
    """Return the schemas of the tools, and the names of the skills, that fit the words best."""
    return found(searched(call.repertoire), arguments.query)


def found(there: Searched, query: str, chosen: Sequence[str] | None = None) -> ToolResult:
    """Return the schemas of tools and the names of skills: those that were chosen, or those that fit the words best."""
    tools = [name for name in chosen or () if name in there.tools]
    skills = [name for name in chosen or () if name in there.skills]
    if chosen is None:
        tools = [*ranked(query, {name: searched_text(tool) for name, tool in there.tools.items()})]
        skills = [*ranked(query, {name: skill.description for name, skill in there.skills.items()})]
    shown = [json.dumps(there.tools[name].schema()["function"], ensure_ascii=False) for name in tools[:SHOWN]]
    lines = [f"- {name}: {' '.join(there.skills[name].description.split())}" for name in skills[:SHOWN]]
    parts = [
        *_section(f"Tools; call one with {CALL_TOOL}(name=…, arguments={{…}}):", shown, len(tools)),
        *_section("Skills, for load_skills:", lines, len(skills)),
    ]
    told = "\n".join(parts) or f"Nothing fits {query!r}. Use other words: what it does, and in which system."
    return ToolResult(told, ", ".join([*tools[:SHOWN], *skills[:SHOWN]]) or "nothing")


def searched_text(tool: Tool[Any]) -> str:
    """Return what a search looks through for a tool: what it does, and the words that people use for that."""
    return f"{tool.description} {tool.everyday}"


def _section(head: str, lines: Sequence[str], of: int) -> Sequence[str]:
    more = [f"[{of - len(lines)} more fit less well; use more words.]"] if of > len(lines) else []
    return [head, *lines, *more] if lines else []


async def call_tool(call: Call, arguments: CallTool) -> ToolResult:
    """Never happens for a tool that is there: what it stands for is called in its place."""
    raise ToolError(f"{CALL_TOOL} calls the tools that {SEARCH} finds, and not itself.")
