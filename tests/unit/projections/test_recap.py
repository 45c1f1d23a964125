"""The recap of an earlier run: it holds no address whole that only the model of that run wrote."""

from gofer.journal import entries as e
from gofer.projections.recap import recap
from gofer.values.messages import ToolAsk, Usage

PAGE = "https://held.example/a"


def test_recap_shows_addresses_whole_only_if_the_earlier_run_read_the_addresses() -> None:
    asks = (ToolAsk("c0", "note", '{"text": "https://made.example/secret"}'),)
    written = (
        e.LlmResponse("", asks, "tool_calls", "m", Usage(), None, 0),
        e.ToolResult("1.0", "ok", f"Noted https://made.example/secret beside {PAGE}"),
        e.RunFinished("done", ""),
    )
    text = recap("run1", [e.Recorded(n, 0, n, "me", entry) for n, entry in enumerate(written, 1)])
    assert PAGE in text
    assert '- note {"text": "made[.]example/secret"}' in text
    assert "Noted made[.]example/secret" in text
