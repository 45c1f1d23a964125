"""The charts, diagrams and formulas of an Office document, as tables, lists and typed formulas."""

import datetime
import re
from collections.abc import Mapping

from gofer.files.extract.notation import integer, markdown
from gofer.files.extract.xml_package import Element, Package, attribute

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
CHART = f"{_C}chart"
DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
_MOST_POINTS = 100_000
_FIRST_DAY = datetime.datetime(1899, 12, 30)  # noqa: DTZ001 - days of a calendar, of no zone
_LAST_DAY = 2_958_465
_DAYS = re.compile(r"[dy]|mmm", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')


def drawn(element: Element, package: Package, relations: Mapping[str, tuple[str, str]]) -> str:
    """Return the content of the chart or diagram at an element; empty if its part is missing."""
    name = "dm"
    if element.tag == CHART:
        name = "id"
    _, target = relations.get(attribute(element, f"{_RELATION}{name}"), ("", ""))
    tree = package.tree(target)
    if tree is None:
        return ""
    if element.tag == CHART:
        return _chart(tree)
    return _diagram(tree)


def _diagram(tree: Element) -> str:
    texts = ["".join(one.itertext(f"{_A}t")).strip() for one in tree.iter(f"{_A}p")]
    return "\n".join(f"- {text}" for text in texts if text)


def _chart(tree: Element) -> str:
    title = tree.find(f"{_C}chart/{_C}title")
    named = ""
    if title is not None:
        named = "".join(title.itertext(f"{_A}t", f"{_C}v")).strip()
    columns: list[tuple[str, dict[int, str]]] = []
    before: dict[int, str] | None = None
    for series in tree.iter(f"{_C}ser"):
        along = _points(series, "cat") or _points(series, "xVal")
        if along != before:
            # The series has x values of its own, as in a scatter chart.
            columns.append(("", along))
            before = along
        columns.append((" ".join(_points(series, "tx").values()), _points(series, "val") or _points(series, "yVal")))
    height = max((max(column, default=-1) + 1 for _, column in columns), default=0)
    rows = [[name for name, _ in columns]]
    rows += [[column.get(at, "") for _, column in columns] for at in range(height)]
    marker = f"[chart{': ' * bool(named)}{named}]"
    return "\n\n".join(filter(None, (marker, markdown(rows))))


def _points(series: Element, name: str) -> dict[int, str]:
    """Return the values of a series by position, without positions that have no value."""
    part = series.find(f"{_C}{name}")
    if part is None:
        return {}
    levels = list(part.iter(f"{_C}lvl"))
    if len(levels) > 1:
        return _grouped(levels)
    code = next(part.iter(f"{_C}formatCode"), None)
    days = code is not None and _DAYS.search(_QUOTED.sub("", code.text or "")) is not None
    found = _values(part)
    if days:
        found = {at: _day(text) for at, text in found.items()}
    if found:
        return found
    return {at: value.text or "" for at, value in enumerate(part.iter(f"{_C}v"))}


def _values(part: Element) -> dict[int, str]:
    found: dict[int, str] = {}
    for point in part.iter(f"{_C}pt"):
        at = integer(attribute(point, "idx"), _MOST_POINTS)
        value = point.find(f"{_C}v")
        if value is not None and at < _MOST_POINTS:
            found[at] = value.text or ""
    return found


def _grouped(levels: list[Element]) -> dict[int, str]:
    """Return nested categories by position. The innermost level is first; an outer category lasts until the next."""
    inner, *outer = [_values(level) for level in levels]
    named: dict[int, str] = {}
    current = [""] * len(outer)
    for at in range(max(inner, default=-1) + 1):
        current = [groups.get(at, text) for groups, text in zip(outer, current, strict=True)]
        named[at] = " / ".join(text for text in [*reversed(current), inner.get(at, "")] if text)
    return named


def _day(text: str) -> str:
    """Return the date of a chart's number of days; any other text unchanged."""
    try:
        days = float(text)
    except ValueError:
        return text
    if not 0 < days < _LAST_DAY:
        return text
    moment = _FIRST_DAY + datetime.timedelta(seconds=round(days * 86_400))
    if moment.time() == datetime.time():
        return moment.date().isoformat()
    return moment.isoformat(sep=" ")


_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"


def formula(element: Element) -> str:
    """Return a formula as people type it: (a+b)/2, x^2, a_1, √(x)."""
    return "".join(_typed(child) for child in element.iterchildren())


def _typed(element: Element) -> str:
    match element.tag.removeprefix(_M):
        case "t":
            return element.text or ""
        case "f":
            return f"{_bracketed(element, 'num')}/{_bracketed(element, 'den')}"
        case "sSup" | "sSub" | "sSubSup":
            above = _bracketed(element, "sup")
            below = _bracketed(element, "sub")
            return f"{_bracketed(element, 'e')}{f'_{below}' * bool(below)}{f'^{above}' * bool(above)}"
        case "rad":
            return f"{_bracketed(element, 'deg')}√{_bracketed(element, 'e')}"
        case "d":
            return f"({', '.join(formula(inner) for inner in element.iterchildren(f'{_M}e'))})"
        case "nary":
            return f"{_sign(element)}_{_bracketed(element, 'sub')}^{_bracketed(element, 'sup')} {_part(element, 'e')}"
        case _:
            return formula(element)


def _part(element: Element, name: str) -> str:
    found = element.find(f"{_M}{name}")
    if found is not None:
        return formula(found).strip()
    return ""


def _bracketed(element: Element, name: str) -> str:
    """Return a part of a formula in brackets, unless it is one word or has brackets."""
    text = _part(element, name)
    if text.isalnum() or not text or (text[0] == "(" and text[-1] == ")"):
        return text
    return f"({text})"


def _sign(element: Element) -> str:
    sign = element.find(f"{_M}naryPr/{_M}chr")
    if sign is None:
        return "∫"
    return sign.get(f"{_M}val") or "∫"
