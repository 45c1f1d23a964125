"""The settings of Notion, and the version of its API that Gofer uses."""

import re

from gofer.sources.settings import Setting, credential_setting, secrets_setting, url_setting
from gofer.values.errors import ConfigError

VERSION = "2026-03-11"
_UUID = re.compile(r"([0-9a-f]{8})" + 3 * r"-?([0-9a-f]{4})" + r"-?([0-9a-f]{12})", re.IGNORECASE)


def _dashed(name: str, text: str) -> str:
    """Return an id with dashes, as in Notion's events, or the empty string. Raises ConfigError."""
    value = text.strip()
    found = _UUID.fullmatch(value)
    if value and not found:
        raise ConfigError(f"{name} is not an id of Notion; write 32 hexadecimal digits, with or without dashes.")
    if found:
        return "-".join(found.groups()).lower()
    return ""


TOKEN = credential_setting("NOTION_TOKEN")
"""The token of the connection with which pages are shared."""
BASE_URL = url_setting("NOTION_BASE_URL", "https://api.notion.com")
WEBHOOK_SECRETS = secrets_setting("NOTION_WEBHOOK_SECRET")
"""The verification token, or two separated by a comma during a rotation."""
BOT_ID: Setting[str] = Setting("NOTION_BOT_ID", _dashed, str)
"""The bot user of the connection, with dashes. If the setting is empty, Gofer looks it up."""
