"""An event loop on real sockets whose clock a test moves forward, so that no test waits for a timeout."""

import asyncio

Backend = tuple[str, dict[str, object]]


class LeapingLoop(asyncio.SelectorEventLoop):
    """asyncio's loop with a clock that a test may move on."""

    leapt = 0.0
    """Seconds that the clock is ahead."""

    def time(self) -> float:
        return super().time() + self.leapt


def leap(seconds: float) -> None:
    """Move the running loop's clock forward; timers that are due fire in its next iteration."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, LeapingLoop)
    loop.leapt += seconds


LEAPING: Backend = ("asyncio", {"loop_factory": LeapingLoop})
"""The anyio backend of modules whose tests use `leap`."""
