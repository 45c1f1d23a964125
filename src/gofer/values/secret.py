"""A secret that is passed around and never printed."""

from typing import Final

from typing_extensions import override


class Secret:
    """A credential without a printable form: repr, str and format give `***`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value: Final = value

    def reveal(self) -> str:
        """Return the value itself. Call this only to send the value or to compute an HMAC with it."""
        return self._value

    @override
    def __repr__(self) -> str:
        return "***"

    def __bool__(self) -> bool:
        return bool(self._value)

    @override
    def __reduce__(self) -> str:
        raise TypeError("A secret is not serialised.")
