"""The page of one run: its words, escaped, folded and bounded."""

import re
from html import unescape

import pytest

from gofer.app.pages import run_page
from gofer.tools.definition import Call, ToolResult
from gofer.workflows.schema import Limits
from support.app.read_runs import pages_of, record_of
from support.engine.memory_run import MemoryRun, Said, memory_run, says

pytestmark = pytest.mark.anyio
SCRIPT = "<script>alert('1')</script><img src=x onerror=alert(1)>"
MOST = 2_000_000


async def looked(*texts: str, result: str = "") -> MemoryRun:
    """Return a run that called a tool with each text, and then answered."""
    made = memory_run(*(says(f"I look for {text}", ("look", {"text": text})) for text in texts), says("All found."))
    made.limits = Limits(llm_calls=500, tool_calls=500, tokens=100_000_000)

    async def act(call: Call, said: Said) -> ToolResult:
        return ToolResult(f"{said.text}: {result}", "looked")

    made.tool("look", "read", act)
    await made.run()
    return made


async def test_page_shows_the_prompt_the_words_the_calls_and_the_results() -> None:
    made = await looked("a", result="nothing there")
    async with pages_of(made) as client:
        page = unescape((await client.get("/runs/run1")).text)
    for words in (
        "hello",
        "You are a test.",
        "please",
        "I look for a",
        '{"text": "a"}',
        "a: nothing there",
        "All found.",
    ):
        assert words in page, words


async def test_page_escapes_every_text_and_runs_no_scripts() -> None:
    made = await looked(SCRIPT, result=SCRIPT)
    async with pages_of(made) as client:
        page = (await client.get("/runs/run1")).text
    assert SCRIPT not in page
    assert "<script" not in page
    assert "<img" not in page
    assert page.count("&lt;script&gt;") >= 3


async def test_page_of_a_run_with_200_calls_is_small_and_leads_to_the_rest() -> None:
    made = await looked(*(f"text {number}" for number in range(200)), result="ä & <b> " * 2_000)
    record = await record_of(made)
    page = run_page.body(record)
    assert len(page.encode()) < MOST
    assert '<li id="s1"' in page
    (after,) = re.findall(r"/runs/run1/trace\?after=(\d+)", page) or ["0"]
    assert int(after) == 0 or int(after) < len(record.steps())


async def test_message_that_an_earlier_step_shows_is_a_link_to_that_step() -> None:
    record = await record_of(await looked("a", result="a result that is long enough to be named by its step"))
    page = run_page.body(record)
    (result,) = [step for step in record.steps() if step.kind == "tool.result" and step.tool == "look"]
    assert f'sent as tool: <a href="#s{result.step}">step {result.step}</a>' in page


async def test_every_link_of_the_page_to_a_step_has_its_step() -> None:
    page = run_page.body(await record_of(await looked("a", "b", result="long enough " * 9)))
    ids = set(re.findall(r'id="(s\d+)"', page))
    assert set(re.findall(r'href="#(s\d+)"', page)) <= ids
