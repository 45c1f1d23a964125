"""Every tool, built for the settings of one process."""

from collections.abc import Mapping, Sequence
from itertools import chain

from gofer.app.settings import Settings
from gofer.files.child import Children
from gofer.files.sandbox.python import sandbox
from gofer.sources.registry import SOURCES
from gofer.sources.runs.run_statistics import TOOLS as RUNS
from gofer.sources.runs.run_statistics import NoRuns, RunStatistics
from gofer.sources.settings import read_credential
from gofer.tools.company import CompanyTool
from gofer.tools.declare import Variables, bind_all
from gofer.tools.definition import AnyTool
from gofer.tools.files.tools import TOOLS as FILES
from gofer.tools.mocks import mocked
from gofer.tools.plan import TOOLS as PLAN
from gofer.tools.python import TOOLS as PYTHON
from gofer.tools.python import PythonClient
from gofer.tools.search import TOOLS as SEARCH
from gofer.tools.skills import TOOLS as SKILLS
from gofer.tools.skills import script_of
from gofer.tools.subagent import TOOLS as SUBAGENT
from gofer.values.secret import Secret


def build_tools(
    settings: Settings,
    children: Children | None = None,
    python: Children | None = None,
    company: Sequence[CompanyTool] = (),
    statistics: RunStatistics | None = None,
) -> Mapping[str, AnyTool]:
    """Return every tool by its name.

    `company` holds the tools of `tools/`. `children` parse untrusted bytes, and `python` runs the code of models. The
    caller closes both. `statistics` counts the stored runs; None for a process that has none.
    """
    systems: Sequence[Sequence[AnyTool]] = [
        *(source.tools(settings.sources) for source in SOURCES.values() if source.tools is not None),
        bind_all(FILES, children or Children()),
        bind_all((*PLAN, *SKILLS, *SEARCH), None),
        bind_all(PYTHON, PythonClient(python or sandbox(), script_of)),
        bind_all(SUBAGENT, None),
        bind_all(RUNS, statistics or NoRuns()),
        _of_company(company, settings),
    ]
    found: dict[str, AnyTool] = {}
    for tool in chain.from_iterable(systems):
        # A tool of the company never replaces one of Gofer.
        found.setdefault(tool.name, tool)
    return found


def _of_company(company: Sequence[CompanyTool], settings: Settings) -> Sequence[AnyTool]:
    """Return a company's tools. In a simulated world their mocks answer, because their systems have no simulators."""
    tools = {tool.name: tool.bind(variables_of(tool, settings)) for tool in company}
    if settings.simulated:
        tools = mocked(tools, {})
    return list(tools.values())


def variables_of(tool: CompanyTool, settings: Settings) -> Variables:
    """Return the values of the environment variables that a company's tool names. Raises ConfigError."""
    values = {name: settings.environment.get(name, "").strip() for name in tool.variables}
    secrets = tool.declared.variables.secrets
    # Only secrets must fit into a header. Any other setting may hold any text.
    credentials = {name: read_credential(name, text) for name, text in values.items() if name in secrets}
    texts = {name: Secret(text) for name, text in values.items() if name not in secrets}
    return {**texts, **credentials}


def unset(company: Sequence[CompanyTool], settings: Settings) -> Mapping[str, Sequence[str]]:
    """Return the variables that are not set, each with the names of the tools that need it."""
    found: dict[str, list[str]] = {}
    for tool in company:
        for name in tool.variables:
            if not settings.environment.get(name, "").strip():
                found.setdefault(name, []).append(tool.name)
    return found
