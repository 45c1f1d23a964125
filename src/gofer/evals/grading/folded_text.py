"""Texts as a person compares them: without regard to case, white space, typographic signs and Markdown."""

import re
import unicodedata
from dataclasses import dataclass

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff"),
        "\u2026": "...",
    }
)
"""Typographic signs as they are typed. Signs without a width are left out."""
_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\(([^()\s]{0,2000})\)")
_PIPED_LINK = re.compile(r"<([^<>|\s]{1,2000})\|([^<>|]{0,500})>")
_LINE_MARKS = re.compile(r"^[ \t]*(?:#{1,6}[ \t]|>[ \t]?|[-*+][ \t]|\|)", re.MULTILINE)
_MARKS = re.compile(r"\\([^\w\s]|_)|[*_`]|~~")
"""Marks around words, and backslashes, after which a sign is no mark."""
_AROUND = 60
"""The characters before and after a found text that are quoted."""


def folded(text: str) -> str:
    """Return a text without differences of case, white space and typographic signs."""
    typed = unicodedata.normalize("NFKC", text.translate(_SIGNS)).translate(_SIGNS)
    return " ".join(unicodedata.normalize("NFC", typed.casefold()).split())


def rendered(text: str) -> str:
    """Return a text without the marks of Markdown, as a person sees it. Links are also read as `<url|text>`."""
    shown = _LINK.sub(r"\1", _PIPED_LINK.sub(r"\2", text))
    return _MARKS.sub(r"\1", _LINE_MARKS.sub("", shown))


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A text in which others are looked for: as it is written, and as a person sees it."""

    forms: tuple[str, ...]

    def contains(self, text: str) -> bool:
        """Return whether the text occurs. A number at its end or begin is no part of a longer number."""
        return any(_whole(form, wanted) for form in self.forms for wanted in _forms(text))

    def around(self, text: str) -> str:
        """Return the place where a text occurs, also within numbers and words; empty if it does not occur."""
        for form in self.forms:
            for wanted in _forms(text):
                at = form.find(wanted)
                if wanted and at >= 0:
                    return form[max(0, at - _AROUND) : at + len(wanted) + _AROUND]
        return ""


def compared(text: str) -> ComparedText:
    """Return a text in which others can be looked for."""
    return ComparedText(_forms(text))


def _forms(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((folded(text), folded(rendered(text)))))


def _whole(form: str, wanted: str) -> bool:
    """Return whether a text occurs with no further digit beside a digit at its begin or end."""
    if not wanted:
        return False
    at = form.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        before = wanted[0].isdigit() and form[max(0, at - 1) : at].isdigit()
        after = wanted[-1].isdigit() and form[end : end + 1].isdigit()
        if not before and not after:
            return True
        at = form.find(wanted, at + 1)
    return False
