"""Rules of the store of keys, each taken out of the source."""

from support.mutants.mutant import Mutant

OF_KEYS = (
    Mutant(
        "a key is durable before its claim",
        "stores/sqlite/database.py",
        "                sync()\n",
        "                pass\n",
        "unit/stores/sqlite/test_journal_keys.py::test_claim_fails_when_the_key_is_not_durable",
    ),
    Mutant(
        "a torn slot is no key",
        "stores/sqlite/key_file.py",
        "if len(slot) != SLOT or slot[:_SUM] != _checksum(content):",
        "if len(slot) != SLOT:",
        "unit/stores/sqlite/test_key_file.py::test_changed_byte_in_a_key_slot_loses_only_that_key",
    ),
    Mutant(
        "a destroyed key is overwritten",
        "stores/sqlite/key_file.py",
        "            self._overwrite(handle, self._slots[run][0])\n",
        "",
        "unit/stores/sqlite/test_key_file.py::test_destroyed_key_is_overwritten_and_the_slot_is_reused",
    ),
)
