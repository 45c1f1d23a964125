"""Documents of every format, written by hand: small, valid, and with the oddities that tests need."""

import random
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from io import BytesIO

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
BOXES = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/"


def package(parts: Mapping[str, str | bytes], *, stored: Sequence[str] = ()) -> bytes:
    """Return a ZIP with these entries, in this order."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in parts.items():
            method = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), body, method)
    return buffer.getvalue()


def relations(*targets: tuple[str, str, str]) -> str:
    """Return a relationships part from (id, kind, target); a target with :// is external."""
    rows = "".join(
        f'<Relationship Id="{name}" Type="{RELATIONS}/{kind}" Target="{target}"'
        f"{' TargetMode=' + chr(34) + 'External' + chr(34) if '://' in target else ''}/>"
        for name, kind, target in targets
    )
    return f'<Relationships xmlns="{PACKAGE}relationships">{rows}</Relationships>'


def docx(body: str, **parts: str) -> bytes:
    """Return a Word document; other parts by name, such as `footnotes`, give the contents of their root element.

    `rels` and `footnotes_rels` are relationships, `chart1` is a whole chart.
    """
    roots = {"header1": "hdr", "footer1": "ftr"}
    made: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}content-types"/>',
        "word/document.xml": f"<w:document {_WORDS}><w:body>{body}</w:body></w:document>",
    }
    for name, inner in parts.items():
        if name.endswith("rels"):
            made[f"word/_rels/{name.removesuffix('rels').rstrip('_') or 'document'}.xml.rels"] = inner
        elif name == "chart1":
            made["word/charts/chart1.xml"] = inner
        else:
            root = roots.get(name, name)
            made[f"word/{name}.xml"] = f"<w:{root} {_WORDS}>{inner}</w:{root}>"
    return package(made)


_WORDS = (
    f'xmlns:w="{WORD}" xmlns:r="{RELATIONS}" xmlns:a="{DRAWING}"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
    ' xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:v="urn:v"'
)


def paragraph(text: str, style: str = "", more: str = "") -> str:
    about = f"<w:pPr>{f'<w:pStyle w:val={chr(34)}{style}{chr(34)}/>' if style else ''}{more}</w:pPr>"
    return f'<w:p>{about}<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def word_table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table; cells are texts, or XML that begins with <w:tcPr."""
    made = ""
    for row in rows:
        made += "<w:tr>"
        for cell in row:
            about, text = cell.split("</w:tcPr>") if cell.startswith("<w:tcPr") else ("", cell)
            made += f"<w:tc>{about + '</w:tcPr>' if about else ''}{paragraph(text)}</w:tc>"
        made += "</w:tr>"
    return f"<w:tbl>{made}</w:tbl>"


def pptx(slides: Sequence[str], order: Sequence[int] = (), **parts: str) -> bytes:
    """Return a presentation; `slides` has the contents of each shape tree. Parts by path below ppt, `/` as `__`."""
    order = order or range(1, len(slides) + 1)
    shown = "".join(f'<p:sldId id="{255 + at}" r:id="r{at}"/>' for at in order)
    made: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}content-types"/>',
        "ppt/presentation.xml": f"<p:presentation {_SLIDES}><p:sldIdLst>{shown}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            *((f"r{at}", "slide", f"slides/slide{at}.xml") for at in range(1, len(slides) + 1))
        ),
    }
    for at, tree in enumerate(slides, 1):
        inner = tree if tree.startswith("<p:cSld") else f"<p:cSld><p:spTree>{tree}</p:spTree></p:cSld>"
        made[f"ppt/slides/slide{at}.xml"] = f"<p:sld {_SLIDES}>{inner}</p:sld>"
    for name, body in parts.items():
        path = name.removesuffix("_xml").replace("___rels_", "/_rels/").replace("__", "/")
        made[f"ppt/{path}.xml" + (".rels" if "/_rels/" in path else "")] = body
    return package(made)


_SLIDES = f'xmlns:p="{SLIDES}" xmlns:a="{DRAWING}" xmlns:r="{RELATIONS}" xmlns:c="{CHART}"'


