"""The description of an image by format and size, and its scaling for a model's window."""

import warnings
from io import BytesIO
from typing import cast

from PIL import Image, ImageOps, UnidentifiedImageError

from gofer.files.child_wire import Packet
from gofer.files.completeness import Reading
from gofer.files.size_limits import IMAGE_BYTES
from gofer.values.errors import ToolError
from gofer.values.missing import Missing

PIXELS = 64_000_000
"""The most pixels of an image that is opened. The limit is on decompressed pixels, not on bytes on disk."""

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP")
_QUALITIES = (85, 70, 50)


def prepare() -> None:
    """Load the decoders of all formats, once for all children."""
    Image.init()


def read(data: bytes) -> Reading:
    """Return one line with the format and size of the image. Raises ToolError if it is damaged or too large."""
    with _opened(data) as image:
        frames = cast(int, getattr(image, "n_frames", 1))
        moving = f", {frames} frames" if frames > 1 else ""
        size = f"{image.width} × {image.height} pixels{moving}, {len(data):,} bytes"
        reason = "the reader does not read text in images"
        gap = Missing("scans", part="the text in the image", reason=reason, tool="load_file")
        return Reading(f"[image: {image.format}, {size}; text in images is not read here]", (gap,))


def resize(packet: Packet) -> Packet:
    """Return the first frame, upright, within `edge` pixels and `most` bytes, without metadata. Raises ToolError.

    The result has the fields media_type, width, height, original_width, original_height.
    """
    edge = cast(int, packet.fields["edge"])
    most = cast(int, packet.fields["most"])
    with _opened(packet.data) as image:
        original = image.size
        try:
            # JPEG can be decoded at a smaller size.
            image.draft("RGB", (edge, edge))
            upright = ImageOps.exif_transpose(image)
            upright.thumbnail((edge, edge), reducing_gap=2.0)
            media_type, encoded = _encoded(upright, cast(str, image.format), most)
        except (OSError, ValueError, SyntaxError, EOFError) as error:
            raise ToolError("The image is damaged; ask for it to be sent again.", code="damaged") from error
    fields = {"media_type": media_type, "width": upright.width, "height": upright.height}
    return Packet(fields | {"original_width": original[0], "original_height": original[1]}, encoded)


def _opened(data: bytes) -> Image.Image:
    if len(data) > IMAGE_BYTES:
        raise ToolError(
            f"The image has {len(data) >> 20} MB; up to {IMAGE_BYTES >> 20} MB can be opened.", code="too_large"
        )
    Image.MAX_IMAGE_PIXELS = None  # PIXELS is the limit. Pillow only warns up to twice its own.
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(BytesIO(data), formats=_FORMATS)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError) as error:
        raise ToolError("The image is damaged; ask for it to be sent again.", code="damaged") from error
    if image.width * image.height > PIXELS:
        size = f"{image.width:,} × {image.height:,} pixels"
        raise ToolError(f"The image would unpack to {size}; up to {PIXELS:,} in all are opened.", code="bomb")
    return image


def _encoded(image: Image.Image, original: str, most: int) -> tuple[str, bytes]:
    """Return the media type and bytes: PNG for drawings, JPEG for photographs and for images too large as PNG."""
    if original != "JPEG":
        plain = image.convert("RGBA" if _transparent(image) else "RGB")
        if len(encoded := _saved(plain, "PNG", 0)) <= most:
            return "image/png", encoded
    if _transparent(image):
        # JPEG has no transparency, so transparent areas become white.
        paper = Image.new("RGBA", image.size, "white")
        paper.alpha_composite(image.convert("RGBA"))
        image = paper
    return "image/jpeg", jpeg(image, most)


def jpeg(image: Image.Image, most: int) -> bytes:
    """Return an image as a JPEG of at most `most` bytes. Raises ToolError if it stays larger at every quality."""
    rgb = image.convert("RGB")
    for quality in _QUALITIES:
        if len(encoded := _saved(rgb, "JPEG", quality)) <= most:
            return encoded
    message = "The image is too large for the remaining space; load it alone in a later turn."
    raise ToolError(message, code="too_large")


def _transparent(image: Image.Image) -> bool:
    return image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info


def _saved(image: Image.Image, form: str, quality: int) -> bytes:
    buffer = BytesIO()
    if form == "PNG":
        image.save(buffer, form)
    else:
        image.save(buffer, form, quality=quality)
    return buffer.getvalue()
