"""The store on two tables of DynamoDB: one for journals, one for the keys of runs.

Every promise of `Store` rests on one conditional write or one transaction. A call that is repeated after a lost
response therefore finds its own first write. `TABLE` and `KEYS_TABLE` are the definitions of the tables; `items.py`
describes their items.
"""

from collections.abc import Mapping

from gofer.stores.aws.counts import DynamoCounts
from gofer.stores.aws.frames import DynamoFrames
from gofer.stores.aws.heads import DynamoHeads
from gofer.stores.aws.table import INDEX, Table
from gofer.stores.aws.usage import DynamoUsage

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
            # Keys only: AWS bills copies in an index, and it must hold no frames.
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
"""The main table, as arguments of CreateTable; its TTL attribute is `expires_at`."""

KEYS_TABLE: Mapping[str, object] = {
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
    "KeySchema": TABLE["KeySchema"],
    "BillingMode": "PAY_PER_REQUEST",
}
"""The table of keys, as arguments of CreateTable."""


class DynamoStore(DynamoFrames, DynamoHeads, DynamoCounts, DynamoUsage):
    """The whole store on a Table."""

    def __init__(self, table: Table) -> None:
        DynamoFrames.__init__(self, table)
        DynamoHeads.__init__(self, table)
        DynamoUsage.__init__(self, table)
