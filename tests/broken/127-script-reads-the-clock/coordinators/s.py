import time
from datetime import date, datetime, timedelta

from gofer.coordinator import Run


async def coordinate(run: Run) -> str | None:
    begun = datetime.now() - timedelta(days=1)
    return str(date.today()) + str(begun) + str(time.time()) + str(run.now())
