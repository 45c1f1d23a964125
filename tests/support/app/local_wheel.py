"""A library of a company: a wheel in its repository, which uv finds without a registry."""

import zipfile
from pathlib import Path

PHONES = "acme_phones-1.0-py3-none-any.whl"
PHONE = '''
"""Tools about phones."""

import acme_phones
from gofer.tool import Arguments, Call, ToolResult, tool


class Number(Arguments):
    """A phone number."""

    number: str


@tool(effect="read")
async def phone_region(call: Call, arguments: Number) -> ToolResult:
    """Return the region of a phone number."""
    return ToolResult(f"{arguments.number} is in {acme_phones.REGION}.", "looked up a number")


@tool(effect="read")
async def phone_leave(call: Call, arguments: Number) -> ToolResult:
    """Leave, as a function of click does."""
    raise SystemExit(2)
'''
"""A module of tools with a library of its own."""
_TEXT = "REGION = 'DE'\n"
_DECLARED = """    "acme-phones>=1",
]

[tool.uv]
no-index = true
find-links = ["vendor"]
"""


def declare_phones(repository: Path) -> None:
    """Put the wheel of `acme_phones` into `vendor/` of a repository of `gofer init`, and declare it."""
    info = "acme_phones-1.0.dist-info"
    files = {
        "acme_phones/__init__.py": _TEXT,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: acme-phones\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    (repository / "vendor").mkdir(exist_ok=True)
    with zipfile.ZipFile(repository / "vendor" / PHONES, "w") as wheel:
        for path, text in {**files, f"{info}/RECORD": record}.items():
            wheel.writestr(path, text)
    project = repository / "pyproject.toml"
    text = project.read_text().replace("[tool.uv]\n", "")
    project.write_text(text.replace("]\n\n", _DECLARED, 1))


def use_phones(repository: Path) -> None:
    """Declare `acme_phones`, and let `answer-here` call the tools that import it."""
    declare_phones(repository)
    (repository / "tools" / "phone.py").write_text(PHONE)
    workflow = repository / "agents" / "answer-here.yaml"
    text = workflow.read_text().replace("tools:\n", "tools:\n  - phone_region\n  - phone_leave\n")
    workflow.write_text(text)
