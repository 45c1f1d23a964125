"""`python -m gofer`: the command `gofer` of the environment of this Python, without its program."""

import sys

from gofer.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
