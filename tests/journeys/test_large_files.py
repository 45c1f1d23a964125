"""Files far larger than any window, attached in Slack and answered from the few passages that matter."""

import json
import random
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gofer_simulators.slack.workspace import Message
from support.app.company import Company, company
from support.app.one_workflow import CAPTAIN, DEPLOYS, texts, world
from support.documents.made_by_hand import lines, pdf
from support.models.deciding_provider import Provider, Said, Sent, deciding

pytestmark = pytest.mark.anyio
WORDS = ["shore", "ledger", "copper", "harvest", "signal", "lantern", "orchard", "travel", "margin", "quarry"]


@asynccontextmanager
async def gofer(
    folder: Path, decide: Callable[[Sent], Said], more: str = ""
) -> AsyncIterator[tuple[Company, Provider]]:
    """Run Gofer with one workflow of defaults and some more lines, and a model behind an endpoint."""
    agents = folder / "repository" / "agents"
    agents.mkdir(parents=True)
    (agents / "w.yaml").write_text(f'description: d\nowner: "#helpers"\nwhen: [slack.mention]\n{more}\n')
    (agents / "w.md").write_text("Help.")
    (agents / "defaults.yaml").write_text("models: {default: gpt-5.4-mini}\n")
    async with (
        deciding(decide) as (model, url),
        company(folder, root=folder / "repository", world=world(), OPENAI_BASE_URL=url) as made,
    ):
        yield made, model


async def share(made: Company, files: Mapping[str, tuple[bytes, str]], question: str) -> Message:
    """Share files in one thread as a colleague, with the question at the last one."""
    thread: Message | None = None
    for number, (name, (content, media_type)) in enumerate(files.items(), 1):
        text = f"<@U0GOFER0> {question}" if number == len(files) else ""
        thread_ts = thread.ts if thread else None
        said = await made.slack.upload(CAPTAIN, DEPLOYS, name, content, text, thread_ts, media_type)
        thread = thread or said
    assert thread is not None
    return thread


def handbook() -> Sequence[Sequence[str]]:
    """Return the lines of 200 pages of prose, one of which says how long a refund takes."""
    chance = random.Random(7)
    pages = [[" ".join(chance.choices(WORDS, k=10)) for _ in range(40)] for _ in range(200)]
    pages[136][20] = "A refund above 500 EUR is approved by the head of support within 3 working days."
    return pages


def from_one_page(sent: Sent) -> Said:
    """Extract the document, search for the word, read around it, answer with the page."""
    match sent.turns:
        case 0:
            return [("extract_file", {"file": sent.files["handbook.pdf"]})]
        case 1:
            return [("file_regex", {"file": sent.files["handbook.pdf.txt"], "pattern": "refund above", "context": 0})]
        case 2:
            found = re.search(r"(\d+): ?A refund above", sent.results[-1])
            assert found, sent.results[-1]
            at = int(found[1])
            return [("file_read", {"file": sent.files["handbook.pdf.txt"], "start_line": at - 25, "end_line": at + 5})]
        case _:
            page = re.findall(r"\[page (\d+) of 200\]", sent.results[-1])[0]
            days = re.findall(r"within (\d+) working days", sent.results[-1])[0]
            return f"{days} working days; the head of support approves it (page {page})."


@pytest.mark.parametrize("compress", [True, False])
async def test_question_about_a_200_page_pdf_is_answered_from_one_page(tmp_path: Path, compress: bool) -> None:
    pages = handbook()
    content = pdf([lines(page) for page in pages], compress=compress)
    async with gofer(tmp_path, from_one_page) as (made, model):
        asked = await share(made, {"handbook.pdf": (content, "application/pdf")}, "how long does a refund take?")
        (head,) = await made.ended()
        assert (head.status, texts(made.answers(asked))) == (
            "done",
            ["3 working days; the head of support approves it (page 137)."],
        )
    # The model was sent 29 of 8,000 lines, and the tail lists which were read.
    assert len(model.sent) == 4
    assert max(len(sent.body) for sent in model.sent) < 25_000
    seen = [sum(line in sent.body.decode() for page in pages for line in page) for sent in model.sent]
    assert seen == [0, 0, 1, 29]
    assert re.search(r'"handbook.pdf": application/pdf, [\d.]+ kB, from Slack, not read', model.sent[0].tail)
    assert re.search(r'"handbook.pdf.txt": .*, read: lines \d+ to \d+; searched 1 times', model.sent[-1].tail)


