"""An image as a model may get it: small enough, upright, without metadata."""

from dataclasses import dataclass
from typing import cast

from gofer.files.child import Children, Job

EDGE = 1_568
"""Pixels of the longer edge; more is made smaller by most models anyway, and paid for."""

BYTES = 3_750_000
"""Bytes of the encoded image at most: 5 MB in base64, of which providers refuse more, and with it the whole request."""

EACH = 180_000
"""Bytes that each thing to look at counts for beside its own, so that one request never has more than a hundred."""

_PIXELS_PER_TOKEN = 750


@dataclass(frozen=True, slots=True)
class Fitted:
    """An image for the window."""

    media_type: str
    data: bytes
    width: int
    height: int
    original_width: int
    original_height: int

    @property
    def tokens(self) -> int:
        """About what a model counts it as."""
        return -(-self.width * self.height // _PIXELS_PER_TOKEN)


async def fitted(children: Children, data: bytes, *, edge: int = EDGE, most: int = BYTES) -> Fitted:
    """Return the first frame of an image, smaller where it must be.

    Raises ToolError for what is no image, or enormous.
    """
    packet = await children.run(
        Job("resize", {"edge": edge, "most": most}, data, "The image", "a smaller one may work")
    )
    numbers = {
        name: cast(int, packet.fields[name]) for name in ("width", "height", "original_width", "original_height")
    }
    return Fitted(str(packet.fields["media_type"]), packet.data, **numbers)
