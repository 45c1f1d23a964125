"""Plays of evals and goldens whose recorded answers come over HTTP, from a vendor that speaks one of the formats."""

import json
from dataclasses import dataclass, field, replace

from typing_extensions import override

from gofer.app.evals.answering import Asked
from gofer.app.evals.case_world import CaseWorld, GoldenWorld
from gofer.app.evals.golden_answers import GoldenAnswers
from gofer.app.evals.golden_world import GoldenInWorld
from gofer.app.evals.player import Player
from gofer.app.evals.repeatable import VirtualClock
from gofer.app.model_endpoints import ModelAccess, only
from gofer.evals.eval_file import Case
from gofer.evals.goldens.world_ids import WorldIds
from gofer.evals.load import LoadedEval
from gofer.evals.references import golden_path
from gofer.models.language_model import Answer, Model
from gofer.models.remote import RemoteEndpoint, remote_endpoint
from gofer.values.canonical_json import encode_text
from gofer.values.messages import Api
from support.models.refusing_vendor import Vendor


@dataclass(frozen=True)
class WiredModel(Model):
    """A remote model whose vendor gives the answer that is recorded for the neutral request."""

    recorded: Model
    remote: RemoteEndpoint
    vendor: Vendor
    thinks: bool
    """Whether thoughts come before each call. The neutral request holds them afterwards, so no hash finds it."""

    @override
    async def ask(self, body: bytes, timeout: float) -> Answer:
        answer = await self.recorded.ask(body, timeout)
        number = len(self.vendor.answers) + 1
        if self.thinks and answer.asks:
            asks = tuple(replace(ask, id=f"call_{number}_{at}") for at, ask in enumerate(answer.asks))
            answer = replace(answer, asks=asks, thoughts=f"Thought {number}: ½")
        traceparent = f"00-{number:032x}-{number:016x}-01"
        self.vendor.answers[traceparent] = answer
        heard = await self.remote.within(traceparent).ask(body, timeout)
        # A format may carry arguments as an object. The hash of the next request needs them as they are recorded.
        spelled = {canonical(ask.arguments): ask.arguments for ask in answer.asks}
        asks = tuple(replace(ask, arguments=spelled.get(ask.arguments, ask.arguments)) for ask in heard.asks)
        return replace(heard, asks=asks)


def canonical(arguments: str) -> str:
    """Return the arguments of a call in one spelling; unchanged if they are no JSON."""
    try:
        return encode_text(json.loads(arguments))
    except ValueError:
        return arguments


@dataclass(frozen=True)
class WiredPlayer(Player):
    """A player that asks its models over HTTP in one format."""

    vendor: Vendor = field(kw_only=True)
    base_url: str = field(kw_only=True)
    api: Api = field(kw_only=True)

    @override
    def _models(
        self,
        loaded: LoadedEval,
        case: Case,
        number: int,
        world: CaseWorld | GoldenWorld | GoldenInWorld,
        asked: Asked,
        clock: VirtualClock,
    ) -> ModelAccess:
        recorded = super()._models(loaded, case, number, world, asked, clock).default
        if isinstance(world, GoldenWorld):
            read = self.files.golden(self.book.folder / golden_path(case.golden))
            recorded = GoldenAnswers(read.turns, WorldIds({}), asked)
        remote = remote_endpoint(self.http, self.base_url, api=self.api)
        thinks = isinstance(recorded, GoldenAnswers) or self.playing.answers == "scripted"
        return only(WiredModel(recorded, remote, self.vendor, thinks and self.api != "chat_completions"))

    @override
    def _is_replayed(self, loaded: LoadedEval, case: Case) -> bool:
        # A golden without a world is played too: its recorded answers come over HTTP.
        return case.trigger is not None and super()._is_replayed(loaded, case)
