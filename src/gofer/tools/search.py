"""The tools `tool_search` and `call_tool`, which find and call tools that a prompt does not list."""

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
"""The BM25 parameter k1: how soon repetitions of a word stop counting."""
_B = 0.75
"""The BM25 parameter b: how much the length of a text lowers its score."""
_ALIKE = 4
"""The fewest letters of a word that counts as the beginning of another word."""
_BEGINNING = 0.6
"""The weight of such a word, relative to an equal word."""
# fmt: off
_LITTLE = frozenset((
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "did", "do", "does", "for",
    "from", "has", "have", "her", "his", "how", "i", "in", "into", "is", "it", "its", "me", "my", "not", "of", "on",
    "or", "our", "please", "some", "that", "the", "their", "there", "these", "this", "those", "to", "up", "us", "was",
    "we", "were", "what", "when", "where", "which", "who", "with", "would", "you", "your",
))
# fmt: on
"""Words that occur in most descriptions and do not distinguish them."""
_NAME = 3
"""The weight of words in a name."""


def ranked(query: str, described: Mapping[str, str]) -> Sequence[str]:
    """Return the names that match a query by their words or descriptions, best first, then by name."""
    query_words = words(query)
    wanted = {word for word in query_words if word not in _LITTLE} or set(query_words)
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
    """Return the words of a text in lower case. Hyphens and underscores separate words."""
    return _WORD.findall(text.casefold())


def _times(word: str, counts: Counter[str]) -> float:
    """Return how often a text contains a word. Similar words, such as `comment` and `comments`, count less."""
    alike = sum(
        count
        for other, count in counts.items()
        if other != word and min(len(word), len(other)) >= _ALIKE and (other.startswith(word) or word.startswith(other))
    )
    return counts[word] + _BEGINNING * alike


SHOWN = 5
"""The most tools, and the most skills, in the result of one search."""


class SearchTools(Arguments):
    """The words of a search."""

    query: str = Field(min_length=1, max_length=300, description='A few words, as "create issue" or "who is on call".')


class CallTool(Arguments):
    """A call of a tool that the prompt does not list."""

    name: str
    arguments: dict[str, object] = Field(default_factory=dict, description="By its own schema.")


@dataclass(frozen=True, slots=True)
class Searched:
    """The tools and skills among which a search finds matches."""

    tools: Mapping[str, AnyTool]
    skills: Mapping[str, Skill]

    @property
    def texts(self) -> Mapping[str, str]:
        """The texts that a search compares with its words, by the names of tools and skills."""
        described = {name: skill.description for name, skill in self.skills.items()}
        return {**described, **{name: searched_text(tool) for name, tool in self.tools.items()}}


def searched(repertoire: Repertoire) -> Searched:
    """Return the tools and skills among which a run's search finds matches."""
    skills = {name: skill for name, skill in repertoire.skills.items() if name not in repertoire.withdrawn}
    return Searched({name: tool for name, tool in repertoire.tools.items() if not tool.base}, skills)


@tool(effect="read", base="search")
async def tool_search(call: Call, arguments: SearchTools) -> ToolResult:
    """Find tools and skills that are not listed here, by their purpose. Call the tools found with call_tool."""
    return found(searched(call.run.repertoire), arguments.query)


def found(available: Searched, query: str, chosen: Sequence[str] | None = None) -> ToolResult:
    """Return the schemas of tools and names of skills: the chosen ones, or else the best matches."""
    tools = [name for name in chosen or () if name in available.tools]
    skills = [name for name in chosen or () if name in available.skills]
    if chosen is None:
        tools = [*ranked(query, {name: searched_text(tool) for name, tool in available.tools.items()})]
        skills = [*ranked(query, {name: skill.description for name, skill in available.skills.items()})]
    schemas = [json.dumps(available.tools[name].schema()["function"], ensure_ascii=False) for name in tools[:SHOWN]]
    lines = [f"- {name}: {' '.join(available.skills[name].description.split())}" for name in skills[:SHOWN]]
    parts = [
        *_section(f"Tools; call one with {CALL_TOOL}(name=…, arguments={{…}}):", schemas, len(tools)),
        *_section("Skills, for load_skills:", lines, len(skills)),
    ]
    text = "\n".join(parts) or f"Nothing matches {query!r}. Use other words: what the tool does, and in which system."
    return ToolResult(text, ", ".join([*tools[:SHOWN], *skills[:SHOWN]]) or "nothing")


def searched_text(tool: AnyTool) -> str:
    """Return the text of a tool for searches: its description and its everyday words."""
    return f"{tool.description} {tool.everyday}"


def _section(head: str, lines: Sequence[str], of: int) -> Sequence[str]:
    if not lines:
        return []
    if of > len(lines):
        return [head, *lines, f"[{of - len(lines)} more match less well; use more words.]"]
    return [head, *lines]


@tool(effect="read", base="calls", in_order=True)
async def call_tool(call: Call, arguments: CallTool) -> ToolResult:
    """Call a tool that tool_search found."""
    # The engine replaces this call by a call of the named tool.
    raise ToolError(f"{CALL_TOOL} can only call tools that {SEARCH} finds.")


TOOLS = (tool_search, call_tool)
"""The tools of runs with more tools or skills than their prompt lists."""
