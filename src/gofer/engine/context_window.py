"""What does a model have in view: which window, how full, and how is room made in it?"""

from collections.abc import Callable
from dataclasses import replace

from gofer.engine import request_size
from gofer.engine.compaction import expected_tokens, make_room, room_of
from gofer.engine.gates import CALLS_PER_TURN, Stop
from gofer.engine.model_request import Window
from gofer.engine.own_step import OwnStep
from gofer.engine.request_size import Scale
from gofer.engine.results import Shown
from gofer.engine.working_step import WorkingStep
from gofer.journal.workspace_entries import Weights
from gofer.workflows.bundle import Bundle

TURN = 0.3
"""Share of the window that the results of one turn may take, together."""
SPARE = 0.1
"""Share of what the model takes that they leave over, for the tail and an answer."""
LEAST_WHOLE = 100
"""Tokens of each that are shown whatever their number."""


class View:
    """The window of one run, and the scale on which its requests are weighed."""

    def __init__(self, bundle: Bundle) -> None:
        self.window = Window(bundle)
        self._scale = Scale(bundle.loaded.system, bundle.tools)

    async def make_room(self, step: WorkingStep, bundle: Bundle, tail: str, timeout: float) -> Stop | None:
        """See compaction.make_room; the next request would end with `tail`."""
        weight = self._scale.weigh(step.own.conversation, tail)
        return await make_room(step, bundle, self.window, self._scale, weight, timeout)

    def share(self, step: WorkingStep, bundle: Bundle) -> Shown:
        """How much of each result of a turn is shown, so that all of them together leave room."""
        # Of all of them, whichever have an outcome already: another owner shows as much as the one before.
        own = step.own
        calls = min(len(own.conversation.asks), CALLS_PER_TURN)
        files = bundle.loaded.workflow.files
        room = room_of(own.services, bundle.loaded)
        expected = expected_tokens(own, bundle, self._scale.weigh(own.conversation))
        share = int(min(TURN * room.window, (1 - SPARE) * room.most - expected)) // max(1, calls)
        most = max(share, LEAST_WHOLE)
        whole = min(files.whole_tokens, most)
        preview = min(files.preview_tokens, whole // 2)
        look = request_size.left(own.conversation, calls)
        return replace(step.shown, whole=whole, preview=preview, most=most, look=look)

    def told(self, step: OwnStep, bundle: Bundle) -> str:
        """How full the window is, for the model."""
        tokens = expected_tokens(step, bundle, self._scale.weigh(step.conversation))
        return f"This conversation has about {tokens} tokens of {room_of(step.services, bundle.loaded).window}."

    def weigher(self, step: OwnStep, bundle: Bundle, tail: str) -> Callable[[str], Weights]:
        """The estimates of the next request, by the name of the model that is asked."""
        weight = self._scale.weigh(step.conversation, tail)
        room = room_of(step.services, bundle.loaded)

        def weigh(model: str) -> Weights:
            return Weights(weight.roles, weight.kinds, room.window, step.account.predict(model, weight.kinds))

        return weigh
