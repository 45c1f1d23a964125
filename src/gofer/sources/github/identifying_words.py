"""The words of GitHub that identify people or their company."""

from gofer.sources.part_values import IdentifyingWords

_PAGES = r"(?:orgs|users|apps|features|settings|login|about|search|topics|marketplace|notifications)(?![\w-])"
"""The pages of GitHub itself, which stand where the name of an owner may stand."""
IDENTIFYING = IdentifyingWords(
    codes=(r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,})",),
    companies=(
        rf"(?i)(?<![a-z0-9.-])github\.com[/:](?:orgs/|users/)?(?!{_PAGES})([a-z0-9][a-z0-9-]{{1,38}})(?![\w-])",
    ),
    people=(
        r"(?m)^(?:Author|Asked to review|Assignees?): ([^\n(]{2,80})",
        r"(?m)^Branches: ([\w-]{1,80}):",
        r"(?m)^State: [a-z]+ by ([^\n]{2,80})",
        r"(?i)([0-9]+\+[a-z0-9-]{2,39})@users\.noreply\.github\.com",
    ),
    hosts=frozenset({"github", "users", "noreply", "api"}),
)
