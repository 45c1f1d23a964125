"""Redacted runs: texts and names of files, placeholders, and hashes that follow from contents."""

import hashlib
from pathlib import Path

import pytest

from gofer.evals.goldens.golden_file import FOLDER
from gofer.evals.goldens.golden_reader import read_golden
from gofer.evals.goldens.redacted_runs import redacted
from gofer.evals.goldens.run_file import GoldenRun, line_of
from gofer.journal.entries import MessageReceived, Recorded, RunAccepted
from gofer.journal.workspace_entries import FileAdded
from gofer.tools.definition import NewFile
from gofer.values.canonical_json import as_object
from gofer.values.errors import ConfigError
from gofer.values.events import Actor, Event
from gofer.values.messages import Media

SHIPPED = Path(__file__).parents[4] / FOLDER
TEXT = "Quimby, zora.quimby@vexacorp.com"


def run_with_files() -> GoldenRun:
    """Return a run with a text whose id is the hash of its content, an image, and a message that names both."""
    event = Event("webhook", "webhook", ("a",), "webhook:1", Actor("Zora Quimby"), "x", {}, digest="ab" * 32)
    file = NewFile("quimby.txt", "text/plain", TEXT.encode(), "python")
    entries = [
        RunAccepted(event, "w"),
        FileAdded(file.id, "quimby.txt", "text/plain", len(TEXT), "python", body="b1"),
        FileAdded("file_0123456789ab", "face.png", "image/png", 4, "python", body="b2"),
        MessageReceived(f"See {file.id}.", media=(Media("file_0123456789ab", "image/png", "AAAA"),)),
    ]
    lines = [line_of(Recorded(n=1, i=i, at=1, owner="host-7", entry=one)) for i, one in enumerate(entries)]
    return GoldenRun("run", {"run": lines}, {}, {"b1": TEXT.encode(), "b2": b"\x89PNG\xff"})


def test_text_of_a_file_is_redacted_and_its_id_follows_from_the_new_text() -> None:
    turn = redacted([run_with_files()], b"salt").turns[0]
    (name,) = [name for name, content in turn.bodies.items() if not content.startswith(b"\x89PNG")]
    content = turn.bodies[name]
    assert b"uimby" not in content
    assert b"vexacorp" not in content
    assert len(content) == len(TEXT)
    made = NewFile("x", "text/plain", content, "python").id
    entries = [as_object(line["entry"]) for line in turn.journals[turn.run]]
    assert entries[1]["file"] == made
    assert entries[1]["body"] == name == hashlib.sha256(content).hexdigest()
    assert entries[3]["text"] == f"See {made}."
    assert "quimby" not in str(entries[1]["name"])


def test_image_becomes_a_placeholder_of_its_media_type() -> None:
    turn = redacted([run_with_files()], b"salt").turns[0]
    images = [content for content in turn.bodies.values() if content.startswith(b"\x89PNG\r\n")]
    assert len(images) == 1
    assert images != [b"\x89PNG\xff"]


def test_owner_and_digest_name_no_machine_and_no_content() -> None:
    turn = redacted([run_with_files()], b"salt").turns[0]
    first = turn.journals[turn.run][0]
    assert first["owner"] == "owner-1"
    assert as_object(as_object(first["entry"])["event"])["digest"] != "ab" * 32


@pytest.mark.parametrize("word", ["jira", "description", "text", "run.accepted"])
def test_word_that_names_a_tool_or_a_field_is_refused(word: str) -> None:
    turns = read_golden(SHIPPED / "ticket-from-a-reaction.yaml").turns
    with pytest.raises(ConfigError, match="is the name of a tool or a field"):
        redacted(turns, b"salt", [word])


def test_prompts_stay_as_in_the_repository() -> None:
    (turn, *_) = read_golden(SHIPPED / "ticket-from-a-reaction.yaml").turns
    before = str(turn.bundles[turn.run]["system"])
    assert "colleague" in before
    after = redacted([turn], b"salt", ["colleague"]).turns[0]
    assert after.bundles[after.run]["system"] == before


def test_redacted_case_can_be_redacted_again() -> None:
    turns = read_golden(SHIPPED / "ticket-from-a-reaction.yaml").turns
    again = redacted(turns, b"other salt").turns
    assert [line["at"] for line in again[0].journals[again[0].run]] == [
        line["at"] for line in turns[0].journals[turns[0].run]
    ]
    assert again[0].run != turns[0].run
