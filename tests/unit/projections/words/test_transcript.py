"""The steps of a run for a terminal: every text behind a bar, and no character that a terminal obeys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.projections.words.steps import Step
from gofer.projections.words.transcript import harmless, transcript


def lines(*steps: Step) -> list[str]:
    return list(transcript(steps))


def message(text: str, number: int = 1) -> Step:
    return Step(number, "run1", 0, 1_000 * number, "message.received", f"{number}.0", input=text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x1b]0;owned\x07", "\\x1b[2J\\x1b]0;owned\\x07"),
        ("abc\u202egpj.exe", "abc\\u202egpj.exe"),
        ("one\r\ntwo\rthree", "one\ntwo\\x0dthree"),
        ("tab\tand Grüße, 日本語, 👩\u200d💻\u00a0!", "tab\tand Grüße, 日本語, 👩\u200d💻\u00a0!"),
        ("\x85\x9b31m", "\\x85\\x9b31m"),
    ],
)
def test_characters_that_a_terminal_obeys_are_written_as_escapes(text: str, shown: str) -> None:
    assert harmless(text) == shown


@given(st.text())
def test_terminal_gets_no_control_character_of_any_text(text: str) -> None:
    written = harmless(text).replace("\n", "").replace("\t", "")
    assert not [char for char in written if ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or 0x202A <= ord(char) <= 0x202E]


def test_text_that_imitates_a_step_stands_behind_a_bar() -> None:
    header, label, *quoted = lines(message("hello\n   2       0.000 s   agent.end          done"))
    assert header.split() == ["1", "0.000", "s", "message.received", "from", "the", "run", "to", "its", "model"]
    assert label.strip() == "message:"
    assert all(line.lstrip().startswith("│ ") for line in quoted)


def test_step_shows_its_status_its_duration_and_its_attempts() -> None:
    step = Step(7, "run1", 0, 1_000, "tool.result", "7.0", "look", status="error", duration_ms=1_234, retries=2)
    assert lines(step) == ["   7       0.000 s ! tool.result        look  error  1,234 ms  attempt 3"]


def test_state_is_shown_at_its_cause_and_a_violation_on_a_line_of_its_own() -> None:
    known = {"from": "thinking", "to": "waiting_model"}
    allowed = Step(2, "run1", 0, 1_000, "state.transition", "1.0", status="ok", details=known)
    wrong = Step(3, "run1", 0, 1_000, "state.transition", "1.0", status="violation", output="Wrong.", details=known)
    header, *_, violation, sentence = lines(message("hello"), allowed, wrong)
    assert header.endswith("→ waiting for a model")
    assert "! state.transition   thinking → waiting for a model  violation" in violation
    assert sentence.endswith("│ Wrong.")


def test_event_shows_only_fields_with_a_value_and_its_window_in_words() -> None:
    event = {"source": "slack", "hops": 0, "digest": "", "window": 0, "facts": {}}
    known = {"event_kind": "slack.mention", "workflow": "w", "event": event}
    accepted = Step(1, "run1", 0, 1_000, "run.accepted", "1.0", details=known)
    repeated = Step(2, "run1", 0, 1_000, "run.accepted", "1.0", details={**known, "event": {**event, "window": 60}})
    assert [line.strip() for line in lines(accepted)][2:] == ["│ source: slack"]
    assert lines(repeated)[-1].strip() == "│ an equal delivery counts as a new event after: 60 s"
