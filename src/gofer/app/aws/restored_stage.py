"""The hold of unfinished runs in a stage with tables that were restored to an earlier time.

DynamoDB restores into new tables, which hold the state of that time. What unfinished runs did afterwards is unknown, so
each of them does nothing until `gofer retry RUN`.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError  # pyright: ignore[reportMissingTypeStubs]

from gofer.app.aws.operations import open_operations, open_stage
from gofer.app.aws.settings import stage_key
from gofer.app.operations import Operations, Place
from gofer.journal.store import Store
from gofer.runtime.restored_runs import Held, hold_unfinished
from gofer.runtime.retention import delete
from gofer.stores.aws.calls import trouble
from gofer.values.errors import ConfigError
from gofer.values.installation_key import InstallationKey
from gofer.values.row_tokens import Tokens

_SAMPLE = 200
"""Runs that are looked at before any is marked for deletion."""
KEY = "INSTALLATION_KEY"


@dataclass(frozen=True, slots=True)
class RestoredStage:
    """The outcome for the runs of the restored tables."""

    held: Held
    deleted: int
    """The number of runs without a key; their remains were deleted."""


def hold_restored_stage(place: Place, backup_at: int) -> RestoredStage:
    """Hold every run of a stage that was unfinished at `backup_at`, in unix milliseconds.

    Raises ConfigError for a missing stage, a key that cannot be read, or tables that do not belong together, and
    TemporaryError.
    """
    tokens = Tokens(_installation_key(place))
    with open_operations(place) as operations:
        return asyncio.run(_hold(operations, tokens, backup_at))


async def _hold(operations: Operations, tokens: Tokens, backup_at: int) -> RestoredStage:
    store = operations.stores.journals
    await _check_keys(store)
    held = await hold_unfinished(operations.stores, operations.clock, tokens, backup_at)
    await _delete(held.keyless, operations)
    return RestoredStage(held, len(held.keyless))


async def _delete(runs: Sequence[str], operations: Operations) -> None:
    """Delete the remains of runs that were deleted between the times of the two tables."""
    if runs:
        await delete(list(runs), operations.stores)


async def _check_keys(store: Store) -> None:
    """Raise ConfigError if no run has a key, because the wrong table of keys would delete every run."""
    heads = [head for head in await store.heads(_SAMPLE, private=True) if head.has_contents]
    if heads and len(await store.keyless([head.run for head in heads])) == len(heads):
        raise ConfigError(
            "The table of keys has no key of the newest runs; correct ExistingKeysTable and deploy, "
            "or the contents of all runs would be deleted."
        )


def _installation_key(place: Place) -> InstallationKey:
    """Return the installation key of a stage. Raises ConfigError, TemporaryError."""
    if not place.stage:
        raise ConfigError("Name the stage whose tables were restored with --stage.")
    ssm: Any = open_stage(place).client("ssm")
    try:
        found = ssm.get_parameter(Name=f"/gofer/{place.stage}/{KEY}", WithDecryption=True)
    except (ClientError, BotoCoreError) as error:
        cause = trouble("get_parameter", error)
        remedy = "Only an administrator may read it, and it must be the one that was made for this stage."
        raise type(cause)(f"{KEY} of stage {place.stage} cannot be read. {remedy} {cause}") from error
    return stage_key(str(found["Parameter"]["Value"]).strip())
