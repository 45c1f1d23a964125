"""Tasks of a healthy model: each is a generator of turns, which sees every request and names only what it read.

A turn is the calls that the task asks for at once. A task gets the next request of its run, with the results of
these calls.
"""

import random
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass

from support.app.shipped_workflows import RFC
from support.models.deciding_provider import Call, Sent

Turns = Generator[Sequence[Call], Sent, str]
"""The turns of a task, and what it adds to the answer."""


@dataclass(frozen=True)
class Task:
    """Something that a person asks for, and how a model does it."""

    asks: str
    """Words of the request. `{thread}` is the link of a thread."""
    work: Callable[[random.Random], Turns]
    tools: Sequence[str]


def last_result(sent: Sent, pattern: str) -> str:
    """Return what a pattern finds in the newest result that has it. Raises IndexError if no result has it."""
    return [found for result in sent.results for found in re.findall(pattern, result)][-1]


def _link(sent: Sent) -> str:
    return re.findall(r"https://acme\.slack\.com/archives/\w+/p\d+", sent.first)[0]


def _read_thread(chance: random.Random) -> Turns:
    sent = yield []
    yield [("slack_read_thread", {"link": _link(sent)})]
    return "Checkout stays on 4.17 until the retry fix has run one hour on staging."


def _read_channels(chance: random.Random) -> Turns:
    yield []
    names = ["#incidents", "#deploys"]
    chance.shuffle(names)
    yield [("slack_read_channel", {"channel": name, "limit": chance.randrange(5, 50)}) for name in names]
    return "Two channels were read."


def _look_into_jira(chance: random.Random) -> Turns:
    yield []
    words = chance.choice(["checkout connections", "database connections retry"])
    sent = yield [("jira_search", {"project": "PAY", "text": words})]
    key = last_result(sent, r"\b(PAY-\d+)\b")
    yield [("jira_get_issue", {"issue": key})]
    return f"{key} is in progress."


def _search_twice(chance: random.Random) -> Turns:
    yield []
    yield [("jira_search", {"text": f"zebra {chance.randrange(1_000)}"})]
    sent = yield [("jira_search", {"text": "checkout"})]
    return f"Nothing about zebras, but {last_result(sent, r'(PAY-[0-9]+)')} is about checkout."


def _file_a_ticket(chance: random.Random) -> Turns:
    yield []
    ticket = {"project": "PAY", "type": "Bug", "summary": f"Refunds came twice ({chance.randrange(100)})"}
    sent = yield [("jira_create_issue", {**ticket, "description": "Three customers, #refunds, since 14:00."})]
    if "Created" not in sent.results[-1]:
        return "The ticket was not approved."
    key = last_result(sent, r"Created ([A-Z]+-\d+)")
    yield [
        ("jira_add_comment", {"issue": key, "text": "Seen by @support, see OPS-99 for the rota."}),
        ("slack_post_message", {"channel": "#general", "text": f"{key} is filed."}),
    ]
    return f"{key} is filed."


def _correct_a_mistake(chance: random.Random) -> Turns:
    """Send a wrong argument, and the right one after the refusal."""
    yield []
    yield [("jira_search", {"words": "checkout"})]
    yield [("jira_search", {"text": "checkout"})]
    return "Found after a correction."


