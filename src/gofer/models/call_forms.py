"""Tool calls that a model writes into its text, in the forms that models and their templates know.

Three rules say what is a call. A mark of a template outside of code is one, for any tool. An answer that consists of
JSON or of one marked call is one if it names an offered tool. Anything else is one, in code or not, if it names an
offered tool and the tool takes its arguments, so that other examples, code and quotations stay part of an answer.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from gofer.models.code_spans import CodeSpans, code_spans, unfenced
from gofer.models.literals import Invocation, Literal, Part, literals, whole_literal
from gofer.models.tagged_arguments import is_tagged, labelled, tagged
from gofer.values.canonical_json import as_list, as_object, as_text

_READ_LIMIT = 1_000_000
"""Characters of an answer's text that are searched."""
_MARKS = re.compile(
    r"<(?:\|)?tool_calls?(?:\|)?>\s*(?:[{\[]|<function=|<invoke |[\w.-]{1,64}\s*<arg_key>|\Z)"
    r"|<function=[\w.-]+>"
    r"|^[ \t]*\[TOOL_CALLS\]\s*[\[{\w]"
    r"|^[ \t]*<\|python_tag\|>"
    r"|<(?:function_calls|tool_use)>\s*<?(?:invoke |[{\[])"
    r"|^[ \t]*<invoke name="
    r"|<\|tool_calls?(?:_section)?_begin\|>"
    r"|<｜tool▁calls?▁begin｜>"
    r"|<｜DSML｜(?:function_calls|invoke )"
    r"|<(?:minimax|seed):tool_call>"
    r"|<start_function_call>call:"
    r"|<\|tool_call_start\|>"
    r"|<\|START_ACTION\|>"
    r"|<TOOLCALL>\s*\["
    r"|<\|channel\|>commentary to=functions\.",
    re.MULTILINE,
)
"""The marks that models and their templates write around a call."""
_NAME = re.compile(
    r"""(?:"name"\s*:\s*"|<function=|[< ｜]invoke name="|to=functions\.|\[TOOL_CALLS\]\s*|_call>call:)"""
    r"(?P<name>[\w.-]{1,64})"
)
_SEARCHED = 1_000
"""Characters after a mark that are searched for the name of the tool."""
_NAME_KEYS = ("name", "tool", "tool_name", "function", "function_name", "recipient_name", "action")
_ARGUMENT_KEYS = (
    *("arguments", "parameters", "args", "input", "tool_input", "action_input", "params", "kwargs"),
    *("tool_args", "tool_arguments", "function_args", "function_arguments"),
)
_ENTITY_KEYS = frozenset({"action_input", "tool_input"})
"""The keys that may hold the one argument of the tool instead of an object."""
_ABOUT_CALLS = frozenset({"id", "type", "tool_call_id", "call_id"})
_NAMESPACE = re.compile(r"^(?:functions|default_api|tools|tool|api)\.|(?:\.call|\.+|-+)$")
_WORD = re.compile(r"[A-Za-z_][\w.-]{0,127}")
_LABEL = (
    r"(?:ACTION|TOOL|FUNCTION|NAME|INPUT|CALLS?|ARGUMENTS?|ARGS|PARAMETERS?|PARAMS?|JSON|CODE|BEGIN|SEP"
    r"|CONSTRAIN|MESSAGE)"
)
_BETWEEN = re.compile(
    rf"(?::\d{{1,4}})?(?:[^\w\s{{}}.?!;→]|\s|\bWITH\s(?:(?:THE|THESE)\s)?(?:FOLLOWING\s)?(?={_LABEL}\b)"
    rf"|\b(?:{_LABEL}(?:_{_LABEL})*)\b){{1,60}}(?=\{{)",
    re.IGNORECASE,
)
"""What stands between a tool's name and the object with its arguments: tags, fences, quotes and labels."""
_STATEMENT = re.compile(
    r"^[ \t>]*(?:[*_]{0,2}[Aa]ction(?: \d{1,3})?[*_]{0,2}:[*_]{0,2} )?`{0,2}(?:[\w, ]{1,60}= ?)?"
    r"(?:(?:await|return)[ ])?(?:[\w.]{1,40}\()?[\[(]{0,3}$"
)
"""What stands before an invocation that begins its line."""
_STATEMENT_END = re.compile(r"[\])}; \t`,]*(?:<|\n|\Z)")
_LEAD_INS = re.compile(
    r"(?:`{3,}\w*|~{3,}\w*|`{1,2}|<[\w/|｜][^<>\n]{0,40}>|\[[A-Z_]{2,20}\]|\b(?:await|return|print\(|to=|call:)"
    r"|[\w, ]{1,60}="
    r"|^[ \t>*#-]*(?:\w+ )?(?:action|tool|function|tool[ _]call|function[ _]call|name|json|✿FUNCTION✿)[\w ]{0,20}"
    r"[*_`]{0,3}(?::[*_`]{0,3}|(?<=json))|\b(?:assistant)?commentary|&lt;[\w/|]{1,40}&gt;|[<\[{(\"'*]|^[^\w\n]*[^\w\s](?:\d{1,3}[.)])?|^\d{1,3}[.)])\s*\Z",
    re.IGNORECASE | re.MULTILINE,
)
"""What belongs to a call although it stands before it: fences, tags, labels and brackets."""
_LEAD_IN_LIMIT = 200
_MOST_LEAD_INS = 12