EXPERIMENTS = 10


def experiment(number: int) -> tuple[bytes, float]:
    """Return a log of 2 MB, and the mean accuracy of its runs that did not diverge."""
    chance = random.Random(number)
    runs = [
        {
            "seed": seed,
            "diverged": chance.random() < 0.1,
            "accuracy": chance.randrange(700_000 + number % 7 * 9_000, 950_000) / 1_000_000,
            "losses": [chance.randrange(10**6) / 10**6 for _ in range(180)],
        }
        for seed in range(1_200)
    ]
    good = [run["accuracy"] for run in runs if not run["diverged"]]
    content = json.dumps({"experiment": f"e-{number}", "config": {"rate": number / 100}, "runs": runs})
    return content.encode(), sum(good) / len(good)


MEAN = "{name: .experiment, mean: ([.runs[] | select(.diverged | not) | .accuracy] | add / length)}"


def by_query(sent: Sent) -> Said:
    """Run the same query on every file at once, and name the best."""
    if not sent.turns:
        return [("jq", {"file": file, "program": MEAN}) for name, file in sent.files.items() if name.endswith(".json")]
    means = {one["name"]: one["mean"] for one in map(json.loads, sent.results)}
    best = max(means, key=lambda name: means[name])
    return f"{best} is best of {len(means)}, with {means[best]:.4f} on average."


async def test_ten_json_files_of_2_mb_are_compared_by_queries(tmp_path: Path) -> None:
    made_up = {f"e-{number}.json": experiment(number) for number in range(EXPERIMENTS)}
    assert all(len(content) > 2_000_000 for content, _ in made_up.values())
    name, (_, mean) = max(made_up.items(), key=lambda item: item[1][1])
    async with gofer(tmp_path, by_query) as (made, model):
        files = {name: (content, "application/json") for name, (content, _) in made_up.items()}
        asked = await share(made, files, "which experiment did best?")
        (head,) = await made.ended()
        best = f"{name.removesuffix('.json')} is best of {EXPERIMENTS}, with {mean:.4f} on average."
        assert (head.status, texts(made.answers(asked))) == ("done", [best])
    # Less than a thousandth of the 20 MB was sent, and no run of any experiment.
    assert len(model.sent) == 2
    assert max(len(sent.body) for sent in model.sent) < 25_000
    assert not any("losses" in sent.body.decode() for sent in model.sent)


def from_lines(sent: Sent) -> Said:
    """Search for the word, and answer with its line."""
    if not sent.turns:
        return [("file_regex", {"file": sent.files["app.log"], "pattern": "refused", "context": 0})]
    (line,) = re.findall(r"(\d+): ?.* refused", sent.results[-1])
    return f"It was refused in line {line}."


async def test_text_larger_than_a_small_window_is_searched_instead_of_quoted(tmp_path: Path) -> None:
    """100 kB are within preload_kb, and more than 16,000 tokens."""
    log = [f"{number:05d} request {number * 7919 % 10_007} was answered" for number in range(3_000)]
    log[1_230] = "01230 request 77 was refused"
    async with gofer(tmp_path, from_lines, "context: {window: 16000}\nmodel: of-some-other-provider") as (made, model):
        asked = await share(made, {"app.log": ("\n".join(log).encode(), "text/plain")}, "what went wrong?")
        (head,) = await made.ended()
        assert (head.status, texts(made.answers(asked))) == ("done", ["It was refused in line 1231."])
    assert max(len(sent.body) // 4 for sent in model.sent) < 16_000
    assert '"app.log": text/plain, 95.7 kB, from Slack, not read' in model.sent[0].tail
