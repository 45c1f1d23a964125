"""A formula of an Office document on one line: fractions, powers and roots stay what they are."""

from gofer.files.extract.xml_package import Element

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"


def formula(element: Element) -> str:
    """Return what a person would type: (a+b)/2, x^2, a_1, √(x)."""
    return "".join(_said(child) for child in element.iterchildren())


def _said(element: Element) -> str:
    match element.tag.removeprefix(_M):
        case "t":
            return element.text or ""
        case "f":
            return f"{_held(element, 'num')}/{_held(element, 'den')}"
        case "sSup" | "sSub" | "sSubSup":
            above = _held(element, "sup")
            below = _held(element, "sub")
            return f"{_held(element, 'e')}{f'_{below}' if below else ''}{f'^{above}' if above else ''}"
        case "rad":
            return f"{_held(element, 'deg')}√{_held(element, 'e')}"
        case "d":
            return f"({', '.join(formula(inner) for inner in element.iterchildren(f'{_M}e'))})"
        case "nary":
            return f"{_sign(element)}_{_held(element, 'sub')}^{_held(element, 'sup')} {_part(element, 'e')}"
        case _:
            return formula(element)


def _part(element: Element, name: str) -> str:
    found = element.find(f"{_M}{name}")
    if found is not None:
        return formula(found).strip()
    return ""


def _held(element: Element, name: str) -> str:
    """Return a part in brackets, unless it is one word or has them already."""
    text = _part(element, name)
    if text.isalnum() or not text or (text[0] == "(" and text[-1] == ")"):
        return text
    return f"({text})"


def _sign(element: Element) -> str:
    sign = element.find(f"{_M}naryPr/{_M}chr")
    if sign is None:
        return "∫"
    return sign.get(f"{_M}val") or "∫"
