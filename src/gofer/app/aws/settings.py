"""The settings of a process on AWS: the place of its state, and the installation key.

This module is separate from the clients, because a receiver reads it during its cold start and never loads boto3.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from gofer.app.settings import Settings, read_settings
from gofer.values.errors import ConfigError
from gofer.values.installation_key import InstallationKey, read_installation_key


@dataclass(frozen=True, slots=True)
class CloudSettings:
    """The names of the AWS resources that hold the state."""

    table: str
    """GOFER_TABLE"""
    keys_table: str
    """GOFER_KEYS_TABLE"""
    bucket: str
    """GOFER_BUCKET"""
    queue_url: str
    """GOFER_QUEUE_URL"""
    dead_letter_url: str
    """GOFER_DEAD_LETTER_URL"""
    region: str
    """AWS_REGION. Empty leaves the Region to the profile."""
    endpoint: str
    """AWS_ENDPOINT_URL. Empty means AWS itself."""
    stage: str = ""
    """GOFER_STAGE"""
    offers_url: str = ""
    """GOFER_OFFERS_URL, of workers only. Empty means that workers offer no messages to each other."""


@dataclass(frozen=True, slots=True)
class AwsSettings:
    """All settings of a process on AWS."""

    settings: Settings
    cloud: CloudSettings
    installation_key: InstallationKey


def aws_settings(environment: Mapping[str, str]) -> AwsSettings:
    """Return the settings in an environment that includes the parameters of the stage.

    Raises ConfigError, which names the wrong setting.
    """
    key = stage_key(environment.get("INSTALLATION_KEY", ""))
    return AwsSettings(read_settings(environment), cloud_settings(environment), key)


def stage_key(text: str) -> InstallationKey:
    """Return the installation key in the parameter of a stage. Raises ConfigError."""
    try:
        return read_installation_key(text)
    except ValueError as error:
        # The key recognises mentions that were answered before. With a new key Gofer would answer them again.
        raise ConfigError(
            "INSTALLATION_KEY is missing or damaged; set it to the 64 hex digits that were made for this stage, or to "
            "several such keys with commas between them, each listed once."
        ) from error


def cloud_settings(environment: Mapping[str, str]) -> CloudSettings:
    """Return the names of the resources. Raises ConfigError, which names the missing variables."""
    names = ("GOFER_TABLE", "GOFER_KEYS_TABLE", "GOFER_BUCKET", "GOFER_QUEUE_URL", "GOFER_DEAD_LETTER_URL")
    if missing := [name for name in names if not environment.get(name)]:
        raise ConfigError(
            f"{' and '.join(missing)} must be set; take the values from the outputs of the deployed stack."
        )
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION", "")
    endpoint = environment.get("AWS_ENDPOINT_URL", "")
    return CloudSettings(
        table=environment["GOFER_TABLE"],
        keys_table=environment["GOFER_KEYS_TABLE"],
        bucket=environment["GOFER_BUCKET"],
        queue_url=environment["GOFER_QUEUE_URL"],
        dead_letter_url=environment["GOFER_DEAD_LETTER_URL"],
        region=region,
        endpoint=endpoint,
        stage=environment.get("GOFER_STAGE", ""),
        offers_url=environment.get("GOFER_OFFERS_URL", ""),
    )
