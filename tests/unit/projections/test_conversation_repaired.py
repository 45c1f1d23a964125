import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.projections.conversation import presentable
from gofer.values.messages import ToolAsk


def test_valid_tool_call_stays_byte_for_byte() -> None:
    ask = ToolAsk("call_9-A", "look", ' {"text" : "é"}')
    assert presentable(ask, 1, 0, ()) == ask


@pytest.mark.parametrize("id_", ["", "taken", "two words", "é", "line\n", "x" * 65, "\x7f"])
def test_missing_taken_or_invalid_call_id_is_replaced_by_a_generated_id(id_: str) -> None:
    assert presentable(ToolAsk(id_, "look", "{}"), 12, 3, {"taken"}).id == "g00012003"


def test_generated_call_id_avoids_ids_that_a_provider_chose_before() -> None:
    assert presentable(ToolAsk("", "look", "{}"), 1, 0, {"g00001000", "g00001001"}).id == "g00001002"


@given(st.text(), st.text(), st.text(), st.integers(1, 10**6), st.integers(0, 200))
def test_repaired_tool_call_has_a_valid_id_and_tool_name(
    id_: str, tool: str, arguments: str, turn: int, index: int
) -> None:
    shown = presentable(ToolAsk(id_, tool, arguments), turn, index, ())
    assert shown.id == id_ or re.fullmatch("[a-z0-9]{9}", shown.id)
    assert re.fullmatch("[a-zA-Z0-9_-]{1,64}", shown.tool)