def _review_a_page(chance: random.Random) -> Turns:
    yield []
    sent = yield [("notion_search", {"query": "RFC 12", "kind": "page"})]
    page = last_result(sent, r"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
    yield [("notion_get_page", {"page": page, "comments": "all"})]
    yield [("notion_add_comment", {"page": page, "text": f"Please name the owner ({chance.randrange(9)})."})]
    return "RFC 12 has a comment."


def _query_a_database(chance: random.Random) -> Turns:
    yield []
    yield [("notion_query_database", {"database": "RFCs", "where": {"Status": "Rejected"}})]
    return "One RFC was rejected."


def _change_a_page(chance: random.Random) -> Turns:
    """Change a property of a page that the request links to, by the id in the link."""
    sent = yield []
    page = re.findall(r"([0-9a-f]{32})", sent.first)[0]
    page = "-".join([page[:8], page[8:12], page[12:16], page[16:20], page[20:]])
    yield [("notion_get_page", {"page": page})]
    yield [("notion_update_properties", {"page": page, "properties": {"Status": "Accepted"}})]
    return "RFC 12 is accepted."


def _react(chance: random.Random) -> Turns:
    """React to the message behind a link: a model takes channel and `ts` out of the link."""
    sent = yield []
    channel, stamp = re.findall(r"/archives/(\w+)/p(\d+)", sent.first)[0]
    emoji = chance.choice(["eyes", "white_check_mark"])
    yield [("slack_add_reaction", {"channel": channel, "ts": f"{stamp[:10]}.{stamp[10:]}", "emoji": emoji})]
    return "I reacted."


def _read_a_pull_request(chance: random.Random) -> Turns:
    yield []
    sent = yield [("github_get_pull_request", {"repository": "acme/shop", "number": 41})]
    path = last_result(sent, r"(src/[\w/]+\.py)")
    yield [
        ("github_read_file", {"repository": "acme/shop", "path": path}),
        ("github_list_commits", {"repository": "acme/shop", "path": path}),
    ]
    return f"{path} changes."


def _keep_a_plan(chance: random.Random) -> Turns:
    yield []
    items = [{"id": f"{number}", "description": f"Step {number}"} for number in range(1, chance.randrange(3, 5))]
    yield [("todo_write", {"todos": items})]
    for item in items:
        yield [("todo_update", {"id": item["id"], "status": "completed"})]
    return "The plan is done."


def _load_a_skill(chance: random.Random) -> Turns:
    yield []
    yield [("load_skills", {"names": [chance.choice(["jira-formatting", "slack-formatting", "citing-sources"])]})]
    return "Written by the house rules."


def _read_a_file(chance: random.Random) -> Turns:
    """Search an attached file and read the lines around what was found."""
    sent = yield []
    file = sent.files["ledger.txt"]
    yield [("file_regex", {"file": file, "pattern": "Page 7 comes", "context": 0})]
    start = chance.randrange(1, 40)
    yield [("file_read", {"file": file, "start_line": start, "end_line": start + 30})]
    yield [("file_read", {"file": file, "start_line": start + 31, "end_line": start + 50})]
    return "Page 7 has an amount."


def _read_all_of_a_file(chance: random.Random) -> Turns:
    """Read a file in parts until the window is full and after that."""
    sent = yield []
    file = sent.files["ledger.txt"]
    for start in range(1, 400, 100):
        yield [("file_read", {"file": file, "start_line": start, "end_line": start + 99})]
    return "All pages were read."


def _ask_a_subagent(chance: random.Random) -> Turns:
    sent = yield []
    file = sent.files["ledger.txt"]
    question = {"agent_name": "read-file", "prompt": f"Of {file}: which amount has page 3?", "files": [file]}
    yield [("subagent", question)]
    return "Page 3 has an amount."


def _ask_two_subagents(chance: random.Random) -> Turns:
    sent = yield []
    file = sent.files["ledger.txt"]
    yield [
        ("subagent", {"agent_name": "read-file", "prompt": f"Of {file}: page {page}?", "files": [file]})
        for page in (3, 9)
    ]
    return "Two pages have amounts."


TASKS: Mapping[str, Task] = {
    "thread": Task("what was decided in {thread} ?", _read_thread, ("slack_read_thread",)),
    "channels": Task("what is new in #incidents and #deploys?", _read_channels, ("slack_read_channel",)),
    "jira": Task("what does PAY know of it?", _look_into_jira, ("jira_search", "jira_get_issue")),
    "searches": Task("is there an issue about zebras?", _search_twice, ("jira_search",)),
    "ticket": Task(
        "file a ticket in PAY and tell #general",
        _file_a_ticket,
        ("jira_create_issue", "jira_add_comment", "slack_post_message"),
    ),
    "mistake": Task("look for checkout in Jira", _correct_a_mistake, ("jira_search",)),
    "page": Task("review RFC 12", _review_a_page, ("notion_search", "notion_get_page", "notion_add_comment")),
    "database": Task("which RFCs have the Status Rejected?", _query_a_database, ("notion_query_database",)),
    "property": Task(
        f"accept https://www.notion.so/RFC-12-{RFC.replace('-', '')} please",
        _change_a_page,
        ("notion_get_page", "notion_update_properties"),
    ),
    "reaction": Task("react to {thread} please", _react, ("slack_add_reaction",)),
    "pull request": Task(
        "what changes in https://github.com/acme/shop/pull/41 ?",
        _read_a_pull_request,
        ("github_get_pull_request", "github_read_file", "github_list_commits"),
    ),
    "plan": Task("keep a plan", _keep_a_plan, ()),
    "skill": Task("write it by the house rules", _load_a_skill, ()),
    "file": Task("what does page 7 come to?", _read_a_file, ()),
    "whole file": Task("read the whole ledger", _read_all_of_a_file, ()),
    "subagent": Task("which amount has page 3?", _ask_a_subagent, ()),
    "subagents": Task("which amounts have pages 3 and 9?", _ask_two_subagents, ()),
}
ON_FILES = frozenset({"file", "whole file", "subagent", "subagents"})
"""The tasks on an attached file."""
