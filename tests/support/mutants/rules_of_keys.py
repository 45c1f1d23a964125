"""Rules of the store of keys, each taken out of the source."""

from support.mutants.mutant import Mutant

OF_KEYS = (
    Mutant(
        "a key is durable before its claim",
        "stores/sqlite/database.py",
        "                sync()\n",
        "                pass\n",
        "unit/stores/sqlite/test_journal_keys.py::test_a_claim_whose_key_is_not_durable_was_not_made",
    ),
    Mutant(
        "a torn slot is no key",
        "stores/sqlite/key_file.py",
        "if len(slot) != SLOT or slot[:_SUM] != _checksum(content):",
        "if len(slot) != SLOT:",
        "unit/stores/sqlite/test_key_file.py::test_any_changed_byte_of_a_slot_loses_that_key_and_no_other",
    ),
    Mutant(
        "a destroyed key is overwritten",
        "stores/sqlite/key_file.py",
        "            self._overwrite(handle, self._slots[run][0])\n",
        "",
        "unit/stores/sqlite/test_key_file.py::test_a_destroyed_key_is_nowhere_in_the_file_and_its_slot_is_used_again",
    ),
)
