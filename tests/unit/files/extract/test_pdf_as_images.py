"""Pages of a PDF as images: their size, how many, and damaged pages."""

import io

import pytest
from PIL import Image

from gofer.files.document import PageImages, images_of
from gofer.values.errors import ToolError
from support.documents.made_by_hand import lines, noise, pdf
from support.processes.jobs_in_this_process import InThisProcess

pytestmark = pytest.mark.anyio


async def drawn(data: bytes, first: int = 1, last: int = 0, most: int = 4_000_000) -> PageImages:
    return await images_of(InThisProcess(), data, first, last, edge=1_568, most=most)  # type: ignore[arg-type]


async def test_pdf_pages_are_drawn_at_the_largest_size_a_model_takes() -> None:
    images = await drawn(pdf([lines(["One"]), lines(["Two"]), lines(["Three"])]), 2, 3)
    assert (images.first, images.last, images.of, images.damaged) == (2, 3, 3, ())
    sizes = [Image.open(io.BytesIO(image)).size for image in images.images]
    assert sizes == [(1_212, 1_568)] * 2


async def test_pdf_images_hold_at_most_ten_existing_pages() -> None:
    data = pdf([lines([str(n)]) for n in range(12)])
    assert (await drawn(data)).last == 10
    assert (await drawn(data, 9, 40)).last == 12
    with pytest.raises(ToolError, match="12 pages; there is no page 13"):
        await drawn(data, 13)


async def test_pdf_page_image_above_the_byte_limit_is_drawn_smaller() -> None:
    images = await drawn(noise(), most=300_000)
    assert len(images.images[0]) <= 300_000
    with pytest.raises(ToolError, match="too large for the remaining space"):
        await drawn(noise(), most=10)


async def test_pdf_images_name_damaged_pages_and_a_range_of_only_damaged_ones_is_refused() -> None:
    data = pdf([lines(["One"]), lines(["Two"])]).replace(b"11 0 R]", b"99 0 R]")
    assert (await drawn(data)).damaged == (2,)
    with pytest.raises(ToolError, match="These pages of the PDF are damaged"):
        await drawn(data, 2)
