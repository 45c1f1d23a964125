"""How do schedules stand in EventBridge Scheduler? In one group, all with the same function and role."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError  # pyright: ignore[reportMissingTypeStubs]

from gofer.bootstrap.refused import code, message
from gofer.canonical import as_object, as_text
from gofer.errors import ConfigError, TemporaryError
from gofer.publish.timetable import Entry

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EventBridge:
    """The schedules of one group, by a boto3 client."""

    client: Any
    group: str
    role: str
    """Arn of the role in which Scheduler calls the function."""
    target: str
    """Arn of the function."""

    async def names(self) -> Sequence[str]:
        """See Timetable.names."""

        def work() -> Sequence[str]:
            pages = self.client.get_paginator("list_schedules").paginate(GroupName=self.group)
            return [str(found["Name"]) for page in pages for found in page["Schedules"]]

        return await self._ask(work)

    async def entry(self, name: str) -> Entry | None:
        """See Timetable.entry."""
        answer = await self._find(name)
        if answer is None:
            return None
        found = as_object(answer)
        told, retries = as_object(found.get("Target")), as_object(as_object(found.get("Target")).get("RetryPolicy"))
        seconds = retries.get("MaximumEventAgeInSeconds")
        zone, said = as_text(found.get("ScheduleExpressionTimezone")), as_text(told.get("Input"))
        entry = Entry(
            name, as_text(found.get("ScheduleExpression")), zone, said, seconds if isinstance(seconds, int) else 0
        )
        # Whatever else somebody may have changed by hand: compared as it would be written.
        mine = self._form(entry)
        return entry if all(found.get(key) == value for key, value in mine.items()) else None

    async def put(self, entry: Entry) -> None:
        """See Timetable.put."""
        form = {**self._form(entry), **({"StartDate": entry.starts} if entry.starts else {})}

        def work() -> None:
            try:
                self.client.create_schedule(**form)
            except ClientError as error:
                if code(error) != "ConflictException":
                    raise
                self.client.update_schedule(**form)

        await self._ask(work)

    async def delete(self, name: str) -> None:
        """See Timetable.delete."""

        def work() -> None:
            try:
                self.client.delete_schedule(GroupName=self.group, Name=name)
            except ClientError as error:
                if code(error) != "ResourceNotFoundException":
                    raise

        await self._ask(work)

    async def _find(self, name: str) -> Mapping[str, object] | None:
        def work() -> Mapping[str, object] | None:
            try:
                return self.client.get_schedule(GroupName=self.group, Name=name)
            except ClientError as error:
                if code(error) == "ResourceNotFoundException":
                    return None
                raise

        return await self._ask(work)

    def _form(self, entry: Entry) -> dict[str, object]:
        """An entry as the API has it."""
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

    async def _ask(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(work)
        except ClientError as error:
            match code(error):
                case "ResourceNotFoundException":
                    raise ConfigError(f"There is no group {self.group!r} of schedules; deploy first.") from error
                case "ValidationException" | "AccessDeniedException":
                    told = f"{code(error)}: {message(error)}"
                    raise ConfigError(f"EventBridge Scheduler does not take a schedule. {told}") from error
                case other:
                    raise TemporaryError(f"EventBridge Scheduler cannot be asked ({other}); try again.") from error
        except BotoCoreError as error:
            raise TemporaryError(f"EventBridge Scheduler cannot be reached ({type(error).__name__}).") from error


def _description(entry: Entry) -> str:
    workflow = as_text(as_object(json.loads(entry.input)).get("workflow"))
    return f"Starts the workflow {workflow}. Written by gofer publish; changes made here are undone."
