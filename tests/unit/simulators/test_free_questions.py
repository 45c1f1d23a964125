"""The table of free questions: what each pattern finds in the request, and what it leaves to the thread."""

import pytest

from gofer.values.model_script import choose
from gofer_simulators.demo import demo_scripts
from gofer_simulators.free_questions import EXAMPLES, free_questions

TOOLS = (
    "jira_create_issue",
    "jira_get_issue",
    "jira_link_url",
    "jira_search",
    "slack_get_permalink",
    "slack_post_message",
    "slack_read_channel",
    "slack_read_thread",
)


def request(text: str, thread: str = "", result: str = "") -> dict[str, object]:
    """Return a model request for a mention in a thread, after one tool call if there is a result."""
    first = f"The request, in the words of @New Colleague:\n> @Gofer {text}\n\n{thread}"
    messages: list[dict[str, object]] = [{"role": "user", "content": first}]
    if result:
        messages.append({"role": "assistant", "content": ""})
        messages.append({"role": "tool", "content": result})
    tools = [{"type": "function", "function": {"name": name}} for name in TOOLS]
    return {"messages": messages, "tools": tools}


@pytest.mark.parametrize("example", EXAMPLES)
def test_each_example_has_an_answer_of_its_own(example: str) -> None:
    assert choose(free_questions(), request(example)).script != "unknown"


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Who is responsible for the retry fix?", "owner-not-found"),
        ("is there any ticket on refunds", "tickets-not-found"),
        ("please file an issue: The door is stuck", "make-a-ticket"),
        ("create a ticket of this thread", "ticket-of-this-thread"),
        ("tl;dr?", "nothing-to-summarise"),
        ("how much was run 1234abcd?", "cost-of-a-named-run"),
        ("Thanks!", "thanks"),
        ("good morning", "hello"),
        ("are you a bot?", "real-model"),
        ("Will it rain tomorrow?", "unknown"),
        ("this is about history", "unknown"),
        ("what does that cost?", "cost-of-runs"),
        ("what does a new laptop cost?", "unknown"),
        ("how much leave do I have left?", "unknown"),
        ("which model of printer do we have?", "unknown"),
        ("can you help me move a desk?", "unknown"),
        ("what do I need for parental leave?", "unknown"),
        ("when is lunch? thanks", "unknown"),
        ("hello, when does the office open?", "unknown"),
        ("hello there!", "hello"),
    ],
)
def test_request_chooses_its_row(text: str, script: str) -> None:
    assert choose(free_questions(), request(text)).script == script


def test_words_of_the_thread_choose_no_answer() -> None:
    thread = (
        "Thread in #general, 2 messages, oldest first:\n\n@On-call at 2026-11-24 01:00 UTC (ts 1.2):\n"
        "    @Gofer hello, who owns this? https://acme.slack.com/archives/C0INCID00/p1\n"
    )
    assert choose(demo_scripts(), request("Will it rain?", thread)).script == "unknown"


@pytest.mark.parametrize("text", ["who was on call in {}?", "summarise {}", "when did {} begin?"])
def test_link_to_the_incident_alone_gets_no_answer_about_the_deploy(text: str) -> None:
    asked = text.format("https://acme.slack.com/archives/C0INCID00/p1772394600000000")
    assert choose(demo_scripts(), request(asked)).script != "decided-elsewhere"
    assert choose(demo_scripts(), request(f"does it block this deploy? {asked}")).script == "decided-elsewhere"


@pytest.mark.parametrize("text", ["what can you do?", "what did that run cost?", "will it rain?"])
def test_answer_outside_the_demo_names_none_of_its_questions_and_pages(text: str) -> None:
    first = request(text)
    answer = choose(free_questions(), {"messages": first["messages"]})
    assert answer.script == "unknown-elsewhere"
    assert "\n" not in answer.text


def test_result_of_the_first_call_decides_between_two_answers() -> None:
    found = "- PAY-17 (Bug, In Progress; Checkout Owner; 2026-11-24 01:12 UTC): Checkout keeps connections"
    assert choose(free_questions(), request("who owns checkout?", result=found)).text.startswith(
        "**Checkout Owner**, going by [PAY-17](https://acme.atlassian.net/browse/PAY-17) (In Progress)"
    )
    unassigned = found.replace("Checkout Owner", "nobody")
    answer = choose(free_questions(), request("who owns checkout?", result=unassigned))
    assert answer.script == "owner-not-found"


@pytest.mark.parametrize(
    ("text", "summary", "project"),
    [
        ("The printer is broken.", "The printer is broken", "OPS"),
        ("The printer 2.0 is broken. Since Monday.", "The printer 2.0 is broken", "OPS"),
        (":fire: *The door is open.* Please look", "The door is open", "OPS"),
        ("Out today: search filters", "Out today", "SHOP"),
        ("Search finds nothing, and\n    nobody can pay an invoice!", "Search finds nothing, and", "PAY"),
        ("The product page is slow", "The product page is slow", "SHOP"),
        ("x" * 100 + " words", "A message in Slack", "OPS"),
        ("word " * 40, "word " * 16 + "word", "OPS"),
    ],
)
def test_marked_message_becomes_the_summary_of_a_ticket(text: str, summary: str, project: str) -> None:
    first = (
        "@Release Captain put :jira: on the message with ts 2.5 of this thread.\n\nThread in #general, 2 messages:\n\n"
        "@On-call at 2026-11-24 01:00 UTC (ts 1.5):\n    checkout is down\n\n"
        f"@On-call at 2026-11-24 01:00 UTC (ts 2.5):\n    {text}\n\n"
        "@On-call at 2026-11-24 01:00 UTC (ts 3.5):\n    search is down\n"
    )
    messages: list[dict[str, object]] = [{"role": "user", "content": first}, {"role": "assistant", "content": ""}]
    turn = choose(free_questions(), {**request(""), "messages": messages})
    assert turn.calls[0].tool == "jira_create_issue"
    assert (turn.calls[0].arguments["summary"], turn.calls[0].arguments["project"]) == (summary, project)
