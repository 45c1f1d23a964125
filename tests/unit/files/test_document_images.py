"""Images scaled for a model: upright, within its limits, and safe against decompression bombs."""

import base64
import io
import random
import struct
import zlib
from collections.abc import Iterator

import pytest
from PIL import Image

from gofer.files.child import Children
from gofer.files.document import BYTES, EDGE, extract, fitted
from gofer.values.errors import ToolError
from support.processes.jobs_in_this_process import InThisProcess

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module", params=["in a child", "in this process"])
def children(request: pytest.FixtureRequest) -> Iterator[Children]:
    if request.param == "in this process":
        yield InThisProcess()  # type: ignore[misc]
        return
    made = Children()
    yield made
    made.close()


def encoded(image: Image.Image, form: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


async def test_large_image_is_scaled_down_and_keeps_the_aspect_ratio(children: Children) -> None:
    shown = await fitted(children, encoded(Image.new("RGB", (4000, 1000), "red"), "JPEG"))
    assert (shown.width, shown.height) == (EDGE, 392)
    assert (shown.original_width, shown.original_height) == (4000, 1000)
    assert shown.media_type == "image/jpeg"
    assert opened(shown.data).size == (EDGE, 392)
    assert shown.tokens == 820


async def test_scaled_image_never_exceeds_the_base64_limit_of_providers(children: Children) -> None:
    """Several providers take 5 MiB of one image and refuse a request with a longer one."""
    noise = Image.frombytes("RGB", (1_568, 840), random.Random(7).randbytes(1_568 * 840 * 3))
    shown = await fitted(children, encoded(noise, "PNG"))
    lengths = [len(base64.b64encode(data)) for data in (shown.data, bytes(BYTES))]
    assert max(lengths) <= 5 << 20


async def test_small_image_keeps_the_size_and_loses_the_metadata(children: Children) -> None:
    exif = Image.Exif()
    exif[0x010E] = "secret place"
    exif[0x0112] = 6  # turned by 90 degrees
    shown = await fitted(children, encoded(Image.new("RGB", (40, 20)), "JPEG", exif=exif))
    assert (shown.width, shown.height) == (20, 40)
    assert b"secret place" not in shown.data


@pytest.mark.parametrize("form", ["PNG", "GIF", "WEBP", "TIFF", "BMP"])
async def test_every_image_format_is_opened(children: Children, form: str) -> None:
    shown = await fitted(children, encoded(Image.new("RGB", (30, 20), "blue"), form))
    assert shown.media_type == "image/png"
    assert opened(shown.data).convert("RGB").getpixel((5, 5))[2] == 255


async def test_image_too_large_as_png_becomes_jpeg_on_white(children: Children) -> None:
    noise = Image.effect_noise((600, 600), 100).convert("RGBA")
    noise.putalpha(Image.new("L", (600, 600), 0))
    shown = await fitted(children, encoded(noise, "PNG"), most=60_000)
    assert shown.media_type == "image/jpeg"
    assert len(shown.data) <= 60_000
    assert opened(shown.data).getpixel((1, 1)) == (255, 255, 255)


def bomb(width: int, height: int) -> bytes:
    """Return a small PNG that declares enormous dimensions."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(100_000)))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (bomb(60_000, 60_000), "would unpack to 60,000 × 60,000 pixels"),
        (bomb(1000, 1000), "damaged"),
        (encoded(Image.new("RGB", (900, 900)), "JPEG")[:300], "damaged"),
        (b"no image", "damaged"),
        (b"\x89PNG\r\n\x1a\n" + bytes(21 << 20), "up to 20 MB"),
    ],
)
async def test_image_that_cannot_be_opened_is_refused_in_one_sentence(
    children: Children, data: bytes, said: str
) -> None:
    with pytest.raises(ToolError, match=said):
        await fitted(children, data)


async def test_extract_describes_an_image_by_format_size_and_frames(children: Children) -> None:
    frames = [Image.new("RGB", (30, 20), color) for color in ("red", "blue")]
    animated = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    said = await extract(children, animated, name="x.gif")
    assert said.text.startswith("[image: GIF, 30 × 20 pixels, 2 frames, ")
