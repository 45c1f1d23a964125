"""The tools that find what a prompt does not list, and call it: `tool_search` and `call_tool`."""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from gofer.tools.declare import tool
from gofer.tools.definition import SEARCH, AnyTool, Arguments, Call, Repertoire, ToolResult
from gofer.values.errors import ToolError
from gofer.values.messages import CALL_TOOL
from gofer.workflows.skill import Skill

_WORD = re.compile(r"[^\W_]+")
_K = 1.2
"""How soon a word that is repeated counts no more, as is usual for BM25."""
_B = 0.75
"""How much a long text is held against it, as is usual for BM25."""
_ALIKE = 4
"""Letters that two words must begin with alike, when one of them is the beginning of the other."""
_BEGINNING = 0.6
"""What such a word counts, of one that is the same."""
# fmt: off
_LITTLE = frozenset((
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "did", "do", "does", "for",
    "from", "has", "have", "her", "his", "how", "i", "in", "into", "is", "it", "its", "me", "my", "not", "of", "on",
    "or", "our", "please", "some", "that", "the", "their", "there", "these", "this", "those", "to", "up", "us", "was",
    "we", "were", "what", "when", "where", "which", "who", "with", "would", "you", "your",
))
# fmt: on
"""Words that stand in every description and say nothing of what it is for."""
_NAME = 3
"""How often the words of a name count."""


def ranked(query: str, described: Mapping[str, str]) -> Sequence[str]:
    """Return the names that fit the query by their words or their descriptions; best first, and then by name."""
    said = words(query)
    wanted = {word for word in said if word not in _LITTLE} or set(said)
    texts = {name: Counter(words(name) * _NAME + words(text)) for name, text in described.items()}
    average = sum(counts.total() for counts in texts.values()) / max(1, len(texts))
    found = {word: {name: _times(word, counts) for name, counts in texts.items()} for word in sorted(wanted)}
    scores = dict.fromkeys(described, 0.0)
    for times in found.values():
        holding = sum(1 for value in times.values() if value)
        rarity = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
        for name, value in times.items():
            length = 1 - _B + _B * texts[name].total() / max(1.0, average)
            scores[name] += rarity * value * (_K + 1) / (value + _K * length)
    fitting = [name for name, score in scores.items() if score > 0]
    return sorted(fitting, key=lambda name: (-scores[name], name))


def words(text: str) -> list[str]:
    """Return the words of a text in lower case; a name with hyphens or underscores is several."""
    return _WORD.findall(text.casefold())


def _times(word: str, counts: Counter[str]) -> float:
    """Return how often a text has a word; one that only begins alike, as `comment` and `comments`, counts less."""
    alike = sum(
        count
        for other, count in counts.items()
        if other != word and min(len(word), len(other)) >= _ALIKE and (other.startswith(word) or word.startswith(other))
    )
    return counts[word] + _BEGINNING * alike


SHOWN = 5
"""Tools, and skills, that one search shows at most."""


class SearchTools(Arguments):
    """What is looked for."""

    query: str = Field(min_length=1, max_length=300, description='A few words, as "create issue" or "who is on call".')


class CallTool(Arguments):
    """A call of a tool that the prompt does not list."""

    name: str
    arguments: dict[str, object] = Field(default_factory=dict, description="By its own schema.")


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search looks through: the tools and skills that a run may use and its prompt may not list."""

    tools: Mapping[str, AnyTool]
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


@tool(effect="read", base="search")
async def tool_search(call: Call, arguments: SearchTools) -> ToolResult:
    """Find tools and skills that are not listed here, by what they are for. Call such tools with call_tool."""
    return found(searched(call.run.repertoire), arguments.query)


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


def searched_text(tool: AnyTool) -> str:
    """Return what a search looks through for a tool: what it does, and the words that people use for that."""
    return f"{tool.description} {tool.everyday}"


def _section(head: str, lines: Sequence[str], of: int) -> Sequence[str]:
    if not lines:
        return []
    if of > len(lines):
        return [head, *lines, f"[{of - len(lines)} more fit less well; use more words.]"]
    return [head, *lines]


@tool(effect="read", base="calls", in_order=True)
async def call_tool(call: Call, arguments: CallTool) -> ToolResult:
    """Call a tool that tool_search found."""
    # The engine calls a tool that is there in its place.
    raise ToolError(f"{CALL_TOOL} calls the tools that {SEARCH} finds, and not itself.")


TOOLS = (tool_search, call_tool)
"""The tools of runs that have more than their prompt can list."""
