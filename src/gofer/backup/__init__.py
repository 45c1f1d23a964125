"""The form of a backup: a manifest, copies of what is sealed already, and the keys under a passphrase."""
