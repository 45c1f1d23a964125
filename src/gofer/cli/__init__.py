"""The command line: thin commands over bootstrap. People read stderr, programs read stdout."""
