"""Arguments of a call that a model writes beside the name of a tool: in tags like XML, and in lines after a label."""

import re
from collections.abc import Mapping, Sequence

_LONGEST_LABEL = 80
_TAG_BEFORE = re.compile(r"<(?:[\w:-]{1,40}(?:=|\s{1,9}name=|>\s*)[\"']?)?$")
"""What stands before a name in a tag: `<`, `<invoke name="`, `<function=` or `<tool_name>`."""
_CLOSED = re.compile(r"</(?:[\w:｜-]{0,20}(?:invoke|tool|function|tool_call|tool_use|function_call))>")
_ATTRIBUTES = re.compile(r"""\s{1,9}(?P<key>[\w-]{1,64})=(?:"(?P<double>[^"<>]*+)"|'(?P<single>[^'<>]*+)')""")
_EMPTY_TAG = re.compile(r"\s{0,9}/>|>\s{0,9}</[\w.-]{1,64}>")
_WRAPPER = r"(?:parameters|arguments|args|params|tool_input|invoke|tool_call|function)"
_PARAMETER = re.compile(
    rf"<(?!/|{_WRAPPER}>)(?:[\w:｜-]{{1,40}}(?:=|\s{{1,9}}(?:name|key)=)[\"']?(?P<named>[\w.-]{{1,64}})[\"']?[^<>]{{0,99}}"
    r"|(?P<tag>[\w.-]{1,64}))>(?P<value>[^<]*+(?:<(?!/)[^<]*+)*+)</"
)
_LABEL_BEFORE = re.compile(
    r"^[\s>*#_-]*(?:\d{1,2}[.)]\s)?(?:next )?"
    r"(?:action|tool|function|call|name|(?:tool|function)[ _](?:name|call)|✿FUNCTION✿)"
    r"(?: \d{1,3})?[*_`]{0,3}[ \t]*[:=][ \t*_`\"']*$",
    re.IGNORECASE,
)
_AFTER_LABEL = re.compile(
    r"[*_`\"']{0,5}[ \t]*\n\s{0,20}[>*-]{0,3}[ \t]*"
    r"(?:(?:action|tool)[ _]input|input|arguments|args|parameters|params|✿ARGS✿)(?: \d{1,3})?[*_`]{0,3}[ \t]*:[*_ \t]*"
    r"(?P<rest>[^\n]{0,5000})(?P<lines>(?:\n[ \t]+[^\n]{0,2000}){0,40})",
    re.IGNORECASE,
)
_LINES = re.compile(r"[*_`\"']{0,5}[ \t]*(?P<lines>(?:\n[ \t]*[\w-]{1,64}:[ \t][^\n]{0,2000}){1,40})")
_UNDER_NAME = re.compile(r"[\"']?:[ \t]*(?P<lines>(?:\n[ \t]+[^\n]{0,2000}){1,40})")
_ENTITY = re.compile(r"[\[(](?P<entity>[^\[\]()\n]{1,500})[\])][ \t]*(?:\n|\Z)")
"""The argument in the first form of ReAct: `Action: search[Berlin]`."""
_LINE = re.compile(r"^[ \t]*(?P<key>[\w-]{1,64})[ \t]*:[ \t]*(?P<value>[^\n]*)", re.MULTILINE)


def is_tagged(text: str, begin: int) -> bool:
    """Return whether the name that begins at a place is in a tag: `<look>`, `<invoke name="look">`, `<tool>look`."""
    return _TAG_BEFORE.search(text[max(0, begin - _LONGEST_LABEL) : begin]) is not None


def tagged(text: str, end: int, limit: int) -> Mapping[str, str] | None:
    """Return the arguments in the tags after a tool's name in a tag, which ends at `end`; None if there are no tags.

    `limit` is where the next such name begins, which is read with its own tags.
    """
    found = {attribute["key"]: attribute["double"] or attribute["single"] or "" for attribute in _attributes(text, end)}
    if closed := _CLOSED.search(text, end, limit):
        last = closed.start() + len("</")
    else:
        # Without an end tag behind it no parameter is complete, and the rest would be read once for each tag.
        last = text.rfind("</", end, limit) + len("</")
    pairs = [(part["named"] or part["tag"], part["value"].strip()) for part in _PARAMETER.finditer(text, end, last)]
    arguments = {**found, **_paired(pairs)}
    if not arguments and not _EMPTY_TAG.match(text, end):
        return None
    return arguments


def _attributes(text: str, place: int) -> Sequence[re.Match[str]]:
    found: list[re.Match[str]] = []
    while attribute := _ATTRIBUTES.match(text, place):
        found.append(attribute)
        place = attribute.end()
    return found


def _paired(pairs: Sequence[tuple[str, str]]) -> Mapping[str, str]:
    """Return arguments from tags. GLM writes the name and the value of each into tags of their own."""
    match [key for key, _ in pairs[:2]]:
        case ["arg_key", "arg_value"] | ["name", "value"] | ["key", "value"]:
            texts = [value for _, value in pairs]
            return dict(zip(texts[::2], texts[1::2], strict=False))
        case _:
            return dict(pairs)


def labelled(text: str, begin: int, end: int, parameters: Sequence[str]) -> Mapping[str, str] | None:
    """Return the arguments in the lines after a label such as `Action:` or `tool:` with a tool's name; None without.

    A text without names is the first of the parameters. The name may also be the label itself, as in YAML.
    """
    line = text.rfind("\n", max(0, begin - _LONGEST_LABEL), begin) + 1
    before = text[max(line, begin - _LONGEST_LABEL) : begin]
    if not before.strip(" \t>-"):
        return _named_lines(_UNDER_NAME.match(text, end))
    if not _LABEL_BEFORE.match(before):
        return None
    if entity := _ENTITY.match(text, end):
        return dict.fromkeys(parameters[:1], entity["entity"])
    after = _AFTER_LABEL.match(text, end)
    if after is None:
        return _named_lines(_LINES.match(text, end))
    written = after["rest"].strip().strip("`\"'")
    if written in ("{}", "None"):
        return {}
    if written:
        return dict.fromkeys(parameters[:1], written)
    return _named_lines(after)


def _named_lines(found: re.Match[str] | None) -> Mapping[str, str] | None:
    """Return the arguments in lines such as `query: deploy`; None if there is no such line."""
    if found is None:
        return None
    named = {line["key"]: line["value"].strip().strip("\"'") for line in _LINE.finditer(found["lines"])}
    return named or None
