"""The tools of a company: which modules are loaded, which variables they receive, and which errors are reported."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from gofer.app.settings import read_settings
from gofer.app.toolbox import build_tools, unset
from gofer.tools.company import load_company, unusable_tools
from gofer.tools.contained import Misbehaved
from gofer.tools.definition import Call, Provenance
from gofer.values.errors import ToolError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret
from support.tools.calls import any_call

ONCALL = """
from gofer.tool import Arguments, Call, Place, ToolResult, tool
from tools.pager import reach


class Page(Arguments):
    team: str


def team(origin, arguments: Page) -> Place:
    return Place("oncall", "other", arguments.team)


@tool(effect="keyed", place=team, secrets=("PAGER_TOKEN",), settings=("PAGER_URL",))
async def oncall_page(call: Call, arguments: Page) -> ToolResult:
    \"\"\"Page a team.\"\"\"
    return await reach(call, arguments.team)
"""
PAGER = """
from gofer.tool import Call, HttpRequest, ToolResult


async def reach(call: Call, team: str) -> ToolResult:
    headers = {"Authorization": f"Bearer {call.secret('PAGER_TOKEN').reveal()}"}
    await call.http.send(HttpRequest("POST", f"{call.setting('PAGER_URL')}/{team}", headers, b""))
    return ToolResult("Paged.", "paged")
"""


class Sent:
    def __init__(self) -> None:
        self.requests: list[HttpRequest] = []

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.requests.append(request)
        return HttpResponse(200, {}, b"{}")


def call_over(http: Sent) -> Call:
    return any_call(http, key="run1/1.0", provenance=Provenance("w", "", "run1", None))


def company(folder: Path, **modules: str) -> Path:
    (folder / "tools").mkdir()
    for name, text in modules.items():
        (folder / "tools" / f"{name}.py").write_text(text)
    return folder


def test_company_folder_without_tools_loads_none(tmp_path: Path) -> None:
    assert load_company(tmp_path) == []


def test_company_tool_receives_the_declared_variables(tmp_path: Path) -> None:
    loaded = load_company(company(tmp_path, oncall=ONCALL, pager=PAGER))
    assert [(tool.name, tool.file) for tool in loaded] == [("oncall_page", "tools/oncall.py")]
    settings = read_settings({"PAGER_TOKEN": "letmein", "PAGER_URL": "http://localhost:1", "OTHER": "stays"})
    tool = build_tools(settings, company=loaded)["oncall_page"]
    http = Sent()
    arguments = tool.parse({"team": "payments"})
    assert asyncio.run(tool.act(call_over(http), arguments)).text == "Paged."
    assert (http.requests[0].url, http.requests[0].headers["Authorization"]) == (
        "http://localhost:1/payments",
        "Bearer letmein",
    )
    assert tool.target.system == "oncall"


def test_company_tool_refuses_the_call_and_names_the_unset_variable(tmp_path: Path) -> None:
    loaded = load_company(company(tmp_path, oncall=ONCALL, pager=PAGER))
    settings = read_settings({"PAGER_URL": "http://localhost:1"})
    tool = build_tools(settings, company=loaded)["oncall_page"]
    http = Sent()
    with pytest.raises(ToolError, match="PAGER_TOKEN is not set"):
        asyncio.run(tool.act(call_over(http), tool.parse({"team": "payments"})))
    assert http.requests == []
    assert unset(loaded, settings) == {"PAGER_TOKEN": ["oncall_page"]}


def test_company_tool_receives_no_undeclared_variable(tmp_path: Path) -> None:
    loaded = load_company(company(tmp_path, oncall=ONCALL, pager=PAGER.replace("PAGER_TOKEN", "SLACK_BOT_TOKEN")))
    settings = read_settings({"PAGER_TOKEN": "letmein", "SLACK_BOT_TOKEN": "xoxb-1", "PAGER_URL": "http://localhost"})
    tool = build_tools(settings, company=loaded)["oncall_page"]
    with pytest.raises(KeyError, match="SLACK_BOT_TOKEN"):
        asyncio.run(tool.act(call_over(Sent()), tool.parse({"team": "payments"})))


def test_settings_and_calls_do_not_print_secrets_of_the_environment() -> None:
    assert "letmein" not in repr(read_settings({"PAGER_TOKEN": "letmein"}))
    call = replace(call_over(Sent()), variables={"PAGER_TOKEN": Secret("letmein")})
    assert call.secret("PAGER_TOKEN").reveal() == "letmein"
    assert "letmein" not in repr(call)


def test_each_load_of_company_tools_imports_new_modules(tmp_path: Path) -> None:
    root = company(tmp_path, oncall=ONCALL, pager=PAGER)
    (first,) = load_company(root)
    (second,) = load_company(root)
    assert first.declared is not second.declared


OTHER = """
from gofer.tool import Arguments, Call, ToolResult, tool


