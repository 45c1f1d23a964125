"""The answers of the offline model to questions that people ask freely in the demo, as one table of scripts.

The first row whose pattern occurs in the request answers. A row may require something in the results of its tools, and
the row below it with the same first calls answers otherwise. The server labels each text as the offline model's.
"""

import re
from collections.abc import Mapping, Sequence

from gofer.values.model_script import Script, ScriptedCall, Step

OWN_PAGES = "https://gofer.acme.example"
"""The address of Gofer's own pages in texts of the demo's company. The simulated systems open it on this machine."""
EXAMPLES: Sequence[str] = (
    "what can you do?",
    "what was decided in #incidents?",
    "who owns the retry fix?",
    "find a ticket about payments",
    "what is PAY-17?",
    "make a ticket: The coffee machine on floor 2 leaks",
    "announce in #general: The release goes out at 15:00",
    "summarise this thread",
    "what did that run cost?",
    "how do I use a real model?",
)
"""Questions to copy, each with an answer of its own."""

_LISTED = "\n".join(f"- {example}" for example in EXAMPLES)
_REAL_MODEL = "With OPENAI_API_KEY set, a real model answers every question."
_IN_THE_DEMO = frozenset({"jira_search", "slack_read_channel"})
"""Tools by which the script knows the demo: its pages have local links there, and the examples have answers."""
_TICKET = r"(?:ticket|issue|bug)s?"
_ISSUE = r"- (?P<key>[A-Z]+-\d+) \("
_JIRA = "https://acme.atlassian.net/browse"


def free_questions() -> tuple[Script, ...]:
    """Return the scripts in the order in which the offline model tries them."""
    return (*_TICKETS, *_ABOUT_JIRA, *_ABOUT_SLACK, *_ABOUT_GOFER, *_UNKNOWN)


def _call(tool: str, **arguments: object) -> Step:
    return Step("", (ScriptedCall(tool, arguments),))


def _answer(*sentences: str) -> Step:
    return Step(" ".join(sentences), ())


def _asked(words: str) -> re.Pattern[str]:
    """Return a pattern that occurs in the request itself, in a line with `>`, and not in its thread."""
    return re.compile(rf"^> .*?{words}", re.IGNORECASE | re.MULTILINE)


def _row(
    name: str,
    words: str,
    steps: Sequence[Step],
    *,
    results: Sequence[str] = (),
    found: str = "",
) -> Script:
    """Return one row of the table. `found` must occur in the results of the first calls, if it is given."""
    needed = frozenset(call.tool for step in steps for call in step.calls)
    if any(OWN_PAGES in step.text or _LISTED in step.text for step in steps):
        needed |= _IN_THE_DEMO
    patterns = tuple(re.compile(result, re.MULTILINE) for result in results)
    return Script(name, tuple(steps), _asked(words), needed, patterns, re.compile(found, re.MULTILINE))


# --- The emoji :jira: on any message ---------------------------------------------------------------------------------

_PROJECTS: Mapping[str, str] = {
    "PAY": r"checkout|payment|refund|invoice",
    "SHOP": r"search|catalogue|product|shop",
    "OPS": r"",
}
"""The project of an issue, by words of the marked message, as in the skill jira-routing. The first match counts."""
_MARKED = r"put :jira: on the message with ts (?P<ts>[\d.]+) [\s\S]*?\(ts (?P=ts)\):\n"
_SENTENCE = r"[^\n]{1,87}?[^\s.,:;!?](?=(?:[.!?]|(?<=[a-z]):)+[*_]*(?:\s|$)|\n|$)"
_WORDS = r"[^\n]{0,87}[^\s.,:;!?](?=[.,:;!?]*(?:\s|$))"
_SUMMARY = rf"(?:\[offline model\] )?(?::\w+: )*\*?(?P<summary>{_SENTENCE}|{_WORDS})"
"""The first sentence of a message, or as many of its words as a summary may have."""


def _ticket(project: str, words: str) -> Script:
    says = rf"{_MARKED}(?=(?:    [^\n]*\n?)*?(?:    [^\n]*(?i:{words})))    {_SUMMARY}"
    return _filed(f"ticket-in-{project.lower()}", project, says, summary="{summary}")


