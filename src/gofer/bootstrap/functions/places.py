"""How many children that read documents or run code have room beside a worker at once?

What a child may take is limited, and so is what Lambda gives: beyond it the whole process is killed, with every
conversation that it has. So the one has to go into the other.
"""

import threading
from collections.abc import Mapping

from gofer.files.child import Children
from gofer.sandbox.python import sandbox

OWN = 512
"""Megabytes for the worker itself: 120 with nothing to do, 80 for its two helpers, the rest for ten conversations."""
PLACE = 512
"""Megabytes that one child may take at most, whichever it is: see `files.child.MEMORY` and `sandbox.python.MEMORY`."""
MOST = 4
"""More at once wait for processors, and for nothing else."""


def places(environment: Mapping[str, str]) -> int:
    """How many children may be under way at once in a function's memory; one where nobody says how much it is."""
    told = environment.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "")
    memory = int(told) if told.isascii() and told.isdecimal() else 0
    return min(MOST, max(1, (memory - OWN) // PLACE))


def children(environment: Mapping[str, str]) -> tuple[Children, Children]:
    """What reads documents and what runs code in this function; nothing is started before the first job."""
    count = places(environment)
    shared = threading.Semaphore(count)
    # The interpreter of Lambda finds its own libraries by it; nothing else is handed on.
    libraries = environment.get("LD_LIBRARY_PATH", "")
    told = {"LD_LIBRARY_PATH": libraries} if libraries else None
    return Children(at_once=count, environment=told, places=shared), sandbox(told, shared)
