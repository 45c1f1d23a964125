"""The command line: thin commands over `app`. People read stderr, programs read stdout."""
