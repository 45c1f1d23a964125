"""The accounts as which Gofer acts in the systems outside; each system is asked once, when a process starts.

What Gofer writes with such an account starts nothing. An account that the settings name is not looked up. Receivers on
AWS never look it up, because they start anew all the time.
"""

import asyncio
from dataclasses import replace

from gofer.app.settings import Settings
from gofer.sources.receiver_spec import look_up
from gofer.sources.receivers import RECEIVERS
from gofer.values.outside import Http


async def with_own_accounts(settings: Settings, http: Http) -> Settings:
    """Return the settings with the accounts of the tokens; an account that cannot be found out stays empty."""
    accounts = [spec.account for spec in RECEIVERS if spec.account is not None]
    found = await asyncio.gather(*(look_up(account, settings.sources, http) for account in accounts))
    known = [account.setting.to(value) for account, value in zip(accounts, found, strict=True)]
    return replace(settings, sources=settings.sources.but(*known))
