"""The words of Jira that identify people or their company."""

from gofer.sources.part_values import IdentifyingWords

IDENTIFYING = IdentifyingWords(
    codes=(
        r"\[~accountid:([0-9a-z:-]{8,80})\]",
        r"(?<![A-Za-z0-9])[0-9]{6}:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        r"(?<![A-Za-z0-9])ATATT[\w=-]{20,}",
    ),
    companies=(r"(?i)(?<![a-z0-9.-])([a-z0-9][a-z0-9-]{1,62})\.atlassian\.net(?![a-z0-9])",),
    people=(
        r"(?m)^(?:Reporter|Assignee|Creator|Author): ([^\n(]{2,80})",
        r"\[~(?!accountid:)([^\]\s]{2,80})\]",
    ),
    hosts=frozenset({"atlassian", "id", "api"}),
)
