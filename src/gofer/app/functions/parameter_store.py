"""The stores and the parameters of functions that use boto3."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from aws_lambda_powertools.utilities.parameters import SSMProvider
from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError
from botocore.exceptions import BotoCoreError, ClientError  # pyright: ignore[reportMissingTypeStubs]
from typing_extensions import override

from gofer.app.aws.clients import Cloud, build_client, new_session, open_cloud
from gofer.app.functions.foundation import Ground
from gofer.app.functions.parameters import Parameters, ParameterStore
from gofer.values.errors import TemporaryError


class SsmParameters(ParameterStore):
    """Parameter Store, with decrypted SecureStrings and without a cache, because `Parameters` has its own."""

    def __init__(self, client: Any) -> None:
        # The types of the provider come from stubs that are not installed.
        self._provider = cast(Any, SSMProvider(boto3_client=client))

    @override
    def read(self, names: Sequence[str]) -> Mapping[str, str]:
        asked: dict[str, dict[str, object]] = {name: {} for name in names}
        try:
            found = self._provider.get_parameters_by_name(asked, decrypt=True, max_age=0, raise_on_error=False)
        except (ClientError, BotoCoreError, GetParameterError) as error:
            raise TemporaryError(f"The parameters cannot be read now ({type(error).__name__}).") from error
        values = cast(Mapping[str, object], found)
        return {name: value for name, value in values.items() if name in asked and isinstance(value, str)}


def open_stage(ground: Ground) -> tuple[Cloud, Parameters]:
    """Return the stores and the parameters of the stage, which share one session."""
    session = new_session(ground.cloud.region)
    cloud = open_cloud(ground.cloud, ground.clock, session=session)
    return cloud, ground.parameters(SsmParameters(build_client(session, "ssm", ground.cloud.endpoint)))
