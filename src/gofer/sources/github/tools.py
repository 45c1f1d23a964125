"""The tools of GitHub, in the order in which models see them."""

from gofer.sources.github.get_issue import github_get_issue
from gofer.sources.github.get_pull_request import github_get_pull_request
from gofer.sources.github.list_commits import github_list_commits
from gofer.sources.github.read_file import github_read_file
from gofer.sources.github.write import github_add_comment, github_create_issue, github_request_reviewers

TOOLS = (
    github_get_pull_request,
    github_get_issue,
    github_read_file,
    github_list_commits,
    github_add_comment,
    github_create_issue,
    github_request_reviewers,
)
