"""The numbers and bullets of Word's lists."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gofer.files.extract.notation import integer
from gofer.files.extract.xml_package import Element, attribute, every

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"))
_SMALL_ROMAN = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_DEEPEST_STYLE = 12


@dataclass(frozen=True, slots=True)
class _Level:
    """The numbering of one level of a list."""

    form: str = "bullet"
    text: str = ""
    start: int = 1
    style: str = ""
    """The paragraph style of this level."""


@dataclass(frozen=True, slots=True)
class _List:
    """One list, or one part of a continued list."""

    counted: str = ""
    """The key of the counter. Lists with the same key continue each other's numbers."""
    levels: Mapping[int, _Level] = field(default_factory=dict[int, _Level])
    restarts: Mapping[int, int] = field(default_factory=dict[int, int])
    """The levels that restart at this list, with their first numbers."""


class Numbering:
    """The counters of a document's lists."""

    def __init__(self, tree: Element | None, styles: Element | None = None) -> None:
        self._styles = {attribute(style, f"{_W}styleId"): style for style in every(styles, f"{_W}style")}
        self._lists: dict[str, _List] = {}
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        self._begun: set[tuple[str, int]] = set()
        self._by_style: dict[str, tuple[str, int]] = {}
        if tree is not None:
            self._read(tree)

    def label(self, about: Element, style: str = "") -> tuple[str, str]:
        """Return the indentation and the label of a paragraph with these properties.

        The indentation has two spaces for each level. A paragraph without a list of its own may be in the list of its
        style. Both results are empty if the paragraph is in no list.
        """
        number, level = self._place(about, style)
        if number and number != "0":
            return ("  " * level, self._label_text(number, level))
        return ("", "")

    def _read(self, tree: Element) -> None:
        kinds = {attribute(kind, f"{_W}abstractNumId"): kind for kind in tree.iterchildren(f"{_W}abstractNum")}
        refers = {attribute(one, f"{_W}numId"): _value(one, "abstractNumId") for one in tree.iterchildren(f"{_W}num")}
        for one in tree.iterchildren(f"{_W}num"):
            number = attribute(one, f"{_W}numId")
            kind = kinds.get(refers[number])
            linked = self._styles.get(_value(kind, "numStyleLink"))
            if linked is not None:
                kind = kinds.get(refers.get(_value(linked, f"pPr/{_W}numPr/{_W}numId"), ""))
            levels = dict(_level(level) for level in every(kind, f"{_W}lvl"))
            restarts: dict[int, int] = {}
            for other in one.iterchildren(f"{_W}lvlOverride"):
                at = integer(attribute(other, f"{_W}ilvl"), 0)
                levels |= dict(_level(level) for level in other.iterchildren(f"{_W}lvl"))
                if start := _value(other, "startOverride"):
                    restarts[at] = integer(start, 1)
                    levels[at] = replace(levels.get(at, _Level()), start=restarts[at])
            self._lists[number] = _List(refers[number], levels, restarts)

    def _place(self, about: Element, style: str) -> tuple[str, int]:
        """Return the list and the level of a paragraph; the list is empty if there is none."""
        listed = about.find(f"{_W}numPr")
        if listed is None:
            return self._of_style(style)
        number, level = _value(listed, "numId"), _value(listed, "ilvl")
        if number:
            return number, min(integer(level, 0), 8)
        number, inherited = self._of_style(style)
        return number, min(integer(level, inherited), 8)

    def _of_style(self, style: str) -> tuple[str, int]:
        if style not in self._by_style:
            self._by_style[style] = self._in_styles(style)
        return self._by_style[style]

    def _in_styles(self, style: str) -> tuple[str, int]:
        """Return the list and the level of a style or of a style that it is based on."""
        name = style
        for _ in range(_DEEPEST_STYLE):
            found = self._styles.get(name)
            if found is None:
                break
            if number := _value(found, f"pPr/{_W}numPr/{_W}numId"):
                levels = self._lists.get(number, _List()).levels
                own = next((at for at, level in levels.items() if level.style in (style, name) and level.style), 0)
                return number, min(integer(_value(found, f"pPr/{_W}numPr/{_W}ilvl"), own), 8)
            name = _value(found, "basedOn")
        return "", 0

    def _label_text(self, number: str, level: int) -> str:
        listed = self._lists.get(number, _List())
        own = listed.levels.get(level, _Level())
        if own.form == "bullet" or own.form == "none":
            return "- "
        counts = self._counts[listed.counted]
        if level in listed.restarts and (number, level) not in self._begun:
            counts.pop(level, None)
        self._begun.add((number, level))
        counts[level] = counts.get(level, own.start - 1) + 1
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        text = own.text
        for at in range(level + 1):
            above = listed.levels.get(at, _Level("decimal"))
            text = text.replace(f"%{at + 1}", counted(counts.get(at, above.start), above.form))
        return f"{text or counts[level]} "


def _level(element: Element) -> tuple[int, _Level]:
    form = _value(element, "numFmt") or "decimal"
    text = _value(element, "lvlText")
    level = _Level(form, text, integer(_value(element, "start"), 1), _value(element, "pStyle"))
    return integer(attribute(element, f"{_W}ilvl"), 0), level


def _value(element: Element | None, name: str) -> str:
    """Return the value of a child element; empty if it is missing."""
    if element is None:
        return ""
    return attribute(element.find(f"{_W}{name}"), f"{_W}val")


def counted(number: int, form: str) -> str:
    """Return a number in one of Word's forms; in decimal for unknown forms."""
    match form:
        case "lowerLetter" | "upperLetter":
            letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
            if form == "upperLetter":
                return letter.upper()
            return letter
        case "lowerRoman" | "upperRoman":
            if form == "upperRoman":
                return _roman(number).upper()
            return _roman(number)
        case _:
            return str(number)


def _roman(number: int) -> str:
    if not 0 < number < 4000:
        return str(number)
    numeral = ""
    for value, letters in _ROMAN + _SMALL_ROMAN:
        numeral += letters * (number // value)
        number %= value
    return numeral
