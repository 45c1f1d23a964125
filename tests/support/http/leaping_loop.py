"""An event loop on real sockets whose timers a test brings forward, so that no test waits and none is too slow."""

import asyncio

Backend = tuple[str, dict[str, object]]


class LeapingLoop(asyncio.SelectorEventLoop):
    """asyncio's loop with a clock that a test may move on."""

    leapt = 0.0
    """Seconds that the clock is ahead."""

    def time(self) -> float:
        return super().time() + self.leapt


def leap(seconds: float) -> None:
    """Moves the running loop's clock on; timers that are due then fire with its next turn."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, LeapingLoop)
    loop.leapt += seconds


LEAPING: Backend = ("asyncio", {"loop_factory": LeapingLoop})
"""The backend of a module whose tests use `leap`."""
