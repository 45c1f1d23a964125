"""How many bytes may a request have, whatever its tokens? What is looked at has few tokens and many bytes."""

from gofer.files.image import EACH
from gofer.projections.conversation import Conversation

MOST = 18_000_000
"""Bytes of one request at most. Providers refuse more than 20 to 32 MB, and after it every request with the same
history."""
FULL = 0.58
"""Share of it from which on room is made; below it there is room for any one thing to look at."""
SPARE = 0.1
"""Share of it that what a turn looks at leaves over for all else."""


def sizes(conversation: Conversation) -> list[int]:
    """Bytes of each message, and what counts for them."""
    counted = [len(part) for part in conversation.parts]
    for seen in conversation.seen:
        counted[seen.part] += EACH
    return counted


def left(conversation: Conversation, calls: int) -> int:
    """Characters of base64 that each of so many calls of a turn may give to look at, 0 for none."""
    room = round((1 - SPARE) * MOST) - sum(sizes(conversation))
    return max(0, room // max(1, calls) - EACH)
