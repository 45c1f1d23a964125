"""Fixtures for Lambda functions in this process."""

import logging
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from gofer.app.functions.foundation import Ground, stand
from gofer.workflows.published import Compiled, encode_compiled
from support.aws import moto_server
from support.aws.function_in_process import KEY, put


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    """The foundation of a function whose package has no workflows. Loggers are restored afterwards."""
    cloud, path = moto_server.MotoCloud(moto_server.MotoClock()), f"/gofer/{uuid.uuid4().hex[:8]}/"
    variables = {
        "GOFER_TABLE": cloud.table._name,
        "GOFER_KEYS_TABLE": cloud.table._keys,
        "GOFER_BUCKET": cloud.bucket,
        "GOFER_QUEUE_URL": cloud.url,
        "GOFER_DEAD_LETTER_URL": cloud.dead,
        "GOFER_PARAMETERS": path,
        "AWS_ENDPOINT_URL": moto_server.server(),
        "AWS_REGION": moto_server.REGION,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "LAMBDA_TASK_ROOT": str(tmp_path),
        "POWERTOOLS_SERVICE_NAME": f"gofer-{uuid.uuid4().hex[:8]}",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
        "GOFER_URL": "https://gofer.acme.test",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    compiled = Compiled("", {"slack.mention": [["answer-here", {}]]}, {}, [])
    (tmp_path / "compiled.json").write_bytes(encode_compiled(compiled))
    put(path, INSTALLATION_KEY=KEY, SLACK_SIGNING_SECRET="secret")
    root, ours = logging.getLogger(), logging.getLogger("gofer")
    before = list(root.handlers), root.level, ours.level
    made = stand()
    yield made
    made.close()
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    ours.setLevel(before[2])
