"""CPU of the grouping of requests: the most that `gofer candidates` reads, and five times as many.

Run with `make bench`. Nothing here asserts a time.
"""

import time

import pytest

from gofer.learning.candidates.candidates import candidates
from gofer.learning.candidates.requests import MOST_READ
from support.learning.subjects import subjects


@pytest.mark.parametrize("count", [MOST_READ, 5 * MOST_READ])
def test_grouping_of_requests(count: int) -> None:
    requests = subjects(count)
    begin = time.process_time()
    found = candidates(requests)
    print(f"\n{count:,} requests: {time.process_time() - begin:.2f} s CPU, {len(found)} candidates")
    assert len(found) == 3
