"""The accounts that Gofer uses in outside systems. A process asks each system for its account once, at start.

What Gofer writes with its own account starts no run. An account in the settings is not looked up. Receivers on AWS
never look accounts up, because they start too often.
"""

import asyncio
from dataclasses import replace

from gofer.app.settings import Settings
from gofer.sources.receiver_spec import look_up
from gofer.sources.receivers import RECEIVERS
from gofer.values.outside import Http


async def with_own_accounts(settings: Settings, http: Http) -> Settings:
    """Return the settings with the account and the site of each token. What a system does not report stays empty."""
    accounts = [one for spec in RECEIVERS for one in (spec.account, spec.site) if one is not None]
    found = await asyncio.gather(*(look_up(account, settings.sources, http) for account in accounts))
    known = [account.setting.to(value) for account, value in zip(accounts, found, strict=True)]
    return replace(settings, sources=settings.sources.but(*known))
