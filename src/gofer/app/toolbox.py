"""Every tool, built for the settings of one process."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gofer.app.settings import Settings
from gofer.files.child import Children
from gofer.files.sandbox.python import sandbox
from gofer.sources.registry import SOURCES
from gofer.tools.definition import Tool
from gofer.tools.files.tools import file_tools
from gofer.tools.plan import plan_tools
from gofer.tools.python import python_tools
from gofer.tools.search import search_tools
from gofer.tools.skills import script_of, skill_tools
from gofer.tools.subagent import subagent_tools


def build_tools(
    settings: Settings, children: Children | None = None, python: Children | None = None
) -> Mapping[str, Tool[Any]]:
    """Every tool by its name.

    `children` do what is dangerous on bytes, `python` runs the code of models; who lets tools be called closes both.
    """
    systems: Sequence[Sequence[Tool[Any]]] = [
        *(
            _of(source.system, source.tools(settings.sources))
            for source in SOURCES.values()
            if source.tools is not None
        ),
        file_tools(children or Children()),
        plan_tools(),
        skill_tools(),
        search_tools(),
        python_tools(python or sandbox(), script_of),
        subagent_tools(),
    ]
    return {tool.name: tool for tools in systems for tool in tools}


def _of(system: str, tools: Sequence[Tool[Any]]) -> Sequence[Tool[Any]]:
    """Return tools that name the system outside that they act on."""
    return [replace(tool, system=system) for tool in tools]