class OfferedTool(Protocol):
    """A tool that the model may call."""

    @property
    def parameters(self) -> Sequence[str]:
        """The names of its arguments, in order."""
        ...

    def fits(self, arguments: Mapping[str, object]) -> bool:
        """Return whether the tool takes these arguments."""
        ...


Offered = Mapping[str, OfferedTool]
"""The tools that the model may call, by name."""


@dataclass(frozen=True, slots=True)
class _WrittenCall:
    begin: int
    tool: str
    """The name of the tool; empty if it is unclear."""


def written_call(text: str, offered: Offered) -> str | None:
    """Return the tool of the first call in an answer's text; empty if its name is unclear, None without a call."""
    call = _first_call(text[:_READ_LIMIT], offered)
    if call is None:
        return None
    return call.tool


def before_call(text: str, offered: Offered) -> str:
    """Return the words before the first call written as text; the whole text if there is no call."""
    call = _first_call(text[:_READ_LIMIT], offered)
    if call is None:
        return text
    return text[: call.begin].rstrip()


def _first_call(text: str, offered: Offered) -> _WrittenCall | None:
    if (tool := _call_without_words(unfenced(text).strip(), offered)) is not None:
        return _WrittenCall(0, tool)
    code = code_spans(text)
    found: list[_WrittenCall] = []
    if mark := next((found for found in _MARKS.finditer(text) if found.start() not in code), None):
        found.append(_WrittenCall(mark.start(), _name_after(text, mark)))
    if names := list(_offered_names(text, offered)):
        found += _literal_calls(text, names, offered)
        found += _tagged_calls(text, names, offered)
        found += _labelled_calls(text, names, offered)
    first = min(found, key=lambda call: call.begin, default=None)
    if first is None:
        return None
    tool = first.tool or next((call.tool for call in found if call.tool), "")
    return _WrittenCall(_with_lead_in(text, first.begin, code), tool)


def _call_without_words(text: str, offered: Offered) -> str | None:
    """Return the offered tool of an answer that consists of JSON or one marked call only; None for any other answer."""
    if mark := _MARKS.match(text):
        return next((name for name in [_name_after(text, mark)] if name in offered), None)
    if not text.startswith(("{", "[")):
        return None
    value = whole_literal(text)
    called = as_list(as_object(value).get("tool_calls")) or as_list(value) or [value]
    names = [_named_tool(as_object(one)) for one in called]
    if not all(name in offered for name in names):
        return None
    return next(iter(names), None)


def _name_after(text: str, mark: re.Match[str]) -> str:
    """Return the name of the tool after a mark; empty if there is none."""
    names = (found["name"] for found in [_NAME.search(text, mark.start(), mark.start() + _SEARCHED)] if found)
    return next(names, "")


def _named_tool(value: Mapping[str, object]) -> str:
    """Return the name of the tool that a JSON object calls; empty if the object is no call."""
    inner = as_object(value.get("function")) or value
    if not any(key in inner for key in _ARGUMENT_KEYS):
        return ""
    return next((name for key in _NAME_KEYS if (name := as_text(inner.get(key)))), "")


def _offered_name(written: str, offered: Offered) -> str:
    """Return the offered tool that a name means, with or without a namespace; empty for any other name."""
    if written in offered:
        return written
    plain = _NAMESPACE.sub("", written)
    if plain in offered:
        return plain
    return ""


@dataclass(frozen=True, slots=True)
class _Name:
    """The name of an offered tool in a text."""

    begin: int
    end: int
    tool: str


def _offered_names(text: str, offered: Offered) -> Iterator[_Name]:
    if not any(tool in text for tool in offered):
        return
    for word in _WORD.finditer(text):
        if tool := _offered_name(word[0], offered):
            yield _Name(word.start(), word.start() + word[0].index(tool) + len(tool), tool)


def _literal_calls(text: str, names: Sequence[_Name], offered: Offered) -> Iterator[_WrittenCall]:
    """Return the calls that are JSON, a literal of Python, or an invocation, in order."""
    named: dict[int, _Name] = {}
    for name in names:
        if between := _BETWEEN.match(text, name.end):
            named[between.end()] = name
    for literal in literals(text):
        for part in literal.parts:
            before = named.get(part.begin)
            value = as_object(part.value)
            if before and value and offered[before.tool].fits(value):
                yield _WrittenCall(min(before.begin, literal.begin), before.tool)
        if tool := _tool_of_literal(text, literal, offered):
            yield _WrittenCall(literal.begin, tool)


def _tool_of_literal(text: str, literal: Literal, offered: Offered) -> str:
    """Return the first offered tool that a literal calls; empty if it calls none."""
    called = (_tool_of_part(text, part, offered) for part in literal.parts)
    if tool := next(filter(None, called), ""):
        return tool
    # What the end of the answer cut off can fit no schema, but people would read half a call.
    cut_off = (_offered_name(_named_tool(value), offered) for value in literal.unfinished)
    return next(filter(None, cut_off), "")


