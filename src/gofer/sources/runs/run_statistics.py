"""The tool that counts Gofer's own runs. It reads the lists of runs that are not private, and no contents of runs."""

from collections.abc import Mapping
from typing import Protocol

from pydantic import Field
from typing_extensions import override

from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.values.canonical_json import as_list, encode_text
from gofer.values.errors import ToolError


class ReadStatistics(Arguments):
    """The days to count, and how much of the statistics to return."""

    days: int = Field(default=7, ge=1, le=30, description="How many days until now. The days before are compared.")
    workflow: str = Field(default="", max_length=200, description="Only this workflow. Left out: all workflows.")
    reports: bool = Field(default=False, description="Whether to add a report for each channel of an owner.")


class RunStatistics(Protocol):
    """The statistics of the runs that are not private."""

    async def read(self, until: float, arguments: ReadStatistics) -> Mapping[str, object]:
        """Return the statistics until a time (unix seconds), as plain JSON. Raises TemporaryError.

        The form is that of the result of `run_statistics`.
        """
        ...


class NoRuns(RunStatistics):
    """The statistics of a process without stored runs, such as a check of workflow files."""

    @override
    async def read(self, until: float, arguments: ReadStatistics) -> Mapping[str, object]:
        raise ToolError("This process has no stored runs to count.", code="not_set_up")


@tool(effect="read", everyday="how often, usage, costs, failures, success rate, feedback; report about the agent")
async def run_statistics(statistics: RunStatistics, call: Call, arguments: ReadStatistics) -> ToolResult:
    """Count Gofer's own runs by workflow: ends, costs, times, failures, feedback and reviews, without private runs.

    Costs are in US dollars, times in milliseconds.
    """
    return _result(await statistics.read(call.at, arguments))


@run_statistics.mock
def _mock_statistics(call: Call, arguments: ReadStatistics) -> ToolResult:
    """Return statistics without runs."""
    reviewer = {"counts": False, "agreement": "agreement with feedback not measured"}
    return _result({"days": arguments.days, "reviewer": reviewer, "workflows": [], "reports": []})


def _result(value: Mapping[str, object]) -> ToolResult:
    """Return statistics: `days`, `reviewer` with `counts` and `agreement`, `workflows` and `reports`.

    A report has the `channel` of an owner and a `text` in Markdown.
    """
    count = len(as_list(value.get("workflows")))
    return ToolResult(encode_text(value), f"counted the runs of {count} workflows", value=value)


TOOLS = (run_statistics,)
