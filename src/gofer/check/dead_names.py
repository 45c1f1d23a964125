"""Names that no tool, skill or subagent has, but that resemble one: misspelt, with another verb, or of an earlier time.

The words of a tool's name are its family, its verb and its object: `crm_create_note`, or `crm_search` alone.
A family is the first word of tools. Field names begin with the same words (`crm_note`), so a name without a verb only
looks like a tool.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from gofer.tools.definition import AnyTool

EDITS = 2
"""The most edited letters of a misspelt name; two swapped neighbours are one edit."""
_ALONE = 6
"""The fewest letters of a name of one word that counts as misspelt, by one edit. Shorter words are too much alike."""
_SIMILAR = (
    frozenset(("find", "list", "lookup", "query", "search")),
    frozenset(("fetch", "get", "load", "read", "retrieve", "show", "view")),
    frozenset(("add", "append", "create", "insert", "make", "post", "publish", "reply", "send", "write")),
    frozenset(("change", "edit", "modify", "set", "update")),
    frozenset(("archive", "delete", "remove")),
)
"""Verbs of tools. Those of one group name a similar action, so one replaces another in a hint."""
# fmt: off
_VERBS = frozenset((
    "approve", "assign", "attach", "cancel", "close", "copy", "download", "invite", "join", "leave", "link", "mark",
    "merge", "move", "notify", "open", "pin", "rename", "reopen", "request", "resolve", "share", "start", "stop",
    "submit", "transition", "unlink", "unpin", "upload", "watch",
)).union(*_SIMILAR)
_NOUNS = frozenset((
    "change", "copy", "download", "invite", "link", "list", "load", "lookup", "mark", "move", "open", "pin", "post",
    "query", "reply", "request", "search", "set", "share", "show", "start", "stop", "transition", "update", "upload",
    "view", "watch",
))
# fmt: on
"""Verbs that are also nouns or adjectives, so that a name of a family and such a verb may be a field: `crm_link`."""


@dataclass(frozen=True, slots=True)
class Former:
    """The names in the history of a repository."""

    tools: Collection[str] = ()
    skills: Collection[str] = ()
    subagents: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class DeadName:
    """A name that no tool has."""

    meant: str = ""
    """The tool that is probably meant; empty if none is likely."""
    is_certain: bool = True
    """Whether the name can only be meant as a tool; otherwise it may be another name, such as that of a field."""


@dataclass(frozen=True, slots=True)
class ToolNames:
    """The names of all tools, in the parts with which other names are compared."""

    names: Collection[str]
    base: Collection[str]
    """The tools that runs have without listing them."""
    families: Mapping[str, Collection[str]]
    """The tools of each family."""
    systems: Collection[str]
    """The families that are named after their system, such as `crm`."""
    fields: Collection[str]
    """The names of all arguments."""

    @classmethod
    def of(cls, tools: Mapping[str, AnyTool]) -> "ToolNames":
        """Return the names of tools."""
        listed = {name: tool for name, tool in tools.items() if not tool.base}
        families: dict[str, list[str]] = {}
        systems = set[str]()
        for name, tool in tools.items():
            first, separator, _ = name.partition("_")
            if separator and first not in _VERBS:
                families.setdefault(first, []).append(name)
            if separator and first in tool.target.system.lower().split():
                systems.add(first)
        fields = {argument for tool in tools.values() for argument in tool.arguments.model_fields}
        return cls(sorted(tools), {*tools} - {*listed}, families, systems, fields)

    def dead(self, name: str) -> DeadName | None:
        """Return what a name without a tool is meant as; None for a name that does not resemble a tool."""
        plain = name.replace("-", "_")
        if plain in self.names:
            return DeadName(plain)
        words = plain.split("_")
        others = [one for one in self.names if one not in self.base]
        for one in others:
            if sorted(words) == sorted(one.split("_")):
                return DeadName(one)
        is_field = len(words) == 2 and words[-1] in self.fields
        meant = misspelt(plain, self.base) or (not is_field and misspelt(plain, others, within_words=False))
        if meant:
            return DeadName(meant)
        if "-" in name:
            return None
        return self._of_family(words)

    def _of_family(self, words: list[str]) -> DeadName | None:
        """Return what a name that begins with a family, or with a verb and a family, is meant as."""
        family, verb, *rest = self._in_order(words)
        if family not in self.families or any(re.search(r"\d", word) for word in words):
            return None
        if verb in _VERBS and self._is_call(family, verb, rest):
            return DeadName(self._similar(family, verb, rest))
        if family in self.systems:
            return DeadName(is_certain=False)
        return None

    def _in_order(self, words: list[str]) -> list[str]:
        """Return the words of a name with its family first and its verb second, if it has both."""
        match words:
            case [verb, family, *rest] if verb in _VERBS and family in self.systems:
                return [family, verb, *rest]
            case [family, first, *rest, verb] if first not in _VERBS and verb in _VERBS - _NOUNS:
                return [family, verb, first, *rest]
            case [_]:
                return [*words, ""]
            case _:
                return words

    def _is_call(self, family: str, verb: str, rest: list[str]) -> bool:
        """Return whether a family, a verb and an object can only be a tool, and not a field of that system."""
        of_family = self.families[family]
        if not rest:
            return verb not in _NOUNS
        if _singular(rest) in {_singular(tool.split("_")[2:]) for tool in of_family}:
            return True
        has_verb = any(tool.split("_")[1] == verb for tool in of_family)
        is_field = rest[-1] in self.fields or f"{family}_{verb}" in of_family
        return not is_field and (has_verb or verb not in _NOUNS)

    def _similar(self, family: str, verb: str, rest: list[str]) -> str:
        """Return the tool of a family with a similar verb and the same object or none; empty if there are several."""
        verbs = next((group for group in _SIMILAR if verb in group), frozenset((verb,)))
        similar = [tool for tool in self.families[family] if tool.split("_")[1] in verbs]
        same = [tool for tool in similar if _singular(tool.split("_")[2:]) == _singular(rest)]
        whole = [tool for tool in similar if not tool.split("_")[2:]]
        for found in (same, whole):
            if len(found) == 1:
                return found[0]
        return ""


def _singular(words: list[str]) -> str:
    """Return an object of a tool in the singular."""
    joined = "_".join(words)
    if joined.endswith("ies"):
        return f"{joined[:-3]}y"
    return joined.removesuffix("s")


def misspelt(name: str, known: Iterable[str], *, within_words: bool = True) -> str:
    """Return the known name from which a name differs by the fewest edits, at most EDITS; empty if there is none.

    With `within_words`, less than half of the letters of a word may be edited, because short names of other things are
    as much alike: `log_file` is no misspelt `load_file`.
    """
    nearest = ""
    least = EDITS + 1
    for one in known:
        # An edit changes the set of letters by two letters at most.
        if abs(len(one) - len(name)) > EDITS or len(set(one) ^ set(name)) > 2 * EDITS:
            continue
        edits = _edits(name, one)
        if edits < least and _is_slip(name, one, edits, within_words=within_words):
            nearest = one
            least = edits
    return nearest


def _is_slip(name: str, known: str, edits: int, *, within_words: bool) -> bool:
    words = re.split("[_-]", known)
    if len(words) == 1:
        return len(known) >= _ALONE and edits == 1 and name != f"{known}s"
    written = re.split("[_-]", name)
    if not within_words or len(written) != len(words):
        return True
    return all(2 * _edits(a, b) < len(b) or a == b for a, b in zip(written, words, strict=True))


@lru_cache(maxsize=10_000)
def _edits(a: str, b: str) -> int:
    """Return the distance of Damerau and Levenshtein: the fewest letters to insert, delete, replace or swap."""
    width = len(b) + 1
    far = len(a) + width
    # The rows and columns before the first letter are -1 and 0.
    table = {(-1, j): far for j in range(-1, width)} | {(0, j): j for j in range(width)}
    row_of: dict[str, int] = {}
    for i, left in enumerate(a, 1):
        table[i, -1] = far
        table[i, 0] = i
        same = 0
        for j, right in enumerate(b, 1):
            above = row_of.get(right, 0)
            swapped = table.get((above - 1, same - 1), far) + (i - above - 1) + 1 + (j - same - 1)
            replaced = table[i - 1, j - 1] + (left != right)
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, replaced, swapped)
            if left == right:
                same = j
        row_of[left] = i
    return table[len(a), len(b)]


HISTORY = ("tools/*.py", "agents/*.yaml", "subagents/*.yaml", "skills/*/SKILL.md")
"""The files whose changes tell the names that tools, skills and subagents had."""
_CHANGED = re.compile(r"^(?:---|\+\+\+) [ab]/(skills|subagents)/([a-z0-9]+(?:-[a-z0-9]+)+)[/.]", re.MULTILINE)
_FUNCTION = re.compile(r"^[+-]async def ([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\(", re.MULTILINE)
_KEY = re.compile(r"(?:@@ .* @@ |[+-])(\w+):")
_ITEM = re.compile(r"(?:[\[,]|-\s)\s*([a-z][a-z0-9]*(?:_[a-z0-9]+)+)")
_OPTIONS = re.compile(r"\{[^}]*\}|\s#.*")


def former_names(changes: str) -> Former:
    """Return the names in the changes of HISTORY, as `git log -p -U0` prints them. Names of one word are left out."""
    tools = set(_FUNCTION.findall(changes))
    key = ""
    for line in changes.splitlines():
        # A hunk names the key of YAML that it begins in.
        if found := _KEY.match(line):
            key = found[1]
        if key == "tools" and line[:1] in ("+", "-"):
            tools |= set(_ITEM.findall(_OPTIONS.sub("", line[1:])))
    changed = _CHANGED.findall(changes)
    folders = {folder: {name for where, name in changed if where == folder} for folder in ("skills", "subagents")}
    return Former(tools, **folders)
