"""The words of Notion that identify people or their company."""

from gofer.sources.part_values import IdentifyingWords

IDENTIFYING = IdentifyingWords(
    codes=(r"(?<![A-Za-z0-9])(?:secret|ntn)_[A-Za-z0-9]{12,}",),
    companies=(
        r"(?i)(?<![a-z0-9.-])([a-z0-9][a-z0-9-]{1,62})\.notion\.(?:site|so)(?![a-z0-9])",
        r"(?i)(?<![a-z0-9.-])(?:www\.)?notion\.so/([a-z0-9][a-z0-9-]{1,62})/",
    ),
    people=(r"(?m)^(?:Created by|Last edited by|Owner): ([^\n(]{2,80})",),
    hosts=frozenset({"notion", "www", "api"}),
)