def _filed(name: str, project: str, says: str, *, summary: str) -> Script:
    description = "A colleague put :jira: on a message in Slack.\n\n## What is known\n- {0}\n\nThread: {{link}}"
    create = _call(
        "jira_create_issue", project=project, type="Task", summary=summary, description=description.format(summary)
    )
    link = _call("jira_link_url", issue="{key}", url="{link}", title="Thread in Slack")
    answer = _answer(f"[{{key}}]({{url}}): {summary}. Filed in {project}, by the rules in `skills/jira-routing`.")
    steps = (_call("slack_get_permalink"), create, link, answer)
    needed = frozenset({"slack_get_permalink", "jira_create_issue", "jira_link_url"})
    results = (
        re.compile(r"link of that message: (?P<link>\S+)"),
        re.compile(r"Created (?P<key>[A-Z]+-\d+)\. (?P<url>\S+)"),
    )
    return Script(name, steps, re.compile(says), needed, results)


_TICKETS: Sequence[Script] = (
    *(_ticket(project, words) for project, words in _PROJECTS.items()),
    # A message without words, such as a file.
    _filed("ticket-without-words", "OPS", "put :jira: on", summary="A message in Slack"),
)

# --- Questions about Jira --------------------------------------------------------------------------------------------

_CREATE = rf"\b(?:make|create|file|open|write)\s+(?:me\s+)?(?:an?\s+|the\s+)?(?:jira\s+)?{_TICKET}\b"
_FIND = rf"\b(?:find|search|look up|is there|any|which)\b.{{0,20}}{_TICKET}\b\s*(?:is\s+|are\s+)?"
_ABOUT = r"(?:about|for|on|with|of)?\s*(?:the\s+|an?\s+)?(?P<thing>[^?\n]{2,80}?)[\s?.!]*$"
_SEARCH = _call("jira_search", text="{thing}")
_OWNS = r"\bwho(?:'s| is| are)?\s+(?:the\s+)?(?:owns?|owners?\s+of|responsible\s+for|works?\s+on|working\s+on)\s+"
_KEY = r"(?<![\w/-])(?P<issue>(?:PAY|SHOP|OPS)-\d+)\b"
_GET = _call("jira_get_issue", issue="{issue}")

_ABOUT_JIRA: Sequence[Script] = (
    _row(
        "ticket-of-this-thread",
        rf"{_CREATE}\s*(?:of|for|about|from)?\s*(?:this|that|it|the thread)\b",
        [
            _answer(
                "Put :jira: on a message of the thread, and the workflow `file-ticket` makes one ticket of it. For a "
                "ticket with your own words, write “make a ticket: …”."
            )
        ],
    ),
    _row(
        "make-a-ticket",
        rf"{_CREATE}(?:\s+(?:of|for|about|that|saying))?[\s:,]+(?P<summary>[^\n]{{3,88}}?)[\s.!?]*$",
        [
            _call("slack_get_permalink"),
            _call(
                "jira_create_issue",
                project="OPS",
                type="Task",
                summary="{summary}",
                description="A colleague asked for this ticket in Slack: {link}",
            ),
            _answer("[{key}]({url}): {summary}. Filed in OPS."),
        ],
        results=[r"link of that message: (?P<link>\S+)", r"Created (?P<key>[A-Z]+-\d+)\. (?P<url>\S+)"],
    ),
    _row(
        "owner-found",
        rf"{_OWNS}{_ABOUT}",
        [
            _SEARCH,
            _answer(f"**{{owner}}**, going by [{{key}}]({_JIRA}/{{key}}) ({{status}}): {{summary}}."),
        ],
        results=[
            rf"^{_ISSUE}[^,]+, (?P<status>[^;]+); (?!nobody)(?P<owner>[^;]+); [^)]*\): (?P<summary>.+)",
        ],
        found=rf"^{_ISSUE}[^,]+, [^;]+; (?!nobody)",
    ),
    _row(
        "owner-not-found",
        rf"{_OWNS}{_ABOUT}",
        [
            _SEARCH,
            _answer("I found no issue about “{thing}” that is assigned to a person. I searched Jira for these words."),
        ],
    ),
    _row(
        "issue-found",
        _KEY,
        [
            _GET,
            _answer("[{key}]({url}): {summary}. Status: {status}. Assignee: {assignee}."),
        ],
        results=[
            r"^(?P<key>[A-Z]+-\d+): (?P<summary>.+)",
            r"^Status: (?P<status>.+)",
            r"^Assignee: (?P<assignee>.+)",
            r"^Link: (?P<url>\S+)",
        ],
        found=r"^Link: \S+",
    ),
    _row("issue-not-found", _KEY, [_GET, _answer("There is no issue {issue} that I may see in Jira.")]),
    _row(
        "tickets-found",
        rf"{_FIND}{_ABOUT}",
        [
            _SEARCH,
            _answer(
                f"Jira has these issues about “{{thing}}”:\n\n{{issues}}\n\nThe first is [{{key}}]({_JIRA}/{{key}})."
            ),
        ],
        results=[r"(?P<issues>(?:^- [A-Z]+-\d+ \(.+(?:\n|\Z)){1,5})", rf"^{_ISSUE}"],
        found=rf"^{_ISSUE}",
    ),
    _row(
        "tickets-not-found",
        rf"{_FIND}{_ABOUT}",
        [_SEARCH, _answer("Jira has no issue with all of these words: “{thing}”. Try fewer words.")],
    ),
)

