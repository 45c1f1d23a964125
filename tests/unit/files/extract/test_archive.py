"""Archives: listing them by full paths, reading one member, and refusing hostile ones."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterator

import pytest

from gofer.files.child import Children
from gofer.files.document import extract, member_of
from gofer.files.extract import archive
from gofer.values.errors import ToolError

pytestmark = pytest.mark.anyio
CHILDREN = Children()
FILES = {"docs/report.txt": b"Gr\xfc\xdfe", "/etc/passwd": b"root", "../up.csv": b"a;b\n1;2\n", "docs/inner.zip": b"PK"}


@pytest.fixture(scope="module", autouse=True)
def ended() -> Iterator[None]:
    yield
    CHILDREN.close()


def zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for path, data in files.items():
            target.writestr(path, data)
    return made.getvalue()


def tarred(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as target:
        for path, data in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            target.addfile(entry, io.BytesIO(data))
    return made.getvalue()


ARCHIVES = {
    "all.zip": zipped(FILES),
    "all.tar": tarred(FILES),
    "all.tar.gz": gzip.compress(tarred(FILES)),
    "all.tgz": gzip.compress(tarred(FILES)),
}


@pytest.mark.parametrize("name", ARCHIVES)
async def test_archive_is_listed_by_full_paths_and_each_member_can_be_read(name: str) -> None:
    listed = (await extract(CHILDREN, ARCHIVES[name], name=name)).text
    assert "files: 4, bytes unpacked: 19; `member` names the one to read]" in listed
    assert "- docs/report.txt (5 bytes)\n- /etc/passwd (4 bytes)\n- ../up.csv (8 bytes)" in listed
    for path, data in FILES.items():
        taken = await member_of(CHILDREN, ARCHIVES[name], path, name=name)
        assert (taken.name, taken.data) == (path.rpartition("/")[2], data)


SIX = tarred({f"d/f{n}.txt": b"x" * 1_000 for n in range(6)})
THREE_BLOCKS = 1_536
"""Bytes of a file of SIX with its header."""


def damaged_header(data: bytes, at: int) -> bytes:
    return data[: at + 5] + b"\xff" + data[at + 6 :]


@pytest.mark.parametrize(
    ("data", "files", "why"),
    [
        (SIX[: 3 * THREE_BLOCKS + 100], 3, "the archive is cut off there"),
        (SIX[: 3 * THREE_BLOCKS], 3, "the archive is cut off there"),
        (SIX[: 6 * THREE_BLOCKS], 6, "the archive is cut off there"),
        (damaged_header(SIX, 3 * THREE_BLOCKS), 3, "the archive is damaged there, or another one follows"),
        (SIX + SIX.replace(b"d/f", b"e/f"), 6, "the archive is damaged there, or another one follows"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
async def test_tar_cut_off_or_damaged_reports_the_missing_rest(
    data: bytes, files: int, why: str, *, packed: bool
) -> None:
    sent = gzip.compress(data) if packed else data
    document = await extract(CHILDREN, sent, name="a.tgz" if packed else "a.tar")
    (gap,) = document.missing
    assert f"files: {files}, " in document.text
    assert (gap.part, gap.reason) == (f"anything behind 'd/f{files - 1}.txt'", why)
    assert document.text.endswith(f"[missing here: {gap.part}]")
    with pytest.raises(ToolError, match=r"no member 'z'.*The archive is incomplete\. Missing: anything behind"):
        await member_of(CHILDREN, sent, "z", name="a.tar")


async def test_intact_archive_reports_no_missing_part() -> None:
    for name, data in {**ARCHIVES, "six.tar": SIX, "padded.tar": SIX + bytes(100_000)}.items():
        assert (await extract(CHILDREN, data, name=name)).missing == ()


async def test_gzip_file_is_an_archive_of_a_single_member() -> None:
    data = gzip.compress(b"one line\n")
    assert "- server.log (9 bytes)" in (await extract(CHILDREN, data, name="server.log.gz")).text
    assert (await member_of(CHILDREN, data, "server.log", name="server.log.gz")).data == b"one line\n"


async def test_unknown_archive_member_is_answered_with_the_existing_paths() -> None:
    with pytest.raises(ToolError, match=r"no member 'report.txt'.*It holds 'docs/report.txt'\."):
        await member_of(CHILDREN, ARCHIVES["all.zip"], "report.txt", name="all.zip")


async def test_archive_paths_in_an_old_encoding_are_read() -> None:
    name = "Größe/日報.txt"
    for encoding, path in (("cp932", "日報/東京.txt"), ("utf-8", name)):
        made = bytearray(zipped({"x" * len(path.encode(encoding)): b"1"}))
        data = bytes(made).replace(b"x" * len(path.encode(encoding)), path.encode(encoding))
        assert f"- {path} (1 bytes)" in (await extract(CHILDREN, data, name="a.zip")).text


def lying(data: bytes, size: int) -> bytes:
    """Return a ZIP whose directory declares another size for its only member."""
    at = data.rfind(b"PK\x01\x02")
    return data[: at + 24] + size.to_bytes(4, "little") + data[at + 28 :]


@pytest.mark.parametrize(
    ("name", "data", "path", "said"),
    [
        ("a.zip", zipped({"zeros": bytes(30_000_000)}), "zeros", "more than 150 times its packed size"),
        ("a.zip", lying(zipped({"zeros": bytes(30_000_000)}), 10), "zeros", "cut off or damaged"),
        ("a.zip", lying(zipped({"a": b"1"}), 900_000_000), "a", "has 900 MB unpacked, and up to 64 MB can be read"),
        ("a.gz", gzip.compress(bytes(30_000_000)), "a", "more than 150 times"),
        ("a.tar.gz", gzip.compress(tarred({"a": bytes(30_000_000)})), "a", "more than 150 times"),
        ("a.tar", tarred({"a": b"1" * 2_000})[:700], "a", "cut off or damaged"),
        ("a.gz", gzip.compress(b"1" * 2_000)[:20], "a", "cut off or damaged"),
        ("a.txt", b"just words", "a", "The file is not an archive"),
    ],
)
async def test_hostile_or_damaged_archive_member_is_refused_in_one_sentence(
    name: str, data: bytes, path: str, said: str
) -> None:
    with pytest.raises(ToolError, match=said):
        await member_of(CHILDREN, data, path, name=name)


async def test_archive_of_more_than_10000_files_is_refused() -> None:
    many = zipped({f"{n}": b"" for n in range(archive.ENTRIES + 1)})
    with pytest.raises(ToolError, match="more than 10,000 files"):
        await extract(CHILDREN, many, name="a.zip")
    with pytest.raises(ToolError, match="more than 10,000 files"):
        await extract(CHILDREN, tarred({f"{n}": b"" for n in range(archive.ENTRIES + 1)}), name="a.tar")


async def test_archive_member_with_a_password_is_refused() -> None:
    data = bytearray(zipped({"a": b"1"}))
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(ToolError, match="has a password"):
        await member_of(CHILDREN, bytes(data), "a", name="a.zip")


async def test_link_in_an_archive_is_listed_and_never_followed() -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as target:
        entry = tarfile.TarInfo("link")
        entry.type = tarfile.SYMTYPE
        entry.linkname = "/etc/passwd"
        target.addfile(entry)
    assert "- link (0 bytes)" in (await extract(CHILDREN, made.getvalue(), name="a.tar")).text
    with pytest.raises(ToolError, match="is a link or a device"):
        await member_of(CHILDREN, made.getvalue(), "link", name="a.tar")
