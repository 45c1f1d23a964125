"""The command line: thin commands over `app`. Text for people goes to stderr, data for programs to stdout."""

import sys

# Before any other module, because some of them cannot be imported there.
if sys.platform == "win32":
    sys.exit("gofer: Gofer needs Linux or macOS. On Windows, install WSL (`wsl --install`), and run Gofer in it.")
