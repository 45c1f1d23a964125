"""What starts a workflow, and what narrows it?

A trigger is a kind of event with conditions. A condition names a fact of events (`Event.facts`) and the words it may
have; in a word `*` stands for anything. A condition on a fact that an event does not carry is decided by admission,
which has read more (`routes.py`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, cast

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_serializer, model_validator
from pydantic_core import PydanticCustomError

from gofer.values.canonical_json import as_object
from gofer.workflows.form_parts import Name, Names, Strict, mistake
from gofer.workflows.schedule_form import ScheduleForm
from gofer.workflows.webhook_form import WebhookForm

Where = dict[str, list[str]]
"""Conditions as they are compiled: the words each fact may have."""

_ID = re.compile(r"[CDG][A-Z0-9]{6,}")
_UUID = re.compile(r"([0-9a-f]{8})" + 3 * r"-?([0-9a-f]{4})" + r"-?([0-9a-f]{12})(?:\?.*)?$", re.IGNORECASE)


class Conditions(Strict):
    """What narrows one kind of trigger; without any it is every event of that kind."""

    MEMBER: ClassVar[str] = "a condition of this trigger"
    FACTS: ClassVar[Mapping[str, str]] = {}
    """Names of facts that differ from the name of their condition; empty for what is no fact by itself."""

    def compiled(self, kind: str) -> Iterator[tuple[str, Where]]:
        """The kinds of events that may start it, each with its conditions."""
        yield kind, self.where()

    def where(self) -> Where:
        """The conditions that are facts by themselves."""
        set_ = self.model_dump(exclude_none=True, exclude_defaults=True, by_alias=False)
        named = {self.FACTS.get(name, name): value for name, value in set_.items()}
        return {fact: _words(value) for fact, value in named.items() if fact}


class InChannels(Conditions):
    """Conditions of what happens in a Slack channel."""

    channels: Names | None = None
    """Channels by name, `#incidents` or `#team-*`, or by id; left out, every channel that Gofer is in."""

    FACTS: ClassVar[Mapping[str, str]] = {"channels": ""}

    def where(self) -> Where:
        """See Conditions.where."""
        names = [name.removeprefix("#") for name in self.channels or () if name != "any"]
        # Ids stand in every event: such a condition is decided before a run begins.
        fact = "channel_id" if all(_ID.fullmatch(name) for name in names) else "channels"
        return super().where() | ({fact: names} if names else {})


class SlackMention(InChannels):
    """Somebody mentions Gofer, also by an edit that adds the mention."""

    FACTS: ClassVar[Mapping[str, str]] = {"channels": "", "follow_ups": ""}

    follow_ups: bool = False
    """Whether replies in a thread that it answered in start it without a mention."""

    def compiled(self, kind: str) -> Iterator[tuple[str, Where]]:
        """See Conditions.compiled."""
        yield kind, self.where()
        if self.follow_ups:
            yield "slack.message", self.where() | {"reply": ["true"], "followed": ["true"]}


class SlackMessage(InChannels):
    """Somebody writes in a channel, whether or not Gofer is mentioned."""

    FACTS: ClassVar[Mapping[str, str]] = {"channels": "", "mention": "", "replies": ""}

    channels: Names  # pyright: ignore[reportGeneralTypeIssues, reportIncompatibleVariableOverride]
    """Channels by name, `#incidents` or `#team-*`, or by id: a name costs a look-up per message, an id nothing."""
    mention: bool | None = None
    """Only with a mention, or only without; left out, either way."""
    replies: bool = False
    """Whether replies in threads start it too, not only messages of the channel itself."""
    says: Names | None = None
    """What the message says, such as `*is down*`."""

    def compiled(self, kind: str) -> Iterator[tuple[str, Where]]:
        """See Conditions.compiled."""
        where = self.where() | ({} if self.replies else {"reply": ["false"]})
        if self.mention is not True:
            yield kind, where
        if self.mention is not False:
            # Without a wish for mentions, an edit that adds one is no new message.
            yield "slack.mention", where if self.mention else where | {"edited": ["false"]}


class SlackDirect(Conditions):
    """Somebody writes to Gofer alone: a direct message, or the assistant's pane."""


class SlackReaction(InChannels):
    """Somebody adds an emoji to a message."""

    emoji: Names
    """Names of emoji without colons; a skin tone makes no difference."""


class SlackChannelCreated(Conditions):
    """Somebody creates a public channel."""

    name: Names | None = None
    """Names of channels, such as `proj-*`."""


class SlackMemberJoined(InChannels):
    """Somebody joins a channel that Gofer is in, or Gofer is invited to one."""

    member: Literal["gofer", "person"] | None = None
    """`gofer` when Gofer was invited, `person` when it was somebody else; left out, both."""


