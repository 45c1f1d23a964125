"""The sealed part of a backup: keys and tokens, encrypted under a passphrase.

scrypt derives the encryption key from the passphrase, with a new salt for each backup. AES-256-GCM detects any change.
The seal is bound to the other files of the backup, so the keys of one backup do not open beside another's database.
"""

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from io import BytesIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gofer.values.canonical_json import as_object, as_text, decode, encode
from gofer.values.errors import ConfigError
from gofer.values.secret import Secret

_HEADER = b"gofer sealed 1\n"
_SALT = 16
_NONCE = 12
WORK = 17
"""The exponent of scrypt's cost: 128 MB and about half a second for each guess."""
_MOST_WORK = 20
_BLOCK = 8

Secrets = Mapping[str, bytes]
"""The contents of secret files, by file name."""


def seal(
    secrets: Secrets, passphrase: Secret, bound: bytes, chance: Callable[[int], bytes], *, work: int = WORK
) -> bytes:
    """Return the secrets, encrypted and bound to the bytes in `bound`. `chance` returns random bytes."""
    salt = chance(_SALT)
    nonce = chance(_NONCE)
    plain = encode({name: b64encode(content).decode() for name, content in secrets.items()})
    ciphertext = _cipher(passphrase, salt, work).encrypt(nonce, plain, _HEADER + bound)
    return _HEADER + bytes([work]) + salt + nonce + ciphertext


def unseal(raw: bytes, passphrase: Secret, bound: bytes) -> Secrets:
    """Return the sealed secrets. Raises ConfigError for a wrong passphrase or any changed file."""
    work, salt, nonce, ciphertext = _parts(raw)
    try:
        plain = _cipher(passphrase, salt, work).decrypt(nonce, ciphertext, _HEADER + bound)
    except InvalidTag as error:
        problem = "The passphrase does not open the backup: the passphrase is wrong, or the backup was changed"
        raise ConfigError(f"{problem}. Check the passphrase, then try an earlier backup.") from error
    return {name: b64decode(as_text(content)) for name, content in as_object(decode(plain)).items()}


def _parts(raw: bytes) -> tuple[int, bytes, bytes, bytes]:
    file = BytesIO(raw)
    header = file.read(len(_HEADER))
    work = int.from_bytes(file.read(1))
    salt = file.read(_SALT)
    nonce = file.read(_NONCE)
    # The exponent is not authenticated yet, so it is bounded.
    if header != _HEADER or len(nonce) < _NONCE or not 1 <= work <= _MOST_WORK:
        raise ConfigError("The keys of the backup are damaged; use an earlier backup.")
    return work, salt, nonce, file.read()


def _cipher(passphrase: Secret, salt: bytes, work: int) -> AESGCM:
    cost = 1 << work
    room = 2 * 128 * cost * _BLOCK
    secret = passphrase.reveal().encode()
    return AESGCM(hashlib.scrypt(secret, salt=salt, n=cost, r=_BLOCK, p=1, maxmem=room, dklen=32))


VARIABLE = "GOFER_BACKUP_PASSPHRASE"
LEAST = 12
"""The fewest characters of a new backup's passphrase."""

Ask = Callable[[str], str]
"""Asks the operator at a terminal, without echo."""


def new_passphrase(variables: Mapping[str, str], ask: Ask | None) -> Secret:
    """Return the passphrase for a new backup, which the operator types twice at a terminal. Raises ConfigError."""
    if given := variables.get(VARIABLE):
        return Secret(_long_enough(given))
    typed = _long_enough(_asked("Passphrase of the backup: ", ask))
    if ask is not None and ask("The same again: ") != typed:
        raise ConfigError("The two passphrases differ; nothing was written. Start again.")
    return Secret(typed)


def known_passphrase(variables: Mapping[str, str], ask: Ask | None) -> Secret:
    """Return the passphrase of an existing backup. Raises ConfigError."""
    if given := variables.get(VARIABLE):
        return Secret(given)
    return Secret(_asked("Passphrase of the backup: ", ask))


def _long_enough(passphrase: str) -> str:
    if len(passphrase) < LEAST:
        problem = f"The passphrase has fewer than {LEAST} characters and could be guessed; nothing was written"
        raise ConfigError(f"{problem}. Choose a longer one, such as five words.")
    return passphrase


def _asked(prompt: str, ask: Ask | None) -> str:
    if ask is not None and (typed := ask(prompt)):
        return typed
    reason = "it protects the keys, which open every run of the backup"
    raise ConfigError(f"Set {VARIABLE}, or start the command at a terminal and type a passphrase: {reason}.")
