"""The actions of people on the simulated GitHub.

Each action changes a repository and starts to deliver the events that GitHub sends for the change.
"""

from collections.abc import Sequence

from gofer_simulators.github.delivery import Deliveries
from gofer_simulators.github.repositories import (
    Comment,
    Commit,
    Files,
    GitHubRefusal,
    Hub,
    Issue,
    Pull,
    Repository,
    Review,
    ReviewComment,
    encoded,
)
from gofer_simulators.github.shapes import (
    Shape,
    comment_shape,
    file_shape,
    issue_shape,
    label_shape,
    pull_shape,
    repository_shape,
    review_comment_shape,
    review_shape,
    team_shape,
    user_shape,
)

NOTHING = "0" * 40
"""The value of `before` in the push event of a new branch."""


class People:
    """The actions of people and programs, by login. Each raises GitHubRefusal for an unknown user or repository."""

    def __init__(self, hub: Hub, deliveries: Deliveries) -> None:
        self._hub = hub
        self._deliveries = deliveries

    def open_pull(
        self,
        repository: str,
        user: str,
        title: str,
        changes: Files,
        *,
        body: str = "",
        head: str = "feature",
        base: str = "",
        draft: bool = False,
        labels: Sequence[str] = (),
        fork: str = "",
    ) -> Issue:
        """Push a branch, which may be in a fork, and open a pull request from it."""
        hub = self._hub
        repo = self._hub.repository(repository)
        issue = hub.open_issue(repo, hub.user(user).login, title, body)
        issue.labels = list(labels)
        pull = Pull(hub.new_id(), base or repo.default_branch, head, draft, fork)
        hub.make_pull(issue, pull, encoded(changes))
        self._opened(issue, user)
        return issue

    def open_issue(self, repository: str, user: str, title: str, body: str = "", labels: Sequence[str] = ()) -> Issue:
        """Open an issue."""
        issue = self._hub.open_issue(self._hub.repository(repository), self._hub.user(user).login, title, body)
        issue.labels = list(labels)
        self._opened(issue, user)
        return issue

    def merge(self, issue: Issue, user: str) -> None:
        """Merge a pull request, which also closes it."""
        pull = _pull(issue)
        before = self._hub.repositories[issue.repository].commits(pull.base)[-1].sha
        self._touch(issue)
        commit = self._hub.merge(issue, pull, self._hub.user(user).login)
        self._announce_pull("closed", issue, user)
        self._pushed(self._hub.repositories[issue.repository], pull.base, before, commit, user)

    def close(self, issue: Issue, user: str) -> None:
        """Close an issue or a pull request without a merge; without a user, for an account that was deleted."""
        self._touch(issue)
        issue.closed_at = issue.updated_at
        self._announce_either("closed", issue, user)

    def delete(self, issue: Issue) -> None:
        """Delete an issue. The simulator sends no event."""
        repository = self._hub.repository(issue.repository)
        del repository.issues[issue.number]
        repository.deleted.add(issue.number)

    def reopen(self, issue: Issue, user: str) -> None:
        """Reopen an issue or a pull request."""
        self._touch(issue)
        issue.closed_at = None
        self._announce_either("reopened", issue, user)

    def label(self, issue: Issue, user: str, name: str) -> None:
        """Add a label to an issue or a pull request."""
        self._touch(issue)
        issue.labels.append(name)
        self._announce_either("labeled", issue, user, label=label_shape(name))

    def edit(self, issue: Issue, user: str, title: str) -> None:
        """Change the title of an issue or a pull request."""
        self._touch(issue)
        old = issue.title
        issue.title = title
        self._announce_either("edited", issue, user, changes={"title": {"from": old}})

    def ready(self, issue: Issue, user: str) -> None:
        """Mark a draft pull request as ready for review."""
        self._touch(issue)
        _pull(issue).draft = False
        self._announce_pull("ready_for_review", issue, user)

    def comment(self, issue: Issue, user: str, body: str) -> Comment:
        """Comment on an issue or pull request."""
        comment = self._hub.comment(issue, self._hub.user(user).login, body)
        self._announce_issue("issue_comment", "created", issue, user, comment=comment_shape(self._hub, issue, comment))
        return comment

    def edit_comment(self, issue: Issue, user: str, comment: Comment, body: str) -> None:
        """Change the text of a comment."""
        before = comment.body
        comment.body = body
        comment.updated_at = max(comment.updated_at, self._hub.clock())
        shape = comment_shape(self._hub, issue, comment)
        changes = {"body": {"from": before}}
        self._announce_issue("issue_comment", "edited", issue, user, comment=shape, changes=changes)

    def delete_comment(self, issue: Issue, user: str, comment: Comment) -> None:
        """Delete a comment."""
        issue.comments.remove(comment)
        self._announce_issue("issue_comment", "deleted", issue, user, comment=comment_shape(self._hub, issue, comment))

    def comment_on_line(
        self, issue: Issue, user: str, body: str, *, path: str = "", line: int = 0, reply_to: int = 0
    ) -> ReviewComment:
        """Comment on a line of a pull request, or reply to such a comment. Raises GitHubRefusal."""
        pull = _pull(issue)
        hub = self._hub
        now = hub.clock()
        login = hub.user(user).login
        began = next((one for one in pull.comments if one.id == reply_to), None)
        if reply_to and (began is None or began.in_reply_to):
            raise GitHubRefusal(404, "Not Found")
        if began is not None:
            path, line, hunk = began.path, began.line or 0, began.diff_hunk
        else:
            hunk = str(file_shape(path, pull)["patch"])
        comment = ReviewComment(hub.new_id(), login, body, now, now, path, line or None, hunk, reply_to or None)
        pull.comments.append(comment)
        more: Shape = {"comment": review_comment_shape(hub, issue, comment)}
        payload = self._payload("created", issue, user, more)
        payload["pull_request"] = pull_shape(hub, issue, pull, full=False)
        self._deliveries.announce("pull_request_review_comment", payload)
        return comment

    def review(self, issue: Issue, user: str, state: str = "COMMENTED", body: str = "") -> Review:
        """Review a pull request; this ends the request for a review by this user."""
        pull = _pull(issue)
        hub = self._hub
        self._touch(issue)
        review = Review(hub.new_id(), user=hub.user(user).login, state=state, body=body, submitted_at=issue.updated_at)
        pull.reviews.append(review)
        pull.reviewers = [login for login in pull.reviewers if login != review.user]
        payload = self._payload("submitted", issue, user, {"review": review_shape(hub, issue, review, webhook=True)})
        payload["pull_request"] = pull_shape(hub, issue, pull, full=False)
        self._deliveries.announce("pull_request_review", payload)
        return review

    def request_reviews(self, issue: Issue, user: str, logins: Sequence[str], teams: Sequence[str]) -> None:
        """Request reviews; GitHub sends one event for each person and team that was not requested before."""
        pull = _pull(issue)
        self._touch(issue)
        for login in [login for login in logins if login not in pull.reviewers]:
            pull.reviewers.append(login)
            self._announce_pull("review_requested", issue, user, requested_reviewer=user_shape(self._hub.user(login)))
        for slug in [slug for slug in teams if slug not in pull.teams]:
            pull.teams.append(slug)
            self._announce_pull("review_requested", issue, user, requested_team=team_shape(slug))

    def push(self, repository: str, user: str, message: str, files: Files, branch: str = "") -> Commit:
        """Push one commit. GitHub also sends an event for each open pull request from that branch."""
        hub = self._hub
        repo = self._hub.repository(repository)
        branch = branch or repo.default_branch
        before = NOTHING
        if commits := repo.branches.get(branch):
            before = commits[-1].sha
        commit = hub.commit(repo, branch, hub.user(user).login, message, encoded(files), hub.clock())
        self._pushed(repo, branch, before, commit, user)
        for issue in repo.issues.values():
            if issue.pull and issue.pull.head == branch and issue.pull.fork == "" and issue.state == "open":
                self._touch(issue)
                hub.change(issue, issue.pull, encoded(files))
                self._announce_pull("synchronize", issue, user, before=before, after=commit.sha)
        return commit

    def _pushed(self, repo: Repository, branch: str, before: str, commit: Commit, user: str) -> None:
        person = self._hub.user(user)
        head_commit: Shape = {
            "id": commit.sha,
            "message": commit.message,
            "added": [],
            "modified": [path for path, content in commit.files.items() if content is not None],
            "removed": [path for path, content in commit.files.items() if content is None],
            "author": {"name": person.name, "username": person.login},
        }
        payload: Shape = {
            "ref": f"refs/heads/{branch}",
            "before": before,
            "after": commit.sha,
            "created": before == NOTHING,
            "deleted": False,
            "forced": False,
            "compare": f"https://github.com/{repo.full_name}/compare/{before[:12]}...{commit.sha[:12]}",
            "commits": [head_commit],
            "head_commit": head_commit,
            "repository": repository_shape(self._hub, repo) | {"pushed_at": int(self._hub.clock())},
            "pusher": {"name": person.login},
            "sender": user_shape(person),
        }
        self._deliveries.announce("push", payload)

    def _opened(self, issue: Issue, user: str) -> None:
        self._announce_either("opened", issue, user)
        for name in issue.labels:
            self._announce_either("labeled", issue, user, label=label_shape(name))

    def _announce_either(self, action: str, issue: Issue, user: str, **more: object) -> None:
        if issue.pull:
            self._announce_pull(action, issue, user, **more)
        else:
            self._announce_issue("issues", action, issue, user, **more)

    def _announce_pull(self, action: str, issue: Issue, user: str, **more: object) -> None:
        payload = self._payload(action, issue, user, {"number": issue.number, **more})
        payload["pull_request"] = pull_shape(self._hub, issue, _pull(issue))
        self._deliveries.announce("pull_request", payload)

    def _announce_issue(self, event: str, action: str, issue: Issue, user: str, **more: object) -> None:
        payload = self._payload(action, issue, user, more)
        payload["issue"] = issue_shape(self._hub, issue)
        self._deliveries.announce(event, payload)

    def _payload(self, action: str, issue: Issue, user: str, more: Shape) -> Shape:
        repository = repository_shape(self._hub, self._hub.repositories[issue.repository])
        payload: Shape = {"action": action, **more, "repository": repository}
        if user:
            payload["sender"] = user_shape(self._hub.user(user))
        return payload

    def _touch(self, issue: Issue) -> None:
        issue.updated_at = max(issue.updated_at, self._hub.clock())


def _pull(issue: Issue) -> Pull:
    if issue.pull is None:
        raise GitHubRefusal(404, "Not Found")
    return issue.pull