def slide_part(root: str, inner: str) -> str:
    return f"<{root} {_SLIDES}>{inner}</{root}>"


def shape(text: str, role: str = "") -> str:
    place = f'<p:ph type="{role}"/>' if role else ""
    lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    about = f'<p:nvSpPr><p:cNvPr id="1" name="x"/><p:cNvSpPr/><p:nvPr>{place}</p:nvPr></p:nvSpPr>'
    return f"<p:sp>{about}<p:txBody>{lines}</p:txBody></p:sp>"


def slide_table(rows: Sequence[Sequence[str]]) -> str:
    made = "".join(
        "<a:tr>"
        + "".join(f"<a:tc><a:txBody><a:p><a:r><a:t>{c}</a:t></a:r></a:p></a:txBody></a:tc>" for c in row)
        + "</a:tr>"
        for row in rows
    )
    return (
        f"<p:graphicFrame><a:graphic><a:graphicData><a:tbl>{made}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )


def xlsx(sheets: Mapping[str, str], *, shared: str = "", hidden: Sequence[str] = (), **parts: str) -> bytes:
    """Return a workbook from the sheetData of each sheet. Style 1 is a date, style 2 a date with time."""
    listed = "".join(
        f"<sheet name='{name}' sheetId='{at}' r:id='r{at}'{_HIDDEN if name in hidden else ''}/>"
        for at, name in enumerate(sheets, 1)
    )
    made: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}content-types"/>',
        "_rels/.rels": relations(("r0", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{SHEETS}" xmlns:r="{RELATIONS}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            *((f"r{at}", "worksheet", f"worksheets/sheet{at}.xml") for at in range(1, len(sheets) + 1)),
            ("s", "styles", "styles.xml"),
            ("t", "sharedStrings", "sharedStrings.xml"),
        ),
        "xl/styles.xml": (
            f'<styleSheet xmlns="{SHEETS}"><cellXfs count="3"><xf numFmtId="0"/>'
            '<xf numFmtId="14"/><xf numFmtId="22"/></cellXfs></styleSheet>'
        ),
        "xl/sharedStrings.xml": f'<sst xmlns="{SHEETS}">{shared}</sst>',
    }
    for at, data in enumerate(sheets.values(), 1):
        made[f"xl/worksheets/sheet{at}.xml"] = f'<worksheet xmlns="{SHEETS}"><sheetData>{data}</sheetData></worksheet>'
    for name, body in parts.items():
        path = name.removesuffix("_xml").replace("___rels_", "/_rels/").replace("__", "/")
        made[f"xl/{path}.xml" + (".rels" if "/_rels/" in path else "")] = body
    return package(made)


_HIDDEN = " state='hidden'"


def row(number: int, *cells: str) -> str:
    """Return a row of a sheet: texts, numbers as written, or whole cells."""
    made = ""
    for at, cell in enumerate(cells):
        place = f'r="{chr(ord("A") + at)}{number}"'
        if cell.startswith("<"):
            made += cell
        elif cell.replace(".", "").replace("-", "").replace("E", "").isdigit():
            made += f"<c {place}><v>{cell}</v></c>"
        elif cell:
            made += f'<c {place} t="inlineStr"><is><t>{cell}</t></is></c>'
    return f'<row r="{number}">{made}</row>'


def ods(table: str) -> bytes:
    return package(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": f'<manifest:manifest xmlns:manifest="{_OASIS}:manifest:1.0"/>',
            "content.xml": _open_document("spreadsheet", table),
        },
        stored=["mimetype"],
    )


def odt(body: str, kind: str = "text", *, styles: str = "", **objects: str) -> bytes:
    """Return a text or a presentation; `styles` has the contents of its styles, an object is an embedded chart."""
    made: dict[str, str | bytes] = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": _open_document(kind, body),
        "styles.xml": f"<office:document-styles {_OPEN}>{styles}</office:document-styles>",
    }
    for name, inner in objects.items():
        made[f"{name}/content.xml"] = _open_document("chart", inner)
    return package(made, stored=["mimetype"])


