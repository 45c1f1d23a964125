"""The key `writes` of a workflow file: where its runs may write besides where they were asked, system by system."""

import re
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field

from gofer.workflows.form_parts import Strict, listed, mistake

PUBLIC = "public"
"""Stands for all public channels of Slack."""
_CHANNEL = r"public|#[^\s#*]{1,80}|[CG][A-Z0-9]{2,20}"
_PROJECT = r"[A-Z][A-Z0-9_]{0,50}"
_REPOSITORY = r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}"
_PAGE = re.compile(r"([0-9a-f]{8})" + 3 * r"-?([0-9a-f]{4})" + r"-?([0-9a-f]{12})(?:\?.*)?$", re.IGNORECASE)


def _refuse_pattern(value: str, hint: str) -> None:
    if "*" in value:
        raise mistake(f"`{value[:80]}` holds `*`, which stands for nothing in `writes`.", hint)


def _channel(value: str) -> str:
    _refuse_pattern(value, 'Write its name, as "#general", its id, or `public` for all public channels.')
    if not re.fullmatch(_CHANNEL, value):
        raise mistake("This is no channel of Slack.", 'Write its name, as "#general", its id, or `public` for all.')
    return value


def _project(value: str) -> str:
    _refuse_pattern(value, "Write its key in capital letters, as PAY.")
    if not re.fullmatch(_PROJECT, value):
        raise mistake("This is no key of a Jira project.", "Write the key in capital letters, as PAY.")
    return value


def _page(value: str) -> str:
    _refuse_pattern(value, "Write its id, or the link that Notion gives.")
    if (found := _PAGE.search(value)) is None:
        raise mistake("This is no page or database of Notion.", "Write its id, or the link that Notion gives.")
    return "-".join(found.groups()).lower()


def _repository(value: str) -> str:
    _refuse_pattern(value, "Write its name as owner/name, such as acme/app.")
    if not re.fullmatch(_REPOSITORY, value):
        raise mistake("This is no repository of GitHub.", "Write owner/name, as acme/app.")
    return value


Channel = Annotated[str, AfterValidator(_channel), Field(json_schema_extra={"pattern": f"^({_CHANNEL})$"})]
Project = Annotated[str, AfterValidator(_project), Field(json_schema_extra={"pattern": f"^{_PROJECT}$"})]
Page = Annotated[str, AfterValidator(_page)]
Repository = Annotated[str, AfterValidator(_repository), Field(json_schema_extra={"pattern": f"^{_REPOSITORY}$"})]


Channels = Annotated[tuple[Channel, ...], BeforeValidator(listed, json_schema_input_type=Channel | tuple[Channel, ...])]
Projects = Annotated[tuple[Project, ...], BeforeValidator(listed, json_schema_input_type=Project | tuple[Project, ...])]
Pages = Annotated[tuple[Page, ...], BeforeValidator(listed, json_schema_input_type=str | tuple[str, ...])]
Repositories = Annotated[
    tuple[Repository, ...], BeforeValidator(listed, json_schema_input_type=Repository | tuple[Repository, ...])
]


class Destinations(Strict):
    """Where runs may write besides where they were asked."""

    MEMBER: ClassVar[str] = "a system that a workflow can name places of"
    LISTED: ClassVar[str] = "The systems are `slack`, `jira`, `notion` and `github`."

    slack: Channels = ()
    """Channels, by name or id, or `public` for all public channels."""
    jira: Projects = ()
    """Projects, by their keys."""
    notion: Pages = ()
    """Pages and databases, by id or link: each with the pages that stand directly in it."""
    github: Repositories = ()
    """Repositories, as owner/name."""

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels that are listed one by one."""
        return tuple(channel for channel in self.slack if channel != PUBLIC)

    @property
    def all_public(self) -> bool:
        """Whether all public channels of Slack are listed."""
        return PUBLIC in self.slack
