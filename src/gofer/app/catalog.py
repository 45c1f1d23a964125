"""The workflows of a folder, checked for every mistake before anything runs."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from gofer.app.settings import process_variables, read_settings
from gofer.app.toolbox import build_tools
from gofer.check.company_tools import check_company
from gofer.check.dead_names import Former
from gofer.check.folder import check_folder
from gofer.check.models import NamedModel, model_table, named_models
from gofer.models import price_library
from gofer.models.served_model import OPENAI, Endpoint, Listed
from gofer.runtime.reviews.reviewer import Reviewer
from gofer.sources.workflow_files import load_catalog
from gofer.sources.worst_case import worst_case
from gofer.tools.company import FOLDER as TOOLS
from gofer.tools.company import CompanyTool, load_company
from gofer.tools.definition import AnyTool
from gofer.tools.mocks import Overrides, read_overrides
from gofer.workflows.load import Catalog
from gofer.workflows.mistake import Mistake, in_order, refuse
from gofer.workflows.model_roles import Recorder, Roles


def look_up(model: str, base_url: str) -> Listed | None:
    """Return the listing of a model. The default endpoint is where OPENAI_BASE_URL of this process says."""
    return price_library.look_up(model, base_url or process_variables().get("OPENAI_BASE_URL", ""))


def _deployed() -> Endpoint:
    """Return the default endpoint, as the variables of this process set it up."""
    variables = process_variables()
    url = variables.get("OPENAI_BASE_URL", "").strip() or OPENAI
    return Endpoint(base_url=url, api=variables.get("OPENAI_API_FORMAT", "").strip())


@cache
def _every_tool() -> Mapping[str, AnyTool]:
    """Return Gofer's tools without any system behind them, for checks only."""
    return build_tools(read_settings({}))


def known_tools() -> Mapping[str, AnyTool]:
    """Return Gofer's tools that workflows may list, including tools of systems that are not set up."""
    return {name: tool for name, tool in _every_tool().items() if not tool.internal}


def tool_names(root: Path | None = None) -> list[str]:
    """Return the names of the tools that workflows may list: Gofer's, and those of `root` if it is given."""
    names = list(known_tools())
    if root is not None:
        names += [tool.name for tool in load_company(root)]
    return sorted(names)


def mocks(text: str, where: str, root: Path) -> Overrides:
    """Return the results in a file of mocks, which replace those of the tools' own mocks. Raises ConfigError.

    `text` is the content of the file, `where` its name for errors, and `root` the folder with the company's tools.
    """
    tools = build_tools(read_settings({}), company=load_company(root))
    # Base tools reach only the run itself, so there is nothing to mock.
    replaceable = {name: tool for name, tool in tools.items() if not tool.internal and not tool.base}
    return read_overrides(text, where, replaceable)


def company_tools(root: Path) -> Sequence[CompanyTool]:
    """Return the tools of a company, in `tools/` below a folder. Those with mistakes are unusable."""
    return check_company(root, _every_tool()).company


def mistakes(folder: Path, own: Sequence[AnyTool] = (), former: Callable[[], Former] = Former) -> list[Mistake]:
    """Return every mistake, and hints, for a folder of workflows and the company's tools beside the folder.

    `own` holds additional tools of the caller. `former` returns the names that tools, skills and subagents had before.
    """
    known = {**known_tools(), **{tool.name: tool for tool in own}}
    company = check_company(folder.parent, _every_tool())
    # One check asks for the same few models again and again, and for the history at most once.
    found = check_folder(folder, {**known, **company.tools}, cache(look_up), cache(former), _deployed())
    return in_order([*company.mistakes, *found])


def price_list(folder: Path, code: Path | None = None) -> str:
    """Return the text of the price list that is packaged with the workflows of a folder. Raises ConfigError.

    `code` is the folder that holds `coordinators/`, if it is not the parent of `folder`.
    """
    recorder = Recorder(look_up)
    load_catalog(folder, code, look_up=recorder)
    return recorder.text()


def models_in(folder: Path) -> Sequence[NamedModel]:
    """Return each model that the files of a folder name, with its place."""
    return named_models(folder, look_up)


def models(folder: Path) -> str:
    """Return a table of the models of a folder, for a terminal. Raises ConfigError."""
    return model_table(folder, look_up, _deployed())


def listable_tools(root: Path) -> Mapping[str, AnyTool]:
    """Return the tools that workflows may list: Gofer's, and those of a company below a folder, for checks only."""
    return {**known_tools(), **check_company(root, _every_tool()).tools}


def worst_cases(folder: Path) -> Mapping[str, str]:
    """Return what each workflow of a folder could do at worst, by its name. Raises ConfigError."""
    tools = listable_tools(folder.parent)
    loaded = sorted(load_catalog(folder).workflows.items())
    return {name: worst_case(one.workflow, tools) for name, one in loaded}


def model_roles(catalog: Catalog) -> Roles:
    """Return the models of each role, with their prices."""
    return catalog.defaults.roles(look_up)


def priced_reviewer() -> Reviewer:
    """Return a reviewer of ended runs that knows the published prices of models."""
    return Reviewer(look_up)


def checked_catalog(folder: Path, own: Sequence[AnyTool] = ()) -> Catalog:
    """Return the workflows of a folder, which may also name `own` tools. Raises ConfigError with every mistake.

    Mistakes in `tools/` are left out, because they cost only the runs of workflows with those tools (`company_tools`).
    """
    if folder.is_dir():
        tools = folder.parent / TOOLS
        refuse([mistake for mistake in mistakes(folder, own) if not mistake.file.is_relative_to(tools)])
    return load_catalog(folder, look_up=look_up)