def _open_document(kind: str, body: str) -> str:
    inner = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    return f"<office:document-content {_OPEN}>{inner}</office:document-content>"


_OASIS = "urn:oasis:names:tc:opendocument:xmlns"
_OPEN = " ".join(
    [
        *(
            f'xmlns:{name}="{_OASIS}:{name}:1.0"'
            for name in ("office", "text", "table", "presentation", "chart", "style")
        ),
        f'xmlns:draw="{_OASIS}:drawing:1.0"',
        'xmlns:xlink="http://www.w3.org/1999/xlink"',
        'xmlns:dc="http://purl.org/dc/elements/1.1/"',
    ]
)


def pdf(pages: Sequence[bytes], *, more: bytes = b"", compress: bool = False) -> bytes:
    """Return a PDF with these content streams as pages; /F1 is Helvetica, /F2 a font for any character."""
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        *_ANY_FONT,
        stream(_EVERY_CHARACTER),
        _ANY_FONT_DESCRIBED,
    ]
    kids: list[int] = []
    for content in pages:
        objects.append(stream(content, compress=compress))
        kids.append(len(objects) + 1)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >>"
            b" /Contents %d 0 R >>" % len(objects)
        )
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(b"%d 0 R" % kid for kid in kids))
    return assembled(objects, more)


def noise(pages: int = 1) -> bytes:
    """Return a PDF whose pages are one incompressible image."""
    pixels = random.Random(1).randbytes(1_200 * 900)
    head = b"<< /Type /XObject /Subtype /Image /Width 1200 /Height 900 /ColorSpace /DeviceGray /BitsPerComponent 8"
    shown = b"/Resources << /XObject << /I 3 0 R >> >> /Contents 4 0 R"
    kids = b" ".join(b"%d 0 R" % (5 + page) for page in range(pages))
    return assembled(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count %d /Kids [%s] >>" % (pages, kids),
            head + b" /Length %d >>\nstream\n%s\nendstream" % (len(pixels), pixels),
            stream(b"q 800 0 0 600 0 0 cm /I Do Q"),
            *[b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 800 600] %s >>" % shown] * pages,
        ]
    )


def assembled(objects: Sequence[bytes], more: bytes = b"") -> bytes:
    """Return a PDF with these objects; `more` is added to its trailer."""
    out = bytearray(b"%PDF-1.7\n")
    places: list[int] = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    at = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    out += b"trailer << /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, more, at)
    return bytes(out)


def stream(content: bytes, *, compress: bool = False) -> bytes:
    if compress:
        packed = zlib.compress(content, 9)
        return b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed)
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)


_EVERY_CHARACTER = (
    b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /U def /CMapType 2 def\n"
    b"1 begincodespacerange <0000> <FFFF> endcodespacerange\n"
    b"100 beginbfrange\n"
    + b"".join(b"<%02X00> <%02XFF> <%02X00>\n" % (high, high, high) for high in range(0x64))
    + b"endbfrange\n100 beginbfrange\n"
    + b"".join(b"<%02X00> <%02XFF> <%02X00>\n" % (high, high, high) for high in range(0x64, 0xC8))
    + b"endbfrange\nendcmap end end"
)


_INFORMATION = b"<< /Registry (A) /Ordering (I) /Supplement 0 >> /DW 1000"
_ANY_FONT = (
    b"<< /Type /Font /Subtype /Type0 /BaseFont /Any /Encoding /Identity-H /DescendantFonts [5 0 R] /ToUnicode 6 0 R >>",
    b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Any /FontDescriptor 7 0 R /CIDSystemInfo %s >>" % _INFORMATION,
)
_ANY_FONT_DESCRIBED = (
    b"<< /Type /FontDescriptor /FontName /Any /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 900"
    b" /Descent -100 /CapHeight 700 /StemV 80 >>"
)


