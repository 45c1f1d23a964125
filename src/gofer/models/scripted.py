"""A stand-in for a model inside the process, which answers by checked-in scripts.

It reads the same scripts as the offline model, and is stricter: a request that no step expects is an error, and
`leftovers` lists the steps that were never reached.
"""

import json
from collections.abc import Mapping, Sequence

from typing_extensions import override

from gofer.models.language_model import Answer, Model
from gofer.values.errors import RunStopped
from gofer.values.messages import ToolAsk, Usage
from gofer.values.model_script import Script, ScriptedCall, Step, choose

NAME = "scripted"


class ScriptedModel(Model):
    """A model that answers by its scripts. `requests` holds the exact bodies of all requests."""

    def __init__(self, scripts: Sequence[Script]) -> None:
        self._scripts = tuple(scripts)
        self._answered: set[tuple[str, int]] = set()
        self.requests: list[bytes] = []

    @override
    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.requests.append(body)
        turn = choose(self._scripts, json.loads(body))
        if turn.script is None or turn.mismatch:
            raise RunStopped(f"The scripted model was asked something no script expects: {turn.mismatch}")
        self._answered.add((turn.script, turn.step))
        asks = tuple(
            ToolAsk(id=turn.call_id(index), tool=call.tool, arguments=json.dumps(call.arguments))
            for index, call in enumerate(turn.calls, start=1)
        )
        usage = Usage(input_tokens=len(body) // 4, output_tokens=len(turn.text) // 4 + 10 * len(asks))
        return Answer(turn.text, asks, "tool_calls" if asks else "stop", NAME, usage)

    def leftovers(self) -> Sequence[str]:
        """Return `script step n` for every step that was never reached; a correct test leaves none."""
        return [f"{script} step {step}" for script, step in sorted(self._steps() - self._answered)]

    def _steps(self) -> set[tuple[str, int]]:
        return {(script.name, step) for script in self._scripts for step in range(1, len(script.steps) + 1)}


def scripted(*turns: str | Mapping[str, Mapping[str, object]]) -> ScriptedModel:
    """Return a model that answers with these turns in each conversation: a text, or calls as `{tool: arguments}`."""
    steps = [_step(turn) for turn in turns]
    return ScriptedModel([Script(NAME, tuple(steps))])


def _step(turn: str | Mapping[str, Mapping[str, object]]) -> Step:
    if isinstance(turn, str):
        return Step(turn, ())
    return Step("", tuple(ScriptedCall(tool, dict(arguments)) for tool, arguments in turn.items()))
