import json

import pytest

from gofer.models.scripted import ScriptedModel
from gofer.values.errors import RunStopped
from gofer.values.model_script import load_scripts

pytestmark = pytest.mark.anyio

SCRIPTS = load_scripts(
    """
- name: look-first
  when: {says: 'look at (?P<what>\\w+)'}
  steps:
    - calls: [{look: {text: '{what}'}}]
    - text: Looked.
""",
    "test.yaml",
)


def body(*messages: dict[str, object]) -> bytes:
    return json.dumps({"messages": messages}).encode()


USER = {"role": "user", "content": "look at this"}


async def test_scripted_model_plays_each_step_and_reports_leftovers() -> None:
    model = ScriptedModel(SCRIPTS)
    first = await model.ask(body(USER), 1)
    assert [(ask.tool, json.loads(ask.arguments)) for ask in first.asks] == [("look", {"text": "this"})]
    assert model.leftovers() == ["look-first step 2"]
    second = await model.ask(body(USER, {"role": "assistant"}), 1)
    assert (second.text, second.asks, second.finish) == ("Looked.", (), "stop")
    assert model.leftovers() == []


@pytest.mark.parametrize(
    "unexpected",
    [body({"role": "user", "content": "sing"}), body(USER, {"role": "assistant"}, {"role": "assistant"})],
)
async def test_scripted_model_refuses_an_unexpected_call(unexpected: bytes) -> None:
    with pytest.raises(RunStopped, match="no script expects"):
        await ScriptedModel(SCRIPTS).ask(unexpected, 1)
