"""A store in two tables of DynamoDB: one for journals, one for the keys of runs.

Every promise of `Store` rests on one conditional write or one transaction, so what is tried again after a lost
answer meets what it wrote itself. `TABLE` and `KEYS_TABLE` are what the tables have to look like; `items.py` says
what stands in them.
"""

from collections.abc import Mapping

from gofer.stores.aws.counts import DynamoCounts
from gofer.stores.aws.frames import DynamoFrames
from gofer.stores.aws.heads import DynamoHeads
from gofer.stores.aws.table import INDEX, Table

TABLE: Mapping[str, object] = {
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "gsi_pk", "gsi_sk")
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": INDEX,
            "KeySchema": [
                {"AttributeName": "gsi_pk", "KeyType": "HASH"},
                {"AttributeName": "gsi_sk", "KeyType": "RANGE"},
            ],
            # Keys only: a frame, or a key, has no business in an index, and a copy of each would be paid for.
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
"""The table, as CreateTable takes it; its TTL attribute is `expires_at`."""

KEYS_TABLE: Mapping[str, object] = {
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
    "KeySchema": TABLE["KeySchema"],
    "BillingMode": "PAY_PER_REQUEST",
}
"""The table of keys, as CreateTable takes it."""


class DynamoStore(DynamoFrames, DynamoHeads, DynamoCounts):
    """A store in one table."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
