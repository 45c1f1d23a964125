"""`gofer check` of a company's tools: each mistake with file, line and column."""

from pathlib import Path

import pytest

from gofer.app.catalog import checked_catalog, company_tools, known_tools, mistakes
from gofer.check.company_tools import check_company

GOOD = '''"""On call."""

from gofer.tool import Arguments, Call, Origin, Place, ToolResult, tool


class Page(Arguments):
    """Whom to wake."""

    team: str


def team(origin: Origin, arguments: Page) -> Place:
    """Return the team."""
    return Place("oncall", "other", arguments.team)


@tool(effect="keyed", place=team)
async def oncall_page(call: Call, arguments: Page) -> ToolResult:
    """Page a team."""
    return ToolResult("Paged.", "paged")
'''


def checked(root: Path, text: str) -> list[str]:
    (root / "tools").mkdir()
    (root / "tools" / "oncall.py").write_text(text)
    found = check_company(root, known_tools()).mistakes
    assert {mistake.file for mistake in found} <= {root / "tools" / "oncall.py"}
    return [f"{one.place.line}:{one.place.column} {one.rule} {one.message} {one.hint}" for one in found]


def test_correct_tool_is_available_to_workflows(tmp_path: Path) -> None:
    assert checked(tmp_path, GOOD) == []
    assert list(check_company(tmp_path, known_tools()).tools) == ["oncall_page"]


CLOUD = """class Cloud:
    async def create_server(self, name):
        return name


CLOUD = Cloud()"""


@pytest.mark.parametrize(
    ("imported", "used", "line"),
    [
        ("import asyncio\n", "asyncio.open_connection", 21),
        ("import asyncio\n", "asyncio.create_subprocess_exec", 21),
        ("import asyncio as aio\n", "aio.create_subprocess_shell", 21),
        ("import asyncio\n", "asyncio.get_running_loop().create_connection", 21),
        ("import asyncio\n", "asyncio.streams.open_connection", 21),
        ("from asyncio import streams as s\n", "s.open_connection", 21),
        ("from asyncio import open_connection\n", "open_connection", 3),
        ("from asyncio.subprocess import create_subprocess_exec\n", "create_subprocess_exec", 3),
    ],
)
def test_tool_may_not_open_connections_or_processes_with_asyncio(
    tmp_path: Path, imported: str, used: str, line: int
) -> None:
    text = GOOD.replace("from gofer.tool", f"{imported}from gofer.tool", 1)
    text = text.replace("    return ToolResult", f"    await {used}('x')\n    return ToolResult")
    (mistake,) = checked(tmp_path, text)
    assert mistake.startswith(f"{line}:")
    assert used.rpartition(".")[2] in mistake
    assert "Send with `await call.http.send(HttpRequest(…))`." in mistake


def test_tool_may_not_open_connections_through_a_named_event_loop(tmp_path: Path) -> None:
    text = GOOD.replace("from gofer.tool", "import asyncio\nfrom gofer.tool", 1)
    used = "    loop = asyncio.get_running_loop()\n    await loop.create_connection('x')\n    return ToolResult"
    (mistake,) = checked(tmp_path, text.replace("    return ToolResult", used))
    assert "`create_connection` opens network connections" in mistake


def test_tool_may_call_own_functions_named_like_asyncio_functions(tmp_path: Path) -> None:
    text = GOOD.replace("from gofer.tool", "import asyncio\n\nfrom gofer.tool", 1)
    used = "    await asyncio.gather(CLOUD.create_server('a'))\n    return ToolResult"
    text = text.replace("    return ToolResult", used)
    assert (
        checked(tmp_path, text.replace("class ", "CLOUD = Cloud()\n\n\nclass ", 1).replace("CLOUD = Cloud()", CLOUD))
        == []
    )


def test_tool_may_not_use_relative_imports(tmp_path: Path) -> None:
    (mistake,) = checked(
        tmp_path, GOOD.replace("from gofer.tool", "from .asyncio import open_connection\nfrom gofer.tool", 1)
    )
    assert "Relative imports do not work in tools." in mistake


def test_tool_may_sleep_and_gather_with_asyncio(tmp_path: Path) -> None:
    text = GOOD.replace("from gofer.tool", "import asyncio\n\nfrom gofer.tool", 1)
    text = text.replace("    return ToolResult", "    await asyncio.sleep(0)\n    return ToolResult")
    assert checked(tmp_path, text) == []


