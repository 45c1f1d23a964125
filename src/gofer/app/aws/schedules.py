"""The schedules in EventBridge Scheduler: one group, in which every schedule calls the same function."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from gofer.stores.aws.calls import Aws, Operation, Refusal
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import ConfigError
from gofer.workflows.publish.timetable import Entry, Timetable

_GONE = "ResourceNotFoundException"
_EXISTS = "ConflictException"
_INVALID = "ValidationException"


@dataclass(frozen=True, slots=True)
class EventBridge(Timetable):
    """The schedules of one group, through a boto3 client."""

    aws: Aws
    client: Any
    group: str
    role: str
    """The ARN of the role that Scheduler assumes to call the function."""
    target: str
    """The ARN of the function."""

    @override
    async def names(self) -> Sequence[str]:

        def list_schedules(**place: str) -> Mapping[str, Any]:
            pages = self.client.get_paginator("list_schedules").paginate(**place)
            return {"names": [str(found["Name"]) for page in pages for found in page["Schedules"]]}

        found = await self._ask(list_schedules, _GONE, GroupName=self.group)
        return self._check_group(found)["names"]

    @override
    async def entry(self, name: str) -> Entry | None:
        found = await self._ask(self.client.get_schedule, _GONE, GroupName=self.group, Name=name)
        if isinstance(found, Refusal):
            return None
        target = as_object(found.get("Target"))
        seconds = as_object(target.get("RetryPolicy")).get("MaximumEventAgeInSeconds")
        entry = Entry(
            name=name,
            expression=as_text(found.get("ScheduleExpression")),
            zone=as_text(found.get("ScheduleExpressionTimezone")),
            input=as_text(target.get("Input")),
            seconds=seconds if isinstance(seconds, int) else 0,
        )
        # A person may have changed any other field by hand, so every field that Gofer would write is compared.
        if all(found.get(key) == value for key, value in self._form(entry).items()):
            return entry
        return None

    @override
    async def put(self, entry: Entry) -> None:
        form = self._form(entry)
        if entry.starts:
            form["StartDate"] = entry.starts
        result = await self._ask(self.client.create_schedule, _EXISTS, _GONE, _INVALID, **form)
        if isinstance(result, Refusal) and result.code == _EXISTS:
            result = await self._ask(self.client.update_schedule, _GONE, _INVALID, **form)
        if isinstance(result, Refusal) and result.code == _INVALID:
            message = as_text(result.response.get("Error", {}).get("Message"))[:300]
            raise ConfigError(f"EventBridge Scheduler rejects {entry.expression} of {entry.name}: {message}")
        self._check_group(result)

    @override
    async def delete(self, name: str) -> None:
        await self._ask(self.client.delete_schedule, _GONE, GroupName=self.group, Name=name)

    async def _ask(self, operation: Operation, *refusals: str, **arguments: object) -> Mapping[str, Any] | Refusal:
        return await self.aws.ask(operation, refusals=refusals, **arguments)

    def _check_group(self, found: Mapping[str, Any] | Refusal) -> Mapping[str, Any]:
        if isinstance(found, Refusal):
            raise ConfigError(f"The schedule group {self.group!r} does not exist; deploy the stage first.")
        return found

    def _form(self, entry: Entry) -> dict[str, object]:
        """Return the fields of an entry for the API."""
        retries = {"MaximumEventAgeInSeconds": entry.seconds, "MaximumRetryAttempts": 185}
        return {
            "Name": entry.name,
            "GroupName": self.group,
            "Description": _description(entry),
            "ScheduleExpression": entry.expression,
            "ScheduleExpressionTimezone": entry.zone,
            "State": "ENABLED",
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "ActionAfterCompletion": "NONE",
            "Target": {"Arn": self.target, "RoleArn": self.role, "Input": entry.input, "RetryPolicy": retries},
        }


def _description(entry: Entry) -> str:
    workflow = as_text(as_object(json.loads(entry.input)).get("workflow"))
    return f"Starts the workflow {workflow}. Written by gofer publish; changes made here are undone."
