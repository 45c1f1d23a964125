"""The folder with the workflows, pipelines and locks that Gofer ships."""

from pathlib import Path

import gofer

_PACKAGE = Path(gofer.__file__).parent


def shipped() -> Path:
    """Return the packaged folder, or the checkout that this Gofer is installed from."""
    packaged = _PACKAGE / "shipped"
    if packaged.is_dir():
        return packaged
    return _PACKAGE.parents[1]


def gofer_version() -> str:
    """Return the version of the installed Gofer, such as `0.1.0`."""
    return gofer.__version__
