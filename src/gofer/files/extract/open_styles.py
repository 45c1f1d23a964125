"""The styles of an OpenDocument that change what is read: lists, raised words, crossed out words."""

from collections.abc import Iterable
from dataclasses import dataclass

from gofer.files.extract.notation import raised, struck
from gofer.files.extract.numbering import counted
from gofer.files.extract.xml_package import Element, attribute

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_SHOWN = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}visibility"
_FORMS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_CROSSED_OUT = ("", "none")


@dataclass(frozen=True, slots=True)
class _Level:
    """How the items of one level of a list are numbered."""

    form: str
    before: str
    behind: str
    start: int
    above: int
    """How many levels, itself included, its number shows."""


class Styles:
    """The styles of one document."""

    def __init__(self, trees: Iterable[Element | None]) -> None:
        self._levels: dict[tuple[str, int], _Level] = {}
        self._raised: set[str] = set()
        self._struck: set[str] = set()
        self._hidden: set[str] = set()
        for tree in trees:
            if tree is not None:
                self._read(tree)

    def start(self, style: str, depth: int) -> int:
        """Return the number of the first item on a level of a list, counted from 1."""
        level = self._levels.get((style, depth))
        if level is not None:
            return level.start
        return 1

    def label(self, style: str, numbers: list[int]) -> str:
        """Return what is shown before an item; `numbers` are those of the items it stands in, then its own."""
        level = self._levels.get((style, len(numbers)))
        if level is None:
            return "- "
        own = range(max(0, len(numbers) - level.above), len(numbers))
        shown = [counted(numbers[at], self._form(style, at + 1)) for at in own]
        return f"{level.before}{'.'.join(shown)}{level.behind} "

    def looks(self, style: str, text: str) -> str:
        """Return a text in a style as it is seen where that is another text."""
        if style in self._raised:
            text = raised(text)
        if style in self._struck:
            return struck(text)
        return text

    def hidden(self, style: str) -> bool:
        """Return whether a slide in this style is not shown."""
        return style in self._hidden

    def _form(self, style: str, depth: int) -> str:
        level = self._levels.get((style, depth))
        if level is not None:
            return level.form
        return "decimal"

    def _read(self, tree: Element) -> None:
        for kind in tree.iter(f"{_TEXT}list-style"):
            for level in kind.iterchildren(f"{_TEXT}list-level-style-number"):
                if form := _FORMS.get(attribute(level, f"{_STYLE}num-format")):
                    before, behind = attribute(level, f"{_STYLE}num-prefix"), attribute(level, f"{_STYLE}num-suffix")
                    start = _whole(attribute(level, f"{_TEXT}start-value"))
                    made = _Level(form, before, behind, start, _whole(attribute(level, f"{_TEXT}display-levels")))
                    self._levels[attribute(kind, f"{_STYLE}name"), _whole(attribute(level, f"{_TEXT}level"))] = made
        for style in tree.iter(f"{_STYLE}style"):
            name = attribute(style, f"{_STYLE}name")
            for about in style.iterchildren(f"{_STYLE}text-properties"):
                if attribute(about, f"{_STYLE}text-position").startswith("super"):
                    self._raised.add(name)
                if attribute(about, f"{_STYLE}text-line-through-style") not in _CROSSED_OUT:
                    self._struck.add(name)
            for about in style.iterchildren(f"{_STYLE}drawing-page-properties"):
                if attribute(about, _SHOWN) == "hidden":
                    self._hidden.add(name)


def _whole(said: str) -> int:
    if said.isdigit() and len(said) < 10:
        return int(said)
    return 1
