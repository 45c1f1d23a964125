"""The stores and the parameters of functions that use boto3."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError  # pyright: ignore[reportMissingTypeStubs]
from typing_extensions import override

from gofer.app.aws.clients import Cloud, build_client, new_session, open_cloud
from gofer.app.functions.foundation import Ground
from gofer.app.functions.parameters import NAMES_AT_ONCE, Parameters, ParameterStore
from gofer.values.errors import TemporaryError


class SsmParameters(ParameterStore):
    """Parameter Store, with decrypted SecureStrings and without a cache, because `Parameters` has its own."""

    def __init__(self, client: Any) -> None:
        self._client = client

    @override
    def read(self, names: Sequence[str]) -> Mapping[str, str]:
        pages = [names[first : first + NAMES_AT_ONCE] for first in range(0, len(names), NAMES_AT_ONCE)]
        if not pages:
            return {}
        # At the same time, because a cold start waits for them.
        with ThreadPoolExecutor(len(pages), thread_name_prefix="gofer-ssm") as threads:
            found = list(threads.map(self._page, pages))
        return {name: value for page in found for name, value in page.items()}

    def _page(self, names: Sequence[str]) -> Mapping[str, str]:
        try:
            response = self._client.get_parameters(Names=list(names), WithDecryption=True)
        except (ClientError, BotoCoreError) as error:
            raise TemporaryError(f"The parameters cannot be read now ({type(error).__name__}).") from error
        return {item["Name"]: item["Value"] for item in response["Parameters"]}


def open_stage(ground: Ground) -> tuple[Cloud, Parameters]:
    """Return the stores and the parameters of the stage, which share one session."""
    session = new_session(ground.cloud.region)
    cloud = open_cloud(ground.cloud, ground.clock, session=session)
    return cloud, ground.parameters(SsmParameters(build_client(session, "ssm", ground.cloud.endpoint)))
