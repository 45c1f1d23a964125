"""The file tools of a run on documents, JSON and images, read in limited child processes."""

import base64
import io
import json
import re
from collections.abc import Iterator

import pytest
from PIL import Image

from gofer.engine.tail import tail
from gofer.files.child import Children
from gofer.files.completeness import incomplete
from gofer.files.sandbox.python import sandbox
from gofer.projections.requests.request_parts import RequestWeights
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call, NewFile
from gofer.tools.definition import ToolResult as Result
from gofer.tools.files.tools import TOOLS as FILE_TOOLS
from gofer.tools.python import TOOLS as PYTHON_TOOLS
from gofer.tools.python import PythonClient
from gofer.workflows.schema import Limits
from support.documents.made_by_hand import docx, lines, noise, paragraph, pdf
from support.engine.memory_run import MemoryRun, Said
from support.engine.memory_run import memory_run as empty_run
from support.engine.run_files import ask

pytestmark = pytest.mark.anyio
RUNS = [{"name": f"run {n}", "loss": n / 7, "id": 12345678901234567890 + n} for n in range(500)]


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    made = Children()
    yield made
    made.close()


@pytest.fixture(scope="module")
def python() -> Iterator[Children]:
    made = sandbox()
    yield made
    made.close()


def memory_run(children: Children, *files: NewFile) -> MemoryRun:
    made = empty_run()

    async def find(call: Call, said: Said) -> Result:
        return Result("found", "found", files=files)

    made.tool("find", "read", find)
    made.tools |= {tool.name: tool for tool in bind_all(FILE_TOOLS, children)}
    return made


def file(name: str, media_type: str, content: bytes) -> NewFile:
    return NewFile(name, media_type, content, "Slack")


async def test_extract_file_stores_a_long_document_as_a_text_searchable_by_page(children: Children) -> None:
    pages = [f"Page {n} is about {'refunds' if n == 137 else 'other things'}." for n in range(1, 201)]
    report = file("report.pdf", "application/pdf", pdf([lines([page]) for page in pages]))
    made = memory_run(children, report)
    step = await made.step()
    await ask(step, "1.0", "find")
    told = await ask(step, "1.1", "extract_file", file=report.id)
    text = next(name for name in step.workspace.files if name.startswith("text_"))
    assert text in told.text
    assert "Page 137" not in told.text
    found = await ask(step, "1.2", "file_regex", file=text, pattern="refunds")
    assert "Page 137 is about refunds." in found.text
    assert found.summary == "1 matching lines"
    assert step.workspace.files[text].searches == 1


async def test_extract_file_shows_a_short_document_whole(children: Children) -> None:
    note = file("note.docx", "application/octet-stream", docx(paragraph("Meet at nine.")))
    made = memory_run(children, note)
    step = await made.step()
    await ask(step, "1.0", "find")
    assert "Meet at nine." in (await ask(step, "1.1", "extract_file", file=note.id)).text


async def test_extract_file_refuses_a_damaged_document_in_one_line(children: Children) -> None:
    broken = file("broken.pdf", "application/pdf", b"%PDF-1.7\nnothing more")
    made = memory_run(children, broken)
    step = await made.step()
    await ask(step, "1.0", "find")
    refused = await ask(step, "1.1", "extract_file", file=broken.id)
    assert refused.status == "error"
    assert "Traceback" not in refused.text
    assert "\n" not in refused.text


async def test_jq_and_grep_json_return_values_without_the_whole_file(children: Children) -> None:
    data = file("runs.json", "application/json", json.dumps(RUNS).encode())
    made = memory_run(children, data)
    step = await made.step()
    await ask(step, "1.0", "find")
    best = await ask(step, "1.1", "jq", file=data.id, program="max_by(.loss) | {name, id}")
    assert json.loads(best.text) == {"name": "run 499", "id": 12345678901234567890 + 499}
    paths = await ask(step, "1.2", "grep_json", file=data.id, pattern="^run 42$")
    assert "run 42" in paths.text
    assert "[42]" in paths.text
    assert "To narrow it" in (await ask(step, "1.3", "jq", file=data.id, program=".")).text


async def test_jq_refuses_programs_that_read_the_environment_inputs_or_modules(children: Children) -> None:
    data = file("runs.json", "application/json", b"[1]")
    made = memory_run(children, data)
    step = await made.step()
    await ask(step, "1.0", "find")
    for number, program in enumerate(["env", "$ENV", "input", 'import "x" as x; 1']):
        assert (await ask(step, f"2.{number}", "jq", file=data.id, program=program)).status == "error"


