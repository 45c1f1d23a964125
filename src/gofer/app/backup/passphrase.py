"""The passphrase that a backup's keys are sealed under, as the environment or the operator says it."""

from collections.abc import Callable, Mapping

from gofer.values.errors import ConfigError
from gofer.values.secret import Secret

VARIABLE = "GOFER_BACKUP_PASSPHRASE"
LEAST = 12
"""Characters of the passphrase of a new backup."""

Ask = Callable[[str], str]
"""Asks the operator at a terminal, without showing what is typed."""


def new_passphrase(variables: Mapping[str, str], ask: Ask | None) -> Secret:
    """Return the passphrase of a new backup; typed twice where it is asked for. Raises ConfigError."""
    if given := variables.get(VARIABLE):
        return Secret(_long_enough(given))
    typed = _long_enough(_asked("Passphrase of the backup: ", ask))
    if ask is not None and ask("The same again: ") != typed:
        raise ConfigError("The two passphrases differ; nothing was written. Start again.")
    return Secret(typed)


def known_passphrase(variables: Mapping[str, str], ask: Ask | None) -> Secret:
    """Return the passphrase of a backup that is there. Raises ConfigError."""
    if given := variables.get(VARIABLE):
        return Secret(given)
    return Secret(_asked("Passphrase of the backup: ", ask))


def _long_enough(passphrase: str) -> str:
    if len(passphrase) < LEAST:
        told = f"The passphrase has fewer than {LEAST} characters and could be guessed; nothing was written"
        raise ConfigError(f"{told}. Choose a longer one, such as five words.")
    return passphrase


def _asked(prompt: str, ask: Ask | None) -> str:
    if ask is not None and (typed := ask(prompt)):
        return typed
    told = "it seals the keys, which open every run of the backup"
    raise ConfigError(f"Set {VARIABLE}, or start the command at a terminal and type a passphrase: {told}.")
