"""Names of tools and fields stay where they stand; the same words are replaced everywhere else."""

import json
from collections.abc import Sequence

import pytest

from gofer.evals.goldens.pseudonyms import Pseudonyms
from gofer.evals.goldens.redacted_runs import redacted
from gofer.evals.goldens.redaction import Redaction
from gofer.evals.goldens.run_file import GoldenRun, line_of
from gofer.evals.goldens.sensitive_forms import Sensitive
from gofer.journal.entries import MessageReceived, Recorded, RunAccepted, ToolResult
from gofer.values.canonical_json import as_object
from gofer.values.events import Actor, Event

RUN = "a" + "0" * 23
TEXT = (
    "Author: Mark\nMail mark@acme.com; https://acme.slack.com/x. Mark used acme_search and `run.acme_search`, not ACME."
)


def run_with_tools(*tools: str, text: str = TEXT) -> GoldenRun:
    """Return a run with a message and a result, whose bundle declares the tools."""
    event = Event("webhook", "webhook", ("a",), "webhook:1", Actor("Zora Quimby"), "x", {}, digest="ab" * 32)
    result = ToolResult("1.0", "ok", "see acme_search", value={"acme_search": "Acme", "mark": "Mark"})
    entries = [RunAccepted(event, "w"), MessageReceived(text), result]
    lines = [line_of(Recorded(n=1, i=i, at=1, owner="h", entry=one)) for i, one in enumerate(entries)]
    schemas = [
        {"type": "function", "function": {"name": name, "parameters": {"properties": {"mark": {"type": "string"}}}}}
        for name in tools
    ]
    return GoldenRun(RUN, {RUN: lines}, {"bundle": {"system": "Use acme_search.", "tools": schemas}}, {})


def texts_of(turn: GoldenRun) -> Sequence[str]:
    entries = [as_object(line["entry"]) for line in turn.journals[turn.run]]
    return [str(entries[1]["text"]), str(entries[2]["value"])]


@pytest.mark.parametrize("given", [(), ("acme",)], ids=["found", "given"])
def test_company_is_replaced_beside_a_tool_with_its_name(given: Sequence[str]) -> None:
    (turn,) = redacted([run_with_tools("acme_search", "mark_merged")], b"salt", given).turns
    text, value = texts_of(turn)
    assert text.count("acme_search") == 2
    assert "acme_search" in value
    left = f"{text} {value}".replace("acme_search", "").replace("'mark':", "")
    assert "acme" not in left.lower()
    assert "mark" not in left.lower()
    assert turn.bundles["bundle"]["system"] == "Use acme_search."


def test_words_of_mailboxes_stay_elsewhere() -> None:
    text = "Clone git@github.com:vexacorp/r.git, run git status. no-reply@x.dev: do not reply, no. hello@corp.io: hello"
    (turn,) = redacted([run_with_tools(text=text)], b"salt").turns
    made = texts_of(turn)[0]
    assert "run git status" in made
    assert ": do not reply, no. " in made
    assert made.endswith(": hello")
    assert "vexacorp" not in made
    assert "no-reply@" not in made


def test_name_of_one_word_stays_as_a_key_and_as_a_tool() -> None:
    text = 'Author: Mark\n{"mark": "mark", "tool": "Mark"}'
    (turn,) = redacted([run_with_tools("mark", text=text)], b"salt").turns
    made = texts_of(turn)[0]
    assert made.count("mark") == 1
    assert '{"mark": "' in made
    assert "Mark" not in made
    assert '"name": "mark"' in json.dumps(turn.bundles["bundle"])


def test_name_of_a_called_tool_stays_within_values() -> None:
    made = Redaction([Sensitive("Mark", "name", "word")], Pseudonyms(b"salt"), {"mark"})
    assert made.value({"calls": [{"tool": "mark", "by": "mark"}]}) == {
        "calls": [{"tool": "mark", "by": made.text("mark")}]
    }
    assert made.text("mark") != "mark"
