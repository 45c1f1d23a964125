"""A Table on DynamoDB: translates items, conditions and pages to and from its API."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, assert_never, cast

from typing_extensions import override

from gofer.stores.aws.calls import Aws, Operation, Refusal
from gofer.stores.aws.table import (
    INDEX,
    KEY,
    Absent,
    AtMost,
    Both,
    Condition,
    Delete,
    Either,
    Exists,
    Indexed,
    Item,
    Key,
    Lacks,
    OneOf,
    Put,
    Refused,
    Span,
    Table,
    Update,
    Value,
    Write,
)
from gofer.values.errors import Corrupt, TemporaryError

_GET_AT_ONCE = 100
"""The most keys in one BatchGetItem request."""
_WRITE_AT_ONCE = 25
"""The most keys in one BatchWriteItem request."""
_ATTEMPTS = 5
"""How often a busy write, or the rest of a batch that DynamoDB did not process, is sent."""
_FIRST_PAUSE = 0.05
"""Seconds between the first two attempts; each later pause is twice as long."""
_FAILED = "ConditionalCheckFailedException"
_CANCELLED = "TransactionCanceledException"
_CONFLICT = "TransactionConflictException"
_BUSY = "DynamoDB did not accept a write: other writers change the same items, or the table is busy. Try again."

Raw = dict[str, Any]


class DynamoClient(Protocol):
    """The methods of boto3's DynamoDB client that Gofer calls."""

    get_item: Operation
    batch_get_item: Operation
    query: Operation
    scan: Operation
    put_item: Operation
    update_item: Operation
    delete_item: Operation
    transact_write_items: Operation
    batch_write_item: Operation


