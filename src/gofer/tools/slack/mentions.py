"""How is text kept from paging people, whatever it says?

Slack acts on `<!channel>`, `<@U…>` and the like wherever they stand, also in Markdown, and on a plain `@channel` where
a message asks for it. A model's words must do neither, however they are escaped.
"""

import html
import re

JOINER = "\u2060"
"""An invisible character of no width: it stands where Slack would begin to read a mention."""

_OPENING = r"<|&lt;?|&LT;?|&#0*60;?|&#[xX]0*3[cC];?"
_AT = r"@|&commat;|&#0*64;?|&#[xX]0*40;?"
_ENTITY = re.compile(rf"({_OPENING})(?=([^\s{JOINER}]{{1,12}}))")
_PLAIN = re.compile(rf"(?<![A-Za-z0-9])({_AT})(?=([\w&#;]{{4,80}}))")
_GROUPS = ("channel", "here", "everyone")


def neutral(text: str) -> str:
    """Text that looks the same and pages nobody; doing it twice is doing it once."""
    entities = _ENTITY.sub(lambda found: found[1] + JOINER * _begins_entity(found[2]), text)
    return _PLAIN.sub(lambda found: found[1] + JOINER * _names_group(found[2]), entities)


def _begins_entity(after: str) -> bool:
    """Whether what follows a `<` makes it a mention, as itself or behind an escape."""
    return html.unescape(after).removeprefix("\\").startswith(("!", "@", "#"))


def _names_group(after: str) -> bool:
    return html.unescape(after).casefold().startswith(_GROUPS)
