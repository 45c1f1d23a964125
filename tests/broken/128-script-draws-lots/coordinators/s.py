import random
from secrets import token_hex

from uuid import uuid4, uuid5

from gofer.coordinator import Run


async def coordinate(run: Run) -> str | None:
    return uuid4().hex + token_hex() + str(random.random()) + str(uuid5)
