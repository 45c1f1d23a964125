"""`python -m frozen FOLDER`: write the corpus into a folder, in place of the one that is there."""

import logging
import shutil
import sys
from pathlib import Path

from frozen.corpus import write

if __name__ == "__main__":
    logging.disable()
    target = Path(sys.argv[1])
    shutil.rmtree(target, ignore_errors=True)
    write(target)