# --- Questions about Slack -------------------------------------------------------------------------------------------

_CHANNEL = r"#(?P<place>[\w-]+)"
_DECIDED = rf"\bdeci(?:ded|sions?)\b.*?{_CHANNEL}"
_READ = (
    _call("slack_read_channel", channel="#{place}", limit=10),
    _call("slack_read_thread", channel="#{place}", ts="{parent}"),
)
_NEWEST = r"Newest messages in #(?:(?!Thread in #)[\s\S])*\(ts (?P<parent>[\d.]+)\)"
_ANNOUNCE = rf"\b(?:announce|post|say|write)\s+(?:it\s+)?(?:in|to)\s+{_CHANNEL}[:,]?\s+(?P<words>[^\n]+)"
_POST = _call("slack_post_message", channel="#{place}", text="{words}")
_SUMMARISE = r"(?:summari[sz]e|summary|tl;?dr|sum up)\b"
_THREAD = (
    r"[\s\S]*?^Thread in (?P<place>[^\n,]+), (?P<count>\d+) messages?, oldest first:\n\n"
    r"(?=@(?P<first>[^\n]+?) at [^\n]+:\n    (?!\(the text of the request)(?P<beginning>[^\n]+))"
    r"[\s\S]*^@(?P<last>[^\n]+?) at [^\n]+:\n    (?!\(the text of the request)(?P<end>[^\n]+)"
)

_ABOUT_SLACK: Sequence[Script] = (
    _row(
        "announced",
        _ANNOUNCE,
        [
            _POST,
            _call("slack_get_permalink", channel="#{place}", ts="{posted}"),
            _answer("[Posted in #{place}]({link}), after a lead approved it."),
        ],
        results=[r"Posted \(ts (?P<posted>[\d.]+)\)", r"link of that message: (?P<link>\S+)"],
        found=r"Posted \(ts ",
    ),
    _row("not-announced", _ANNOUNCE, [_POST, _answer("I posted nothing in #{place}: the approval was not given.")]),
    _row(
        "decision-found",
        _DECIDED,
        [
            *_READ,
            _call("slack_get_permalink", channel="#{place}", ts="{ts}"),
            _answer("**{who}** wrote on {when}: “{decision}” ([message]({link}))"),
        ],
        results=[
            _NEWEST,
            r"^@(?P<who>[^\n]+?) at (?P<when>[^\n]+?) \(ts (?P<ts>[\d.]+)\):\n    Decision: (?P<decision>[^\n]+)",
            r"link of that message: (?P<link>\S+)",
        ],
        found=r"^    Decision: ",
    ),
    _row(
        "decision-not-found",
        _DECIDED,
        [*_READ, _answer("The newest thread of #{place} has no message that begins with “Decision:”.")],
        results=[_NEWEST],
        found=_NEWEST,
    ),
    _row("channel-not-read", _DECIDED, [_READ[0], _answer("I found no thread in #{place} that I may read.")]),
    _row(
        "thread-in-brief",
        rf"{_SUMMARISE}{_THREAD}",
        [
            _answer(
                "A script cannot summarise, so here is how the thread in {place} begins and ends, of {count} messages. "
                f"**{{first}}** began: “{{beginning}}” **{{last}}** wrote last: “{{end}}” {_REAL_MODEL}"
            )
        ],
    ),
    _row(
        "nothing-to-summarise",
        _SUMMARISE,
        [_answer("There is only your question here. Ask me in a thread with other messages.")],
    ),
)

