"""Say whether code owners accepted a pull request for which no model was asked, and write this into its comment.

GitHub runs the program of the base branch, which reads reviews and changed files with `gh` and nothing else. A change
is accepted if each of its files has an owner who approved the last commit: a person whom CODEOWNERS of the base branch
names, and who is not the author.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where GitHub looks for the owners. The first file counts."""
VERDICTS = ("APPROVED", "CHANGES_REQUESTED", "DISMISSED")
"""The states of reviews that replace an earlier review of the same person; a comment replaces none."""
COMMENT = Path("evals-report/comment.md")
Rule = tuple[re.Pattern[str], Sequence[str]]


def main() -> None:
    """Write the names of the owners who accepted as the output `by`, and the sentence into the comment."""
    pull = f"repos/{os.environ['REPOSITORY']}/pulls/{os.environ['NUMBER']}"
    by, sentence = decided(pull, os.environ["HEAD"])
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as output:
        output.write(f"by={' '.join(by)}\n")
    print(sentence)
    title, _, rest = COMMENT.read_text(encoding="utf-8").partition("\n")
    lines = [title, sentence]
    if by:
        lines = [f"### {sentence}", title.removeprefix("### ")]
    COMMENT.write_text(f"{lines[0]}\n\n{lines[1]}\n{rest}", encoding="utf-8")


def decided(pull: str, head: str) -> tuple[Sequence[str], str]:
    """Return the owners who accepted the commit `head` of a pull request, and a sentence. No owners: not accepted."""
    (now,) = asked(pull, "[.head.sha, .user.login, .changed_files, .base.ref]")
    last, author, number, base = now
    commit = f"`{head[:12]}`"
    if last != head:
        return (), f"⚪ Not accepted: {commit} is not the last commit any more."
    changed = list(asked(f"{pull}/files", ".[] | [.filename, .previous_filename // .filename]"))
    if len(changed) != number:
        return (), f"⚪ Not accepted: GitHub lists {len(changed)} of the {number} changed files."
    approved = approvals(asked(f"{pull}/reviews", '.[] | [.user.login // "", .state, .commit_id]'), head)
    accepting: set[str] = set()
    rules = list(rules_of(owners_file()))
    for path in sorted({path for paths in changed for path in paths}):
        owners = [owner for owner in owners_of(path, rules) if owner != author.lower()]
        if not owners:
            where = f"CODEOWNERS of {shown(base)} names no person beside the author"
            return (), f"⚪ Not accepted: {where} for {shown(path)}. Teams do not count."
        accepts = [owner for owner in owners if owner in approved]
        if not accepts:
            names = " or ".join(f"`@{owner}`" for owner in owners)
            return (), f"⚪ Not accepted: {shown(path)} needs an approving review of {commit} by {names}."
        accepting.update(accepts)
    by = sorted(accepting)
    names = ", ".join(f"`@{owner}`" for owner in by)
    return by, f"✅ Accepted without evidence by {names}, with an approving review of {commit}."


def asked(path: str, query: str) -> Iterator[Sequence[Any]]:
    """Yield the lists that a query of jq makes of the pages of a path of GitHub's API."""
    command = ["gh", "api", "--paginate", path, "--jq", f"{query} | @json"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    for line in done.stdout.splitlines():
        if line:
            yield json.loads(line)


def approvals(reviews: Iterator[Sequence[str]], head: str) -> frozenset[str]:
    """Return the people, in small letters, whose last review approves the commit `head`."""
    last: dict[str, tuple[str, str]] = {}
    for person, state, commit in reviews:
        if state in VERDICTS:
            last[person.lower()] = (state, commit)
    return frozenset(person for person, review in last.items() if review == ("APPROVED", head))


def owners_file() -> str:
    """Return the text of the first file of owners in this folder, empty without one."""
    found = [Path(place) for place in PLACES if Path(place).is_file()]
    return found[0].read_text(encoding="utf-8") if found else ""


def rules_of(text: str) -> Iterator[Rule]:
    """Yield the rules of a CODEOWNERS file, with people only: nothing here can say who is in a team."""
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words and not re.search(r"[!\[\]\\]", words[0]):
            people = [word[1:].lower() for word in words[1:] if re.fullmatch(r"@[A-Za-z0-9-]+", word)]
            yield re.compile(expression(words[0])), people


def owners_of(path: str, rules: Sequence[Rule]) -> Sequence[str]:
    """Return the owners of a file: those of the last rule that fits."""
    return next((owners for pattern, owners in reversed(rules) if pattern.fullmatch(path)), ())


def expression(pattern: str) -> str:
    """Return a pattern of CODEOWNERS as a regular expression for whole paths."""
    anchored = "/" in pattern.rstrip("/")
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern.strip("/"))
    text = "".join(words.get(part) or re.escape(part) for part in parts)
    before = "" if anchored else "(?:.*/)?"
    if pattern.endswith("/"):
        return f"{before}{text}/.*"
    if pattern.endswith("/*"):
        return f"{before}{text}"
    return f"{before}{text}(?:/.*)?"


def shown(text: str) -> str:
    """Return a text of outsiders as a short code span."""
    return f"`{re.sub(r'[^ -_a-~]', '·', text)[:200]}`"


if __name__ == "__main__":
    main()