class JiraConditions(Conditions):
    """Conditions of what happens to an issue in Jira."""

    FACTS: ClassVar[Mapping[str, str]] = {"label": "labels"}

    project: Names | None = None
    """Keys of projects."""
    type: Names | None = None
    """Names of issue types."""
    label: Names | None = None
    """Labels of which the issue has one."""


class JiraCommented(JiraConditions):
    """Somebody comments on an issue in Jira."""

    says: Names | None = None
    """What the comment says, such as `*@gofer*`."""


class JiraUpdated(JiraConditions):
    """An issue in Jira is changed."""

    FACTS: ClassVar[Mapping[str, str]] = {"label": "labels", "field": "", "from_": "", "to": ""}

    field: Name | None = None
    """The field that changes, as Jira's history names it: `status`."""
    from_: Annotated[Name | None, Field(alias="from")] = None
    """What the field was."""
    to: Name | None = None
    """What the field becomes."""

    def where(self) -> Where:
        """See Conditions.where."""
        if not (self.field or self.from_ or self.to):
            return super().where()
        # One change must have all three, so they are one fact.
        change = f"{self.field or '*'}: {self.from_ or '*'} -> {self.to or '*'}"
        return super().where() | {"changes": [change]}


def _in_full(value: str) -> str:
    if "*" in value:
        # Only a hash of the earlier value is kept, and a hash fits no pattern.
        raise mistake(f"`from: {value[:40]}` holds `*`.", "Write the earlier value in full, or leave `from` out.")
    return value


Before = Annotated[Name, AfterValidator(_in_full)]


class InDatabase(Conditions):
    """Conditions of what happens to a page in Notion."""

    FACTS: ClassVar[Mapping[str, str]] = {"database": ""}

    database: Names | None = None
    """Databases, by name, by id or by the link that Notion gives."""

    def where(self) -> Where:
        """See Conditions.where."""
        databases = [_undashed(name) for name in self.database or ()]
        # Ids stand in events, names do not: a condition of ids alone is decided before a run begins.
        fact = "database_id" if all(_UUID.fullmatch(name) for name in databases) else "database"
        return super().where() | ({fact: databases} if databases else {})


class NotionUpdated(InDatabase):
    """Somebody changes properties of a page in Notion."""

    def where(self) -> Where:
        """See Conditions.where."""
        return super().where() | {"bot": ["false"]}


class NotionStatus(InDatabase):
    """A page of a database changes its status: once per real change, however often Notion tells of it."""

    FACTS: ClassVar[Mapping[str, str]] = {"database": "", "property": "", "from_": "", "to": ""}

    database: Names  # pyright: ignore[reportGeneralTypeIssues, reportIncompatibleVariableOverride]
    """The database, by name, by id or by the link that Notion gives."""
    property: Name = "Status"
    """The property that holds the status."""
    from_: Annotated[Before | None, Field(alias="from")] = None
    """What the status was, in full, without `*`."""
    to: Name | None = None
    """What the status becomes."""

    def change(self) -> str:
        """The word that the fact `status` holds when this condition is fulfilled."""
        return f"{self.property}: {self.from_ or '*'} -> {self.to or '*'}"

    def compiled(self, kind: str) -> Iterator[tuple[str, Where]]:
        """See Conditions.compiled."""
        # A page that is created has changed from nothing; that is `notion.page_created`.
        yield "notion.properties_updated", self.where() | {"status": [self.change()]}


class GithubConditions(Conditions):
    """Conditions of what happens in a repository on GitHub."""

    FACTS: ClassVar[Mapping[str, str]] = {"label": "labels"}

    repository: Names | None = None
    """Repositories, such as `acme/shop` or `acme/*`."""
    action: Names | None = None
    """What was done, in GitHub's words; `merged` is closed and merged, `closed` is either."""
    label: Names | None = None
    """Labels of which it has one."""


class GithubPullRequest(GithubConditions):
    """A pull request is opened, changed, closed or merged."""

    base: Names | None = None
    """Branches that it is to be merged into."""


class GithubComment(GithubConditions):
    """Somebody comments on an issue or a pull request."""

    says: Names | None = None
    """What the comment says, such as `*@gofer*`."""


class GithubPush(Conditions):
    """Somebody pushes to a branch."""

    repository: Names | None = None
    """Repositories, such as `acme/shop` or `acme/*`."""
    branch: Names | None = None
    """Branches, such as `main` or `release/*`."""