async def test_load_file_scales_an_image_to_the_largest_size_a_model_takes(children: Children) -> None:
    drawn = io.BytesIO()
    Image.new("RGB", (4_000, 3_000), "white").save(drawn, "PNG")
    picture = file("screen.png", "image/png", drawn.getvalue())
    made = memory_run(children, picture)
    step = await made.step()
    await ask(step, "1.0", "find")
    assert (await ask(step, "1.1", "load_file", file=picture.id)).status == "ok"
    *_, seen = step.conversation.parts
    url = json.loads(seen)["content"][1]["image_url"]["url"]
    looked_at = Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
    assert max(looked_at.size) <= 2_576


@pytest.mark.parametrize(
    ("count", "told"), [(10, "follows"), (11, "has 11 pages, and at most 10 can be looked at whole; use extract_file")]
)
async def test_load_file_takes_a_pdf_of_ten_pages_and_refuses_eleven(children: Children, count: int, told: str) -> None:
    deck = file("deck.pdf", "application/pdf", pdf([lines(["A slide."])] * count))
    made = memory_run(children, deck)
    step = await made.step()
    await ask(step, "1.0", "find")
    assert told in (await ask(step, "1.1", "load_file", file=deck.id)).text


async def test_load_file_shows_a_long_scan_in_ranges_of_ten_pages(children: Children) -> None:
    scan = b"q 612 0 0 792 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x00 EI Q"
    deck = file("scan.pdf", "application/pdf", pdf([scan] * 34))
    made = memory_run(children, deck)
    step = await made.step()
    await ask(step, "1.0", "find")
    refused = await ask(step, "1.1", "load_file", file=deck.id)
    assert f'load_file(file="{deck.id}", first_page=1, last_page=10)' in refused.text
    text = await ask(step, "1.2", "extract_file", file=deck.id)
    assert f'load_file(file="{deck.id}", first_page=1, last_page=10), and the other pages in the same way.' in text.text
    shown = await ask(step, "1.3", "load_file", file=deck.id, first_page=5)
    assert "next come, as images, pages 5 to 14 of 34." in shown.text
    assert shown.text.endswith(f'Go on with load_file(file="{deck.id}", first_page=15).')
    *_, seen = step.conversation.parts
    assert len([part for part in json.loads(seen)["content"] if part["type"] == "image_url"]) == 10
    last = await ask(step, "1.4", "load_file", file=deck.id, first_page=30, last_page=99)
    assert last.text.endswith("next come, as images, pages 30 to 34 of 34.")
    assert "read: pages 5 to 14 as images, pages 30 to 34 as images" in tail(step.progress, step.workspace, Limits())


async def test_resumed_run_uses_the_recorded_text_of_extract_file(children: Children) -> None:
    report = file("report.pdf", "application/pdf", pdf([lines([f"Page {n} of the report"]) for n in range(1, 200)]))
    made = memory_run(children, report)
    step = await made.step()
    await ask(step, "1.0", "find")
    told = await ask(step, "1.1", "extract_file", file=report.id, last_page=150)
    await step.commit()
    closed = Children()
    closed.close()
    made.tools |= {tool.name: tool for tool in bind_all(FILE_TOOLS, closed)}
    again = await made.step("another owner")
    assert await ask(again, "1.1", "extract_file", file=report.id, last_page=150) == told
    text = next(file for file in again.workspace.files if file.startswith("text_"))
    found = await ask(again, "1.2", "file_regex", file=text, pattern="Page 150")
    assert "Page 150 of the report" in found.text
    assert "Missing: pages 151 to 199, because only a part was asked for" in found.text


async def test_load_file_shows_ten_scanned_pages_in_one_call(children: Children) -> None:
    deck = file("scan.pdf", "application/pdf", noise(12))
    made = memory_run(children, deck)
    step = await made.step()
    await ask(step, "1.0", "find")
    shown = await ask(step, "1.1", "load_file", file=deck.id, last_page=10)
    assert shown.text.endswith("next come, as images, pages 1 to 10 of 12.")
    *_, seen = step.conversation.parts
    assert len([part for part in json.loads(seen)["content"] if part["type"] == "image_url"]) == 10


