"""Registration of a source's secret: once, during the window, in a private file."""

import asyncio
import stat
from pathlib import Path

import pytest

from gofer.app.embedded.state_files import write_secret
from gofer.app.ingress import build_ingress
from gofer.app.secret_registration import AwaitedSecret, Window, registered
from gofer.app.settings import read_settings
from gofer.runtime.receive import Ingress
from gofer.sources.notion.receiver import sign
from gofer.sources.receiver import RawRequest, Reply
from gofer.sources.receivers import BY_SOURCE, PATHS
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import ConfigError
from gofer.values.installation_key import InstallationKey
from gofer.values.secret import Secret
from support.stand_ins import SetClock, make_outside

SPEC = BY_SOURCE["notion"]
assert SPEC.registration is not None
REGISTRATION = SPEC.registration
FILE = REGISTRATION.file
FIRST, SECOND = Secret("secret_of_the_first"), Secret("secret_of_the_second")


class Room:
    def __init__(self, folder: Path, *known: Secret) -> None:
        self.path, self.clock, self.told = folder / FILE, SetClock(), list[str]()
        awaited = AwaitedSecret(SPEC, REGISTRATION, lambda path, secret: self.told.append(secret.reveal()))
        self.window = Window(awaited, self.path, write_secret, self.clock, [*known])
        self.ingress: Ingress = build_ingress(
            read_settings({}),
            {},
            Stores(MemoryStore(), MemoryBlobs(), MemoryQueue(self.clock)),
            InstallationKey(Secret("key")),
            make_outside(self.clock),
            window=self.window,
        )

    def send(self, body: bytes, signed: Secret) -> Reply:
        request = RawRequest("POST", PATHS["notion"], [("X-Notion-Signature", sign(signed, body))], body)
        return asyncio.run(self.ingress.receive(request))

    def offer(self, token: Secret) -> Reply:
        return self.send(b'{"verification_token":"%s"}' % token.reveal().encode(), token)

    def trusts(self, token: Secret) -> bool:
        return self.send(b'{"type":"page.locked"}', token).status == 200


def test_first_verification_token_is_stored_and_used(tmp_path: Path) -> None:
    room = Room(tmp_path)
    assert not room.trusts(FIRST)
    assert room.offer(FIRST) == Reply(200)
    assert room.trusts(FIRST)
    assert room.told == [FIRST.reveal()]
    assert stat.S_IMODE(room.path.stat().st_mode) == 0o600
    assert [token.reveal() for token in registered(tmp_path, REGISTRATION)] == [FIRST.reveal()]


def test_second_verification_token_is_refused_and_a_repeat_is_ignored(tmp_path: Path) -> None:
    room = Room(tmp_path)
    room.offer(FIRST)
    assert b"while no window for one is open" in room.offer(SECOND).body
    assert room.offer(FIRST).status == 200
    assert not room.trusts(SECOND)
    assert room.path.read_text() == FIRST.reveal()
    assert room.told == [FIRST.reveal()]


def test_verification_token_is_refused_after_ten_minutes(tmp_path: Path) -> None:
    room = Room(tmp_path)
    room.clock.advance(600)
    assert b"while no window for one is open" in room.offer(FIRST).body
    assert not room.path.exists()
    assert room.told == []


def test_old_verification_token_stays_valid_during_rotation(tmp_path: Path) -> None:
    room = Room(tmp_path, FIRST)
    room.offer(SECOND)
    assert room.trusts(FIRST)
    assert room.trusts(SECOND)


def test_unwritable_verification_token_is_answered_with_503(tmp_path: Path) -> None:
    room = Room(tmp_path / "nowhere")
    assert room.offer(FIRST).status == 503
    assert not room.trusts(FIRST)
    assert room.told == []


def test_verification_token_file_without_a_token_is_refused(tmp_path: Path) -> None:
    assert registered(tmp_path, REGISTRATION) == ()
    (tmp_path / FILE).write_text("two words")
    with pytest.raises(ConfigError, match="does not hold a verification token; delete the file"):
        registered(tmp_path, REGISTRATION)
