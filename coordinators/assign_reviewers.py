"""A script that asks up to two people who know the changed files to review a pull request; one model call chooses."""

import json
from collections import Counter

from gofer.coordinator import Run

FILES = 8
"""How many of the changed files the script looks up, in the order of the pull request."""
CANDIDATES = 6
REVIEWERS = 2


async def coordinate(run: Run) -> str | None:
    """Request reviews of an open pull request that is no draft and has no reviewers yet."""
    where = {"repository": run.event.place["repository"], "number": int(run.event.place["number"])}
    pull = await run.call("github_get_pull_request", **where)
    if pull["draft"] or pull["reviewers"] or pull["state"] != "open":
        return None
    candidates = await _who_knows(run, where["repository"], pull["files"][:FILES], pull["author"])
    chosen = await _choose(run, pull["title"], pull["files"], candidates)
    if not chosen:
        return "Only the author has worked on these files."
    await run.call("github_request_reviewers", reviewers=chosen, **where)
    return f"Asked {' and '.join(chosen)}."


async def _who_knows(run: Run, repository: object, files: list[str], author: str) -> list[tuple[str, int]]:
    """Return people with an account and their number of commits to the files, most commits first.

    The author of the pull request and bots are left out.
    """
    asked = [run.call("github_list_commits", repository=repository, path=path) for path in files]
    counts: Counter[str] = Counter()
    for found in await run.gather(*asked):
        counts.update(found["authors"])
    people = {name: count for name, count in counts.items() if name != author and "[" not in name and " " not in name}
    return sorted(people.items(), key=lambda person: (-person[1], person[0]))[:CANDIDATES]


async def _choose(run: Run, title: str, files: list[str], candidates: list[tuple[str, int]]) -> list[str]:
    """Return up to two of the candidates; if there are not more than two, the script does not ask a model."""
    names = [name for name, _ in candidates]
    if len(names) <= REVIEWERS:
        return names
    question = {"title": title, "files": files, "candidates": [{"login": n, "commits": c} for n, c in candidates]}
    answer = json.loads(await run.subagent("choose-reviewers", json.dumps(question, indent=1)))
    # The model chooses, but only among the candidates.
    return [name for name in answer["reviewers"] if name in names][:REVIEWERS] or names[:REVIEWERS]
