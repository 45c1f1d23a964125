"""The issue, its author and its question that mocks of GitHub's tools make up."""

from typing import Literal

from gofer.sources.github.api import GitHubApi
from gofer.sources.github.references import Target
from gofer.tools.mock_ids import MOMENT

LOGIN = "somebody"
"""The login of each person."""
QUESTION = "Could somebody look at this?"
"""What each person writes."""


def mock_issue(api: GitHubApi, target: Target, kind: Literal["issues", "pull"]) -> dict[str, object]:
    """Return what the API gives of an open issue, or what a pull request has in common with one."""
    return {
        "title": "Something to look at",
        "state": "open",
        "html_url": target.page(api, kind),
        "user": {"login": LOGIN},
        "labels": [{"name": "later"}],
        "assignees": [],
        "created_at": MOMENT,
        "updated_at": MOMENT,
        "body": QUESTION,
    }