# --- Questions about Gofer -------------------------------------------------------------------------------------------

_PRICE = r"(?:\bcosts?\b|\bhow (?:much|expensive) (?:is|was|are|were)\b)"
_WORK = r"(?<!@)\b(?:runs?|answers?|gofer|you)\b"
_COST = rf"{_WORK}[^\n]*{_PRICE}|{_PRICE}[^\n]*{_WORK}|\b(?:this|that|it)\s+costs?\b"

_FIRST = r"(?<=> )(?:@\S+[,:]?\s+)*"
_NO_QUESTION = r"\b(?:[^?\n]*$|,? (?:are you (?:there|here)|what can you do)\b)"
"""What may surround thanks and greetings: beside a question, they are not what a person wants an answer to."""

_ABOUT_GOFER: Sequence[Script] = (
    _row(
        "cost-of-a-named-run",
        rf"\brun\s+(?P<run>[0-9a-f]{{6,24}})\b.*?{_PRICE}|{_PRICE}.*?\brun\s+(?P<named>[0-9a-f]{{6,24}})\b",
        [
            _answer(
                "`gofer trace {run}{named}` prints the tokens and dollars of each model call, and so does the page of",
                f"the run, which is [in this list]({OWN_PAGES}/runs). The offline model costs nothing.",
            )
        ],
    ),
    _row(
        "cost-of-the-run-before",
        rf"(?:{_COST})[\s\S]*?^You were at work in this thread before \(run (?P<run>[0-9a-f]{{8,24}})",
        [
            _answer(
                f"[The page of run {{run}}]({OWN_PAGES}/runs/{{run}}) shows the tokens and dollars of each model call. "
                "The offline model costs nothing."
            )
        ],
    ),
    _row(
        "cost-of-runs",
        rf"(?:{_COST})",
        [
            _answer(
                f"Below each answer is a link to its run, which shows the tokens and dollars of each model call. All "
                f"runs are [on one page]({OWN_PAGES}/runs). The offline model costs nothing."
            )
        ],
    ),
    _row(
        "real-model",
        r"\b(?:real|other|another|which|what|your)\s+(?:language\s+)?(?:model|llm)\b(?!\s+of\b)"
        r"|\bare you (?:real|an? (?:ai|bot|llm))\b|\b(?:api|openai)[ _]key\b",
        [
            _answer(
                "These answers come from a script, the offline model, and not from a language model. "
                f"{_REAL_MODEL} `OPENAI_BASE_URL` names another provider, and `gofer docs models` explains both."
            )
        ],
    ),
    _row(
        "help",
        r"\bhelp\b[\s?!.]*$|\bwhat can (?:you|i) (?:do|ask)\b|\bwhat do you do\b|\bwho are you\b"
        r"|\bhow do(?:es)? (?:you|this|it) work\b",
        [
            _answer(
                "I answer where I am mentioned, with the tools that my workflow file grants. In this demo a script "
                f"plays the model. Copy one of these, after “@Gofer”:\n\n{_LISTED}\n\nOr put :jira: on any message. "
                f"My prompt is [on this page]({OWN_PAGES}/prompts/answer-here)."
            )
        ],
    ),
    _row("thanks", rf"{_FIRST}(?:thanks|thank you|thx|cheers){_NO_QUESTION}", [_answer("You are welcome.")]),
    _row(
        "hello",
        rf"{_FIRST}(?:hello|hi|hey|good (?:morning|afternoon|evening)){_NO_QUESTION}",
        [
            _answer(
                "Hello! Ask me something about a thread, and put a link to another thread into your question if I "
                "should read it too."
            )
        ],
    ),
)

_NO_ANSWER = "I have no answer to that: a script plays the model here, and it knows a few kinds of questions only."
_UNKNOWN: Sequence[Script] = (
    _row("unknown", "", [_answer(f"{_NO_ANSWER} {_REAL_MODEL} The script can answer these:\n\n{_LISTED}")]),
    Script("unknown-elsewhere", (_answer(f"{_NO_ANSWER} {_REAL_MODEL}"),)),
)