def lines(texts: Sequence[str], *, x: int = 72, y: int = 720, lead: int = 14) -> bytes:
    """Return a content stream with lines of text one below the other."""
    shown = b" ".join(b"(%s) Tj T*" % _escaped(text) for text in texts)
    return b"BT /F1 11 Tf %d TL %d %d Td %s ET\n" % (lead, x, y, shown)


def any_line(text: str, *, x: int = 72, y: int = 600) -> bytes:
    """Return a content stream with one line of any characters."""
    return b"BT /F2 12 Tf %d %d Td <%s> Tj ET\n" % (x, y, text.encode("utf-16-be").hex().encode())


def cells(rows: Sequence[Sequence[str]], columns: Sequence[int], *, y: int = 500, lead: int = 16) -> bytes:
    """Return a content stream with texts in rows and columns."""
    placed = b" ".join(
        b"1 0 0 1 %d %d Tm (%s) Tj" % (columns[at], y - down * lead, _escaped(text))
        for down, texts in enumerate(rows)
        for at, text in enumerate(texts)
        if text
    )
    return b"BT /F1 10 Tf %s ET\n" % placed


def _escaped(text: str) -> bytes:
    raw = text.encode("cp1252")
    return raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def compound(streams: Mapping[str, bytes]) -> bytes:
    """Return an OLE compound file, the container of old Office formats."""
    sectors: list[bytes] = []
    entries = [_entry("Root Entry", 5, 1, -2, 0)]
    starts: list[tuple[int, int]] = []
    for number, (name, raw) in enumerate(streams.items(), 1):
        body = raw.ljust(4096, b"\0") + bytes(-max(len(raw), 4096) % 512)
        starts.append((len(sectors), len(body) // 512))
        following = number + 1 if number < len(streams) else -1
        entries.append(_entry(name, 2, -1, len(sectors), len(body), right=following))
        sectors += [body[at : at + 512] for at in range(0, len(body), 512)]
    entries += [bytes(128)] * (-len(entries) % 4)
    directory = len(sectors)
    listed = b"".join(entries)
    sectors += [listed[at : at + 512] for at in range(0, len(listed), 512)]
    table = len(sectors)
    chain: list[int] = []
    for start, count in [*starts, (directory, len(listed) // 512)]:
        chain += [*range(start + 1, start + count), -2]
    chain.append(-3)
    assert len(chain) <= 128
    sectors.append(struct.pack("<128i", *chain, *[-1] * (128 - len(chain))))
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<iiiIiiiii", 0, 1, directory, 0, 4096, -2, 0, -2, 0)
    return head + struct.pack("<109i", table, *[-1] * 108) + b"".join(sectors)


def _entry(name: str, kind: int, child: int, start: int, size: int, right: int = -1) -> bytes:
    raw = name.encode("utf-16-le") + b"\0\0"
    head = raw.ljust(64, b"\0") + struct.pack("<HBBiii", len(raw), kind, 1, -1, right, child)
    return head + bytes(36) + struct.pack("<iII", start, size, 0)


def xls(rows: Sequence[Sequence[str | float]]) -> bytes:
    """Return a workbook of Excel 97 with one sheet named Old."""
    begin = _record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 6))
    name = b"Old"
    place = len(begin) + 4 + 8 + len(name) + 4
    book = begin + _record(0x85, struct.pack("<IHBB", place, 0, len(name), 0) + name) + _record(0x0A, b"")
    sheet = _record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 6))
    width = max(map(len, rows))
    sheet += _record(0x200, struct.pack("<IIHHH", 0, len(rows), 0, width, 0))
    for down, values in enumerate(rows):
        for across, value in enumerate(values):
            if isinstance(value, str):
                raw = value.encode("utf-16-le")
                sheet += _record(0x204, struct.pack("<HHHHB", down, across, 0, len(value), 1) + raw)
            else:
                sheet += _record(0x203, struct.pack("<HHHd", down, across, 0, value))
    return compound({"Workbook": book + sheet + _record(0x0A, b"")})


def _record(kind: int, body: bytes) -> bytes:
    return struct.pack("<HH", kind, len(body)) + body