async def test_load_file_shows_the_intact_pages_of_a_damaged_pdf(children: Children) -> None:
    deck = file("deck.pdf", "application/pdf", pdf([lines(["x"])] * 2).replace(b"11 0 R]", b"99 0 R]"))
    made = memory_run(children, deck)
    step = await made.step()
    await ask(step, "1.0", "find")
    shown = await ask(step, "1.1", "load_file", file=deck.id, first_page=1)
    assert "Not shown, because damaged: page 2; ask for the file to be sent again." in shown.text


async def test_file_tools_each_name_the_missing_parts_of_an_incomplete_text(
    children: Children, python: Children
) -> None:
    content = "\n".join(["id,name", *(f"{n},{'x' * 190}" for n in range(2, 110_001))]).encode()
    table = file("big.csv", "text/csv", content)
    made = memory_run(children, table)
    made.tools |= {tool.name: tool for tool in bind_all(PYTHON_TOOLS, PythonClient(python))}
    step = await made.step()
    await ask(step, "1.0", "find")
    told = await ask(step, "1.1", "extract_file", file=table.id)
    text = next(name for name in step.workspace.files if name.startswith("text_"))
    said = incomplete(step.workspace.files[text].added.missing, text)
    assert re.search(rf'get it with extract_file\(file="{table.id}", first_row=\d+\)\.$', said)
    answers = [
        told,
        await ask(step, "1.2", "file_regex", file=text, pattern="109999"),
        await ask(step, "1.3", "file_read", file=text, start_line=1, end_line=2),
        await ask(step, "1.4", "peek_file", file=text, start=0, stop=20),
        await ask(step, "1.5", "python", code="1", files=[text]),
        await ask(step, "1.6", "python", code="1", files=[text], output_file="sum.txt"),
    ]
    assert "No line matches." in answers[1].text
    assert [said in answer.text for answer in answers] == [True] * 6
    ends = tail(step.progress, step.workspace, Limits())
    assert ends.count("It is incomplete. Missing: rows ") == 2


async def test_file_regex_refuses_look_around_with_a_hint(children: Children) -> None:
    text = file("log.txt", "text/plain", b"a\nb\n")
    made = memory_run(children, text)
    step = await made.step()
    await ask(step, "1.0", "find")
    refused = await ask(step, "1.1", "file_regex", file=text.id, pattern="(?<=a)b")
    assert refused.status == "error"
    assert "Look-around is not supported" in refused.text


async def test_loaded_pdf_counts_the_tokens_of_each_page(children: Children) -> None:
    deck = file("deck.pdf", "application/pdf", pdf([lines([f"Page {n}"]) for n in range(1, 8)]))
    made = memory_run(children, deck)
    step = await made.step()
    await ask(step, "1.0", "find")
    assert (await ask(step, "1.1", "load_file", file=deck.id)).status == "ok"
    (seen,) = step.conversation.parts
    assert json.loads(seen)["content"][1]["file"]["filename"] == f"{deck.id} (7 pages).pdf"
    assert RequestWeights("", ()).parts(step.conversation)[0] > 7 * 1_000


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"%PDF-1.7 torn", "damaged or cut off"),
        (pdf([lines(["x"])]).removesuffix(b"%%EOF\n"), "cut off before its end mark"),
        (pdf([lines(["x"])]).replace(b"startxref\n", b"startxref\n9"), "its index of objects is not where it says"),
        (pdf([lines(["x"])] * 2).replace(b"11 0 R]", b"99 0 R]"), "The PDF is damaged, at page 2."),
        (pdf([lines([f"Page {n}"]) for n in range(200)]), "200 pages"),
        (b"<html><body>Sign in</body></html>", "Sign in"),
    ],
    ids=["damaged", "cut off", "no index", "damaged page", "many pages", "no PDF at all"],
)
async def test_load_file_keeps_a_document_the_provider_would_refuse_out_of_the_request(
    children: Children, content: bytes, said: str
) -> None:
    deck = file("deck.pdf", "application/pdf", content)
    made = memory_run(children, deck)
    step = await made.step()
    await ask(step, "1.0", "find")
    assert said in (await ask(step, "1.1", "load_file", file=deck.id)).text
    assert step.conversation.parts == []


async def test_load_file_recognizes_an_image_without_a_media_type(children: Children) -> None:
    drawn = io.BytesIO()
    Image.new("RGB", (40, 30), "white").save(drawn, "PNG")
    picture = file("screen", "", drawn.getvalue())
    made = memory_run(children, picture)
    step = await made.step()
    await ask(step, "1.0", "find")
    assert (await ask(step, "1.1", "load_file", file=picture.id)).status == "ok"
    assert b"image_url" in step.conversation.parts[-1]