class DynamoTable(Table):
    """A Table on DynamoDB."""

    def __init__(self, aws: Aws, client: DynamoClient, name: str, keys: str) -> None:
        """Take the name of the main table, and the name of the table for items with the sort key KEY."""
        self._aws = aws
        self._client = client
        self._name = name
        self._keys = keys

    @override
    async def get(self, key: Key) -> Item | None:
        request: Raw = {"TableName": self._name_of(key), "Key": _key(key), "ConsistentRead": True}
        found = await self._aws.answer(self._client.get_item, **request)
        if "Item" not in found:
            return None
        return _item(found["Item"])

    @override
    async def get_all(self, keys: Sequence[Key]) -> Sequence[Item]:
        if len(keys) == 1:
            found = await self.get(keys[0])
            if found is None:
                return []
            return [found]
        parts = await asyncio.gather(*map(self._get_slice, _slices(keys, _GET_AT_ONCE)))
        return [item for part in parts for item in part]

    @override
    async def query(self, span: Span, *, limit: int = 0, newest: bool = False) -> Sequence[Item]:
        return [_item(raw) for raw in await self._query(span, limit, newest, "pk", "sk", {"ConsistentRead": True})]

    @override
    async def index(self, span: Span, *, limit: int, newest: bool = False) -> Sequence[Indexed]:
        found = await self._query(span, limit, newest, "gsi_pk", "gsi_sk", {"IndexName": INDEX})
        return [Indexed(Key(raw["pk"]["S"], raw["sk"]["S"]), raw["gsi_sk"]["S"]) for raw in found]

    @override
    async def write(self, write: Write) -> Refused | None:
        operation = {Put: self._client.put_item, Update: self._client.update_item, Delete: self._client.delete_item}
        for attempt in range(_ATTEMPTS):
            response = await self._aws.ask(
                operation[type(write)], refusals=[_FAILED, _CONFLICT], **self._parameters_of(write)
            )
            if not isinstance(response, Refusal):
                return None
            if response.code == _FAILED:
                return _refused(response.response)
            await asyncio.sleep(_FIRST_PAUSE * 2**attempt)
        raise TemporaryError(_BUSY)

    @override
    async def transact(self, writes: Sequence[Write]) -> Refused | None:
        items = [{type(write).__name__: self._parameters_of(write)} for write in writes]
        for attempt in range(_ATTEMPTS):
            response = await self._aws.ask(
                self._client.transact_write_items, refusals=[_CANCELLED], TransactItems=items
            )
            if not isinstance(response, Refusal):
                return None
            reasons = cast(list[Raw], response.response.get("CancellationReasons", []))
            if failed := [reason for reason in reasons if reason.get("Code") == "ConditionalCheckFailed"]:
                return _refused(failed[0])
            await asyncio.sleep(_FIRST_PAUSE * 2**attempt)
        raise TemporaryError(_BUSY)

    @override
    async def delete_all(self, keys: Sequence[Key]) -> None:
        await asyncio.gather(*map(self._delete_slice, _slices(keys, _WRITE_AT_ONCE)))

    @override
    async def scan(self, sk: str) -> Sequence[Key]:
        request: Raw = {
            "FilterExpression": "sk = :sk",
            "ProjectionExpression": "pk, sk",
            "ExpressionAttributeValues": {":sk": {"S": sk}},
            "ConsistentRead": True,
        }
        return [Key(raw["pk"]["S"], raw["sk"]["S"]) for raw in await self._pages(self._client.scan, request, 0)]

    async def _query(self, span: Span, limit: int, newest: bool, pk: str, sk: str, options: Raw) -> list[Raw]:
        if span.low > span.high:
            return []
        request: Raw = {
            "KeyConditionExpression": f"{pk} = :pk AND {sk} BETWEEN :low AND :high",
            "ExpressionAttributeValues": _values({":pk": span.pk, ":low": span.low, ":high": span.high}),
            "ScanIndexForward": not newest,
            **options,
        }
        return await self._pages(self._client.query, request, limit)

    async def _pages(self, operation: Operation, request: Raw, limit: int) -> list[Raw]:
        """Return the items of all pages (up to 1 MB each), or the first `limit`; 0 means no limit."""
        found: list[Raw] = []
        while True:
            if limit:
                request = {**request, "Limit": limit - len(found)}
            page = await self._request(operation, **request)
            found += page.get("Items", [])
            if not page.get("LastEvaluatedKey") or (limit and len(found) >= limit):
                return found
            request = {**request, "ExclusiveStartKey": page["LastEvaluatedKey"]}

    async def _get_slice(self, keys: Sequence[Key]) -> Sequence[Item]:
        found: list[Item] = []
        request: Raw = {
            name: {"Keys": [_key(key) for key in keys_there], "ConsistentRead": True}
            for name, keys_there in self._by_table(keys)
        }
        for attempt in range(_ATTEMPTS):
            page = await self._aws.answer(self._client.batch_get_item, RequestItems=request)
            found += [_item(raw) for items in page["Responses"].values() for raw in items]
            request = cast(Raw, page.get("UnprocessedKeys") or {})
            if not request:
                return found
            await asyncio.sleep(_FIRST_PAUSE * 2**attempt)
        raise TemporaryError("DynamoDB is busy and did not return all items. Try again.")

    async def _delete_slice(self, keys: Sequence[Key]) -> None:
        request: Raw = {
            name: [{"DeleteRequest": {"Key": _key(key)}} for key in keys_there]
            for name, keys_there in self._by_table(keys)
        }
        for attempt in range(_ATTEMPTS):
            page = await self._aws.answer(self._client.batch_write_item, RequestItems=request)
            request = cast(Raw, page.get("UnprocessedItems") or {})
            if not request:
                return
            await asyncio.sleep(_FIRST_PAUSE * 2**attempt)
        raise TemporaryError("DynamoDB is busy and did not delete all items. Try again.")

    async def _request(self, operation: Operation, **arguments: object) -> Mapping[str, Any]:
        return await self._aws.answer(operation, TableName=self._name, **arguments)

    def _parameters_of(self, write: Write) -> Raw:
        parameters = _Parameters()
        if write.when is not None:
            parameters.fields["ConditionExpression"] = parameters.condition(write.when)
            parameters.fields["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        match write:
            case Put(item=item):
                parameters.fields["Item"] = _values(item)
            case Update(key=key):
                parameters.fields |= {"Key": _key(key), "UpdateExpression": parameters.changes(write)}
            case Delete(key=key):
                parameters.fields["Key"] = _key(key)
            case _:
                assert_never(write)
        return {"TableName": self._name_of(write.key), **parameters.complete()}

    def _by_table(self, keys: Sequence[Key]) -> Sequence[tuple[str, Sequence[Key]]]:
        """Group keys by the name of their table."""
        names = sorted({self._name_of(key) for key in keys})
        return [(name, [key for key in keys if self._name_of(key) == name]) for name in names]

    def _name_of(self, key: Key) -> str:
        if key.sk == KEY:
            return self._keys
        return self._name


class _Parameters:
    """The parameters of one write request: expressions, and the names and values that they refer to."""

    def __init__(self) -> None:
        self.fields: Raw = {}
        self._names: dict[str, str] = {}
        self._values: Raw = {}

    def complete(self) -> Raw:
        """Return all parameters but the name of the table."""
        fields = dict(self.fields)
        if self._names:
            fields["ExpressionAttributeNames"] = {f"#{label}": name for name, label in self._names.items()}
        if self._values:
            fields["ExpressionAttributeValues"] = self._values
        return fields

    def condition(self, when: Condition) -> str:
        """Return a condition as an expression, and keep the names and values that it uses."""
        match when:
            case Absent():
                return "attribute_not_exists(pk)"
            case Exists():
                return "attribute_exists(pk)"
            case Lacks(name=name):
                return f"(attribute_exists(pk) AND attribute_not_exists({self._name(name)}))"
            case OneOf(name=name, values=values):
                return f"{self._name(name)} IN ({', '.join(map(self._value, values))})"
            case AtMost(name=name, value=value):
                return f"{self._name(name)} <= {self._value(value)}"
            case Either(conditions=conditions):
                return f"({' OR '.join(map(self.condition, conditions))})"
            case Both(conditions=conditions):
                return f"({' AND '.join(map(self.condition, conditions))})"
            case _:
                assert_never(when)

    def changes(self, update: Update) -> str:
        """Return the changes of an update as an expression, and keep the names and values that they use."""
        sets = [f"{self._name(name)} = {self._value(value)}" for name, value in update.sets.items()]
        for name, value in update.initial.items():
            label = self._name(name)
            sets.append(f"{label} = if_not_exists({label}, {self._value(value)})")
        removes = [self._name(name) for name in update.removes]
        parts: list[str] = []
        if sets:
            parts.append(f"SET {', '.join(sets)}")
        if update.adds:
            added = [f"{self._name(name)} {self._value(value)}" for name, value in update.adds.items()]
            parts.append(f"ADD {', '.join(added)}")
        if removes:
            parts.append(f"REMOVE {', '.join(removes)}")
        return " ".join(parts)

    def _name(self, name: str) -> str:
        # Every name gets a label, because DynamoDB reserves many plain words.
        return "#" + self._names.setdefault(name, f"n{len(self._names)}")

    def _value(self, value: Value) -> str:
        label = f":v{len(self._values)}"
        self._values[label] = _raw(value)
        return label


def _slices(keys: Sequence[Key], size: int) -> Sequence[Sequence[Key]]:
    """Return the keys in parts, each key once, because DynamoDB refuses a batch that names an item twice."""
    unique = list(dict.fromkeys(keys))
    return [unique[i : i + size] for i in range(0, len(unique), size)]


def _key(key: Key) -> Raw:
    return {"pk": {"S": key.pk}, "sk": {"S": key.sk}}


def _values(item: Item) -> Raw:
    return {name: _raw(value) for name, value in item.items()}


def _raw(value: Value) -> Raw:
    match value:
        case bool():
            return {"BOOL": value}
        case str():
            return {"S": value}
        case bytes():
            return {"B": value}
        case int() | float():
            return {"N": repr(value)}


def _item(raw: Mapping[str, Raw]) -> Item:
    return {name: _value(value) for name, value in raw.items()}


def _value(raw: Raw) -> Value:
    match raw:
        case {"S": str(text)}:
            return text
        case {"B": bytes(raw_bytes)}:
            return raw_bytes
        case {"BOOL": bool(yes)}:
            return yes
        case {"N": str(number)}:
            if number.lstrip("-").isdigit():
                return int(number)
            return float(number)
        case _:
            raise Corrupt(
                "An item of the table has a value of a type that Gofer never writes; restore the table from a backup."
            )


def _refused(response: Mapping[str, Any]) -> Refused:
    if not response.get("Item"):
        return Refused(None)
    return Refused(_item(response["Item"]))