@pytest.mark.parametrize(
    ("was", "becomes", "mistake"),
    [
        (
            "async def oncall_page(",
            "async def oncall_page(:",
            "18:23 tool-syntax This is not valid Python: invalid syntax. Correct the line.",
        ),
        (
            '    """Page a team."""\n',
            "",
            (
                "17:1 tool-declaration The tool oncall_page has no docstring. Describe for the model"
                " what the tool does and when to use it."
            ),
        ),
        (
            'effect="keyed"',
            'effect="write"',
            (
                "17:1 tool-declaration The tool oncall_page has no valid `effect`. Write one of"
                " read, keyed, lookup, blind."
            ),
        ),
        (
            ", place=team",
            "",
            (
                "18:1 tool-declaration The tool oncall_page writes to oncall and does not declare its place."
                " Set `place` to a function that gives the Place that a call writes to."
            ),
        ),
        (
            ", place=team",
            ", place=team, everday=1",
            (
                "17:1 tool-declaration The tool oncall_page has the unknown option `everday`. Correct it or"
                " leave it out."
            ),
        ),
        (
            "async def oncall_page(call: Call",
            "async def oncall_page(api: object, call: Call",
            (
                "18:1 tool-declaration The tool oncall_page takes a client, but tools in `tools/` have no client."
                " Make the call the first parameter."
            ),
        ),
        (
            "oncall_page",
            "jira_search",
            ("18:1 tool-declaration Another tool has the name `jira_search`. Give the function another name."),
        ),
        (
            "from gofer.tool import",
            "import httpx2\nfrom gofer.tool import",
            (
                "3:1 tool-import `httpx2` opens network connections, and tools may do that only through `call.http`"
                ". Send with `await call.http.send(HttpRequest(…))`."
            ),
        ),
        (
            "from gofer.tool import",
            "from gofer.engine.step import Step\nfrom gofer.tool import",
            (
                "3:1 tool-import `gofer.engine.step` is an internal part of Gofer, which tools cannot import."
                " Import only from `gofer.tool`."
            ),
        ),
        (
            "from gofer.tool import",
            "import numpy\nfrom gofer.tool import",
            (
                "3:1 tool-import `numpy` is not a package that pyproject.toml declares. Add it to `dependencies`"
                " in pyproject.toml, or remove the import."
            ),
        ),
        (
            "from gofer.tool import",
            "from tools.oncal import team\nfrom gofer.tool import",
            "3:1 tool-import There is no file `tools/oncal.py`. Write `tools.oncall`.",
        ),
        (
            "from gofer.tool import",
            "from gofer.tool import Tol\nfrom gofer.tool import",
            "3:1 tool-import The module cannot be imported: ImportError: cannot import name",
        ),
    ],
)
def test_tool_mistake_is_reported_at_the_place_in_the_file(
    tmp_path: Path, was: str, becomes: str, mistake: str
) -> None:
    assert was in GOOD
    (found,) = checked(tmp_path, GOOD.replace(was, becomes))
    assert found.startswith(mistake)


WORKFLOW = 'description: d\nowner: "#o"\nwhen: [slack.mention]\nmodel: gpt-5\n'


def repository(root: Path, oncall: str) -> Path:
    """Write a workflow with the tool, one without it, and the module of the tool."""
    for name in ("agents", "tools"):
        (root / name).mkdir()
    (root / "tools" / "oncall.py").write_text(oncall)
    (root / "tools" / "second.py").write_text(f"from tools.oncall import team\n{GOOD}".replace("oncall_page", "wake"))
    (root / "agents" / "page.yaml").write_text(f"{WORKFLOW}tools: [oncall_page, wake]\n")
    (root / "agents" / "page.md").write_text(
        "Call `oncall_page(team='payments')`, then `wake`, not `slack_pst_file`.\n"
    )
    (root / "agents" / "other.yaml").write_text(WORKFLOW.replace("slack.mention", "slack.reaction: {emoji: eyes}"))
    (root / "agents" / "other.md").write_text("Answer.\n")
    return root / "agents"


@pytest.mark.parametrize(
    ("was", "becomes", "where"),
    [
        ("from gofer.tool import", "import numpy\nfrom gofer.tool import", "oncall.py:3:1: `numpy` is not a package"),
        ("from gofer.tool import", "import dbm.gnu_\nfrom gofer.tool import", "oncall.py:3:1: The module cannot be"),
        ("class Page(", "class Page(:", "oncall.py:6:12: This is not valid Python"),
        (
            "class Page",
            "raise SystemExit(1)\n\n\nclass Page",
            "oncall.py:6:1: The module cannot be imported: SystemExit",
        ),
    ],
)
def test_bad_import_is_named_once_and_other_files_are_checked(
    tmp_path: Path, was: str, becomes: str, where: str
) -> None:
    agents = repository(tmp_path, GOOD.replace(was, becomes, 1))
    found = [str(mistake).removeprefix(f"{tmp_path}/") for mistake in mistakes(agents)]
    assert [one.split("/")[0] for one in found] == ["agents", "tools"]
    assert found[0].startswith("agents/page.md:1:56: There is no tool `slack_pst_file`.")
    assert found[1].startswith(f"tools/{where}")
    (agents / "page.md").write_text("Call `oncall_page`, then `wake`.\n")
    assert list(checked_catalog(agents).workflows) == ["other", "page"]
    assert [(tool.name, bool(tool.unusable)) for tool in company_tools(tmp_path)] == [
        ("oncall_page", True),
        ("wake", True),
    ]
