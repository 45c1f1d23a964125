"""Files above the size limit: beginning and end of a text are fetched, with a note on the rest."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.http import RESPONSE_LIMIT
from gofer.engine.results import FILE_LIMIT
from gofer.files.child import LARGEST
from gofer.files.size_limits import FILE_BYTES
from gofer.sources.downloads import ENDS, LIMIT, Fetched, VendorHosts, fetch, parts, same_place
from gofer.tools.definition import NewFile
from gofer.values.errors import ToolError
from gofer.values.outside import HttpRequest, HttpResponse, TooLarge
from support.stand_ins import SetClock
from support.tools.calls import any_call

pytestmark = pytest.mark.anyio
WAY = VendorHosts("Slack", "https://slack.example", lambda address: {})
SCHEMES = ("http", "https")
HOSTS = ("files.example", "files.example.evil.example", "evil.files.example", "10.0.0.1")
PORTS = ("", ":443", ":8443")
LINE = b"one line of a long log\n"


@dataclass
class Server:
    """HTTP to a server with one large file that repeats a line."""

    total: int
    ranges: bool = True
    asked: list[str] = field(default_factory=list[str])

    async def send(self, request: HttpRequest) -> HttpResponse:
        part = request.headers.get("Range", "")
        self.asked.append(part)
        if not part or not self.ranges:
            if self.total > request.limit:
                raise TooLarge("the answer is larger than its limit")
            return HttpResponse(200, {}, self.content(0, self.total))
        start, _, stop = part.removeprefix("bytes=").partition("-")
        first = int(start) if start else self.total - int(stop)
        last = int(stop) if start else self.total - 1
        return HttpResponse(206, {"content-range": f"bytes {first}-{last}/{self.total}"}, self.content(first, last + 1))

    def content(self, start: int, stop: int) -> bytes:
        skipped = start % len(LINE)
        return (LINE * ((stop - start) // len(LINE) + 2))[skipped : skipped + stop - start]


async def fetched(server: Server, media_type: str = "text/plain", size: int = 0) -> Fetched:
    call = any_call(server, clock=SetClock(1_000.0))
    file = NewFile("app.log", media_type, None, "Slack", size)
    return await fetch(call, WAY, "https://slack.example/app.log", file)


def test_file_size_limits_of_download_store_and_reader_are_equal() -> None:
    assert {LIMIT, FILE_LIMIT, LARGEST} == {FILE_BYTES}
    assert RESPONSE_LIMIT > FILE_BYTES


@pytest.mark.parametrize("size", [310_000_000, 0])
async def test_download_of_a_larger_text_fetches_the_beginning_and_the_end(size: int) -> None:
    server = Server(310_000_000)
    found = await fetched(server, size=size)
    body = found.response.body
    assert server.asked[-2:] == [f"bytes=0-{ENDS - 1}", f"bytes=-{ENDS}"]
    assert len(body) <= FILE_BYTES
    lines = set(body.split(b"\n"))
    said = "Gofer left out bytes 29,999,981 to 280,000,022 of 310,000,000, because up to 64 MB of a file are kept."
    (gap,) = found.missing
    assert (gap.unit, gap.part) == ("bytes", "bytes 29,999,981 to 280,000,022 of 310,000,000")
    assert lines <= {LINE.strip(), f"[{said}]".encode(), LINE[: 310_000_000 % len(LINE)], b""}


@pytest.mark.parametrize(
    ("server", "media_type"),
    [(Server(310_000_000, ranges=False), "text/plain"), (Server(310_000_000), "application/pdf")],
)
async def test_download_that_cannot_be_split_is_refused_with_the_size(server: Server, media_type: str) -> None:
    with pytest.raises(ToolError, match=r"too large \(310 MB\): Gofer fetches files of up to 64 MB"):
        await fetched(server, media_type, 310_000_000)


async def test_download_within_the_limit_is_complete() -> None:
    server = Server(1_000_000)
    found = await fetched(server, size=1_000_000)
    assert len(found.response.body) == 1_000_000
    assert found.missing == ()
    assert server.asked == [""]


BODY = LINE * 1_000
SIZE = len(BODY)
FIRST = f"bytes 0-{SIZE - 1}/310000000"
LAST = f"bytes {310_000_000 - SIZE}-309999999/310000000"


@dataclass
class Answering:
    """HTTP to a server with prepared content ranges."""

    first: str
    last: str

    async def send(self, request: HttpRequest) -> HttpResponse:
        said = self.first if request.headers["Range"].startswith("bytes=0") else self.last
        return HttpResponse(206, {"content-range": said}, BODY)


async def of(server: Answering) -> Fetched:
    call = any_call(server, clock=SetClock(1_000.0))
    file = NewFile("app.log", "text/plain", None, "Slack", 310_000_000)
    return await fetch(call, WAY, "https://slack.example/app.log", file)


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (FIRST, FIRST),
        (LAST, LAST),
        (FIRST, f"bytes {310_000_000 - SIZE - 1}-309999998/310000000"),
        (FIRST, f"bytes {310_000_000 - SIZE - 1}-309999999/310000000"),
        (f"bytes 0-{ENDS - 1}/310000000", LAST),
        (FIRST, LAST.replace("/310000000", "/310000001")),
        (FIRST, "bytes */310000000"),
    ],
    ids=["beginning twice", "end twice", "not the end", "longer end", "longer beginning", "changed", "no range"],
)
async def test_download_with_ranges_other_than_the_two_ends_is_refused(first: str, last: str) -> None:
    with pytest.raises(ToolError, match="too large"):
        await of(Answering(first, last))


async def test_download_accepts_shorter_ends_than_requested() -> None:
    (gap,) = (await of(Answering(FIRST, LAST))).missing
    assert gap.part == f"bytes {SIZE:,} to {310_000_000 - SIZE + len(LINE):,} of 310,000,000"


@given(st.tuples(*([st.sampled_from(SCHEMES), st.sampled_from(HOSTS), st.sampled_from(PORTS)] * 2)))
def test_addresses_are_the_same_place_only_with_equal_scheme_host_and_port(named: tuple[str, ...]) -> None:
    one, other = named[:3], named[3:]
    address = parts("{}://{}{}/rest/a?token=t".format(*one))
    assert address is not None
    assert same_place(address, "{}://{}{}/rest".format(*other)) == (one == other)
