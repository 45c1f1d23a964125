"""Placeholders for images and documents, because a redaction cannot read their contents."""

import base64

NOTE = "Gofer left out the content of this file, because a golden holds no images and documents."
_PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=")
_GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
_JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////"
    "////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA="
)
_IMAGES = {"image/png": _PNG, "image/gif": _GIF, "image/jpeg": _JPEG}


def placeholder(media_type: str) -> bytes:
    """Return a file of the media type with nothing but a note, or with one point for an image."""
    if media_type in _IMAGES:
        return _IMAGES[media_type]
    if media_type == "application/pdf":
        return _pdf()
    # The first byte keeps programs from reading the note as the text of a document.
    return b"\x00" + NOTE.encode()


def _pdf() -> bytes:
    """Return a PDF with one page that shows the note."""
    content = f"BT /F1 9 Tf 20 400 Td ({NOTE}) Tj ET".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 420]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    written = b"%PDF-1.4\n"
    places: list[int] = []
    for number, one in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj%s endobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    start = len(written)
    trailer = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (count, start)
    return written + b"xref\n0 %d\n0000000000 65535 f \n" % count + table + trailer
