"""The command line: thin commands over `app`. Text for people goes to stderr, data for programs to stdout."""
