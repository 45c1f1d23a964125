"""AWS clients and stores from environment variables, on moto."""

from collections.abc import Mapping

import pytest

from gofer.app.aws.clients import open_cloud
from gofer.app.aws.settings import aws_settings, cloud_settings
from gofer.journal.blob_store import blob_key
from gofer.values.errors import ConfigError
from support.aws.moto_server import REGION, new_bucket, new_queues, new_table, server
from support.stand_ins import SetClock

pytestmark = pytest.mark.anyio


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    url, dead = new_queues()
    table = new_table()
    return {
        "GOFER_TABLE": table._name,
        "GOFER_KEYS_TABLE": table._keys,
        "GOFER_BUCKET": new_bucket(),
        "GOFER_QUEUE_URL": url,
        "GOFER_DEAD_LETTER_URL": dead,
        "GOFER_STAGE": "test",
        "AWS_REGION": REGION,
        "AWS_ENDPOINT_URL": server(),
    }


async def test_cloud_settings_open_the_table_the_bucket_and_the_queues(environment: Mapping[str, str]) -> None:
    cloud = open_cloud(cloud_settings(environment), SetClock())
    await cloud.store.claim("r", b"one", b"key")
    await cloud.blobs.put(blob_key("r", b"body"), b"body")
    await cloud.queue.enqueue("r")
    assert list(await cloud.store.frames("r")) == [b"one"]
    assert await cloud.blobs.get(blob_key("r", b"body")) == b"body"
    (queue_message,) = await cloud.queue.receive(1, 120, 0)
    assert (queue_message.run, list(await cloud.queue.dead_letters(9))) == ("r", [])
    cloud.close()
    asked = {
        "transact_write_items": 1,
        "query": 1,
        "put_object": 1,
        "get_object": 1,
        "send_message": 1,
        "receive_message": 2,
    }
    assert cloud.aws.requests == asked


@pytest.mark.parametrize(
    "missing", ["GOFER_TABLE", "GOFER_KEYS_TABLE", "GOFER_BUCKET", "GOFER_QUEUE_URL", "GOFER_DEAD_LETTER_URL"]
)
async def test_missing_cloud_setting_is_named(environment: Mapping[str, str], missing: str) -> None:
    with pytest.raises(ConfigError, match=f"^{missing} must be set"):
        cloud_settings({**environment, missing: ""})


@pytest.mark.parametrize("key", ["", "a" * 63, "A" * 64, "g" * 64, ",".join(["a" * 64] * 2), f"{'a' * 64},"])
async def test_missing_or_damaged_installation_key_is_refused_on_aws(environment: Mapping[str, str], key: str) -> None:
    with pytest.raises(ConfigError, match="INSTALLATION_KEY is missing or damaged"):
        aws_settings({**environment, "INSTALLATION_KEY": key})


async def test_missing_aws_region_is_reported(environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    with pytest.raises(ConfigError, match="set AWS_REGION"):
        open_cloud(cloud_settings({**environment, "AWS_REGION": ""}), SetClock())