class Trigger(Strict):
    """One thing that starts a workflow: exactly one kind of event, with what narrows it."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})
    MEMBER: ClassVar[str] = "a trigger"
    LISTED: ClassVar[str] = "docs/workflow-file.md lists what can start a workflow."

    slack_mention: SlackMention | None = Field(default=None, alias="slack.mention")
    slack_message: SlackMessage | None = Field(default=None, alias="slack.message")
    slack_direct: SlackDirect | None = Field(default=None, alias="slack.direct")
    slack_reaction: SlackReaction | None = Field(default=None, alias="slack.reaction")
    slack_channel_created: SlackChannelCreated | None = Field(default=None, alias="slack.channel_created")
    slack_member_joined: SlackMemberJoined | None = Field(default=None, alias="slack.member_joined")
    jira_issue_created: JiraConditions | None = Field(default=None, alias="jira.issue_created")
    jira_issue_updated: JiraUpdated | None = Field(default=None, alias="jira.issue_updated")
    jira_commented: JiraCommented | None = Field(default=None, alias="jira.commented")
    jira_attachment_added: JiraConditions | None = Field(default=None, alias="jira.attachment_added")
    notion_page_created: InDatabase | None = Field(default=None, alias="notion.page_created")
    notion_properties_updated: NotionUpdated | None = Field(default=None, alias="notion.properties_updated")
    notion_content_updated: InDatabase | None = Field(default=None, alias="notion.content_updated")
    notion_commented: InDatabase | None = Field(default=None, alias="notion.commented")
    notion_status: NotionStatus | None = Field(default=None, alias="notion.status")
    github_pull_request: GithubPullRequest | None = Field(default=None, alias="github.pull_request")
    github_issue: GithubConditions | None = Field(default=None, alias="github.issue")
    github_comment: GithubComment | None = Field(default=None, alias="github.comment")
    github_review: GithubConditions | None = Field(default=None, alias="github.review")
    github_push: GithubPush | None = Field(default=None, alias="github.push")
    webhook: WebhookForm | None = None
    schedule: ScheduleForm | None = None

    @model_validator(mode="before")
    @classmethod
    def _spelled(cls, value: object) -> object:
        """`- slack.mention`, `- slack.mention:` and `- slack.mention: {}` say the same."""
        if isinstance(value, str):
            return {value: {}}
        kinds: dict[str, object] = {kind: {} if what is None else what for kind, what in as_object(value).items()}
        return kinds or value

    @model_serializer
    def _as_written(self) -> dict[str, object]:
        (name,) = self.model_fields_set
        return {TRIGGERS[name]: getattr(self, name).model_dump(exclude_none=True)}

    @model_validator(mode="after")
    def _one(self) -> "Trigger":
        if len(self.model_fields_set) != 1:
            raise PydanticCustomError("one_trigger", "one kind")
        return self

    @property
    def kind(self) -> str:
        """The kind of event as the file names it."""
        (name,) = self.model_fields_set
        return TRIGGERS[name]

    def compiled(self) -> Sequence[tuple[str, Where]]:
        """The kinds of events that may start it, each with its conditions."""
        (name,) = self.model_fields_set
        match getattr(self, name):
            case Conditions() as conditions:
                return list(conditions.compiled(TRIGGERS[name]))
            case WebhookForm(name=hook):
                return [("webhook", {"name": [hook]})]
            case _:
                # A time belongs to the workflow that asked for it: `Catalog.routes` says which.
                return [("schedule", {})]


def _as_it_is(value: object) -> object:
    return value


TRIGGERS: Mapping[str, str] = {name: field.alias or name for name, field in Trigger.model_fields.items()}
"""Kinds of triggers by the name of their field."""

KINDS: Sequence[str] = tuple(TRIGGERS.values())
"""Every kind of trigger, as files name it."""

CONTINUING: frozenset[str] = frozenset(
    {
        "slack.mention",
        "slack.message",
        "slack.direct",
        "jira.commented",
        "github.comment",
        "github.review",
        "notion.commented",
    }
)
"""The kinds of events in which a person replies. A run of another kind inherits nothing from earlier runs."""

Kind = Annotated[str, Field(json_schema_extra={"enum": [*KINDS]})]
Spelled = Annotated[Trigger, BeforeValidator(_as_it_is, json_schema_input_type=Kind | Trigger)]
When = Annotated[tuple[Spelled, ...], Field(min_length=1)]
"""What starts a workflow as people may write it: each a name, or a name with conditions."""


def _words(value: object) -> list[str]:
    """The words of a condition; one that stands alone is a list of one."""
    return (
        [_word(item) for item in cast(Sequence[object], value)] if isinstance(value, tuple | list) else [_word(value)]
    )


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value).strip(":")


def _undashed(name: str) -> str:
    """The id of a Notion object in a link to it, or as somebody wrote it."""
    found = _UUID.search(name)
    return "".join(found.groups()).lower() if found else name
