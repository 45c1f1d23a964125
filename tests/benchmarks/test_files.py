"""Documents, previews and searches against the fastest library alone: ratios of one run.

Run with `make bench`. Extraction is measured as agents get it: through the helper process, with its limits.
No test here asserts a time.
"""

import asyncio
import io
import json
import random
import resource
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pypdfium2
import re2
from lxml import etree
from PIL import Image
from python_calamine import CalamineWorkbook
from selectolax.lexbor import LexborHTMLParser

from gofer.files.child import Children
from gofer.files.document import extract, fitted
from gofer.files.json_query import jq
from gofer.files.preview import preview
from gofer.files.search import Search, search
from gofer.values.outside import SystemClock
from gofer.values.tokens import estimate
from support.documents.made_by_hand import WORD, docx, lines, paragraph, pdf, pptx, row, shape, word_table, xlsx

ROUNDS = 5
WORDS = ("Gofer", "reads", "a", "long", "report", "about", "the", "costs", "of", "every", "region", "and", "year")
chance = random.Random(1)


def sentence(words: int = 14) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(words)) + "."


def best(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the seconds of the quickest round."""
    times: list[float] = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def report(name: str, ours: float, theirs: float, against: str) -> None:
    print(f"{name:<34} {ours * 1000:9.1f} ms  {against:<28} {theirs * 1000:9.1f} ms  ratio {ours / theirs:6.2f}")


def long_pdf() -> bytes:
    return pdf([lines([sentence() for _ in range(45)]) for _ in range(1000)], compress=True)


def long_docx() -> bytes:
    parts = [paragraph(sentence(40)) for _ in range(6000)]
    return docx("".join(parts) + word_table([[sentence(3) for _ in range(5)] for _ in range(400)]))


def long_xlsx() -> bytes:
    return xlsx({"Data": "".join(row(at, str(at), f"{at * 1.25}") for at in range(1, 300_001))})


def long_page() -> bytes:
    item = "<p>{}</p><ul><li><a href='https://example.com/{}'>{}</a></li></ul><table><tr><td>{}</td><td>1</td></tr></table>"
    body = "".join(item.format(sentence(20), n, sentence(4), sentence(5)) for n in range(9000))
    return f"<html><body>{body}</body></html>".encode()


def plain_pdf(data: bytes) -> int:
    document = pypdfium2.PdfDocument(data)
    return sum(len(document[at].get_textpage().get_text_range()) for at in range(len(document)))


def plain_docx(data: bytes) -> int:
    raw = zipfile.ZipFile(io.BytesIO(data)).read("word/document.xml")
    size = 0
    for _, element in etree.iterparse(io.BytesIO(raw), tag=f"{{{WORD}}}p"):
        size += sum(len(text.text or "") for text in element.iter(f"{{{WORD}}}t"))
        element.clear()
    return size


def plain_xlsx(data: bytes) -> int:
    workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
    return sum(len(row) for row in workbook.get_sheet_by_index(0).iter_rows())


def plain_page(data: bytes) -> int:
    body = LexborHTMLParser(data.decode()).body
    return len(body.text()) if body is not None else 0


DOCUMENTS: dict[str, tuple[Callable[[], bytes], Callable[[bytes], int], str]] = {
    "PDF, 1,000 pages": (long_pdf, plain_pdf, "pypdfium2 alone"),
    "DOCX, 6,000 paragraphs": (long_docx, plain_docx, "lxml iterparse alone"),
    "XLSX, 300,000 rows": (long_xlsx, plain_xlsx, "calamine alone"),
    "HTML, 9,000 sections": (long_page, plain_page, "selectolax text alone"),
}


def test_document_extraction_time_against_the_fastest_library() -> None:
    async def play() -> None:
        children = Children()
        for name, (make, alone, against) in DOCUMENTS.items():
            data = make()
            await extract(children, data)
            times: list[float] = []
            for _ in range(3):
                begun = time.perf_counter()
                await extract(children, data)
                times.append(time.perf_counter() - begun)
            print()
            report(
                f"{name}, {len(data) / 1e6:.1f} MB",
                min(times),
                best(lambda data=data, alone=alone: alone(data), 3),
                against,
            )
        children.close()

    asyncio.run(play())


def test_helper_process_time_for_small_documents() -> None:
    small = {
        "small DOCX": docx(paragraph("A few words.")),
        "small PDF": pdf([lines(["A few words."])]),
        "small PPTX": pptx([shape("A few words.")] * 5),
        "small XLSX": xlsx({"A": row(1, "a", "2")}),
    }

    async def play() -> None:
        begun = time.perf_counter()
        children = Children()
        await extract(children, b"first")
        print(f"\nfirst job, with the start of the helper: {(time.perf_counter() - begun) * 1000:.0f} ms")
        for name, data in small.items():
            begun = time.perf_counter()
            for _ in range(30):
                await extract(children, data)
            print(f"{name}: {(time.perf_counter() - begun) / 30 * 1000:.1f} ms")
        begun = time.perf_counter()
        for _ in range(30):
            await jq(children, ".a", b'{"a": 1}')
        print(f"jq: {(time.perf_counter() - begun) / 30 * 1000:.1f} ms")
        buffer = io.BytesIO()
        Image.effect_noise((4000, 3000), 60).convert("RGB").save(buffer, "JPEG")
        begun = time.perf_counter()
        shown = await fitted(children, buffer.getvalue())
        print(f"JPEG of 12 megapixels to {shown.width} pixels: {(time.perf_counter() - begun) * 1000:.0f} ms")
        children.close()
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / (1 if sys.platform == "darwin" else 1024)
        print(f"most memory of the helper and its children: {most:.0f} MB")

    asyncio.run(play())


def test_preview_time_against_json_parsing() -> None:
    records = [
        {
            "id": n,
            "title": sentence(8),
            "body": sentence(40),
            "tags": ["a", "b"] * (n % 4),
            "author": {"name": sentence(2), "id": chance.getrandbits(60)},
            "score": chance.random(),
            "open": n % 3 == 0,
        }
        for n in range(100_000)
    ]
    text = json.dumps({"items": records})
    print()
    report(
        f"preview of {len(text) / 1e6:.0f} MB JSON",
        best(lambda: preview(text), 3),
        best(lambda: json.loads(text), 3),
        "json alone",
    )
    report(
        f"preview of {len(text) / 1e6:.0f} MB text",
        best(lambda: preview("x" + text), 3),
        best(lambda: json.loads(text), 3),
        "json alone",
    )
    unknown = f"{text} "  # what was weighed before is not weighed again
    print(f"estimate of {len(text) / 1e6:.0f} MB: {best(lambda: estimate(unknown), rounds=1) * 1000:.0f} ms")


PATTERNS = ("NEEDLE-99\\d+", "(?i)needle", "[a-f0-9]{40}", "(.*)(.*)(.*)NEEDLE", "(a+)+b", "(a?){50}a{50}b")


def test_search_time_against_grep_and_re2(tmp_path: Path) -> None:
    line = "2026-11-21 10:00:00 INFO worker-{} something ordinary happened to order {}\n"
    text = "".join(f"NEEDLE-{n}\n" if n % 5000 == 0 else line.format(n % 40, n) for n in range(1_400_000))
    data = text.encode()
    (tmp_path / "log").write_bytes(data)
    print(f"\n{len(data) / 1e6:.0f} MB")
    for pattern in PATTERNS:
        ours = best(lambda pattern=pattern: search(data, Search(pattern, 1000), SystemClock()), 3)
        command = ["grep", "-c", "-m", "1000", "-P", pattern, str(tmp_path / "log")]
        try:
            begun = time.perf_counter()
            subprocess.run(command, capture_output=True, check=False, timeout=20, env={"LC_ALL": "C"})
            report(f"search {pattern}", ours, time.perf_counter() - begun, "grep -P")
        except subprocess.TimeoutExpired:
            print(f"search {pattern:<27} {ours * 1000:9.1f} ms  grep -P did not end within 20 seconds")
        options = re2.Options()
        alone = best(
            lambda pattern=pattern, options=options: sum(
                1 for _ in re2.compile(pattern.encode(), options).finditer(data)
            ),
            1,
        )
        report(f"search {pattern}", ours, alone, "RE2 alone, one piece")
