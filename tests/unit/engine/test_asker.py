"""The audience of a workflow, for people of every kind and people whom Slack does not show."""

from dataclasses import replace
from itertools import chain, combinations

import pytest

from gofer.engine.asker import may_start
from gofer.engine.own_step import OwnStep
from gofer.engine.owned_run import Deadline
from gofer.journal.log import Pen, open_journal
from gofer.runtime.run_reports import Ended, Observers
from gofer.sources.part_values import Person
from gofer.workflows.form_parts import GROUPS
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults
from support.engine.memory_run import PROVENANCE, says
from support.runtime.memory_worker import MemoryWorker, memory_worker
from support.runtime.worker_parts import FixedCatalog, catalog_of

pytestmark = pytest.mark.anyio


def worker_for(who: tuple[str, ...], **about: str) -> MemoryWorker:
    """Return a worker whose workflow has an audience. `about` is the Slack profile of the person who asks."""
    made = memory_worker(says("Hello."))
    for name, value in about.items():
        setattr(made, name, value)
    loaded = catalog_of(made.worker).workflows["answer-here"]
    workflow = loaded.workflow.model_copy(update={"who": who})
    made.worker = replace(
        made.worker, workflows=FixedCatalog(Catalog({"answer-here": replace(loaded, workflow=workflow)}, Defaults()))
    )
    return made


@pytest.mark.parametrize(
    ("who", "about", "status"),
    [
        (("members",), {"kind": "member"}, "done"),
        (("members",), {"kind": "guest"}, "ignored"),
        (("everyone",), {"kind": "external"}, "done"),
        (("everyone",), {"kind": "bot"}, "ignored"),
        (("members", "bots"), {"kind": "bot"}, "done"),
        # A person whom Slack does not show counts as external.
        (("members", "guests"), {"unknown": "user_not_found"}, "ignored"),
        (("members", "guests"), {"unknown": "user_not_visible"}, "ignored"),
        (("externals",), {"unknown": "user_not_found"}, "done"),
        # A person who cannot be looked up is refused.
        (("everyone",), {"unknown": "missing_scope"}, "failed"),
        (("@ada",), {"kind": "guest"}, "done"),
        (("U0NEWCO0",), {"kind": "external"}, "done"),
        (("U0OTHER0",), {"kind": "member"}, "ignored"),
    ],
)
async def test_slack_profile_decides_whether_a_person_may_start_the_workflow(
    who: tuple[str, ...], about: dict[str, str], status: str
) -> None:
    made = worker_for(who, **about)
    await made.accept("run1")
    await made.work_once()
    assert await made.status("run1") == status
    assert ("Hello." in made.posted) == (status == "done")
    # A refused person reads one line. A bot or an unknown person reads none.
    assert len(made.ephemeral) == (status == "ignored" and about.get("kind") != "bot")


async def test_refused_person_reads_the_audience_of_the_workflow_without_ids() -> None:
    made = worker_for(("U0OTHER0", "guests", "externals"), kind="member")
    await made.accept("run1")
    await made.work_once()
    told = "Sorry, answer-here is for people named in its file, guests and people of other companies."
    assert made.ephemeral == [f"{told} #o can tell you more."]


@pytest.mark.parametrize(
    ("kind", "person"),
    [("external", "a person from outside this workspace"), ("guest", "a guest")],
)
async def test_ignored_run_names_the_kind_of_the_refused_person_to_the_operator(kind: str, person: str) -> None:
    made = worker_for(("members",), kind=kind)
    reports: list[Ended] = []
    made.worker = replace(made.worker, observers=Observers(reports.append))
    await made.accept("run1")
    await made.work_once()
    (ended,) = reports
    assert ended.progress is not None
    assert ended.progress.finished is not None
    reason = f"{person} started it; the workflow is for members of this workspace"
    assert ended.progress.finished.reason == reason


@pytest.mark.parametrize("kind", ["member", "guest", "external", "customer", "bot", "anonymous"])
async def test_only_bots_and_anonymous_let_apps_and_events_without_a_person_start_a_workflow(kind: str) -> None:
    made = worker_for(("members",))
    await made.accept("run1")
    pen = Pen("next", made.worker.services.outside)
    journal, entries = await open_journal("run1", made.store, made.blobs, pen)
    step = OwnStep(journal, made.worker.services, entries, Deadline(made.clock))
    loaded = catalog_of(made.worker).workflows["answer-here"]
    for who in chain.from_iterable(combinations(GROUPS, size) for size in range(1, len(GROUPS) + 1)):
        named = replace(loaded, workflow=loaded.workflow.model_copy(update={"who": who}))
        names = {kind, f"{kind}s", *(["externals"] if kind == "customer" else [])}
        welcome = bool(names & {*who}) or ("everyone" in who and kind not in ("bot", "anonymous"))
        assert await may_start(step, Person("U1", kind), named, PROVENANCE) == welcome, who