def _tool_of_part(text: str, part: Part, offered: Offered) -> str:
    if isinstance(part.value, Invocation):
        return _tool_of_invocation(text, part, part.value, offered)
    return _tool_of_object(part.value, offered)


def _tool_of_object(value: Mapping[str, object], offered: Offered) -> str:
    """Return the offered tool that an object calls with arguments that fit; empty if it calls none."""
    for key in _NAME_KEYS:
        tool = _offered_name(as_text(value.get(key)), offered)
        if tool and _fits(_arguments_beside(value, key, offered[tool]), offered[tool]):
            return tool
    # Some models write the name as the key: `{"look": {"query": "x"}}`.
    keys = ((_offered_name(key, offered), as_object(inner)) for key, inner in value.items())
    return next((tool for tool, inner in keys if tool and inner and offered[tool].fits(inner)), "")


def _arguments_beside(value: Mapping[str, object], name_key: str, tool: OfferedTool) -> Mapping[str, object] | None:
    """Return the arguments of a call that has its name at a key; None if the object has none."""
    for key in _ARGUMENT_KEYS:
        match value.get(key):
            case dict():
                return as_object(value[key])
            case str(written) if arguments := _object_of(written):
                return arguments
            case str(entity) if key in _ENTITY_KEYS and tool.parameters:
                return {tool.parameters[0]: entity}
            case _:
                pass
    beside = {key: item for key, item in value.items() if key != name_key and key not in _ABOUT_CALLS}
    return beside or None


def _object_of(written: str) -> Mapping[str, object] | None:
    value: object = whole_literal(written)
    if isinstance(value, dict):
        return cast(Mapping[str, object], value)
    return None


def _fits(arguments: Mapping[str, object] | None, tool: OfferedTool) -> bool:
    return arguments is not None and tool.fits(arguments)


def _tool_of_invocation(text: str, part: Part, invocation: Invocation, offered: Offered) -> str:
    """Return the offered tool of an invocation with fitting arguments; empty for any other invocation.

    In a sentence, only named arguments or one object make a call: `look()` and `look("x")` may be mentions there.
    """
    name = _offered_name(invocation.name, offered)
    if not name:
        return ""
    tool = offered[name]
    only: Mapping[str, object] = {}
    if len(invocation.positional) == 1:
        only = as_object(invocation.positional[0])
    if len(invocation.positional) > len(tool.parameters) and not only:
        return ""
    if not only and (invocation.positional or not invocation.named) and not _is_statement(text, part):
        return ""
    positional = dict(zip(tool.parameters, invocation.positional, strict=False))
    if tool.fits({**(only or positional), **invocation.named}):
        return name
    return ""


def _is_statement(text: str, part: Part) -> bool:
    """Return whether only code stands beside an invocation on its line."""
    line = text.rfind("\n", max(0, part.begin - _LEAD_IN_LIMIT), part.begin) + 1
    before = text[max(line, part.begin - _LEAD_IN_LIMIT) : part.begin]
    return bool(_STATEMENT.match(before) and _STATEMENT_END.match(text, part.end))


def _tagged_calls(text: str, names: Sequence[_Name], offered: Offered) -> Iterator[_WrittenCall]:
    """Return the calls with arguments in tags, in order."""
    in_tags = [name for name in names if is_tagged(text, name.begin)]
    begins = [*(name.begin for name in in_tags), len(text)]
    for name, limit in zip(in_tags, begins[1:], strict=True):
        arguments = tagged(text, name.end, limit)
        if arguments is not None and _fits_as_text(arguments, offered[name.tool]):
            yield _WrittenCall(name.begin, name.tool)


def _labelled_calls(text: str, names: Sequence[_Name], offered: Offered) -> Iterator[_WrittenCall]:
    """Return the calls with labels before name and arguments, in order."""
    for name in names:
        tool = offered[name.tool]
        arguments = labelled(text, name.begin, name.end, tool.parameters)
        if arguments is not None and _fits_as_text(arguments, tool):
            yield _WrittenCall(name.begin, name.tool)


def _fits_as_text(arguments: Mapping[str, str], tool: OfferedTool) -> bool:
    """Return whether a tool takes arguments as they are written, or as the literals that they are."""
    read = {key: literal if (literal := whole_literal(text)) is not None else text for key, text in arguments.items()}
    return tool.fits(arguments) or tool.fits(read)


def _with_lead_in(text: str, begin: int, code: CodeSpans) -> int:
    """Return where a call begins with its fence and its labels."""
    fence = code.begin(begin)
    if fence is not None:
        begin = fence
    for _ in range(_MOST_LEAD_INS):
        before = text[max(0, begin - _LEAD_IN_LIMIT) : begin]
        lead_in = _LEAD_INS.search(before)
        if lead_in is None:
            return begin
        begin -= len(before) - lead_in.start()
    return begin