class Nothing(Arguments):
    pass


@tool(effect="read")
async def weather_today(call: Call, arguments: Nothing) -> ToolResult:
    \"\"\"Look up the weather.\"\"\"
    return ToolResult("Rain.", "rain")
"""


@pytest.mark.parametrize(
    ("pager", "reason"),
    [
        ("\nlimit = 1 / 0\n", "tools/pager.py:2: ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit(3)\n", "tools/pager.py:2: SystemExit: 3"),
        ("\n\ndef reach(:\n", "tools/pager.py:3: SyntaxError: invalid syntax (pager.py, line 3)"),
        ("import crm_client\n", "tools/pager.py:1: ModuleNotFoundError: No module named 'crm_client'"),
        ("import asyncio\nraise asyncio.CancelledError\n", "tools/pager.py:2: CancelledError: "),
        ("raise KeyboardInterrupt\n", "tools/pager.py:1: KeyboardInterrupt: "),
        ("raise ValueError('one\\ntwo')\n", "tools/pager.py:1: ValueError: one two"),
    ],
)
def test_failing_module_costs_its_own_tools_and_tools_of_its_importers(tmp_path: Path, pager: str, reason: str) -> None:
    root = company(tmp_path, oncall=ONCALL, other=OTHER, pager=pager, second=OTHER.replace("today", "later"))
    loaded = load_company(root)
    assert [tool.name for tool in loaded] == ["oncall_page", "weather_today", "weather_later"]
    assert unusable_tools(loaded) == {reason.strip(): ["oncall_page"]}
    tools = build_tools(read_settings({}), company=loaded)
    assert asyncio.run(tools["weather_today"].act(call_over(Sent()), tools["weather_today"].parse({}))).text == "Rain."
    lost = tools["oncall_page"]
    with pytest.raises(ToolError, match="The tool oncall_page cannot be used"):
        asyncio.run(lost.act(call_over(Sent()), lost.parse({"team": "payments", "more": 1})))


def test_half_imported_module_is_not_given_to_a_second_importer(tmp_path: Path) -> None:
    late = PAGER + "\n1 / 0\n"
    loaded = load_company(company(tmp_path, a=ONCALL, b=ONCALL.replace("oncall_page", "oncall_wake"), pager=late))
    assert list(unusable_tools(loaded).values()) == [["oncall_page", "oncall_wake"]]


def test_module_without_text_costs_its_own_tools(tmp_path: Path) -> None:
    root = company(tmp_path, other=OTHER)
    (root / "tools" / "bytes.py").write_bytes(b"\xff\xfe")
    assert [(tool.name, tool.unusable) for tool in load_company(root)] == [("weather_today", "")]


def test_tools_of_one_name_are_unusable_and_never_replace_tools_of_gofer(tmp_path: Path) -> None:
    own = OTHER.replace("weather_today", "jira_search")
    loaded = load_company(company(tmp_path, a=OTHER, b=OTHER, c=own))
    assert list(unusable_tools(loaded).values()) == [["weather_today", "weather_today"]]
    assert build_tools(read_settings({}), company=loaded)["jira_search"].target.system == "Jira"


def test_module_that_prints_leaves_stdout_to_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load_company(company(tmp_path, other=f"{OTHER}\nprint('loaded')\n"))
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "loaded\n")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('return ToolResult("\\ud800", "s")', "it returned text with a lone surrogate, which is half of a character"),
        ('raise type("Odd", (BaseException,), {})', "it raised Odd"),
    ],
)
def test_company_tool_with_an_odd_outcome_has_a_bug(tmp_path: Path, body: str, said: str) -> None:
    (declared,) = load_company(company(tmp_path, other=OTHER.replace('return ToolResult("Rain.", "rain")', body)))
    tool = declared.bind({})
    with pytest.raises(Misbehaved, match=said):
        asyncio.run(tool.act(call_over(Sent()), tool.parse({})))
