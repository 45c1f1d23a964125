"""What stands before the items of Word's lists?"""

from collections import defaultdict

from gofer.files.extract.package import Element, attribute

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"))
_SMALL_ROMAN = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


class Numbering:
    """The counters of a document's lists."""

    def __init__(self, tree: Element | None) -> None:
        abstract: dict[str, dict[int, tuple[str, str, int]]] = {}
        self._levels: dict[str, dict[int, tuple[str, str, int]]] = {}
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        for kind in tree.iterchildren(f"{_W}abstractNum") if tree is not None else ():
            abstract[attribute(kind, f"{_W}abstractNumId")] = dict(_level(level) for level in kind.iter(f"{_W}lvl"))
        for number in tree.iterchildren(f"{_W}num") if tree is not None else ():
            refers = number.find(f"{_W}abstractNumId")
            of = attribute(refers, f"{_W}val") if refers is not None else ""
            self._levels[attribute(number, f"{_W}numId")] = abstract.get(of, {})

    def label(self, about: Element) -> tuple[str, str]:
        """Two spaces for each level, and what Word shows before the paragraph with these properties.

        Both are empty for one that is in no list.
        """
        number, level = _place(about)
        return ("  " * level, self._said(number, level)) if number and number != "0" else ("", "")

    def _said(self, number: str, level: int) -> str:
        form, text, start = self._levels.get(number, {}).get(level, ("bullet", "", 1))
        if form == "bullet" or form == "none":
            return "- "
        counts = self._counts[number]
        counts[level] = counts.get(level, start - 1) + 1
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        for at in range(level + 1):
            own, _, first = self._levels[number].get(at, ("decimal", "", 1))
            text = text.replace(f"%{at + 1}", _count(counts.get(at, first), own))
        return f"{text or counts[level]} "


def _place(about: Element) -> tuple[str, int]:
    """The list and the level of a paragraph; an empty list when it is in none of its own."""
    listed = about.find(f"{_W}numPr")
    if listed is None:
        return "", 0
    number, level = listed.find(f"{_W}numId"), listed.find(f"{_W}ilvl")
    depth = attribute(level, f"{_W}val") if level is not None else "0"
    return attribute(number, f"{_W}val") if number is not None else "", min(int(depth), 8) if depth.isdigit() else 0


def _level(element: Element) -> tuple[int, tuple[str, str, int]]:
    said = {
        name: attribute(found, f"{_W}val")
        for name in ("numFmt", "lvlText", "start")
        if (found := element.find(f"{_W}{name}")) is not None
    }
    at, start = attribute(element, f"{_W}ilvl"), said.get("start", "1")
    form = (said.get("numFmt", "decimal"), said.get("lvlText", ""), int(start) if start.isdigit() else 1)
    return int(at) if at.isdigit() else 0, form


def _count(number: int, form: str) -> str:
    match form:
        case "lowerLetter" | "upperLetter":
            letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
            return letter.upper() if form == "upperLetter" else letter
        case "lowerRoman" | "upperRoman":
            return _roman(number).upper() if form == "upperRoman" else _roman(number)
        case _:
            return str(number)


def _roman(number: int) -> str:
    if not 0 < number < 4000:
        return str(number)
    said = ""
    for value, letters in _ROMAN + _SMALL_ROMAN:
        said += letters * (number // value)
        number %= value
    return said
