"""Every documented trigger condition in a real run, matching and not matching, compared with `gofer explain`."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gofer.app.embedded.server import serve
from gofer.app.event_input import way
from gofer.app.ingress import build_ingress
from gofer.check.explain import Explanation, explain
from gofer.journal.coordination import Head
from gofer.runtime.receive import Ingress
from gofer.sources.receiver import RawRequest
from gofer.sources.receivers import PATHS
from gofer.sources.webhook.jwt_bearer import JwtProof
from gofer.sources.workflow_files import load_catalog
from gofer.values.errors import ConfigError
from gofer.values.events import Event
from gofer.workflows.load import Catalog
from support.app.company import Company, company
from support.app.one_workflow import Echo
from support.runtime.worker_parts import FixedCatalog
from support.workflows import every_condition
from support.workflows.every_condition import ELSEWHERE, Act, Row, Scene, change, documented, issue, rows, written

pytestmark = pytest.mark.anyio
SOURCES = {path: source for source, path in PATHS.items()}
ROWS = rows()


@dataclass
class DeliveryEndpoint:
    """The one address that all systems deliver to; the workflow behind it changes from row to row."""

    ingress: Ingress | None = None
    deliveries: list[RawRequest] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]
        delivery = RawRequest(request.method, request.url.path, headers, await request.body())
        self.deliveries.append(delivery)
        assert self.ingress is not None
        reply = await self.ingress.receive(delivery)
        await Response(reply.body, reply.status)(scope, receive, send)


@dataclass
class Stage:
    """One company in which all rows are played."""

    made: Company
    endpoint: DeliveryEndpoint
    url: str
    folder: Path
    number: int = 0

    async def play(self, row: Row, acts: Sequence[Act], trigger: Mapping[str, object]) -> "Played":
        """Play acts with one workflow; return the runs of the last act and the explanations of its deliveries."""
        self.number += 1
        name = f"w{self.number}"
        catalog = self._catalog(name, row, trigger)
        embedded = self.made.embedded
        state = embedded.state
        self.endpoint.ingress = build_ingress(
            embedded.settings,
            catalog.routes(),
            state.stores,
            embedded.ingress.installation_key,
            embedded.ingress.outside,
            hooks=catalog.hooks,
            jwt=JwtProof,
        )
        described: list[tuple[str, bytes]] = []
        scene = Scene(
            self.made, self._call, self._firing(name, catalog, described), self._following(catalog, described)
        )
        before: set[str] = set()
        for act in acts:
            before = {head.run for head in await self._work(name, catalog)}
            self.endpoint.deliveries.clear()
            described.clear()
            await act(scene)
            await embedded.simulated.settled()
        heads = [head for head in await self._work(name, catalog) if head.run not in before]
        told = [one for delivery in self.endpoint.deliveries for one in self._explained(delivery, catalog)]
        told += [one for source, payload in described for one in explain("", payload, way(catalog, source))]
        return Played(name, heads, told)

    def _catalog(self, name: str, row: Row, trigger: Mapping[str, object]) -> Catalog:
        agents = self.folder / name / "agents"
        agents.mkdir(parents=True)
        (agents / f"{name}.yaml").write_text(f'description: d\nowner: "#helpers"\n{written(row, trigger)}')
        (agents / f"{name}.md").write_text("Help.")
        (agents / "defaults.yaml").write_text("models: {default: gpt-5.4-mini}\n")
        return load_catalog(agents)

    async def _work(self, name: str, catalog: Catalog) -> Sequence[Head]:
        """Continue the runs of the workflow to their end; return their heads."""
        worker = self.made.embedded.worker
        worker = replace(worker, services=replace(worker.services, model=Echo()), workflows=FixedCatalog(catalog))
        for head in await self._heads(name):
            if not head.ended:
                await worker.continue_run(head, "row")
        return await self._heads(name)

    async def _heads(self, name: str) -> Sequence[Head]:
        heads = await self.made.embedded.state.store.heads(1000, private=True)
        return [head for head in heads if head.workflow == name]

    async def _call(self, hook: str) -> None:
        (secret, *_) = self.made.embedded.settings.webhook_secrets[""]
        headers = {"authorization": f"Bearer {secret.reveal()}", "content-type": "application/json"}
        await self.made.http.post(f"{self.url}/hooks/{hook}", json={"id": self.number}, headers=headers)

    def _firing(
        self, name: str, catalog: Catalog, described: list[tuple[str, bytes]]
    ) -> Callable[[str], Awaitable[None]]:
        async def fire_schedule(time: str) -> None:
            event = _event_of(catalog, "schedule", {"workflow": name, "scheduled": time}, described)
            assert self.endpoint.ingress is not None
            if event is not None:
                await self.endpoint.ingress.start(event, name)

        return fire_schedule

    def _following(
        self, catalog: Catalog, described: list[tuple[str, bytes]]
    ) -> Callable[[Mapping[str, object]], Awaitable[None]]:
        async def follow(payload: Mapping[str, object]) -> None:
            event = _event_of(catalog, "runs", {**payload, "item": f"item{self.number}"}, described)
            assert self.endpoint.ingress is not None
            assert event is not None
            await self.endpoint.ingress.accept(event)

        return follow

    def _explained(self, delivery: RawRequest, catalog: Catalog) -> Sequence[Explanation]:
        hook = delivery.path.removeprefix("/hooks/")
        try:
            come_in = way(catalog, SOURCES.get(delivery.path, "webhook"), [*delivery.headers], hook)
        except ConfigError as error:
            return [Explanation("", error=str(error))]
        return list(explain("", delivery.body, come_in))


def _event_of(
    catalog: Catalog, source: str, payload: Mapping[str, object], described: list[tuple[str, bytes]]
) -> Event | None:
    """Return the event that a payload of a source describes, and note the payload for `gofer explain`."""
    body = json.dumps(payload).encode()
    described.append((source, body))
    come_in = way(catalog, source)
    event = come_in.receiver.translate(come_in.request(body))
    if isinstance(event, Event):
        return event
    return None


@dataclass(frozen=True)
class Played:
    """The runs of an act, and what `gofer explain` says of its deliveries."""

    workflow: str
    heads: Sequence[Head]
    told: Sequence[Explanation]

    @property
    def started(self) -> bool:
        """Return whether the workflow ran to its end and `gofer explain` names it."""
        return self.outcomes == {"done"} and self.named

    @property
    def ignored(self) -> bool:
        """Return whether the workflow did not run, and `gofer explain` agrees or says what decides it."""
        if not self.heads:
            return bool(self.told) and not self.named
        return self.outcomes == {"ignored"} and self.named and self.undecided

    @property
    def outcomes(self) -> set[str]:
        return {head.status for head in self.heads}

    @property
    def named(self) -> bool:
        return any(self.workflow in one.workflows for one in self.told)

    @property
    def undecided(self) -> bool:
        return any((one.decided or "").startswith("decided when") for one in self.told)


@asynccontextmanager
async def open_stage(folder: Path) -> AsyncIterator[Stage]:
    endpoint = DeliveryEndpoint()
    async with company(folder, work=False, world=every_condition.world()) as made, serve(endpoint) as url:
        made.embedded.simulated.subscribe(url)
        yield Stage(made, endpoint, url, folder)


def test_every_documented_trigger_condition_has_a_played_example() -> None:
    assert {row.name for row in ROWS} | set(ELSEWHERE) == documented()


async def test_each_trigger_condition_starts_the_workflow_only_when_the_event_matches(tmp_path: Path) -> None:
    wrong: list[str] = []
    async with open_stage(tmp_path) as stage:
        for row in ROWS:
            fulfilled = await stage.play(row, row.matching, row.trigger)
            if not fulfilled.started:
                wrong.append(f"{row.name} is fulfilled: {fulfilled}")
            missed = await stage.play(row, row.other, row.other_trigger or row.trigger)
            if not missed.ignored:
                wrong.append(f"{row.name} is not fulfilled: {missed}")
    assert not wrong, "\n".join(wrong)


async def test_condition_met_by_the_delivery_holds_when_the_issue_changes_before_the_run(tmp_path: Path) -> None:
    row = Row("jira.issue_created", "label", {"label": "urgent"}, [issue("PAY", "Bug", "urgent")], [])

    async def create_and_change(scene: Scene) -> None:
        await issue("PAY", "Bug", "urgent")(scene)
        await change(labels=())(scene)

    async with open_stage(tmp_path) as stage:
        played = await stage.play(row, [create_and_change], row.trigger)
    assert played.started
