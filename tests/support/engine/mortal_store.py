"""A store that crashes its worker at a frame."""

from typing import Any

from gofer.stores.memory.journal import MemoryStore


class Crashed(BaseException):
    """The process was killed, which no code catches."""


class MortalStore(MemoryStore):
    """A store that crashes its worker at a frame of any run, and writes nothing until the worker is back."""

    def __init__(self, at: int, *, after: bool) -> None:
        super().__init__()
        self.after = after
        self.mortal(at)

    def mortal(self, at: int) -> None:
        """Crash the next worker at so many frames from now; with 0 it lives on."""
        self.left, self.dead, self.reached = at, False, False

    async def claim(self, run: str, frame: bytes, key: bytes, at: int = 0) -> bytes | None:
        return await self._write(super().claim(run, frame, key, at))

    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        return await self._write(super().create(run, n, frame))

    async def _write(self, writing: Any) -> bytes | None:
        self.left -= 1
        now = self.left == 0 and not self.reached
        self.reached = self.reached or now
        self.dead = self.dead or now
        if self.dead and not (now and self.after):
            writing.close()
            raise Crashed
        stands: bytes | None = await writing
        if self.dead:
            raise Crashed
        return stands
